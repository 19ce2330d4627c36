// rm_stream_pkg - timing of the streaming transforms, and what the maker of seeds says to the twiddle factors.
//
// The functions are for elaboration only.
package rm_stream_pkg;

  // Kinds of rm_streaming_ntt.
  localparam int unsigned FeedForward = 0;
  localparam int unsigned Feedback    = 1;

  // Cycles of a column of butterflies: rm_ntt_butterfly's.
  function automatic int unsigned column_latency(int unsigned kind, int unsigned w);
    return rm_modmul_pkg::latency(kind, w) + 4;
  endfunction

  // From start_valid_i to the first row: what the first twiddle factors take, and a column's latency, so that a unit
  // that ends with a column can start the next one (rm_streaming_ntt has the argument).
  function automatic int unsigned lead(int unsigned kind, int unsigned w);
    return column_latency(kind, w);
  endfunction

  // Twiddle factors come in groups of 2^group: a running product is there before it is needed (rm_stream_twiddle).
  function automatic int unsigned group(int unsigned kind, int unsigned w);
    return $clog2(rm_modmul_pkg::latency(kind, w) + 2);
  endfunction

  // Cycles from row in to row out at log2 N = log_n of a build for log_n_max.
  function automatic int unsigned latency(
    int unsigned style, bit inverse, int unsigned kind, int unsigned w, int unsigned log_p, int unsigned log_n,
    int unsigned log_n_max
  );
    automatic int unsigned rows    = 1 << (log_n - log_p);
    automatic int unsigned times   = log_n - log_p;
    automatic int unsigned skipped = log_n_max - log_n;
    automatic int unsigned m       = rm_modmul_pkg::latency(kind, w);
    if (style == FeedForward) return rows - 1 + log_n * (m + 4) + skipped;
    return rows - 1 + times * (m + (inverse ? 3 : 2)) + log_p * (m + 4) + skipped;
  endfunction

  // What a seed is for.
  localparam int unsigned SeedW     = 2;
  localparam logic [SeedW-1:0] SeedConstant = 2'd0;  // twiddle factor of a stage between lanes, stage s
  localparam logic [SeedW-1:0] SeedStart    = 2'd1;  // first twiddle factor of the stage on time bit t
  localparam logic [SeedW-1:0] SeedTable    = 2'd2;  // products and ratios within and between groups
  localparam int unsigned StageW = 5;
  localparam int unsigned IndexW = 7;

endpackage
