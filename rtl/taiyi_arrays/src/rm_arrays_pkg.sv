// rm_arrays_pkg - instructions of the element-wise engine, kinds of base conversion, and latencies of the arrays.
//
// The functions are for elaboration only (parameters, localparams): never call them from a process.
package rm_arrays_pkg;

  // What the element-wise engine does; rm_ewe has the equations.
  typedef enum logic [3:0] {
    EweAdd         = 4'd0,
    EweSub         = 4'd1,
    EweNeg         = 4'd2,
    EweMul         = 4'd3,
    EweMac         = 4'd4,
    EweMulConst    = 4'd5,
    EweAddConst    = 4'd6,
    EweSubMulConst = 4'd7,
    EweLift        = 4'd8
  } ewe_op_e;
  localparam logic [3:0] EweLast = EweLift;

  // Which multiple of the sources' product a base conversion takes off; rm_bconvu has the equations.
  typedef enum logic [1:0] {
    ConvertFast    = 2'd0,  // none
    ConvertCentred = 2'd1,  // the rounded quotient of several sources
    ConvertLift    = 2'd2   // one if the only source is above half of its modulus
  } convert_e;

  // The quotient of the limb program: 14 bits of a word, times a factor of at most 15 bits, with 28 bits of fraction.
  localparam int unsigned HeadBits       = 14;
  localparam int unsigned HeadFactorBits = 15;
  localparam int unsigned QuotientBits   = 28;
  localparam int unsigned HeadShiftBits  = 6;

  // Bits above 2 W of a sum of `terms` products, and of one more that is below 2^W q.
  function automatic int unsigned guard_bits(int unsigned terms);
    return $clog2(terms + 1);
  endfunction

  // Row to result of the element-wise engine.
  function automatic int unsigned ewe_latency(int unsigned kind, int unsigned w);
    return rm_arith_pkg::StagesBefore + rm_arith_pkg::StagesAfter + rm_modmul_pkg::latency(kind, w);
  endfunction

  // Wide sum to residue.
  function automatic int unsigned reduce_latency(int unsigned kind, int unsigned w, int unsigned guard);
    automatic int unsigned l = rm_modmul_pkg::latency(kind, w);
    if (rm_modmul_pkg::factor_bits(kind, w) != w) return guard + l + 2;
    return ((guard > l) ? guard : l) + 2;
  endfunction

  // Last row of a sum to its result 0 in the inner-product array; result m comes m cycles later.
  function automatic int unsigned hpip_latency(int unsigned kind, int unsigned w, int unsigned terms);
    return rm_modmul_pkg::ProductLatency + 2 + reduce_latency(kind, w, guard_bits(terms));
  endfunction

  // Last source to target 0 in base conversion; target m comes m cycles later.
  function automatic int unsigned bconv_latency(int unsigned kind, int unsigned w, int unsigned terms);
    return rm_modmul_pkg::ProductLatency + 3 + reduce_latency(kind, w, guard_bits(terms));
  endfunction

  // Row to remainder, and to result, of a division by two primes.
  function automatic int unsigned remainder_latency(int unsigned kind, int unsigned w);
    return rm_modmul_pkg::latency(kind, w) + 6 + reduce_latency(kind, w, guard_bits(2));
  endfunction
  function automatic int unsigned dsu_latency(int unsigned kind, int unsigned w);
    return remainder_latency(kind, w) + ewe_latency(kind, w) - 1;
  endfunction

endpackage
