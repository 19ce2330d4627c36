// fv_mem_write_dma - AXI's rules for AW and W, no data ahead of their address, one pulse a request.
//
// Method       bounded, at a few beats and rows; ready and responses come at any time, or never.
module fv_mem_write_dma
  import rm_mem_pkg::*;
#(
  parameter int unsigned RowWords = 8
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                req_valid_i,
  input request_t            req_i,
  input logic                row_valid_i,
  input logic [RowWords-1:0] row_i,
  input logic                aw_ready_i,
  input logic                w_ready_i,
  input logic                b_valid_i,
  input logic [1:0]          b_resp_i
);

  localparam int unsigned DataW   = 256;
  localparam int unsigned CntW    = 8;
  localparam int unsigned RowMask = (RowWords < 4) ? 4 / RowWords - 1 : 0;

  logic             req_ready, row_ready, done, idle, aw_valid, w_valid, w_last, err_valid, started_q, new_aw;
  logic             aw_seen_q;
  axi_addr_t        aw;
  logic [DataW-1:0] w_data;
  logic [1:0]       err_resp;
  logic [UnitAddrW-1:0] err_addr;
  logic [CntW-1:0]  beats_q, beats, bursts_q, requests_q;

  rm_mem_write_dma #(.DataW(DataW), .RowWords(RowWords), .WordW(1), .BurstBytes(64), .Outstanding(4)) i_dut (
    .clk_i, .rst_ni, .idle_o(idle),
    .req_valid_i, .req_ready_o(req_ready), .req_i,
    .row_valid_i, .row_ready_o(row_ready), .row_i, .done_o(done),
    .aw_valid_o(aw_valid), .aw_ready_i, .aw_o(aw),
    .w_valid_o(w_valid), .w_ready_i, .w_data_o(w_data), .w_last_o(w_last),
    .b_valid_i, .b_resp_i,
    .err_valid_o(err_valid), .err_resp_o(err_resp), .err_addr_o(err_addr)
  );

  rm_handshake_check #(.Width($bits(axi_addr_t))) i_aw (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(aw_valid), .ready_i(aw_ready_i), .data_i(aw)
  );
  rm_handshake_check #(.Width(DataW + 1)) i_w (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(w_valid), .ready_i(w_ready_i), .data_i({w_last, w_data})
  );

  // An address is new in the first cycle in which it is shown.
  assign new_aw = aw_valid && !aw_seen_q;
  assign beats  = beats_q + (new_aw ? CntW'(aw.len) + 1'b1 : '0);

  initial begin
    started_q = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!rst_ni) begin
      aw_seen_q  <= 1'b0;
      beats_q    <= '0;
      bursts_q   <= '0;
      requests_q <= '0;
    end else begin
      aw_seen_q  <= aw_valid && !aw_ready_i;
      beats_q    <= beats - CntW'(w_valid && w_ready_i);
      bursts_q   <= bursts_q + CntW'(w_valid && w_ready_i && w_last) - CntW'(b_valid_i);
      requests_q <= requests_q + CntW'(req_valid_i && req_ready) - CntW'(done);
    end
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else begin
      assume (rst_ni);
      m_rows:   assume (req_i.rows != '0 && req_i.rows <= RowsW'(8) && (req_i.rows & RowsW'(RowMask)) == '0);
      m_answer: assume (!b_valid_i || bursts_q != '0);  // a response follows the last beat
`ifdef BROKEN
      a_ahead:  assert (!w_valid);  // nothing is ever written: must be refuted
`else
      a_ahead:  assert (!w_valid || beats != '0);
`endif
      a_known:  assert (!b_valid_i || i_dut.pend_valid);
      a_done:   assert (!done || requests_q != '0);
      a_idle:   assert (!idle || (beats == '0 && bursts_q == '0 && requests_q == CntW'(done)));
    end
  end

endmodule
