// rm_nttu_short - a transform of R points in every lane, a row a cycle: log R columns whose butterflies have one constant each.
//
// Equation     forward  element brv(k) = sum over n of a_n w'^(n k) (cyclic, w' = W_R), or w^((2 k + 1) n) (negacyclic, w = W_2R)
//              inverse  the way back, with 1/R
// Inverse      It undoes the columns in the opposite order. Elements turned end for end (bits of their numbers reversed) before and
//              behind the columns make the first column the one that is undone first.
// Missing      The last Missing bits of the element number are no digit of this transform in direction Part: those columns let
//              rows pass, and the transform has R / 2^Missing points.
// Latency      log R columns.
module rm_nttu_short #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogL    = 1,
  parameter int unsigned LogR    = 2,
  parameter bit          NegaForward = 1'b0,
  parameter bit          NegaInverse = 1'b0,
  parameter int unsigned MissingForward = 0,
  parameter int unsigned MissingInverse = 0,
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
  input  logic [ModW:0]              tag_i,
  input  logic [L-1:0][R-1:0][W-1:0] row_i,
  output logic                       first_o,
  output logic [ModW:0]              tag_o,
  output logic [L-1:0][R-1:0][W-1:0] row_o
);

  logic [LogR:0]                              first, inverse;
  logic [LogR:0][ModW:0]                      tag;
  logic [LogR:0][L-1:0][R-1:0][W-1:0]         row;

  logic             unused_valid;
  logic [TimeW-1:0] unused_time;
  logic [ModW:0]    now;
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
    .mod_o   (now)
  );

  assign first[0]   = first_i;
  assign tag[0]     = tag_i;
  assign inverse[0] = now[ModW];
  assign first_o    = first[LogR];
  assign tag_o      = tag[LogR];

  for (genvar e = 0; e < R; e++) begin : g_turn
    localparam int unsigned Other = rev(e);
    for (genvar l = 0; l < L; l++) begin : g_lane
      assign row[0][l][e] = inverse[0] ? row_i[l][Other] : row_i[l][e];
      assign row_o[l][e]  = inverse[LogR] ? row[LogR][l][Other] : row[LogR][l][e];
    end
  end

  for (genvar c = 0; c < LogR; c++) begin : g_column
    rm_nttu_column #(
      .W           (W),
      .Kind        (Kind),
      .Tile        (Tile),
      .Mods        (Mods),
      .LogL        (LogL),
      .LogR        (LogR),
      .C           (c),
      .NegaForward (NegaForward),
      .NegaInverse (NegaInverse),
      .PassForward (c + MissingForward >= LogR),
      .PassInverse (c + 1 <= MissingInverse),
      .TimeW       (TimeW)
    ) i_column (
      .clk_i,
      .rst_ni,
      .cfg_we_i,
      .cfg_field_i,
      .cfg_mod_i,
      .cfg_data_i,
      .first_i   (first[c]),
      .tag_i     (tag[c]),
      .row_i     (row[c]),
      .first_o   (first[c+1]),
      .tag_o     (tag[c+1]),
      .inverse_o (inverse[c+1]),
      .row_o     (row[c+1])
    );
  end

  // For constants only.
  function automatic int unsigned rev(int unsigned e);
    rev = 0;
    for (int unsigned b = 0; b < LogR; b++) begin
      rev |= ((e >> b) & 1) << (LogR - 1 - b);
    end
  endfunction

  logic unused;
  assign unused = ^{now, unused_valid, unused_time, inverse};

endmodule
