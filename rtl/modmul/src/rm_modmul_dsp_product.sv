// rm_modmul_dsp_product - product of two unsigned numbers: a grid of DSP blocks, and narrow strips in LUTs.
//
// Equation     p_o = a_i * b_i, 3 cycles later, one a cycle.
// Stages       1, 2: the blocks (their M and P registers) and, beside them, the strips; 3: the sum of all. EarlyRows: the
//              blocks have no second register, and stage 2 sums each row.
// Grid         Wa = NumA * SliceA + strip, Wb = NumB * SliceB + strip. The strip of a multiplies all of b, the strip of b
//              what the grid covers of a.
module rm_modmul_dsp_product #(
  parameter int unsigned Wa       = 52,
  parameter int unsigned Wb       = 52,
  parameter int unsigned SliceA   = 26,
  parameter int unsigned SliceB   = 17,
  parameter int unsigned StripMax = 12,
  parameter bit          EarlyRows = 1'b0
) (
  input  logic             clk_i,
  input  logic [Wa-1:0]    a_i,
  input  logic [Wb-1:0]    b_i,
  output logic [Wa+Wb-1:0] p_o
);

  localparam int unsigned NumA   = Wa / SliceA + ((Wa % SliceA > StripMax) ? 1 : 0);
  localparam int unsigned NumB   = Wb / SliceB + ((Wb % SliceB > StripMax) ? 1 : 0);
  localparam int unsigned GridA  = NumA * SliceA;
  localparam int unsigned GridB  = NumB * SliceB;
  localparam int unsigned StripA = (Wa > GridA) ? Wa - GridA : 0;
  localparam int unsigned StripB = (Wb > GridB) ? Wb - GridB : 0;
  localparam int unsigned InA    = (Wa < GridA) ? Wa : GridA;  // bits of a in the grid
  localparam int unsigned InB    = (Wb < GridB) ? Wb : GridB;
  localparam int unsigned TileW  = SliceA + SliceB;
  localparam int unsigned RowW   = GridA + SliceB;

  if (NumA == 0 || NumB == 0) begin : g_check
    $error("rm_modmul_dsp_product: operands narrower than a block");
  end

  logic [GridA-1:0] a_grid;
  logic [GridB-1:0] b_grid;
  assign a_grid = GridA'(a_i[InA-1:0]);
  assign b_grid = GridB'(b_i[InB-1:0]);

  logic [NumB-1:0][RowW-1:0] row;
  for (genvar j = 0; j < NumB; j++) begin : g_row
    logic [NumA-1:0][TileW-1:0] m_q, terms;
    logic [RowW-1:0]            row_sum;
    for (genvar i = 0; i < NumA; i++) begin : g_tile
      always_ff @(posedge clk_i) begin : p_tile
        m_q[i] <= TileW'(a_grid[SliceA*i+:SliceA]) * TileW'(b_grid[SliceB*j+:SliceB]);
      end
    end
    rm_modmul_stack #(
      .Num   (NumA),
      .Width (TileW),
      .Step  (SliceA)
    ) i_stack (
      .x_i (terms),
      .s_o (row_sum)
    );
    if (EarlyRows) begin : g_early
      assign terms = m_q;
      always_ff @(posedge clk_i) begin : p_row
        row[j] <= row_sum;
      end
    end else begin : g_late
      always_ff @(posedge clk_i) begin : p_tiles
        terms <= m_q;
      end
      assign row[j] = row_sum;
    end
  end

  logic [GridA+GridB-1:0] grid;
  rm_modmul_stack #(
    .Num   (NumB),
    .Width (RowW),
    .Step  (SliceB)
  ) i_grid (
    .x_i (row),
    .s_o (grid)
  );

  // Strips, above bit Base: (a_high * b) << GridA and (a_low * b_high) << GridB.
  localparam int unsigned Base = (GridA < GridB) ? GridA : GridB;
  logic [Wa+Wb-1:0] strip_a, strip_b, strips_q, sum;

  if (StripA > 0) begin : g_strip_a
    rm_modmul_strip #(
      .Nx (Wb),
      .Ny (StripA)
    ) i_strip (
      .clk_i,
      .x_i (b_i),
      .y_i (a_i[Wa-1:GridA]),
      .p_o (strip_a[Wa+Wb-1:GridA])
    );
    assign strip_a[GridA-1:0] = '0;
  end else begin : g_no_strip_a
    assign strip_a = '0;
  end

  if (StripB > 0) begin : g_strip_b
    logic [InA+StripB-1:0] p;
    rm_modmul_strip #(
      .Nx (InA),
      .Ny (StripB)
    ) i_strip (
      .clk_i,
      .x_i (a_i[InA-1:0]),
      .y_i (b_i[Wb-1:GridB]),
      .p_o (p)
    );
    assign strip_b = (Wa + Wb)'(p) << GridB;
  end else begin : g_no_strip_b
    assign strip_b = '0;
  end

  if (StripA > 0 || StripB > 0) begin : g_strips
    logic [Wa+Wb-1:Base] high;
    if (EarlyRows && NumB > 2) begin : g_balanced
      // The last row meets the strips while the others meet each other.
      logic [Wa+Wb-1:0]                   last;
      logic [RowW+SliceB*(NumB-2)-1:0] others;
      rm_modmul_stack #(
        .Num   (NumB - 1),
        .Width (RowW),
        .Step  (SliceB)
      ) i_others (
        .x_i (row[NumB-2:0]),
        .s_o (others)
      );
      assign last = strips_q + ((Wa + Wb)'(row[NumB-1]) << (SliceB * (NumB - 1)));
      assign sum  = (Wa + Wb)'(others) + last;
    end else begin : g_chained
      assign sum = (Wa + Wb)'(grid) + strips_q;
    end
    assign high = strip_a[Wa+Wb-1:Base] + strip_b[Wa+Wb-1:Base];
    always_ff @(posedge clk_i) begin : p_strips
      strips_q <= {high, {Base{1'b0}}};
      p_o      <= sum;
    end
  end else begin : g_no_strips
    assign strips_q = '0;
    logic unused_strips;
    assign unused_strips = ^{strip_a, strip_b, strips_q};
    assign sum = (Wa + Wb)'(grid);
    always_ff @(posedge clk_i) begin : p_sum
      p_o <= sum;
    end
  end

  logic unused;
  assign unused = ^{strip_a[Base-1:0], strip_b[Base-1:0], strips_q[Base-1:0], grid};

endmodule
