// xof_buffer - two blocks between a ring and its reader, in registers that are wiped.
//
// Handshake    push_i while full_o is low; block_valid_o / block_ready_i. full_o is a register: one push may follow it.
// Throughput   A block a cycle. Two places are enough: full_o is high only while both are taken.
// Wipe         clear_i sets both to 0.
module xof_buffer #(
  parameter int unsigned Width = 512
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

  logic [1:0][Width-1:0] word_d, word_q;
  logic [1:0]            count_d, count_q;
  logic                  pop;

  assign block_valid_o = count_q != '0;
  assign block_o       = word_q[0];
  assign full_o        = count_q[1];
  assign pop           = block_valid_o && block_ready_i;

  always_comb begin : p_next
    word_d  = word_q;
    count_d = count_q;
    if (pop) begin
      word_d[0] = word_q[1];
      word_d[1] = '0;
      count_d   = count_q - 1'b1;
    end
    if (push_i && !full_o) begin
      word_d[count_d[0]] = data_i;
      count_d            = count_d + 1'b1;
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
