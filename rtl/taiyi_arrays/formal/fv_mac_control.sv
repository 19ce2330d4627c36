// rm_mac_control, for any rows, sums and consumers: the results of a sum leave in order, in the cycles after its last row, never two at
// once. Every product is added once, the first of a sum to nothing. Results never find a consumer without space, and a row waits for
// nothing else. Wrong use is said.
module fv_mac_control #(
  parameter int unsigned M     = 3,
  parameter int unsigned Terms = 3,
  parameter int unsigned Rows  = 4,
  localparam int unsigned CountW = $clog2(M + 1)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              valid_i,
  input logic              last_i,
  input logic [CountW-1:0] results_i,
  input logic              give_i
);

  localparam int unsigned Lp = rm_modmul_pkg::ProductLatency;

  logic                 ready, take, close, send, bad;
  logic [M-1:0]         add, first;
  logic [$clog2(M)-1:0] index;
  logic [2:0]           wrong;
  assign take = valid_i && ready;
  rm_mac_control #(.M(M), .Terms(Terms), .Rows(Rows)) i_dut (
    .clk_i, .rst_ni, .last_i, .results_i, .ready_o(ready), .take_i(take), .close_o(close), .add_o(add), .first_o(first), .send_o(send),
    .index_o(index), .bad_o(bad), .give_i, .wrong_o(wrong)
  );

  // Results promised and not given back, results of the last sum not sent, rows of the sum so far: counted apart.
  int unsigned owed_q, unsent_q, sent_q, rows_q;
  logic        good_sum, bad_q, run_q;
  initial run_q = 1'b0;
  assign good_sum = results_i != '0 && 32'(results_i) <= M;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ledger
    if (!rst_ni) begin
      owed_q   <= 0;
      unsent_q <= 0;
      sent_q   <= 0;
      rows_q   <= 0;
      bad_q    <= 1'b0;
    end else begin
      owed_q <= owed_q + ((take && last_i && good_sum) ? 32'(results_i) : 0) - ((give_i && owed_q != 0) ? 1 : 0);
      if (take) rows_q <= last_i ? 0 : (rows_q > Terms) ? rows_q : rows_q + 1;
      if (take && last_i && good_sum) begin
        unsent_q <= 32'(results_i);
        sent_q   <= 0;
        bad_q    <= rows_q + 1 > Terms;
      end else if (unsent_q != 0) begin
        unsent_q <= unsent_q - 1;
        sent_q   <= sent_q + 1;
      end
    end
  end

  // Which rows were taken, and which of them opened a sum.
  logic [Lp+M-2:0] taken_q, opened_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_past
    if (!rst_ni) begin
      taken_q <= '0;
    end else begin
      taken_q <= {taken_q[Lp+M-3:0], take};
    end
  end
  always_ff @(posedge clk_i) begin : p_opened
    opened_q <= {opened_q[Lp+M-3:0], rows_q == 0};
    run_q    <= 1'b1;
  end

  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    if (run_q && rst_ni) begin
      a_space: assert (owed_q <= Rows && unsent_q <= M);
      a_close: assert (close == (take && last_i && good_sum));
      a_send:  assert (send == (unsent_q != 0));
      a_index: assert (!send || (32'(index) == sent_q && bad == bad_q));
      a_ready: assert (ready == (!last_i || !good_sum || (unsent_q <= 1 && owed_q + 32'(results_i) <= Rows)));
      a_add:   assert (add == taken_q[Lp-1+:M]);
      a_open:  assert (((first ^ opened_q[Lp-1+:M]) & add) == '0);
      // What makes the induction close.
      a_same:  assert (32'(i_dut.i_credits.left_q) + owed_q == Rows && 32'(i_dut.left_q) == unsent_q);
      a_place: assert (unsent_q == 0 || unsent_q + sent_q <= M);
      a_order: assert (unsent_q == 0 || (32'(i_dut.index_q) == sent_q && i_dut.bad_q == bad_q));
      a_rows:  assert (32'(i_dut.terms_q) == ((rows_q > Terms) ? Terms : rows_q) && i_dut.long_q == (rows_q > Terms));
      a_past:  assert (i_dut.add_q == taken_q && rows_q <= Terms + 1);
      a_first: assert (((i_dut.first_q ^ opened_q) & taken_q) == '0);
    end
  end

endmodule
