// ntt_bench - the unit as its harness sees it: with the latency of the multiplier it was built with.
module ntt_bench #(
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
  output logic [7:0]             mul_latency_o,
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
  input  logic                   cmd_roots_i,
  // head
  output logic                   head_valid_o,
  output logic                   head_bank_o,
  input  logic                   head_grant_i,
  output logic                   started_o,
  output logic                   skipped_o,
  // a transform has read its last row: what goes through the rows in order may follow
  output logic                   pass_o,
  output logic                   pass_bank_o,
  // end of a transform, with its last write
  output logic                   done_o,
  output logic                   done_bank_o,
  // status and counters
  output logic                   busy_o,
  output logic                   wait_ticket_o,   // free, no grant
  output logic                   wait_twiddle_o,  // free, granted, no twiddle factors
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

  assign mul_latency_o = 8'(rm_modmul_pkg::latency(Kind, W));

  rm_ntt_unit #(
    .W          (W),
    .Nbf        (Nbf),
    .LogNMax    (LogNMax),
    .LogNMin    (LogNMin),
    .Mods       (Mods),
    .Kind       (Kind),
    .Tile       (Tile),
    .QueueDepth (QueueDepth)
  ) i_unit (.*);

endmodule
