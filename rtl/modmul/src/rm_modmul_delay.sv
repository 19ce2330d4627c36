// rm_modmul_delay - a value Depth cycles later. No reset, so that FPGAs make shift registers of it.
module rm_modmul_delay #(
  parameter int unsigned Width = 1,
  parameter int unsigned Depth = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] d_o
);

  if (Depth == 0) begin : g_wire
    logic unused_clk;
    assign unused_clk = clk_i;
    assign d_o = d_i;
  end else begin : g_line
    logic [Width-1:0] line_q[Depth];
    always_ff @(posedge clk_i) begin : p_line
      line_q[0] <= d_i;
      for (int unsigned i = 1; i < Depth; i++) begin
        line_q[i] <= line_q[i-1];
      end
    end
    assign d_o = line_q[Depth-1];
  end

endmodule
