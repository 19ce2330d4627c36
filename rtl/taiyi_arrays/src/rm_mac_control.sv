// rm_mac_control - which row opens a sum, which one closes it, and when its results leave the chain of accumulators.
//
// M accumulators take the same row one after the other: number m does in the m-th cycle after the row was taken (t), and its
// product is added Lp = rm_modmul_pkg::ProductLatency cycles later. So results leave one a cycle through one reduction.
// Rows         take_i in cycle t. A row with last_i closes the sum, and results_i of the accumulators have a result, 1 to M.
// Outputs      add_o[m], first_o[m] belong to cycle t + m + Lp.  send_o, index_o: result m is due; cycle t_last + m + 1.
//              close_o: this row closes a sum that has results; its constants hold until the next such row.
//              bad_o beside the results: the sum had more than Terms rows, so that the accumulator may have run over.
// ready_o      for the row that is offered. A row that closes a sum waits until the results of the sum before have been sent,
//              and until the consumer has space for its own. So a sum of n rows with r results takes max(n, r) cycles.
//              Other rows never wait.
// wrong_o      [0] a sum of more than Terms rows; [1] results_i not in 1 to M: its sum is dropped; [2] more rows given back than taken.
//              Until reset.
module rm_mac_control #(
  parameter int unsigned M     = 2,
  parameter int unsigned Terms = 63,
  parameter int unsigned Rows  = 32,
  localparam int unsigned CountW = $clog2(M + 1),
  localparam int unsigned IndexW = (M == 1) ? 1 : $clog2(M)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              last_i,
  input  logic [CountW-1:0] results_i,
  output logic              ready_o,
  input  logic              take_i,
  output logic              close_o,
  output logic [M-1:0]      add_o,
  output logic [M-1:0]      first_o,
  output logic              send_o,
  output logic [IndexW-1:0] index_o,
  output logic              bad_o,
  input  logic              give_i,
  output logic [2:0]        wrong_o
);

  localparam int unsigned Lp    = rm_modmul_pkg::ProductLatency;
  localparam int unsigned TermW = $clog2(Terms + 1);

  logic              close, drop, send_all, room, bad_give, long, long_d, long_q, bad_q;
  logic [CountW-1:0] left_after, left_d, left_q;
  logic [IndexW-1:0] index_d, index_q;
  logic [TermW-1:0]  terms_d, terms_q;
  logic [1:0]        wrong_q;

  if (M + 1 == 1 << CountW) begin : g_any
    assign drop = results_i == '0;
  end else begin : g_some
    assign drop = results_i == '0 || results_i > CountW'(M);
  end
  assign left_after = (left_q == '0) ? '0 : left_q - 1'b1;
  assign ready_o    = !last_i || drop || (left_after == '0 && room);
  assign close    = take_i && last_i;
  assign send_all = close && !drop;
  assign close_o  = send_all;
  assign long     = take_i && terms_q == TermW'(Terms);
  assign wrong_o  = {bad_give, wrong_q};

  rm_array_credits #(.Rows(Rows), .Most(M)) i_credits (
    .clk_i, .rst_ni, .want_i(results_i), .ok_o(room), .take_i(send_all ? results_i : '0), .give_i, .wrong_o(bad_give)
  );

  always_comb begin : p_next
    left_d  = left_after;
    index_d = index_q + 1'b1;
    terms_d = terms_q;
    long_d  = long_q || long;
    if (take_i && !long) begin
      terms_d = terms_q + 1'b1;
    end
    if (close) begin
      terms_d = '0;
      long_d  = 1'b0;
    end
    if (send_all) begin
      left_d  = results_i;
      index_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      left_q  <= '0;
      index_q <= '0;
      terms_q <= '0;
      long_q  <= 1'b0;
      bad_q   <= 1'b0;
      wrong_q <= '0;
    end else begin
      left_q  <= left_d;
      index_q <= index_d;
      terms_q <= terms_d;
      long_q  <= long_d;
      wrong_q <= wrong_q | {close && drop, long};
      if (send_all) begin
        bad_q <= long_q || long;
      end
    end
  end

  assign send_o  = left_q != '0;
  assign index_o = index_q;
  assign bad_o   = bad_q;

  // ---------------------------------------------------------------- along the chain
  logic [Lp+M-2:0] add_q, first_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_add
    if (!rst_ni) begin
      add_q <= '0;
    end else begin
      add_q <= {add_q[Lp+M-3:0], take_i};
    end
  end
  always_ff @(posedge clk_i) begin : p_first
    first_q <= {first_q[Lp+M-3:0], terms_q == '0};
  end
  assign add_o   = add_q[Lp-1+:M];
  assign first_o = first_q[Lp-1+:M];

endmodule
