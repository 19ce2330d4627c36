rm_core_pkg.sv core_fifo.sv delay_line.sv modmul_pkg.sv modmul_delay.sv modmul_booth.sv modmul_stack.sv modmul_strip.sv
modmul_lut_product.sv modmul_dsp_product.sv modmul_product.sv modmul_step.sv modmul_p2.sv modmul_booth_product.sv
modmul_mmsm.sv modmul_prf.sv modmul_montgomery.sv modmul_barrett.sv modmul.sv arith_pkg.sv arith_decode.sv arith_column.sv
galois_rows.sv galois_swaps.sv galois_columns.sv arith_control.sv arith_unit.sv fv_arith_unit.sv
