// fv_mem_read_dma - space is reserved before it is needed; rows are stable, and as many as were requested.
//
// Method       bounded, at a few beats and rows; the memory answers the bursts in order at any time, or never. Words
//              have one bit: where data go is for simulation, how many there are is proved here.
module fv_mem_read_dma
  import rm_mem_pkg::*;
#(
  parameter int unsigned RowWords = 8,
  parameter int unsigned Depth    = 2
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic         flush_i,
  input logic         req_valid_i,
  input request_t     req_i,
  input logic         burst_ready_i,
  input logic         r_valid_i,
  input logic [255:0] r_data_i,
  input logic [1:0]   r_resp_i,
  input logic         row_ready_i
);

  localparam int unsigned DataW   = 256;
  localparam int unsigned CntW    = 8;
  localparam int unsigned RowMask = (RowWords < 4) ? 4 / RowWords - 1 : 0;

  logic              req_ready, burst_valid, row_valid, row_err, idle, r_last, due_valid, due_ready;
  logic              started_q, err_valid;
  logic [1:0]        err_resp;
  logic [UnitAddrW-1:0] err_addr;
  logic [RowWords-1:0] row;
  burst_t            burst;
  logic [BeatsW-1:0] due, sent_q;
  logic [CntW-1:0]   rows_q;
  logic [2:0]        due_count;

  rm_mem_read_dma #(
    .DataW(DataW), .RowWords(RowWords), .WordW(1), .Depth(Depth), .BurstBytes(64), .Outstanding(4)
  ) i_dut (
    .clk_i, .rst_ni, .flush_i, .idle_o(idle),
    .req_valid_i, .req_ready_o(req_ready), .req_i,
    .burst_valid_o(burst_valid), .burst_ready_i, .burst_o(burst),
    .r_valid_i, .r_data_i, .r_resp_i, .r_last_i(r_last),
    .row_valid_o(row_valid), .row_ready_i, .row_o(row), .row_err_o(row_err),
    .err_valid_o(err_valid), .err_resp_o(err_resp), .err_addr_o(err_addr)
  );

  // The bursts that the memory has to answer.
  rm_core_fifo #(.Width(BeatsW), .Depth(5)) i_memory (
    .clk_i, .rst_ni,
    .push_valid_i(burst_valid && burst_ready_i), .push_ready_o(due_ready), .push_data_i(burst.beats),
    .pop_valid_o(due_valid), .pop_ready_i(r_valid_i && r_last), .pop_data_o(due), .count_o(due_count)
  );
  assign r_last = sent_q + 1'b1 == due;

  rm_handshake_check #(.Width(RowWords + 1)) i_rows (
    .clk_i, .rst_ni, .clear_i(flush_i), .valid_i(row_valid), .ready_i(row_ready_i), .data_i({row_err, row})
  );
  rm_handshake_check #(.Width($bits(burst_t))) i_bursts (
    .clk_i, .rst_ni, .clear_i(flush_i), .valid_i(burst_valid), .ready_i(burst_ready_i), .data_i(burst)
  );

  initial begin
    started_q = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!rst_ni) begin
      sent_q <= '0;
      rows_q <= '0;
    end else begin
      if (r_valid_i) sent_q <= r_last ? '0 : sent_q + 1'b1;
      if (flush_i) begin
        rows_q <= '0;
      end else begin
        rows_q <= rows_q + ((req_valid_i && req_ready) ? CntW'(req_i.rows) : '0)
                  - CntW'(row_valid && row_ready_i);
      end
    end
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else begin
      assume (rst_ni);
      m_rows:   assume (req_i.rows != '0 && req_i.rows <= RowsW'(8) && (req_i.rows & RowsW'(RowMask)) == '0);
      m_answer: assume (!r_valid_i || due_valid);
`ifdef BROKEN
      a_room:   assert (!i_dut.entry_push);  // no row ever comes: must be refuted
`else
      a_room:   assert (!i_dut.entry_push || i_dut.entry_room);
`endif
      a_under_way: assert (due_ready);
      a_known:     assert (due_valid == i_dut.pend_valid);
      a_asked:     assert (!row_valid || rows_q != '0);
      a_idle:      assert (!idle || (rows_q == '0 && !due_valid));
    end
  end

endmodule
