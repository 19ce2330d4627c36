// rm_delay_line - data_o is data_i of Cycles cycles ago. No reset: shift-register LUTs where there are any.
module rm_delay_line #(
  parameter int unsigned Width  = 1,
  parameter int unsigned Cycles = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);

  if (Cycles == 0) begin : g_wire
    assign data_o = data_i;
    logic unused_clk;
    assign unused_clk = clk_i;
  end else begin : g_regs
    logic [Width-1:0] line_q [Cycles];
    always_ff @(posedge clk_i) begin : p_shift
      line_q[0] <= data_i;
      for (int unsigned i = 1; i < Cycles; i++) begin
        line_q[i] <= line_q[i-1];
      end
    end
    assign data_o = line_q[Cycles-1];
  end

endmodule
