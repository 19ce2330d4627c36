// ntt_pair_bench - both lanes as their harness sees them: with the latency of the multiplier they were built with.
module ntt_pair_bench #(
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
  output logic [7:0]                      mul_latency_o,
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
  output logic [1:0]                      wait_twiddle_o,  // free, granted, no twiddle factors
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

  assign mul_latency_o = 8'(rm_modmul_pkg::latency(Kind, W));

  rm_ntt_pair #(
    .W          (W),
    .Nbf        (Nbf),
    .LogNMax    (LogNMax),
    .LogNMin    (LogNMin),
    .Mods       (Mods),
    .Kind       (Kind),
    .Tile       (Tile),
    .QueueDepth (QueueDepth)
  ) i_pair (.*);

endmodule
