// rm_instr_decode - the four words of an instruction to a command, or the reason why there is none. Combinational.
//
// Layout       rm_isa_pkg::instruction_t. Addresses count units of 64 bytes.
// Checks       in the order of error_e; the first that fails is reported. `after` and bus errors are the
//              dispatcher's.
module rm_instr_decode
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned Mods     = 16,
  parameter int unsigned AxiDataW = 512
) (
  input  logic [255:0]       instr_i,
  output logic               is_end_o,
  output logic               is_ntt_o,
  output logic               inverse_o,
  output logic               roots_o,   // with is_ntt: only the twiddles
  output arith_cmd_t         cmd_o,
  output logic [Banks-1:0]   uses_o,    // banks used, once each, both of a pair
  output logic [AddrW-1:0]   s_addr_o,
  output logic [StoreW-1:0]  after_o,
  output logic [W-1:0]       k0_o,
  output logic [W-1:0]       k1_o,
  output error_e             error_o
);

  localparam int unsigned UnitBits = 512;  // an address counts 64 bytes
  localparam int unsigned AlignW   = (AxiDataW > UnitBits) ? $clog2(AxiDataW / UnitBits) : 0;

  rm_isa_pkg::instruction_t i;
  logic                     is_arith, pair;
  arith_cmd_t               cmd;

  assign i         = instr_i;
  assign is_end_o  = i.opcode == rm_isa_pkg::OpEnd;
  assign inverse_o = i.opcode == rm_isa_pkg::OpIntt;
  assign roots_o   = i.opcode == rm_isa_pkg::OpRoots;
  assign is_ntt_o  = i.opcode == rm_isa_pkg::OpNtt || inverse_o || roots_o;
  assign is_arith  = i.opcode >= rm_isa_pkg::OpCopy && i.opcode <= rm_isa_pkg::OpShrK;

  assign cmd = '{
    op:        arith_op_e'(i.opcode[3:0]),
    modulus:   i.modulus,
    source:    i.source,
    a_used:    i.a_used,
    a_bank:    i.a_bank,
    c_used:    i.c_used,
    c_bank:    i.c_bank,
    d_to_bank: i.d_to_bank,
    d_bank:    i.d_bank,
    d_to_mem:  i.d_to_mem,
    d_addr:    i.d_addr,
    s_used:    i.s_used,
    shift:     i.shift,
    permute:   i.permute,
    swap:      i.swap
  };
  assign cmd_o    = cmd;
  assign s_addr_o = i.s_addr;
  assign after_o  = i.after;
  assign k0_o     = i.k0[W-1:0];
  assign k1_o     = i.k1[W-1:0];

  logic [Banks-1:0] uses_a, uses_c, uses_d;
  assign uses_a = cmd.a_used ? bank_uses(cmd.a_bank) : '0;
  assign uses_c = cmd.c_used ? bank_uses(cmd.c_bank) : '0;
  assign uses_d = cmd.d_to_bank ? bank_uses(cmd.d_bank) : '0;
  // Twiddles are made whatever the bank holds: it only names the unit.
  assign uses_o = (roots_o ? '0 : uses_a) | uses_c | uses_d;

  // A pair beside one of its own banks: neither would know what the other one leaves.
  logic split;
  assign split = ((uses_a & uses_c) != '0 && cmd.a_bank != cmd.c_bank) ||
                 ((uses_a & uses_d) != '0 && cmd.a_bank != cmd.d_bank) ||
                 ((uses_c & uses_d) != '0 && cmd.c_bank != cmd.d_bank);

  // ---------------------------------------------------------------- what each opcode needs
  logic operands, one_of_as;
  assign one_of_as = cmd.a_used ^ cmd.s_used;
  assign pair      = (2'(cmd.a_used) + 2'(cmd.s_used) + 2'(cmd.c_used)) == 2'd2;

  always_comb begin : p_operands
    operands = (cmd.d_to_bank || cmd.d_to_mem) && i.k0[63:W] == '0 && i.k1[63:W] == '0;
    case (cmd.op)
      ArithAdd, ArithMul:  operands &= pair && !cmd.swap;
      ArithSub, ArithSubk: operands &= pair;
      ArithMac:            operands &= cmd.a_used && cmd.s_used && cmd.c_used && !cmd.swap;
      ArithMack:           operands &= one_of_as && cmd.c_used && !cmd.swap;
      default:             operands &= one_of_as && !cmd.c_used && !cmd.swap;
    endcase
    if (is_ntt_o) begin
      operands = cmd.a_used && !cmd.c_used && !cmd.s_used && !cmd.d_to_bank && !cmd.d_to_mem && !cmd.permute &&
                 !cmd.swap;
    end
  end

  logic banks, moduli, permute, aligned;
  assign banks   = is_ntt_o ? cmd.a_bank < BankW'(NttBanks) || bank_is_pair(cmd.a_bank) : !split;
  assign moduli  = 32'(cmd.modulus) < Mods && (is_ntt_o || cmd.op != ArithLift || 32'(cmd.source) < Mods);
  assign permute = !cmd.permute || (cmd.a_used && i.k1[0] && cmd.op != ArithLift &&
                                    !(cmd.d_to_bank && cmd.d_bank == cmd.a_bank) &&
                                    !(cmd.c_used && cmd.c_bank == cmd.a_bank));

  if (AlignW > 0) begin : g_wide_bus
    assign aligned = (!cmd.d_to_mem || cmd.d_addr[AlignW-1:0] == '0) && (!cmd.s_used || i.s_addr[AlignW-1:0] == '0);
  end else begin : g_narrow_bus
    assign aligned = 1'b1;
  end

  always_comb begin : p_error
    error_o = ErrNone;
    if (!is_end_o) begin
      if (!(is_ntt_o || is_arith) || i.reserved != '0) begin
        error_o = ErrOpcode;
      end else if (!banks) begin
        error_o = ErrBank;
      end else if (!moduli) begin
        error_o = ErrModulus;
      end else if (!operands) begin
        error_o = ErrOperands;
      end else if (!permute) begin
        error_o = ErrPermute;
      end else if (!aligned) begin
        error_o = ErrAlign;
      end
    end
  end

endmodule
