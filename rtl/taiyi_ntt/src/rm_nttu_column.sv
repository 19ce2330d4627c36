// rm_nttu_column - one column of a short transform: in every lane R/2 butterflies, each with one constant a modulus and direction.
//
// Equation     forward  (a, b) -> (a + T b, a - T b);  inverse  (a, b) -> ((a + b)/2, (a - b)/(2 T))   mod q, canonical
//              Column C pairs elements that differ in bit r - 1 - C, r = log2 R. T is a power of w = W_2R = psi^(N/R):
//                forward  T = w^x, x = brv(e >> (r - C)) << (r - C), of C bits, plus 2^(r-1-C) if the transform is negacyclic;
//                inverse  the column undoes column r - 1 - C of a forward transform whose element bits are reversed:
//                         x = (e mod 2^(r-1-C)) << (C + 1), plus 2^C if negacyclic.
//              rm_ntt_butterfly subtracts the other way in the inverse and wants -1/T = w^(R - x): the same table.
// Pass         A column may be none of the transform in one direction: rows pass, as late as through butterflies.
// Latency      rm_stream_pkg::column_latency, a row a cycle, no stall; directions and moduli may change with any limb.
module rm_nttu_column #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogL    = 1,
  parameter int unsigned LogR    = 2,
  parameter int unsigned C       = 0,
  parameter bit          NegaForward = 1'b0,
  parameter bit          NegaInverse = 1'b0,
  parameter bit          PassForward = 1'b0,
  parameter bit          PassInverse = 1'b0,
  parameter int unsigned TimeW   = 4,
  localparam int unsigned L      = 1 << LogL,
  localparam int unsigned R      = 1 << LogR,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       cfg_we_i,
  input  logic [6:0]                 cfg_field_i,
  input  logic [ModW-1:0]            cfg_mod_i,
  input  logic [W+1:0]               cfg_data_i,
  input  logic                       first_i,
  input  logic [ModW:0]              tag_i,     // {inverse, modulus}
  input  logic [L-1:0][R-1:0][W-1:0] row_i,
  output logic                       first_o,
  output logic [ModW:0]              tag_o,
  output logic                       inverse_o, // of the row that comes out
  output logic [L-1:0][R-1:0][W-1:0] row_o
);

  localparam int unsigned M    = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Bit  = LogR - 1 - C;
  localparam int unsigned Top  = rm_nttu_pkg::FieldPower + 3 * R;   // first field of the powers of w

  // ------------------------------------------------- whose rows
  logic             unused_valid;
  logic [TimeW-1:0] unused_time;
  logic [ModW:0]    tag;
  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (ModW + 1)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(TimeW)),
    .first_i,
    .mod_i   (tag_i),
    .valid_o (unused_valid),
    .time_o  (unused_time),
    .mod_o   (tag)
  );

  logic         inverse_0, inverse_1, inverse_2, inverse_post;
  logic [W-1:0] q_1, q_2, q_post;
  logic [W+1:0] aux_1, aux_2;
  assign inverse_0 = tag[ModW];

  rm_stream_moduli #(
    .W    (W),
    .Mods (Mods)
  ) i_moduli (
    .clk_i,
    .cfg_we_i  (cfg_we_i && cfg_field_i < 7'(rm_nttu_pkg::FieldPower)),
    .cfg_aux_i (cfg_field_i == 7'(rm_nttu_pkg::FieldAux)),
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i (tag[ModW-1:0]),
    .q_o   (q_1),
    .aux_o (aux_1)
  );

  logic [R-1:0][W-1:0] powers;
  rm_stream_constants #(
    .W     (W),
    .Mods  (Mods),
    .Words (R)
  ) i_powers (
    .clk_i,
    .we_i    (cfg_we_i && cfg_field_i >= 7'(Top)),
    .index_i (cfg_field_i - 7'(Top)),
    .wmod_i  (cfg_mod_i),
    .data_i  (cfg_data_i[W-1:0]),
    .mod_i   (tag[ModW-1:0]),
    .words_o (powers)
  );
  // w^R = -1
  logic [R:0][W-1:0] power;
  assign power = {q_1 - powers[0], powers};

  always_ff @(posedge clk_i) begin : p_late
    inverse_1 <= inverse_0;
    inverse_2 <= inverse_1;
    q_2       <= q_1;
    aux_2     <= aux_1;
  end
  rm_delay_line #(
    .Width  (1),
    .Cycles (M)
  ) i_inverse_post (
    .clk_i,
    .data_i (inverse_2),
    .data_o (inverse_post)
  );
  rm_delay_line #(
    .Width  (W),
    .Cycles (M + 1)
  ) i_q_post (
    .clk_i,
    .data_i (q_2),
    .data_o (q_post)
  );
  rm_delay_line #(
    .Width  (1),
    .Cycles (2)
  ) i_inverse_out (
    .clk_i,
    .data_i (inverse_post),
    .data_o (inverse_o)
  );

  // ------------------------------------------------- butterflies
  logic [L-1:0][R-1:0][W-1:0] made;

  for (genvar f = 0; f < R / 2; f++) begin : g_pair
    localparam int unsigned A = ((f >> Bit) << (Bit + 1)) | (f & ((1 << Bit) - 1));
    localparam int unsigned B = A | (1 << Bit);
    localparam int unsigned Forward = (top(A) << (LogR - C)) + (NegaForward ? 1 << (LogR - 1 - C) : 0);
    localparam int unsigned Back    = ((A & ((1 << Bit) - 1)) << (C + 1)) + (NegaInverse ? 1 << C : 0);
    logic [W-1:0] constant_q;
    always_ff @(posedge clk_i) begin : p_constant
      constant_q <= inverse_1 ? power[R-Back] : power[Forward];
    end
    for (genvar l = 0; l < L; l++) begin : g_lane
      rm_ntt_butterfly #(
        .W    (W),
        .Kind (Kind),
        .Tile (Tile)
      ) i_butterfly (
        .clk_i,
        .pre1_inverse_i  (inverse_0),
        .x_i             (row_i[l][A]),
        .y_i             (row_i[l][B]),
        .pre2_inverse_i  (inverse_1),
        .pre2_q_i        (q_1),
        .mul_inverse_i   (inverse_2),
        .mul_q_i         (q_2),
        .mul_aux_i       (aux_2),
        .twiddle_i       (constant_q),
        .post1_inverse_i (inverse_post),
        .post2_q_i       (q_post),
        .x_o             (made[l][A]),
        .y_o             (made[l][B])
      );
    end
  end

  // The C highest bits of an element's number, reversed; for constants only.
  function automatic int unsigned top(int unsigned e);
    top = 0;
    for (int unsigned b = 1; b <= 8; b++) begin
      if (b <= C) top |= ((e >> (LogR - b)) & 1) << (b - 1);
    end
  endfunction

  // ------------------------------------------------- rows that pass
  if (PassForward || PassInverse) begin : g_pass
    logic [L-1:0][R-1:0][W-1:0] late;
    rm_delay_line #(
      .Width  (L * R * W),
      .Cycles (M + 4)
    ) i_late (
      .clk_i,
      .data_i (row_i),
      .data_o (late)
    );
    assign row_o = (inverse_o ? PassInverse : PassForward) ? late : made;
  end else begin : g_always
    assign row_o = made;
  end

  rm_nttu_mark #(
    .Cycles (M + 4),
    .Rows   (1 << TimeW),
    .TagW   (ModW + 1)
  ) i_mark (
    .clk_i,
    .rst_ni,
    .first_i,
    .tag_i,
    .first_o,
    .tag_o
  );

endmodule
