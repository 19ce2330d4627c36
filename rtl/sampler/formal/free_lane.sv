// A rm_gaussian_lane whose sample is any at any time, and that needs no more bits: what the proof of timing puts in its place.
module rm_gaussian_lane (
  input  logic                            clk_i,
  input  logic [63:0]                     word_i,
  output logic                            tie_o,
  output logic                            negative_o,
  output logic [4:0]                      magnitude_o,
  output logic [rm_sampler_pkg::SampleW-1:0] sample_o
);

  (* anyseq *) logic [12:0] any;
  assign {negative_o, magnitude_o, sample_o} = any;
  assign tie_o = 1'b0;
  logic unused;
  assign unused = ^{clk_i, word_i};

endmodule
