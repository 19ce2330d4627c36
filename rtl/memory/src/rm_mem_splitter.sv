// rm_mem_splitter - cuts a request (address, rows) into AXI bursts.
//
// Contract     the bursts of a request cover its bytes once, in order; each ends at the request's
//              end or at a multiple of BurstBytes, so none crosses a page of 4 KiB.
// Inputs       addr in units of 64 bytes and a multiple of a beat; rows * RowBytes a positive
//              multiple of a beat (both hold for limbs of 16 words and more, aligned to a beat).
// Cycles       a request taken in cycle t shows its first burst in t + 1; a burst a cycle after that;
//              the next request is taken one cycle after the last burst has gone.
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
  // rows * RowWords < 2^(RowsW + log2 RowWords), each word at most one beat
  localparam int unsigned LeftW      = RowsW + $clog2(RowWords);

  if (DataW < 64 || DataW > 1024 || (DataW & (DataW - 1)) != 0) begin : g_check_data
    $error("rm_mem_splitter: DataW must be a power of two from 64 to 1024");
  end
  if (BurstBeats < 2 || BurstBeats > MaxBeats || BurstBytes > PageBytes || BurstBytes < UnitBytes ||
      (BurstBytes & (BurstBytes - 1)) != 0) begin : g_check_burst
    $error("rm_mem_splitter: BurstBytes must be a power of two of 2 to 256 beats, 64 to 4096 bytes");
  end

  logic [BeatAddrW-1:0] addr_q, addr_d;
  logic [LeftW-1:0]     left_q, left_d;
  logic [BeatsW-1:0]    room, beats;
  logic [LeftW-1:0]     words;

  assign room  = BeatsW'(BurstBeats) - BeatsW'(addr_q[BurstLog-1:0]);
  assign beats = (left_q > LeftW'(room)) ? room : BeatsW'(left_q);
  assign words = LeftW'(req_i.rows) << $clog2(RowWords);

  assign req_ready_o   = left_q == '0;
  assign burst_valid_o = left_q != '0;
  assign burst_o = '{addr:  {addr_q, BeatShift'(0)},
                     beats: beats,
                     last:  left_q == LeftW'(beats)};

  always_comb begin : p_next
    addr_d = addr_q;
    left_d = left_q;
    if (req_ready_o && req_valid_i) begin
      addr_d = BeatAddrW'({req_i.addr, {$clog2(UnitBytes) {1'b0}}} >> BeatShift);
      left_d = words >> (BeatShift - $clog2(WordBits / 8));
    end else if (burst_valid_o && burst_ready_i) begin
      addr_d = addr_q + BeatAddrW'(beats);
      left_d = left_q - LeftW'(beats);
    end
    if (clear_i) left_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      addr_q <= '0;
      left_q <= '0;
    end else begin
      addr_q <= addr_d;
      left_q <= left_d;
    end
  end

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
