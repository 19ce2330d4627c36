// rm_modmul_pkg - kinds of modular multiplier, tilings of their products, and what follows from a kind.
//
// The functions are for elaboration only (parameters, localparams): never call them from a process.
package rm_modmul_pkg;

  // Kinds. `h` is W / 2; README.md has the class of moduli, the factor and the meaning of aux_i of each.
  localparam int unsigned KindP2         = 0;  // word Montgomery, q = 1 mod 2^h
  localparam int unsigned KindP2Sparse   = 1;  // the same, q = 2^(W-1) + delta * 2^h + 1, |delta| small
  localparam int unsigned KindPrf        = 2;  // PRF-FIKO, q = 2^(W-1) + f0, f0 < 2^h
  localparam int unsigned KindMontgomery = 3;  // any odd q < 2^W
  localparam int unsigned KindBarrett    = 4;  // any q < 2^W that is no power of two
  localparam int unsigned KindNtt        = 5;  // word Montgomery by t-bit words, q = 2^b + delta * 2^t + 1: NTT primes

  // What a kind says beside its family stands above the family's bits.
  localparam int unsigned Families = 8;

  // prf_kind(ones): f0 of every modulus has ones at the places of `ones` alone; bit 0 is one of them, which is said or not.
  // With eight places or fewer the multiplier is smaller. KindPrf: any f0.
  function automatic int unsigned prf_kind(int unsigned ones);
    return KindPrf + Families * (ones >> 1);
  endfunction

  // The places of ones that a kind serves.
  function automatic int unsigned prf_ones(int unsigned kind);
    return (kind == KindPrf) ? '1 : kind / Families * 2 + 1;
  endfunction

  // KindNtt alone: t = NttWord, and b, up to W, belongs to the modulus. ntt_kind(t): words of t bits, b = W for every
  // modulus, which is smaller. ntt_kind(t, 1): words of t bits, b of the modulus.
  localparam int unsigned NttWord = 13;
  localparam int unsigned NttStep = 16;

  function automatic int unsigned ntt_kind(int unsigned t, bit any_length = 1'b0);
    return KindNtt + NttStep * (t + (any_length ? 32 : 0));
  endfunction

  // The kind without what prf_kind or ntt_kind adds.
  function automatic int unsigned family(int unsigned kind);
    return kind % Families;
  endfunction

  function automatic int unsigned ntt_word(int unsigned kind);
    return (kind == KindNtt) ? NttWord : kind / NttStep % 32;
  endfunction

  function automatic bit ntt_any_length(int unsigned kind);
    return kind == KindNtt || kind / NttStep >= 32;
  endfunction

  // Word steps: as many as clear W bits.
  function automatic int unsigned ntt_steps(int unsigned kind, int unsigned w);
    return (w + ntt_word(kind) - 1) / ntt_word(kind);
  endfunction

  // Bits of the signed delta of KindNtt. 10 hold the first two dozen primes below 2^60 at t = 17. Where b is free, t stands
  // for every degree from N = 2^(t-1) on, so delta * 2^t of 2^(t+3) times more is let in. The leading bit of q
  // stands clear of it.
  function automatic int unsigned ntt_delta_bits(int unsigned kind, int unsigned w);
    automatic int unsigned room = w - ntt_word(kind) - (ntt_any_length(kind) ? 3 : 1);
    automatic int unsigned most = ntt_any_length(kind) ? 13 : 10;
    return (room < most) ? room : most;
  endfunction

  // Tilings: what multiplies. All have the same latency.
  localparam int unsigned TileLut     = 0;  // no DSP block: Booth rows in LUTs
  localparam int unsigned TileEcp5    = 1;  // 18 x 18: Lattice MULT18X18D
  localparam int unsigned TileDsp48e1 = 2;  // 24 x 17: Xilinx 7-series, 25 x 18 signed
  localparam int unsigned TileDsp48e2 = 3;  // 26 x 17: Xilinx UltraScale+, 27 x 18 signed
  localparam int unsigned NumTiles    = 4;

  // Bits of the signed delta of KindP2Sparse: room for more than 200 primes at every width from 36.
  function automatic int unsigned delta_bits(int unsigned w);
    return (w / 2 - 2 < 12) ? w / 2 - 2 : 12;
  endfunction

  // Cycles of rm_modmul_product.
  localparam int unsigned ProductLatency = 3;

  // Cycles from operands to product, the same for every width and tiling.
  function automatic int unsigned latency(int unsigned kind, int unsigned w);
    case (family(kind))
      KindP2, KindP2Sparse: return ProductLatency + 5;
      KindPrf:              return ProductLatency + 8;
      KindMontgomery:       return 3 * ProductLatency + 2;
      KindBarrett:          return 3 * ProductLatency + 4;
      KindNtt:              return ProductLatency + 2 * ntt_steps(kind, w) + 1;
      default:              return w - w;
    endcase
  endfunction

  // R in r = a * b * 2^(-R) mod q.
  function automatic int unsigned factor_bits(int unsigned kind, int unsigned w);
    case (family(kind))
      KindPrf:     return w / 2;
      KindBarrett: return 0;
      KindNtt:     return ntt_steps(kind, w) * ntt_word(kind);
      default:     return w;
    endcase
  endfunction

  // Pieces that a DSP block multiplies without sign; 0 for TileLut.
  function automatic int unsigned slice_a(int unsigned tile);
    case (tile)
      TileEcp5:    return 18;
      TileDsp48e1: return 24;
      TileDsp48e2: return 26;
      default:     return 0;
    endcase
  endfunction

  function automatic int unsigned slice_b(int unsigned tile);
    case (tile)
      TileEcp5: return 18;
      TileLut:  return 0;
      default:  return 17;
    endcase
  endfunction

endpackage
