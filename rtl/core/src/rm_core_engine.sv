// rm_core_engine - the core between its memory streams: dispatch, scoreboard, two transform units, the arithmetic unit,
//               six banks, the modulus table and the counters. rm_compact_core adds AXI and registers around it.
//
// Rules of issue cycle by cycle: rtl/core/README.md.
module rm_core_engine
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned Nbf      = 4,
  parameter int unsigned LogNMax  = 14,
  parameter int unsigned LogNMin  = 10,
  parameter int unsigned Mods     = 16,
  parameter int unsigned Kind     = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile     = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LutUnit  = rm_lut_unit_pkg::LutUnitNone,
  parameter int unsigned AxiDataW = 512,
  localparam int unsigned Cols    = 2 * Nbf,
  localparam int unsigned RowW    = LogNMax - $clog2(Cols),
  localparam int unsigned ModW    = $clog2(Mods)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // registers
  input  core_ctrl_t             ctrl_i,
  output core_status_t           status_o,
  input  logic                   mod_we_i,
  input  logic [ModIdxW-1:0]     mod_index_i,
  input  logic [ModFieldW-1:0]   mod_field_i,
  input  logic [63:0]            mod_data_i,
  // instruction fetch
  output logic                   fetch_start_o,
  output logic [AddrW-1:0]       fetch_addr_o,
  output logic                   fetch_stop_o,
  input  logic                   fetch_idle_i,
  input  logic                   instr_valid_i,
  output logic                   instr_ready_o,
  input  logic [255:0]           instr_data_i,
  input  logic                   instr_err_i,
  // read stream
  output logic                   rd_req_valid_o,
  input  logic                   rd_req_ready_i,
  output logic [AddrW-1:0]       rd_req_addr_o,
  output logic [RowW:0]          rd_req_rows_o,
  input  logic                   rd_row_valid_i,
  output logic                   rd_row_ready_o,
  input  logic [Cols-1:0][W-1:0] rd_row_data_i,
  input  logic                   rd_err_i,
  input  logic                   rd_idle_i,
  input  logic                   rd_beat_i,
  // write stream
  output logic                   wr_req_valid_o,
  input  logic                   wr_req_ready_i,
  output logic [AddrW-1:0]       wr_req_addr_o,
  output logic [RowW:0]          wr_req_rows_o,
  output logic                   wr_row_valid_o,
  input  logic                   wr_row_ready_i,
  output logic [Cols-1:0][W-1:0] wr_row_data_o,
  input  logic                   wr_done_i,
  input  logic                   wr_err_i,
  input  logic                   wr_idle_i,
  input  logic                   wr_beat_i
);

  // ---------------------------------------------------------------- dispatch
  logic              start, resize, mod_write, fire, busy, done, error, refused, all_idle;
  logic [LogNW-1:0]  log_n;
  logic [RowW-1:0]   last_row;
  error_e            error_code;
  logic [31:0]       error_pc;
  logic [Banks-1:0]  take;
  logic              aq_push, aq_ready, rq_push, rq_ready;
  arith_cmd_t        new_cmd;
  logic [W-1:0]      new_k0, new_k1;
  logic [AddrW-1:0]  new_s_addr;
  logic [StoreW-1:0] new_after, stores_done;
  logic [1:0]        ntt_push, ntt_ready;
  logic              new_inverse, new_roots, new_gang, new_ntt_bank;
  logic [ModIdxW-1:0] new_ntt_mod;

  rm_dispatch #(
    .W       (W),
    .Nbf     (Nbf),
    .LogNMax (LogNMax),
    .LogNMin (LogNMin),
    .Mods    (Mods),
    .AxiDataW(AxiDataW)
  ) i_dispatch (
    .clk_i,
    .rst_ni,
    .ctrl_i,
    .fetch_start_o,
    .fetch_addr_o,
    .fetch_stop_o,
    .instr_valid_i,
    .instr_ready_o,
    .instr_data_i,
    .instr_err_i,
    .take_o       (take),
    .arith_valid_o(aq_push),
    .arith_ready_i(aq_ready),
    .arith_cmd_o  (new_cmd),
    .k0_o         (new_k0),
    .k1_o         (new_k1),
    .read_valid_o (rq_push),
    .read_ready_i (rq_ready),
    .read_addr_o  (new_s_addr),
    .read_after_o (new_after),
    .ntt_valid_o  (ntt_push),
    .ntt_ready_i  (ntt_ready),
    .ntt_inverse_o(new_inverse),
    .ntt_roots_o  (new_roots),
    .ntt_gang_o   (new_gang),
    .ntt_bank_o   (new_ntt_bank),
    .ntt_mod_o    (new_ntt_mod),
    .all_idle_i   (all_idle),
    .rd_err_i,
    .wr_err_i,
    .store_done_i (wr_done_i),
    .stores_done_o(stores_done),
    .start_o      (start),
    .resize_o     (resize),
    .log_n_o      (log_n),
    .last_row_o   (last_row),
    .fire_o       (fire),
    .busy_o       (busy),
    .done_o       (done),
    .error_o      (error),
    .refused_o    (refused),
    .error_code_o (error_code),
    .error_pc_o   (error_pc)
  );

  // ---------------------------------------------------------------- scoreboard
  tickets_t                      ticket, head_tickets;
  logic                          chain, arith_due, all_free;
  arith_cmd_t                    head_cmd;
  logic [Banks-1:0]              pass, free_read, free_write;
  logic [1:0]                    ntt_pass, ntt_pass_bank, ntt_done, ntt_done_bank, ntt_head_bank, ntt_due;
  logic [1:0][TicketW-1:0]       ntt_head_ticket;

  rm_scoreboard i_scoreboard (
    .clk_i,
    .rst_ni,
    .take_i         (take),
    .ticket_o       (ticket),
    .chain_i        (chain),
    .arith_cmd_i    (head_cmd),
    .arith_tickets_i(head_tickets),
    .arith_due_o    (arith_due),
    .ntt_bank_i     (ntt_head_bank),
    .ntt_ticket_i   (ntt_head_ticket),
    .ntt_due_o      (ntt_due),
    .pass_i         (pass),
    .free_read_i    (free_read),
    .free_write_i   (free_write),
    .ntt_pass_i     (ntt_pass),
    .ntt_pass_bank_i(ntt_pass_bank),
    .ntt_done_i     (ntt_done),
    .ntt_done_bank_i(ntt_done_bank),
    .all_free_o     (all_free)
  );

  // ---------------------------------------------------------------- queues
  typedef struct packed {
    arith_cmd_t   cmd;
    tickets_t     tickets;
    logic [W-1:0] k0;
    logic [W-1:0] k1;
  } arith_entry_t;

  // The oldest of the queue goes into a register, the head, and finds the constants of its modulus on its way there.
  arith_entry_t aq_in, aq_out, head_q;
  logic         aq_waits, aq_load, aq_valid, aq_pop, wq_push, wq_ready;
  logic [W-1:0] q, p, q_q, p_q;
  logic [W+1:0] aux, aux_q;

  assign aq_in        = '{cmd: new_cmd, tickets: ticket, k0: new_k0, k1: new_k1};
  assign head_cmd     = head_q.cmd;
  assign head_tickets = head_q.tickets;
  assign aq_load      = !aq_valid || aq_pop;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_head_valid
    if (!rst_ni) begin
      aq_valid <= 1'b0;
    end else if (aq_load) begin
      aq_valid <= aq_waits;
    end
  end

  always_ff @(posedge clk_i) begin : p_head
    if (aq_load) begin
      head_q <= aq_out;
      q_q    <= q;
      aux_q  <= aux;
      p_q    <= p;
    end
  end

  rm_core_fifo #(
    .Width($bits(arith_entry_t)),
    .Depth(ArithQueue)
  ) i_arith_queue (
    .clk_i,
    .rst_ni,
    .push_valid_i(aq_push),
    .push_ready_o(aq_ready),
    .push_data_i (aq_in),
    .pop_valid_o (aq_waits),
    .pop_ready_i (aq_load),
    .pop_data_o  (aq_out),
    .count_o     ()
  );

  logic              rq_valid, rq_busy, rq_due;
  logic [StoreW-1:0] rq_after, reached;

  rm_unit_queue #(
    .Width(AddrW + StoreW),
    .Depth(ArithQueue)
  ) i_read_queue (
    .clk_i,
    .rst_ni,
    .push_valid_i(rq_push),
    .push_ready_o(rq_ready),
    .push_data_i ({new_s_addr, new_after}),
    .pop_valid_o (rq_valid),
    .pop_ready_i (rq_due && rd_req_ready_i),
    .pop_data_o  ({rd_req_addr_o, rq_after}),
    .busy_o      (rq_busy)
  );

  assign reached        = stores_done - rq_after;
  assign rq_due         = !reached[StoreW-1];
  assign rd_req_valid_o = rq_valid && rq_due;
  assign rd_req_rows_o  = {1'b0, last_row} + 1'b1;

  rm_core_fifo #(
    .Width(AddrW),
    .Depth(2)
  ) i_write_requests (
    .clk_i,
    .rst_ni,
    .push_valid_i(wq_push),
    .push_ready_o(wq_ready),
    .push_data_i (head_cmd.d_addr),
    .pop_valid_o (wr_req_valid_o),
    .pop_ready_i (wr_req_ready_i),
    .pop_data_o  (wr_req_addr_o),
    .count_o     ()
  );

  assign wr_req_rows_o = rd_req_rows_o;

  // ---------------------------------------------------------------- arithmetic unit
  logic                   arith_valid, arith_ready, arith_idle, arith_issue, stall_read, stall_write;
  logic                   a_re, c_re, we;
  logic [BankW-1:0]       a_bank, c_bank, wbank;
  logic [RowW-1:0]        a_row, c_row, wrow;
  logic [Cols-1:0][W-1:0] a_data, c_data, wdata;

  // Both stay once they are true of a head, which is taken a cycle later at the earliest.
  logic due_q, go_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_due
    if (!rst_ni) begin
      due_q <= 1'b0;
      go_q  <= 1'b0;
    end else begin
      due_q <= aq_valid && !aq_pop && arith_due;
      go_q  <= aq_valid && !aq_pop && arith_due && (!head_cmd.d_to_mem || wq_ready);
    end
  end

  assign arith_valid = go_q;
  assign aq_pop      = arith_ready && arith_valid;
  assign wq_push     = aq_pop && head_cmd.d_to_mem;

  rm_arith_unit #(
    .W      (W),
    .Nbf    (Nbf),
    .LogNMax(LogNMax),
    .Kind   (Kind),
    .Tile   (rm_lut_unit_pkg::unit_tile(Tile, LutUnit, rm_lut_unit_pkg::LutUnitArithmetic))
  ) i_arith (
    .clk_i,
    .rst_ni,
    .log_n_i       (log_n),
    .last_row_i    (last_row),
    .chain_o       (chain),
    .cmd_valid_i   (arith_valid),
    .cmd_ready_o   (arith_ready),
    .cmd_i         (head_cmd),
    .k0_i          (head_q.k0),
    .k1_i          (head_q.k1),
    .q_i           (q_q),
    .aux_i         (aux_q),
    .p_i           (p_q),
    .a_re_o        (a_re),
    .a_bank_o      (a_bank),
    .a_row_o       (a_row),
    .c_re_o        (c_re),
    .c_bank_o      (c_bank),
    .c_row_o       (c_row),
    .a_data_i      (a_data),
    .c_data_i      (c_data),
    .we_o          (we),
    .wbank_o       (wbank),
    .wrow_o        (wrow),
    .wdata_o       (wdata),
    .rd_row_valid_i,
    .rd_row_ready_o,
    .rd_row_data_i,
    .wr_row_valid_o,
    .wr_row_ready_i,
    .wr_row_data_o,
    .pass_o        (pass),
    .free_read_o   (free_read),
    .free_write_o  (free_write),
    .issue_o       (arith_issue),
    .idle_o        (arith_idle),
    .stall_read_o  (stall_read),
    .stall_write_o (stall_write)
  );

  // ---------------------------------------------------------------- transform units
  logic [1:0]                  lane_idle, running, wait_ticket, wait_twiddle;
  logic [1:0][ModW-1:0]        tab_mod;
  logic [1:0][3:0]             tab_root;
  logic [1:0][W-1:0]           tab_q, tab_rho;
  logic [1:0][W+1:0]           tab_aux;
  logic [1:0]                  ntt_re, ntt_rbank, ntt_we, ntt_wbank;
  logic [1:0][RowW-1:0]        ntt_rrow, ntt_wrow;
  logic [1:0][Cols-1:0][W-1:0] ntt_rdata, ntt_wdata;

  rm_core_lanes #(
    .W      (W),
    .Nbf    (Nbf),
    .LogNMax(LogNMax),
    .LogNMin(LogNMin),
    .Mods   (Mods),
    .Kind   (Kind),
    .Tile   (rm_lut_unit_pkg::unit_tile(Tile, LutUnit, rm_lut_unit_pkg::LutUnitTransforms))
  ) i_lanes (
    .clk_i,
    .rst_ni,
    .log_n_i       (log_n),
    .flush_i       (resize || mod_write),
    .put_i         (ntt_push),
    .ready_o       (ntt_ready),
    .inverse_i     (new_inverse),
    .roots_i       (new_roots),
    .gang_i        (new_gang),
    .bank_i        (new_ntt_bank),
    .mod_i         (new_ntt_mod[ModW-1:0]),
    .ticket_i      ({ticket[{2'b01, new_ntt_bank}], ticket[{2'b00, new_ntt_bank}]}),
    .head_bank_o   (ntt_head_bank),
    .head_ticket_o (ntt_head_ticket),
    .due_i         (ntt_due),
    .pass_o        (ntt_pass),
    .pass_bank_o   (ntt_pass_bank),
    .done_o        (ntt_done),
    .done_bank_o   (ntt_done_bank),
    .idle_o        (lane_idle),
    .running_o     (running),
    .wait_ticket_o (wait_ticket),
    .wait_twiddle_o(wait_twiddle),
    .tab_mod_o     (tab_mod),
    .tab_root_o    (tab_root),
    .tab_q_i       (tab_q),
    .tab_aux_i     (tab_aux),
    .tab_root_i    (tab_rho),
    .re_o          (ntt_re),
    .rbank_o       (ntt_rbank),
    .rrow_o        (ntt_rrow),
    .rdata_i       (ntt_rdata),
    .we_o          (ntt_we),
    .wbank_o       (ntt_wbank),
    .wrow_o        (ntt_wrow),
    .wdata_o       (ntt_wdata)
  );

  // ---------------------------------------------------------------- banks and moduli
  logic [BankW-1:0] a_place, c_place, w_place;
  logic [RowW-1:0]  a_at, c_at, w_at;

  rm_bank_place #(.RowW(RowW)) i_place_a (
    .last_row_i(last_row), .bank_i(a_bank), .row_i(a_row), .bank_o(a_place), .row_o(a_at)
  );
  rm_bank_place #(.RowW(RowW)) i_place_c (
    .last_row_i(last_row), .bank_i(c_bank), .row_i(c_row), .bank_o(c_place), .row_o(c_at)
  );
  rm_bank_place #(.RowW(RowW)) i_place_w (
    .last_row_i(last_row), .bank_i(wbank), .row_i(wrow), .bank_o(w_place), .row_o(w_at)
  );

  rm_bank_array #(
    .W      (W),
    .Nbf    (Nbf),
    .LogNMax(LogNMax)
  ) i_banks (
    .clk_i,
    .rst_ni,
    .a_re_i     (a_re),
    .a_bank_i   (a_place),
    .a_row_i    (a_at),
    .a_data_o   (a_data),
    .c_re_i     (c_re),
    .c_bank_i   (c_place),
    .c_row_i    (c_at),
    .c_data_o   (c_data),
    .we_i       (we),
    .wbank_i    (w_place),
    .wrow_i     (w_at),
    .wdata_i    (wdata),
    .ntt_re_i   (ntt_re),
    .ntt_rbank_i(ntt_rbank),
    .ntt_rrow_i (ntt_rrow),
    .ntt_rdata_o(ntt_rdata),
    .ntt_we_i   (ntt_we),
    .ntt_wbank_i(ntt_wbank),
    .ntt_wrow_i (ntt_wrow),
    .ntt_wdata_i(ntt_wdata)
  );

  assign mod_write = mod_we_i && !busy;

  rm_modulus_table #(
    .W   (W),
    .Mods(Mods)
  ) i_moduli (
    .clk_i,
    .we_i      (mod_write),
    .index_i   (mod_index_i),
    .field_i   (mod_field_i),
    .data_i    (mod_data_i),
    .modulus_i (aq_out.cmd.modulus[ModW-1:0]),
    .source_i  (aq_out.cmd.source[ModW-1:0]),
    .q_o       (q),
    .aux_o     (aux),
    .p_o       (p),
    .ntt_mod_i (tab_mod),
    .ntt_root_i(tab_root),
    .ntt_q_o   (tab_q),
    .ntt_aux_o (tab_aux),
    .ntt_rho_o (tab_rho)
  );

  // ---------------------------------------------------------------- status
  logic [NumCounters-1:0] events;

  assign all_idle = !aq_waits && !aq_valid && !rq_busy && !wr_req_valid_o && arith_idle && lane_idle == '1 &&
                    all_free && fetch_idle_i && rd_idle_i && wr_idle_i;

  always_comb begin : p_events
    events                  = '0;
    events[CntCycles]       = 1'b1;
    events[CntNtt0Busy]     = running[0];
    events[CntNtt1Busy]     = running[1];
    events[CntArithBusy]    = arith_issue;
    events[CntArithTicket]  = aq_valid && arith_ready && !arith_issue && !due_q;
    events[CntArithRead]    = stall_read;
    events[CntArithWrite]   = stall_write || (arith_ready && !arith_issue && due_q && !go_q);
    events[CntNtt0Ticket]   = wait_ticket[0];
    events[CntNtt1Ticket]   = wait_ticket[1];
    events[CntNtt0Twiddle]  = wait_twiddle[0];
    events[CntNtt1Twiddle]  = wait_twiddle[1];
    events[CntReadBeats]    = rd_beat_i;
    events[CntWriteBeats]   = wr_beat_i;
    events[CntInstructions] = fire;
  end

  rm_perf_counters i_counters (
    .clk_i,
    .rst_ni,
    .clear_i (start),
    .enable_i(busy),
    .event_i (events),
    .count_o (status_o.counters)
  );

  assign status_o.busy       = busy;
  assign status_o.done       = done;
  assign status_o.error      = error;
  assign status_o.refused    = refused;
  assign status_o.error_code = error_code;
  assign status_o.error_pc   = error_pc;

endmodule
