// rm_mem_system - everything between the core's streams and off-chip memory: instruction fetch, read
// stream, write stream, and one AXI4 master with one read and one write channel.
//
// Streams      valid/ready, payload stable while it waits; see rm_mem_fetch, rm_mem_read_dma, rm_mem_write_dma
//              for contracts and cycle rules, README.md for the whole.
// AXI4         incrementing bursts of whole beats; ARID 0 fetch, 1 read stream. A top gives what never changes:
//              RREADY and BREADY are 1, all write strobes are set, and the constants of rm_mem_pkg.
// Errors       a response other than OKAY pulses rd_err_o or wr_err_o, or marks the instruction;
//              err_o keeps kind, response and address of the first one since start_i.
module rm_mem_system
  import rm_mem_pkg::*;
#(
  parameter int unsigned W          = 54,
  parameter int unsigned NBF        = 4,
  parameter int unsigned D          = 512,
  parameter int unsigned BurstBytes = 1024,
  parameter int unsigned RdRows     = 64,  // rows read ahead, unless four bursts of narrow rows have more
  parameter int unsigned FetchDepth = 32,
  parameter int unsigned QueueDepth = 4,
  localparam int unsigned RowWords  = 2 * NBF,
  localparam int unsigned RowW      = RowWords * W,
  localparam int unsigned RdDepth   = (BurstBytes / (4 * NBF) > RdRows) ? BurstBytes / (4 * NBF) : RdRows,
  // Bursts under way: as many as there is space for.
  localparam int unsigned RdSpace   = RdDepth * RowWords * 8 / BurstBytes,
  localparam int unsigned RdBursts  = (RdSpace > 16) ? RdSpace : 16
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // instruction stream
  input  logic                 fetch_start_i,
  input  logic [UnitAddrW-1:0] fetch_addr_i,
  input  logic                 fetch_stop_i,
  output logic                 fetch_idle_o,
  output logic                 instr_valid_o,
  input  logic                 instr_ready_i,
  output logic [255:0]         instr_data_o,
  output logic                 instr_err_o,
  // read stream
  input  logic                 rd_req_valid_i,
  output logic                 rd_req_ready_o,
  input  logic [UnitAddrW-1:0] rd_req_addr_i,
  input  logic [RowsW-1:0]     rd_req_rows_i,
  output logic                 rd_row_valid_o,
  input  logic                 rd_row_ready_i,
  output logic [RowW-1:0]      rd_row_data_o,
  output logic                 rd_err_o,
  output logic                 rd_idle_o,
  output logic                 rd_beat_o,
  // write stream
  input  logic                 wr_req_valid_i,
  output logic                 wr_req_ready_o,
  input  logic [UnitAddrW-1:0] wr_req_addr_i,
  input  logic [RowsW-1:0]     wr_req_rows_i,
  input  logic                 wr_row_valid_i,
  output logic                 wr_row_ready_o,
  input  logic [RowW-1:0]      wr_row_data_i,
  output logic                 wr_done_o,
  output logic                 wr_err_o,
  output logic                 wr_idle_o,
  output logic                 wr_beat_o,
  output err_t                 err_o,
  // AXI4 master, one channel of each kind
  output logic                 aw_valid_o,
  input  logic                 aw_ready_i,
  output axi_addr_t            aw_o,
  output logic                 w_valid_o,
  input  logic                 w_ready_i,
  output logic [D-1:0]         w_data_o,
  output logic                 w_last_o,
  input  logic                 b_valid_i,
  input  logic [1:0]           b_resp_i,
  output logic                 ar_valid_o,
  input  logic                 ar_ready_i,
  output axi_addr_t            ar_o,
  input  logic                 r_valid_i,
  input  logic [D-1:0]         r_data_i,
  input  axi_read_t            r_i
);

  // Fetch reads in bursts of 16 instructions.
  localparam int unsigned FetchBurst = 512;

  if (W < 2 || W > WordBits) begin : g_check_w
    $error("rm_mem_system: W must lie between 2 and 64");
  end

  // ---------------------------------------------------------------- requests ahead
  localparam int unsigned CntW = $clog2(QueueDepth + 1);

  logic            rd_req_valid, rd_req_ready, rd_dma_idle, wr_req_valid, wr_req_ready, wr_dma_idle;
  request_t        rd_req, wr_req;
  logic [CntW-1:0] rd_req_count, wr_req_count;

  rm_core_fifo #(.Width($bits(request_t)), .Depth(QueueDepth)) i_rd_requests (
    .clk_i, .rst_ni,
    .push_valid_i(rd_req_valid_i), .push_ready_o(rd_req_ready_o),
    .push_data_i({rd_req_addr_i, rd_req_rows_i}),
    .pop_valid_o(rd_req_valid), .pop_ready_i(rd_req_ready), .pop_data_o(rd_req), .count_o(rd_req_count)
  );

  rm_core_fifo #(.Width($bits(request_t)), .Depth(QueueDepth)) i_wr_requests (
    .clk_i, .rst_ni,
    .push_valid_i(wr_req_valid_i), .push_ready_o(wr_req_ready_o),
    .push_data_i({wr_req_addr_i, wr_req_rows_i}),
    .pop_valid_o(wr_req_valid), .pop_ready_i(wr_req_ready), .pop_data_o(wr_req), .count_o(wr_req_count)
  );

  assign rd_idle_o = rd_dma_idle && !rd_req_valid;
  assign wr_idle_o = wr_dma_idle && !wr_req_valid;

  // ---------------------------------------------------------------- read side
  logic   fetch_valid, fetch_ready, stream_valid, stream_ready, fetch_beat, stream_beat;
  burst_t fetch_burst, stream_burst;
  logic   fetch_err, stream_err;
  logic [1:0]           fetch_resp, stream_resp;
  logic [UnitAddrW-1:0] fetch_fault, stream_fault;

  assign fetch_beat  = r_valid_i && !r_i.id;
  assign stream_beat = r_valid_i && r_i.id;

  rm_mem_fetch #(.DataW(D), .Depth(FetchDepth), .BurstBytes(FetchBurst)) i_fetch (
    .clk_i, .rst_ni,
    .start_i(fetch_start_i), .addr_i(fetch_addr_i), .stop_i(fetch_stop_i), .idle_o(fetch_idle_o),
    .burst_valid_o(fetch_valid), .burst_ready_i(fetch_ready), .burst_o(fetch_burst),
    .r_valid_i(fetch_beat), .r_data_i, .r_resp_i(r_i.resp), .r_last_i(r_i.last),
    .instr_valid_o, .instr_ready_i, .instr_o(instr_data_o), .instr_err_o,
    .err_valid_o(fetch_err), .err_resp_o(fetch_resp), .err_addr_o(fetch_fault)
  );

  logic row_err;  // the pulse of rd_err_o came before: the core stops by that

  rm_mem_read_dma #(
    .DataW(D), .RowWords(RowWords), .WordW(W), .Depth(RdDepth), .BurstBytes(BurstBytes), .Outstanding(RdBursts)
  ) i_read (
    .clk_i, .rst_ni, .flush_i(1'b0), .idle_o(rd_dma_idle),
    .req_valid_i(rd_req_valid), .req_ready_o(rd_req_ready), .req_i(rd_req),
    .burst_valid_o(stream_valid), .burst_ready_i(stream_ready), .burst_o(stream_burst),
    .r_valid_i(stream_beat), .r_data_i, .r_resp_i(r_i.resp), .r_last_i(r_i.last),
    .row_valid_o(rd_row_valid_o), .row_ready_i(rd_row_ready_i), .row_o(rd_row_data_o),
    .row_err_o(row_err),
    .err_valid_o(stream_err), .err_resp_o(stream_resp), .err_addr_o(stream_fault)
  );

  rm_mem_read_arbiter i_arbiter (
    .clk_i, .rst_ni,
    .fetch_valid_i(fetch_valid), .fetch_ready_o(fetch_ready), .fetch_i(fetch_burst),
    .stream_valid_i(stream_valid), .stream_ready_o(stream_ready), .stream_i(stream_burst),
    .ar_valid_o, .ar_ready_i, .ar_o
  );

  assign rd_err_o  = stream_err;
  assign rd_beat_o = r_valid_i;

  // ---------------------------------------------------------------- write side
  logic [1:0]           write_resp;
  logic [UnitAddrW-1:0] write_fault;

  rm_mem_write_dma #(
    .DataW(D), .RowWords(RowWords), .WordW(W), .BurstBytes(BurstBytes)
  ) i_write (
    .clk_i, .rst_ni, .idle_o(wr_dma_idle),
    .req_valid_i(wr_req_valid), .req_ready_o(wr_req_ready), .req_i(wr_req),
    .row_valid_i(wr_row_valid_i), .row_ready_o(wr_row_ready_o), .row_i(wr_row_data_i),
    .done_o(wr_done_o),
    .aw_valid_o, .aw_ready_i, .aw_o,
    .w_valid_o, .w_ready_i, .w_data_o, .w_last_o,
    .b_valid_i, .b_resp_i,
    .err_valid_o(wr_err_o), .err_resp_o(write_resp), .err_addr_o(write_fault)
  );

  assign wr_beat_o = w_valid_o && w_ready_i;

  // ---------------------------------------------------------------- first error
  err_t err_q, err_d;

  always_comb begin : p_first
    err_d = err_q;
    if (err_q.kind == ErrNone) begin
      if (fetch_err) begin
        err_d = '{kind: ErrFetch, resp: fetch_resp, addr: fetch_fault};
      end else if (stream_err) begin
        err_d = '{kind: ErrRead, resp: stream_resp, addr: stream_fault};
      end else if (wr_err_o) begin
        err_d = '{kind: ErrWrite, resp: write_resp, addr: write_fault};
      end
    end
    if (fetch_start_i) err_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_error
    if (!rst_ni) begin
      err_q <= '0;
    end else begin
      err_q <= err_d;
    end
  end

  assign err_o = err_q;

  logic unused;
  assign unused = ^{row_err, rd_req_count, wr_req_count};

endmodule
