// ks_sums_bench - rm_ks_marks with one rm_ks_bank, wired as in rm_pipelined_key_switch.
module ks_sums_bench #(
  parameter int unsigned W       = 16,
  parameter int unsigned Kind    = rm_modmul_pkg::KindP2,
  parameter int unsigned P       = 2,
  parameter int unsigned LogRows = 5
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [4:0]                log_rows_i,
  input  logic                      cfg_we_i,
  input  logic [rm_ks_pkg::FieldW-1:0] cfg_field_i,
  input  logic [W+1:0]              cfg_data_i,
  input  logic                      ahead_i,
  input  logic [rm_ks_pkg::InfoW-1:0]  info_i,
  input  logic [P-1:0][W-1:0]       row_i,
  input  logic                      key_valid_i,
  input  logic [1:0][P-1:0][W-1:0]  key_i,
  input  logic                      addend_valid_i,
  input  logic [P-1:0][W-1:0]       addend_i,
  output logic                      ask_o,
  output logic [LogRows-1:0]        ask_time_o,
  output logic                      sum_o,
  output logic [LogRows-1:0]        sum_time_o,
  output logic                      write_o,
  output logic [LogRows-1:0]        write_time_o,
  output logic [rm_ks_pkg::InfoW-1:0]  write_info_o,
  output logic                      write_bad_o,
  output logic                      finished_o,
  output logic                      slot_end_o,
  output logic [P-1:0][W-1:0]       result_o
);

  rm_ks_pkg::info_t       ask_info, row_info, sum_info, add_info, write_info;
  logic [P-1:0][W-1:0] unused_row;
  assign write_info_o = write_info;

  rm_ks_marks #(.W(W), .Kind(Kind), .LogRows(LogRows)) i_marks (
    .clk_i, .rst_ni, .log_rows_i, .ahead_i, .info_i, .ask_o, .ask_time_o, .ask_info_o(ask_info), .row_info_o(row_info),
    .key_valid_i, .sum_o, .sum_time_o, .sum_info_o(sum_info), .add_info_o(add_info), .addend_valid_i, .write_o,
    .write_time_o, .write_info_o(write_info), .write_bad_o, .finished_o, .slot_end_o
  );

  rm_ks_bank #(.W(W), .Kind(Kind), .P(P), .LogRows(LogRows)) i_bank (
    .clk_i, .cfg_we_i, .cfg_field_i, .cfg_data_i,
    .down_re_i(ask_o && ask_info.down), .down_comp_i(ask_info.comp), .down_time_i(ask_time_o), .down_row_o(unused_row),
    .mode_down_i(row_info.down), .mode_comp_i(row_info.comp), .row_i, .key_i,
    .sum_re_i(sum_o && !sum_info.down), .sum_time_i(sum_time_o),
    .add_down_i(add_info.down), .add_first_i(add_info.first), .addend_i,
    .write_i(write_o && !write_info.down), .write_last_i(write_info.last), .write_time_i(write_time_o), .result_o
  );

endmodule
