// rm_nttu_pkg - shape, orders and times of the transform unit in seven steps. For elaboration only.
//
// A limb of N = 2^log_n words in 2^log_l lanes of 2^log_r elements. d = 4 log_r - log_n digits' bits are missing in the third
// digit. The row number ("time") has time_bits; its low log_r bits are the row of a block, the rest with the lane number
// (the top) is {V, G}: log_r bits of V, log_r - d of G. README.md derives who has which index when.
package rm_nttu_pkg;

  function automatic int unsigned missing(int unsigned log_n, int unsigned log_r);
    return 4 * log_r - log_n;
  endfunction

  function automatic int unsigned time_bits(int unsigned log_n, int unsigned log_l, int unsigned log_r);
    return log_n - log_l - log_r;
  endfunction

  // Place of digit bit i in a block's row number: the bits that the third digit does not have come last.
  function automatic int unsigned place(int unsigned i, int unsigned log_n, int unsigned log_r);
    return (i + log_r - missing(log_n, log_r)) % log_r;
  endfunction

  // Time bit on which bit x of {V, G} stands; log_l bits at the top are the lane number, and give a number from time_bits on.
  function automatic int unsigned upper_bit(int unsigned x, int unsigned log_r);
    return log_r + x;
  endfunction

  // Cycles of the main transposition: what each exchange holds a row back.
  function automatic int unsigned main_delay(int unsigned log_n, int unsigned log_l, int unsigned log_r);
    automatic int unsigned d = missing(log_n, log_r);
    automatic int unsigned t = time_bits(log_n, log_l, log_r);
    automatic int unsigned sum = 0;
    for (int unsigned x = 0; x < log_r - d; x++) begin
      if (upper_bit(x, log_r) < t) sum += 1 << upper_bit(x, log_r);
    end
    for (int unsigned i = 0; i < log_r; i++) begin
      if (upper_bit(log_r - d + i, log_r) < t) begin
        sum += (1 << upper_bit(log_r - d + i, log_r)) - (1 << place(i, log_n, log_r));
      end else begin
        sum += 1 << place(i, log_n, log_r);
      end
    end
    return sum;
  endfunction

  // Cycles from row in to row out: sixteen columns (four short transforms), three products, three transpositions.
  function automatic int unsigned latency(
    int unsigned kind, int unsigned w, int unsigned log_n, int unsigned log_l, int unsigned log_r
  );
    automatic int unsigned m = rm_modmul_pkg::latency(kind, w);
    return 4 * log_r * (m + 4) + 3 * m + 2 * ((1 << log_r) - 1) + main_delay(log_n, log_l, log_r);
  endfunction

  // Cycles from a start to row 0.
  localparam int unsigned Lead = 1;

  // Fields of a modulus: q, aux, and four tables of powers of psi.
  localparam int unsigned FieldQ     = 0;
  localparam int unsigned FieldAux   = 1;
  localparam int unsigned FieldPower = 2;

endpackage
