// rm_mac_chain - M multiply-accumulators on one element of a row, output stationary, with lazy sums.
//
// Equation     sum_o = sum over the rows of a sum of x b[m], for one m a cycle; nothing is reduced.
//              x goes from one accumulator to the next, so number m sees the row m cycles after number 0.
// Intervals    x, b any words; up to 2^G - 1 rows a sum: below 2^(2 W + G).
// Timing       t is the cycle of x_i; b_i[m] belongs to t + m, add_i[m] and first_i[m] to t + m + Lp, pick_i = m to t_last + m + Lp + 1;
//              sum_o stands in t_last + m + Lp + 2. Lp = rm_modmul_pkg::ProductLatency. A row a cycle. x_i and b_i from registers.
// Source       Taiyi, section V (VEC-PE: each accumulator another key, one operand shared); docs/papers/taiyi-machine.md.
module rm_mac_chain #(
  parameter int unsigned W    = 36,
  parameter int unsigned Tile = rm_modmul_pkg::TileLut,
  parameter int unsigned M    = 2,
  parameter int unsigned G    = 6,
  localparam int unsigned IndexW = (M == 1) ? 1 : $clog2(M)
) (
  input  logic                clk_i,
  input  logic [W-1:0]        x_i,
  input  logic [M-1:0][W-1:0] b_i,
  input  logic [M-1:0]        add_i,
  input  logic [M-1:0]        first_i,
  input  logic [IndexW-1:0]   pick_i,
  output logic [2*W+G-1:0]    sum_o
);

  logic [M-1:0][W-1:0]       x_q;
  logic [M-1:0][2*W+G-1:0]   acc_q;

  assign x_q[0] = x_i;
  for (genvar m = 0; m < M; m++) begin : g_mac
    if (m > 0) begin : g_pass
      always_ff @(posedge clk_i) begin : p_pass
        x_q[m] <= x_q[m-1];
      end
    end
    logic [2*W-1:0] product;
    rm_modmul_product #(.Wa(W), .Wb(W), .Tile(Tile)) i_product (.clk_i, .a_i(x_q[m]), .b_i(b_i[m]), .p_o(product));
    always_ff @(posedge clk_i) begin : p_accumulate
      if (add_i[m]) begin
        acc_q[m] <= (first_i[m] ? '0 : acc_q[m]) + (2 * W + G)'(product);
      end
    end
  end

  always_ff @(posedge clk_i) begin : p_pick
    sum_o <= acc_q[pick_i];
  end

endmodule
