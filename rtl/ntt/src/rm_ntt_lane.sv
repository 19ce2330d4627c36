// rm_ntt_lane - what rm_ntt_unit and rm_ntt_pair are made of: queue, sequencer, twiddles and data of one lane.
//
// Contract and cycles stand in rm_ntt_unit.sv; the ports that are not there belong to ganged transforms (rm_ntt_pair.sv):
// both lanes start in the same cycle, exchange half rows in the stage that crosses lanes, and stay in step.
module rm_ntt_lane #(
  parameter int unsigned W          = 54,
  parameter int unsigned Nbf        = 4,
  parameter int unsigned LogNMax    = 14,
  parameter int unsigned LogNMin    = 10,
  parameter int unsigned Mods       = 16,
  parameter int unsigned Kind       = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile       = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned QueueDepth = 2,
  parameter bit          Gang       = 1'b0,
  localparam int unsigned ModW      = $clog2(Mods),
  localparam int unsigned Cols      = 2 * Nbf,
  localparam int unsigned RowW      = LogNMax - $clog2(Cols)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [3:0]             log_n_i,
  input  logic                   flush_i,
  // commands
  input  logic                   cmd_valid_i,
  output logic                   cmd_ready_o,
  input  logic                   cmd_inverse_i,
  input  logic                   cmd_bank_i,
  input  logic [ModW-1:0]        cmd_mod_i,
  input  logic                   cmd_gang_i,
  input  logic                   cmd_roots_i,     // only the twiddles of cmd_mod_i
  // head
  output logic                   head_valid_o,
  output logic                   head_bank_o,
  output logic                   head_gang_o,
  output logic                   head_ready_o,    // sequencer free, twiddles there
  input  logic                   head_grant_i,
  input  logic                   head_hold_i,     // granted, but the other lane is not ready
  output logic                   started_o,
  output logic                   skipped_o,       // the twiddles that the head asked for are there
  // a transform has read its last row: what goes through the rows in order may follow
  output logic                   pass_o,
  output logic                   pass_bank_o,
  // end of a transform, with its last write
  output logic                   done_o,
  output logic                   done_bank_o,
  // status and counters
  output logic                   busy_o,
  output logic                   wait_ticket_o,   // free, no grant
  output logic                   wait_twiddle_o,  // free, granted, no twiddles
  // modulus table, one cycle
  output logic [ModW-1:0]        tab_mod_o,
  output logic [3:0]             tab_root_o,
  input  logic [W-1:0]           tab_q_i,
  input  logic [W+1:0]           tab_aux_i,
  input  logic [W-1:0]           tab_root_i,
  // banks
  output logic                   rd_en_o,
  output logic                   rd_bank_o,
  output logic [RowW-1:0]        rd_row_o,
  input  logic [Cols-1:0][W-1:0] rd_data_i,
  output logic                   wr_en_o,
  output logic                   wr_bank_o,
  output logic [RowW-1:0]        wr_row_o,
  output logic [Cols-1:0][W-1:0] wr_data_o,
  // half rows to and from the other lane, ganged
  input  logic                   lane_i,
  output logic [Nbf-1:0][W-1:0]  in_give_o,
  input  logic [Nbf-1:0][W-1:0]  in_take_i,
  output logic [Nbf-1:0][W-1:0]  out_give_o,
  input  logic [Nbf-1:0][W-1:0]  out_take_i
);

  localparam int unsigned LogNbf = $clog2(Nbf);
  localparam int unsigned M      = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned L      = rm_ntt_pkg::row_latency(M);

  if (Nbf != 1 && Nbf != 2 && Nbf != 4 && Nbf != 8 && Nbf != 16) begin : g_check_nbf
    $error("rm_ntt_lane: Nbf is 1, 2, 4, 8 or 16");
  end
  if (Mods < 2) begin : g_check_mods
    $error("rm_ntt_lane: the modulus table has two entries at least");
  end

  // ---------------------------------------------------------------- commands
  typedef struct packed {
    logic            roots;
    logic            gang;
    logic            inverse;
    logic            bank;
    logic [ModW-1:0] modulus;
  } command_t;

  logic     hit, hit_slot, free, start, skip, waits, load, head_q;
  command_t waiting, command_q;  // the oldest of the queue, and the head, which stands in a register
  logic [$clog2(QueueDepth+1)-1:0] unused_count;

  rm_core_fifo #(
    .Width($bits(command_t)),
    .Depth(QueueDepth)
  ) i_queue (
    .clk_i,
    .rst_ni,
    .push_valid_i(cmd_valid_i),
    .push_ready_o(cmd_ready_o),
    .push_data_i ({cmd_roots_i, cmd_gang_i, cmd_inverse_i, cmd_bank_i, cmd_mod_i}),
    .pop_valid_o (waits),
    .pop_ready_i (load),
    .pop_data_o  (waiting),
    .count_o     (unused_count)
  );

  assign load = !head_q || start || skip;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_head
    if (!rst_ni) begin
      head_q <= 1'b0;
    end else if (load) begin
      head_q <= waits;
    end
  end

  always_ff @(posedge clk_i) begin : p_command
    if (load) command_q <= waiting;
  end

  assign head_valid_o   = head_q;
  assign head_bank_o    = command_q.bank;
  assign head_gang_o    = Gang && command_q.gang && !command_q.roots;
  assign head_ready_o   = hit && free && !command_q.roots;
  assign start          = head_ready_o && head_grant_i && !head_hold_i;
  assign skip           = hit && command_q.roots;
  assign started_o      = start;
  assign skipped_o      = skip;
  assign wait_ticket_o  = head_q && !command_q.roots && free && !head_grant_i;
  assign wait_twiddle_o = head_q && !command_q.roots && free && head_grant_i && !hit;

  // ---------------------------------------------------------------- rows
  typedef struct packed {
    logic            second;
    logic            crosses;
    logic            type2;
    logic            last;
    logic            inverse;
    logic            bank;
    logic            slot;
    logic [RowW-1:0] row;
  } tag_t;

  logic            row_valid, row_gang;
  tag_t            row_tag;
  logic [RowW-1:0] row_time, row_mask;
  logic [3:0]      row_log_dist;

  rm_ntt_sequencer #(
    .LogNMax    (LogNMax),
    .LogNMin    (LogNMin),
    .LogCols    (LogNbf + 1),
    .RowLatency (L),
    .Gang       (Gang)
  ) i_sequencer (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .start_i         (start),
    .start_inverse_i (command_q.inverse),
    .start_bank_i    (command_q.bank),
    .start_slot_i    (hit_slot),
    .start_gang_i    (command_q.gang),
    .free_o          (free),
    .valid_o         (row_valid),
    .row_o           (row_tag.row),
    .second_o        (row_tag.second),
    .type2_o         (row_tag.type2),
    .cross_o         (row_tag.crosses),
    .last_o          (row_tag.last),
    .inverse_o       (row_tag.inverse),
    .bank_o          (row_tag.bank),
    .slot_o          (row_tag.slot),
    .gang_o          (row_gang),
    .time_o          (row_time),
    .mask_o          (row_mask),
    .log_dist_o      (row_log_dist)
  );

  assign rd_en_o   = row_valid;
  assign rd_bank_o = row_tag.bank;
  assign rd_row_o  = row_tag.row;

  // What travels with a row: at[k] was requested k cycles ago.
  logic [L:1] valid_q;
  tag_t       tag_q [1:L];
  logic [L:0] valid_at, second_at, cross_at, type2_at, inverse_at, slot_at;
  logic [1:0] slot_busy;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= {valid_q[L-1:1], row_valid};
    end
  end

  always_ff @(posedge clk_i) begin : p_tag
    tag_q[1] <= row_tag;
    for (int unsigned k = 2; k <= L; k++) begin
      tag_q[k] <= tag_q[k-1];
    end
  end

  assign valid_at      = {valid_q, row_valid};
  assign second_at[0]  = row_tag.second;
  assign cross_at[0]   = row_tag.crosses;
  assign type2_at[0]   = row_tag.type2;
  assign inverse_at[0] = row_tag.inverse;
  assign slot_at[0]    = row_tag.slot;
  for (genvar k = 1; k <= L; k++) begin : g_at
    assign second_at[k]  = valid_q[k] && tag_q[k].second;
    assign cross_at[k]   = tag_q[k].crosses;
    assign type2_at[k]   = tag_q[k].type2;
    assign inverse_at[k] = tag_q[k].inverse;
    assign slot_at[k]    = tag_q[k].slot;
  end

  // Rows that still need their slot's constants or twiddles.
  localparam int unsigned OffFree = rm_ntt_pkg::off_post2(M);
  assign slot_busy[0] = |(valid_at[OffFree:0] & ~slot_at[OffFree:0]);
  assign slot_busy[1] = |(valid_at[OffFree:0] &  slot_at[OffFree:0]);

  // ---------------------------------------------------------------- twiddles
  logic                  twiddle_busy;
  logic [1:0][W-1:0]     slot_q;
  logic [1:0][W+1:0]     slot_aux;
  logic [Nbf-1:0][W-1:0] twiddle;

  rm_ntt_twiddle #(
    .W       (W),
    .Kind    (Kind),
    .Tile    (Tile),
    .LogNMax (LogNMax),
    .LogNbf  (LogNbf),
    .ModW    (ModW)
  ) i_twiddle (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .flush_i,
    .head_valid_i (head_q),
    .head_mod_i   (command_q.modulus),
    .hit_o        (hit),
    .hit_slot_o   (hit_slot),
    .start_i      (start),
    .slot_busy_i  (slot_busy),
    .busy_o       (twiddle_busy),
    .tab_mod_o,
    .tab_root_o,
    .tab_q_i,
    .tab_aux_i,
    .tab_root_i,
    .q_o          (slot_q),
    .aux_o        (slot_aux),
    .time_i       (row_time),
    .mask_i       (row_mask),
    .log_dist_i   (row_log_dist),
    .inverse_i    (row_tag.inverse),
    .gang_i       (row_gang),
    .lane_i,
    .table_slot_i (slot_at[rm_ntt_pkg::OffTwAddr+1]),
    .twiddle_o    (twiddle)
  );

  // ---------------------------------------------------------------- words
  rm_ntt_datapath #(
    .W    (W),
    .Nbf  (Nbf),
    .Kind (Kind),
    .Tile (Tile),
    .Gang (Gang)
  ) i_datapath (
    .clk_i,
    .second_at_i  (second_at),
    .type2_at_i   (type2_at),
    .inverse_at_i (inverse_at),
    .slot_at_i    (slot_at),
    .cross_at_i   (cross_at),
    .lane_i,
    .q_i          (slot_q),
    .aux_i        (slot_aux),
    .twiddle_i    (twiddle),
    .row_i        (rd_data_i),
    .row_o        (wr_data_o),
    .in_give_o,
    .in_take_i,
    .out_give_o,
    .out_take_i
  );

  assign wr_en_o     = valid_q[L];
  assign wr_bank_o   = tag_q[L].bank;
  assign wr_row_o    = tag_q[L].row;
  assign pass_o      = valid_q[rm_ntt_pkg::OffPass] && tag_q[rm_ntt_pkg::OffPass].last;
  assign pass_bank_o = tag_q[rm_ntt_pkg::OffPass].bank;
  assign done_o      = valid_q[L] && tag_q[L].last;
  assign done_bank_o = tag_q[L].bank;
  assign busy_o      = waits || head_q || !free || valid_at != '0 || twiddle_busy;

endmodule
