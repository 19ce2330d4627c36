// rm_core_regs - the registers of the compact core behind AXI4-Lite, and the window of the modulus table.
//
// Contract     core_regs.rdl; the block generated from it does bus, storage and decoding.
// Interrupt    IRQ.pending is set when done or error rises; irq_o is pending and enabled.
// Table        64-bit words written as two halves, low first: the low half is kept here, the high half
//              stores both (mod_we_o for one cycle). Entry i begins at 256 * i; word 0 is q, 1 aux,
//              2 + b the root rho_b; writes to words beyond 16 do nothing. Whole words only.
// Cycles       start and soft reset pulse in the cycle after the write was taken by the bus.
module rm_core_regs
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned NBF      = 4,
  parameter int unsigned LOGN_MAX = 13,
  parameter int unsigned MODS     = 16,
  parameter int unsigned KIND     = 0,
  parameter int unsigned D        = 512
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // AXI4-Lite
  input  axil_req_t   host_i,
  output axil_rsp_t   host_o,
  // core
  output core_ctrl_t     ctrl_o,
  input  core_status_t   status_i,
  input  rm_mem_pkg::err_t  bus_err_i,
  output logic           mod_we_o,
  output logic [4:0]     mod_index_o,
  output logic [4:0]     mod_field_o,
  output logic [63:0]    mod_data_o,
  output logic           irq_o
);

  rm_core_regs_block_pkg::core_regs__in_t  hw_in;
  rm_core_regs_block_pkg::core_regs__out_t hw_out;

  rm_core_regs_block i_block (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(host_o.aw_ready),
    .s_axil_awvalid(host_i.aw_valid),
    .s_axil_awaddr (host_i.aw_addr),
    .s_axil_awprot (host_i.aw_prot),
    .s_axil_wready (host_o.w_ready),
    .s_axil_wvalid (host_i.w_valid),
    .s_axil_wdata  (host_i.w_data),
    .s_axil_wstrb  (host_i.w_strb),
    .s_axil_bready (host_i.b_ready),
    .s_axil_bvalid (host_o.b_valid),
    .s_axil_bresp  (host_o.b_resp),
    .s_axil_arready(host_o.ar_ready),
    .s_axil_arvalid(host_i.ar_valid),
    .s_axil_araddr (host_i.ar_addr),
    .s_axil_arprot (host_i.ar_prot),
    .s_axil_rready (host_i.r_ready),
    .s_axil_rvalid (host_o.r_valid),
    .s_axil_rdata  (host_o.r_data),
    .s_axil_rresp  (host_o.r_resp),
    .hwif_in       (hw_in),
    .hwif_out      (hw_out)
  );

  // ---------------------------------------------------------------- what software reads
  logic ended, ended_q;

  assign hw_in.SHAPE.word.next          = 8'(W);
  assign hw_in.SHAPE.nbf.next           = 8'(NBF);
  assign hw_in.SHAPE.logn_max.next      = 8'(LOGN_MAX);
  assign hw_in.SHAPE.mods.next          = 8'(MODS);
  assign hw_in.VARIANT.kind.next        = 8'(KIND);
  assign hw_in.VARIANT.bus.next         = 16'(D);
  assign hw_in.STATUS.busy.next         = status_i.busy;
  assign hw_in.STATUS.done.next         = status_i.done;
  assign hw_in.STATUS.error.next        = status_i.error;
  assign hw_in.STATUS.refused.next      = status_i.refused;
  assign hw_in.STATUS.code.next         = status_i.error_code;
  assign hw_in.ERROR_PC.index.next      = status_i.error_pc;
  assign hw_in.BUS_ERROR.kind.next      = bus_err_i.kind;
  assign hw_in.BUS_ERROR.resp.next      = bus_err_i.resp;
  assign hw_in.BUS_ERROR_ADDR.unit.next = bus_err_i.addr;
  assign hw_in.IRQ.pending.hwset        = ended && !ended_q;

  for (genvar i = 0; i < NumCounters; i++) begin : g_counter
    assign hw_in.COUNTER[i].LO.value.next = status_i.counters[i][31:0];
    assign hw_in.COUNTER[i].HI.value.next = status_i.counters[i][CounterW-1:32];
  end

  assign ended = status_i.done || status_i.error;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ended
    if (!rst_ni) begin
      ended_q <= 1'b0;
    end else begin
      ended_q <= ended;
    end
  end

  // ---------------------------------------------------------------- what software sets
  assign ctrl_o = '{start:        hw_out.CONTROL.start.value,
                    soft_reset:   hw_out.CONTROL.soft_reset.value,
                    program_addr: hw_out.PROGRAM.unit.value,
                    log_n:        hw_out.LOG_N.value.value};
  assign irq_o  = hw_out.IRQ.pending.value && hw_out.CONTROL.irq_enable.value;

  // ---------------------------------------------------------------- modulus table
  // Byte address in the window: entry 12:8, word 7:3, half 2.
  localparam logic [4:0] LastField = 5'd16;

  logic [31:0] low_q;
  logic        window, high;

  assign window = hw_out.MODULUS.req && hw_out.MODULUS.req_is_wr;
  assign high   = hw_out.MODULUS.addr[2];

  always_ff @(posedge clk_i) begin : p_low
    if (window && !high) low_q <= hw_out.MODULUS.wr_data;
  end

  assign hw_in.MODULUS.wr_ack  = window;
  assign hw_in.MODULUS.rd_ack  = 1'b0;
  assign hw_in.MODULUS.rd_data = '0;

  assign mod_we_o    = window && high && mod_field_o <= LastField;
  assign mod_index_o = hw_out.MODULUS.addr[12:8];
  assign mod_field_o = hw_out.MODULUS.addr[7:3];
  assign mod_data_o  = {hw_out.MODULUS.wr_data, low_q};

  logic unused;
  assign unused = ^{hw_out.MODULUS.addr[1:0], hw_out.MODULUS.wr_biten};

endmodule
