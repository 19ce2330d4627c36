// rm_prng_turn - a row turned up by a number of places.
//
// Equation     row_o[(i + by_i) mod E] = row_i[i]. by_i is that of the row's own cycle.
// Latency      rm_prng_pkg::registers(log2 E) cycles.
module rm_prng_turn #(
  parameter int unsigned W = 36,
  parameter int unsigned E = 16
) (
  input  logic                  clk_i,
  input  logic [$clog2(E)-1:0]  by_i,
  input  logic [E-1:0][W-1:0]   row_i,
  output logic [E-1:0][W-1:0]   row_o
);

  localparam int unsigned LogE = $clog2(E);

  localparam int unsigned R    = rm_prng_pkg::registers(LogE);

  logic [R:0][LogE-1:0]     by;
  logic [R:0][E-1:0][W-1:0] row;
  assign by[0]  = by_i;
  assign row[0] = row_i;
  for (genvar r = 0; r < R; r++) begin : g_stage
    logic [E-1:0][W-1:0] row_d;
    always_comb begin : p_layers
      row_d = row[r];
      for (int unsigned s = r * rm_prng_pkg::Layers; s < LogE && s < (r + 1) * rm_prng_pkg::Layers; s++) begin
        if (by[r][s]) begin
          row_d = (row_d << (W << s)) | (row_d >> ((E - (1 << s)) * W));
        end
      end
    end
    always_ff @(posedge clk_i) begin : p_row
      {by[r+1], row[r+1]} <= {by[r], row_d};
    end
  end
  assign row_o = row[R];
  logic unused;
  assign unused = ^by[R];

endmodule
