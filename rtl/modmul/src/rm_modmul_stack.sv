// rm_modmul_stack - sum of addends, each Step bits above the one before, combinational, as a balanced tree.
//
// Equation     s_o = sum over i < Num of x_i[i] * 2^(Step * i)
// Intervals    Addends of Width bits, signed or not. The caller guarantees that the sum of any Count neighbours fits
//              Width + Step * (Count - 1) bits of that kind, which holds for pieces of one product. The low bits of the
//              lower half are final, so an adder is as wide as the upper half.
module rm_modmul_stack #(
  parameter int unsigned Num    = 2,
  parameter int unsigned Width  = 43,
  parameter int unsigned Step   = 17,
  parameter bit          Signed = 1'b0,
  localparam int unsigned WidthOut = Width + Step * (Num - 1)
) (
  input  logic [Num-1:0][Width-1:0] x_i,
  output logic [WidthOut-1:0]       s_o
);

  if (Num == 1) begin : g_one
    assign s_o = x_i[0];
  end else begin : g_tree
    localparam int unsigned NumLow  = (Num + 1) / 2;
    localparam int unsigned NumHigh = Num - NumLow;
    localparam int unsigned LowW    = Width + Step * (NumLow - 1);
    localparam int unsigned HighW   = Width + Step * (NumHigh - 1);
    localparam int unsigned Final   = Step * NumLow;  // bits of the lower half that are final

    logic [LowW-1:0]  low;
    logic [HighW-1:0] high;

    rm_modmul_stack #(
      .Num    (NumLow),
      .Width  (Width),
      .Step   (Step),
      .Signed (Signed)
    ) i_low (
      .x_i (x_i[NumLow-1:0]),
      .s_o (low)
    );
    rm_modmul_stack #(
      .Num    (NumHigh),
      .Width  (Width),
      .Step   (Step),
      .Signed (Signed)
    ) i_high (
      .x_i (x_i[Num-1:NumLow]),
      .s_o (high)
    );

    // What the lower half has above its final bits; with wide steps nothing but its sign may be left.
    logic [HighW-1:0] carried;
    if (LowW > Final) begin : g_carried
      assign carried = {{(HighW - (LowW - Final)) {Signed & low[LowW-1]}}, low[LowW-1:Final]};
      assign s_o[Final-1:0] = low[Final-1:0];
    end else begin : g_apart
      assign carried = {HighW{Signed & low[LowW-1]}};
      assign s_o[Final-1:0] = {{(Final - LowW) {Signed & low[LowW-1]}}, low};
    end
    assign s_o[WidthOut-1:Final] = carried + high;
  end

endmodule
