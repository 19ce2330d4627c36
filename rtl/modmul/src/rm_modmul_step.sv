// rm_modmul_step - one word step of a Montgomery reduction modulo q = k * 2^H + 1.
//
// Equation     t_o = (t_i >> H) - lo * k,  lo = t_i mod 2^H, two cycles later, one a cycle.
//              k = k_i, unsigned with Kw = H bits; or Sparse: k = 2^L + k_i, k_i signed with Kw bits, where L is Lead, or
//              with AnyLead lead_i, between Kw and Lead.
// Intervals    The caller guarantees that t_o fits Wt - H signed bits (rm_modmul_p2 has the argument).
// Stages       1: lo * k_i in groups of Booth rows, summed already where they are few (Sparse), and (t_i >> H) without
//              the sparse bit; 2: their difference. TileEcp5: lo * k_i in blocks, summed in stage 2.
module rm_modmul_step #(
  parameter int unsigned Wt     = 105,
  parameter int unsigned H      = 26,
  parameter bit          Sparse = 1'b0,
  parameter int unsigned Kw     = H,
  parameter int unsigned Lead   = H - 1,
  parameter bit          AnyLead = 1'b0,
  parameter int unsigned Tile   = rm_modmul_pkg::TileDsp48e2
) (
  input  logic                   clk_i,
  input  logic signed [Wt-1:0]   t_i,
  input  logic [Kw-1:0]          k_i,
  input  logic [5:0]             lead_i,
  output logic signed [Wt-H-1:0] t_o
);

  localparam int unsigned Wo = Wt - H;

  logic [H-1:0]         lo;
  logic signed [Wo-1:0] high_d, high_q;
  assign lo = t_i[H-1:0];
  if (Sparse && AnyLead) begin : g_any
    // From Kw on: what is shifted by the rest has fewer places to go.
    logic [H+Lead-1:0] led;
    assign led    = {{(Lead - Kw) {1'b0}}, lo, {Kw{1'b0}}} << (lead_i - 6'(Kw));
    assign high_d = $signed(t_i[Wt-1:H]) - $signed(Wo'(led));
  end else if (Sparse) begin : g_sparse
    assign high_d = $signed(t_i[Wt-1:H]) - $signed(Wo'({lo, {Lead{1'b0}}}));
  end else begin : g_dense
    assign high_d = $signed(t_i[Wt-1:H]);
  end

  // lo * k_i of the cycle before.
  logic signed [H+Kw:0] prod;
  if (Tile == rm_modmul_pkg::TileEcp5) begin : g_blocks
    logic [H+Kw-1:0] product;
    rm_modmul_grid #(
      .Nx     (H),
      .Ny     (Kw),
      .Signed (Sparse)
    ) i_grid (
      .clk_i,
      .x_i (lo),
      .y_i (k_i),
      .p_o (product)
    );
    assign prod = {Sparse & product[H+Kw-1], product};
  end else begin : g_rows
    // A signed operand of Kw bits has Kw / 2 digits; an unsigned one needs a zero above it.
    localparam int unsigned Digits = Sparse ? (Kw + 1) / 2 : Kw / 2 + 1;
    localparam int unsigned Rows   = (Digits > 8) ? 4 : (Digits + 1) / 2;
    localparam int unsigned Groups = (Digits + Rows - 1) / Rows;
    localparam int unsigned GroupW = H + 2 * Rows;
    localparam int unsigned ProdW  = GroupW + 2 * Rows * (Groups - 1);

    logic [2*Rows*Groups:0] digits;
    assign digits = {{(2 * Rows * Groups - Kw) {Sparse & k_i[Kw-1]}}, k_i, 1'b0};

    logic [Groups-1:0][GroupW-1:0] group_d;
    for (genvar g = 0; g < Groups; g++) begin : g_group
      rm_modmul_booth #(
        .Nx   (H),
        .Rows (Rows)
      ) i_booth (
        .x_i (lo),
        .y_i (digits[2*Rows*g+:2*Rows+1]),
        .p_o (group_d[g])
      );
    end

    logic [ProdW-1:0] rows;
    if (Sparse) begin : g_sum_first
      logic [ProdW-1:0] prod_d;
      rm_modmul_stack #(
        .Num    (Groups),
        .Width  (GroupW),
        .Step   (2 * Rows),
        .Signed (1'b1)
      ) i_prod (
        .x_i (group_d),
        .s_o (prod_d)
      );
      always_ff @(posedge clk_i) begin : p_prod
        rows <= prod_d;
      end
    end else begin : g_sum_last
      logic [Groups-1:0][GroupW-1:0] group_q;
      always_ff @(posedge clk_i) begin : p_groups
        group_q <= group_d;
      end
      rm_modmul_stack #(
        .Num    (Groups),
        .Width  (GroupW),
        .Step   (2 * Rows),
        .Signed (1'b1)
      ) i_prod (
        .x_i (group_q),
        .s_o (rows)
      );
    end
    // The product of an unsigned or sparse operand may have more bits than it needs: copies of its sign.
    assign prod = (H + Kw + 1)'($signed(rows));
    logic unused_sign;
    assign unused_sign = ^rows;
  end

  always_ff @(posedge clk_i) begin : p_step
    high_q <= high_d;
    t_o    <= high_q - Wo'(prod);
  end

  if (!AnyLead) begin : g_lead_fixed
    logic unused_lead;
    assign unused_lead = ^lead_i;
  end

endmodule
