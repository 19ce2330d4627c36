// rm_modmul_montgomery - Montgomery product modulo any odd q.
//
// Equation     r_o = a_i * b_i * 2^(-W) mod q_i;  aux_i = q^(-1) mod 2^W
//   T = a * b,  m = T * aux mod 2^W.  m * q = T modulo 2^W, so (T - m * q) / 2^W = (T >> W) - (m * q >> W).
// Intervals    0 <= a_i < 2^W, 0 <= b_i < q < 2^W: 0 <= T < 2^W * q and 0 <= m * q < 2^W * q, so the difference lies in
//              (-q, q), and one conditional addition of q gives 0 <= r_o < q.
// Latency      rm_modmul_pkg::latency(KindMontgomery, W) = three products + 2 cycles, one product a cycle, no stall.
//              Constants belong to the operands beside them.
// Source       Montgomery 1985.
module rm_modmul_montgomery #(
  parameter int unsigned W    = 52,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  input  logic [W-1:0] q_i,
  input  logic [W-1:0] aux_i,
  output logic [W-1:0] r_o
);

  localparam int unsigned Lp = rm_modmul_pkg::ProductLatency;

  logic [2*W-1:0] t, m, u;
  logic [W-1:0]   aux, q, q_last, t_high;

  rm_modmul_product #(.Wa(W), .Wb(W), .Tile(Tile)) i_t (.clk_i, .a_i, .b_i, .p_o(t));

  rm_modmul_delay #(.Width(W), .Depth(Lp)) i_aux (.clk_i, .d_i(aux_i), .d_o(aux));
  rm_modmul_product #(.Wa(W), .Wb(W), .Tile(Tile)) i_m (.clk_i, .a_i(t[W-1:0]), .b_i(aux), .p_o(m));

  rm_modmul_delay #(.Width(W), .Depth(2 * Lp)) i_q (.clk_i, .d_i(q_i), .d_o(q));
  rm_modmul_product #(.Wa(W), .Wb(W), .Tile(Tile)) i_u (.clk_i, .a_i(m[W-1:0]), .b_i(q), .p_o(u));

  rm_modmul_delay #(.Width(W), .Depth(2 * Lp)) i_t_high (.clk_i, .d_i(t[2*W-1:W]), .d_o(t_high));
  rm_modmul_delay #(.Width(W), .Depth(Lp + 1)) i_q_last (.clk_i, .d_i(q), .d_o(q_last));

  logic [W:0] d_q;
  always_ff @(posedge clk_i) begin : p_result
    d_q <= {1'b0, t_high} - {1'b0, u[2*W-1:W]};
    r_o <= d_q[W-1:0] + (q_last & {W{d_q[W]}});
  end

  logic unused;
  assign unused = ^{m[2*W-1:W], u[W-1:0]};

endmodule
