// rm_stream_gate: starts are N/P cycles apart at least, one that waits is taken N/P cycles after the last at most, and none of a
// size that was not built. For every number of rows up to 16.
module fv_stream_gate (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [4:0] log_rows_i,
  input logic       bad_size_i,
  input logic       start_valid_i
);

  localparam int unsigned LogRows = 4;

  logic start_ready_o, start_o, busy_o;
  rm_stream_gate #(
    .LogRows (LogRows),
    .Polys   (4)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_rows_i,
    .bad_size_i,
    .start_valid_i,
    .start_ready_o,
    .start_o,
    .last_i (1'b0),
    .busy_o
  );

  // Cycles since the last start, none yet: as many as there can be rows.
  logic [LogRows:0] since_q;
  logic [4:0]       log_rows_q;
  logic             bad_q, run_q;
  initial run_q = 1'b0;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_since
    if (!rst_ni) begin
      since_q <= (LogRows + 1)'(1 << LogRows);
    end else if (start_o) begin
      since_q <= (LogRows + 1)'(1);
    end else if (!since_q[LogRows]) begin
      since_q <= since_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin : p_still
    run_q      <= 1'b1;
    log_rows_q <= log_rows_i;
    bad_q      <= bad_size_i;
  end

  logic due;
  assign due = since_q >= ((LogRows + 1)'(1) << log_rows_i);
  always_comb begin : p_check
    assume (log_rows_i >= 5'd1 && log_rows_i <= 5'(LogRows));
    if (!run_q) assume (!rst_ni);
    if (run_q) assume (log_rows_i == log_rows_q && bad_size_i == bad_q);
    if (run_q && rst_ni) begin
      a_apart:  assert (!start_o || due);
      a_prompt: assert (start_ready_o == (due && !bad_size_i));
    end
  end

endmodule
