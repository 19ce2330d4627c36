// rm_lut_unit_pkg - of a core with DSP blocks: the unit whose products have none all the same, where LUTs are left and
// blocks are not.
//
// The function is for elaboration only (parameters, localparams), as those of rm_modmul_pkg. It stands apart from them, which
// every engine is made from: rows of syntheses are kept by their sources.
package rm_lut_unit_pkg;

  localparam int unsigned LutUnitNone       = 0;
  localparam int unsigned LutUnitTransforms = 1;
  localparam int unsigned LutUnitArithmetic = 2;

  // The tile of a unit of such a core: mine says which of the two it is.
  function automatic int unsigned unit_tile(int unsigned tile, int unsigned lut_unit, int unsigned mine);
    case (lut_unit)
      LutUnitNone: return tile;
      LutUnitTransforms, LutUnitArithmetic: return (lut_unit == mine) ? rm_modmul_pkg::TileLut : tile;
      default: return rm_modmul_pkg::NumTiles;  // refused where it is used
    endcase
  endfunction

endpackage
