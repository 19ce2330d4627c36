// fv_mem_row_fifo - the queue never loses, invents or reorders a word, and its output is stable.
//
// Method       one word that goes in is followed (picked by the solver); `ahead` counts what stands before it. When
//              it comes out it must be the word itself, and it comes out exactly when nothing is ahead.
module fv_mem_row_fifo #(
  parameter int unsigned Width = 1,
  parameter int unsigned Depth = 4
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clear_i,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             ready_i,
  input logic             pick_i
);

  localparam int unsigned CntW = $clog2(Depth) + 2;

  logic             ready, valid, push, pop, follow_q, started_q;
  logic [Width-1:0] data, word_q;
  logic [CntW-1:0]  inside_q, ahead_q;

  rm_mem_row_fifo #(.Width(Width), .Depth(Depth)) i_dut (
    .clk_i, .rst_ni, .clear_i,
    .valid_i, .ready_o(ready), .data_i,
    .valid_o(valid), .ready_i, .data_o(data)
  );

`ifdef BROKEN
  assign push = valid_i;  // a writer that does not look at ready: must be caught
`else
  assign push = valid_i && ready;
`endif
  assign pop = valid && ready_i;

  rm_handshake_check #(.Width(Width)) i_out (
    .clk_i, .rst_ni, .clear_i, .valid_i(valid), .ready_i, .data_i(data)
  );

  initial begin
    started_q = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!rst_ni || clear_i) begin
      follow_q <= 1'b0;
      inside_q <= '0;
    end else begin
      inside_q <= inside_q + CntW'(push) - CntW'(pop);
      if (!follow_q && push && pick_i) begin
        follow_q <= 1'b1;
        word_q   <= data_i;
        ahead_q  <= inside_q - CntW'(pop);
      end else if (follow_q && pop) begin
        follow_q <= ahead_q != '0;
        ahead_q  <= ahead_q - 1'b1;
      end
    end
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else if (rst_ni) begin
      a_never_over: assert (32'(inside_q) <= Depth + 1);
      a_room: assert (ready || 32'(inside_q) >= Depth);  // Depth words always find space
      a_nothing: assert (!valid || inside_q != '0);
      a_word: assert (!follow_q || ahead_q != '0 || !valid || data == word_q);
      a_inside: assert (!follow_q || ahead_q < inside_q);
    end
  end

endmodule
