// rm_inplace_shift - a mark of Cycles cycles ago; none after reset.
module rm_inplace_shift #(
  parameter int unsigned Cycles = 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic mark_i,
  output logic mark_o
);

  logic [Cycles:0] line;

  assign line[0] = mark_i;
  assign mark_o  = line[Cycles];

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_shift
    if (!rst_ni) begin
      line[Cycles:1] <= '0;
    end else begin
      line[Cycles:1] <= line[Cycles-1:0];
    end
  end

endmodule
