// rm_mem_splitter - cuts a request (address, rows) into AXI bursts.
//
// Contract     the bursts of a request cover its bytes once, in order; each ends at the request's
//              end or at a multiple of BurstBytes, so none crosses a page of 4 KiB.
// Inputs       addr in units of 64 bytes and a multiple of a beat; rows * RowBytes a positive
//              multiple of a beat (both hold for limbs of 16 words and more, aligned to a beat).
// Method       with a beat before the request's first one in its block, the request ends in block
//              `blocks` behind its first, at beat `tail`; only the first block has an offset. A burst is
//              made a cycle before it is shown: everything that is shown comes from registers.
// Cycles       a request taken in cycle t waits in a register in t + 1 and shows its first burst in t + 2; a
//              burst a cycle after that. The next request may be taken in the cycle after this one left the
//              register, and shows its first burst two cycles after the last one of this has gone.
module rm_mem_splitter
  import rm_mem_pkg::*;
#(
  parameter int unsigned DataW      = 512,
  parameter int unsigned RowWords   = 8,
  parameter int unsigned BurstBytes = 1024
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     clear_i,
  output logic     busy_o,        // a request is here
  input  logic     req_valid_i,
  output logic     req_ready_o,
  input  request_t req_i,
  output logic     burst_valid_o,
  input  logic     burst_ready_i,
  output burst_t   burst_o
);

  localparam int unsigned BeatBytes  = DataW / 8;
  localparam int unsigned RowBytes   = RowWords * (WordBits / 8);
  localparam int unsigned BurstBeats = BurstBytes / BeatBytes;
  localparam int unsigned BeatShift  = $clog2(BeatBytes);
  localparam int unsigned BeatAddrW  = AddrW - BeatShift;
  localparam int unsigned BurstLog   = $clog2(BurstBeats);
  // rows * RowWords < 2^(RowsW + log2 RowWords), each word at most one beat; the offset adds less than a block
  localparam int unsigned LeftW      = RowsW + $clog2(RowWords);
  localparam int unsigned EndW       = ((LeftW > BurstLog) ? LeftW : BurstLog) + 1;
  localparam int unsigned BlocksW    = EndW - BurstLog;
  localparam int unsigned BlockAddrW = BeatAddrW - BurstLog;

  if (DataW < 64 || DataW > 1024 || (DataW & (DataW - 1)) != 0) begin : g_check_data
    $error("rm_mem_splitter: DataW must be a power of two from 64 to 1024");
  end
  if (BurstBeats < 2 || BurstBeats > MaxBeats || BurstBytes > PageBytes || BurstBytes < UnitBytes ||
      (BurstBytes & (BurstBytes - 1)) != 0) begin : g_check_burst
    $error("rm_mem_splitter: BurstBytes must be a power of two of 2 to 256 beats, 64 to 4096 bytes");
  end

  // ---------------------------------------------------------------- the request that waits
  logic                 wait_q, wait_d, load;
  logic [BeatAddrW-1:0] wait_addr_q, addr;
  logic [EndW-1:0]      wait_end_q;   // its last beat, counted from the beginning of its first block
  logic [LeftW-1:0]     words;
  logic [EndW-1:0]      early;        // offset in the block - 1

  assign words  = LeftW'(req_i.rows) << $clog2(RowWords);
  assign addr   = BeatAddrW'({req_i.addr, {$clog2(UnitBytes) {1'b0}}} >> BeatShift);
  assign early = EndW'(addr[BurstLog-1:0]) - 1'b1;

  assign req_ready_o = !wait_q;

  always_comb begin : p_wait
    wait_d = wait_q ? !load : req_valid_i;
    if (clear_i) wait_d = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_request
    if (!wait_q) begin
      wait_addr_q <= addr;
      wait_end_q  <= EndW'(words >> (BeatShift - $clog2(WordBits / 8))) + early;
    end
  end

  // ---------------------------------------------------------------- the burst that is shown
  logic                  valid_q, valid_d, last_q, last_d, step;
  logic [BlockAddrW-1:0] block_q, block_d;
  logic [BurstLog-1:0]   offset_q, offset_d, tail_q, tail_d;  // first beat of the burst, last one of the request
  logic [BlocksW-1:0]    blocks_q, blocks_d;                  // blocks behind this one
  logic [BurstLog-1:0]   end_d;                               // last beat of the burst
  logic [BeatsW-1:0]     beats_q, beats_d;

  assign load = wait_q && !valid_q;
  assign step = valid_q && burst_ready_i;

  always_comb begin : p_next
    valid_d  = valid_q;
    block_d  = block_q;
    offset_d = offset_q;
    blocks_d = blocks_q;
    tail_d   = tail_q;
    last_d   = last_q;
    if (step) begin
      valid_d  = !last_q;
      block_d  = block_q + 1'b1;
      offset_d = '0;
      blocks_d = blocks_q - 1'b1;
      last_d   = blocks_q == BlocksW'(1);
    end
    if (!valid_q) begin
      valid_d  = wait_q;
      block_d  = wait_addr_q[BeatAddrW-1:BurstLog];
      offset_d = wait_addr_q[BurstLog-1:0];
      blocks_d = wait_end_q[EndW-1:BurstLog];
      tail_d   = wait_end_q[BurstLog-1:0];
      last_d   = blocks_d == '0;
    end
    end_d   = last_d ? tail_d : '1;
    beats_d = BeatsW'(end_d - offset_d) + 1'b1;
    if (clear_i) valid_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      wait_q  <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      wait_q  <= wait_d;
      valid_q <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin : p_burst
    if (step || !valid_q) begin
      block_q  <= block_d;
      offset_q <= offset_d;
      blocks_q <= blocks_d;
      tail_q   <= tail_d;
      last_q   <= last_d;
      beats_q  <= beats_d;
    end
  end

  assign busy_o        = wait_q || valid_q;
  assign burst_valid_o = valid_q;
  assign burst_o       = '{addr: {block_q, offset_q, BeatShift'(0)}, beats: beats_q, last: last_q};

`ifndef SYNTHESIS
  localparam int unsigned RowMask = (BeatBytes > RowBytes) ? BeatBytes / RowBytes - 1 : 0;
  always @(posedge clk_i) begin : p_check
    if (rst_ni && req_valid_i && req_ready_o) begin
      a_rows:    assert (req_i.rows != '0 && (req_i.rows & RowsW'(RowMask)) == '0);
      a_aligned: assert (BeatBytes <= UnitBytes || !req_i.addr[0]);
    end
  end
  rm_handshake_check #(.Width($bits(burst_t))) i_check_burst (
    .clk_i, .rst_ni, .clear_i, .valid_i(burst_valid_o), .ready_i(burst_ready_i), .data_i(burst_o)
  );
`endif

endmodule
