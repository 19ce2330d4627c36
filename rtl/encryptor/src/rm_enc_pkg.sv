// rm_enc_pkg - what the encryption engine does, fields of its moduli, why it refuses, and latencies.
//
// The functions are for elaboration only.
package rm_enc_pkg;

  // What a job does. c0 and c1 are the results of a public encryption; the others have one result, in place of c0.
  localparam int unsigned ModeW = 3;
  localparam logic [ModeW-1:0] Public    = 3'd0;  // c0 = v b + e0 + m, c1 = v a + e1
  localparam logic [ModeW-1:0] Symmetric = 3'd1;  // c0 = m + e - c1 s, c1 expanded from the public seed
  localparam logic [ModeW-1:0] PublicKey = 3'd2;  // b = e - a s, a expanded from the public seed
  localparam logic [ModeW-1:0] Decrypt   = 3'd3;  // m = c0 + c1 s
  localparam logic [ModeW-1:0] Divided   = 3'd4;  // c0 = round((v b + e0)/p) + m, c1 = round((v a + e1)/p)
  localparam logic [ModeW-1:0] Seal      = 3'd5;  // Divided, of what SEAL draws from its seed of 64 bytes

  localparam int unsigned SetW = 2;               // number of a set of samples
  typedef struct packed {
    logic [ModeW-1:0] mode;
    logic [SetW-1:0]  set;   // of samples
    logic             bad;   // a row of the message or of a key modulo p was missing, or a word is no residue
  } info_t;
  localparam int unsigned InfoW = $bits(info_t);

  // Why a job is refused.
  localparam int unsigned RefusalW = 3;
  localparam logic [RefusalW-1:0] RefusedNumber = 3'd1;  // not above the last one: a seed would be used twice
  localparam logic [RefusalW-1:0] RefusedSecret = 3'd2;  // there is no whole secret key
  localparam logic [RefusalW-1:0] RefusedMode   = 3'd3;  // not in this build
  localparam logic [RefusalW-1:0] RefusedDraw   = 3'd4;  // the sampler's fault

  // Fields of a limb's modulus, cfg_field_i. 2 + b is the root rho_b 2^R. R' and the last field are of divide_kind at the width
  // of the ports. The number of limbs stands for p in cfg_limb_i, and one more for p's roots 1 / rho_b 2^R.
  localparam logic [4:0] FieldQ         = 5'd0;
  localparam logic [4:0] FieldAux       = 5'd1;
  localparam logic [4:0] FieldFactor    = 5'd18;  // 2^R mod q
  localparam logic [4:0] FieldThreshold = 5'd19;  // 2^64 mod q
  localparam logic [4:0] FieldScale     = 5'd20;  // p^-1 2^R mod q
  localparam logic [4:0] FieldDivide    = 5'd21;  // p^-1 2^R' mod q
  localparam logic [4:0] FieldDivideAux = 5'd22;  // aux

  // The multiplier that divides by p: its operands have the bits of p, its moduli fewer.
  function automatic int unsigned divide_kind(int unsigned kind, int unsigned w, int unsigned w_limb);
    if (w_limb == w || rm_modmul_pkg::family(kind) != rm_modmul_pkg::KindNtt) return kind;
    return rm_modmul_pkg::ntt_kind(rm_modmul_pkg::ntt_word(kind), 1'b1);
  endfunction

  // Row of v k mod p in coefficients, rounded for the limbs: rm_enc_round.
  localparam int unsigned RoundLatency = 3;

  // From the begin of a job in the limbs, when samples are asked for, to the start of the transforms: with the division
  // the samples are rounded, and the rest multiplied, before the row of operands stands.
  function automatic int unsigned begin_lead(bit extra);
    return extra ? RoundLatency : 0;
  endfunction

  // From a start of the lane of p to the begin in the limbs: two transforms, and the product between them.
  function automatic int unsigned extra_latency(
    int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n, int unsigned log_n_max
  );
    return rm_stream_pkg::lead(kind, w) + rm_modmul_pkg::latency(kind, w) - 1
        + rm_stream_pkg::latency(rm_stream_pkg::FeedForward, 1'b0, kind, w, log_p + 1, log_n, log_n_max)
        + rm_stream_pkg::latency(rm_stream_pkg::FeedForward, 1'b1, kind, w, log_p, log_n, log_n_max);
  endfunction

  // Row of a transform out, row of the result: an operand register, a product, a sum and its correction.
  function automatic int unsigned sum_latency(int unsigned kind, int unsigned w);
    return rm_modmul_pkg::latency(kind, w) + 3;
  endfunction

  // Whether two Gaussian polynomials are drawn by the begin, at every size, when the lane of p starts with their first samples:
  // a block a cycle with 10 double rounds, 512 samples at a time, 6 cycles between them (rm_secret_draw).
  function automatic bit drawn_by_begin(
    int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n_min, int unsigned log_n_max,
    int unsigned doubles
  );
    drawn_by_begin = 1'b1;
    for (int unsigned n = log_n_min; n <= log_n_max; n++) begin
      automatic int unsigned draws = (n < 9) ? 1 : 1 << (n - 9);
      if (2 * draws * (640 / doubles + 6) + 16 >= extra_latency(kind, w, log_p, n, log_n_max)) begin
        drawn_by_begin = 1'b0;
      end
    end
  endfunction

  // The same of SEAL's errors: blocks of 64 bytes from `rounds` built rounds of 12, 48 bytes for eight samples (rm_seal_draw).
  function automatic bit seal_drawn_by_begin(
    int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n_min, int unsigned log_n_max,
    int unsigned rounds
  );
    seal_drawn_by_begin = 1'b1;
    for (int unsigned n = log_n_min; n <= log_n_max; n++) begin
      if ((1 << (n - 2)) * (12 / rounds) + 64 >= extra_latency(kind, w, log_p, n, log_n_max)) begin
        seal_drawn_by_begin = 1'b0;
      end
    end
  endfunction

  // From the start of the limbs' transforms to the first row of the result.
  function automatic int unsigned latency(
    int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n, int unsigned log_n_max
  );
    return rm_stream_pkg::lead(kind, w)
        + rm_stream_pkg::latency(rm_stream_pkg::FeedForward, 1'b0, kind, w, log_p, log_n, log_n_max)
        + sum_latency(kind, w);
  endfunction

endpackage
