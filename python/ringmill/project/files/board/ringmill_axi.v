// ringmill_axi - the core of this folder with the names of AXI that board tools know, in plain Verilog-2001, and its reset in
// step with the clock. Its parameters are fixed here: other ones need another folder.
//
//   s_axi    AXI4-Lite: the registers of ../registers/README.md, 16 KiB
//   m_axi    AXI4 of $data_bits bits: the core's memory, whose base the driver adds; bursts of at most 256 beats, one id
//   irq      high while an end is pending and enabled
//   aresetn  may fall at any time, and is released in step with aclk behind two flip-flops
`default_nettype none
module ringmill_axi (
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 aclk CLK" *)
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axi:m_axi, ASSOCIATED_RESET aresetn" *)
  input  wire         aclk,
  (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 aresetn RST" *)
  (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
  input  wire         aresetn,
  (* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq INTERRUPT" *)
  (* X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
  output wire         irq,

  input  wire [13:0]  s_axi_awaddr,
  input  wire [2:0]   s_axi_awprot,
  input  wire         s_axi_awvalid,
  output wire         s_axi_awready,
  input  wire [31:0]  s_axi_wdata,
  input  wire [3:0]   s_axi_wstrb,
  input  wire         s_axi_wvalid,
  output wire         s_axi_wready,
  output wire [1:0]   s_axi_bresp,
  output wire         s_axi_bvalid,
  input  wire         s_axi_bready,
  input  wire [13:0]  s_axi_araddr,
  input  wire [2:0]   s_axi_arprot,
  input  wire         s_axi_arvalid,
  output wire         s_axi_arready,
  output wire [31:0]  s_axi_rdata,
  output wire [1:0]   s_axi_rresp,
  output wire         s_axi_rvalid,
  input  wire         s_axi_rready,

  output wire [0:0]   m_axi_awid,
  output wire [37:0]  m_axi_awaddr,
  output wire [7:0]   m_axi_awlen,
  output wire [2:0]   m_axi_awsize,
  output wire [1:0]   m_axi_awburst,
  output wire         m_axi_awlock,
  output wire [3:0]   m_axi_awcache,
  output wire [2:0]   m_axi_awprot,
  output wire [3:0]   m_axi_awqos,
  output wire         m_axi_awvalid,
  input  wire         m_axi_awready,
  output wire [$data_high:0] m_axi_wdata,
  output wire [$strobe_high:0] m_axi_wstrb,
  output wire         m_axi_wlast,
  output wire         m_axi_wvalid,
  input  wire         m_axi_wready,
  input  wire [0:0]   m_axi_bid,
  input  wire [1:0]   m_axi_bresp,
  input  wire         m_axi_bvalid,
  output wire         m_axi_bready,
  output wire [0:0]   m_axi_arid,
  output wire [37:0]  m_axi_araddr,
  output wire [7:0]   m_axi_arlen,
  output wire [2:0]   m_axi_arsize,
  output wire [1:0]   m_axi_arburst,
  output wire         m_axi_arlock,
  output wire [3:0]   m_axi_arcache,
  output wire [2:0]   m_axi_arprot,
  output wire [3:0]   m_axi_arqos,
  output wire         m_axi_arvalid,
  input  wire         m_axi_arready,
  input  wire [0:0]   m_axi_rid,
  input  wire [$data_high:0] m_axi_rdata,
  input  wire [1:0]   m_axi_rresp,
  input  wire         m_axi_rlast,
  input  wire         m_axi_rvalid,
  output wire         m_axi_rready
);

  // ---------------------------------------------------------------- reset: falls at once, rises with the second edge
  (* ASYNC_REG = "TRUE" *) reg first;
  (* ASYNC_REG = "TRUE" *) reg released;
  always @(posedge aclk or negedge aresetn) begin
    if (!aresetn) begin
      first    <= 1'b0;
      released <= 1'b0;
    end else begin
      first    <= 1'b1;
      released <= first;
    end
  end

  // The core is reset for two edges longer than the host knows: until then it takes no access, which it would forget.
  wire take_aw, take_w, take_ar;
  assign s_axi_awready = take_aw & released;
  assign s_axi_wready  = take_w & released;
  assign s_axi_arready = take_ar & released;

  // Plain accesses, in the order of their id.
  assign m_axi_awlock = 1'b0;
  assign m_axi_arlock = 1'b0;
  assign m_axi_awqos  = 4'd0;
  assign m_axi_arqos  = 4'd0;
  // There is one write under way for each response, so its id says nothing.
  wire unused = &{1'b0, m_axi_bid};

  rm_compact_core #(
$generics
  ) core (
    .clk_i           (aclk),
    .rst_ni          (released),
    .irq_o           (irq),
    .s_axil_awvalid_i(s_axi_awvalid), .s_axil_awready_o(take_aw), .s_axil_awaddr_i(s_axi_awaddr), .s_axil_awprot_i(s_axi_awprot),
    .s_axil_wvalid_i (s_axi_wvalid), .s_axil_wready_o(take_w), .s_axil_wdata_i(s_axi_wdata), .s_axil_wstrb_i(s_axi_wstrb),
    .s_axil_bvalid_o (s_axi_bvalid), .s_axil_bready_i(s_axi_bready), .s_axil_bresp_o(s_axi_bresp),
    .s_axil_arvalid_i(s_axi_arvalid), .s_axil_arready_o(take_ar), .s_axil_araddr_i(s_axi_araddr), .s_axil_arprot_i(s_axi_arprot),
    .s_axil_rvalid_o (s_axi_rvalid), .s_axil_rready_i(s_axi_rready), .s_axil_rdata_o(s_axi_rdata), .s_axil_rresp_o(s_axi_rresp),
    .m_axi_awvalid_o (m_axi_awvalid), .m_axi_awready_i(m_axi_awready), .m_axi_awid_o(m_axi_awid[0]), .m_axi_awaddr_o(m_axi_awaddr),
    .m_axi_awlen_o   (m_axi_awlen), .m_axi_awsize_o(m_axi_awsize), .m_axi_awburst_o(m_axi_awburst), .m_axi_awcache_o(m_axi_awcache),
    .m_axi_awprot_o  (m_axi_awprot),
    .m_axi_wvalid_o  (m_axi_wvalid), .m_axi_wready_i(m_axi_wready), .m_axi_wdata_o(m_axi_wdata), .m_axi_wstrb_o(m_axi_wstrb),
    .m_axi_wlast_o   (m_axi_wlast),
    .m_axi_bvalid_i  (m_axi_bvalid), .m_axi_bready_o(m_axi_bready), .m_axi_bresp_i(m_axi_bresp),
    .m_axi_arvalid_o (m_axi_arvalid), .m_axi_arready_i(m_axi_arready), .m_axi_arid_o(m_axi_arid[0]), .m_axi_araddr_o(m_axi_araddr),
    .m_axi_arlen_o   (m_axi_arlen), .m_axi_arsize_o(m_axi_arsize), .m_axi_arburst_o(m_axi_arburst), .m_axi_arcache_o(m_axi_arcache),
    .m_axi_arprot_o  (m_axi_arprot),
    .m_axi_rvalid_i  (m_axi_rvalid), .m_axi_rready_o(m_axi_rready), .m_axi_rid_i(m_axi_rid[0]), .m_axi_rdata_i(m_axi_rdata),
    .m_axi_rresp_i   (m_axi_rresp), .m_axi_rlast_i(m_axi_rlast)
  );

endmodule
`default_nettype wire
