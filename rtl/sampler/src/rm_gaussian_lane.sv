// rm_gaussian_lane - one sample of the discrete Gaussian from a word of 64 bits, by comparison with the whole table.
//
// Equation     Bit 63 is the sign; magnitude_o is the number of table entries whose upper 63 bits are not above bits 62 ... 0.
//              tie_o: these equal an entry's, so 64 more bits decide (rm_gaussian_tie). That has probability 30 / 2^63.
//              sample_o is the magnitude with its sign, in two's complement.
// Latency      4 cycles, one word a cycle. Every entry is compared with, whatever the word is.
module rm_gaussian_lane (
  input  logic                            clk_i,
  input  logic [63:0]                     word_i,
  output logic                            tie_o,
  output logic                            negative_o,
  output logic [4:0]                      magnitude_o,
  output logic [rm_sampler_pkg::SampleW-1:0] sample_o
);

  import rm_sampler_pkg::*;

  logic [63:0]      word_q;
  logic [Upper-1:0] above, above_q, equal;
  logic             tie_q, tie_sum_q, sign_q, sign_sum_q;
  logic [4:0]       sum, sum_q;

  for (genvar k = 0; k < Upper; k++) begin : g_entry
    assign above[k] = word_q[62:0] >= Table[k][126:64];
    assign equal[k] = word_q[62:0] == Table[k][126:64];
  end
  always_comb begin : p_sum
    sum = '0;
    for (int unsigned k = 0; k < Upper; k++) begin
      sum = sum + 5'(above_q[k]);
    end
  end

  always_ff @(posedge clk_i) begin : p_stages
    word_q      <= word_i;
    above_q     <= above;
    tie_q       <= equal != '0;
    sign_q      <= word_q[63];
    sum_q       <= sum;
    tie_sum_q   <= tie_q;
    sign_sum_q  <= sign_q;
    tie_o       <= tie_sum_q;
    negative_o  <= sign_sum_q;
    magnitude_o <= sum_q;
    sample_o    <= sign_sum_q ? SampleW'(0) - SampleW'(sum_q) : SampleW'(sum_q);
  end

endmodule
