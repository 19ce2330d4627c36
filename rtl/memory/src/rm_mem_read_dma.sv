// rm_mem_read_dma - requests in, rows out: bursts ahead into a row FIFO.
//
// Contract     rows of the requests, in order, each WordW low bits of RowWords 64-bit words.
//              row_err_o marks a row of which a beat came with a response other than OKAY (its
//              data mean nothing); err_o tells at once, with the address of the burst.
// Requests     one waits in a register while another is cut into bursts (rm_mem_splitter); a queue in front
//              keeps the bus busy from one to the next.
// Space        credit_q counts beats for which the FIFO has room and no burst has been issued. A
//              burst of n beats is issued only when credit_q >= n: r_ready_o is constant 1.
// Widths       an entry of the FIFO is the wider of beat and row: narrow beats are gathered before
//              the FIFO, a wide beat is cut into rows behind it.
// Cycles       request taken in t; first burst shown (burst_valid_o) in t + 2; a burst a cycle. Beat
//              that completes an entry taken in t; row_valid_o in t + 2 at the earliest. A row a
//              cycle. Credit of an entry returns in the cycle after its last row went.
// flush_i      forgets request and rows, takes nothing new, and discards the beats still due.
module rm_mem_read_dma
  import rm_mem_pkg::*;
#(
  parameter int unsigned DataW       = 512,
  parameter int unsigned RowWords    = 8,
  parameter int unsigned WordW       = 54,
  parameter int unsigned Depth       = 64,   // FIFO space in rows
  parameter int unsigned BurstBytes  = 1024,
  parameter int unsigned Outstanding = 16,
  localparam int unsigned RowW       = RowWords * WordW
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             flush_i,
  output logic             idle_o,
  // requests
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  request_t         req_i,
  // bursts, to the arbiter
  output logic             burst_valid_o,
  input  logic             burst_ready_i,
  output burst_t           burst_o,
  // beats
  input  logic             r_valid_i,
  input  logic [DataW-1:0] r_data_i,
  input  logic [1:0]       r_resp_i,
  input  logic             r_last_i,
  // rows
  output logic             row_valid_o,
  input  logic             row_ready_i,
  output logic [RowW-1:0]  row_o,
  output logic             row_err_o,
  // first sight of a response other than OKAY
  output logic                 err_valid_o,
  output logic [1:0]           err_resp_o,
  output logic [UnitAddrW-1:0] err_addr_o
);

  localparam int unsigned BeatWords     = DataW / WordBits;
  localparam int unsigned EntryWords    = (RowWords > BeatWords) ? RowWords : BeatWords;
  localparam int unsigned BeatsPerEntry = EntryWords / BeatWords;
  localparam int unsigned RowsPerEntry  = EntryWords / RowWords;
  localparam int unsigned Entries       = Depth / RowsPerEntry;
  localparam int unsigned Credits       = Entries * BeatsPerEntry;
  localparam int unsigned CreditW       = $clog2(Credits + 1);
  localparam int unsigned BurstBeats    = BurstBytes / (DataW / 8);

  if (Credits < BurstBeats) begin : g_check_depth
    $error("rm_mem_read_dma: Depth rows do not hold a burst of BurstBytes");
  end

  // ---------------------------------------------------------------- requests to bursts
  logic split_ready, split_busy, split_valid, split_go, pend_ready, pend_valid, pend_pop, drain_q, drain_d;
  logic [UnitAddrW-1:0] pend_addr;
  logic [CreditW-1:0]   credit_q, credit_d;
  logic [$clog2(Outstanding+1)-1:0] pend_count;

  assign req_ready_o = split_ready && !drain_q;

  rm_mem_splitter #(.DataW(DataW), .RowWords(RowWords), .BurstBytes(BurstBytes)) i_splitter (
    .clk_i, .rst_ni, .clear_i(flush_i), .busy_o(split_busy),
    .req_valid_i(req_valid_i && !drain_q), .req_ready_o(split_ready), .req_i,
    .burst_valid_o(split_valid), .burst_ready_i(split_go), .burst_o
  );

  // Once true it stays: credit only grows while a burst waits, and so does the room for addresses.
  assign burst_valid_o = split_valid && pend_ready && credit_q >= CreditW'(burst_o.beats);
  assign split_go      = burst_valid_o && burst_ready_i;

  // Addresses of the bursts under way, for error reports and for idle_o.
  rm_core_fifo #(.Width(UnitAddrW), .Depth(Outstanding)) i_pending (
    .clk_i, .rst_ni,
    .push_valid_i(split_go), .push_ready_o(pend_ready), .push_data_i(burst_o.addr[AddrW-1 -: UnitAddrW]),
    .pop_valid_o(pend_valid), .pop_ready_i(pend_pop), .pop_data_o(pend_addr), .count_o(pend_count)
  );
  assign pend_pop = r_valid_i && r_last_i;

  // ---------------------------------------------------------------- beats to entries
  logic                        beat_take, entry_push, entry_err;
  logic [BeatWords*WordW-1:0]  beat_words;
  logic [EntryWords*WordW-1:0] entry;

  for (genvar i = 0; i < BeatWords; i++) begin : g_narrow
    assign beat_words[i*WordW +: WordW] = r_data_i[i*WordBits +: WordW];
  end
  if (WordW < WordBits) begin : g_unused
    // Bits above a residue are zero off chip and not looked at.
    logic unused;
    always_comb begin : p_unused
      unused = 1'b0;
      for (int unsigned i = 0; i < BeatWords; i++) begin
        unused ^= ^r_data_i[i*WordBits + WordW +: WordBits - WordW];
      end
    end
  end

  assign beat_take = r_valid_i && !drain_q && !flush_i;

  if (BeatsPerEntry == 1) begin : g_direct
    assign entry_push = beat_take;
    assign entry      = beat_words;
    assign entry_err  = r_resp_i != 2'b00;
  end else begin : g_gather
    localparam int unsigned IdxW = $clog2(BeatsPerEntry);
    logic [IdxW-1:0] idx_q;
    logic            err_q;
    logic [(BeatsPerEntry-1)*BeatWords*WordW-1:0] part_q;

    assign entry_push = beat_take && idx_q == IdxW'(BeatsPerEntry - 1);
    assign entry      = {beat_words, part_q};
    assign entry_err  = err_q || r_resp_i != 2'b00;

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_idx
      if (!rst_ni) begin
        idx_q <= '0;
        err_q <= 1'b0;
      end else if (flush_i) begin
        idx_q <= '0;
        err_q <= 1'b0;
      end else if (beat_take) begin
        idx_q <= idx_q + 1'b1;
        err_q <= !entry_push && entry_err;
      end
    end

    always_ff @(posedge clk_i) begin : p_part
      for (int unsigned i = 0; i < BeatsPerEntry - 1; i++) begin
        if (beat_take && idx_q == IdxW'(i)) begin
          part_q[i*BeatWords*WordW +: BeatWords*WordW] <= beat_words;
        end
      end
    end
  end

  // ---------------------------------------------------------------- entries to rows
  logic                        entry_valid, entry_pop, entry_room;
  logic [EntryWords*WordW-1:0] head;

  rm_mem_row_fifo #(.Width(EntryWords * WordW + 1), .Depth(Entries)) i_rows (
    .clk_i, .rst_ni, .clear_i(flush_i),
    .valid_i(entry_push), .ready_o(entry_room), .data_i({entry_err, entry}),
    .valid_o(entry_valid), .ready_i(entry_pop), .data_o({row_err_o, head})
  );

  assign row_valid_o = entry_valid;

  if (RowsPerEntry == 1) begin : g_whole
    assign row_o     = head;
    assign entry_pop = row_ready_i;
  end else begin : g_cut
    localparam int unsigned IdxW = $clog2(RowsPerEntry);
    logic [IdxW-1:0] idx_q;
    assign row_o     = head[idx_q*RowW +: RowW];
    assign entry_pop = row_ready_i && idx_q == IdxW'(RowsPerEntry - 1);

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_idx
      if (!rst_ni) begin
        idx_q <= '0;
      end else if (flush_i) begin
        idx_q <= '0;
      end else if (row_valid_o && row_ready_i) begin
        idx_q <= idx_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- credit, drain, errors
  always_comb begin : p_next
    credit_d = credit_q;
    if (split_go)                 credit_d = credit_d - CreditW'(burst_o.beats);
    if (entry_valid && entry_pop) credit_d = credit_d + CreditW'(BeatsPerEntry);
    if (flush_i)                  credit_d = CreditW'(Credits);
    drain_d = flush_i || (drain_q && pend_valid);
  end

  logic                 err_valid_q;
  logic [1:0]           err_resp_q;
  logic [UnitAddrW-1:0] err_addr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      credit_q    <= CreditW'(Credits);
      drain_q     <= 1'b0;
      err_valid_q <= 1'b0;
      err_resp_q  <= '0;
      err_addr_q  <= '0;
    end else begin
      credit_q    <= credit_d;
      drain_q     <= drain_d;
      err_valid_q <= beat_take && r_resp_i != 2'b00;
      err_resp_q  <= r_resp_i;
      err_addr_q  <= pend_addr;
    end
  end

  assign err_valid_o = err_valid_q;
  assign err_resp_o  = err_resp_q;
  assign err_addr_o  = err_addr_q;

  logic unused_count;
  assign unused_count = ^pend_count;

  // Full credit: every beat asked for has come, and every row of it has gone.
  assign idle_o = !split_busy && !pend_valid && credit_q == CreditW'(Credits);

`ifndef SYNTHESIS
  always @(posedge clk_i) begin : p_check
    if (rst_ni) begin
      a_room:  assert (!entry_push || entry_room);
      a_known: assert (!r_valid_i || pend_valid);
    end
  end
`endif

endmodule
