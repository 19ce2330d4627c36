// rm_inplace_route - rows between lanes and banks: word l goes to place l xor x. Combinational, its own inverse.
module rm_inplace_route #(
  parameter int unsigned W = 54
) (
  input  logic [3:0]         x_i,
  input  logic [15:0][W-1:0] row_i,
  output logic [15:0][W-1:0] row_o
);

  logic [4:0][15:0][W-1:0] level;

  assign level[0] = row_i;
  assign row_o    = level[4];
  for (genvar b = 0; b < 4; b++) begin : g_bit
    for (genvar l = 0; l < 16; l++) begin : g_lane
      assign level[b+1][l] = x_i[b] ? level[b][l^(1<<b)] : level[b][l];
    end
  end

endmodule
