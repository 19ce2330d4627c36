// rm_modmul_barrett - Barrett product modulo any q, no factor.
//
// Equation     r_o = a_i * b_i mod q_i;  aux_i = floor(2^(W + n + 1) / q), 2^(n-1) < q < 2^n
//   T = a * b,  v = floor(T / 2^(n-2)),  e = floor(v * aux / 2^(W+3)),  r = T - e * q, less q if that leaves r >= 0.
// Intervals    0 <= a_i < 2^W, 0 <= b_i < q: T < 2^(W+n), v < 2^(W+2), aux < 2^(W+2). Against T / q, e loses
//                less than T / 2^(W+n+1)   < 1/2   to the floor in aux,
//                less than aux / 2^(W+3)   < 1/2   to the floor in v, and
//                less than 1                       to its own floor,
//              so 0 <= T - e * q < 2q < 2^(W+1), which the low W + 1 bits hold.
// Latency      rm_modmul_pkg::latency(KindBarrett, W) = three products + 4 cycles, one product a cycle, no stall. Constants
//              belong to the operands beside them.
// Source       Barrett 1986; one full and two half products as in Nguyen, Kim, Lee (docs/papers/nguyen.md).
module rm_modmul_barrett #(
  parameter int unsigned W    = 60,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  input  logic [W-1:0] q_i,
  input  logic [W+1:0] aux_i,
  output logic [W-1:0] r_o
);

  localparam int unsigned Lp = rm_modmul_pkg::ProductLatency;
  localparam int unsigned Sw = $clog2(W);

  // ---------------------------------------------------------------- W - n, the zeros above q, while T is made
  logic [Sw-1:0] zeros_d, zeros_q, zeros;
  always_comb begin : p_zeros
    zeros_d = '0;
    for (int unsigned i = 0; i < W; i++) begin
      if (q_i[i]) zeros_d = Sw'(W - 1 - i);
    end
  end
  always_ff @(posedge clk_i) begin : p_zeros_q
    zeros_q <= zeros_d;
  end
  rm_modmul_delay #(.Width(Sw), .Depth(Lp - 1)) i_zeros (.clk_i, .d_i(zeros_q), .d_o(zeros));

  // ---------------------------------------------------------------- T and v
  logic [2*W-1:0] t, shifted;
  logic [W+1:0]   v_q, aux;
  rm_modmul_product #(.Wa(W), .Wb(W), .Tile(Tile)) i_t (.clk_i, .a_i, .b_i, .p_o(t));
  assign shifted = t << zeros;
  always_ff @(posedge clk_i) begin : p_v
    v_q <= shifted[2*W-1:W-2];
  end

  // ---------------------------------------------------------------- e
  logic [2*W+3:0] va;
  logic [W-1:0]   q;
  rm_modmul_delay #(.Width(W + 2), .Depth(Lp + 1)) i_aux (.clk_i, .d_i(aux_i), .d_o(aux));
  rm_modmul_product #(.Wa(W + 2), .Wb(W + 2), .Tile(Tile)) i_va (.clk_i, .a_i(v_q), .b_i(aux), .p_o(va));

  // ---------------------------------------------------------------- e * q, low W + 1 bits
  logic [2*W:0] eq;
  rm_modmul_delay #(.Width(W), .Depth(2 * Lp + 1)) i_q (.clk_i, .d_i(q_i), .d_o(q));
  rm_modmul_product #(.Wa(W + 1), .Wb(W), .Tile(Tile)) i_eq (.clk_i, .a_i(va[2*W+3:W+3]), .b_i(q), .p_o(eq));

  // ---------------------------------------------------------------- r
  logic [W:0]   t_low, r_q, less;
  logic [W-1:0] q_r, r_same_q;
  logic [W:0]   less_q;
  rm_modmul_delay #(.Width(W + 1), .Depth(2 * Lp + 1)) i_t_low (.clk_i, .d_i(t[W:0]), .d_o(t_low));
  rm_modmul_delay #(.Width(W), .Depth(Lp + 1)) i_q_r (.clk_i, .d_i(q), .d_o(q_r));
  assign less = r_q - {1'b0, q_r};
  always_ff @(posedge clk_i) begin : p_result
    r_q      <= t_low - eq[W:0];
    less_q   <= less;
    r_same_q <= r_q[W-1:0];
    r_o      <= less_q[W] ? r_same_q : less_q[W-1:0];
  end

  logic unused;
  assign unused = ^{shifted[W-3:0], va[W+2:0], eq[2*W:W+1]};

endmodule
