// rm_galois_rows - which row feeds output row r under X -> X^g, and how its columns are turned; r = 0, 1, 2, ...
//
// Equation     Output word k comes from word j with 2 brv(j) + 1 = g (2 brv(k) + 1) mod 2N (the evaluation
//              domain in bit-reversed order), that is brv(j) = g brv(k) + (g - 1)/2 mod N. Write
//              k = 2Nbf r + h, n = row bits, u = brv_n(r): brv(k) = brv_c(h) 2^n + u. Then
//                w(r) = g u + (g - 1)/2 mod N,  row = brv_n(w mod 2^n),  turn = w >> n,
//              and column h comes from the column h' with brv_c(h') = g brv_c(h) + turn mod 2Nbf.
// Step         With t ones at the end of r, brv_n(r + 1) - brv_n(r) = 3 * 2^(n-1-t) - 2^n, so
//                w(r + 1) = w(r) + 3g * 2^(n-1-t) - g * 2^n.
//              w is kept aligned to the left (times 2^(LogNMax - log N)): then n = RowW in the step, the turn is
//              the top c bits, and the reversed row is the next RowW bits, for every N without a shifter.
// Timing       load_i takes a galois element and log N; row_o and turn_o are for r = 0 in the next cycle, and for the
//              next row in the cycle after step_i. next_i must be the number of the row after the present one.
module rm_galois_rows
  import rm_core_pkg::*;
#(
  parameter int unsigned Nbf     = 4,
  parameter int unsigned LogNMax = 14,
  localparam int unsigned ColW   = $clog2(2 * Nbf),
  localparam int unsigned RowW   = LogNMax - ColW
) (
  input  logic             clk_i,
  input  logic             load_i,
  input  logic [LogNMax:0] galois_i,  // g mod 2^(LogNMax + 1), odd
  input  logic [LogNW-1:0] log_n_i,
  input  logic             step_i,
  input  logic [RowW-1:0]  next_i,
  output logic [RowW-1:0]  row_o,
  output logic [ColW-1:0]  turn_o
);

  logic [LogNMax-1:0] w_q, first, delta_first, delta_q, delta_d;
  logic [LogNMax-1:0] g_q, g3_d, g3_q;
  logic [RowW-1:0]    carry;  // bit t: next_i ends in t ones and a zero

  assign g3_d        = LogNMax'(galois_i) + LogNMax'({galois_i, 1'b0});
  assign first       = LogNMax'(galois_i >> 1) << (LogNW'(LogNMax) - log_n_i);
  assign delta_first = (g3_d << (RowW - 1)) - (LogNMax'(galois_i) << RowW);
  assign carry       = ~next_i & (next_i + 1'b1);

  always_comb begin : p_delta
    delta_d = '0;
    for (int unsigned t = 0; t < RowW; t++) begin
      delta_d |= carry[t] ? g3_q << (RowW - 1 - t) : '0;
    end
    delta_d -= g_q << RowW;
  end

  always_ff @(posedge clk_i) begin : p_walk
    if (load_i) begin
      w_q     <= first;
      g_q     <= LogNMax'(galois_i);
      g3_q    <= g3_d;
      delta_q <= delta_first;
    end else if (step_i) begin
      w_q     <= w_q + delta_q;
      delta_q <= delta_d;
    end
  end

  for (genvar i = 0; i < RowW; i++) begin : g_reverse
    assign row_o[i] = w_q[RowW-1-i];
  end
  assign turn_o = w_q[LogNMax-1-:ColW];

endmodule
