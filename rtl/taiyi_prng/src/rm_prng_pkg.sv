// rm_prng_pkg - times of the expander of seeds. For elaboration only.
package rm_prng_pkg;

  // Bytes of a label, at most: what the block of BLAKE3 has space for.
  localparam int unsigned LabelMax = 33;

  // Words of 64 bits in a block.
  localparam int unsigned BlockWords = 8;

  // Layers of selectors, or of sums, between two registers.
  localparam int unsigned Layers = 2;

  // Registers of a network of as many layers as a row of 2^log_e words has.
  function automatic int unsigned registers(int unsigned log_e);
    return (log_e + Layers - 1) / Layers;
  endfunction

  // From a start to the first row, if no word of that row is refused: the start's register, BLAKE3, the word, its product, the
  // decision, counts, two networks, and the row.
  function automatic int unsigned latency(int unsigned log_e);
    return 1 + 30 + 1 + rm_modmul_pkg::ProductLatency + 1 + 3 * registers(log_e) + 1;
  endfunction

endpackage
