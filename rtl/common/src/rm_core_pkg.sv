// rm_core_pkg - what the blocks of the compact core say to each other: opcodes, the decoded
// command of the arithmetic unit, status codes, control and status of the register block.
package rm_core_pkg;

  // ---------------------------------------------------------------- sizes
  localparam int unsigned Banks     = 6;   // 0, 1 lane 0; 2, 3 lane 1; 4, 5 accumulators
  localparam int unsigned NttBanks  = 4;   // the transforms reach banks 0 ... 3
  localparam int unsigned BankW     = 3;   // 6: banks 0 and 2, 7: banks 1 and 3, half a limb in each
  localparam int unsigned ModIdxW   = 5;
  localparam int unsigned ModFieldW = 5;   // 0 q, 1 aux, 2 + b the root rho_b
  localparam int unsigned AddrW     = 32;  // addresses count units of 64 bytes
  localparam int unsigned LogNW     = 5;
  localparam int unsigned ShiftW    = 6;
  localparam int unsigned GaloisW   = 18;
  localparam int unsigned CounterW  = 40;
  localparam int unsigned StoreW    = 16;  // stores are counted modulo 2^16

  // Uses of one bank that are dispatched and not finished stay below 2^TicketW: at most
  // ArithQueue + 2 in the queue, its head and at work, 1 draining, NttQueue + 3 in a transform unit.
  localparam int unsigned TicketW    = 5;
  localparam int unsigned ArithQueue = 8;
  localparam int unsigned NttQueue   = 4;

  // ---------------------------------------------------------------- opcodes
  // Those of the arithmetic unit are 0x10 + arith_op_e; rm_isa_pkg says what each one does.
  typedef enum logic [3:0] {
    ArithCopy = rm_isa_pkg::OpCopy[3:0],
    ArithAdd  = rm_isa_pkg::OpAdd[3:0],
    ArithSub  = rm_isa_pkg::OpSub[3:0],
    ArithAddk = rm_isa_pkg::OpAddK[3:0],
    ArithMulk = rm_isa_pkg::OpMulK[3:0],
    ArithSubk = rm_isa_pkg::OpSubK[3:0],
    ArithMul  = rm_isa_pkg::OpMul[3:0],
    ArithMac  = rm_isa_pkg::OpMac[3:0],
    ArithMack = rm_isa_pkg::OpMacK[3:0],
    ArithLift = rm_isa_pkg::OpLift[3:0],
    ArithShrk = rm_isa_pkg::OpShrK[3:0]
  } arith_op_e;

  // ---------------------------------------------------------------- decoded commands
  typedef struct packed {
    arith_op_e          op;
    logic [ModIdxW-1:0] modulus;
    logic [ModIdxW-1:0] source;    // modulus of the operand of a lift
    logic               a_used;
    logic [BankW-1:0]   a_bank;
    logic               c_used;
    logic [BankW-1:0]   c_bank;
    logic               d_to_bank;
    logic [BankW-1:0]   d_bank;
    logic               d_to_mem;
    logic [AddrW-1:0]   d_addr;
    logic               s_used;
    logic [ShiftW-1:0]  shift;
    logic               permute;
    logic               swap;
  } arith_cmd_t;

  typedef logic [Banks-1:0][TicketW-1:0] tickets_t;

  // ---------------------------------------------------------------- pairs of banks
  function automatic logic bank_is_pair(logic [BankW-1:0] bank);
    return bank >= BankW'(Banks);
  endfunction

  // The banks that a number stands for.
  function automatic logic [Banks-1:0] bank_uses(logic [BankW-1:0] bank);
    return bank_is_pair(bank) ? (bank[0] ? Banks'(6'b001010) : Banks'(6'b000101)) : Banks'(1) << bank;
  endfunction

  // ---------------------------------------------------------------- status
  typedef enum logic [7:0] {
    ErrNone     = 8'd0,
    ErrOpcode   = 8'd1,   // no such opcode, or a reserved bit is set
    ErrBank     = 8'd2,   // an accumulator to transform, or a pair of banks beside one of its own
    ErrModulus  = 8'd3,   // modulus index beyond the table
    ErrOperands = 8'd4,   // the opcode cannot take this set of operands, or there is no result
    ErrPermute  = 8'd5,   // permuting without A, into its own bank, or with C in its bank; even K1
    ErrAlign    = 8'd6,   // address not aligned to the width of the memory
    ErrAfter    = 8'd7,   // waits for more stores than stand before it
    ErrLogN     = 8'd8,   // LOG_N outside what was built
    ErrFetch    = 8'd9,   // the instruction itself came with a bus error
    ErrRead     = 8'd10,  // a read response that is not OKAY
    ErrWrite    = 8'd11,  // a write response that is not OKAY
    ErrAborted  = 8'd12   // soft reset
  } error_e;

  localparam int unsigned NumCounters = 14;
  typedef enum logic [3:0] {
    CntCycles       = 4'd0,
    CntNtt0Busy     = 4'd1,
    CntNtt1Busy     = 4'd2,
    CntArithBusy    = 4'd3,
    CntArithTicket  = 4'd4,
    CntArithRead    = 4'd5,
    CntArithWrite   = 4'd6,
    CntNtt0Ticket   = 4'd7,
    CntNtt1Ticket   = 4'd8,
    CntNtt0Twiddle  = 4'd9,
    CntNtt1Twiddle  = 4'd10,
    CntReadBeats    = 4'd11,
    CntWriteBeats   = 4'd12,
    CntInstructions = 4'd13
  } counter_e;

  typedef struct packed {
    logic             start;         // pulse
    logic             soft_reset;    // pulse
    logic [AddrW-1:0] program_addr;
    logic [LogNW-1:0] log_n;
  } core_ctrl_t;

  typedef struct packed {
    logic                                   busy;
    logic                                   done;     // until the next start
    logic                                   error;    // until the next start
    logic                                   refused;  // a start came while busy
    logic [7:0]                             error_code;
    logic [31:0]                            error_pc;
    logic [NumCounters-1:0][CounterW-1:0]   counters;
  } core_status_t;

  // AXI4-Lite with 32 bits of data: what the host drives, and what the core answers.
  typedef struct packed {
    logic        aw_valid;
    logic [13:0] aw_addr;
    logic [2:0]  aw_prot;
    logic        w_valid;
    logic [31:0] w_data;
    logic [3:0]  w_strb;
    logic        b_ready;
    logic        ar_valid;
    logic [13:0] ar_addr;
    logic [2:0]  ar_prot;
    logic        r_ready;
  } axil_req_t;

  typedef struct packed {
    logic        aw_ready;
    logic        w_ready;
    logic        b_valid;
    logic [1:0]  b_resp;
    logic        ar_ready;
    logic        r_valid;
    logic [31:0] r_data;
    logic [1:0]  r_resp;
  } axil_rsp_t;

endpackage
