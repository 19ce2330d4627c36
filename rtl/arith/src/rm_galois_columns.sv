// rm_galois_columns - turns the columns of a row: column h of the result is column h' of the input,
//                  brv(h') = g brv(h) + turn mod 2Nbf, brv reversing ColW bits.
//
// Method       v = g u + turn mod 2^c is a tree automorphism: bit i of v is bit i of u, exchanged or not as bit i
//              of g (u mod 2^i) + turn says. So c layers of two-way selectors do it, 2Nbf - 1 exchange bits in
//              all, node (i, x) at position 2^i + x - 1 of swap_i (made by rm_galois_swaps).
// Timing       combinational.
module rm_galois_columns #(
  parameter int unsigned W     = 54,
  parameter int unsigned Nbf   = 4,
  localparam int unsigned Cols = 2 * Nbf,
  localparam int unsigned ColW = $clog2(Cols)
) (
  input  logic [Cols-2:0]        swap_i,
  input  logic [Cols-1:0][W-1:0] data_i,
  output logic [Cols-1:0][W-1:0] data_o
);

  logic [ColW:0][Cols-1:0][W-1:0] layer;

  assign layer[0] = data_i;
  for (genvar i = 0; i < ColW; i++) begin : g_layer
    for (genvar h = 0; h < Cols; h++) begin : g_column
      // u mod 2^i, u = brv(h): the i highest bits of h, reversed
      localparam int unsigned X = rev(h, i);
      assign layer[i+1][h] = swap_i[(1<<i)+X-1] ? layer[i][h^(1<<(ColW-1-i))] : layer[i][h];
    end
  end
  assign data_o = layer[ColW];

  // The low `bits` bits of the reversal of h; for constants only.
  function automatic int unsigned rev(int unsigned h, int unsigned bits);
    rev = 0;
    for (int unsigned b = 0; b < bits; b++) begin
      rev |= ((h >> (ColW - 1 - b)) & 1) << b;
    end
  endfunction

endmodule
