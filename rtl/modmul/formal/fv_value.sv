// Whole functions at sizes where a solver can do them: the rows of a Booth multiplier, and P2 at 6 bits.
module fv_value #(
  parameter int unsigned Nx   = 5,
  parameter int unsigned Rows = 2
) (
  input logic [Nx-1:0]   x_i,
  input logic [2*Rows:0] y_i
);

  localparam int unsigned Np = Nx + 2 * Rows;
  logic signed [Np-1:0]     p;
  logic signed [2*Rows-1:0] high;
  logic signed [Np:0]       want;

  rm_modmul_booth #(.Nx(Nx), .Rows(Rows)) i_dut (.x_i, .y_i, .p_o(p));

  // The window as a signed number, and one more if the bit below it is set.
  assign high = y_i[2*Rows:1];
  assign want = (Np + 1)'($signed({1'b0, x_i})) * ((Np + 1)'(high) + (Np + 1)'($signed({1'b0, y_i[0]})));

  always_comb begin : p_check
    a_value: assert ((Np + 1)'(p) == want);
  end

endmodule
