// rm_modmul_product - product of two unsigned numbers, from DSP blocks, LUTs or both.
//
// Equation     p_o = a_i * b_i, rm_modmul_pkg::ProductLatency = 3 cycles later, one a cycle. a_i and b_i should come straight
//              from registers.
// Tiles        DSP tilings cut a_i into pieces of SliceA and b_i into pieces of SliceB bits, one block for each pair. What
//              is left over at the top becomes one more piece if it has more than StripMax bits; a narrower strip is
//              multiplied in LUTs, where a bit of both operands costs half a LUT. TileLut has no blocks at all.
module rm_modmul_product #(
  parameter int unsigned Wa       = 52,
  parameter int unsigned Wb       = 52,
  parameter int unsigned Tile     = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned StripMax = 12
) (
  input  logic             clk_i,
  input  logic [Wa-1:0]    a_i,
  input  logic [Wb-1:0]    b_i,
  output logic [Wa+Wb-1:0] p_o
);

  // On ECP5 a row of adders takes a third of the cycle, and the flow does not use registers inside the blocks.
  localparam bit          Ecp5      = Tile == rm_modmul_pkg::TileEcp5;
  localparam int unsigned StripEcp5 = 4;

  if (Tile == rm_modmul_pkg::TileLut) begin : g_lut
    rm_modmul_lut_product #(
      .Wa (Wa),
      .Wb (Wb)
    ) i_product (
      .clk_i,
      .a_i,
      .b_i,
      .p_o
    );
  end else begin : g_dsp
    rm_modmul_dsp_product #(
      .Wa       (Wa),
      .Wb       (Wb),
      .SliceA   (rm_modmul_pkg::slice_a(Tile)),
      .SliceB   (rm_modmul_pkg::slice_b(Tile)),
      .StripMax (Ecp5 && StripMax > StripEcp5 ? StripEcp5 : StripMax),
      .EarlyRows (Ecp5)
    ) i_product (
      .clk_i,
      .a_i,
      .b_i,
      .p_o
    );
  end

endmodule
