// rm_prng_count - how many flags before each one of a row are set, and how many in all.
//
// Equation     count_o[i] = sum of flag_i[k], k < i; count_o[E] is that of all. Kogge and Stone's sums, a register every
//              rm_prng_pkg::Layers layers.
// Latency      rm_prng_pkg::registers(log2 E) cycles.
module rm_prng_count #(
  parameter int unsigned E = 16
) (
  input  logic                      clk_i,
  input  logic [E-1:0]              flag_i,
  output logic [E:0][$clog2(E+1)-1:0] count_o
);

  localparam int unsigned LogE = $clog2(E);
  localparam int unsigned Cw   = $clog2(E + 1);

  localparam int unsigned R    = rm_prng_pkg::registers(LogE);

  // sum[r][i]: flags i - 2^s + 1 to i, of the s layers before register r.
  logic [R:0][E-1:0][Cw-1:0] sum;
  for (genvar i = 0; i < E; i++) begin : g_flag
    assign sum[0][i] = Cw'(flag_i[i]);
  end
  for (genvar r = 0; r < R; r++) begin : g_stage
    logic [E-1:0][Cw-1:0] sum_d;
    always_comb begin : p_layers
      sum_d = sum[r];
      for (int unsigned s = r * rm_prng_pkg::Layers; s < LogE && s < (r + 1) * rm_prng_pkg::Layers; s++) begin
        // From the top, so that a word's sum is still that of the layer before.
        for (int unsigned i = E - 1; i >= (1 << s); i--) begin
          sum_d[i] = sum_d[i] + sum_d[i-(1<<s)];
        end
      end
    end
    always_ff @(posedge clk_i) begin : p_sum
      sum[r+1] <= sum_d;
    end
  end
  assign count_o = {sum[R], {Cw{1'b0}}};

endmodule
