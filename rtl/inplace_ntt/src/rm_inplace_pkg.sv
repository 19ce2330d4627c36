// rm_inplace_pkg - what a row of the in-place transform carries along, and its times in closed form.
//
// The functions are for elaboration only.
package rm_inplace_pkg;

  localparam int unsigned RowW     = 12;  // bits of the number of a row: rows of the greatest degree, 2^16
  localparam int unsigned FieldOne = 31;  // of the table of moduli: 2^R mod q, the factor 1

  // A row of 16 words: their indices differ in bits window ... window + 3, the others are the bits of `row`. The lane bit
  // of index bit p is p mod 4.
  typedef struct packed {
    logic [RowW-1:0] row;
    logic [3:0]      window;
    logic [4:0]      stage;   // of the transform, that the window's highest bit belongs to
    logic [1:0]      part;    // how many of the lowest lane bits have butterflies; 0: all four
    logic            entry;   // from outside, not from the banks
    logic            leave;   // to outside, not to the banks
  } pass_t;

  // A column of butterflies: rm_ntt_butterfly's.
  function automatic int unsigned column(int unsigned m);
    return m + 4;
  endfunction

  // From the row that is asked for to the cycle in which the row that it becomes may be asked for; a row leaves then.
  function automatic int unsigned row_latency(int unsigned m);
    return 4 * column(m) + 4;
  endfunction

  // How much earlier than rows the twiddle factors begin.
  function automatic int unsigned lead(int unsigned m);
    return 2 * m - 2;
  endfunction

  // Idle cycles between transforms of different directions.
  function automatic int unsigned turn(int unsigned m);
    return 3 * column(m) - 1;
  endfunction

endpackage
