// rm_modmul_p2 - word Montgomery product for primes that are 1 modulo half a word.
//
// Equation     r_o = a_i * b_i * 2^(-W) mod q_i,  q = k * 2^H + 1, H = W / 2
//   The Montgomery quotient of a half word is the half word itself: with lo = T mod 2^H,
//     step(T) = (T - lo * q) / 2^H = (T >> H) - lo * k.
//   Sparse: k = 2^(H-1) + delta with delta signed, Kw bits; lo * k = (lo << (H-1)) + lo * delta.
// Intervals    0 <= a_i < 2^W, 0 <= b_i < q. T0 = a * b < 2^W * q; as 0 <= lo <= 2^H - 1,
//                -q < T1 = step(T0) < 2^H * q,   -q < T2 = step(T1) < q,
//              so one conditional addition of q gives 0 <= r_o < q.
// Latency      rm_modmul_pkg::latency(KindP2, W) = product + 2 + 2 + 1 cycles, one product a cycle, no stall. q_i belongs to
//              the operands beside it: consecutive products may have different moduli.
// Source       word Montgomery (Montgomery 1985) for the NTT-friendly form; docs/papers/casa.md compares with CASA's.
module rm_modmul_p2 #(
  parameter int unsigned W      = 52,
  parameter bit          Sparse = 1'b0,
  parameter int unsigned Tile   = rm_modmul_pkg::TileDsp48e2
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  input  logic [W-1:0] q_i,
  output logic [W-1:0] r_o
);

  localparam int unsigned H  = W / 2;
  localparam int unsigned Kw = Sparse ? rm_modmul_pkg::delta_bits(W) : H;  // bits of k that differ between moduli
  localparam int unsigned Lp = rm_modmul_pkg::ProductLatency;

  if (W % 2 != 0 || W < 6) begin : g_check
    $error("rm_modmul_p2: W must be even, 6 or more");
  end

  logic [2*W-1:0] t0;
  rm_modmul_product #(
    .Wa   (W),
    .Wb   (W),
    .Tile (Tile)
  ) i_product (
    .clk_i,
    .a_i,
    .b_i,
    .p_o (t0)
  );

  logic [Kw-1:0] k0, k1;
  logic [W-1:0]  q2;
  rm_modmul_delay #(.Width(Kw), .Depth(Lp)) i_k0 (.clk_i, .d_i(q_i[H+:Kw]), .d_o(k0));
  rm_modmul_delay #(.Width(Kw), .Depth(2)) i_k1 (.clk_i, .d_i(k0), .d_o(k1));
  if (Sparse) begin : g_q_sparse
    logic [Kw-1:0] k2;
    rm_modmul_delay #(.Width(Kw), .Depth(2)) i_k2 (.clk_i, .d_i(k1), .d_o(k2));
    // 2^(W-1) + delta * 2^H + 1 with the sign of delta carried up to the leading bit
    assign q2 = {~k2[Kw-1], {(H - 1 - Kw) {k2[Kw-1]}}, k2, {(H - 1) {1'b0}}, 1'b1};
  end else begin : g_q
    logic [Kw-1:0] k2;
    rm_modmul_delay #(.Width(Kw), .Depth(2)) i_k2 (.clk_i, .d_i(k1), .d_o(k2));
    assign q2 = {k2, {(H - 1) {1'b0}}, 1'b1};
  end

  logic signed [W+H:0] t1;
  logic signed [W:0]   t2;

  rm_modmul_step #(
    .Wt     (2 * W + 1),
    .H      (H),
    .Sparse (Sparse),
    .Kw     (Kw),
    .Tile   (Tile)
  ) i_step0 (
    .clk_i,
    .t_i ({1'b0, t0}),
    .k_i (k0),
    .lead_i ('0),
    .t_o (t1)
  );

  rm_modmul_step #(
    .Wt     (W + H + 1),
    .H      (H),
    .Sparse (Sparse),
    .Kw     (Kw),
    .Tile   (Tile)
  ) i_step1 (
    .clk_i,
    .t_i (t1),
    .k_i (k1),
    .lead_i ('0),
    .t_o (t2)
  );

  always_ff @(posedge clk_i) begin : p_result
    r_o <= t2[W-1:0] + (q2 & {W{t2[W]}});
  end

  // The class of moduli fixes the rest of q.
  logic unused_q;
  assign unused_q = ^q_i;

endmodule
