rm_modmul_pkg.sv
rm_modmul_delay.sv
rm_modmul_booth.sv
rm_modmul_stack.sv rm_modmul_grid.sv
rm_modmul_strip.sv
rm_modmul_lut_product.sv
rm_modmul_dsp_product.sv
rm_modmul_product.sv
rm_modmul_step.sv
rm_modmul_p2.sv
fv_p2.sv
