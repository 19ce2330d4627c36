// rm_streaming_ntt - negacyclic number-theoretic transform of a stream: P words a cycle, a polynomial every N/P cycles.
//
// Equation     forward  out[k] = a(psi^(2 brv(k) + 1));  inverse  the way back, 1/N folded in. Words are canonical. Which
//              word stands where in the rows: README.md.
// Style        rm_stream_pkg::FeedForward: columns of P/2 butterflies and exchanges, N - P words, P/2 log N multipliers.
//              rm_stream_pkg::Feedback: rows of P neighbours, N - P words, P (log N - log P) + P/2 log P multipliers.
//              P for twiddle factors and one for seeds are to be added. Of the feed-forward kind, Side polynomials of one modulus
//              go side by side: their twiddle factors are made once.
// Interval     N/P cycles exactly, with any gap between polynomials, none within one.
// Latency      From row in to row out: rm_stream_pkg::latency.
// Start        start_*: valid/ready. Row 0 stands at row_i rm_stream_pkg::lead cycles after the start was taken, the others in the
//              cycles after it. Ready comes again N/P cycles after a start. The lead is what the first twiddle factors
//              need: seen in a cycle, read in the next, a product of M cycles, and there for the column's second
//              cycle, M + 3 after the start.
// Chain        ahead_o stands as many cycles before row 0 of the result as a start does before row 0 of the operand, so
//              ahead_o of a unit can be the start of the next. A feedback inverse has no column at its end: there
//              ahead_o stands beside row 0.
// Moduli       cfg_* writes fields of a modulus: 0 q, 1 aux, 2 + b the root rho_b 2^R, of an inverse transform 1/rho_b 2^R.
//              Then prepare_* makes its seeds (rm_stream_seeds). No polynomial of that modulus from the writes until then.
//              A change of log_n_i makes all seeds void.
// Size         log_n_i from LogNMin to LogNMax; it stands still while busy_o. Outside of them nothing starts and
//              bad_size_o is high.
// Fault        fault_o: a twiddle factor was late; it does not happen (README.md), and stays until reset.
module rm_streaming_ntt #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogNMax = 13,
  parameter int unsigned LogNMin = 10,
  parameter int unsigned Style   = rm_stream_pkg::FeedForward,
  parameter bit          Inverse = 1'b0,
  parameter int unsigned Side    = 1,
  localparam int unsigned P      = 1 << LogP,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [4:0]          log_n_i,
  output logic                bad_size_o,
  output logic                busy_o,
  output logic                fault_o,
  input  logic                cfg_we_i,
  input  logic [ModW-1:0]     cfg_mod_i,
  input  logic [4:0]          cfg_field_i,
  input  logic [W+1:0]        cfg_data_i,
  input  logic                prepare_valid_i,
  input  logic [ModW-1:0]     prepare_mod_i,
  output logic                prepare_ready_o,
  input  logic                start_valid_i,
  input  logic [ModW-1:0]     start_mod_i,
  output logic                start_ready_o,
  input  logic [Side-1:0][P-1:0][W-1:0] row_i,
  output logic                ahead_o,
  output logic [ModW-1:0]     ahead_mod_o,
  output logic                first_o,
  output logic [ModW-1:0]     mod_o,
  output logic                valid_o,
  output logic [Side-1:0][P-1:0][W-1:0] row_o
);

  import rm_stream_pkg::*;

  localparam int unsigned LogRows = LogNMax - LogP;   // also the stages on time bits
  localparam int unsigned Nodes   = LogNMax;
  localparam int unsigned RowsMin = 1 << (LogNMin - LogP);
  localparam int unsigned Polys   =
      (latency(Style, Inverse, Kind, W, LogP, LogNMin, LogNMax) + lead(Kind, W)) / RowsMin + 3;

  if (LogP < 1 || LogP > 5 || LogNMin > LogNMax || LogNMin <= LogP + 1 || LogNMax > 16 || Mods < 2) begin : g_check
    $error("rm_streaming_ntt: 2 <= P <= 32, 2P < N <= 2^16, two moduli or more");
  end
  if (Side < 1 || (Side > 1 && Style == Feedback)) begin : g_check_side
    $error("rm_streaming_ntt: polynomials go side by side in the feed-forward kind alone");
  end

  logic [4:0] log_rows;
  logic       cfg_constant, aux_field;
  assign log_rows     = log_n_i - 5'(LogP);
  assign bad_size_o   = log_n_i < 5'(LogNMin) || log_n_i > 5'(LogNMax);
  assign cfg_constant = cfg_we_i && cfg_field_i <= 5'd1;
  assign aux_field    = cfg_field_i[0];

  // ------------------------------------------------- start
  logic start, last_out;
  rm_stream_gate #(
    .LogRows (LogRows),
    .Polys   (Polys)
  ) i_gate (
    .clk_i,
    .rst_ni,
    .log_rows_i    (log_rows),
    .bad_size_i    (bad_size_o),
    .start_valid_i,
    .start_ready_o,
    .start_o       (start),
    .last_i        (last_out),
    .busy_o
  );

  // ------------------------------------------------- seeds
  logic              seed_valid, seed_lanes;
  logic [SeedW-1:0]  seed_what;
  logic [StageW-1:0] seed_stage;
  logic [IndexW-1:0] seed_index;
  logic [ModW-1:0]   seed_mod;
  logic [W-1:0]      seed_data;

  rm_stream_seeds #(
    .W       (W),
    .Kind    (Kind),
    .Tile    (Tile),
    .Mods    (Mods),
    .LogP    (LogP),
    .LogNMax (LogNMax),
    .Style   (Style)
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

  // ------------------------------------------------- twiddle factors: groups of stages, each with its multipliers
  // Of time bit t: times_rows[t]. Of the feedback kind's lane bit x: lanes_words[x].
  logic [LogRows-1:0]                      times_load;
  logic [LogRows-1:0][P/2-1:0][W-1:0]      times_rows;
  logic [LogP-1:0]                         lanes_load;
  logic [LogP-1:0][P/2-1:0][W-1:0]         lanes_words;
  logic [LogRows:0]                        times_fault;
  logic [LogP-1:0]                         lanes_fault;

  if (Style == FeedForward) begin : g_feed_forward_twiddles
    localparam int unsigned Own = (LogP < LogRows) ? LogP : LogRows;   // stages with multipliers of their own
    for (genvar t = 0; t < Own; t++) begin : g_own
      rm_stream_twiddle #(
        .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .TimeW(LogRows), .Polys(Polys),
        .Stages(1), .Hold0(t), .Mult((P / 2) >> t), .Lanes(1 << t)
      ) i_twiddle (
        .clk_i,
        .rst_ni,
        .log_rows_i   (log_rows),
        .cfg_we_i     (cfg_constant),
        .cfg_aux_i    (aux_field),
        .cfg_mod_i,
        .cfg_data_i,
        .seed_start_i (seed_valid && seed_what == SeedStart && seed_stage == StageW'(t)),
        .seed_table_i (seed_valid && seed_what == SeedTable),
        .seed_mod_i   (seed_mod),
        .seed_stage_i ('0),
        .seed_index_i (seed_index),
        .seed_data_i  (seed_data),
        .start_i      (start),
        .start_mod_i,
        .load_i       (times_load[t]),
        .rows_o       (times_rows[t]),
        .fault_o      (times_fault[t])
      );
    end
    if (LogRows > Own) begin : g_shared
      rm_stream_twiddle #(
        .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .TimeW(LogRows), .Polys(Polys),
        .Stages(LogRows - Own), .Hold0(Own), .Mult(1), .Lanes(P / 2)
      ) i_twiddle (
        .clk_i,
        .rst_ni,
        .log_rows_i   (log_rows),
        .cfg_we_i     (cfg_constant),
        .cfg_aux_i    (aux_field),
        .cfg_mod_i,
        .cfg_data_i,
        .seed_start_i (seed_valid && seed_what == SeedStart && seed_stage >= StageW'(Own)),
        .seed_table_i (seed_valid && seed_what == SeedTable),
        .seed_mod_i   (seed_mod),
        .seed_stage_i (seed_stage - StageW'(Own)),
        .seed_index_i (seed_index),
        .seed_data_i  (seed_data),
        .start_i      (start),
        .start_mod_i,
        .load_i       (times_load[LogRows-1:Own]),
        .rows_o       (times_rows[LogRows-1:Own]),
        .fault_o      (times_fault[LogRows])
      );
    end else begin : g_none_shared
      assign times_fault[LogRows] = 1'b0;
    end
    for (genvar t = Own; t < LogRows; t++) begin : g_no_own
      assign times_fault[t] = 1'b0;
    end
    assign lanes_fault = '0;
    assign lanes_words = '0;
    logic unused_lanes;
    assign unused_lanes = ^{lanes_words, lanes_load, seed_lanes};
  end else begin : g_feedback_twiddles
    logic [LogRows-1:0][W-1:0] one_word;
    rm_stream_twiddle #(
      .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .TimeW(LogRows), .Polys(Polys),
      .Stages(LogRows), .Hold0(1), .Mult(1), .Lanes(1)
    ) i_times (
      .clk_i,
      .rst_ni,
      .log_rows_i   (log_rows),
      .cfg_we_i     (cfg_constant),
      .cfg_aux_i    (aux_field),
      .cfg_mod_i,
      .cfg_data_i,
      .seed_start_i (seed_valid && seed_what == SeedStart && !seed_lanes),
      .seed_table_i (seed_valid && seed_what == SeedTable && !seed_lanes),
      .seed_mod_i   (seed_mod),
      .seed_stage_i (seed_stage),
      .seed_index_i (seed_index),
      .seed_data_i  (seed_data),
      .start_i      (start),
      .start_mod_i,
      .load_i       (times_load),
      .rows_o       (one_word),
      .fault_o      (times_fault[LogRows])
    );
    for (genvar t = 0; t < LogRows; t++) begin : g_word
      assign times_rows[t]  = (P / 2 * W)'(one_word[t]);
      assign times_fault[t] = 1'b0;
    end
    for (genvar x = 0; x < LogP; x++) begin : g_lane
      localparam int unsigned Words = (P / 2) >> x;
      logic [Words-1:0][W-1:0] words;
      rm_stream_twiddle #(
        .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .TimeW(LogRows), .Polys(Polys),
        .Stages(1), .Hold0(0), .Mult(Words), .Lanes(1)
      ) i_twiddle (
        .clk_i,
        .rst_ni,
        .log_rows_i   (log_rows),
        .cfg_we_i     (cfg_constant),
        .cfg_aux_i    (aux_field),
        .cfg_mod_i,
        .cfg_data_i,
        .seed_start_i (seed_valid && seed_what == SeedStart && seed_lanes && seed_stage == StageW'(x)),
        .seed_table_i (seed_valid && seed_what == SeedTable && seed_lanes && seed_stage == StageW'(x)),
        .seed_mod_i   (seed_mod),
        .seed_stage_i ('0),
        .seed_index_i (seed_index),
        .seed_data_i  (seed_data),
        .start_i      (start),
        .start_mod_i,
        .load_i       (lanes_load[x]),
        .rows_o       (words),
        .fault_o      (lanes_fault[x])
      );
      assign lanes_words[x] = (P / 2 * W)'(words);
    end
  end

  assign fault_o = times_fault != '0 || lanes_fault != '0;

  // ------------------------------------------------- stages
  logic [Nodes:0]                first;
  logic [Nodes:0][ModW-1:0]      modulus;
  logic [Nodes:0][Side-1:0][P-1:0][W-1:0] row;
  assign row[0] = row_i;
  rm_stream_tag #(.Cycles(lead(Kind, W)), .ModW(ModW)) i_lead (
    .clk_i, .rst_ni, .first_i(start), .mod_i(start_mod_i), .first_o(first[0]), .mod_o(modulus[0])
  );

  for (genvar n = 0; n < Nodes; n++) begin : g_node
    // Forward, feed-forward and feedback alike: from the farthest pairs to the nearest. A stage between lanes in both has
    // its lane bit X, a stage on time bit T its exchange or loop.
    localparam bit OnLanes = (Style == FeedForward) ? (Inverse ? n >= LogRows : n < LogP)
                                                   : (Inverse ? n < LogP : n >= LogRows);
    // Number of the lane bit or time bit.
    localparam int unsigned LaneBit = !OnLanes ? 0
        : (Style == FeedForward) ? (Inverse ? n - LogRows : LogP - 1 - n) : (Inverse ? n : LogP - 1 - (n - LogRows));
    localparam int unsigned TimeBit = OnLanes ? 0
        : (Style == FeedForward) ? (Inverse ? n : LogRows - 1 - (n - LogP)) : (Inverse ? n - LogP : LogRows - 1 - n);
    localparam bit Skips = !OnLanes && TimeBit + LogP >= LogNMin;   // not there at smaller degrees

    logic                done_first;
    logic [ModW-1:0]     done_mod;
    logic [Side-1:0][P-1:0][W-1:0] done_row;

    if (Style == Feedback && !OnLanes) begin : g_loop
      logic            load, top_stage;
      logic [ModW-1:0] load_mod;
      logic [W-1:0]    root, twiddle;
      // The stage of the farthest pairs has one block, whose twiddle factor stands for the whole polynomial.
      assign top_stage         = log_rows == 5'(TimeBit + 1);
      assign times_load[TimeBit] = load && !top_stage;
      rm_stream_constants #(.W(W), .Mods(Mods), .Words(1)) i_root (
        .clk_i,
        .we_i    (seed_valid && seed_what == SeedStart && !seed_lanes && seed_stage == StageW'(TimeBit)),
        .index_i (seed_index),
        .wmod_i  (seed_mod),
        .data_i  (seed_data),
        .mod_i   (load_mod),
        .words_o (root)
      );
      assign twiddle = top_stage ? root : times_rows[TimeBit][0];
      rm_stream_loop #(
        .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogP(LogP), .LogD(TimeBit), .Inverse(Inverse), .TimeW(LogRows)
      ) i_loop (
        .clk_i,
        .rst_ni,
        .log_rows_i (log_rows),
        .cfg_we_i   (cfg_constant),
        .cfg_aux_i  (aux_field),
        .cfg_mod_i,
        .cfg_data_i,
        .first_i    (first[n] && log_rows > 5'(TimeBit)),
        .mod_i      (modulus[n]),
        .row_i      (row[n]),
        .load_o     (load),
        .load_mod_o (load_mod),
        .twiddle_i  (twiddle),
        .first_o    (done_first),
        .mod_o      (done_mod),
        .row_o      (done_row)
      );
    end else begin : g_column
      localparam int unsigned Words = (P / 2) >> LaneBit;
      logic                    in_first, out_first, next_valid;
      logic [ModW-1:0]         in_mod, out_mod, next_mod;
      logic [Side-1:0][P-1:0][W-1:0] in_row, out_row;
      logic [LogRows-1:0]      next_time;
      logic [Words-1:0][W-1:0] words;

      logic [Side-1:0]              side_first, side_next;
      logic [Side-1:0][ModW-1:0]    side_mod, side_next_mod;
      logic [Side-1:0][LogRows-1:0] side_next_time;
      for (genvar s = 0; s < Side; s++) begin : g_side
        rm_stream_column #(
          .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogP(LogP), .X(LaneBit), .Inverse(Inverse), .TimeW(LogRows)
        ) i_column (
          .clk_i,
          .rst_ni,
          .log_rows_i   (log_rows),
          .cfg_we_i     (cfg_constant),
          .cfg_aux_i    (aux_field),
          .cfg_mod_i,
          .cfg_data_i,
          .first_i      (in_first),
          .mod_i        (in_mod),
          .row_i        (in_row[s]),
          .next_valid_o (side_next[s]),
          .next_time_o  (side_next_time[s]),
          .next_mod_o   (side_next_mod[s]),
          .words_i      (words),
          .first_o      (side_first[s]),
          .mod_o        (side_mod[s]),
          .row_o        (out_row[s])
        );
      end
      // All have the same times.
      assign next_valid = side_next[0];
      assign next_time  = side_next_time[0];
      assign next_mod   = side_next_mod[0];
      assign out_first  = side_first[0];
      assign out_mod    = side_mod[0];
      logic unused_side;
      assign unused_side = ^{side_next, side_next_time, side_next_mod, side_first, side_mod};

      if (OnLanes) begin : g_lanes
        assign in_first   = first[n];
        assign in_mod     = modulus[n];
        assign in_row     = row[n];
        assign done_first = out_first;
        assign done_mod   = out_mod;
        assign done_row   = out_row;
        if (Style == FeedForward) begin : g_constant
          rm_stream_constants #(.W(W), .Mods(Mods), .Words(Words)) i_words (
            .clk_i,
            .we_i    (seed_valid && seed_what == SeedConstant && seed_stage == StageW'(LogP - 1 - LaneBit)),
            .index_i (seed_index),
            .wmod_i  (seed_mod),
            .data_i  (seed_data),
            .mod_i   (next_mod),
            .words_o (words)
          );
          assign lanes_load[LaneBit] = 1'b0;
          logic unused_next;
          assign unused_next = ^{next_valid, next_time};
        end else begin : g_made
          assign words             = lanes_words[LaneBit][Words-1:0];
          assign lanes_load[LaneBit] = next_valid;
          logic unused_next;
          assign unused_next = ^{next_mod, next_time};
        end
      end else begin : g_times
        // In every 2^T rows the twiddle factors are the same.
        if (TimeBit == 0) begin : g_each
          assign times_load[TimeBit] = next_valid;
        end else begin : g_held
          assign times_load[TimeBit] = next_valid && next_time[TimeBit-1:0] == '0;
        end
        assign words = times_rows[TimeBit];
        logic unused_next;
        assign unused_next = ^{next_mod, next_time};

        logic                to_first, from_first;
        logic [ModW-1:0]     to_mod, from_mod;
        logic [Side-1:0][P-1:0][W-1:0] to_row, from_row;
        logic [Side-1:0]               side_from;
        logic [Side-1:0][ModW-1:0]     side_from_mod;
        for (genvar s = 0; s < Side; s++) begin : g_swap
          rm_stream_swap #(
            .W(W), .LogP(LogP), .LogD(TimeBit), .TimeW(LogRows), .ModW(ModW)
          ) i_swap (
            .clk_i,
            .rst_ni,
            .log_rows_i (log_rows),
            .first_i    (to_first),
            .mod_i      (to_mod),
            .row_i      (to_row[s]),
            .first_o    (side_from[s]),
            .mod_o      (side_from_mod[s]),
            .row_o      (from_row[s])
          );
        end
        assign from_first = side_from[0];
        assign from_mod   = side_from_mod[0];
        logic unused_from;
        assign unused_from = ^{side_from, side_from_mod};
        if (!Inverse) begin : g_swap_first
          assign to_first   = first[n] && log_rows > 5'(TimeBit);
          assign to_mod     = modulus[n];
          assign to_row     = row[n];
          assign in_first   = from_first;
          assign in_mod     = from_mod;
          assign in_row     = from_row;
          assign done_first = out_first;
          assign done_mod   = out_mod;
          assign done_row   = out_row;
        end else begin : g_swap_last
          assign in_first   = first[n] && log_rows > 5'(TimeBit);
          assign in_mod     = modulus[n];
          assign in_row     = row[n];
          assign to_first   = out_first;
          assign to_mod     = out_mod;
          assign to_row     = out_row;
          assign done_first = from_first;
          assign done_mod   = from_mod;
          assign done_row   = from_row;
        end
      end
      if (n == Nodes - 1) begin : g_ahead
        assign ahead_o     = in_first;
        assign ahead_mod_o = in_mod;
      end
    end

    if (Skips) begin : g_skip
      // One register in place of the stage.
      logic                skip, skip_first;
      logic [ModW-1:0]     skip_mod;
      logic [Side-1:0][P-1:0][W-1:0] skip_row;
      assign skip = log_rows <= 5'(TimeBit);
      rm_stream_tag #(.Cycles(1), .ModW(ModW)) i_tag (
        .clk_i, .rst_ni, .first_i(first[n] && skip), .mod_i(modulus[n]), .first_o(skip_first), .mod_o(skip_mod)
      );
      always_ff @(posedge clk_i) begin : p_skip
        skip_row <= row[n];
      end
      assign first[n+1]   = skip ? skip_first : done_first;
      assign modulus[n+1] = skip ? skip_mod : done_mod;
      assign row[n+1]     = skip ? skip_row : done_row;
    end else begin : g_always
      assign first[n+1]   = done_first;
      assign modulus[n+1] = done_mod;
      assign row[n+1]     = done_row;
    end
  end

  if (Style == Feedback && Inverse) begin : g_no_ahead
    assign ahead_o     = first_o;
    assign ahead_mod_o = mod_o;
  end

  // ------------------------------------------------- result
  logic [LogRows-1:0] out_time;
  logic [ModW-1:0]    unused_mod;
  assign first_o = first[Nodes];
  assign mod_o   = modulus[Nodes];
  assign row_o   = row[Nodes];
  rm_stream_clock #(
    .TimeW (LogRows),
    .ModW  (ModW)
  ) i_out (
    .clk_i,
    .rst_ni,
    .log_rows_i (log_rows),
    .first_i    (first_o),
    .mod_i      (mod_o),
    .valid_o,
    .time_o     (out_time),
    .mod_o      (unused_mod)
  );
  assign last_out = valid_o && out_time == LogRows'((32'd1 << log_rows) - 32'd1);

endmodule
