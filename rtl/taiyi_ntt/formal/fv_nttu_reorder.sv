// rm_nttu_reorder: every row of any limb, after any gaps, comes out in its cycle beside the right mark: no limb touches another.
module fv_nttu_reorder #(
  parameter int unsigned I = 0,
  parameter int unsigned J = 1
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       first_i,
  input logic [4:0] row_i
);

  localparam int unsigned TimeW = 3;
  localparam int unsigned Rows  = 1 << TimeW;
  localparam int unsigned D     = (1 << J) - (1 << I);

  logic       first_o, tag_o;
  logic [4:0] row_o;
  rm_nttu_reorder #(
    .Width (5),
    .I     (I),
    .J     (J),
    .TimeW (TimeW),
    .TagW  (1)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .first_i,
    .tag_i (1'b0),
    .row_i,
    .first_o,
    .tag_o,
    .row_o
  );

  // What came in the last 2 D + 1 cycles, and how long ago a limb began.
  logic [4:0]       past_q[2*D+1];
  logic [2*D:0]     first_q;
  logic [5:0]       since_q;   // cycles since the last first row, up to 63
  logic             run_q;
  initial run_q = 1'b0;
  always_ff @(posedge clk_i) begin : p_past
    run_q     <= 1'b1;
    past_q[0] <= row_i;
    for (int unsigned i = 1; i <= 2 * D; i++) past_q[i] <= past_q[i-1];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_since
    if (!rst_ni) begin
      since_q <= '1;
      first_q <= '0;
    end else begin
      since_q <= first_i ? 6'd1 : (since_q == '1) ? since_q : since_q + 6'd1;
      first_q <= (2 * D + 1)'({first_q, first_i});
    end
  end

  // Row of the result: the mark of D cycles ago counts it.
  logic             out_valid_q;
  logic [TimeW-1:0] out_q, out_row;
  logic             out_valid;
  assign out_valid = first_q[D-1] || out_valid_q;
  assign out_row   = first_q[D-1] ? '0 : out_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_out
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      out_q       <= '0;
    end else begin
      out_valid_q <= out_valid && out_row != '1;
      out_q       <= out_row + 1'b1;
    end
  end

  // Row r of the result is row r with bits I and J exchanged: D cycles before, or now, or 2 D before.
  logic [4:0] want;
  always_comb begin : p_want
    want = past_q[D-1];
    if (out_row[I] && !out_row[J]) want = row_i;
`ifdef BROKEN
    if (out_row[I] && out_row[J]) want = row_i;
`endif
    if (!out_row[I] && out_row[J]) want = past_q[2*D-1];
  end

  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    assume (!first_i || since_q >= 6'(Rows));   // limbs do not overlap
    if (run_q && rst_ni) begin
      a_mark: assert (first_o == first_q[D-1]);
      if (out_valid) begin
        a_row: assert (row_o == want);
      end
    end
  end

endmodule
