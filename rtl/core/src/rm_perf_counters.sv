// rm_perf_counters - one counter an event, cleared when a program starts, counting while it runs.
//
// Cycles       an event is counted a cycle after it happened: events come late in theirs, from all over the core.
module rm_perf_counters
  import rm_core_pkg::*;
(
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 clear_i,
  input  logic                                 enable_i,
  input  logic [NumCounters-1:0]               event_i,
  output logic [NumCounters-1:0][CounterW-1:0] count_o
);

  logic [NumCounters-1:0]               event_q;
  logic [NumCounters-1:0][CounterW-1:0] count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_event
    if (!rst_ni) begin
      event_q <= '0;
    end else begin
      event_q <= enable_i ? event_i : '0;
    end
  end

  for (genvar i = 0; i < NumCounters; i++) begin : g_counter
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_count
      if (!rst_ni) begin
        count_q[i] <= '0;
      end else if (clear_i) begin
        count_q[i] <= '0;
      end else if (event_q[i]) begin
        count_q[i] <= count_q[i] + 1'b1;
      end
    end
  end

  assign count_o = count_q;

endmodule
