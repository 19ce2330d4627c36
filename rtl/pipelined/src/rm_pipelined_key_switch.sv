// rm_pipelined_key_switch - key switching as one chain of streaming transforms: a slot every N/P cycles.
//
// Equation     hybrid key switching with one special prime p and a digit a limb, all residues canonical:
//              sum[c] = sum over digits j of lift(d_j) * key[j][c]      mod q_i and mod p
//              out[c] = (sum[c] - lift(sum[c] mod p)) / p + addend[c]   mod q_i
// Chain        operand -> inverse transform -> lift to Limbs moduli -> Limbs forward transforms -> sums of Limbs + 1 moduli.
//              A slot of the chain is a digit, or a component of the special residue on its way down.
// Interval     N/P cycles a slot; level_i + 2 slots a key switch from 3 limbs on, when operands are promised early.
// Latency      README.md, and schedule.py: the cycle of every row follows from the starts.
// Moduli       0 is p, 1 ... level_i are q_0 ...; cfg_*: rm_ks_pkg. Then prepare_*, as in rm_streaming_ntt, for every modulus.
// Promises     The chain does not stall. digit_valid_i promises the rows of the next digit and of its keys, room_i those of the
//              addends of one component, and space for its results. Rows are then asked for, target_re_o, key_re_o,
//              addend_re_o, and stand there in the next cycle. A row whose valid is low makes result_bad_o of its key switch.
// Size         log_n_i, level_i (1 ... Limbs) and centred_i stand still while busy_o. Outside of what was built nothing
//              starts and bad_size_o is high.
// Fault        fault_o: a unit was not ready in its cycle; it does not happen, and stays until reset.
module rm_pipelined_key_switch #(
  parameter int unsigned W        = 54,
  parameter int unsigned Kind     = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile     = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Limbs    = 4,
  parameter int unsigned LogP     = 1,
  parameter int unsigned LogNMax  = 13,
  parameter int unsigned LogNMin  = 10,
  localparam int unsigned P       = 1 << LogP,
  localparam int unsigned LogRows = LogNMax - LogP,
  localparam int unsigned ModW    = $clog2(Limbs + 1)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [4:0]                        log_n_i,
  input  logic [rm_ks_pkg::DigitW-1:0]         level_i,
  input  logic [1:0]                        centred_i,   // lifts with sign: bit 0 of digits, bit 1 on the way down
  output logic                              bad_size_o,
  output logic                              busy_o,
  output logic                              fault_o,
  input  logic                              cfg_we_i,
  input  logic                              cfg_inverse_i,
  input  logic [ModW-1:0]                   cfg_mod_i,
  input  logic [rm_ks_pkg::FieldW-1:0]         cfg_field_i,
  input  logic [W+1:0]                      cfg_data_i,
  input  logic                              prepare_valid_i,
  input  logic [ModW-1:0]                   prepare_mod_i,
  output logic                              prepare_ready_o,
  // slots
  input  logic                              digit_valid_i,
  output logic                              digit_start_o,
  input  logic                              room_i,
  output logic                              down_start_o,
  // operand, values of digit target_digit_o modulo its own modulus
  output logic                              target_re_o,
  output logic [rm_ks_pkg::DigitW-1:0]         target_digit_o,
  output logic [LogRows-1:0]                target_time_o,
  input  logic                              target_valid_i,
  input  logic [P-1:0][W-1:0]               target_row_i,
  // keys of a digit: both components, all moduli, times 2^R
  output logic                              key_re_o,
  output logic [rm_ks_pkg::DigitW-1:0]         key_digit_o,
  output logic [LogRows-1:0]                key_time_o,
  input  logic                              key_valid_i,
  input  logic [1:0][Limbs:0][P-1:0][W-1:0] key_row_i,
  // what is added to the result
  output logic                              addend_re_o,
  output logic                              addend_comp_o,
  output logic [LogRows-1:0]                addend_time_o,
  input  logic                              addend_valid_i,
  input  logic [Limbs-1:0][P-1:0][W-1:0]    addend_row_i,
  // result, limbs below level_i
  output logic                              result_valid_o,
  output logic                              result_comp_o,
  output logic [LogRows-1:0]                result_time_o,
  output logic                              result_bad_o,
  output logic [Limbs-1:0][P-1:0][W-1:0]    result_row_o
);

  import rm_ks_pkg::*;

  localparam int unsigned Lead    = rm_stream_pkg::lead(Kind, W);
  localparam int unsigned RowsMin = 1 << (LogNMin - LogP);
  // Slots from a start to its last row, and between two transforms, at the smallest N: there are most of them.
  localparam int unsigned Chain   = chain_latency(Kind, W, LogP, LogNMin, LogNMax) + Lead + bank_latency(Kind, W);
  localparam int unsigned Slots   = slots_within(Chain, RowsMin) + 1;
  localparam int unsigned Inside  = $clog2(Slots + 2);
  // Rows between the push of an operand's row and its use.
  localparam int unsigned Ring    = chain_latency(Kind, W, LogP, LogNMax, LogNMax) + 2;

  if (Limbs < 1 || Limbs > 15) begin : g_check
    $error("rm_pipelined_key_switch: 1 to 15 limbs");
  end

  logic [4:0] log_rows;
  logic       bad_level, constant, root_field, forward_we, inverse_we;
  assign log_rows   = log_n_i - 5'(LogP);
  assign bad_level  = level_i == '0 || level_i > DigitW'(Limbs);
  assign constant   = cfg_we_i && (cfg_field_i == FieldQ || cfg_field_i == FieldAux);
  assign root_field = cfg_we_i && cfg_field_i >= FieldRoot && cfg_field_i < FieldLift;
  assign forward_we = constant || (root_field && !cfg_inverse_i);
  assign inverse_we = constant || (root_field && cfg_inverse_i);

  // ------------------------------------------------- starts
  logic            gate_ready, start, finished, slot_end, active, back_bad_size;
  info_t           start_info;
  logic [Inside-1:0] inside_q;

  rm_ks_sequencer i_sequencer (
    .clk_i,
    .rst_ni,
    .level_i,
    .gate_ready_i  (gate_ready && !bad_level),
    .digit_valid_i,
    .room_i,
    .finished_i    (finished),
    .start_o       (start),
    .info_o        (start_info),
    .digit_start_o,
    .down_start_o,
    .active_o      (active)
  );
  assign bad_size_o = back_bad_size || bad_level;
  assign busy_o     = inside_q != '0 || active;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_inside
    if (!rst_ni) begin
      inside_q <= '0;
    end else begin
      inside_q <= inside_q + Inside'(start) - Inside'(slot_end);
    end
  end

  // ------------------------------------------------- source: an operand's row, or one of the special residue
  logic                source_first, source_ask, source_valid_q, source_last_q, source_bad_q, source_bad;
  logic [LogRows-1:0]  source_time;
  info_t               source_tag, source_info, source_info_q, slot_info;
  logic [P-1:0][W-1:0] special_row, own_row, source_row_q;

  rm_stream_tag #(.Cycles(Lead - 2), .ModW(InfoW)) i_source (
    .clk_i, .rst_ni, .first_i(start), .mod_i(start_info), .first_o(source_first), .mod_o(source_tag)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_source_clock (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(source_first), .mod_i(source_tag), .valid_o(source_ask),
    .time_o(source_time), .mod_o(source_info)
  );
  assign target_re_o    = source_ask && !source_info.down;
  assign target_digit_o = source_info.digit;
  assign target_time_o  = source_time;

  logic source_begin_q;
  assign source_bad = !source_info_q.down && (!target_valid_i || (source_bad_q && !source_begin_q));
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_source_valid
    if (!rst_ni) begin
      source_valid_q <= 1'b0;
      source_bad_q   <= 1'b0;
    end else begin
      source_valid_q <= source_ask;
      source_bad_q   <= source_bad;
    end
  end
  always_ff @(posedge clk_i) begin : p_source
    source_info_q  <= source_info;
    source_begin_q <= source_first;
    source_last_q  <= source_time == LogRows'((32'd1 << log_rows) - 32'd1);
    source_row_q   <= source_info_q.down ? special_row : target_row_i;
  end
  always_comb begin : p_slot_info
    slot_info     = source_info_q;
    slot_info.bad = source_bad;
  end

  // ------------------------------------------------- inverse transform
  logic                back_prepared, back_fault, back_ahead;
  logic                slot_ready, slot_valid;
  logic [P-1:0][W-1:0] coefficients;
  info_t               back_info;
  logic                unused_back_busy, unused_back_first, unused_back_valid;
  logic [ModW-1:0]     unused_back_mod, unused_back_ahead;
  logic [$clog2(Slots+1)-1:0] unused_slots, unused_waiting;

  rm_streaming_ntt #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Limbs + 1), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin),
    .Style(rm_stream_pkg::FeedForward), .Inverse(1'b1)
  ) i_inverse (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .bad_size_o      (back_bad_size),
    .busy_o          (unused_back_busy),
    .fault_o         (back_fault),
    .cfg_we_i        (inverse_we),
    .cfg_mod_i,
    .cfg_field_i     (cfg_field_i[4:0]),
    .cfg_data_i,
    .prepare_valid_i (prepare_valid_i && prepare_ready_o),
    .prepare_mod_i,
    .prepare_ready_o (back_prepared),
    .start_valid_i   (start),
    .start_mod_i     (start_info.down ? '0 : ModW'(start_info.digit + 1'b1)),
    .start_ready_o   (gate_ready),
    .row_i           (source_row_q),
    .ahead_o         (back_ahead),
    .ahead_mod_o     (unused_back_ahead),
    .first_o         (unused_back_first),
    .mod_o           (unused_back_mod),
    .valid_o         (unused_back_valid),
    .row_o           (coefficients)
  );

  rm_core_fifo #(.Width(InfoW), .Depth(Slots)) i_slots (
    .clk_i, .rst_ni, .push_valid_i(source_valid_q && source_last_q), .push_ready_o(slot_ready), .push_data_i(slot_info),
    .pop_valid_o(slot_valid), .pop_ready_i(back_ahead), .pop_data_o(back_info), .count_o(unused_slots)
  );

  // ------------------------------------------------- lift: constants are read a cycle before the rows
  logic               lift_first, unused_lift_valid, forward_start;
  info_t              lift_tag, lift_info, forward_info;
  logic [LogRows-1:0] unused_lift_time;
  logic [ModW-1:0]    from;
  logic [W-1:0]       from_q;
  logic [W+1:0]       unused_from_aux;
  logic               centred_q;
  logic [P-1:0]       above_q;

  rm_stream_tag #(.Cycles(Lead - 1), .ModW(InfoW)) i_lift_tag (
    .clk_i, .rst_ni, .first_i(back_ahead), .mod_i(back_info), .first_o(lift_first), .mod_o(lift_tag)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_lift_clock (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(lift_first), .mod_i(lift_tag), .valid_o(unused_lift_valid),
    .time_o(unused_lift_time), .mod_o(lift_info)
  );
  rm_stream_tag #(.Cycles(lift_latency(Kind, W)), .ModW(InfoW)) i_forward_tag (
    .clk_i, .rst_ni, .first_i(back_ahead), .mod_i(back_info), .first_o(forward_start), .mod_o(forward_info)
  );
  assign from = lift_info.down ? '0 : ModW'(lift_info.digit + 1'b1);
  rm_stream_moduli #(.W(W), .Mods(Limbs + 1)) i_from (
    .clk_i, .cfg_we_i(constant), .cfg_aux_i(cfg_field_i[0]), .cfg_mod_i, .cfg_data_i, .mod_i(from), .q_o(from_q),
    .aux_o(unused_from_aux)
  );
  always_ff @(posedge clk_i) begin : p_above
    centred_q <= lift_info.down ? centred_i[1] : centred_i[0];
    for (int unsigned l = 0; l < P; l++) begin
      above_q[l] <= centred_q && {coefficients[l], 1'b0} > {1'b0, from_q};
    end
  end

  // ------------------------------------------------- forward transforms: unit f takes the f-th of the moduli wanted
  logic [Limbs-1:0]                ready, prepared, fault, ahead, late;
  logic [Limbs-1:0][P-1:0][W-1:0]  values;

  for (genvar f = 0; f < Limbs; f++) begin : g_unit
    logic [ModW-1:0]     into, start_mod;
    logic [W-1:0]        q, factor, correction;
    logic [W+1:0]        aux;
    logic [P-1:0][W-1:0] lifted;
    logic                unused_bad_size, unused_busy, unused_first, unused_valid, take;
    logic [ModW-1:0]     unused_mod, unused_ahead_mod;

    // A digit is wanted modulo all but its own modulus, digit + 1; a special residue modulo all but p.
    if (f == 0) begin : g_first
      assign into      = ModW'(lift_info.down);
      assign start_mod = ModW'(forward_info.down);
    end else begin : g_next
      assign into      = (lift_info.down || lift_info.digit < DigitW'(f)) ? ModW'(f + 1) : ModW'(f);
      assign start_mod = (forward_info.down || forward_info.digit < DigitW'(f)) ? ModW'(f + 1) : ModW'(f);
    end
    assign take      = forward_start && DigitW'(f) < level_i;
    assign late[f]   = take && !ready[f];

    rm_stream_moduli #(.W(W), .Mods(Limbs + 1)) i_moduli (
      .clk_i, .cfg_we_i(constant), .cfg_aux_i(cfg_field_i[0]), .cfg_mod_i, .cfg_data_i, .mod_i(into), .q_o(q),
      .aux_o(aux)
    );
    rm_stream_constants #(.W(W), .Mods(Limbs + 1), .Words(1)) i_factor (
      .clk_i, .we_i(cfg_we_i && cfg_field_i == FieldLift), .index_i('0), .wmod_i(cfg_mod_i), .data_i(cfg_data_i[W-1:0]),
      .mod_i(into), .words_o(factor)
    );
    rm_stream_constants #(.W(W), .Mods(1 << (2 * ModW)), .Words(1)) i_correction (
      .clk_i, .we_i(cfg_we_i && cfg_field_i >= FieldFrom), .index_i('0), .wmod_i({cfg_field_i[ModW-1:0], cfg_mod_i}),
      .data_i(cfg_data_i[W-1:0]), .mod_i({from, into}), .words_o(correction)
    );
    rm_ks_lift #(.W(W), .Kind(Kind), .Tile(Tile), .P(P)) i_lift (
      .clk_i, .x_i(coefficients), .above_i(above_q), .q_i(q), .aux_i(aux), .factor_i(factor), .from_i(correction),
      .y_o(lifted)
    );
    rm_streaming_ntt #(
      .W(W), .Kind(Kind), .Tile(Tile), .Mods(Limbs + 1), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin),
      .Style(rm_stream_pkg::FeedForward), .Inverse(1'b0)
    ) i_forward (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .bad_size_o      (unused_bad_size),
      .busy_o          (unused_busy),
      .fault_o         (fault[f]),
      .cfg_we_i        (forward_we),
      .cfg_mod_i,
      .cfg_field_i     (cfg_field_i[4:0]),
      .cfg_data_i,
      .prepare_valid_i (prepare_valid_i && prepare_ready_o),
      .prepare_mod_i,
      .prepare_ready_o (prepared[f]),
      .start_valid_i   (take),
      .start_mod_i     (start_mod),
      .start_ready_o   (ready[f]),
      .row_i           (lifted),
      .ahead_o         (ahead[f]),
      .ahead_mod_o     (unused_ahead_mod),
      .first_o         (unused_first),
      .mod_o           (unused_mod),
      .valid_o         (unused_valid),
      .row_o           (values[f])
    );
    logic unused_unit;
    assign unused_unit = ^{unused_bad_size, unused_busy, unused_first, unused_valid, unused_mod, unused_ahead_mod};
  end
  assign prepare_ready_o = prepared == '1 && back_prepared;

  // Unit 0 works at every level and speaks for all.
  logic  wait_ready, wait_valid;
  info_t ahead_info;
  rm_core_fifo #(.Width(InfoW), .Depth(Slots)) i_waiting (
    .clk_i, .rst_ni, .push_valid_i(forward_start), .push_ready_o(wait_ready), .push_data_i(forward_info),
    .pop_valid_o(wait_valid), .pop_ready_i(ahead[0]), .pop_data_o(ahead_info), .count_o(unused_waiting)
  );

  // ------------------------------------------------- sums
  logic               ask, sum, write;
  logic [LogRows-1:0] ask_time, sum_time, write_time;
  info_t              ask_info, row_info, sum_info, add_info, write_info;

  rm_ks_marks #(.W(W), .Kind(Kind), .LogRows(LogRows)) i_marks (
    .clk_i,
    .rst_ni,
    .log_rows_i     (log_rows),
    .ahead_i        (ahead[0]),
    .info_i         (ahead_info),
    .ask_o          (ask),
    .ask_time_o     (ask_time),
    .ask_info_o     (ask_info),
    .row_info_o     (row_info),
    .key_valid_i,
    .sum_o          (sum),
    .sum_time_o     (sum_time),
    .sum_info_o     (sum_info),
    .add_info_o     (add_info),
    .addend_valid_i,
    .write_o        (write),
    .write_time_o   (write_time),
    .write_info_o   (write_info),
    .write_bad_o    (result_bad_o),
    .finished_o     (finished),
    .slot_end_o     (slot_end)
  );
  assign key_re_o       = ask && !ask_info.down;
  assign key_digit_o    = ask_info.digit;
  assign key_time_o     = ask_time;
  assign addend_re_o    = sum && sum_info.down;
  assign addend_comp_o  = sum_info.comp;
  assign addend_time_o  = sum_time;
  assign result_valid_o = write && write_info.down;
  assign result_comp_o  = write_info.comp;
  assign result_time_o  = write_time;

  rm_ks_ring #(.Width(P * W), .Depth(Ring)) i_own (
    .clk_i, .rst_ni, .push_i(source_valid_q && !source_info_q.down), .data_i(target_row_i), .pop_i(key_re_o),
    .data_o(own_row)
  );

  for (genvar i = 0; i <= Limbs; i++) begin : g_bank
    logic [P-1:0][W-1:0] row, result, down_row;
    logic                down_re, down_comp;
    logic [LogRows-1:0]  down_time;

    // Which unit has this modulus: unit i while the digit's own modulus comes after it, else the one before.
    if (i == 0) begin : g_special
      assign row         = values[0];
      assign down_re     = source_ask && source_info.down;
      assign down_comp   = source_info.comp;
      assign down_time   = source_time;
      assign special_row = down_row;
      logic unused_result;
      assign unused_result = ^result;
    end else begin : g_limb
      if (i < Limbs) begin : g_two
        assign row = row_info.digit == DigitW'(i - 1) && !row_info.down ? own_row
                   : row_info.down || int'(row_info.digit) < i - 1 ? values[i-1] : values[i];
      end else begin : g_last
        assign row = row_info.down || row_info.digit != DigitW'(i - 1) ? values[i-1] : own_row;
      end
      assign down_re           = ask && ask_info.down;
      assign down_comp         = ask_info.comp;
      assign down_time         = ask_time;
      assign result_row_o[i-1] = result;
      logic unused_down_row;
      assign unused_down_row = ^down_row;
    end

    rm_ks_bank #(.W(W), .Kind(Kind), .Tile(Tile), .P(P), .LogRows(LogRows), .Special(i == 0)) i_bank (
      .clk_i,
      .cfg_we_i     (cfg_we_i && cfg_mod_i == ModW'(i)),
      .cfg_field_i,
      .cfg_data_i,
      .down_re_i    (down_re),
      .down_comp_i  (down_comp),
      .down_time_i  (down_time),
      .down_row_o   (down_row),
      .mode_down_i  (row_info.down),
      .mode_comp_i  (row_info.comp),
      .row_i        (row),
      .key_i        ({key_row_i[1][i], key_row_i[0][i]}),
      .sum_re_i     (sum && !sum_info.down),
      .sum_time_i   (sum_time),
      .add_down_i   (add_info.down),
      .add_first_i  (add_info.first),
      .addend_i     (i == 0 ? '0 : addend_row_i[i == 0 ? 0 : i - 1]),
      .write_i      (write && !write_info.down),
      .write_last_i (write_info.last),
      .write_time_i (write_time),
      .result_o     (result)
    );
  end

  // ------------------------------------------------- what must not happen
  logic late_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_late
    if (!rst_ni) begin
      late_q <= 1'b0;
    end else begin
      late_q <= late_q || late != '0 || (source_valid_q && source_last_q && !slot_ready) || (back_ahead && !slot_valid)
          || (forward_start && !wait_ready) || (ahead[0] && !wait_valid);
    end
  end
  assign fault_o = late_q || back_fault || fault != '0;

  logic unused;
  assign unused = ^{unused_back_busy, unused_back_first, unused_back_valid, unused_back_mod, unused_back_ahead,
                    unused_slots, unused_waiting, unused_lift_valid, unused_lift_time, unused_from_aux, ahead,
                    add_info, write_info, sum_info, ask_info, row_info, lift_info};

endmodule
