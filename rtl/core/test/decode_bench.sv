// decode_bench - rm_instr_decode with its command as plain ports for the C++ harness.
module decode_bench
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned Mods     = 16,
  parameter int unsigned AxiDataW = 512
) (
  input  logic               clk_i,
  input  logic [255:0]       instr_i,
  output logic               is_end_o,
  output logic               is_ntt_o,
  output logic               inverse_o,
  output logic               roots_o,
  output logic [Banks-1:0]   uses_o,
  output logic [AddrW-1:0]   s_addr_o,
  output logic [StoreW-1:0]  after_o,
  output logic [W-1:0]       k0_o,
  output logic [W-1:0]       k1_o,
  output logic [7:0]         error_o,
  output logic [3:0]         op_o,
  output logic [7:0]         modulus_o,
  output logic [7:0]         source_o,
  output logic               a_used_o,
  output logic [BankW-1:0]   a_bank_o,
  output logic               c_used_o,
  output logic [BankW-1:0]   c_bank_o,
  output logic               d_to_bank_o,
  output logic [BankW-1:0]   d_bank_o,
  output logic               d_to_mem_o,
  output logic [AddrW-1:0]   d_addr_o,
  output logic               s_used_o,
  output logic [5:0]         shift_o,
  output logic               permute_o,
  output logic               swap_o
);

  arith_cmd_t cmd;
  error_e     error;

  logic unused;
  assign unused = clk_i;

  assign error_o     = 8'(error);
  assign op_o        = cmd.op;
  assign modulus_o   = 8'(cmd.modulus);
  assign source_o    = 8'(cmd.source);
  assign a_used_o    = cmd.a_used;
  assign a_bank_o    = cmd.a_bank;
  assign c_used_o    = cmd.c_used;
  assign c_bank_o    = cmd.c_bank;
  assign d_to_bank_o = cmd.d_to_bank;
  assign d_bank_o    = cmd.d_bank;
  assign d_to_mem_o  = cmd.d_to_mem;
  assign d_addr_o    = cmd.d_addr;
  assign s_used_o    = cmd.s_used;
  assign shift_o     = 6'(cmd.shift);
  assign permute_o   = cmd.permute;
  assign swap_o      = cmd.swap;

  rm_instr_decode #(
    .W       (W),
    .Mods    (Mods),
    .AxiDataW(AxiDataW)
  ) i_dut (
    .cmd_o  (cmd),
    .error_o(error),
    .*
  );

endmodule
