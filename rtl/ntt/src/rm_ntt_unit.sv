// rm_ntt_unit - in-place negacyclic transforms of limbs in the two banks of a lane, one row a cycle.
//
// Forward: natural to bit-reversed order (output k is the value at psi^(2 brv(k) + 1)); inverse: back,
// with 1/N folded in. Values canonical in [0, q). Equations, timing rules and proofs: rtl/ntt/README.md.
//
// Cycles       a command that starts in cycle c (started_o) requests rows in c + 1 ... c + S, S = log N *
//              ROWS + gaps, and raises done_o in c + S + L with its last write; another may start in
//              c + S. L = row_latency(M), M the latency of the multiplier.
// Commands     valid/ready into a queue of QueueDepth. The oldest that has not started is the head, in a register
//              from the second cycle after it came at the earliest; it starts in the first cycle in which the sequencer is free, a table holds its twiddles and
//              head_grant_i is high. Its twiddles are made while it waits and the one before it runs.
//              With cmd_roots_i it only has its twiddles made: it needs no grant and leaves the queue with skipped_o,
//              in the first cycle in which it is the head and a table holds them.
// Banks        a read request in one cycle, rd_data_i in the next; a row written in one cycle is seen by
//              a read request in the next. The unit never stalls its banks.
// Settings     log_n_i stands still from the first command to the end of busy_o; flush_i (while idle)
//              forgets the twiddles, after the modulus table or log_n_i has changed.
module rm_ntt_unit #(
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
  input  logic                   cmd_roots_i,     // makes twiddles, transforms nothing
  // head
  output logic                   head_valid_o,
  output logic                   head_bank_o,
  input  logic                   head_grant_i,
  output logic                   started_o,
  output logic                   skipped_o,       // the head was such a command and is done
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
  output logic [Cols-1:0][W-1:0] wr_data_o
);

  logic                  unused_gang, unused_ready;
  logic [Nbf-1:0][W-1:0] unused_in, unused_out;

  rm_ntt_lane #(
    .W          (W),
    .Nbf        (Nbf),
    .LogNMax    (LogNMax),
    .LogNMin    (LogNMin),
    .Mods       (Mods),
    .Kind       (Kind),
    .Tile       (Tile),
    .QueueDepth (QueueDepth),
    .Gang       (1'b0)
  ) i_lane (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .flush_i,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_inverse_i,
    .cmd_bank_i,
    .cmd_mod_i,
    .cmd_gang_i   (1'b0),
    .cmd_roots_i,
    .head_valid_o,
    .head_bank_o,
    .head_gang_o  (unused_gang),
    .head_ready_o (unused_ready),
    .head_grant_i,
    .head_hold_i  (1'b0),
    .started_o,
    .skipped_o,
    .pass_o,
    .pass_bank_o,
    .done_o,
    .done_bank_o,
    .busy_o,
    .wait_ticket_o,
    .wait_twiddle_o,
    .tab_mod_o,
    .tab_root_o,
    .tab_q_i,
    .tab_aux_i,
    .tab_root_i,
    .rd_en_o,
    .rd_bank_o,
    .rd_row_o,
    .rd_data_i,
    .wr_en_o,
    .wr_bank_o,
    .wr_row_o,
    .wr_data_o,
    .lane_i       (1'b0),
    .in_give_o    (unused_in),
    .in_take_i    ('0),
    .out_give_o   (unused_out),
    .out_take_i   ('0)
  );

endmodule
