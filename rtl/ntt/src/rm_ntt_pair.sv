// rm_ntt_pair - the transform units of both lanes, which also work together on one polynomial.
//
// Apart, each lane is an rm_ntt_unit. **Ganged**, lane 0 holds words 0 ... N/2 - 1 in its bank, lane 1 the rest, and
//   stage 0 (distance N/2) crosses lanes: half rows are exchanged instead of swapped in time,
//   every other stage stays in the lane: a transform of N/2 words with twiddles T_s(i + lane 2^(s-1)).
// So a ganged transform takes half the cycles: S = log N * ROWS + gaps with ROWS = N / (4 Nbf).
//
// Commands     a ganged transform is one command to each lane, cmd_gang_i high, the same direction and modulus, in the
//              same order in both queues; bank numbers may differ. It starts in the first cycle in which it is the
//              head of both queues and each lane could start it, both grants given; done_o comes from both at once.
//              A lane that waits for the other one shows neither wait_ticket_o nor wait_twiddle_o.
// Rest         as rm_ntt_unit, bit i of a port for lane i.
module rm_ntt_pair #(
  parameter int unsigned W          = 54,
  parameter int unsigned Nbf        = 4,
  parameter int unsigned LogNMax    = 14,
  parameter int unsigned LogNMin    = 10,
  parameter int unsigned Mods       = 16,
  parameter int unsigned Kind       = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile       = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned QueueDepth = 2,
  localparam int unsigned ModW      = $clog2(Mods),
  localparam int unsigned Cols      = 2 * Nbf,
  localparam int unsigned RowW      = LogNMax - $clog2(Cols)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [3:0]                      log_n_i,
  input  logic                            flush_i,
  // commands
  input  logic [1:0]                      cmd_valid_i,
  output logic [1:0]                      cmd_ready_o,
  input  logic [1:0]                      cmd_inverse_i,
  input  logic [1:0]                      cmd_bank_i,
  input  logic [1:0][ModW-1:0]            cmd_mod_i,
  input  logic [1:0]                      cmd_gang_i,    // the same command to both lanes
  input  logic [1:0]                      cmd_roots_i,
  // head
  output logic [1:0]                      head_valid_o,
  output logic [1:0]                      head_bank_o,
  input  logic [1:0]                      head_grant_i,
  output logic [1:0]                      started_o,
  output logic [1:0]                      skipped_o,
  // a transform has read its last row: what goes through the rows in order may follow
  output logic [1:0]                      pass_o,
  output logic [1:0]                      pass_bank_o,
  // end of a transform, with its last write
  output logic [1:0]                      done_o,
  output logic [1:0]                      done_bank_o,
  // status and counters
  output logic [1:0]                      busy_o,
  output logic [1:0]                      wait_ticket_o,   // free, no grant
  output logic [1:0]                      wait_twiddle_o,  // free, granted, no twiddles
  // modulus table, one cycle
  output logic [1:0][ModW-1:0]            tab_mod_o,
  output logic [1:0][3:0]                 tab_root_o,
  input  logic [1:0][W-1:0]               tab_q_i,
  input  logic [1:0][W+1:0]               tab_aux_i,
  input  logic [1:0][W-1:0]               tab_root_i,
  // banks
  output logic [1:0]                      rd_en_o,
  output logic [1:0]                      rd_bank_o,
  output logic [1:0][RowW-1:0]            rd_row_o,
  input  logic [1:0][Cols-1:0][W-1:0]     rd_data_i,
  output logic [1:0]                      wr_en_o,
  output logic [1:0]                      wr_bank_o,
  output logic [1:0][RowW-1:0]            wr_row_o,
  output logic [1:0][Cols-1:0][W-1:0]     wr_data_o
);

  logic [1:0]                 head_gang, head_ready, hold;
  logic [1:0][Nbf-1:0][W-1:0] in_give, out_give;

  // A ganged head waits until both lanes could start.
  for (genvar i = 0; i < 2; i++) begin : g_hold
    assign hold[i] = head_gang[i] && !(head_gang[1-i] && head_ready[1-i] && head_grant_i[1-i]);
  end

  for (genvar i = 0; i < 2; i++) begin : g_lane
    rm_ntt_lane #(
      .W          (W),
      .Nbf        (Nbf),
      .LogNMax    (LogNMax),
      .LogNMin    (LogNMin),
      .Mods       (Mods),
      .Kind       (Kind),
      .Tile       (Tile),
      .QueueDepth (QueueDepth),
      .Gang       (1'b1)
    ) i_lane (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .flush_i,
      .cmd_valid_i    (cmd_valid_i[i]),
      .cmd_ready_o    (cmd_ready_o[i]),
      .cmd_inverse_i  (cmd_inverse_i[i]),
      .cmd_bank_i     (cmd_bank_i[i]),
      .cmd_mod_i      (cmd_mod_i[i]),
      .cmd_gang_i     (cmd_gang_i[i]),
      .cmd_roots_i    (cmd_roots_i[i]),
      .head_valid_o   (head_valid_o[i]),
      .head_bank_o    (head_bank_o[i]),
      .head_grant_i   (head_grant_i[i]),
      .started_o      (started_o[i]),
      .skipped_o      (skipped_o[i]),
      .pass_o         (pass_o[i]),
      .pass_bank_o    (pass_bank_o[i]),
      .done_o         (done_o[i]),
      .done_bank_o    (done_bank_o[i]),
      .busy_o         (busy_o[i]),
      .wait_ticket_o  (wait_ticket_o[i]),
      .wait_twiddle_o (wait_twiddle_o[i]),
      .tab_mod_o      (tab_mod_o[i]),
      .tab_root_o     (tab_root_o[i]),
      .tab_q_i        (tab_q_i[i]),
      .tab_aux_i      (tab_aux_i[i]),
      .tab_root_i     (tab_root_i[i]),
      .rd_en_o        (rd_en_o[i]),
      .rd_bank_o      (rd_bank_o[i]),
      .rd_row_o       (rd_row_o[i]),
      .rd_data_i      (rd_data_i[i]),
      .wr_en_o        (wr_en_o[i]),
      .wr_bank_o      (wr_bank_o[i]),
      .wr_row_o       (wr_row_o[i]),
      .wr_data_o      (wr_data_o[i]),
      .head_gang_o    (head_gang[i]),
      .head_ready_o   (head_ready[i]),
      .head_hold_i    (hold[i]),
      .lane_i         (1'(i)),
      .in_give_o      (in_give[i]),
      .in_take_i      (in_give[1-i]),
      .out_give_o     (out_give[i]),
      .out_take_i     (out_give[1-i])
    );
  end

`ifndef SYNTHESIS
  a_together: assert property (@(posedge clk_i) disable iff (!rst_ni)
                               (started_o & head_gang) == 2'b00 || (started_o & head_gang) == 2'b11);
`endif

endmodule
