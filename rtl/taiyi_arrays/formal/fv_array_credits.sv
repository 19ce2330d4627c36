// rm_array_credits, for any wants and gifts: the consumer never owes a row that it has no space for, nothing waits that has space, and
// a row that was not taken is said and not counted.
module fv_array_credits #(
  parameter int unsigned Rows = 5,
  parameter int unsigned Most = 3,
  localparam int unsigned WantW = $clog2(Most + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [WantW-1:0] want_i,
  input logic             take_i,
  input logic             give_i
);

  logic ok, wrong;
  rm_array_credits #(.Rows(Rows), .Most(Most)) i_dut (
    .clk_i, .rst_ni, .want_i, .ok_o(ok), .take_i((take_i && ok) ? want_i : '0), .give_i, .wrong_o(wrong)
  );

  // Rows taken and not given back, counted apart.
  int unsigned owed_q;
  logic        wrong_q, run_q;
  initial run_q = 1'b0;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ledger
    if (!rst_ni) begin
      owed_q  <= 0;
      wrong_q <= 1'b0;
    end else begin
      owed_q  <= owed_q + ((take_i && ok) ? 32'(want_i) : 0) - ((give_i && owed_q != 0) ? 1 : 0);
      wrong_q <= wrong_q || (give_i && owed_q == 0);
    end
  end
  always_ff @(posedge clk_i) begin : p_run
    run_q <= 1'b1;
  end

  always_comb begin : p_check
    assume (want_i <= WantW'(Most));
    if (!run_q) assume (!rst_ni);
    if (run_q && rst_ni) begin
      a_space: assert (owed_q <= Rows);
      a_ok:    assert (ok == (owed_q + 32'(want_i) <= Rows));
      a_wrong: assert (wrong == wrong_q);
      // What makes the induction close.
      a_same:  assert (32'(i_dut.left_q) + owed_q == Rows);
    end
  end

endmodule
