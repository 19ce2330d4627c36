// rm_pool_key_switch - key switching on a pool of in-place transform units: any number of limbs, special primes and digits of
// several limbs, up to what was built, chosen at run time.
//
// Equation     hybrid key switching, all residues canonical; P the product of the special primes p_k, D_j that of digit j:
//              sum[c] = sum over digits j of (digit j raised to q) * key[j][c]   mod q_i and mod p_k
//              out[c] = (sum[c] - (the special residue of sum[c] raised to q)) / P + addend[c]   mod q_i
//              Raising is the limb program's: `lift` of one limb, `convert` of several, or `convert_fast` without signs.
// Pool         Every transform is a task of a timetable (rm_pool_pkg), which names its unit. Rows go through a feed into a
//              unit: from outside (operand), from a slot of coefficients, or from finished sums of a special prime. They leave
//              into a slot, or through the adder of their feed (rm_pool_adder) into limbs of sums, any limb for any modulus. A
//              timetable says the order of starts; their cycles follow from rm_pool_rules, so that whatever is late delays
//              tasks and changes no result.
// Interval     README.md, and pool.py: starts and ends of every task.
// Moduli       limbs 0 ... Limbs - 1, then special ones. cfg_*: rm_ks_pkg (0 q, 1 aux, 2 ... 17 roots, 18 2^R, of both
//              directions; 19 1/P 2^R of limbs) and rm_pool_pkg. Classes: digits, Digits for the special residue, Digits + 1
//              for limbs that go back. Then prepare_* of each {modulus, inverse}. Then the timetable.
// Promises     Rows cannot be stalled once a task has started. promise_valid_o offers one that could start (kind, modulus, part
//              and tag of promise_task_o); promise_ready_i promises its rows: of Back the operand's limb, twice, and its keys, of
//              Up keys, of Down addends and space for the result. Rows are asked for a cycle before they stand there. One
//              whose valid is low makes done_bad_o of its key switch.
// Size         log_n_i, level_i, special_i, alpha_i, centred_i (bit 0 digits, bit 1 the special residue) and length_i stand still
//              while busy_o. A size or set that was not built: nothing starts, bad_size_o, bad_set_o.
// Wrong        bad_table_o: a task outside of the set, or no `Take`; stuck_o: the next task waits for what never comes. Nothing
//              starts then until reset. fault_o: a queue was full or empty; it does not happen.
module rm_pool_key_switch #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Limbs   = 4,
  parameter int unsigned Special = 2,
  parameter int unsigned Alpha   = 2,
  parameter int unsigned Digits  = 4,
  parameter int unsigned Units   = 3,
  parameter int unsigned Feeds   = 2,
  parameter int unsigned Sums    = 14,
  parameter int unsigned LogNMax = 13,
  parameter int unsigned LogNMin = 10,
  parameter int unsigned Depth   = 256,
  localparam int unsigned Mods    = Limbs + Special,
  localparam int unsigned ModBits = $clog2(Mods),
  localparam int unsigned ClassW  = $clog2(Digits + 2),
  localparam int unsigned LogRows = LogNMax - 4,
  localparam int unsigned PtrW    = $clog2(Depth),
  localparam int unsigned TagW    = rm_pool_pkg::TagW
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [4:0]                           log_n_i,
  input  logic [4:0]                           level_i,
  input  logic [2:0]                           special_i,
  input  logic [2:0]                           alpha_i,
  input  logic [1:0]                           centred_i,
  input  logic [PtrW:0]                        length_i,
  output logic                                 bad_size_o,
  output logic                                 bad_set_o,
  output logic                                 bad_table_o,
  output logic                                 stuck_o,
  output logic                                 fault_o,
  output logic                                 busy_o,
  input  logic                                 cfg_we_i,
  input  logic                                 cfg_inverse_i,
  input  logic [ClassW-1:0]                    cfg_class_i,
  input  logic [ModBits-1:0]                   cfg_mod_i,
  input  logic [5:0]                           cfg_field_i,
  input  logic [W+1:0]                         cfg_data_i,
  input  logic                                 prepare_valid_i,
  input  logic [ModBits:0]                     prepare_mod_i,
  output logic                                 prepare_ready_o,
  input  logic                                 table_we_i,
  input  logic [PtrW-1:0]                      table_index_i,
  input  rm_pool_pkg::entry_t                  table_row_i,
  // key switches
  input  logic                                 switch_valid_i,
  output logic                                 switch_ready_o,
  output logic [TagW-1:0]                      switch_tag_o,
  output logic                                 done_o,
  output logic                                 done_bad_o,
  output logic [TagW-1:0]                      done_tag_o,
  output logic                                 promise_valid_o,
  output rm_pool_pkg::task_t                   promise_task_o,
  input  logic                                 promise_ready_i,
  output logic                                 start_o,
  // operand, values of a limb, by feed on its way in
  output logic [Feeds-1:0]                     target_re_o,
  output rm_pool_pkg::task_t [Feeds-1:0]       target_task_o,
  output logic [Feeds-1:0][LogRows-1:0]        target_time_o,
  input  logic [Feeds-1:0]                     target_valid_i,
  input  logic [Feeds-1:0][15:0][W-1:0]        target_row_i,
  // keys of a digit, both components times 2^R, by feed; with Back the operand's limb again
  output logic [Feeds-1:0]                     key_re_o,
  output logic [Feeds-1:0]                     own_re_o,
  output rm_pool_pkg::task_t [Feeds-1:0]       key_task_o,
  output logic [Feeds-1:0][LogRows-1:0]        key_time_o,
  input  logic [Feeds-1:0]                     key_valid_i,
  input  logic [Feeds-1:0][1:0][15:0][W-1:0]   key_row_i,
  input  logic [Feeds-1:0]                     own_valid_i,
  input  logic [Feeds-1:0][15:0][W-1:0]        own_row_i,
  // what is added to a result, by feed
  output logic [Feeds-1:0]                     addend_re_o,
  output rm_pool_pkg::task_t [Feeds-1:0]       addend_task_o,
  output logic [Feeds-1:0][LogRows-1:0]        addend_time_o,
  input  logic [Feeds-1:0]                     addend_valid_i,
  input  logic [Feeds-1:0][15:0][W-1:0]        addend_row_i,
  // results, by feed
  output logic [Feeds-1:0]                     result_valid_o,
  output rm_pool_pkg::task_t [Feeds-1:0]       result_task_o,
  output logic [Feeds-1:0][LogRows-1:0]        result_time_o,
  output logic [Feeds-1:0][15:0][W-1:0]        result_row_o
);

  import rm_pool_pkg::*;

  localparam int unsigned M       = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Slots   = Digits + 2;
  localparam int unsigned Entry   = entry(M, Alpha);
  localparam int unsigned Waiting = 2 * Units + 2;
  localparam int unsigned UnitI   = (Units > 1) ? $clog2(Units) : 1;
  localparam int unsigned FeedI   = (Feeds > 1) ? $clog2(Feeds) : 1;
  // Beyond what an adder needs after the last unit has ended.
  localparam int unsigned Quiet   = 64;

  if (Special > Alpha || Limbs > 15 || Digits > 15 || Alpha > 7 || Mods > 31) begin : g_check_set
    $error("rm_pool_key_switch: at most 15 limbs, 15 digits, 7 limbs a digit and as many special primes");
  end
  if (Units > 31 || Feeds > 8) begin : g_check_pool
    $error("rm_pool_key_switch: at most 31 units and 8 feeds");
  end
  // Sums are written M + 6 cycles after their row.
  if ((1 << (LogNMin - 4)) < M + 7) begin : g_check_rows
    $error("rm_pool_key_switch: rows of a polynomial are fewer than the cycles of an adder");
  end

  logic [4:0] log_rows;
  assign log_rows = log_n_i - 5'd4;

  // ------------------------------------------------- timetable and rules
  logic             hold, wrong_q, stuck_q, fault_q;
  logic             task_valid, bad_task, no_take, moves, idle, part_done, done;
  entry_t           entry_row;
  logic [TagW-1:0]  task_tag, part_tag;
  logic [Units-1:0] unit_ready, unit_busy, unit_bad_size, unit_prepared;
  logic             leave, leave_valid;
  task_t            leave_task, start_task;
  logic [Feeds-1:0]  finished;
  task_t [Feeds-1:0] finished_task;

  assign hold = bad_size_o || bad_set_o || wrong_q || stuck_q || no_take;

  rm_pool_table #(.Depth(Depth)) i_table (
    .clk_i,
    .rst_ni,
    .table_we_i,
    .table_index_i,
    .table_row_i,
    .length_i,
    .hold_i         (hold),
    .parts_i        ({level_i, 1'b0}),
    .switch_valid_i,
    .switch_ready_o,
    .switch_tag_o,
    .task_valid_o   (task_valid),
    .task_o         (entry_row),
    .task_tag_o     (task_tag),
    .task_ready_i   (start_o),
    .part_done_i    (part_done),
    .part_tag_i     (part_tag),
    .done_o         (done),
    .idle_o         (idle),
    .busy_o,
    .moves_o        (moves),
    .no_take_o      (no_take)
  );
  rm_pool_rules #(
    .Limbs(Limbs), .Special(Special), .Alpha(Alpha), .Digits(Digits), .Units(Units), .Feeds(Feeds), .Sums(Sums),
    .Late(M + 2)
  ) i_rules (
    .clk_i,
    .rst_ni,
    .log_rows_i      (log_rows),
    .level_i,
    .special_i,
    .alpha_i,
    .bad_set_o,
    .task_valid_i    (task_valid),
    .task_i          (entry_row),
    .task_tag_i      (task_tag),
    .bad_task_o      (bad_task),
    .unit_ready_i    (unit_ready),
    .promise_valid_o,
    .promise_ready_i,
    .start_o,
    .start_task_o    (start_task),
    .leave_i         (leave),
    .leave_task_i    (leave_task),
    .finished_i      (finished),
    .finished_task_i (finished_task),
    .ended_i         (done),
    .ended_tag_i     (part_tag)
  );
  assign promise_task_o = start_task;

  // Tasks leave in the order of their starts.
  logic                         leave_room;
  logic [$clog2(Waiting+1)-1:0] unused_waiting;
  rm_core_fifo #(.Width(TaskW), .Depth(Waiting)) i_inside (
    .clk_i, .rst_ni, .push_valid_i(start_o), .push_ready_o(leave_room), .push_data_i(start_task),
    .pop_valid_o(leave_valid), .pop_ready_i(leave), .pop_data_o(leave_task), .count_o(unused_waiting)
  );

  // ------------------------------------------------- feeds
  logic [Slots-1:0][Alpha-1:0][15:0][W-1:0] slot_row, second_row;
  logic [Sums-1:0][15:0][W-1:0]             sums_row;
  logic [Feeds-1:0]                         feed_read, feed_missing;
  task_t [Feeds-1:0]                        feed_task;
  logic [Feeds-1:0][LogRows-1:0]            feed_time;
  logic [Feeds-1:0][TagW-1:0]               feed_missing_tag;
  logic [Feeds-1:0][15:0][W-1:0]            feed_row;

  for (genvar f = 0; f < Feeds; f++) begin : g_feed
    logic                          first, there_q, from_slot_q;
    task_t                         tag, task_q;
    logic [Alpha-1:0][15:0][W-1:0] x_q;

    rm_stream_tag #(.Cycles(Entry), .ModW(TaskW)) i_tag (
      .clk_i, .rst_ni, .first_i(start_o && start_task.feed == FeedW'(f)), .mod_i(start_task), .first_o(first),
      .mod_o(tag)
    );
    rm_stream_clock #(.TimeW(LogRows), .ModW(TaskW)) i_clock (
      .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(first), .mod_i(tag), .valid_o(feed_read[f]),
      .time_o(feed_time[f]), .mod_o(feed_task[f])
    );
    assign target_re_o[f]   = feed_read[f] && feed_task[f].kind == Back;
    assign target_task_o[f] = feed_task[f];
    assign target_time_o[f] = feed_time[f];

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_there
      if (!rst_ni) begin
        there_q <= 1'b0;
      end else begin
        there_q <= feed_read[f];
      end
    end
    assign from_slot_q         = task_q.kind == Up || task_q.kind == Down;
    assign feed_missing[f]     = there_q && task_q.kind == Back && !target_valid_i[f];
    assign feed_missing_tag[f] = task_q.tag;
    always_ff @(posedge clk_i) begin : p_source
      task_q <= feed_task[f];
      for (int unsigned a = 0; a < Alpha; a++) begin
        x_q[a] <= '0;
        for (int unsigned s = 0; s < Slots; s++) begin
          if (from_slot_q && task_q.slot == SlotW'(s)) begin
            x_q[a] <= task_q.second ? second_row[s][a] : slot_row[s][a];
          end
        end
      end
      if (task_q.kind == Back) begin
        x_q[0] <= target_row_i[f];
      end
      for (int unsigned n = 0; n < Sums; n++) begin
        if (task_q.kind == Rest && task_q.from[task_q.part[0]] == LimbW'(n)) begin
          x_q[0] <= sums_row[n];
        end
      end
    end

    // The class of what goes down is that of the special residue for both components.
    logic [ClassW-1:0] class_no;
    always_comb begin : p_class
      case (task_q.kind)
        Up:      class_no = ClassW'(task_q.part);
        Down:    class_no = ClassW'(Digits);
        default: class_no = ClassW'(Digits + 1);
      endcase
    end
    rm_pool_feed #(
      .W(W), .Kind(Kind), .Tile(Tile), .Alpha(Alpha), .ClassW(ClassW), .ModBits(ModBits)
    ) i_feed (
      .clk_i,
      .cfg_we_i,
      .cfg_field_i,
      .cfg_class_i,
      .cfg_mod_i,
      .cfg_data_i,
      .class_i   (class_no),
      .mod_i     (ModBits'(task_q.mod)),
      .single_i  (task_q.single),
      .centred_i (task_q.kind == Up ? centred_i[0] : task_q.kind == Down && centred_i[1]),
      .x_i       (x_q),
      .y_o       (feed_row[f])
    );
    logic unused_task;
    assign unused_task = ^task_q;
  end

  // ------------------------------------------------- units
  logic [Units-1:0]               unit_first;
  logic [Units-1:0][15:0][W-1:0]  unit_row;
  logic                           unit_we;
  logic [4:0]                     unit_field;

  assign unit_we    = cfg_we_i && cfg_field_i <= rm_ks_pkg::FieldLift;
  assign unit_field = (cfg_field_i == rm_ks_pkg::FieldLift) ? 5'(rm_inplace_pkg::FieldOne) : cfg_field_i[4:0];

  for (genvar u = 0; u < Units; u++) begin : g_unit
    logic [FeedI-1:0]                feed_q;
    logic                            unit_start, unused_read, unit_valid;
    logic [rm_inplace_pkg::RowW-1:0] unused_read_row, row_number;
    logic [ModBits:0]                unused_read_mod, unused_mod;

    assign unit_start = start_o && start_task.unit_no == UnitW'(u);
    always_ff @(posedge clk_i) begin : p_feed
      if (unit_start) begin
        feed_q <= FeedI'(start_task.feed);
      end
    end
    rm_inplace_ntt #(
      .W(W), .Kind(Kind), .Tile(Tile), .LogNMax(LogNMax), .LogNMin(LogNMin), .Mods(Mods)
    ) i_unit (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .bad_size_o      (unit_bad_size[u]),
      .busy_o          (unit_busy[u]),
      .cfg_we_i        (unit_we),
      .cfg_field_i     (unit_field),
      .cfg_mod_i       ({cfg_mod_i, cfg_inverse_i}),
      .cfg_data_i,
      .prepare_valid_i (prepare_valid_i && prepare_ready_o),
      .prepare_mod_i,
      .prepare_ready_o (unit_prepared[u]),
      .start_valid_i   (unit_start),
      .start_mod_i     ({ModBits'(entry_row.mod), entry_row.kind == Back || entry_row.kind == Rest}),
      .start_ready_o   (unit_ready[u]),
      .read_o          (unused_read),
      .read_row_o      (unused_read_row),
      .read_mod_o      (unused_read_mod),
      .row_i           (feed_row[feed_q]),
      .valid_o         (unit_valid),
      .row_number_o    (row_number),
      .mod_o           (unused_mod),
      .row_o           (unit_row[u])
    );
    assign unit_first[u] = unit_valid && row_number == '0;
    logic unused_unit;
    assign unused_unit = ^{unused_read, unused_read_row, unused_read_mod, unused_mod};
  end
  assign bad_size_o      = unit_bad_size[0];
  assign prepare_ready_o = unit_prepared == '1;
  assign leave           = unit_first != '0;

  // ------------------------------------------------- slots of coefficients
  for (genvar s = 0; s < Slots; s++) begin : g_slot
    logic               re, second_re;
    logic [LogRows-1:0] raddr, second_raddr;
    always_comb begin : p_read
      re           = 1'b0;
      raddr        = '0;
      second_re    = 1'b0;
      second_raddr = '0;
      for (int unsigned f = 0; f < Feeds; f++) begin
        if (feed_read[f] && (feed_task[f].kind == Up || feed_task[f].kind == Down)
            && feed_task[f].slot == SlotW'(s)) begin
          if (feed_task[f].second) begin
            second_re    = 1'b1;
            second_raddr = feed_time[f];
          end else begin
            re    = 1'b1;
            raddr = feed_time[f];
          end
        end
      end
    end
    for (genvar a = 0; a < Alpha; a++) begin : g_column
      logic               we, we_q;
      logic [LogRows-1:0] waddr, waddr_q;
      task_t              write_task;
      logic [15:0][W-1:0] wdata_q;
      rm_stream_clock #(.TimeW(LogRows), .ModW(TaskW)) i_clock (
        .clk_i, .rst_ni, .log_rows_i(log_rows),
        .first_i(leave && (leave_task.kind == Back || leave_task.kind == Rest) && leave_task.slot == SlotW'(s)
                 && leave_task.column == ColumnW'(a)),
        .mod_i(leave_task), .valid_o(we), .time_o(waddr), .mod_o(write_task)
      );
      always_ff @(posedge clk_i or negedge rst_ni) begin : p_we
        if (!rst_ni) begin
          we_q <= 1'b0;
        end else begin
          we_q <= we;
        end
      end
      always_ff @(posedge clk_i) begin : p_write
        waddr_q <= waddr;
        wdata_q <= unit_row[UnitI'(write_task.unit_no)];
      end
      rm_pool_slot #(.Width(16 * W), .Depth(1 << LogRows)) i_ram (
        .clk_i, .re_i(re), .raddr_i(raddr), .rdata_o(slot_row[s][a]), .we_i(we_q), .waddr_i(waddr_q), .wdata_i(wdata_q),
        .second_re_i(second_re), .second_raddr_i(second_raddr), .second_rdata_o(second_row[s][a])
      );
      logic unused_write;
      assign unused_write = ^write_task;
    end
  end

  // ------------------------------------------------- adders, one a feed: its tasks leave as far apart as they enter
  logic [Feeds-1:0]                   add_missing, add_late, result_last, sums_ask, sums_down, write, write_adds;
  logic [Feeds-1:0][TagW-1:0]         add_missing_tag, add_late_tag, result_tag;
  task_t [Feeds-1:0]                  ask_tasks, sum_tasks, write_tasks;
  logic [Feeds-1:0][LogRows-1:0]      ask_times, sum_times, write_times;
  logic [Feeds-1:0][1:0][15:0][W-1:0] sums_new;

  for (genvar f = 0; f < Feeds; f++) begin : g_adder
    logic                    ask, row, sum, want, add, own_there;
    task_t                   row_task, want_task, add_task;
    logic [15:0][W-1:0]      unit_q, row_in, finished_in, finished_q;
    logic [1:0][15:0][W-1:0] sum_old_q;

    rm_pool_marks #(.M(M), .LogRows(LogRows)) i_marks (
      .clk_i,
      .rst_ni,
      .log_rows_i   (log_rows),
      .first_i      (leave && leave_task.kind != Rest && leave_task.feed == FeedW'(f)),
      .task_i       (leave_task),
      .ask_o        (ask),
      .ask_time_o   (ask_times[f]),
      .ask_task_o   (ask_tasks[f]),
      .row_o        (row),
      .row_task_o   (row_task),
      .sum_o        (sum),
      .sum_time_o   (sum_times[f]),
      .sum_task_o   (sum_tasks[f]),
      .want_o       (want),
      .want_task_o  (want_task),
      .add_o        (add),
      .add_task_o   (add_task),
      .write_o      (write[f]),
      .write_time_o (write_times[f]),
      .write_task_o (write_tasks[f])
    );
    assign key_re_o[f]   = ask && ask_tasks[f].kind != Down;
    assign own_re_o[f]   = ask && ask_tasks[f].kind == Back;
    assign key_task_o[f] = ask_tasks[f];
    assign key_time_o[f] = ask_times[f];
    assign row_in        = (row_task.kind == Back) ? own_row_i[f] : unit_q;
    assign own_there     = own_valid_i[f] || row_task.kind != Back;

    // Sums on their way to the adder: read, chosen.
    assign sums_down[f] = ask && ask_tasks[f].kind == Down;
    assign sums_ask[f]  = sum && sum_tasks[f].kind != Down && !sum_tasks[f].first;
    always_comb begin : p_finished
      finished_in = '0;
      for (int unsigned n = 0; n < Sums; n++) begin
        if (row_task.from[row_task.part[0]] == LimbW'(n)) begin
          finished_in = sums_row[n];
        end
      end
    end
    always_ff @(posedge clk_i) begin : p_row
      unit_q     <= unit_row[UnitI'(ask_tasks[f].unit_no)];
      finished_q <= finished_in;
      for (int unsigned c = 0; c < 2; c++) begin
        for (int unsigned n = 0; n < Sums; n++) begin
          if (want_task.from[c] == LimbW'(n)) begin
            sum_old_q[c] <= sums_row[n];
          end
        end
      end
    end

    rm_pool_adder #(.W(W), .Kind(Kind), .Tile(Tile), .ModBits(ModBits)) i_adder (
      .clk_i,
      .cfg_we_i,
      .cfg_field_i,
      .cfg_mod_i,
      .cfg_data_i,
      .row_task_i (row_task),
      .row_i      (row_in),
      .key_i      (key_row_i[f]),
      .finished_i (finished_q),
      .add_task_i (add_task),
      .addend_i   (addend_row_i[f]),
      .sum_i      (sum_old_q),
      .sum_o      (sums_new[f])
    );

    assign addend_re_o[f]    = want && want_task.kind == Down;
    assign addend_task_o[f]  = want_task;
    assign result_valid_o[f] = write[f] && write_tasks[f].kind == Down;
    assign result_task_o[f]  = write_tasks[f];
    assign result_time_o[f]  = write_times[f];
    assign result_row_o[f]   = sums_new[f][0];
    rm_delay_line #(.Width(LogRows), .Cycles(1)) i_addend_time (
      .clk_i, .data_i(sum_times[f]), .data_o(addend_time_o[f])
    );

    assign write_adds[f]      = write[f] && write_tasks[f].kind != Down;
    assign finished[f]        = write_adds[f] && write_tasks[f].last && write_times[f] == '0;
    assign result_last[f]     = result_valid_o[f] && write_times[f] == LogRows'((32'd1 << log_rows) - 32'd1);
    assign result_tag[f]      = write_tasks[f].tag;
    assign add_missing[f]     = row && row_task.kind != Down && !(key_valid_i[f] && own_there);
    assign add_missing_tag[f] = row_task.tag;
    assign add_late[f]        = add && add_task.kind == Down && !addend_valid_i[f];
    assign add_late_tag[f]    = add_task.tag;
    logic unused_adder;
    assign unused_adder = ^{row_task, want_task, add_task};
  end
  assign finished_task = write_tasks;

  // ------------------------------------------------- limbs of sums: a row read and a row written a cycle, of one task each
  for (genvar n = 0; n < Sums; n++) begin : g_sums
    logic               re, we;
    logic [LogRows-1:0] raddr, waddr;
    logic [15:0][W-1:0] wdata;
    always_comb begin : p_ports
      re    = 1'b0;
      raddr = '0;
      we    = 1'b0;
      waddr = '0;
      wdata = '0;
      for (int unsigned f = 0; f < Feeds; f++) begin
        if (feed_read[f] && feed_task[f].kind == Rest && feed_task[f].from[feed_task[f].part[0]] == LimbW'(n)) begin
          re    = 1'b1;
          raddr = feed_time[f];
        end
        if (sums_down[f] && ask_tasks[f].from[ask_tasks[f].part[0]] == LimbW'(n)) begin
          re    = 1'b1;
          raddr = ask_times[f];
        end
        for (int unsigned c = 0; c < 2; c++) begin
          if (sums_ask[f] && sum_tasks[f].from[c] == LimbW'(n)) begin
            re    = 1'b1;
            raddr = sum_times[f];
          end
          if (write_adds[f] && write_tasks[f].into[c] == LimbW'(n)) begin
            we    = 1'b1;
            waddr = write_times[f];
            wdata = sums_new[f][c];
          end
        end
      end
    end
    rm_bank_ram #(.Width(16 * W), .Depth(1 << LogRows)) i_ram (
      .clk_i, .re_i(re), .raddr_i(raddr), .rdata_o(sums_row[n]), .we_i(we), .waddr_i(waddr), .wdata_i(wdata)
    );
  end

  // ------------------------------------------------- the end of a key switch, and what it lacked
  logic [Tags-1:0] bad_q;

  // No two tasks leave in the same cycle, so no two results end in the same one.
  assign part_done = result_last != '0;
  always_comb begin : p_part
    part_tag = '0;
    for (int unsigned f = 0; f < Feeds; f++) begin
      if (result_last[f]) begin
        part_tag = result_tag[f];
      end
    end
  end
  assign done_o     = done;
  assign done_tag_o = part_tag;
  assign done_bad_o = bad_q[part_tag];

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_bad
    if (!rst_ni) begin
      bad_q <= '0;
    end else begin
      if (switch_valid_i && switch_ready_o) begin
        bad_q[switch_tag_o] <= 1'b0;
      end
      for (int unsigned f = 0; f < Feeds; f++) begin
        if (feed_missing[f]) begin
          bad_q[feed_missing_tag[f]] <= 1'b1;
        end
        if (add_missing[f]) begin
          bad_q[add_missing_tag[f]] <= 1'b1;
        end
        if (add_late[f]) begin
          bad_q[add_late_tag[f]] <= 1'b1;
        end
      end
    end
  end

  // ------------------------------------------------- wrong tables, and what must not happen
  logic [$clog2(Quiet+1)-1:0] quiet_q;
  logic                       waits_outside;

  assign waits_outside = idle || promise_valid_o || hold || moves;
  assign bad_table_o   = wrong_q || no_take;
  assign stuck_o       = stuck_q;
  assign fault_o       = fault_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_wrong
    if (!rst_ni) begin
      wrong_q <= 1'b0;
      stuck_q <= 1'b0;
      fault_q <= 1'b0;
      quiet_q <= '0;
    end else begin
      wrong_q <= wrong_q || bad_task;
      quiet_q <= (start_o || waits_outside || unit_busy != '0) ? '0 : quiet_q + 1'b1;
      stuck_q <= stuck_q || quiet_q == ($clog2(Quiet + 1))'(Quiet);
      fault_q <= fault_q || (start_o && !leave_room) || (leave && !leave_valid);
    end
  end

  logic unused;
  assign unused = ^{unused_waiting, leave_task, start_task, unit_bad_size};

endmodule
