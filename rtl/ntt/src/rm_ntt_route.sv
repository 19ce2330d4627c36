// rm_ntt_route - columns of a row in type-II stages (distance below a row).
//
// Butterfly j always takes columns j and j + Nbf. What brings the right words there is a rotation of
// the column number c by one bit a stage:
//   Unshuffle = 0, after a forward stage    column c  ->  rotl(c):  (top j, bottom j) -> 2j, 2j + 1
//   Unshuffle = 1, before an inverse stage  column rotl(c) -> c:    2j, 2j + 1 -> (top j, bottom j)
// There are log2(2 Nbf) type-II stages, as many as c has bits: after the last one every word is back
// in its column. So one 2:1 multiplexer a word and direction serves any Nbf.
module rm_ntt_route #(
  parameter int unsigned W         = 54,
  parameter int unsigned Nbf       = 4,
  parameter bit          Unshuffle = 1'b0,
  localparam int unsigned Cols     = 2 * Nbf
) (
  input  logic                   en_i,
  input  logic [Cols-1:0][W-1:0] row_i,
  output logic [Cols-1:0][W-1:0] row_o
);

  for (genvar j = 0; j < Nbf; j++) begin : g_pair
    if (Unshuffle) begin : g_unshuffle
      assign row_o[j]       = en_i ? row_i[2*j]     : row_i[j];
      assign row_o[j + Nbf] = en_i ? row_i[2*j + 1] : row_i[j + Nbf];
    end else begin : g_shuffle
      assign row_o[2*j]     = en_i ? row_i[j]       : row_i[2*j];
      assign row_o[2*j + 1] = en_i ? row_i[j + Nbf] : row_i[2*j + 1];
    end
  end

endmodule
