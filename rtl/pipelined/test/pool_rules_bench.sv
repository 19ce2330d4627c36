// pool_rules_bench - the timetable and the rules of a pool without its units, which the harness stands for.
module pool_rules_bench #(
  parameter int unsigned W       = 20,
  parameter int unsigned Kind    = 0,
  parameter int unsigned Limbs   = 4,
  parameter int unsigned Special = 2,
  parameter int unsigned Alpha   = 2,
  parameter int unsigned Digits  = 4,
  parameter int unsigned Units   = 3,
  parameter int unsigned Feeds   = 2,
  parameter int unsigned Sums    = 14,
  parameter int unsigned Depth   = 128,
  parameter int unsigned LogNMax = 10,
  localparam int unsigned PtrW   = $clog2(Depth),
  localparam int unsigned TagW   = rm_pool_pkg::TagW
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_rows_i,
  input  logic [4:0]         level_i,
  input  logic [2:0]         special_i,
  input  logic [2:0]         alpha_i,
  input  logic [PtrW:0]      length_i,
  input  logic               table_we_i,
  input  logic [PtrW-1:0]    table_index_i,
  input  rm_pool_pkg::entry_t table_row_i,
  input  logic               switch_valid_i,
  output logic               switch_ready_o,
  output logic [TagW-1:0]    switch_tag_o,
  output logic               task_valid_o,
  output rm_pool_pkg::entry_t task_o,
  output logic [TagW-1:0]    task_tag_o,
  output logic               bad_task_o,
  output logic               no_take_o,
  output logic               moves_o,
  output logic               idle_o,
  output logic               busy_o,
  input  logic [Units-1:0]   unit_ready_i,
  output logic               promise_valid_o,
  input  logic               promise_ready_i,
  output logic               start_o,
  output rm_pool_pkg::task_t start_task_o,
  input  logic               leave_i,
  input  rm_pool_pkg::task_t leave_task_i,
  input  logic [Feeds-1:0]   finished_i,
  input  rm_pool_pkg::task_t [Feeds-1:0] finished_task_i,
  input  logic               part_done_i,
  input  logic [TagW-1:0]    part_tag_i,
  output logic               done_o
);

  logic bad_set;

  rm_pool_table #(.Depth(Depth)) i_table (
    .clk_i, .rst_ni, .table_we_i, .table_index_i, .table_row_i, .length_i, .hold_i(bad_set || no_take_o),
    .parts_i({level_i, 1'b0}), .switch_valid_i, .switch_ready_o, .switch_tag_o, .task_valid_o, .task_o, .task_tag_o,
    .task_ready_i(start_o), .part_done_i, .part_tag_i, .done_o, .idle_o, .busy_o, .moves_o, .no_take_o
  );
  rm_pool_rules #(
    .Limbs(Limbs), .Special(Special), .Alpha(Alpha), .Digits(Digits), .Units(Units), .Feeds(Feeds), .Sums(Sums),
    .Late(rm_modmul_pkg::latency(Kind, W) + 2)
  ) i_rules (
    .clk_i, .rst_ni, .log_rows_i, .level_i, .special_i, .alpha_i, .bad_set_o(bad_set), .task_valid_i(task_valid_o),
    .task_i(task_o), .task_tag_i(task_tag_o), .bad_task_o, .unit_ready_i, .promise_valid_o, .promise_ready_i, .start_o,
    .start_task_o, .leave_i, .leave_task_i, .finished_i, .finished_task_i, .ended_i(done_o), .ended_tag_i(part_tag_i)
  );

endmodule
