// rm_pool_marks - which row stands where on its way to the sums, and of which task.
//
// Timing       first_i and ask_* stand in the cycle before a task's first row, r - 1; row_* in r, sum_* in r + 1 + M, want_* in
//              r + 2 + M, add_* in r + 3 + M, write_* in r + 5 + M. rm_ks_products has the row in r + 1.
module rm_pool_marks #(
  parameter int unsigned M       = 11,
  parameter int unsigned LogRows = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_rows_i,
  input  logic               first_i,
  input  rm_pool_pkg::task_t    task_i,
  output logic               ask_o,
  output logic [LogRows-1:0] ask_time_o,
  output rm_pool_pkg::task_t    ask_task_o,
  output logic               row_o,
  output rm_pool_pkg::task_t    row_task_o,
  output logic               sum_o,
  output logic [LogRows-1:0] sum_time_o,
  output rm_pool_pkg::task_t    sum_task_o,
  output logic               want_o,
  output rm_pool_pkg::task_t    want_task_o,
  output logic               add_o,
  output rm_pool_pkg::task_t    add_task_o,
  output logic               write_o,
  output logic [LogRows-1:0] write_time_o,
  output rm_pool_pkg::task_t    write_task_o
);

  import rm_pool_pkg::*;

  localparam int unsigned Width = LogRows + TaskW;

  logic [LogRows-1:0] row_time, want_time, add_time;

  rm_stream_clock #(.TimeW(LogRows), .ModW(TaskW)) i_clock (
    .clk_i, .rst_ni, .log_rows_i, .first_i, .mod_i(task_i), .valid_o(ask_o), .time_o(ask_time_o), .mod_o(ask_task_o)
  );
  rm_inplace_shift #(.Cycles(1)) i_row (.clk_i, .rst_ni, .mark_i(ask_o), .mark_o(row_o));
  rm_inplace_shift #(.Cycles(M + 1)) i_sum (.clk_i, .rst_ni, .mark_i(row_o), .mark_o(sum_o));
  rm_inplace_shift #(.Cycles(1)) i_want (.clk_i, .rst_ni, .mark_i(sum_o), .mark_o(want_o));
  rm_inplace_shift #(.Cycles(1)) i_add (.clk_i, .rst_ni, .mark_i(want_o), .mark_o(add_o));
  rm_inplace_shift #(.Cycles(2)) i_write (.clk_i, .rst_ni, .mark_i(add_o), .mark_o(write_o));

  rm_delay_line #(.Width(Width), .Cycles(1)) i_row_task (
    .clk_i, .data_i({ask_time_o, ask_task_o}), .data_o({row_time, row_task_o})
  );
  rm_delay_line #(.Width(Width), .Cycles(M + 1)) i_sum_task (
    .clk_i, .data_i({row_time, row_task_o}), .data_o({sum_time_o, sum_task_o})
  );
  rm_delay_line #(.Width(Width), .Cycles(1)) i_want_task (
    .clk_i, .data_i({sum_time_o, sum_task_o}), .data_o({want_time, want_task_o})
  );
  rm_delay_line #(.Width(Width), .Cycles(1)) i_add_task (
    .clk_i, .data_i({want_time, want_task_o}), .data_o({add_time, add_task_o})
  );
  rm_delay_line #(.Width(Width), .Cycles(2)) i_write_task (
    .clk_i, .data_i({add_time, add_task_o}), .data_o({write_time_o, write_task_o})
  );

endmodule
