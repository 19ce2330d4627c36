// rm_modmul_mmsm - multi-modulus shift multiplier: product with a constant whose ones may stand at few places.
//
// Equation     p_o = x_i * (f_i & Mask), two cycles later, one a cycle.
//              Mask is the union of the ones of every modulus that the build serves; f_i says which of them this modulus
//              has. Each place is a shifted copy of x_i, taken or not; sums of up to four copies, a register, their sum.
//              A mask with more than MaxTerms ones is served by a product instead: any f_i.
// Source       CASA, Fig. 1 (docs/papers/casa.md).
module rm_modmul_mmsm #(
  parameter int unsigned   Nx   = 27,
  parameter int unsigned   Nf   = 27,
  parameter logic [Nf-1:0] Mask = '1,
  parameter int unsigned   Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic             clk_i,
  input  logic [Nx-1:0]    x_i,
  input  logic [Nf-1:0]    f_i,
  output logic [Nx+Nf-1:0] p_o
);

  localparam int unsigned MaxTerms = 8;
  localparam int unsigned Np = Nx + Nf;

  // Place of the term of rank `Rank`, counted from below; Nf when there are fewer.
  function automatic int unsigned place(int unsigned rank);
    int unsigned seen;
    seen = 0;
    for (int unsigned i = 0; i < Nf; i++) begin
      if (Mask[i]) begin
        if (seen == rank) return i;
        seen++;
      end
    end
    return Nf;
  endfunction

  if ($countones(Mask) > MaxTerms) begin : g_product
    rm_modmul_half_product #(
      .Nx   (Nx),
      .Ny   (Nf),
      .Tile (Tile)
    ) i_product (
      .clk_i,
      .x_i,
      .y_i (f_i & Mask),
      .p_o
    );
  end else begin : g_shifts
    logic [MaxTerms-1:0][Np-1:0] term;
    for (genvar t = 0; t < MaxTerms; t++) begin : g_term
      localparam int unsigned Place = place(t);
      if (Place < Nf) begin : g_used
        assign term[t] = Np'({x_i & {Nx{f_i[Place]}}, {Place{1'b0}}});
      end else begin : g_none
        assign term[t] = '0;
      end
    end

    logic [Np-1:0] low_q, high_q;
    always_ff @(posedge clk_i) begin : p_sums
      low_q  <= (term[0] + term[1]) + (term[2] + term[3]);
      high_q <= (term[4] + term[5]) + (term[6] + term[7]);
      p_o    <= low_q + high_q;
    end

    logic unused_places;
    assign unused_places = ^f_i;
  end

endmodule
