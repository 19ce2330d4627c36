delay_line.sv modmul_pkg.sv modmul_delay.sv modmul_booth.sv modmul_stack.sv modmul_strip.sv modmul_lut_product.sv
modmul_dsp_product.sv modmul_product.sv modmul_step.sv modmul_p2.sv modmul_booth_product.sv modmul_mmsm.sv modmul_prf.sv
modmul_montgomery.sv modmul_barrett.sv modmul.sv ntt_pkg.sv ntt_twiddle_gen.sv ntt_twiddle_table.sv
fv_ntt_twiddle_gen.sv
