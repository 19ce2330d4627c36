rm_isa_pkg.sv rm_core_pkg.sv rm_core_fifo.sv rm_delay_line.sv rm_modmul_pkg.sv rm_modmul_delay.sv rm_modmul_booth.sv rm_modmul_stack.sv rm_modmul_grid.sv rm_modmul_strip.sv
rm_modmul_lut_product.sv rm_modmul_dsp_product.sv rm_modmul_product.sv rm_modmul_step.sv rm_modmul_p2.sv rm_modmul_half_product.sv
rm_modmul_mmsm.sv rm_modmul_prf.sv rm_modmul_montgomery.sv rm_modmul_barrett.sv rm_modmul.sv rm_arith_pkg.sv rm_arith_decode.sv rm_arith_column.sv
rm_galois_rows.sv rm_galois_swaps.sv rm_galois_columns.sv rm_arith_control.sv rm_arith_unit.sv fv_arith_unit.sv
