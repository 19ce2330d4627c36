// core_bench - rm_core_engine with control and status as plain ports for the C++ harness.
module core_bench
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned Nbf      = 2,
  parameter int unsigned LogNMax  = 8,
  parameter int unsigned LogNMin  = 4,
  parameter int unsigned Mods     = 16,
  parameter int unsigned Kind     = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile     = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned AxiDataW = 512,
  localparam int unsigned Cols    = 2 * Nbf,
  localparam int unsigned RowW    = LogNMax - $clog2(Cols)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 start_i,
  input  logic                                 soft_reset_i,
  input  logic [AddrW-1:0]                     program_addr_i,
  input  logic [LogNW-1:0]                     log_n_i,
  output logic                                 busy_o,
  output logic                                 done_o,
  output logic                                 error_o,
  output logic                                 refused_o,
  output logic [7:0]                           error_code_o,
  output logic [31:0]                          error_pc_o,
  output logic [NumCounters-1:0][CounterW-1:0] counters_o,
  input  logic                                 mod_we_i,
  input  logic [ModIdxW-1:0]                   mod_index_i,
  input  logic [ModFieldW-1:0]                 mod_field_i,
  input  logic [63:0]                          mod_data_i,
  output logic                                 fetch_start_o,
  output logic [AddrW-1:0]                     fetch_addr_o,
  output logic                                 fetch_stop_o,
  input  logic                                 fetch_idle_i,
  input  logic                                 instr_valid_i,
  output logic                                 instr_ready_o,
  input  logic [255:0]                         instr_data_i,
  input  logic                                 instr_err_i,
  output logic                                 rd_req_valid_o,
  input  logic                                 rd_req_ready_i,
  output logic [AddrW-1:0]                     rd_req_addr_o,
  output logic [RowW:0]                        rd_req_rows_o,
  input  logic                                 rd_row_valid_i,
  output logic                                 rd_row_ready_o,
  input  logic [Cols-1:0][W-1:0]               rd_row_data_i,
  input  logic                                 rd_err_i,
  input  logic                                 rd_idle_i,
  input  logic                                 rd_beat_i,
  output logic                                 wr_req_valid_o,
  input  logic                                 wr_req_ready_i,
  output logic [AddrW-1:0]                     wr_req_addr_o,
  output logic [RowW:0]                        wr_req_rows_o,
  output logic                                 wr_row_valid_o,
  input  logic                                 wr_row_ready_i,
  output logic [Cols-1:0][W-1:0]               wr_row_data_o,
  input  logic                                 wr_done_i,
  input  logic                                 wr_err_i,
  input  logic                                 wr_idle_i,
  input  logic                                 wr_beat_i
);

  core_status_t status;

  assign busy_o       = status.busy;
  assign done_o       = status.done;
  assign error_o      = status.error;
  assign refused_o    = status.refused;
  assign error_code_o = status.error_code;
  assign error_pc_o   = status.error_pc;
  assign counters_o   = status.counters;

  rm_core_engine #(
    .W       (W),
    .Nbf     (Nbf),
    .LogNMax (LogNMax),
    .LogNMin (LogNMin),
    .Mods    (Mods),
    .Kind    (Kind),
    .Tile    (Tile),
    .AxiDataW(AxiDataW)
  ) i_dut (
    .ctrl_i('{start: start_i, soft_reset: soft_reset_i, program_addr: program_addr_i, log_n: log_n_i}),
    .status_o(status),
    .*
  );

endmodule
