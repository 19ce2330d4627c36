// rm_ks_pkg - what travels beside a slot of the pipelined key switch, fields of the moduli, and latencies.
//
// A slot is one polynomial in the chain: a digit of the operand, or a component of the special residue on its way down.
// The functions are for elaboration only.
package rm_ks_pkg;

  localparam int unsigned DigitW = 4;

  typedef struct packed {
    logic              down;   // a component of the special residue, else a digit
    logic              comp;   // which component
    logic [DigitW-1:0] digit;  // which digit
    logic              first;  // first digit of a key switch
    logic              last;   // last one
    logic              bad;    // a row of the operand was missing
  } info_t;

  localparam int unsigned InfoW = $bits(info_t);

  // Fields of a modulus, cfg_field_i. 0 q, 1 aux, 2 + b the root rho_b 2^R or, with cfg_inverse_i, 1/rho_b 2^R.
  localparam int unsigned FieldW = 6;
  localparam logic [FieldW-1:0] FieldQ    = 6'd0;
  localparam logic [FieldW-1:0] FieldAux  = 6'd1;
  localparam logic [FieldW-1:0] FieldRoot = 6'd2;
  localparam logic [FieldW-1:0] FieldLift = 6'd18;  // 2^R mod q: what makes a residue of any word
  localparam logic [FieldW-1:0] FieldDown = 6'd19;  // p^-1 2^R mod q, p the special modulus
  localparam logic [FieldW-1:0] FieldFrom = 6'd32;  // 32 + s: q_s mod q, of the modulus that is lifted from

  // Row of an inverse transform in, row of the forward one out.
  function automatic int unsigned lift_latency(int unsigned kind, int unsigned w);
    return rm_modmul_pkg::latency(kind, w) + 2;
  endfunction

  // Row of a transform in, sum written: the row register, the corrected difference, a product, a corrected sum.
  function automatic int unsigned bank_latency(int unsigned kind, int unsigned w);
    return rm_modmul_pkg::latency(kind, w) + 4;
  endfunction

  // From a row into the inverse transform to the same row out of the forward one.
  function automatic int unsigned chain_latency(
    int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n, int unsigned log_n_max
  );
    return rm_stream_pkg::latency(rm_stream_pkg::FeedForward, 1'b1, kind, w, log_p, log_n, log_n_max)
        + lift_latency(kind, w)
        + rm_stream_pkg::latency(rm_stream_pkg::FeedForward, 1'b0, kind, w, log_p, log_n, log_n_max);
  endfunction

  // The most slots that start within this number of cycles, when they follow each other as closely as they may.
  function automatic int unsigned slots_within(int unsigned cycles, int unsigned rows);
    return cycles / rows + 2;
  endfunction

endpackage
