// rm_modmul_grid - product of two short numbers from DSP blocks that have one register behind them.
//
// Equation     p_o = x_i * y_i of the cycle before, one a cycle; x unsigned, y unsigned or with a sign.
// Stages       1: the blocks; then, without a register, the sum of what they give.
// Grid         unsigned: blocks of 18 x 18; signed: 17 bits of x beside all of y, up to 18 bits; a last bit of x in LUTs.
// Use          tilings whose blocks are cheaper and faster than rows of adders (ECP5): docs/area.md has the figures.
module rm_modmul_grid #(
  parameter int unsigned Nx     = 18,
  parameter int unsigned Ny     = 12,
  parameter bit          Signed = 1'b0,
  localparam int unsigned SliceX = Signed ? 17 : 18,
  localparam int unsigned SliceY = Signed ? Ny : 18,
  localparam int unsigned NumX   = (Nx + SliceX - 1) / SliceX,
  localparam int unsigned NumY   = (Ny + SliceY - 1) / SliceY,
  localparam int unsigned RowW   = SliceX * NumX + SliceY
) (
  input  logic             clk_i,
  input  logic [Nx-1:0]    x_i,
  input  logic [Ny-1:0]    y_i,
  output logic [Nx+Ny-1:0] p_o
);

  if (Signed && Ny > 18) begin : g_check
    $error("rm_modmul_grid: a signed operand of more than 18 bits");
  end

  logic [NumX*SliceX-1:0] x;
  logic [NumY*SliceY-1:0] y;
  assign x = (NumX * SliceX)'(x_i);
  assign y = (NumY * SliceY)'(y_i);

  logic [NumY-1:0][RowW-1:0] row;
  for (genvar j = 0; j < NumY; j++) begin : g_row
    logic [NumX-1:0][SliceX+SliceY-1:0] block_q;
    for (genvar i = 0; i < NumX; i++) begin : g_block
      logic [SliceX-1:0] a;
      logic [SliceY-1:0] b;
      assign a = x[SliceX*i+:SliceX];
      assign b = y[SliceY*j+:SliceY];
      if (Signed && Nx - SliceX * i == 1) begin : g_bit
        // One bit of x is left: no block for it.
        always_ff @(posedge clk_i) begin : p_block
          block_q[i] <= (SliceX + SliceY)'($signed(b & {SliceY{a[0]}}));
        end
        logic unused_zeros;
        assign unused_zeros = ^a;
      end else if (Signed) begin : g_signed
        always_ff @(posedge clk_i) begin : p_block
          block_q[i] <= (SliceX + SliceY)'($signed({1'b0, a}) * $signed(b));
        end
      end else begin : g_unsigned
        always_ff @(posedge clk_i) begin : p_block
          block_q[i] <= (SliceX + SliceY)'(a) * (SliceX + SliceY)'(b);
        end
      end
    end
    rm_modmul_stack #(
      .Num    (NumX),
      .Width  (SliceX + SliceY),
      .Step   (SliceX),
      .Signed (Signed)
    ) i_row (
      .x_i (block_q),
      .s_o (row[j])
    );
  end

  logic [RowW+SliceY*(NumY-1)-1:0] grid;
  rm_modmul_stack #(
    .Num    (NumY),
    .Width  (RowW),
    .Step   (SliceY),
    .Signed (Signed)
  ) i_grid (
    .x_i (row),
    .s_o (grid)
  );
  // Above the product stands zero, or its sign.
  assign p_o = (Nx + Ny)'(grid);

  logic unused;
  assign unused = ^grid;

endmodule
