// rm_mem_fetch - the instruction stream: 32-byte instructions from memory, in order, read ahead.
//
// Contract     start_i (a pulse while idle_o) with the program's address begins the stream; it ends
//              with END (opcode 0) when that is taken, or when stop_i is high. instr_err_o marks an
//              instruction whose data came with a bus error; what lies behind END may be read ahead
//              (at most Depth instructions and the bytes up to the end of a burst) but is never
//              shown, and errors there are not reported.
// Cycles       start_i in t; first burst shown in t + 3; beat that completes an instruction taken in
//              t, shown in t + 2; an instruction a cycle.
// stop_i       while high: drops what has come, discards beats still due, asks for nothing.
module rm_mem_fetch
  import rm_mem_pkg::*;
#(
  parameter int unsigned DataW      = 512,
  parameter int unsigned Depth      = 32,  // instructions read ahead
  parameter int unsigned BurstBytes = 512,
  localparam int unsigned InstrW    = 256
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [UnitAddrW-1:0] addr_i,
  input  logic                 stop_i,
  output logic                 idle_o,
  output logic                 burst_valid_o,
  input  logic                 burst_ready_i,
  output burst_t               burst_o,
  input  logic                 r_valid_i,
  input  logic [DataW-1:0]     r_data_i,
  input  logic [1:0]           r_resp_i,
  input  logic                 r_last_i,
  output logic                 instr_valid_o,
  input  logic                 instr_ready_i,
  output logic [InstrW-1:0]    instr_o,
  output logic                 instr_err_o,
  output logic                 err_valid_o,
  output logic [1:0]           err_resp_o,
  output logic [UnitAddrW-1:0] err_addr_o
);

  localparam int unsigned InstrWords = InstrW / WordBits;
  localparam int unsigned ChunkUnits = BurstBytes / UnitBytes;
  localparam int unsigned ChunkRows  = BurstBytes / (InstrW / 8);

  logic                 active_q, active_d, seen_end, flush, req_ready, dma_idle;
  logic                 dma_err_valid;
  logic [1:0]           dma_err_resp;
  logic [UnitAddrW-1:0] dma_err_addr;
  logic [UnitAddrW-1:0] addr_q, addr_d;

  assign seen_end = instr_valid_o && instr_ready_i && !instr_err_o && instr_o[7:0] == rm_isa_pkg::OpEnd;
  assign flush    = seen_end || stop_i;

  always_comb begin : p_next
    active_d = active_q;
    addr_d   = addr_q;
    if (active_q && req_ready) addr_d = addr_q + ChunkUnits;
    if (start_i) begin
      active_d = 1'b1;
      addr_d   = addr_i;
    end
    if (flush) active_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      active_q <= 1'b0;
      addr_q   <= '0;
    end else begin
      active_q <= active_d;
      addr_q   <= addr_d;
    end
  end

  rm_mem_read_dma #(
    .DataW(DataW), .RowWords(InstrWords), .WordW(WordBits), .Depth(Depth),
    .BurstBytes(BurstBytes), .Outstanding(4)
  ) i_dma (
    .clk_i, .rst_ni, .flush_i(flush), .idle_o(dma_idle),
    .req_valid_i(active_q), .req_ready_o(req_ready),
    .req_i('{addr: addr_q, rows: RowsW'(ChunkRows)}),
    .burst_valid_o, .burst_ready_i, .burst_o,
    .r_valid_i, .r_data_i, .r_resp_i, .r_last_i,
    .row_valid_o(instr_valid_o), .row_ready_i(instr_ready_i), .row_o(instr_o),
    .row_err_o(instr_err_o),
    .err_valid_o(dma_err_valid), .err_resp_o(dma_err_resp), .err_addr_o(dma_err_addr)
  );

  assign idle_o = !active_q && dma_idle;

  // The first error that was seen is reported when its instruction is shown: what comes after END
  // never is.
  logic                 seen_q, told_q;
  logic [1:0]           resp_q;
  logic [UnitAddrW-1:0] fault_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_error
    if (!rst_ni) begin
      seen_q  <= 1'b0;
      told_q  <= 1'b0;
      resp_q  <= '0;
      fault_q <= '0;
    end else if (flush) begin
      seen_q <= 1'b0;
      told_q <= 1'b0;
    end else begin
      if (dma_err_valid && !seen_q) begin
        seen_q  <= 1'b1;
        resp_q  <= dma_err_resp;
        fault_q <= dma_err_addr;
      end
      if (err_valid_o) told_q <= 1'b1;
    end
  end

  assign err_valid_o = instr_valid_o && instr_err_o && seen_q && !told_q;
  assign err_resp_o  = resp_q;
  assign err_addr_o  = fault_q;

endmodule
