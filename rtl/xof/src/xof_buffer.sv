// xof_buffer - blocks between a ring and its reader, in registers that are wiped.
//
// Handshake    push_i while full_o is low; block_valid_o / block_ready_i. full_o comes from registers alone.
// Throughput   A block a cycle with Depth = 2. A ring of more stages than Depth gives its blocks in a row and waits for a slow reader.
// Wipe         clear_i sets all to 0.
module xof_buffer #(
  parameter int unsigned Width = 512,
  parameter int unsigned Depth = 2,
  localparam int unsigned CntW = $clog2(Depth + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  output logic             full_o,
  output logic             block_valid_o,
  input  logic             block_ready_i,
  output logic [Width-1:0] block_o
);

  logic [Depth-1:0][Width-1:0] word_d, word_q;
  logic [CntW-1:0]             count_d, count_q, place;
  logic                        pop, push;

  assign block_valid_o = count_q != '0;
  assign block_o       = word_q[0];
  assign full_o        = count_q == CntW'(Depth);
  assign pop           = block_valid_o && block_ready_i;
  assign push          = push_i && !full_o;
  assign place         = count_q - CntW'(pop);

  always_comb begin : p_next
    word_d  = word_q;
    count_d = place + CntW'(push);
    if (pop) begin
      word_d = word_q >> Width;
    end
    for (int unsigned i = 0; i < Depth; i++) begin
      if (push && place == CntW'(i)) begin
        word_d[i] = data_i;
      end
    end
    if (clear_i) begin
      count_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      count_q <= '0;
    end else begin
      count_q <= count_d;
    end
  end

  // Cleared at the clock, as the stages of the rings.
  always_ff @(posedge clk_i) begin : p_word
    if (clear_i || !rst_ni) begin
      word_q <= '0;
    end else begin
      word_q <= word_d;
    end
  end

  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_room: assert (!(push_i && full_o));
    end
  end

endmodule
