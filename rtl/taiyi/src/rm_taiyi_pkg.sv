// rm_taiyi_pkg - what the host writes into the small whole machine, and who reads and writes its scratchpad.
package rm_taiyi_pkg;

  // An issue: one instruction on one unit, or one transfer. Fields that a queue does not use are 0. README.md says who uses which.
  typedef struct packed {
    logic [63:0] k1;
    logic [63:0] k;
    logic [23:0] base;    // of a list
    logic [7:0]  p;       // a second modulus, or how many terms
    logic [7:0]  q;       // modulus of the result
    logic        unused;
    logic [2:0]  mask;    // which of c, b, a are read
    logic [3:0]  op;
    logic [11:0] d;       // slots: result, operands
    logic [11:0] c;
    logic [11:0] b;
    logic [11:0] a;
    logic [31:0] cycle;   // of the schedule
  } issue_t;

  // A source of a base conversion.
  typedef struct packed {
    logic [63:0] factor;
    logic [24:0] unused;
    logic [14:0] head;
    logic [1:0]  unused_2;
    logic [5:0]  shift;
    logic [3:0]  unused_3;
    logic [11:0] a;
  } source_t;

  // A term of an inner product.
  typedef struct packed {
    logic [11:0] b;
    logic [11:0] a;
  } term_t;

  typedef struct packed {
    logic [65:0] aux;
    logic [63:0] word;    // 2^W mod q
    logic [63:0] q;
  } modulus_t;

  // Queues, one a unit and one a direction of the way off chip.
  localparam int unsigned Queues  = 7;
  localparam int unsigned QNtt    = 0;
  localparam int unsigned QAuto   = 1;
  localparam int unsigned QEwe    = 2;
  localparam int unsigned QConv   = 3;
  localparam int unsigned QSum    = 4;
  localparam int unsigned QLoad   = 5;
  localparam int unsigned QStore  = 6;

  // Tables: the queues by number, then these.
  localparam logic [3:0] TableCount   = 4'd7;    // words of queue cfg_addr_i
  localparam logic [3:0] TableModulus = 4'd8;
  localparam logic [3:0] TableNtt     = 4'd9;    // field at bit 8 of the address, modulus below
  localparam logic [3:0] TableSources = 4'd10;
  localparam logic [3:0] TableTerms   = 4'd11;

  // Ports of the scratchpad.
  localparam int unsigned Reads  = 9;
  localparam int unsigned RNtt   = 0;
  localparam int unsigned RAuto  = 1;
  localparam int unsigned REweA  = 2;
  localparam int unsigned REweB  = 3;
  localparam int unsigned REweC  = 4;
  localparam int unsigned RConv  = 5;
  localparam int unsigned RSumX  = 6;
  localparam int unsigned RSumK  = 7;
  localparam int unsigned RStore = 8;
  localparam int unsigned Writes = 6;            // numbered as the queues of their units

  // Cycles before cycle 0 of a schedule, in which first words are fetched and units with a longer way are started.
  localparam int unsigned Before = 8;
  localparam int unsigned CycleW = 32;

  // What wrong_o says.
  localparam int unsigned WrongQueue = 0;        // an issue whose cycle had passed
  localparam int unsigned WrongUnit  = 1;        // a unit that was not ready, or refused
  localparam int unsigned WrongPort  = 2;        // a port in use, or a result that nobody waits for
  localparam int unsigned WrongLimb  = 3;        // a row that was read before it was written, or written out of order
  localparam int unsigned WrongBits  = 4;

endpackage
