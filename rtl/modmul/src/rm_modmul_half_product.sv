// rm_modmul_half_product - product of two half words, two cycles.
//
// Equation     p_o = x_i * y_i, unsigned, two cycles later, one a cycle.
// Stages       1: groups of Booth rows, or blocks (TileEcp5); 2: their sum.
module rm_modmul_half_product #(
  parameter int unsigned Nx   = 27,
  parameter int unsigned Ny   = 27,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic             clk_i,
  input  logic [Nx-1:0]    x_i,
  input  logic [Ny-1:0]    y_i,
  output logic [Nx+Ny-1:0] p_o
);

  if (Tile == rm_modmul_pkg::TileEcp5) begin : g_blocks
    logic [Nx+Ny-1:0] product;
    rm_modmul_grid #(
      .Nx (Nx),
      .Ny (Ny)
    ) i_grid (
      .clk_i,
      .x_i,
      .y_i,
      .p_o (product)
    );
    always_ff @(posedge clk_i) begin : p_product
      p_o <= product;
    end
  end else begin : g_rows
    localparam int unsigned Rows   = 4;
    localparam int unsigned Digits = Ny / 2 + 1;
    localparam int unsigned Groups = (Digits + Rows - 1) / Rows;
    localparam int unsigned GroupW = Nx + 2 * Rows;
    localparam int unsigned ProdW  = GroupW + 2 * Rows * (Groups - 1);

    logic [2*Rows*Groups:0] digits;
    assign digits = (2 * Rows * Groups + 1)'({y_i, 1'b0});

    logic [Groups-1:0][GroupW-1:0] group_d, group_q;
    for (genvar g = 0; g < Groups; g++) begin : g_group
      rm_modmul_booth #(
        .Nx   (Nx),
        .Rows (Rows)
      ) i_booth (
        .x_i,
        .y_i (digits[2*Rows*g+:2*Rows+1]),
        .p_o (group_d[g])
      );
    end

    logic [ProdW-1:0] prod;
    rm_modmul_stack #(
      .Num    (Groups),
      .Width  (GroupW),
      .Step   (2 * Rows),
      .Signed (1'b1)
    ) i_prod (
      .x_i (group_q),
      .s_o (prod)
    );

    always_ff @(posedge clk_i) begin : p_product
      group_q <= group_d;
      p_o     <= (Nx + Ny)'(prod);
    end

    logic unused_sign;
    assign unused_sign = prod[ProdW-1];
  end

endmodule
