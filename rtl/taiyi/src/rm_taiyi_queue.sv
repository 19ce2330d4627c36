// rm_taiyi_queue - the issues of one unit: each leaves Lead cycles before its cycle of the schedule.
//
// Schedule     words in order of their cycles, two cycles apart at least at the first. The host writes them, and how many there are.
// Timing       fire_o in the cycle in which now_i = cycle - Lead, with issue_o.
// late_o       the cycle of the next issue has passed: the schedule is out of order, or has two issues in one cycle.
module rm_taiyi_queue
  import rm_taiyi_pkg::*;
#(
  parameter int unsigned Depth = 64,
  parameter int unsigned Lead  = 1,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              cfg_we_i,
  input  logic              cfg_count_we_i,
  input  logic [AddrW-1:0]  cfg_addr_i,
  input  issue_t            cfg_data_i,
  input  logic              begin_i,      // a run begins: from the first word on
  input  logic              run_i,
  input  logic [CycleW-1:0] now_i,
  output logic              fire_o,
  output issue_t            issue_o,
  output logic              empty_o,
  output logic              late_o
);

  issue_t            mem [Depth];
  issue_t            issue_q;
  logic [AddrW:0]    count_q, next_q;
  logic              have_q, read;
  logic [CycleW-1:0] left;

  assign left    = issue_q.cycle - (now_i + CycleW'(Lead));
  assign fire_o  = run_i && have_q && left == '0;
  assign late_o  = run_i && have_q && left[CycleW-1];
  assign issue_o = issue_q;
  assign read    = run_i && next_q != count_q && (!have_q || fire_o);
  assign empty_o = next_q == count_q && !have_q;

  always_ff @(posedge clk_i) begin : p_memory
    if (cfg_we_i) begin
      mem[cfg_addr_i] <= cfg_data_i;
    end
    if (read) begin
      issue_q <= mem[next_q[AddrW-1:0]];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      count_q <= '0;
      next_q  <= '0;
      have_q  <= 1'b0;
    end else begin
      if (cfg_count_we_i) begin
        count_q <= cfg_data_i[AddrW:0];
      end
      if (begin_i) begin
        next_q <= '0;
        have_q <= 1'b0;
      end else if (read) begin
        next_q <= next_q + 1'b1;
        have_q <= 1'b1;
      end else if (fire_o) begin
        have_q <= 1'b0;
      end
    end
  end

endmodule
