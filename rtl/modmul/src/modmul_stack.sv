// modmul_stack - sum of addends, each Step bits above the one before, combinational.
//
// Equation     s_o = sum over i < Num of x_i[i] * 2^(Step * i)
// Intervals    Addends of Width bits, signed or not. The caller guarantees that the sum of the first i + 1 of them,
//              over 2^(Step * i), fits Width bits of that kind, which holds for pieces of one product. The low Step
//              bits of each sum are final, so every adder has Width bits.
module modmul_stack #(
  parameter int unsigned Num    = 2,
  parameter int unsigned Width  = 43,
  parameter int unsigned Step   = 17,
  parameter bit          Signed = 1'b0,
  localparam int unsigned WidthOut = Width + Step * (Num - 1)
) (
  input  logic [Num-1:0][Width-1:0] x_i,
  output logic [WidthOut-1:0]       s_o
);

  logic [Num-1:0][Width-1:0] sum;

  assign sum[0] = x_i[0];
  for (genvar i = 1; i < Num; i++) begin : g_add
    logic [Width-1:0] below;
    assign below  = {{Step{Signed & sum[i-1][Width-1]}}, sum[i-1][Width-1:Step]};
    assign sum[i] = below + x_i[i];
    assign s_o[Step*(i-1)+:Step] = sum[i-1][Step-1:0];
  end
  assign s_o[WidthOut-1:Step*(Num-1)] = sum[Num-1];

endmodule
