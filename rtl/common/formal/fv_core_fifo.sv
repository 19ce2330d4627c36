// fv_core_fifo - the queue never loses, invents or reorders a word, and its handshakes are stable.
//
// Method       one word that goes in is followed (picked by the solver); `ahead` counts what stands before it. When it
//              comes to the front it must be the word itself, and it comes to the front exactly when nothing is ahead.
module fv_core_fifo #(
  parameter int unsigned Width = 2,
  parameter int unsigned Depth = 3
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             push_valid_i,
  input logic [Width-1:0] push_data_i,
  input logic             pop_ready_i,
  input logic             pick_i
);

  localparam int unsigned CntW = $clog2(Depth + 1);

  logic             push_ready, pop_valid;
  logic [Width-1:0] pop_data;
  logic [CntW-1:0]  count;

  rm_core_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .push_valid_i,
    .push_ready_o(push_ready),
    .push_data_i,
    .pop_valid_o (pop_valid),
    .pop_ready_i,
    .pop_data_o  (pop_data),
    .count_o     (count)
  );

  logic             push, pop;
  logic             follow_q, stall_q;
  logic [Width-1:0] word_q, front_q;
  logic [CntW:0]    ahead_q, model_q;

`ifdef BROKEN
  assign push = push_valid_i;  // a writer that does not look at ready: must be caught
`else
  assign push = push_valid_i && push_ready;
`endif
  assign pop = pop_valid && pop_ready_i;

  initial begin
    follow_q = 1'b0;
    stall_q  = 1'b0;
    model_q  = '0;
  end

  always_ff @(posedge clk_i) begin : p_model
    if (!rst_ni) begin
      follow_q <= 1'b0;
      stall_q  <= 1'b0;
      model_q  <= '0;
      ahead_q  <= '0;
    end else begin
      model_q <= model_q + (CntW + 1)'(push) - (CntW + 1)'(pop);
      stall_q <= pop_valid && !pop_ready_i;
      front_q <= pop_data;
      if (!follow_q && push && pick_i) begin
        follow_q <= 1'b1;
        word_q   <= push_data_i;
        ahead_q  <= model_q - (CntW + 1)'(pop);
      end else if (follow_q && pop) begin
        follow_q <= ahead_q != '0;
        ahead_q  <= ahead_q - 1'b1;
      end
    end
  end

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) begin : p_start
    started_q <= 1'b1;
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else if (rst_ni) begin
      a_count: assert (model_q == (CntW + 1)'(count));
      a_never_over: assert (32'(model_q) <= Depth);
      a_valid: assert (pop_valid == (model_q != '0));
      a_ready: assert (push_ready == (32'(model_q) < Depth));
      a_stable: assert (!stall_q || (pop_valid && pop_data == front_q));
      a_word: assert (!follow_q || ahead_q != '0 || pop_data == word_q);
      a_inside: assert (!follow_q || ahead_q < model_q);
    end
  end

endmodule
