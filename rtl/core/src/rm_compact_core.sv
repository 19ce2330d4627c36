// rm_compact_core - the whole: registers behind AXI4-Lite, the engine, one AXI4 master to off-chip memory, an interrupt.
//
// Parameters   W bits of a word; NBF butterflies of a lane; limbs of 2^LOGN_MIN ... 2^LOGN_MAX words; MODS entries of
//              the modulus table; KIND and TILE of the multipliers (rm_modmul_pkg), which those of LUT_UNIT are without; D
//              bits of the memory bus, RD_ROWS rows read ahead of it. ONES, of KindPrf alone: the places below W / 2 where f0 of any modulus may have a
//              one, or 0 for any place.
// Reset        rst_ni asynchronous, low. It drops what is under way on AXI as well: reset the other side with it. The
//              soft reset in the registers drains instead.
module rm_compact_core
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned NBF      = 4,
  parameter int unsigned LOGN_MAX = 13,
  parameter int unsigned LOGN_MIN = 10,
  parameter int unsigned MODS     = 16,
  parameter int unsigned KIND     = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned ONES     = 0,
  parameter int unsigned TILE     = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LUT_UNIT = rm_lut_unit_pkg::LutUnitNone,
  parameter int unsigned D        = 512,
  parameter int unsigned RD_ROWS  = 64
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  output logic                       irq_o,
  // AXI4-Lite: registers
  input  logic                       s_axil_awvalid_i,
  output logic                       s_axil_awready_o,
  input  logic [13:0]                s_axil_awaddr_i,
  input  logic [2:0]                 s_axil_awprot_i,
  input  logic                       s_axil_wvalid_i,
  output logic                       s_axil_wready_o,
  input  logic [31:0]                s_axil_wdata_i,
  input  logic [3:0]                 s_axil_wstrb_i,
  output logic                       s_axil_bvalid_o,
  input  logic                       s_axil_bready_i,
  output logic [1:0]                 s_axil_bresp_o,
  input  logic                       s_axil_arvalid_i,
  output logic                       s_axil_arready_o,
  input  logic [13:0]                s_axil_araddr_i,
  input  logic [2:0]                 s_axil_arprot_i,
  output logic                       s_axil_rvalid_o,
  input  logic                       s_axil_rready_i,
  output logic [31:0]                s_axil_rdata_o,
  output logic [1:0]                 s_axil_rresp_o,
  // AXI4: memory
  output logic                       m_axi_awvalid_o,
  input  logic                       m_axi_awready_i,
  output logic                       m_axi_awid_o,
  output logic [rm_mem_pkg::AddrW-1:0]  m_axi_awaddr_o,
  output logic [rm_mem_pkg::LenW-1:0]   m_axi_awlen_o,
  output logic [2:0]                 m_axi_awsize_o,
  output logic [1:0]                 m_axi_awburst_o,
  output logic [3:0]                 m_axi_awcache_o,
  output logic [2:0]                 m_axi_awprot_o,
  output logic                       m_axi_wvalid_o,
  input  logic                       m_axi_wready_i,
  output logic [D-1:0]               m_axi_wdata_o,
  output logic [D/8-1:0]             m_axi_wstrb_o,
  output logic                       m_axi_wlast_o,
  input  logic                       m_axi_bvalid_i,
  output logic                       m_axi_bready_o,
  input  logic [1:0]                 m_axi_bresp_i,
  output logic                       m_axi_arvalid_o,
  input  logic                       m_axi_arready_i,
  output logic                       m_axi_arid_o,
  output logic [rm_mem_pkg::AddrW-1:0]  m_axi_araddr_o,
  output logic [rm_mem_pkg::LenW-1:0]   m_axi_arlen_o,
  output logic [2:0]                 m_axi_arsize_o,
  output logic [1:0]                 m_axi_arburst_o,
  output logic [3:0]                 m_axi_arcache_o,
  output logic [2:0]                 m_axi_arprot_o,
  input  logic                       m_axi_rvalid_i,
  output logic                       m_axi_rready_o,
  input  logic                       m_axi_rid_i,
  input  logic [D-1:0]               m_axi_rdata_i,
  input  logic [1:0]                 m_axi_rresp_i,
  input  logic                       m_axi_rlast_i
);

  localparam int unsigned Cols = 2 * NBF;
  localparam int unsigned Kind = (ONES == 0) ? KIND : rm_modmul_pkg::prf_kind(ONES);
  localparam int unsigned RowW = LOGN_MAX - $clog2(Cols);

  if (ONES != 0 && (KIND != rm_modmul_pkg::KindPrf || ONES >> (W / 2) != 0)) begin : g_check_ones
    $error("rm_compact_core: ONES are places below W / 2, of KindPrf alone");
  end

  axil_req_t              host;
  axil_rsp_t              answer;
  rm_mem_pkg::axi_addr_t  aw, ar;
  core_ctrl_t             ctrl;
  core_status_t           status;
  rm_mem_pkg::err_t          bus_err;
  logic                   mod_we;
  logic [ModIdxW-1:0]     mod_index;
  logic [ModFieldW-1:0]   mod_field;
  logic [63:0]            mod_data;
  logic                   fetch_start, fetch_stop, fetch_idle, instr_valid, instr_ready, instr_err;
  logic [AddrW-1:0]       fetch_addr, rd_req_addr, wr_req_addr;
  logic [255:0]           instr_data;
  logic                   rd_req_valid, rd_req_ready, rd_row_valid, rd_row_ready, rd_err, rd_idle, rd_beat;
  logic                   wr_req_valid, wr_req_ready, wr_row_valid, wr_row_ready, wr_done, wr_err, wr_idle, wr_beat;
  logic [RowW:0]          rd_req_rows, wr_req_rows;
  logic [Cols-1:0][W-1:0] rd_row_data, wr_row_data;

  rm_core_regs #(
    .W       (W),
    .NBF     (NBF),
    .LOGN_MAX(LOGN_MAX),
    .MODS    (MODS),
    .KIND    (KIND),
    .D       (D)
  ) i_regs (
    .clk_i,
    .rst_ni,
    .host_i     (host),
    .host_o     (answer),
    .ctrl_o     (ctrl),
    .status_i   (status),
    .bus_err_i  (bus_err),
    .mod_we_o   (mod_we),
    .mod_index_o(mod_index),
    .mod_field_o(mod_field),
    .mod_data_o (mod_data),
    .irq_o
  );

  rm_core_engine #(
    .W       (W),
    .Nbf     (NBF),
    .LogNMax (LOGN_MAX),
    .LogNMin (LOGN_MIN),
    .Mods    (MODS),
    .Kind    (Kind),
    .Tile    (TILE),
    .LutUnit (LUT_UNIT),
    .AxiDataW(D)
  ) i_engine (
    .clk_i,
    .rst_ni,
    .ctrl_i        (ctrl),
    .status_o      (status),
    .mod_we_i      (mod_we),
    .mod_index_i   (mod_index),
    .mod_field_i   (mod_field),
    .mod_data_i    (mod_data),
    .fetch_start_o (fetch_start),
    .fetch_addr_o  (fetch_addr),
    .fetch_stop_o  (fetch_stop),
    .fetch_idle_i  (fetch_idle),
    .instr_valid_i (instr_valid),
    .instr_ready_o (instr_ready),
    .instr_data_i  (instr_data),
    .instr_err_i   (instr_err),
    .rd_req_valid_o(rd_req_valid),
    .rd_req_ready_i(rd_req_ready),
    .rd_req_addr_o (rd_req_addr),
    .rd_req_rows_o (rd_req_rows),
    .rd_row_valid_i(rd_row_valid),
    .rd_row_ready_o(rd_row_ready),
    .rd_row_data_i (rd_row_data),
    .rd_err_i      (rd_err),
    .rd_idle_i     (rd_idle),
    .rd_beat_i     (rd_beat),
    .wr_req_valid_o(wr_req_valid),
    .wr_req_ready_i(wr_req_ready),
    .wr_req_addr_o (wr_req_addr),
    .wr_req_rows_o (wr_req_rows),
    .wr_row_valid_o(wr_row_valid),
    .wr_row_ready_i(wr_row_ready),
    .wr_row_data_o (wr_row_data),
    .wr_done_i     (wr_done),
    .wr_err_i      (wr_err),
    .wr_idle_i     (wr_idle),
    .wr_beat_i     (wr_beat)
  );

  rm_mem_system #(
    .W     (W),
    .NBF   (NBF),
    .D     (D),
    .RdRows(RD_ROWS)
  ) i_memory (
    .clk_i,
    .rst_ni,
    .fetch_start_i (fetch_start),
    .fetch_addr_i  (fetch_addr),
    .fetch_stop_i  (fetch_stop),
    .fetch_idle_o  (fetch_idle),
    .instr_valid_o (instr_valid),
    .instr_ready_i (instr_ready),
    .instr_data_o  (instr_data),
    .instr_err_o   (instr_err),
    .rd_req_valid_i(rd_req_valid),
    .rd_req_ready_o(rd_req_ready),
    .rd_req_addr_i (rd_req_addr),
    .rd_req_rows_i (rm_mem_pkg::RowsW'(rd_req_rows)),
    .rd_row_valid_o(rd_row_valid),
    .rd_row_ready_i(rd_row_ready),
    .rd_row_data_o (rd_row_data),
    .rd_err_o      (rd_err),
    .rd_idle_o     (rd_idle),
    .rd_beat_o     (rd_beat),
    .wr_req_valid_i(wr_req_valid),
    .wr_req_ready_o(wr_req_ready),
    .wr_req_addr_i (wr_req_addr),
    .wr_req_rows_i (rm_mem_pkg::RowsW'(wr_req_rows)),
    .wr_row_valid_i(wr_row_valid),
    .wr_row_ready_o(wr_row_ready),
    .wr_row_data_i (wr_row_data),
    .wr_done_o     (wr_done),
    .wr_err_o      (wr_err),
    .wr_idle_o     (wr_idle),
    .wr_beat_o     (wr_beat),
    .err_o         (bus_err),
    .aw_valid_o    (m_axi_awvalid_o),
    .aw_ready_i    (m_axi_awready_i),
    .aw_o          (aw),
    .w_valid_o     (m_axi_wvalid_o),
    .w_ready_i     (m_axi_wready_i),
    .w_data_o      (m_axi_wdata_o),
    .w_last_o      (m_axi_wlast_o),
    .b_valid_i     (m_axi_bvalid_i),
    .b_resp_i      (m_axi_bresp_i),
    .ar_valid_o    (m_axi_arvalid_o),
    .ar_ready_i    (m_axi_arready_i),
    .ar_o          (ar),
    .r_valid_i     (m_axi_rvalid_i),
    .r_data_i      (m_axi_rdata_i),
    .r_i           ('{id: m_axi_rid_i, resp: m_axi_rresp_i, last: m_axi_rlast_i})
  );

  // ---------------------------------------------------------------- pins of AXI4-Lite
  assign host = '{aw_valid: s_axil_awvalid_i, aw_addr: s_axil_awaddr_i, aw_prot: s_axil_awprot_i,
                  w_valid: s_axil_wvalid_i, w_data: s_axil_wdata_i, w_strb: s_axil_wstrb_i,
                  b_ready: s_axil_bready_i,
                  ar_valid: s_axil_arvalid_i, ar_addr: s_axil_araddr_i, ar_prot: s_axil_arprot_i,
                  r_ready: s_axil_rready_i};
  assign s_axil_awready_o = answer.aw_ready;
  assign s_axil_wready_o  = answer.w_ready;
  assign s_axil_bvalid_o  = answer.b_valid;
  assign s_axil_bresp_o   = answer.b_resp;
  assign s_axil_arready_o = answer.ar_ready;
  assign s_axil_rvalid_o  = answer.r_valid;
  assign s_axil_rdata_o   = answer.r_data;
  assign s_axil_rresp_o   = answer.r_resp;

  // ---------------------------------------------------------------- pins of AXI4
  assign m_axi_awid_o    = aw.id;
  assign m_axi_awaddr_o  = aw.addr;
  assign m_axi_awlen_o   = aw.len;
  assign m_axi_awsize_o  = 3'($clog2(D / 8));
  assign m_axi_awburst_o = rm_mem_pkg::AxiBurst;
  assign m_axi_awcache_o = rm_mem_pkg::AxiCache;
  assign m_axi_awprot_o  = rm_mem_pkg::AxiProt;
  assign m_axi_wstrb_o   = '1;
  assign m_axi_bready_o  = 1'b1;
  assign m_axi_arid_o    = ar.id;
  assign m_axi_araddr_o  = ar.addr;
  assign m_axi_arlen_o   = ar.len;
  assign m_axi_arsize_o  = 3'($clog2(D / 8));
  assign m_axi_arburst_o = rm_mem_pkg::AxiBurst;
  assign m_axi_arcache_o = rm_mem_pkg::AxiCache;
  assign m_axi_arprot_o  = rm_mem_pkg::AxiProt;
  assign m_axi_rready_o  = 1'b1;

endmodule
