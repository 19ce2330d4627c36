// gaussian_tie - decides a sample whose upper half equals that of a table entry, by its lower 64 bits.
//
// Equation     magnitude_i entries have upper halves not above the sample's; the last of these equals it, and if it is entry
//              Upper - 1, so do all that follow. The magnitude is that of the entries not above all 127 bits.
// Latency      start_i to done_o: 14 cycles, whatever the bits are: an entry a cycle.
module gaussian_tie (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            start_i,
  input  logic                            negative_i,
  input  logic [4:0]                      magnitude_i,
  input  logic [63:0]                     lower_i,
  output logic                            done_o,
  output logic [sampler_pkg::SampleW-1:0] sample_o
);

  import sampler_pkg::*;

  localparam int unsigned Turns = Entries - Upper + 1;   // entries with the upper half of all ones

  logic [3:0]  turn_d, turn_q;
  logic [5:0]  entry_d, entry_q, magnitude_d, magnitude_q;
  logic [63:0] lower_q, bound;
  logic        negative_q, many_q, counts;

  always_comb begin : p_bound
    bound = '1;
    for (int unsigned k = 0; k < Entries; k++) begin
      if (entry_q == 6'(k)) begin
        bound = Table[k][63:0];
      end
    end
  end
  // The first entry counts always, those after it only where they have the same upper half.
  assign counts = (turn_q == 4'(Turns) || many_q) && lower_q >= bound;

  always_comb begin : p_next
    turn_d      = turn_q;
    entry_d     = entry_q;
    magnitude_d = magnitude_q;
    if (start_i) begin
      turn_d      = 4'(Turns);
      entry_d     = {1'b0, magnitude_i} - 6'd1;
      magnitude_d = {1'b0, magnitude_i} - 6'd1;
    end else if (turn_q != '0) begin
      turn_d      = turn_q - 1'b1;
      entry_d     = entry_q + 1'b1;
      magnitude_d = magnitude_q + 6'(counts);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      turn_q      <= '0;
      entry_q     <= '0;
      magnitude_q <= '0;
      lower_q     <= '0;
      negative_q  <= 1'b0;
      many_q      <= 1'b0;
      done_o      <= 1'b0;
    end else begin
      turn_q      <= turn_d;
      entry_q     <= entry_d;
      magnitude_q <= magnitude_d;
      done_o      <= turn_q == 4'd1;
      if (start_i) begin
        lower_q    <= lower_i;
        negative_q <= negative_i;
        many_q     <= magnitude_i == 5'(Upper);
      end
    end
  end
  assign sample_o = negative_q ? SampleW'(0) - SampleW'(magnitude_q) : SampleW'(magnitude_q);

endmodule
