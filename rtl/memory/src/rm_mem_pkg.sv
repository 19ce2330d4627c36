// rm_mem_pkg - constants and types of the memory system.
package rm_mem_pkg;

  // Addresses of requests count units of 64 bytes; AXI addresses count bytes.
  parameter int unsigned UnitBytes = 64;
  parameter int unsigned UnitAddrW = 32;
  parameter int unsigned AddrW     = UnitAddrW + $clog2(UnitBytes);
  // Off chip a word has 64 bits, whatever the width of the primes.
  parameter int unsigned WordBits  = 64;
  // Rows of one request: at most 2^15 words in rows of two words, 2^14.
  parameter int unsigned RowsW     = 15;
  // AXI4: a burst has 1 to 256 beats and stays within 4 KiB.
  parameter int unsigned MaxBeats  = 256;
  parameter int unsigned PageBytes = 4096;
  parameter int unsigned LenW      = 8;
  parameter int unsigned BeatsW    = LenW + 1;

  // Who asked for the transfer that failed. Several at once: the lowest code is kept.
  typedef enum logic [1:0] {
    ErrNone  = 2'd0,
    ErrFetch = 2'd1,
    ErrRead  = 2'd2,
    ErrWrite = 2'd3
  } err_kind_e;

  // First failure since the last start; addr is the burst's, in units of 64 bytes; resp is xRESP.
  typedef struct packed {
    err_kind_e            kind;
    logic [1:0]           resp;
    logic [UnitAddrW-1:0] addr;
  } err_t;

  // One AXI burst: byte address, beats (1 to 256), and whether it is the last of its request.
  typedef struct packed {
    logic [AddrW-1:0]  addr;
    logic [BeatsW-1:0] beats;
    logic              last;
  } burst_t;

  typedef struct packed {
    logic [UnitAddrW-1:0] addr;
    logic [RowsW-1:0]     rows;
  } request_t;

  // AXI4, AW or AR: the fields that differ from burst to burst. A top gives the others, which are constants.
  typedef struct packed {
    logic             id;
    logic [AddrW-1:0] addr;
    logic [LenW-1:0]  len;   // beats - 1
  } axi_addr_t;

  // AXI4, R beside its data.
  typedef struct packed {
    logic       id;
    logic [1:0] resp;
    logic       last;
  } axi_read_t;

  // AXI4, the constants of AW and AR: whole beats at rising addresses, in memory that may be buffered.
  parameter logic [1:0] AxiBurst = 2'b01;
  parameter logic [3:0] AxiCache = 4'b0011;
  parameter logic [2:0] AxiProt  = 3'b000;

endpackage
