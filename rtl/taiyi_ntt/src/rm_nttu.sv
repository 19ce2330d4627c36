// rm_nttu - negacyclic transforms of N = N11 N12 N21 N22 words in seven steps, forward and inverse: Taiyi's NTTU.
//
// Equation     forward  X[k] = sum over n of a[n] psi^((2 k + 1) n)       n = (n11 N12 + n12) N2 + n21 N22 + n22
//              inverse  the way back, with 1/N folded in                  k = k11 + N11 k12 + N1 (k21 + N21 k22)
//              1 short transforms over n11 (negacyclic)   2 twist, inner transposition   3 short transforms over n12
//              4 main transposition, twist               5 over n21                     6 twist, inner transposition   7 over n22
//              The inverse goes through the same seven units with k22, k21, k12, k11 (rtl/taiyi_ntt/README.md).
// Rate         L lanes of R elements; a limb every N/(L R) cycles, whatever the moduli and directions, no stall.
// Orders       values: lane l, row t, element e has X of the bit-reversed number l N/L + t R + e. Coefficients: README.md.
// Timing       start_*: valid/ready. Row 0 stands at row_i in the cycle after a start is taken, the others follow; row 0 of the
//              result rm_nttu_pkg::latency cycles after row 0. It cannot be stalled.
// Wrong use    bad_size_o, bad_modulus_o: no start. A modulus is written field by field before its first start and stands still
//              while limbs of it are inside.
module rm_nttu #(
  parameter int unsigned W    = 36,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileLut,
  parameter int unsigned Mods = 8,
  parameter int unsigned LogN = 8,
  parameter int unsigned LogL = 2,
  parameter int unsigned LogR = 2,
  localparam int unsigned L    = 1 << LogL,
  localparam int unsigned R    = 1 << LogR,
  localparam int unsigned ModW = $clog2(Mods)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // a modulus: 0 q, 1 aux, 2 + R i + j the power psi^(j N / R^(4-i)) 2^F, F the factor of the multiplier
  input  logic                       cfg_we_i,
  input  logic [6:0]                 cfg_field_i,
  input  logic [ModW-1:0]            cfg_mod_i,
  input  logic [W+1:0]               cfg_data_i,
  input  logic                       start_valid_i,
  output logic                       start_ready_o,
  input  logic [4:0]                 start_log_n_i,
  input  logic                       start_inverse_i,
  input  logic [ModW-1:0]            start_mod_i,
  output logic                       bad_size_o,
  output logic                       bad_modulus_o,
  input  logic [L-1:0][R-1:0][W-1:0] row_i,
  output logic                       valid_o,
  output logic                       first_o,
  output logic                       inverse_o,
  output logic [ModW-1:0]            mod_o,
  output logic [L-1:0][R-1:0][W-1:0] row_o,
  output logic                       busy_o
);

  localparam int unsigned D     = rm_nttu_pkg::missing(LogN, LogR);
  localparam int unsigned TimeW = rm_nttu_pkg::time_bits(LogN, LogL, LogR);
  localparam int unsigned Rows  = 1 << TimeW;
  localparam int unsigned TagW  = ModW + 1;
  localparam int unsigned M     = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Short = LogR * (M + 4);
  localparam int unsigned Main  = rm_nttu_pkg::main_delay(LogN, LogL, LogR);
  localparam int unsigned Whole = rm_nttu_pkg::latency(Kind, W, LogN, LogL, LogR);

  if (LogR < 2 || LogR > 4 || 4 * LogR < LogN || 3 * LogR >= LogN || LogL + 2 * LogR > LogN) begin : g_check_shape
    $error("rm_nttu: R of 4, 8 or 16; R^3 < N <= R^4; R^2 L <= N");
  end
  if (Mods < 2) begin : g_check_mods
    $error("rm_nttu: two moduli or more");
  end

  // ------------------------------------------------- starts
  logic start, last;
  assign bad_size_o = start_log_n_i != 5'(LogN);

  rm_nttu_check #(
    .W    (W),
    .Kind (Kind),
    .Mods (Mods),
    .LogN (LogN)
  ) i_check (
    .clk_i,
    .cfg_we_i,
    .cfg_field_i,
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i (start_mod_i),
    .bad_o (bad_modulus_o)
  );

  rm_stream_gate #(
    .LogRows (TimeW),
    .Polys   (Whole / Rows + 3)
  ) i_gate (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(TimeW)),
    .bad_size_i (bad_size_o || bad_modulus_o),
    .start_valid_i,
    .start_ready_o,
    .start_o    (start),
    .last_i     (last),
    .busy_o
  );

  // ------------------------------------------------- rows between the units, with their marks
  logic [9:0]                      first;
  logic [9:0][TagW-1:0]            tag;
  logic [10:0][L-1:0][R-1:0][W-1:0] row;
  assign row[0] = row_i;
  rm_nttu_mark #(.Cycles(rm_nttu_pkg::Lead), .Rows(Rows), .TagW(TagW)) i_lead (
    .clk_i, .rst_ni, .first_i(start), .tag_i({start_inverse_i, start_mod_i}), .first_o(first[0]), .tag_o(tag[0])
  );

  // ------------------------------------------------- half 0
  rm_nttu_short #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogL(LogL), .LogR(LogR), .NegaForward(1'b1), .TimeW(TimeW)
  ) i_short_1 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(first[0]), .tag_i(tag[0]), .row_i(row[0]), .first_o(first[1]), .tag_o(tag[1]), .row_o(row[1])
  );

  logic            early_1;
  logic [TagW-1:0] early_1_tag;
  rm_nttu_mark #(.Cycles(Short - M - 2), .Rows(Rows), .TagW(TagW)) i_early_1 (
    .clk_i, .rst_ni, .first_i(first[0]), .tag_i(tag[0]), .first_o(early_1), .tag_o(early_1_tag)
  );
  rm_nttu_inner_twist #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogN(LogN), .LogL(LogL), .LogR(LogR), .Half(1'b0), .TimeW(TimeW)
  ) i_twist_1 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(early_1), .tag_i(early_1_tag), .row_i(row[1]), .row_o(row[2])
  );
  rm_nttu_mark #(.Cycles(M), .Rows(Rows), .TagW(TagW)) i_mark_1 (
    .clk_i, .rst_ni, .first_i(first[1]), .tag_i(tag[1]), .first_o(first[2]), .tag_o(tag[2])
  );
  rm_nttu_inner_transpose #(
    .W(W), .LogN(LogN), .LogL(LogL), .LogR(LogR), .TimeW(TimeW), .TagW(TagW)
  ) i_transpose_1 (
    .clk_i, .rst_ni,
    .first_i(first[2]), .tag_i(tag[2]), .row_i(row[2]), .first_o(first[3]), .tag_o(tag[3]), .row_o(row[3])
  );

  rm_nttu_short #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogL(LogL), .LogR(LogR), .MissingInverse(D), .TimeW(TimeW)
  ) i_short_2 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(first[3]), .tag_i(tag[3]), .row_i(row[3]), .first_o(first[4]), .tag_o(tag[4]), .row_o(row[4])
  );

  // ------------------------------------------------- between the halves
  rm_nttu_main_transpose #(
    .W(W), .LogN(LogN), .LogL(LogL), .LogR(LogR), .TimeW(TimeW), .TagW(TagW)
  ) i_transpose_2 (
    .clk_i, .rst_ni,
    .first_i(first[4]), .tag_i(tag[4]), .row_i(row[4]), .first_o(first[5]), .tag_o(tag[5]), .row_o(row[5])
  );

  localparam int unsigned Before = 2 * Short + M + R - 1 + Main;   // from row 0 in to the product
  logic            early_2;
  logic [TagW-1:0] early_2_tag;
  rm_nttu_mark #(.Cycles(Before - 3 * M - 3 - R), .Rows(Rows), .TagW(TagW)) i_early_2 (
    .clk_i, .rst_ni, .first_i(first[0]), .tag_i(tag[0]), .first_o(early_2), .tag_o(early_2_tag)
  );
  rm_nttu_main_twist #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogN(LogN), .LogL(LogL), .LogR(LogR), .TimeW(TimeW)
  ) i_twist_2 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(early_2), .tag_i(early_2_tag), .row_i(row[5]), .row_o(row[6])
  );
  rm_nttu_mark #(.Cycles(M), .Rows(Rows), .TagW(TagW)) i_mark_2 (
    .clk_i, .rst_ni, .first_i(first[5]), .tag_i(tag[5]), .first_o(first[6]), .tag_o(tag[6])
  );

  // ------------------------------------------------- half 1
  rm_nttu_short #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogL(LogL), .LogR(LogR), .MissingForward(D), .TimeW(TimeW)
  ) i_short_3 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(first[6]), .tag_i(tag[6]), .row_i(row[6]), .first_o(first[7]), .tag_o(tag[7]), .row_o(row[7])
  );

  logic            early_3;
  logic [TagW-1:0] early_3_tag;
  rm_nttu_mark #(.Cycles(Short - M - 2), .Rows(Rows), .TagW(TagW)) i_early_3 (
    .clk_i, .rst_ni, .first_i(first[6]), .tag_i(tag[6]), .first_o(early_3), .tag_o(early_3_tag)
  );
  rm_nttu_inner_twist #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogN(LogN), .LogL(LogL), .LogR(LogR), .Half(1'b1), .TimeW(TimeW)
  ) i_twist_3 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(early_3), .tag_i(early_3_tag), .row_i(row[7]), .row_o(row[8])
  );
  rm_nttu_mark #(.Cycles(M), .Rows(Rows), .TagW(TagW)) i_mark_3 (
    .clk_i, .rst_ni, .first_i(first[7]), .tag_i(tag[7]), .first_o(first[8]), .tag_o(tag[8])
  );
  rm_nttu_inner_transpose #(
    .W(W), .LogN(LogN), .LogL(LogL), .LogR(LogR), .TimeW(TimeW), .TagW(TagW)
  ) i_transpose_3 (
    .clk_i, .rst_ni,
    .first_i(first[8]), .tag_i(tag[8]), .row_i(row[8]), .first_o(first[9]), .tag_o(tag[9]), .row_o(row[9])
  );

  logic [TagW-1:0] tag_out, unused_tag;
  rm_nttu_short #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogL(LogL), .LogR(LogR), .NegaInverse(1'b1), .TimeW(TimeW)
  ) i_short_4 (
    .clk_i, .rst_ni, .cfg_we_i, .cfg_field_i, .cfg_mod_i, .cfg_data_i,
    .first_i(first[9]), .tag_i(tag[9]), .row_i(row[9]), .first_o, .tag_o(tag_out), .row_o(row[10])
  );

  // ------------------------------------------------- result
  logic [TimeW-1:0] row_number;
  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (TagW)
  ) i_out (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(TimeW)),
    .first_i    (first_o),
    .mod_i      (tag_out),
    .valid_o,
    .time_o     (row_number),
    .mod_o      (unused_tag)
  );
  assign {inverse_o, mod_o} = tag_out;
  assign row_o = row[10];
  assign last  = valid_o && row_number == '1;

  logic unused;
  assign unused = ^unused_tag;

endmodule
