// rm_galois_swaps - exchange bits of rm_galois_columns: there column h of the result is column h' of the input,
//                  brv(h') = g brv(h) + turn mod 2Nbf, brv reversing ColW bits.
//
// Method       v = g u + turn mod 2^c is a tree automorphism: bit i of v is bit i of u, exchanged or not as bit i
//              of g (u mod 2^i) + turn says. So c layers of two-way selectors do it, 2Nbf - 1 exchange bits in
//              all, node (i, x) at position 2^i + x - 1 of swap_o.
// Timing       combinational; register swap_o.
module rm_galois_swaps #(
  parameter int unsigned Nbf   = 4,
  localparam int unsigned Cols = 2 * Nbf,
  localparam int unsigned ColW = $clog2(Cols)
) (
  input  logic            permute_i,
  input  logic [ColW-1:0] galois_i,
  input  logic [ColW-1:0] turn_i,
  output logic [Cols-2:0] swap_o
);

  for (genvar i = 0; i < ColW; i++) begin : g_layer
    for (genvar x = 0; x < (1 << i); x++) begin : g_node
      logic [ColW-1:0] v;
      assign v = galois_i * ColW'(x) + turn_i;
      assign swap_o[(1<<i)+x-1] = permute_i && v[i];
    end
  end

endmodule
