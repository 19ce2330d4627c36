// rm_quotient_term - what one source of a base conversion adds to the quotient.
//
// Equation     part_o = floor(y_i / 2^shift_i) factor_i: the i-th term of `quotient` in docs/limb-program.md, h_i and R_i beside y.
// Intervals    y < s: the shifted word is below 2^14 and the product below 2^28, as factor <= 2^(28 + shift) / s.
// Latency      2 cycles, one a cycle.
module rm_quotient_term
  import rm_arrays_pkg::*;
#(
  parameter int unsigned W = 36
) (
  input  logic                      clk_i,
  input  logic [W-1:0]              y_i,
  input  logic [HeadShiftBits-1:0]  shift_i,
  input  logic [HeadFactorBits-1:0] factor_i,
  output logic [QuotientBits-1:0]   part_o
);

  logic [HeadBits-1:0]       head_q;
  logic [HeadFactorBits-1:0] factor_q;
  always_ff @(posedge clk_i) begin : p_term
    head_q   <= HeadBits'(y_i >> shift_i);
    factor_q <= factor_i;
    part_o   <= QuotientBits'(head_q * factor_q);
  end

endmodule
