// toy_core - a stand-in with the ports of rm_compact_core. It executes COPY from memory to memory and END, one
// instruction at a time. It tests the library, the registers and the streams together, and shows how they
// are wired. COPY with bit 54 of w1 set adds q of its modulus to every word, so that the modulus table is
// seen from outside.
module toy_core
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned NBF      = 4,
  parameter int unsigned LOGN_MAX = 13,
  parameter int unsigned MODS     = 16,
  parameter int unsigned KIND     = 0,
  parameter int unsigned ONES     = 0,
  parameter int unsigned D        = 512,
  parameter int unsigned RD_ROWS  = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        irq_o,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [13:0] s_axil_awaddr_i,
  input  logic [2:0]  s_axil_awprot_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [1:0]  s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [13:0] s_axil_araddr_i,
  input  logic [2:0]  s_axil_arprot_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,
  output logic                      m_axi_awvalid_o,
  input  logic                      m_axi_awready_i,
  output logic                      m_axi_awid_o,
  output logic [rm_mem_pkg::AddrW-1:0] m_axi_awaddr_o,
  output logic [7:0]                m_axi_awlen_o,
  output logic [2:0]                m_axi_awsize_o,
  output logic [1:0]                m_axi_awburst_o,
  output logic [3:0]                m_axi_awcache_o,
  output logic [2:0]                m_axi_awprot_o,
  output logic                      m_axi_wvalid_o,
  input  logic                      m_axi_wready_i,
  output logic [D-1:0]              m_axi_wdata_o,
  output logic [D/8-1:0]            m_axi_wstrb_o,
  output logic                      m_axi_wlast_o,
  input  logic                      m_axi_bvalid_i,
  output logic                      m_axi_bready_o,
  input  logic [1:0]                m_axi_bresp_i,
  output logic                      m_axi_arvalid_o,
  input  logic                      m_axi_arready_i,
  output logic                      m_axi_arid_o,
  output logic [rm_mem_pkg::AddrW-1:0] m_axi_araddr_o,
  output logic [7:0]                m_axi_arlen_o,
  output logic [2:0]                m_axi_arsize_o,
  output logic [1:0]                m_axi_arburst_o,
  output logic [3:0]                m_axi_arcache_o,
  output logic [2:0]                m_axi_arprot_o,
  input  logic                      m_axi_rvalid_i,
  output logic                      m_axi_rready_o,
  input  logic                      m_axi_rid_i,
  input  logic [D-1:0]              m_axi_rdata_i,
  input  logic [1:0]                m_axi_rresp_i,
  input  logic                      m_axi_rlast_i
);

  localparam int unsigned RowW = 2 * NBF * W;

  axil_req_t     host;
  axil_rsp_t     answer;
  rm_mem_pkg::axi_addr_t aw, ar;
  core_ctrl_t    ctrl;
  core_status_t  status;
  rm_mem_pkg::err_t bus_err;
  logic          mod_we;
  logic [4:0]    mod_index, mod_field;
  logic [63:0]   mod_data;

  rm_core_regs #(.W(W), .NBF(NBF), .LOGN_MAX(LOGN_MAX), .MODS(MODS), .KIND(KIND), .D(D)) i_regs (
    .clk_i, .rst_ni,
    .host_i(host), .host_o(answer),
    .ctrl_o(ctrl), .status_i(status), .bus_err_i(bus_err),
    .mod_we_o(mod_we), .mod_index_o(mod_index), .mod_field_o(mod_field), .mod_data_o(mod_data), .irq_o
  );

  logic [W-1:0] q_q [32];
  always_ff @(posedge clk_i) begin : p_table
    if (mod_we && mod_field == 5'd0) q_q[mod_index] <= W'(mod_data);
  end

  // ---------------------------------------------------------------- one instruction at a time
  typedef enum logic [2:0] {Idle, Fetch, Request, Store, Await, Stop} state_e;

  state_e       state_q, state_d;
  logic         start, instr_valid, instr_ready, instr_err, rd_err, wr_err, rd_idle, wr_idle, fetch_idle;
  logic         rd_req_ready, wr_req_ready, row_valid, row_ready, wr_done, rd_beat, wr_beat;
  logic [255:0] instr, instr_q;
  logic [rm_mem_pkg::RowsW-1:0] rows, left_q, left_d;
  logic [RowW-1:0]           row, sum;
  error_e       code_q, code_d;
  logic [31:0]  pc_q, pc_d;
  logic         busy_q, done_q, error_q, refused_q;
  logic [NumCounters-1:0][CounterW-1:0] count_q;

  assign start       = ctrl.start && !busy_q;
  assign rows        = rm_mem_pkg::RowsW'((32'd1 << ctrl.log_n) / (2 * NBF));
  assign instr_ready = state_q == Fetch;

  for (genvar i = 0; i < 2 * NBF; i++) begin : g_sum
    assign sum[i*W +: W] = row[i*W +: W] + (instr_q[118] ? q_q[instr_q[12:8]] : '0);
  end

  always_comb begin : p_next
    state_d = state_q;
    left_d  = left_q;
    code_d  = code_q;
    pc_d    = pc_q;
    if (code_q == ErrNone) begin
      if (rd_err)      code_d = ErrRead;
      else if (wr_err) code_d = ErrWrite;
    end
    unique case (state_q)
      Idle: if (start) begin
        state_d = Fetch;
        code_d  = ErrNone;
        pc_d    = '0;
      end
      Fetch: if (instr_valid) begin
        state_d = Request;
        if (instr_err) code_d = ErrFetch;
        else if (instr[7:0] != rm_isa_pkg::OpEnd && instr[7:0] != rm_isa_pkg::OpCopy) code_d = ErrOpcode;
        if (code_d != ErrNone || instr[7:0] == rm_isa_pkg::OpEnd) state_d = Stop;
      end
      Request: if (rd_req_ready && wr_req_ready) begin
        state_d = Store;
        left_d  = rows;
      end
      Store: if (row_valid && row_ready) begin
        left_d = left_q - 1'b1;
        if (left_q == 'd1) state_d = Await;
      end
      Await: if (wr_done) begin
        state_d = (code_d == ErrNone) ? Fetch : Stop;
        pc_d    = pc_q + rm_mem_pkg::UnitAddrW'(code_d == ErrNone);
      end
      Stop: if (fetch_idle && rd_idle && wr_idle) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      state_q   <= Idle;
      left_q    <= '0;
      code_q    <= ErrNone;
      pc_q      <= '0;
      busy_q    <= 1'b0;
      done_q    <= 1'b0;
      error_q   <= 1'b0;
      refused_q <= 1'b0;
      count_q   <= '0;
    end else begin
      state_q <= state_d;
      left_q  <= left_d;
      code_q  <= code_d;
      pc_q    <= pc_d;
      if (start) begin
        busy_q    <= 1'b1;
        done_q    <= 1'b0;
        error_q   <= 1'b0;
        refused_q <= 1'b0;
        count_q   <= '0;
      end else if (busy_q) begin
        if (ctrl.start) refused_q <= 1'b1;
        count_q[CntCycles]     <= count_q[CntCycles] + 1'b1;
        count_q[CntReadBeats]  <= count_q[CntReadBeats] + CounterW'(rd_beat);
        count_q[CntWriteBeats] <= count_q[CntWriteBeats] + CounterW'(wr_beat);
        if (instr_valid && instr_ready) count_q[CntInstructions] <= count_q[CntInstructions] + 1'b1;
        if (state_q == Stop && state_d == Idle) begin
          busy_q  <= 1'b0;
          done_q  <= code_q == ErrNone;
          error_q <= code_q != ErrNone;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : p_instruction
    if (instr_valid && instr_ready) instr_q <= instr;
  end

  assign status = '{busy: busy_q, done: done_q, error: error_q, refused: refused_q, error_code: code_q,
                    error_pc: pc_q, counters: count_q};

  rm_mem_system #(.W(W), .NBF(NBF), .D(D), .RdRows(RD_ROWS)) i_memory (
    .clk_i, .rst_ni,
    .fetch_start_i(start), .fetch_addr_i(ctrl.program_addr), .fetch_stop_i(state_q == Stop),
    .fetch_idle_o(fetch_idle),
    .instr_valid_o(instr_valid), .instr_ready_i(instr_ready), .instr_data_o(instr), .instr_err_o(instr_err),
    .rd_req_valid_i(state_q == Request && wr_req_ready), .rd_req_ready_o(rd_req_ready),
    .rd_req_addr_i(instr_q[95:64]), .rd_req_rows_i(rows),
    .rd_row_valid_o(row_valid), .rd_row_ready_i(row_ready && state_q == Store), .rd_row_data_o(row),
    .rd_err_o(rd_err), .rd_idle_o(rd_idle), .rd_beat_o(rd_beat),
    .wr_req_valid_i(state_q == Request && rd_req_ready), .wr_req_ready_o(wr_req_ready),
    .wr_req_addr_i(instr_q[63:32]), .wr_req_rows_i(rows),
    .wr_row_valid_i(row_valid && state_q == Store), .wr_row_ready_o(row_ready), .wr_row_data_i(sum),
    .wr_done_o(wr_done), .wr_err_o(wr_err), .wr_idle_o(wr_idle), .wr_beat_o(wr_beat),
    .err_o(bus_err),
    .aw_valid_o(m_axi_awvalid_o), .aw_ready_i(m_axi_awready_i), .aw_o(aw),
    .w_valid_o(m_axi_wvalid_o), .w_ready_i(m_axi_wready_i), .w_data_o(m_axi_wdata_o), .w_last_o(m_axi_wlast_o),
    .b_valid_i(m_axi_bvalid_i), .b_resp_i(m_axi_bresp_i),
    .ar_valid_o(m_axi_arvalid_o), .ar_ready_i(m_axi_arready_i), .ar_o(ar),
    .r_valid_i(m_axi_rvalid_i), .r_data_i(m_axi_rdata_i),
    .r_i('{id: m_axi_rid_i, resp: m_axi_rresp_i, last: m_axi_rlast_i})
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
