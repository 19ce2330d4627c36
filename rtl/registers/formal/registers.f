rm_core_pkg.sv mem_pkg.sv handshake_check.sv core_regs_block_pkg.sv core_regs_block.sv core_regs.sv fv_core_regs.sv
