// A rm_gaussian_lane whose sample is bits of its word, in the lane's time, and that needs no more bits: what the proof of timing puts in
// its place. Words are any, so every sequence of samples that a lane gives is one of these.
module rm_gaussian_lane (
  input  logic                            clk_i,
  input  logic [63:0]                     word_i,
  output logic                            tie_o,
  output logic                            negative_o,
  output logic [4:0]                      magnitude_o,
  output logic [rm_sampler_pkg::SampleW-1:0] sample_o
);

  logic [3:0][12:0] late_q;
  always_ff @(posedge clk_i) begin : p_late
    late_q <= {late_q[2:0], word_i[12:0]};
  end
  assign {negative_o, magnitude_o, sample_o} = late_q[3];
  assign tie_o = 1'b0;
  logic unused;
  assign unused = ^word_i[63:13];

endmodule
