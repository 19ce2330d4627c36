// fv_mem_splitter - bursts of a request lie end to end, cover it, and none leaves its aligned block.
//
// Method       induction: what one burst may be, and a model of the request that is cut and of the one that waits, in
//              bytes, which the registers must agree with.
module fv_mem_splitter
  import rm_mem_pkg::*;
#(
  parameter int unsigned DataW      = 256,
  parameter int unsigned RowWords   = 2,
  parameter int unsigned BurstBytes = 128
) (
  input logic     clk_i,
  input logic     rst_ni,
  input logic     req_valid_i,
  input request_t req_i,
  input logic     burst_ready_i
);

  localparam int unsigned BeatBytes = DataW / 8;
  localparam int unsigned RowBytes  = RowWords * 8;
  localparam int unsigned RowMask   = (BeatBytes > RowBytes) ? BeatBytes / RowBytes - 1 : 0;
  localparam int unsigned BytesW    = 24;

  localparam int unsigned BeatShift = $clog2(BeatBytes);

  logic              req_ready, valid, busy, started_q, take, enter, waits_q;
  burst_t            burst;
  logic [AddrW-1:0]  next_q, wait_addr_q;
  logic [BytesW-1:0] left_q, wait_left_q, bytes, offset, wait_offset, cut_end;

  rm_mem_splitter #(.DataW(DataW), .RowWords(RowWords), .BurstBytes(BurstBytes)) i_dut (
    .clk_i, .rst_ni, .clear_i(1'b0), .busy_o(busy),
    .req_valid_i, .req_ready_o(req_ready), .req_i,
    .burst_valid_o(valid), .burst_ready_i, .burst_o(burst)
  );

  rm_handshake_check #(.Width($bits(burst_t))) i_out (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(valid), .ready_i(burst_ready_i), .data_i(burst)
  );

  assign take        = req_valid_i && req_ready;
  assign enter       = waits_q && left_q == '0;
  assign bytes       = BytesW'(burst.beats) * BytesW'(BeatBytes);
  assign offset      = BytesW'(burst.addr % AddrW'(BurstBytes));
  assign wait_offset = BytesW'(wait_addr_q % AddrW'(BurstBytes));
  assign cut_end     = (BytesW'({i_dut.blocks_q, i_dut.tail_q}) + 1'b1) << BeatShift;  // from the block's beginning

  initial begin
    started_q = 1'b0;
    left_q    = '0;
    waits_q   = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!rst_ni) begin
      left_q  <= '0;
      waits_q <= 1'b0;
    end else begin
      if (take) begin
        wait_addr_q <= {req_i.addr, 6'd0};
        wait_left_q <= BytesW'(req_i.rows) * BytesW'(RowBytes);
        waits_q     <= 1'b1;
      end else if (enter) begin
        waits_q <= 1'b0;
      end
      if (enter) begin
        next_q <= wait_addr_q;
        left_q <= wait_left_q;
      end else if (valid && burst_ready_i) begin
        next_q <= next_q + AddrW'(bytes);
        left_q <= left_q - bytes;
      end
    end
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else begin
      m_rows: assume (req_i.rows != '0 && (req_i.rows & RowsW'(RowMask)) == '0);
      m_unit: assume (BeatBytes <= UnitBytes || !req_i.addr[0]);
      if (rst_ni) begin
        a_wait:  assert (req_ready == !waits_q);
        a_all:   assert (valid == (left_q != '0));
        a_busy:  assert (busy == (waits_q || left_q != '0));
        if (waits_q) begin
          a_rows:  assert (wait_left_q != '0 && wait_left_q <= BytesW'(((1 << RowsW) - 1) * RowBytes));
          a_whole: assert (wait_left_q % BytesW'(BeatBytes) == '0 && wait_addr_q % AddrW'(BeatBytes) == '0);
          a_place: assert (i_dut.wait_addr_q == wait_addr_q[AddrW-1:BeatShift]);
          a_end:   assert ((BytesW'(i_dut.wait_end_q) + 1'b1) << BeatShift == wait_offset + wait_left_q);
        end
        if (valid) begin
          a_left:  assert (cut_end == offset + left_q);
          a_cut:   assert (i_dut.last_q == (i_dut.blocks_q == '0));
          a_beats: assert (bytes + offset == (i_dut.last_q ? cut_end : BytesW'(BurstBytes)));
          a_some:  assert (burst.beats != '0 && 32'(burst.beats) <= MaxBeats);
`ifdef BROKEN
          a_block: assert (offset + bytes < BytesW'(BurstBytes));
`else
          a_block: assert (offset + bytes <= BytesW'(BurstBytes));
`endif
          a_page:  assert (32'(burst.addr[11:0]) + 32'(bytes) <= PageBytes);
          a_addr:  assert (burst.addr == next_q);
          a_fits:  assert (bytes <= left_q);
          a_last:  assert (burst.last == (bytes == left_q));
        end
      end
    end
  end

endmodule
