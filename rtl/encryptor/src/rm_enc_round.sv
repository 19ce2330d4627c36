// rm_enc_round - what the division by p leaves of a row of x modulo p, for all limbs.
//
// Equation     With d = [x + e]_p the centred residue, |d| <= (p - 1)/2, and e - d = -x or p - x: magnitude and sign of e - d, below
//              2^W. So the error adds to what is divided, and takes itself away from the rest, in one comparison:
//              e - d = p - x where x + e > (p - 1)/2, else -x.
// Intervals    x canonical, |e| <= 42 < p/4.
// Latency      rm_enc_pkg::RoundLatency, a row a cycle.
module rm_enc_round #(
  parameter int unsigned W       = 54,
  parameter int unsigned P       = 2,
  localparam int unsigned SampleW = rm_sampler_pkg::SampleW
) (
  input  logic                           clk_i,
  input  logic [W-1:0]                   p_i,
  input  logic [1:0][P-1:0][W-1:0]       row_i,
  input  logic [1:0][P-1:0][SampleW-1:0] sample_i,
  output logic [1:0][P-1:0][W-1:0]       magnitude_o,
  output logic [1:0][P-1:0]              negative_o
);

  for (genvar c = 0; c < 2; c++) begin : g_part
    for (genvar l = 0; l < P; l++) begin : g_lane
      logic signed [W+1:0] sum_q, half;
      logic [W-1:0]        row_q, row_late_q;
      logic                up_q;
      assign half = signed'({3'b000, p_i[W-1:1]});
      always_ff @(posedge clk_i) begin : p_stages
        sum_q             <= signed'({2'b00, row_i[c][l]})
            + signed'({{(W + 2 - SampleW) {sample_i[c][l][SampleW-1]}}, sample_i[c][l]});
        row_q             <= row_i[c][l];
        up_q              <= sum_q > half;
        row_late_q        <= row_q;
        magnitude_o[c][l] <= up_q ? p_i - row_late_q : row_late_q;
        negative_o[c][l]  <= !up_q;
      end
    end
  end

endmodule
