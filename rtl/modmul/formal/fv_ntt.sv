// Range of rm_modmul_ntt at full width, for every product below 2^W * q of one modulus: the proof script cuts the multiplier
// away, so T0 is free. With BROKEN the bound is one too small and must give a counterexample.
module fv_ntt #(
  parameter int unsigned Kind = rm_modmul_pkg::ntt_kind(17),
  parameter int unsigned W    = 51,
  parameter int unsigned B    = 51,  // q = 2^B - D * 2^t + 1
  parameter int unsigned D    = 1
) (
  input logic         clk_i,
  input logic [W-1:0] a_i,
  input logic [W-1:0] b_i
);

  localparam int unsigned T = rm_modmul_pkg::ntt_word(Kind);
  localparam logic [W-1:0] Q = W'((65'(1) << B) - (65'(D) << T) + 65'(1));
  localparam int unsigned Cycles = rm_modmul_pkg::latency(Kind, W);
`ifdef BROKEN
  localparam logic [W-1:0] Bound = Q - 1;
`else
  localparam logic [W-1:0] Bound = Q;
`endif

  logic [W-1:0] r_o;

  rm_modmul_ntt #(
    .Kind (Kind),
    .W    (W),
    .Tile (rm_modmul_pkg::TileDsp48e2)
  ) i_dut (
    .clk_i,
    .a_i,
    .b_i,
    .q_i   (Q),
    .aux_i (6'(B - T)),
    .r_o
  );

  logic [4:0] cycle_q;
  initial cycle_q = '0;
  always_ff @(posedge clk_i) begin : p_cycle
    cycle_q <= cycle_q + 5'(cycle_q != '1);
  end

  always_comb begin : p_check
    assume (i_dut.product < {Q, W'(0)});
    if (cycle_q >= 5'(Cycles)) begin
      a_range: assert (r_o < Bound);
    end
  end

endmodule
