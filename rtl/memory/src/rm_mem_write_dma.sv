// rm_mem_write_dma - requests and rows in, AXI bursts out; a pulse for each request that is stored.
//
// Contract     the rows of the requests, in order, each word zero-extended to 64 bits. done_o pulses
//              once for each request, in order, when the response of its last burst has arrived,
//              whatever it said; err_valid_o pulses for each response other than OKAY.
// Data         one entry (the wider of beat and row) is held; the writer brings its own FIFO. AW goes
//              out when the request does, W as rows come: rows must never wait for this store.
// Cycles       request taken in t; first burst shown in t + 2, AWVALID in t + 3; a burst a cycle. W of a burst may begin in
//              the cycle of its AWVALID, not before. A row that completes an entry taken in t: WVALID in t + 1. A beat a cycle (narrow beats), a
//              row a cycle (wide beats). B is always taken; done_o comes in the cycle after it.
module rm_mem_write_dma
  import rm_mem_pkg::*;
#(
  parameter int unsigned DataW       = 512,
  parameter int unsigned RowWords    = 8,
  parameter int unsigned WordW       = 54,
  parameter int unsigned BurstBytes  = 1024,
  parameter int unsigned Outstanding = 16,
  localparam int unsigned RowW       = RowWords * WordW
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             idle_o,
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  request_t         req_i,
  input  logic             row_valid_i,
  output logic             row_ready_o,
  input  logic [RowW-1:0]  row_i,
  output logic             done_o,
  output logic             aw_valid_o,
  input  logic             aw_ready_i,
  output axi_addr_t        aw_o,
  output logic             w_valid_o,
  input  logic             w_ready_i,
  output logic [DataW-1:0] w_data_o,
  output logic             w_last_o,
  input  logic             b_valid_i,
  input  logic [1:0]       b_resp_i,
  output logic                 err_valid_o,
  output logic [1:0]           err_resp_o,
  output logic [UnitAddrW-1:0] err_addr_o
);

  localparam int unsigned BeatWords     = DataW / WordBits;
  localparam int unsigned EntryWords    = (RowWords > BeatWords) ? RowWords : BeatWords;
  localparam int unsigned BeatsPerEntry = EntryWords / BeatWords;
  localparam int unsigned RowsPerEntry  = EntryWords / RowWords;

  // ---------------------------------------------------------------- requests to bursts
  localparam int unsigned PendW = $clog2(Outstanding + 1);

  logic             split_busy, split_valid, split_go, pend_ready, len_ready, aw_open;
  logic [PendW-1:0] pend_count, len_count;
  burst_t           burst;

  rm_mem_splitter #(.DataW(DataW), .RowWords(RowWords), .BurstBytes(BurstBytes)) i_splitter (
    .clk_i, .rst_ni, .clear_i(1'b0), .busy_o(split_busy),
    .req_valid_i, .req_ready_o, .req_i,
    .burst_valid_o(split_valid), .burst_ready_i(split_go), .burst_o(burst)
  );

  logic      aw_valid_q;
  axi_addr_t aw_q;

  assign aw_open  = !aw_valid_q || aw_ready_i;
  assign split_go = split_valid && aw_open && pend_ready && len_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_aw
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      aw_q       <= '0;
    end else if (aw_open) begin
      aw_valid_q <= split_go;
      aw_q       <= '{id: 1'b0, addr: burst.addr, len: LenW'(burst.beats - 1'b1)};
    end
  end

  assign aw_valid_o = aw_valid_q;
  assign aw_o       = aw_q;

  // ---------------------------------------------------------------- responses
  logic                 pend_valid, pend_last;
  logic [UnitAddrW-1:0] pend_addr;

  rm_core_fifo #(.Width(UnitAddrW + 1), .Depth(Outstanding)) i_pending (
    .clk_i, .rst_ni,
    .push_valid_i(split_go), .push_ready_o(pend_ready),
    .push_data_i({burst.last, burst.addr[AddrW-1 -: UnitAddrW]}),
    .pop_valid_o(pend_valid), .pop_ready_i(b_valid_i), .pop_data_o({pend_last, pend_addr}),
    .count_o(pend_count)
  );

  logic                 done_q, err_valid_q;
  logic [1:0]           err_resp_q;
  logic [UnitAddrW-1:0] err_addr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_response
    if (!rst_ni) begin
      done_q      <= 1'b0;
      err_valid_q <= 1'b0;
      err_resp_q  <= '0;
      err_addr_q  <= '0;
    end else begin
      done_q      <= b_valid_i && pend_last;
      err_valid_q <= b_valid_i && b_resp_i != 2'b00;
      err_resp_q  <= b_resp_i;
      err_addr_q  <= pend_addr;
    end
  end

  assign done_o      = done_q;
  assign err_valid_o = err_valid_q;
  assign err_resp_o  = err_resp_q;
  assign err_addr_o  = err_addr_q;

  // ---------------------------------------------------------------- rows to an entry
  logic [EntryWords*WordW-1:0] entry_q;
  logic                        full_q, entry_done, fill_last;

  assign row_ready_o = !full_q || entry_done;

  if (RowsPerEntry == 1) begin : g_whole
    assign fill_last = 1'b1;
    always_ff @(posedge clk_i) begin : p_entry
      if (row_valid_i && row_ready_o) entry_q <= row_i;
    end
  end else begin : g_gather
    localparam int unsigned IdxW = $clog2(RowsPerEntry);
    logic [IdxW-1:0] idx_q;
    assign fill_last = idx_q == IdxW'(RowsPerEntry - 1);

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_idx
      if (!rst_ni) begin
        idx_q <= '0;
      end else if (row_valid_i && row_ready_o) begin
        idx_q <= idx_q + 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin : p_entry
      for (int unsigned i = 0; i < RowsPerEntry; i++) begin
        if (row_valid_i && row_ready_o && idx_q == IdxW'(i)) entry_q[i*RowW +: RowW] <= row_i;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_full
    if (!rst_ni) begin
      full_q <= 1'b0;
    end else if (row_valid_i && row_ready_o) begin
      full_q <= fill_last;
    end else if (entry_done) begin
      full_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- entry to beats
  logic                       len_valid, beat_go;
  logic [LenW-1:0]            len, sent_q;
  logic [BeatWords*WordW-1:0] beat;

  rm_core_fifo #(.Width(LenW), .Depth(Outstanding)) i_lengths (
    .clk_i, .rst_ni,
    .push_valid_i(split_go), .push_ready_o(len_ready), .push_data_i(LenW'(burst.beats - 1'b1)),
    .pop_valid_o(len_valid), .pop_ready_i(beat_go && w_last_o), .pop_data_o(len), .count_o(len_count)
  );

  assign w_valid_o = full_q && len_valid;
  assign w_last_o  = sent_q == len;
  assign beat_go   = w_valid_o && w_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_sent
    if (!rst_ni) begin
      sent_q <= '0;
    end else if (beat_go) begin
      sent_q <= w_last_o ? '0 : sent_q + 1'b1;
    end
  end

  if (BeatsPerEntry == 1) begin : g_direct
    assign beat       = entry_q;
    assign entry_done = beat_go;
  end else begin : g_cut
    localparam int unsigned IdxW = $clog2(BeatsPerEntry);
    logic [IdxW-1:0] idx_q;
    assign beat       = entry_q[idx_q*BeatWords*WordW +: BeatWords*WordW];
    assign entry_done = beat_go && idx_q == IdxW'(BeatsPerEntry - 1);

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_idx
      if (!rst_ni) begin
        idx_q <= '0;
      end else if (beat_go) begin
        idx_q <= idx_q + 1'b1;
      end
    end
  end

  for (genvar i = 0; i < BeatWords; i++) begin : g_widen
    assign w_data_o[i*WordBits +: WordBits] = WordBits'(beat[i*WordW +: WordW]);
  end

  assign idle_o = !split_busy && !pend_valid && !aw_valid_q;

  logic unused;
  assign unused = ^{pend_count, len_count};

`ifndef SYNTHESIS
  always @(posedge clk_i) begin : p_check
    if (rst_ni) begin
      a_known: assert (!b_valid_i || pend_valid);
    end
  end
  rm_handshake_check #(.Width($bits(axi_addr_t))) i_check_aw (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(aw_valid_q), .ready_i(aw_ready_i), .data_i(aw_q)
  );
  rm_handshake_check #(.Width(DataW + 1)) i_check_w (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(w_valid_o), .ready_i(w_ready_i),
    .data_i({w_last_o, w_data_o})
  );
`endif

endmodule
