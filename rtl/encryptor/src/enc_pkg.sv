// enc_pkg - what the encryption engine does, fields of its moduli, why it refuses, and latencies.
//
// The functions are for elaboration only.
package enc_pkg;

  // What a job does. c0 and c1 are the results of a public encryption; the others have one result, in place of c0.
  localparam int unsigned ModeW = 2;
  localparam logic [ModeW-1:0] Public    = 2'd0;  // c0 = v b + e0 + m, c1 = v a + e1
  localparam logic [ModeW-1:0] Symmetric = 2'd1;  // c0 = m + e - c1 s, c1 expanded from the public seed
  localparam logic [ModeW-1:0] PublicKey = 2'd2;  // b = e - a s, a expanded from the public seed
  localparam logic [ModeW-1:0] Decrypt   = 2'd3;  // m = c0 + c1 s

  typedef struct packed {
    logic [ModeW-1:0] mode;
    logic             set;   // of samples
    logic             bad;   // a row of the message was missing, or had a word that is no residue
  } info_t;
  localparam int unsigned InfoW = $bits(info_t);

  // Why a job is refused.
  localparam int unsigned RefusalW = 3;
  localparam logic [RefusalW-1:0] RefusedNumber = 3'd1;  // not above the last one: a seed would be used twice
  localparam logic [RefusalW-1:0] RefusedSecret = 3'd2;  // there is no whole secret key
  localparam logic [RefusalW-1:0] RefusedMode   = 3'd3;  // not in this build
  localparam logic [RefusalW-1:0] RefusedDraw   = 3'd4;  // the sampler's fault

  // Fields of a limb's modulus, cfg_field_i. 2 + b is the root rho_b 2^R.
  localparam logic [4:0] FieldQ         = 5'd0;
  localparam logic [4:0] FieldAux       = 5'd1;
  localparam logic [4:0] FieldFactor    = 5'd18;  // 2^R mod q
  localparam logic [4:0] FieldThreshold = 5'd19;  // 2^64 mod q

  // Row of a transform out, row of the result: an operand register, a product, a sum and its correction.
  function automatic int unsigned sum_latency(int unsigned kind, int unsigned w);
    return modmul_pkg::latency(kind, w) + 3;
  endfunction

  // From a start to the first row of the result.
  function automatic int unsigned latency(
    int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n, int unsigned log_n_max
  );
    return stream_pkg::lead(kind, w)
        + stream_pkg::latency(stream_pkg::FeedForward, 1'b0, kind, w, log_p, log_n, log_n_max) + sum_latency(kind, w);
  endfunction

endpackage
