// rm_prng_pack - words of a row that are kept move together at its front, in their order.
//
// Equation     word i moves down by down_i[i], the number of words before it that are not kept: layer s moves by 2^s where bit s says so.
//              Two kept words never meet, since their distance is at least the difference of what they move by. Where a word was it
//              leaves a copy; that is overwritten by the next kept word, or ends behind all of them.
// Latency      rm_prng_pkg::registers(log2 E) cycles.
module rm_prng_pack #(
  parameter int unsigned W = 36,
  parameter int unsigned E = 16
) (
  input  logic                    clk_i,
  input  logic [E-1:0]            keep_i,
  input  logic [E-1:0][$clog2(E)-1:0] down_i,
  input  logic [E-1:0][W-1:0]     row_i,
  output logic [E-1:0][W-1:0]     row_o
);

  localparam int unsigned LogE = $clog2(E);

  localparam int unsigned R    = rm_prng_pkg::registers(LogE);

  logic [R:0][E-1:0]           keep;
  logic [R:0][E-1:0][LogE-1:0] down;
  logic [R:0][E-1:0][W-1:0]    row;
  assign keep[0] = keep_i;
  assign down[0] = down_i;
  assign row[0]  = row_i;
  for (genvar r = 0; r < R; r++) begin : g_stage
    logic [E-1:0]           keep_d;
    logic [E-1:0][LogE-1:0] down_d;
    logic [E-1:0][W-1:0]    row_d;
    always_comb begin : p_layers
      keep_d = keep[r];
      down_d = down[r];
      row_d  = row[r];
      for (int unsigned s = r * rm_prng_pkg::Layers; s < LogE && s < (r + 1) * rm_prng_pkg::Layers; s++) begin
        // From the bottom, so that the place above a word is still that of the layer before.
        for (int unsigned i = 0; i < E; i++) begin
          if (i + (1 << s) < E && keep_d[LogE'(i+(1<<s))] && down_d[LogE'(i+(1<<s))][s]) begin
            keep_d[i] = 1'b1;
            down_d[i] = down_d[LogE'(i+(1<<s))];
            row_d[i]  = row_d[LogE'(i+(1<<s))];
          end
        end
      end
    end
    always_ff @(posedge clk_i) begin : p_row
      {keep[r+1], down[r+1], row[r+1]} <= {keep_d, down_d, row_d};
    end
  end
  assign row_o = row[R];
  logic unused;
  assign unused = ^{keep[R], down[R]};

endmodule
