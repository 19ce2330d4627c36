// rm_modmul_booth - a few rows of a radix-4 Booth multiplier, one LUT6 a bit, combinational.
//
// Equation     p_o = x_i * Y, where the window y_i of a larger operand, with the bit below it as y_i[0], means
//                Y = sum over j < Rows of 4^j * (y_i[2j] + y_i[2j+1] - 2 * y_i[2j+2]),  |Y| <= 2^(2 Rows - 1).
//   Windows that share their border bit add up to the operand, read as a signed number.
// Intervals    0 <= x_i < 2^Nx; |p_o| < 2^(Nx + 2 Rows - 1), signed.
//   After row j the sum so far, over 4^j, is at most 2 x_i < 2^(Nx+1) in magnitude: Nx + 2 bits hold it.
// Cost         Rows * (Nx + 3) LUT6. The digit times x and the exclusive or with the sum so far are one function of six
//              inputs, and the carry chain takes the sum so far as its other input.
module rm_modmul_booth #(
  parameter int unsigned Nx   = 26,
  parameter int unsigned Rows = 4
) (
  input  logic [Nx-1:0]               x_i,
  input  logic [2*Rows:0]             y_i,
  output logic signed [Nx+2*Rows-1:0] p_o
);

  logic signed [Nx+1:0] sum[Rows];

  for (genvar j = 0; j < Rows; j++) begin : g_row
    logic one, two, neg;
    assign one = y_i[2*j] ^ y_i[2*j+1];
    assign neg = y_i[2*j+2];
    assign two = (y_i[2*j] ~^ y_i[2*j+1]) & (y_i[2*j+1] ^ neg);

    logic [Nx+1:0] digit, below;
    assign digit = (({2'b00, x_i} & {(Nx + 2) {one}}) | ({1'b0, x_i, 1'b0} & {(Nx + 2) {two}})) ^ {(Nx + 2) {neg}};
    if (j == 0) begin : g_first
      assign below = '0;
    end else begin : g_next
      assign below = (Nx + 2)'(sum[j-1] >>> 2);
    end

    // A one below the lowest bit on one side makes `neg` on the other the carry in.
    logic [Nx+2:0] total;
    assign total  = {below, 1'b1} + {digit, neg};
    assign sum[j] = total[Nx+2:1];

    logic unused_carry_bit;
    assign unused_carry_bit = total[0];

    if (j < Rows - 1) begin : g_low
      assign p_o[2*j+:2] = sum[j][1:0];
    end else begin : g_high
      assign p_o[Nx+2*Rows-1:2*j] = sum[j];
    end
  end

endmodule
