// rm_taiyi - a small whole machine of Taiyi's kind: transform unit, automorphism unit, element-wise engine, base conversion, inner
// products, a scratchpad of limbs, and a static schedule that says in which cycle each instruction begins.
//
// Program      limb programs of N = 2^LogN whose primes fit W bits (docs/limb-program.md), scheduled by crates/cycles for the
//              description taiyi-small. The host writes moduli, lists and issues (rm_taiyi_pkg, README.md), then start_i.
// Orders       a limb in memory and off chip is N/E rows of E words: values as the limb program numbers them, lane l, row t, element e number
//              l N/L + t R + e; coefficients as rm_nttu gives them out (rtl/taiyi_ntt). Words are canonical: KindBarrett has no factor.
// Off chip     one row each RowCycles at most, on both ports together, as scheduled. Rows that were asked for come after a fixed time.
// Timing       cycle 0 of the schedule is Before cycles after start_i. cycles_o is the cycle of the last row that left or was written, as
//              the simulator counts: a schedule that is kept says the same number.
// wrong_o      what went wrong since start_i, rm_taiyi_pkg; results are then of no worth. A memory that is late makes rows be read too early.
//              All but WrongLimb end the run at once, with limbs inside: rst_ni before the next one.
module rm_taiyi
  import rm_taiyi_pkg::*;
