rm_isa_pkg.sv rm_core_pkg.sv rm_mem_pkg.sv rm_handshake_check.sv rm_core_regs_block_pkg.sv rm_core_regs_block.sv rm_core_regs.sv fv_core_regs.sv
