// rm_ntt_pkg - the timing of the transform unit, in one place; rtl/ntt/README.md derives it.
//
// A row is 2 * Nbf words. Offsets count cycles from the read request of a row (offset 0); M is the
// latency of the modular multiplier.
package rm_ntt_pkg;

  localparam int unsigned OffData    = 1;  // the row is there; columns and half rows are swapped a cycle later
  localparam int unsigned OffPre1    = 3;  // butterfly: sum and difference of the inverse
  localparam int unsigned OffPre2    = 4;  //   back below q, bottom halved
  localparam int unsigned OffMul     = 5;  //   operands enter the multiplier, top halved
  localparam int unsigned OffTwAddr  = 3;  // address of the twiddle table is registered
  // Of the last row: from two cycles later on the arithmetic unit may go through the rows in order, although the last
  // ones are still on their way (README, "Followers").
  localparam int unsigned OffPass    = 2;

  // Results leave the multiplier; sum and difference of the forward transform.
  function automatic int unsigned off_post1(int unsigned m);
    return OffMul + m;
  endfunction

  // Back below q.
  function automatic int unsigned off_post2(int unsigned m);
    return OffMul + m + 1;
  endfunction

  // Second half-row swap.
  function automatic int unsigned off_swap(int unsigned m);
    return OffMul + m + 2;
  endfunction

  // Write request of the row. A read request one cycle later sees the new row.
  function automatic int unsigned row_latency(int unsigned m);
    return OffMul + m + 4;
  endfunction

  // From the read request of a twiddle to the first cycle in which its product may be requested.
  function automatic int unsigned gen_latency(int unsigned m);
    return m + 4;
  endfunction

  // Multipliers of the twiddle generator: a table is made within a ganged transform (Nbf up to 8).
  function automatic int unsigned gen_lanes(int unsigned nbf);
    return (nbf >= 8) ? 4 : (nbf > 2) ? nbf / 2 : 1;
  endfunction

endpackage