#(
  parameter int unsigned W          = 36,
  parameter int unsigned Kind       = rm_modmul_pkg::KindBarrett,
  parameter int unsigned Tile       = rm_modmul_pkg::TileLut,
  parameter int unsigned LogN       = 10,
  parameter int unsigned LogL       = 1,
  parameter int unsigned LogR       = 3,
  parameter int unsigned LogSlots   = 6,
  parameter int unsigned Mods       = 16,
  parameter int unsigned Words      = 256,   // of each queue
  parameter int unsigned Lists      = 256,   // of sources, and of terms
  parameter int unsigned Terms      = 15,
  parameter int unsigned RowCycles  = 1,
  localparam int unsigned L    = 1 << LogL,
  localparam int unsigned R    = 1 << LogR,
  localparam int unsigned E    = L * R,
  localparam int unsigned T    = LogN - LogL - LogR
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // what the host writes
  input  logic                       cfg_we_i,
  input  logic [3:0]                 cfg_table_i,
  input  logic [23:0]                cfg_addr_i,
  input  logic [255:0]               cfg_data_i,
  // a run
  input  logic                       start_i,
  output logic                       busy_o,
  output logic [CycleW-1:0]          cycles_o,
  output logic [WrongBits-1:0]       wrong_o,
  // off chip: a row of a limb
  output logic                       rd_valid_o,
  output logic [24+T-1:0]            rd_addr_o,
  input  logic                       rsp_valid_i,
  input  logic [E-1:0][W-1:0]        rsp_row_i,
  output logic                       wr_valid_o,
  output logic [24+T-1:0]            wr_addr_o,
  output logic [E-1:0][W-1:0]        wr_row_o,
  // what is written into the scratchpad, for who compares schedules
  output logic [CycleW-1:0]          now_o,
  output logic [Writes-1:0]          note_we_o,
  output logic [Writes-1:0][11:0]    note_slot_o,
  output logic [Writes-1:0][T-1:0]   note_row_o
);

  localparam int unsigned ModW  = $clog2(Mods);
  localparam int unsigned ListW = $clog2(Lists);
  localparam int unsigned WordW = $clog2(Words);
  localparam int unsigned TermW = 8;
  typedef logic [L-1:0][R-1:0][W-1:0] row_t;

  if (rm_modmul_pkg::factor_bits(Kind, W) != 0) begin : g_check
    $error("rm_taiyi: a multiplier without a factor: KindBarrett");
  end

  // ---------------------------------------------------------------- runs
  logic                        run_q, idle, go;
  logic [CycleW-1:0]           now_q, last_q;
  logic [WrongBits-1:0]        wrong_q, wrong;
  logic [Queues-1:0]           fire, q_empty, q_late;
  issue_t [Queues-1:0]         issue;
  logic [Queues-1:0]           active, first, last_term, feed_wrong;
  logic [Queues-1:0][T-1:0]    row;
  logic [Queues-1:0][TermW-1:0] term;
  issue_t [Queues-1:0]         work;
  logic [Writes-1:0]           sink_empty, sink_wrong;

  assign go       = start_i && !run_q;
  assign busy_o   = run_q;
  assign cycles_o = last_q;
  assign wrong_o  = wrong_q;
  assign now_o    = now_q;

  // ---------------------------------------------------------------- tables
  modulus_t mods [Mods];
  source_t  sources [Lists];
  term_t    terms [Lists];
  always_ff @(posedge clk_i) begin : p_tables
    if (cfg_we_i && cfg_table_i == TableModulus) begin
      mods[cfg_addr_i[ModW-1:0]] <= cfg_data_i[$bits(modulus_t)-1:0];
    end
    if (cfg_we_i && cfg_table_i == TableSources) begin
      sources[cfg_addr_i[ListW-1:0]] <= cfg_data_i[$bits(source_t)-1:0];
    end
    if (cfg_we_i && cfg_table_i == TableTerms) begin
      terms[cfg_addr_i[ListW-1:0]] <= cfg_data_i[$bits(term_t)-1:0];
    end
  end

  // ---------------------------------------------------------------- queues and feeds
  // Cycles from a fire to the cycle of the schedule: the feed counts in that cycle, and a cycle before where a list is looked up. The
  // automorphism unit wants its start three cycles before its addresses, and its feed waits for them.
  for (genvar u = 0; u < Queues; u++) begin : g_queue
    localparam int unsigned Lead = (u == QAuto) ? 4 : (u == QConv || u == QSum) ? 2 : 1;
    rm_taiyi_queue #(.Depth(Words), .Lead(Lead)) i_queue (
      .clk_i, .rst_ni,
      .cfg_we_i      (cfg_we_i && cfg_table_i == 4'(u)),
      .cfg_count_we_i(cfg_we_i && cfg_table_i == TableCount && cfg_addr_i[3:0] == 4'(u)),
      .cfg_addr_i    (cfg_addr_i[WordW-1:0]),
      .cfg_data_i,
      .begin_i       (go),
      .run_i         (run_q),
      .now_i         (now_q),
      .fire_o        (fire[u]),
      .issue_o       (issue[u]),
      .empty_o       (q_empty[u]),
      .late_o        (q_late[u])
    );

    logic             feed;
    issue_t           fed;
    logic [TermW-1:0] count;
    if (u == QAuto) begin : g_late
      logic [2:0] fire_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin : p_fire
        if (!rst_ni) begin
          fire_q <= '0;
        end else begin
          fire_q <= {fire_q[1:0], fire[u]};
        end
      end
      assign feed = fire_q[2];
      rm_delay_line #(.Width($bits(issue_t)), .Cycles(3)) i_issue (.clk_i, .data_i(issue[u]), .data_o(fed));
    end else begin : g_now
      assign feed = fire[u];
      assign fed  = issue[u];
    end
    if (u == QConv || u == QSum) begin : g_terms
      assign count = fed.p;
    end else begin : g_fixed
      assign count = (u == QLoad || u == QStore) ? TermW'(RowCycles) : TermW'(1);
    end

    rm_taiyi_feed #(.T(T)) i_feed (
      .clk_i, .rst_ni, .fire_i(feed), .issue_i(fed), .terms_i(count), .active_o(active[u]), .first_o(first[u]),
      .last_term_o(last_term[u]), .row_o(row[u]), .term_o(term[u]), .issue_o(work[u]), .wrong_o(feed_wrong[u])
    );
  end

  // ---------------------------------------------------------------- scratchpad
  logic [Reads-1:0]                      re;
  logic [Reads-1:0][LogSlots-1:0]        rslot;
  logic [Reads-1:0][L-1:0][T-1:0]        rrow;
  row_t [Reads-1:0]                      rdata;
  logic [Writes-1:0]                     we, claim;
  logic [Writes-1:0][LogSlots-1:0]       wslot, claim_slot;
  logic [Writes-1:0][T-1:0]              wrow;
  row_t [Writes-1:0]                     wdata;
  logic                                  bad_limb;

  rm_taiyi_pad #(.W(W), .L(L), .R(R), .T(T), .SlotW(LogSlots)) i_pad (
    .clk_i, .re_i(re), .rslot_i(rslot), .rrow_i(rrow), .rdata_o(rdata),
    .we_i(we), .wslot_i(wslot), .wrow_i(wrow), .wdata_i(wdata)
  );
  rm_taiyi_rules #(.L(L), .T(T), .SlotW(LogSlots)) i_rules (
    .clk_i, .rst_ni, .claim_i(claim), .claim_slot_i(claim_slot), .re_i(re), .rslot_i(rslot), .rrow_i(rrow), .we_i(we),
    .wslot_i(wslot), .wrow_i(wrow), .wrong_o(bad_limb)
  );

  // What each unit gives out, in the cycle in which it does.
  logic [Writes-1:0] out;
  for (genvar u = 0; u < Writes; u++) begin : g_sink
    rm_taiyi_sink #(.T(T), .SlotW(LogSlots)) i_sink (
      .clk_i, .rst_ni, .push_i(fire[u]), .slot_i(issue[u].d[LogSlots-1:0]), .valid_i(out[u]), .we_o(we[u]),
      .slot_o(wslot[u]), .row_o(wrow[u]), .empty_o(sink_empty[u]), .wrong_o(sink_wrong[u])
    );
    assign note_slot_o[u] = 12'(wslot[u]);
    if (u == QConv || u == QSum) begin : g_listed
      always_ff @(posedge clk_i or negedge rst_ni) begin : p_claim
        if (!rst_ni) begin
          claim[u] <= 1'b0;
        end else begin
          claim[u] <= first[u];
        end
      end
      always_ff @(posedge clk_i) begin : p_slot
        claim_slot[u] <= work[u].d[LogSlots-1:0];
      end
    end else begin : g_direct
      assign claim[u]      = first[u];
      assign claim_slot[u] = work[u].d[LogSlots-1:0];
    end
  end
  assign note_we_o  = we;
  assign note_row_o = wrow;

  // ---------------------------------------------------------------- transforms
  logic ntt_ready, ntt_valid, ntt_bad_size, ntt_bad_modulus, ntt_first, ntt_inverse, ntt_busy;
  logic [ModW-1:0] ntt_mod;
  assign re[RNtt]    = active[QNtt];
  assign rslot[RNtt] = work[QNtt].a[LogSlots-1:0];
  assign rrow[RNtt]  = {L{row[QNtt]}};
  assign out[QNtt]   = ntt_valid;
  rm_nttu #(.W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogN(LogN), .LogL(LogL), .LogR(LogR)) i_ntt (
    .clk_i,
    .rst_ni,
    .cfg_we_i       (cfg_we_i && cfg_table_i == TableNtt),
    .cfg_field_i    (cfg_addr_i[14:8]),
    .cfg_mod_i      (cfg_addr_i[ModW-1:0]),
    .cfg_data_i     (cfg_data_i[W+1:0]),
    .start_valid_i  (first[QNtt]),
    .start_ready_o  (ntt_ready),
    .start_log_n_i  (5'(LogN)),
    .start_inverse_i(work[QNtt].op[0]),
    .start_mod_i    (work[QNtt].q[ModW-1:0]),
    .bad_size_o     (ntt_bad_size),
    .bad_modulus_o  (ntt_bad_modulus),
    .row_i          (rdata[RNtt]),
    .valid_o        (ntt_valid),
    .first_o        (ntt_first),
    .inverse_o      (ntt_inverse),
    .mod_o          (ntt_mod),
    .row_o          (wdata[QNtt]),
    .busy_o         (ntt_busy)
  );

  // ---------------------------------------------------------------- automorphisms
  logic auto_start_q, auto_ready, auto_valid, auto_read, auto_bad_size, auto_bad_galois, auto_first, auto_busy;
  logic [LogN:0] auto_galois_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_auto
    if (!rst_ni) begin
      auto_start_q <= 1'b0;
    end else begin
      auto_start_q <= fire[QAuto];
    end
  end
  always_ff @(posedge clk_i) begin : p_galois
    auto_galois_q <= issue[QAuto].k[LogN:0];
  end
  assign re[RAuto]    = active[QAuto];
  assign rslot[RAuto] = work[QAuto].a[LogSlots-1:0];
  assign out[QAuto]   = auto_valid;
  rm_auto #(.W(W), .LogN(LogN), .LogL(LogL), .LogR(LogR)) i_auto (
    .clk_i,
    .rst_ni,
    .start_valid_i (auto_start_q),
    .start_ready_o (auto_ready),
    .start_log_n_i (5'(LogN)),
    .start_galois_i(auto_galois_q),
    .bad_size_o    (auto_bad_size),
    .bad_galois_o  (auto_bad_galois),
    .read_o        (auto_read),
    .addr_o        (rrow[RAuto]),
    .row_i         (rdata[RAuto]),
    .valid_o       (auto_valid),
    .first_o       (auto_first),
    .row_o         (wdata[QAuto]),
    .busy_o        (auto_busy)
  );

  // ---------------------------------------------------------------- element-wise engine
  logic       ewe_q, ewe_ready, ewe_valid;
  issue_t     ewe_work_q;
  modulus_t   ewe_mod_q, ewe_from_q;
  logic [1:0] ewe_wrong;
  for (genvar o = 0; o < 3; o++) begin : g_operand
    assign re[REweA+o]    = active[QEwe] && work[QEwe].mask[o];
    assign rrow[REweA+o]  = {L{row[QEwe]}};
  end
  assign rslot[REweA] = work[QEwe].a[LogSlots-1:0];
  assign rslot[REweB] = work[QEwe].b[LogSlots-1:0];
  assign rslot[REweC] = work[QEwe].c[LogSlots-1:0];
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ewe
    if (!rst_ni) begin
      ewe_q <= 1'b0;
    end else begin
      ewe_q <= active[QEwe];
    end
  end
  always_ff @(posedge clk_i) begin : p_ewe_work
    ewe_work_q <= work[QEwe];
    ewe_mod_q  <= mods[work[QEwe].q[ModW-1:0]];
    ewe_from_q <= mods[work[QEwe].p[ModW-1:0]];
  end
  assign out[QEwe] = ewe_valid;
  rm_ewe #(.W(W), .Kind(Kind), .Tile(Tile), .Elements(E), .Rows(64)) i_ewe (
    .clk_i,
    .rst_ni,
    .valid_i(ewe_q),
    .ready_o(ewe_ready),
    .op_i   (ewe_work_q.op),
    .q_i    (ewe_mod_q.q[W-1:0]),
    .aux_i  (ewe_mod_q.aux[W+1:0]),
    .p_i    (ewe_from_q.q[W-1:0]),
    .k_i    (ewe_work_q.k[W-1:0]),
    .k1_i   (ewe_work_q.k1[W-1:0]),
    .a_i    (rdata[REweA]),
    .b_i    (rdata[REweB]),
    .c_i    (rdata[REweC]),
    .valid_o(ewe_valid),
    .r_o    (wdata[QEwe]),
    .give_i (ewe_valid),
    .wrong_o(ewe_wrong)
  );

  // ---------------------------------------------------------------- base conversion: a row of each source, then the next row
  logic                conv_1_q, conv_2_q, conv_last_1_q, conv_last_2_q, conv_ready, conv_valid, conv_bad, conv_index;
  logic [T-1:0]        conv_row_q;
  source_t             source_1_q, source_2_q;
  issue_t              conv_work_1_q, conv_work_2_q;
  modulus_t            conv_mod_q;
  logic [3:0]          conv_wrong;
  assign re[RConv]    = conv_1_q;
  assign rslot[RConv] = source_1_q.a[LogSlots-1:0];
  assign rrow[RConv]  = {L{conv_row_q}};
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_conv
    if (!rst_ni) begin
      {conv_2_q, conv_1_q} <= '0;
    end else begin
      {conv_2_q, conv_1_q} <= {conv_1_q, active[QConv]};
    end
  end
  always_ff @(posedge clk_i) begin : p_conv_work
    source_1_q    <= sources[work[QConv].base[ListW-1:0] + ListW'(term[QConv])];
    source_2_q    <= source_1_q;
    conv_row_q    <= row[QConv];
    conv_work_1_q <= work[QConv];
    conv_work_2_q <= conv_work_1_q;
    conv_mod_q    <= mods[conv_work_1_q.q[ModW-1:0]];
    conv_last_1_q <= last_term[QConv];
    conv_last_2_q <= conv_last_1_q;
  end
  assign out[QConv] = conv_valid;
  rm_bconvu #(.W(W), .Kind(Kind), .Tile(Tile), .Elements(E), .M(1), .Terms(Terms), .Rows(64)) i_conv (
    .clk_i,
    .rst_ni,
    .valid_i  (conv_2_q),
    .ready_o  (conv_ready),
    .y_i      (rdata[RConv]),
    .factor_i (source_2_q.factor[W-1:0]),
    .shift_i  (source_2_q.shift),
    .head_i   (source_2_q.head),
    .last_i   (conv_last_2_q),
    .targets_i(1'b1),
    .mode_i   (rm_arrays_pkg::convert_e'(conv_work_2_q.op[1:0])),
    .half_i   ('0),
    .q_i      (conv_mod_q.q[W-1:0]),
    .aux_i    (conv_mod_q.aux[W+1:0]),
    .word_i   (conv_mod_q.word[W-1:0]),
    .minus_i  (conv_work_2_q.k[W-1:0]),
    .valid_o  (conv_valid),
    .index_o  (conv_index),
    .bad_o    (conv_bad),
    .r_o      (wdata[QConv]),
    .give_i   (conv_valid),
    .wrong_o  (conv_wrong)
  );

  // ---------------------------------------------------------------- inner products: keys go through their buffer, words two cycles later
  logic [3:0]             sum_q;          // row of keys asked for, came, in the buffer, word there
  logic [3:0]             sum_last_q;
  logic [2:0][T-1:0]      sum_row_q;
  term_t [2:0]            sum_term_q;
  issue_t [3:0]           sum_work_q;
  modulus_t               sum_mod_q;
  logic                   sum_ready, sum_valid, sum_bad, sum_index, sum_waits, sum_fetch, sum_block_ready;
  logic [23:0]            sum_address;
  logic [4:0]             sum_wrong;
  assign re[RSumK]    = sum_q[0];
  assign rslot[RSumK] = sum_term_q[0].b[LogSlots-1:0];
  assign rrow[RSumK]  = {L{sum_row_q[0]}};
  assign re[RSumX]    = sum_q[2];
  assign rslot[RSumX] = sum_term_q[2].a[LogSlots-1:0];
  assign rrow[RSumX]  = {L{sum_row_q[2]}};
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_sum
    if (!rst_ni) begin
      sum_q <= '0;
    end else begin
      sum_q <= {sum_q[2:0], active[QSum]};
    end
  end
  always_ff @(posedge clk_i) begin : p_sum_work
    sum_last_q <= {sum_last_q[2:0], last_term[QSum]};
    sum_row_q  <= {sum_row_q[1:0], row[QSum]};
    sum_term_q <= {sum_term_q[1:0], terms[work[QSum].base[ListW-1:0] + ListW'(term[QSum])]};
    sum_work_q <= {sum_work_q[2:0], work[QSum]};
    sum_mod_q  <= mods[sum_work_q[2].q[ModW-1:0]];
  end
  assign out[QSum] = sum_valid;
  rm_hpip #(.W(W), .Kind(Kind), .Tile(Tile), .Elements(E), .H(1), .M(1), .Terms(Terms), .KeyRows(8), .Rows(64)) i_sum (
    .clk_i,
    .rst_ni,
    .valid_i        (sum_q[3]),
    .ready_o        (sum_ready),
    .x_i            (rdata[RSumX]),
    .last_i         (sum_last_q[3]),
    .results_i      (1'b1),
    .q_i            (sum_mod_q.q[W-1:0]),
    .aux_i          (sum_mod_q.aux[W+1:0]),
    .word_i         (sum_mod_q.word[W-1:0]),
    .block_valid_i  (first[QSum]),
    .block_ready_o  (sum_block_ready),
    .block_address_i('0),
    .block_rows_i   (24'(work[QSum].p) << T),
    .fetch_valid_o  (sum_fetch),
    .fetch_ready_i  (1'b1),
    .fetch_address_o(sum_address),
    .key_valid_i    (sum_q[1]),
    .key_i          (rdata[RSumK]),
    .valid_o        (sum_valid),
    .index_o        (sum_index),
    .bad_o          (sum_bad),
    .r_o            (wdata[QSum]),
    .give_i         (sum_valid),
    .waits_key_o    (sum_waits),
    .wrong_o        (sum_wrong)
  );

  // ---------------------------------------------------------------- off chip
  logic              store_q;
  logic [24+T-1:0]   store_addr_q;
  assign rd_valid_o    = active[QLoad] && term[QLoad] == '0;
  assign rd_addr_o     = {work[QLoad].base, row[QLoad]};
  assign out[QLoad]    = rsp_valid_i;
  assign wdata[QLoad]  = rsp_row_i;
  assign re[RStore]    = last_term[QStore];
  assign rslot[RStore] = work[QStore].a[LogSlots-1:0];
  assign rrow[RStore]  = {L{row[QStore]}};
  assign wr_valid_o    = store_q;
  assign wr_addr_o     = store_addr_q;
  assign wr_row_o      = rdata[RStore];
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_store
    if (!rst_ni) begin
      store_q <= 1'b0;
    end else begin
      store_q <= last_term[QStore];
    end
  end
  always_ff @(posedge clk_i) begin : p_store_addr
    store_addr_q <= {work[QStore].base, row[QStore]};
  end

  // ---------------------------------------------------------------- cycles, and what went wrong
  logic [CycleW-1:0] ends;
  logic              some;
  // A result counts as there when its last row has been there for a cycle, a limb from off chip when its last row is there.
  always_comb begin : p_ends
    some = (|we) || store_q;
    ends = now_q;
    if (we[QLoad]) begin
      ends = now_q + CycleW'(1);
    end
    if (|we[QSum:0]) begin
      ends = now_q + CycleW'(2);
    end
  end

  assign idle = (&q_empty) && (&sink_empty) && active == '0 && !store_q && fire == '0;

  always_comb begin : p_wrong
    wrong             = '0;
    wrong[WrongQueue] = |q_late;
    wrong[WrongUnit]  = (first[QNtt] && !ntt_ready) || (auto_start_q && !auto_ready) || auto_read != active[QAuto]
                     || (ewe_q && !ewe_ready) || (|ewe_wrong) || (conv_2_q && !conv_ready) || (|conv_wrong)
                     || (sum_q[3] && !sum_ready) || (|sum_wrong) || (first[QSum] && !sum_block_ready)
                     || sum_fetch != sum_q[0] || (conv_valid && conv_bad) || (sum_valid && sum_bad);
    wrong[WrongPort]  = (|feed_wrong) || (|sink_wrong) || (active[QLoad] && active[QStore]);
    wrong[WrongLimb]  = bad_limb;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_run
    if (!rst_ni) begin
      run_q   <= 1'b0;
      now_q   <= '0;
      last_q  <= '0;
      wrong_q <= '0;
    end else if (go) begin
      run_q   <= 1'b1;
      now_q   <= -CycleW'(Before);
      last_q  <= '0;
      wrong_q <= '0;
    end else if (run_q) begin
      now_q   <= now_q + 1'b1;
      run_q   <= !idle && wrong_q[WrongPort:WrongQueue] == '0;
      wrong_q <= wrong_q | wrong;
      if (some && $signed(ends - last_q) > 0) begin
        last_q <= ends;
      end
    end
  end

  logic unused;
  assign unused = ^{cfg_addr_i, ntt_bad_size, ntt_bad_modulus, ntt_first, ntt_inverse, ntt_busy, ntt_mod, auto_bad_size,
                    auto_bad_galois, auto_first, auto_busy, conv_index, sum_index, sum_waits, sum_address, term, row,
                    issue, work, conv_work_2_q, sum_work_q, ewe_work_q, ewe_mod_q, ewe_from_q, conv_mod_q, sum_mod_q,
                    source_2_q, sum_term_q};

endmodule
