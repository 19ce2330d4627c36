// rm_inplace_ntt - transforms of radix 16 in one limb of memory, 16 words a cycle; 32 butterflies, 15 multipliers for twiddle
// factors.
//
// Purpose      A negacyclic transform of either direction, N from 2^LogNMin to 2^LogNMax at run time, a modulus a transform.
//              Source: Duong and Lee 2023, Fig. 4 (the unit); Longa and Naehrig 2016 (merged psi).
// Equation     forward  out[k] = a(psi^(2 brv(k) + 1)) mod q, k in order; inverse the way back, with 1/N folded in.
// Intervals    words in [0, q), everywhere.
// Interval     ceil(log N / 4) * N/16 cycles and the waits between passes: rm_inplace_pkg::row_latency - 1 once, where N/16 is
//              large; none between transforms of one direction (rm_inplace_sequencer).
// Rows         The first pass takes its rows from outside: read_o asks for row read_row_o, which stands at row_i two cycles
//              later. The last one gives its rows out. Coefficients: lanes stand for the four highest index bits, lane bit
//              c for the one that is c modulo 4; values: lane l of row r is number 16 r + l. It cannot be stalled.
// Setting up   cfg_*: fields of {modulus, inverse}: 0 q, 1 aux, 2 + b the root rho_b 2^R, of an inverse its inverse; 31: 2^R mod
//              q. Then prepare_*, valid/ready: ready again when the seeds are in place. log_n_i stands still while busy_o;
//              another N makes all seeds void. Outside of what was built nothing starts, and bad_size_o is high.
// Reset        At any time: what was inside is lost, moduli and seeds stay.
module rm_inplace_ntt #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogNMax = 13,
  parameter int unsigned LogNMin = 10,
  parameter int unsigned Mods    = 8,
  localparam int unsigned ModW   = $clog2(Mods) + 1,   // and the direction
  localparam int unsigned RowW   = rm_inplace_pkg::RowW
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_n_i,
  output logic               bad_size_o,
  output logic               busy_o,
  input  logic               cfg_we_i,
  input  logic [4:0]         cfg_field_i,
  input  logic [ModW-1:0]    cfg_mod_i,
  input  logic [W+1:0]       cfg_data_i,
  input  logic               prepare_valid_i,
  input  logic [ModW-1:0]    prepare_mod_i,
  output logic               prepare_ready_o,
  // a transform: {modulus, inverse}
  input  logic               start_valid_i,
  input  logic [ModW-1:0]    start_mod_i,
  output logic               start_ready_o,
  // rows of the first pass
  output logic               read_o,
  output logic [RowW-1:0]    read_row_o,
  output logic [ModW-1:0]    read_mod_o,
  input  logic [15:0][W-1:0] row_i,
  // rows of the last pass
  output logic               valid_o,
  output logic [RowW-1:0]    row_number_o,
  output logic [ModW-1:0]    mod_o,
  output logic [15:0][W-1:0] row_o
);

  import rm_inplace_pkg::pass_t;

  localparam int unsigned M      = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Column = rm_inplace_pkg::column(M);
  localparam int unsigned PassW  = $bits(pass_t);

  if (LogNMin < 8 || LogNMax > 16 || LogNMin > LogNMax) begin : g_size
    $error("rm_inplace_ntt: 8 <= LogNMin <= LogNMax <= 16");
  end
  if (rm_stream_pkg::group(Kind, W) != 4) begin : g_group
    $error("rm_inplace_ntt: a product takes 7 to 14 cycles");
  end

  // ------------------------------------------------- passes
  logic            begun, bad_size;
  pass_t           pass;
  logic [ModW-1:0] pass_mod;
  logic [1:0]      inside_q;
  logic            done;

  assign bad_size   = log_n_i < 5'(LogNMin) || log_n_i > 5'(LogNMax);
  assign bad_size_o = bad_size;

  rm_inplace_sequencer #(.M(M), .ModW(ModW)) i_sequencer (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .bad_size_i    (bad_size),
    .start_valid_i,
    .start_ready_o,
    .start_mod_i,
    .valid_o       (begun),
    .pass_o        (pass),
    .mod_o         (pass_mod)
  );

  // At most one transform has ended its rows and not left, and one is going on.
  assign busy_o = inside_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_inside
    if (!rst_ni) begin
      inside_q <= '0;
    end else begin
      inside_q <= inside_q + 2'(start_valid_i && start_ready_o) - 2'(done);
    end
  end

  // ------------------------------------------------- seeds
  logic                          seed_valid, seed_lanes, seed_table;
  logic [rm_stream_pkg::SeedW-1:0]  seed_what;
  logic [rm_stream_pkg::StageW-1:0] seed_stage;
  logic [rm_stream_pkg::IndexW-1:0] seed_index;
  logic [ModW-1:0]               seed_mod;
  logic [W-1:0]                  seed_data;

  rm_stream_seeds #(
    .W       (W),
    .Kind    (Kind),
    .Tile    (Tile),
    .Mods    (2 * Mods),
    .LogP    (4),
    .LogNMax (LogNMax),
    .Style   (rm_stream_pkg::Feedback)
  ) i_seeds (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .cfg_we_i,
    .cfg_field_i,
    .cfg_mod_i,
    .cfg_data_i,
    .prepare_valid_i,
    .prepare_mod_i,
    .prepare_ready_o,
    .seed_valid_o (seed_valid),
    .seed_what_o  (seed_what),
    .seed_lanes_o (seed_lanes),
    .seed_stage_o (seed_stage),
    .seed_index_o (seed_index),
    .seed_mod_o   (seed_mod),
    .seed_data_o  (seed_data)
  );
  // Tables of the stages between lanes are those of the stages of a pass; the lowest lane bit has stage 3.
  assign seed_table = seed_valid && seed_lanes && seed_what == rm_stream_pkg::SeedTable;

  // ------------------------------------------------- twiddle factors: stage u is in column u, or 3 - u of an inverse one
  logic [3:0]            step_at;                 // a step begins, for column k
  logic [3:0][RowW-1:0]  block_at;
  logic [3:0][ModW-1:0]  mod_at;
  logic [3:0][4:0]       stage_at;
  logic [3:0][1:0]       part_at;
  logic [15:1][W-1:0]    word;                    // 2^u + j
  logic [RowW-1:0]       held;

  assign held = RowW'((17'd1 << pass.window) - 17'd1);

  for (genvar k = 0; k < 4; k++) begin : g_tap
    rm_inplace_shift #(.Cycles(k * Column + 1)) i_step (
      .clk_i,
      .rst_ni,
      .mark_i (begun && (pass.row & held) == '0),
      .mark_o (step_at[k])
    );
    rm_delay_line #(.Width(RowW + ModW + 7), .Cycles(k * Column + 1)) i_block (
      .clk_i,
      .data_i ({pass.row >> pass.window, pass_mod, pass.stage, pass.part}),
      .data_o ({block_at[k], mod_at[k], stage_at[k], part_at[k]})
    );
  end

  for (genvar u = 0; u < 4; u++) begin : g_stage
    logic back;
    assign back = step_at[3-u] && mod_at[3-u][0];
    rm_inplace_column_twiddle #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile),
      .ModW (ModW),
      .U    (u)
    ) i_twiddle (
      .clk_i,
      .rst_ni,
      .cfg_we_i,
      .cfg_field_i,
      .cfg_mod_i,
      .cfg_data_i,
      .table_we_i   (seed_table && seed_stage == 5'(3 - u)),
      .factor_we_i  (seed_table && seed_stage == 5'd3),
      .seed_mod_i   (seed_mod),
      .seed_index_i (seed_index[4:0]),
      .seed_data_i  (seed_data),
      .step_i       (back || (step_at[u] && !mod_at[u][0])),
      .block_i      (back ? block_at[3-u] : block_at[u]),
      .stage_i      (back ? stage_at[3-u] : stage_at[u]),
      .part_i       (back ? part_at[3-u] : part_at[u]),
      .mod_i        (back ? mod_at[3-u] : mod_at[u]),
      .words_o      (word[(2<<u)-1:(1<<u)])
    );
  end

  // ------------------------------------------------- rows: read, four columns, written
  logic            ask, there, written;
  pass_t           ask_pass, there_pass, written_pass;
  logic [ModW-1:0] ask_mod, there_mod, written_mod;
  logic [15:0][W-1:0] stored, entering, leaving;
  logic [4:0][15:0][W-1:0] line;

  rm_inplace_shift #(.Cycles(rm_inplace_pkg::lead(M) + 1)) i_ask (
    .clk_i,
    .rst_ni,
    .mark_i (begun),
    .mark_o (ask)
  );
  rm_delay_line #(.Width(PassW + ModW), .Cycles(rm_inplace_pkg::lead(M) + 1)) i_ask_pass (
    .clk_i,
    .data_i ({pass, pass_mod}),
    .data_o ({ask_pass, ask_mod})
  );
  rm_inplace_shift #(.Cycles(2)) i_there (
    .clk_i,
    .rst_ni,
    .mark_i (ask),
    .mark_o (there)
  );
  rm_delay_line #(.Width(PassW + ModW), .Cycles(2)) i_there_pass (
    .clk_i,
    .data_i ({ask_pass, ask_mod}),
    .data_o ({there_pass, there_mod})
  );
  rm_inplace_shift #(.Cycles(4 * Column + 1)) i_written (
    .clk_i,
    .rst_ni,
    .mark_i (there),
    .mark_o (written)
  );
  rm_delay_line #(.Width(PassW + ModW), .Cycles(4 * Column + 1)) i_written_pass (
    .clk_i,
    .data_i ({there_pass, there_mod}),
    .data_o ({written_pass, written_mod})
  );

  assign read_o     = ask && ask_pass.entry;
  assign read_row_o = ask_pass.row;
  assign read_mod_o = ask_mod;

  rm_inplace_banks #(.W(W), .LogNMax(LogNMax)) i_banks (
    .clk_i,
    .re_i      (ask && !ask_pass.entry),
    .rrow_i    (ask_pass.row),
    .rwindow_i (ask_pass.window),
    .rdata_o   (stored),
    .we_i      (written && !written_pass.leave),
    .wrow_i    (written_pass.row),
    .wwindow_i (written_pass.window),
    .wdata_i   (leaving)
  );

  // An inverse transform begins with the lowest lane bit: its lanes stand in reversed order.
  assign entering = there_pass.entry ? row_i : stored;
  for (genvar l = 0; l < 16; l++) begin : g_lane
    localparam int unsigned Back = ((l & 1) << 3) | ((l & 2) << 1) | ((l & 4) >> 1) | ((l & 8) >> 3);
    always_ff @(posedge clk_i) begin : p_enter
      line[0][l] <= there_mod[0] ? entering[Back] : entering[l];
    end
    assign leaving[l] = written_mod[0] ? line[4][Back] : line[4][l];
  end

  for (genvar k = 0; k < 4; k++) begin : g_column
    logic [ModW-1:0]   mod;
    logic [1:0]        part;
    logic              inverse_late;
    logic [7:0][W-1:0] twiddle;

    rm_delay_line #(.Width(ModW + 2), .Cycles(k * Column + 1)) i_mod (
      .clk_i,
      .data_i ({there_mod, there_pass.part}),
      .data_o ({mod, part})
    );
    rm_delay_line #(.Width(1), .Cycles(2)) i_inverse (
      .clk_i,
      .data_i (mod[0]),
      .data_o (inverse_late)
    );
    for (genvar f = 0; f < 8; f++) begin : g_word
      localparam int unsigned X    = 3 - k;
      localparam int unsigned A    = ((f >> X) << (X + 1)) | (f & ((1 << X) - 1));
      localparam int unsigned J    = A >> (4 - k);
      // The lanes' lower bits, in reversed order.
      localparam int unsigned Low  = A & ((1 << X) - 1);
      localparam int unsigned Back = (X == 3) ? (((Low & 1) << 2) | (Low & 2) | ((Low & 4) >> 2))
                                   : (X == 2) ? (((Low & 1) << 1) | ((Low & 2) >> 1)) : Low;
      assign twiddle[f] = inverse_late ? word[(1<<X)+Back] : word[(1<<k)+J];
    end

    rm_inplace_column #(.W(W), .Kind(Kind), .Tile(Tile), .ModW(ModW), .K(k)) i_column (
      .clk_i,
      .cfg_we_i  (cfg_we_i && cfg_field_i <= 5'd1),
      .cfg_aux_i (cfg_field_i[0]),
      .cfg_mod_i,
      .cfg_data_i,
      .mod_i     (mod),
      .off_i     (part != 2'd0 && 3'(mod[0] ? 3 - k : k) + 3'(part) < 3'd4),
      .row_i     (line[k]),
      .twiddle_i (twiddle),
      .row_o     (line[k+1])
    );
  end

  // ------------------------------------------------- rows out
  logic [15:0][W-1:0] row_q;

  always_ff @(posedge clk_i) begin : p_out
    row_q        <= leaving;
    row_number_o <= written_pass.row;
    mod_o        <= written_mod;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_o <= 1'b0;
    end else begin
      valid_o <= written && written_pass.leave;
    end
  end
  assign row_o = row_q;
  assign done  = valid_o && row_number_o == RowW'((17'd1 << (log_n_i - 5'd4)) - 17'd1);

  logic unused;
  assign unused = ^{seed_index[6:5], written_pass.stage, written_pass.part, written_pass.entry};

endmodule
