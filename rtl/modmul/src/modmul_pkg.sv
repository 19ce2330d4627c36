// modmul_pkg - kinds of modular multiplier, tilings of their products, and what follows from a kind.
//
// The functions are for elaboration only (parameters, localparams): never call them from a process.
package modmul_pkg;

  // Kinds. `h` is W / 2; README.md has the class of moduli, the factor and the meaning of aux_i of each.
  localparam int unsigned KindP2         = 0;  // word Montgomery, q = 1 mod 2^h
  localparam int unsigned KindP2Sparse   = 1;  // the same, q = 2^(W-1) + delta * 2^h + 1, |delta| small
  localparam int unsigned KindPrf        = 2;  // PRF-FIKO, q = 2^(W-1) + f0, f0 < 2^h
  localparam int unsigned KindMontgomery = 3;  // any odd q < 2^W
  localparam int unsigned KindBarrett    = 4;  // any q < 2^W that is no power of two

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

  // Cycles of modmul_product.
  localparam int unsigned ProductLatency = 3;

  // Cycles from operands to product, the same for every width and tiling.
  function automatic int unsigned latency(int unsigned kind, int unsigned w);
    case (kind)
      KindP2, KindP2Sparse: return ProductLatency + 5;
      KindPrf:              return ProductLatency + 8;
      KindMontgomery:       return 3 * ProductLatency + 2;
      KindBarrett:          return 3 * ProductLatency + 4;
      default:              return w - w;
    endcase
  endfunction

  // R in r = a * b * 2^(-R) mod q.
  function automatic int unsigned factor_bits(int unsigned kind, int unsigned w);
    case (kind)
      KindPrf:     return w / 2;
      KindBarrett: return 0;
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
