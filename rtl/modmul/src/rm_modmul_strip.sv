// rm_modmul_strip - product with a narrow operand in LUTs, one cycle.
//
// Equation     p_o = x_i * y_i, unsigned, one cycle later, one a cycle.
module rm_modmul_strip #(
  parameter int unsigned Nx = 52,
  parameter int unsigned Ny = 4
) (
  input  logic             clk_i,
  input  logic [Nx-1:0]    x_i,
  input  logic [Ny-1:0]    y_i,
  output logic [Nx+Ny-1:0] p_o
);

  localparam int unsigned Rows = Ny / 2 + 1;

  logic signed [Nx+2*Rows-1:0] p;
  rm_modmul_booth #(
    .Nx   (Nx),
    .Rows (Rows)
  ) i_booth (
    .x_i,
    .y_i ((2 * Rows + 1)'({y_i, 1'b0})),
    .p_o (p)
  );

  always_ff @(posedge clk_i) begin : p_product
    p_o <= (Nx + Ny)'(p);
  end

  logic unused_sign;
  assign unused_sign = ^p[Nx+2*Rows-1:Nx+Ny];

endmodule
