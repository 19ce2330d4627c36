// rm_ntt_swap - half-row swap: a 2 x 2 transpose of half rows in two consecutive cycles.
//
// Rows arrive as (lo, hi). If a row comes with swap_i, it and the row before it are transposed:
//     in  (a, b), (c, d) with swap   ->   out (a, c), (b, d)
// otherwise a row leaves as it came. Swapping twice gives the rows back, so that one module stands
// before the butterflies (pairing words at a distance of whole rows) and one after them.
//
// Latency      one cycle: what entered in cycle t leaves in cycle t + 1. top_o is a register,
//              bot_o is a multiplexer behind lo_i of the same cycle.
// Rule         swap_i never in two consecutive cycles.
module rm_ntt_swap #(
  parameter int unsigned HalfW = 216
) (
  input  logic             clk_i,
  input  logic             swap_i,
  input  logic [HalfW-1:0] lo_i,
  input  logic [HalfW-1:0] hi_i,
  output logic [HalfW-1:0] top_o,
  output logic [HalfW-1:0] bot_o
);

  logic [HalfW-1:0] top_q, hi_q;

  always_ff @(posedge clk_i) begin : p_half_rows
    top_q <= swap_i ? hi_q : lo_i;
    hi_q  <= hi_i;
  end

  assign top_o = top_q;
  assign bot_o = swap_i ? lo_i : hi_q;

endmodule
