// rm_modmul_prf - CASA's partially reduction-free, fully interleaved Karatsuba product, on integers.
//
// Equation     r_o = a_i * b_i * 2^(-H) mod q_i,  q = 2^M + f0, M = W - 1, H = W / 2, 0 < f0 < 2^H, f0 odd
//   With a = a1 * 2^H + a0 and b alike:
//     c0 = a0 * b0,  c2 = a1 * b1,  mid = (a0 + a1) * (b0 + b1) - c0 - c2       (Karatsuba)
//     u  = -c0 / f0 mod 2^H                                                     (Montgomery quotient)
//     v  = c2 >> (H-1)                                                          (Blakely quotient: wires)
//     S  = ((c2 mod 2^(H-1)) << H) - v * f0 + mid + (c0 + u * f0) / 2^H + (u << (H-1))
//   so that S * 2^H = a * b + u * q - v * q * 2^H. CASA's Algorithm 1 as printed holds in GF(2)[t] only.
//   u: if every f0 is 1 + g * 2^V with 2 V >= H (from Mask), u = (g * c0 << V) - c0; else u = c0 * aux, with
//   aux_i = -1 / f0 mod 2^H. Since c0 + u * f0 = 0 mod 2^H, the low halves add up to 2^H, or to 0 if c0's is 0.
// Intervals    0 <= a_i < 2^W, 0 <= b_i < q.  v * 2^H <= a * b / 2^M gives S * 2^H >= -a * b * f0 / 2^M, so S > -2q;
//              c2 mod 2^(H-1) < 2^(H-1), mid < 3 * 2^M and u < 2^H give S < 6 * 2^M.
//              With t = S >> M: t < 0: S + q, else S - t * q, lies in [-q, q) as 5 f0 < q (H >= 4);
//              one conditional addition of q gives 0 <= r_o < q.
// Latency      rm_modmul_pkg::latency(KindPrf, W) = 1 (sums) + product + 2 (u, v * f0) + 2 (u * f0) + 3 cycles, one product a
//              cycle, no stall. Constants belong to the operands beside them.
// Source       CASA, Algorithm 1 and Fig. 2 (docs/papers/casa.md).
module rm_modmul_prf #(
  parameter int unsigned    W    = 54,
  parameter int unsigned    Tile = rm_modmul_pkg::TileDsp48e2,
  parameter logic [W/2-1:0] Mask = '1
) (
  input  logic           clk_i,
  input  logic [W-1:0]   a_i,
  input  logic [W-1:0]   b_i,
  input  logic [W-1:0]   q_i,
  input  logic [W/2-1:0] aux_i,
  output logic [W-1:0]   r_o
);

  localparam int unsigned H  = W / 2;
  localparam int unsigned M  = W - 1;
  localparam int unsigned Lp = rm_modmul_pkg::ProductLatency;
  localparam int unsigned Sw = W + 4;  // S, signed: -2q < S < 6 * 2^M

  // Zeros of every f0 - 1 at the bottom; H when f0 is 1.
  function automatic int unsigned valuation();
    for (int unsigned i = 1; i < H; i++) begin
      if (Mask[i]) return i;
    end
    return H;
  endfunction
  localparam int unsigned V = valuation();
  localparam bit Short = (2 * V >= H) && (V < H);

  if (W % 2 != 0 || W < 8 || !Mask[0]) begin : g_check
    $error("rm_modmul_prf: W must be even, 8 or more, and Mask odd");
  end

  // ---------------------------------------------------------------- 1: Karatsuba's sums
  logic [W-1:0] a_q, b_q;
  logic [H:0]   sum_a_q, sum_b_q;
  always_ff @(posedge clk_i) begin : p_sums
    a_q     <= a_i;
    b_q     <= b_i;
    sum_a_q <= {1'b0, a_i[W-1:H]} + {1'b0, a_i[H-1:0]};
    sum_b_q <= {1'b0, b_i[W-1:H]} + {1'b0, b_i[H-1:0]};
  end

  // ---------------------------------------------------------------- 2 to 4: three products
  logic [2*H-1:0] c0, c2;
  logic [2*H+1:0] c1;
  rm_modmul_product #(.Wa(H), .Wb(H), .Tile(Tile)) i_c0 (.clk_i, .a_i(a_q[H-1:0]), .b_i(b_q[H-1:0]), .p_o(c0));
  rm_modmul_product #(.Wa(H), .Wb(H), .Tile(Tile)) i_c2 (.clk_i, .a_i(a_q[W-1:H]), .b_i(b_q[W-1:H]), .p_o(c2));
  rm_modmul_product #(.Wa(H + 1), .Wb(H + 1), .Tile(Tile)) i_c1 (.clk_i, .a_i(sum_a_q), .b_i(sum_b_q), .p_o(c1));

  logic [H-1:0] f4, f6, f9, f10;  // f0 beside stage 4, 6, 9, 10
  rm_modmul_delay #(.Width(H), .Depth(Lp + 1)) i_f4 (.clk_i, .d_i(q_i[H-1:0] & Mask), .d_o(f4));
  rm_modmul_delay #(.Width(H), .Depth(2)) i_f6 (.clk_i, .d_i(f4), .d_o(f6));
  rm_modmul_delay #(.Width(H), .Depth(3)) i_f9 (.clk_i, .d_i(f6), .d_o(f9));
  rm_modmul_delay #(.Width(H), .Depth(1)) i_f10 (.clk_i, .d_i(f9), .d_o(f10));

  // ---------------------------------------------------------------- 5, 6: v * f0 and u
  logic [2*H-1:0] vf;
  rm_modmul_mmsm #(.Nx(H), .Nf(H), .Mask(Mask), .Tile(Tile)) i_vf (.clk_i, .x_i(c2[2*H-2:H-1]), .f_i(f4), .p_o(vf));

  logic [H-1:0] u;
  if (V >= H) begin : g_u_plain
    logic [H-1:0] c0_6;
    rm_modmul_delay #(.Width(H), .Depth(2)) i_c0_6 (.clk_i, .d_i(c0[H-1:0]), .d_o(c0_6));
    assign u = -c0_6;
  end else if (Short) begin : g_u_short
    logic [2*(H-V)-1:0] gc;
    logic [H-1:0]       c0_6;
    rm_modmul_delay #(.Width(H), .Depth(2)) i_c0_6 (.clk_i, .d_i(c0[H-1:0]), .d_o(c0_6));
    rm_modmul_mmsm #(
      .Nx   (H - V),
      .Nf   (H - V),
      .Mask (Mask[H-1:V]),
      .Tile (Tile)
    ) i_gc (
      .clk_i,
      .x_i (c0[H-V-1:0]),
      .f_i (f4[H-1:V]),
      .p_o (gc)
    );
    assign u = {gc[H-V-1:0], {V{1'b0}}} - c0_6;
    logic unused_gc;
    assign unused_gc = ^gc[2*(H-V)-1:H-V];
  end else begin : g_u_aux
    logic [H-1:0]   aux;
    logic [2*H-1:0] product;
    rm_modmul_delay #(.Width(H), .Depth(Lp + 1)) i_aux (.clk_i, .d_i(aux_i), .d_o(aux));
    rm_modmul_half_product #(.Nx(H), .Ny(H), .Tile(Tile)) i_u (.clk_i, .x_i(c0[H-1:0]), .y_i(aux), .p_o(product));
    assign u = product[H-1:0];
    logic unused_product;
    assign unused_product = ^product[2*H-1:H];
  end

  // ---------------------------------------------------------------- 7, 8: u * f0
  logic [2*H-1:0] uf;
  rm_modmul_mmsm #(.Nx(H), .Nf(H), .Mask(Mask), .Tile(Tile)) i_uf (.clk_i, .x_i(u), .f_i(f6), .p_o(uf));

  // ---------------------------------------------------------------- 5 to 9: everything else of S
  logic [2*H+1:0]       mid_q;
  logic [H-2:0]         c2_low_q;
  logic [H-1:0]         c0_high_q;
  logic                 carry_d, carry_q, carry_7_q;
  logic signed [Sw-1:0] rest_6_q, rest_7_q, rest_8_q, s_q;
  assign carry_d = |c0[H-1:0];
  always_ff @(posedge clk_i) begin : p_rest
    mid_q     <= c1 - (2 * H + 2)'(c0) - (2 * H + 2)'(c2);
    c2_low_q  <= c2[H-2:0];
    c0_high_q <= c0[2*H-1:H];
    carry_q   <= carry_d;
    carry_7_q <= carry_q;
    rest_6_q  <= Sw'({c2_low_q, c0_high_q}) + Sw'(mid_q);
    rest_7_q  <= rest_6_q - Sw'(vf) + Sw'({u, {(H - 2) {1'b0}}, carry_7_q, 1'b0} >> 1);
    rest_8_q  <= rest_7_q;
    s_q       <= rest_8_q + Sw'(uf[2*H-1:H]);
  end

  // ---------------------------------------------------------------- 10: fold, 11: into [0, q)
  logic signed [3:0]   t;
  logic [H+3:0]        tf;
  logic signed [W+1:0] fold_d, fold_q;
  // -1 stands for every negative quotient; then S + q may still be negative, but not S + 2q.
  assign t = s_q[Sw-1] ? -4'sd1 : s_q[M+:4];
  rm_modmul_booth #(.Nx(H), .Rows(2)) i_tf (.x_i(f9), .y_i({t, 1'b0}), .p_o(tf));
  assign fold_d = (W + 2)'(s_q) - $signed({t[2:0], {M{1'b0}}}) - (W + 2)'($signed(tf));
  always_ff @(posedge clk_i) begin : p_result
    fold_q <= fold_d;
    r_o    <= fold_q[W-1:0] + ({1'b1, {(M - H) {1'b0}}, f10} & {W{fold_q[W+1]}});
  end

  logic unused;
  assign unused = ^{q_i, aux_i, c2[2*H-1], uf[H-1:0], fold_q[W]};

endmodule
