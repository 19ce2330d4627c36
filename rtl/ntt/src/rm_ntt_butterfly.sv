// rm_ntt_butterfly - one butterfly a cycle, forward or inverse, on canonical residues.
//
// Equation     forward  X = x + T*y            Y = x - T*y
//              inverse  X = (x + y)/2          Y = T*(y - x)/2          (mod q, q odd)
//              The table holds T * 2^R, R the factor of the multiplier, so that mm(y, T * 2^R) = T*y.
// Intervals    0 <= x, y, T < q < 2^W in, 0 <= X, Y < q out. On the way, with x' = top, y' = bottom:
//   sum_q   x (+ y)                 [0, 2q)     W + 1 bits
//   diff_q  y (- x)                 (-q, q)     W + 1 bits, signed
//   top_q   sum_q (- q)             [0, q); forward x, which is below q
//   bot_q   y, or (y - x + k q)/2   [0, q):  odd: k = 1, (0, 2q)/2;  even: k = 0, or 2 if negative
//   half_q  top_q, or (top_q + (odd ? q : 0))/2 < q
//   post    half (+ p) in [0, 2q);  (half) - p or p in (-q, q);  one conditional correction each, none of the inverse
// Area         What a direction does not correct says so at the choice. So where the direction is a constant, as in streams, the
//              subtraction is not built.
// Latency      4 + M cycles from x_i to x_o, one butterfly a cycle, no stall, no reset.
// Control      follows the data: each input belongs to the butterfly that is in that stage in that
//              cycle (offsets in rm_ntt_pkg), so that directions and moduli may change between any two.
module rm_ntt_butterfly #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic         clk_i,
  // stage 1
  input  logic         pre1_inverse_i,
  input  logic [W-1:0] x_i,
  input  logic [W-1:0] y_i,
  // stage 2
  input  logic         pre2_inverse_i,
  input  logic [W-1:0] pre2_q_i,
  // stage 3: operands of the multiplier
  input  logic         mul_inverse_i,
  input  logic [W-1:0] mul_q_i,
  input  logic [W+1:0] mul_aux_i,
  input  logic [W-1:0] twiddle_i,
  // stages 3 + M, 4 + M
  input  logic         post1_inverse_i,
  input  logic [W-1:0] post2_q_i,
  output logic [W-1:0] x_o,
  output logic [W-1:0] y_o
);

  localparam int unsigned MulLatency = rm_modmul_pkg::latency(Kind, W);

  // ------------------------------------------------- stage 1: sum and difference of the inverse
  logic [W:0] sum_q, diff_q;

  always_ff @(posedge clk_i) begin : p_pre1
    sum_q  <= {1'b0, x_i} + {1'b0, pre1_inverse_i ? y_i : W'(0)};
    diff_q <= {1'b0, y_i} - {1'b0, pre1_inverse_i ? x_i : W'(0)};
  end

  // ------------------------------------------------- stage 2: below q; bottom halved
  logic [W:0]   sum_less_q, lift, bot_sum;
  logic [W-1:0] top_q, bot_q;

  assign sum_less_q = sum_q - {1'b0, pre2_q_i};

  always_comb begin : p_lift
    if (pre2_inverse_i && diff_q[0]) begin
      lift = {1'b0, pre2_q_i};
    end else if (pre2_inverse_i && diff_q[W]) begin
      lift = {pre2_q_i, 1'b0};
    end else begin
      lift = '0;
    end
  end
  assign bot_sum = diff_q + lift;

  always_ff @(posedge clk_i) begin : p_pre2
    top_q <= (pre2_inverse_i && !sum_less_q[W]) ? sum_less_q[W-1:0] : sum_q[W-1:0];
    bot_q <= pre2_inverse_i ? bot_sum[W:1] : bot_sum[W-1:0];
  end

  // ------------------------------------------------- stage 3: product; top halved, then waits
  logic [W:0]   top_even;
  logic [W-1:0] half_q, half_late, product;

  assign top_even = {1'b0, top_q} + {1'b0, (mul_inverse_i && top_q[0]) ? mul_q_i : W'(0)};

  always_ff @(posedge clk_i) begin : p_half
    half_q <= mul_inverse_i ? top_even[W:1] : top_even[W-1:0];
  end

  rm_delay_line #(
    .Width (W),
    .Cycles(MulLatency - 1)
  ) i_wait (
    .clk_i,
    .data_i(half_q),
    .data_o(half_late)
  );

  rm_modmul #(
    .W    (W),
    .Kind (Kind),
    .Tile (Tile)
  ) i_mul (
    .clk_i,
    .a_i   (bot_q),
    .b_i   (twiddle_i),
    .q_i   (mul_q_i),
    .aux_i (mul_aux_i),
    .r_o   (product)
  );

  // ------------------------------------------------- stages 3 + M, 4 + M: forward, back below q
  logic [W:0]   plus_q, minus_q, plus_less_q;
  logic [W-1:0] x_q, y_q;
  logic         forward_q;

  always_ff @(posedge clk_i) begin : p_post1
    forward_q <= !post1_inverse_i;
    plus_q  <= {1'b0, half_late} + {1'b0, post1_inverse_i ? W'(0) : product};
    minus_q <= post1_inverse_i ? {1'b0, product} : {1'b0, half_late} - {1'b0, product};
  end

  assign plus_less_q = plus_q - {1'b0, post2_q_i};

  always_ff @(posedge clk_i) begin : p_post2
    x_q <= (forward_q && !plus_less_q[W]) ? plus_less_q[W-1:0] : plus_q[W-1:0];
    y_q <= minus_q[W-1:0] + (minus_q[W] ? post2_q_i : W'(0));
  end

  assign x_o = x_q;
  assign y_o = y_q;

endmodule
