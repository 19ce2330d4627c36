// mem_bench - rm_mem_system with the AXI4 pins of a core, so that one memory model serves both.
module mem_bench
  import rm_mem_pkg::*;
#(
  parameter int unsigned W          = 54,
  parameter int unsigned NBF        = 4,
  parameter int unsigned D          = 512,
  parameter int unsigned BurstBytes = 1024,
  parameter int unsigned RdRows     = 64,
  localparam int unsigned RowW      = 2 * NBF * W
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
  // AXI4, as the pins of a core
  output logic                 m_axi_awvalid_o,
  input  logic                 m_axi_awready_i,
  output logic                 m_axi_awid_o,
  output logic [AddrW-1:0]     m_axi_awaddr_o,
  output logic [LenW-1:0]      m_axi_awlen_o,
  output logic [2:0]           m_axi_awsize_o,
  output logic [1:0]           m_axi_awburst_o,
  output logic [3:0]           m_axi_awcache_o,
  output logic [2:0]           m_axi_awprot_o,
  output logic                 m_axi_wvalid_o,
  input  logic                 m_axi_wready_i,
  output logic [D-1:0]         m_axi_wdata_o,
  output logic [D/8-1:0]       m_axi_wstrb_o,
  output logic                 m_axi_wlast_o,
  input  logic                 m_axi_bvalid_i,
  output logic                 m_axi_bready_o,
  input  logic [1:0]           m_axi_bresp_i,
  output logic                 m_axi_arvalid_o,
  input  logic                 m_axi_arready_i,
  output logic                 m_axi_arid_o,
  output logic [AddrW-1:0]     m_axi_araddr_o,
  output logic [LenW-1:0]      m_axi_arlen_o,
  output logic [2:0]           m_axi_arsize_o,
  output logic [1:0]           m_axi_arburst_o,
  output logic [3:0]           m_axi_arcache_o,
  output logic [2:0]           m_axi_arprot_o,
  input  logic                 m_axi_rvalid_i,
  output logic                 m_axi_rready_o,
  input  logic                 m_axi_rid_i,
  input  logic [D-1:0]         m_axi_rdata_i,
  input  logic [1:0]           m_axi_rresp_i,
  input  logic                 m_axi_rlast_i
);

  axi_addr_t aw, ar;

  rm_mem_system #(.W(W), .NBF(NBF), .D(D), .BurstBytes(BurstBytes), .RdRows(RdRows)) i_dut (
    .clk_i, .rst_ni,
    .fetch_start_i, .fetch_addr_i, .fetch_stop_i, .fetch_idle_o, .instr_valid_o, .instr_ready_i,
    .instr_data_o, .instr_err_o, .rd_req_valid_i, .rd_req_ready_o, .rd_req_addr_i, .rd_req_rows_i,
    .rd_row_valid_o, .rd_row_ready_i, .rd_row_data_o, .rd_err_o, .rd_idle_o, .rd_beat_o, .wr_req_valid_i,
    .wr_req_ready_o, .wr_req_addr_i, .wr_req_rows_i, .wr_row_valid_i, .wr_row_ready_o, .wr_row_data_i,
    .wr_done_o, .wr_err_o, .wr_idle_o, .wr_beat_o, .err_o,
    .aw_valid_o(m_axi_awvalid_o), .aw_ready_i(m_axi_awready_i), .aw_o(aw),
    .w_valid_o(m_axi_wvalid_o), .w_ready_i(m_axi_wready_i), .w_data_o(m_axi_wdata_o), .w_last_o(m_axi_wlast_o),
    .b_valid_i(m_axi_bvalid_i), .b_resp_i(m_axi_bresp_i),
    .ar_valid_o(m_axi_arvalid_o), .ar_ready_i(m_axi_arready_i), .ar_o(ar),
    .r_valid_i(m_axi_rvalid_i), .r_data_i(m_axi_rdata_i),
    .r_i('{id: m_axi_rid_i, resp: m_axi_rresp_i, last: m_axi_rlast_i})
  );

  // ---------------------------------------------------------------- pins of AXI4
  assign m_axi_awid_o    = aw.id;
  assign m_axi_awaddr_o  = aw.addr;
  assign m_axi_awlen_o   = aw.len;
  assign m_axi_awsize_o  = 3'($clog2(D / 8));
  assign m_axi_awburst_o = AxiBurst;
  assign m_axi_awcache_o = AxiCache;
  assign m_axi_awprot_o  = AxiProt;
  assign m_axi_wstrb_o   = '1;
  assign m_axi_bready_o  = 1'b1;
  assign m_axi_arid_o    = ar.id;
  assign m_axi_araddr_o  = ar.addr;
  assign m_axi_arlen_o   = ar.len;
  assign m_axi_arsize_o  = 3'($clog2(D / 8));
  assign m_axi_arburst_o = AxiBurst;
  assign m_axi_arcache_o = AxiCache;
  assign m_axi_arprot_o  = AxiProt;
  assign m_axi_rready_o  = 1'b1;

endmodule
