// Range of rm_modmul_p2 at full width, for every product below 2^W * q of one modulus: the proof script cuts the multiplier
// away, so T0 is free. With BROKEN the bound is one too small and must give a counterexample.
module fv_p2 #(
  parameter int unsigned W      = 52,
  parameter bit          Sparse = 1'b1,
  parameter int unsigned K      = 1 << 25  // q = K * 2^H + 1
) (
  input logic         clk_i,
  input logic [W-1:0] a_i,
  input logic [W-1:0] b_i
);

  localparam int unsigned H = W / 2;
  localparam logic [W-1:0] Q = {H'(K), H'(1)};
  // q reaches the last addition after the whole pipeline; T0 the result after five cycles.
  localparam int unsigned Cycles = rm_modmul_pkg::latency(rm_modmul_pkg::KindP2, W);
`ifdef BROKEN
  localparam logic [W-1:0] Bound = Q - 1;
`else
  localparam logic [W-1:0] Bound = Q;
`endif

  logic [W-1:0] r_o;

  rm_modmul_p2 #(
    .W      (W),
    .Sparse (Sparse),
    .Tile   (rm_modmul_pkg::TileDsp48e2)
  ) i_dut (
    .clk_i,
    .a_i,
    .b_i,
    .q_i (Q),
    .r_o
  );

  logic [3:0] cycle_q;
  initial cycle_q = '0;
  always_ff @(posedge clk_i) begin : p_cycle
    cycle_q <= cycle_q + 4'(cycle_q != '1);
  end

  always_comb begin : p_check
    assume (i_dut.t0 < {Q, W'(0)});
    if (cycle_q >= 4'(Cycles)) begin
      a_range: assert (r_o < Bound);
    end
  end

endmodule
