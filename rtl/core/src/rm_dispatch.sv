// rm_dispatch - takes instructions in order, hands them to the queues of their units, and ends a program.
//
// States       Idle: waits for start. Run: dispatches. Drain: takes nothing more; what was dispatched ends by itself;
//              when nothing is left, Idle, with done or error. END, an error and a soft reset all lead to Drain.
// Run          an instruction accepted from the fetch stream stands decoded in a register in the next cycle; from
//              then on it waits for the first cycle in which its queue has room (and the queue of read requests, if it
//              reads). In the next one it is dispatched and takes its tickets, and the register is refilled: at most
//              one in two cycles.
// Errors       found in an instruction: it and what follows are not executed, what stands before is; error_pc is its
//              number. Bus errors and soft reset: no more is dispatched, error_pc is the number of the instruction
//              that would have been next. The first error is kept.
// `after`      must not exceed the stores dispatched so far: it could never be reached.
module rm_dispatch
  import rm_core_pkg::*;
#(
  parameter int unsigned W        = 54,
  parameter int unsigned Nbf      = 4,
  parameter int unsigned LogNMax  = 14,
  parameter int unsigned LogNMin  = 10,
  parameter int unsigned Mods     = 16,
  parameter int unsigned AxiDataW = 512,
  localparam int unsigned ColW    = $clog2(2 * Nbf),
  localparam int unsigned RowW    = LogNMax - ColW
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  core_ctrl_t         ctrl_i,
  // instruction stream
  output logic               fetch_start_o,
  output logic [AddrW-1:0]   fetch_addr_o,
  output logic               fetch_stop_o,
  input  logic               instr_valid_i,
  output logic               instr_ready_o,
  input  logic [255:0]       instr_data_i,
  input  logic               instr_err_i,
  // to the queues
  output logic [Banks-1:0]   take_o,
  output logic               arith_valid_o,
  input  logic               arith_ready_i,
  output arith_cmd_t         arith_cmd_o,
  output logic [W-1:0]       k0_o,
  output logic [W-1:0]       k1_o,
  output logic               read_valid_o,
  input  logic               read_ready_i,
  output logic [AddrW-1:0]   read_addr_o,
  output logic [StoreW-1:0]  read_after_o,
  output logic [1:0]         ntt_valid_o,
  input  logic [1:0]         ntt_ready_i,
  output logic               ntt_inverse_o,
  output logic               ntt_roots_o,
  output logic               ntt_gang_o,   // one transform for both lanes
  output logic               ntt_bank_o,   // of the lane
  output logic [ModIdxW-1:0] ntt_mod_o,
  // what goes on
  input  logic               all_idle_i,
  input  logic               rd_err_i,
  input  logic               wr_err_i,
  input  logic               store_done_i,
  output logic [StoreW-1:0]  stores_done_o,
  // status
  output logic               start_o,      // a program starts: clear counters
  output logic               resize_o,     // it has another N than the one before
  output logic [LogNW-1:0]   log_n_o,
  output logic [RowW-1:0]    last_row_o,
  output logic               fire_o,       // an instruction is dispatched
  output logic               busy_o,
  output logic               done_o,
  output logic               error_o,
  output logic               refused_o,
  output error_e             error_code_o,
  output logic [31:0]        error_pc_o
);

  typedef enum logic [1:0] {
    Idle,
    Run,
    Drain
  } state_e;

  // ---------------------------------------------------------------- decode register
  logic              is_end, is_ntt, inverse, roots;
  arith_cmd_t        cmd;
  logic [Banks-1:0]  uses;
  logic [AddrW-1:0]  s_addr;
  logic [StoreW-1:0] after;
  logic [W-1:0]      k0, k1;
  error_e            fault;

  rm_instr_decode #(
    .W       (W),
    .Mods    (Mods),
    .AxiDataW(AxiDataW)
  ) i_decode (
    .instr_i  (instr_data_i),
    .is_end_o (is_end),
    .is_ntt_o (is_ntt),
    .inverse_o(inverse),
    .roots_o  (roots),
    .cmd_o    (cmd),
    .uses_o   (uses),
    .s_addr_o (s_addr),
    .after_o  (after),
    .k0_o     (k0),
    .k1_o     (k1),
    .error_o  (fault)
  );

  logic              valid_d, valid_q, accept;
  logic              is_end_q, is_ntt_q, inverse_q, roots_q;
  arith_cmd_t        cmd_q;
  logic [Banks-1:0]  uses_q;
  logic [AddrW-1:0]  s_addr_q;
  logic [StoreW-1:0] after_q;
  logic [W-1:0]      k0_q, k1_q;
  error_e            fault_q;

  always_ff @(posedge clk_i) begin : p_decoded
    if (accept) begin
      is_end_q  <= is_end;
      is_ntt_q  <= is_ntt;
      inverse_q <= inverse;
      roots_q   <= roots;
      cmd_q     <= cmd;
      uses_q    <= uses;
      s_addr_q  <= s_addr;
      after_q   <= after;
      k0_q      <= k0;
      k1_q      <= k1;
      fault_q   <= instr_err_i ? ErrFetch : fault;
    end
  end

  // ---------------------------------------------------------------- what becomes of it
  state_e            state_d, state_q;
  logic [StoreW-1:0] sent_d, sent_q, stored_d, stored_q;
  logic [31:0]       pc_d, pc_q, error_pc_d, error_pc_q;
  logic              done_d, done_q, refused_d, refused_q;
  error_e            error_d, error_q, found, outside;
  logic [LogNW-1:0]  log_n_d, log_n_q;
  logic [RowW-1:0]   last_row_d, last_row_q;
  logic [1:0]        lanes;
  logic              look, can_ntt, can_arith, ready_q, fire, log_n_ok;
  logic [StoreW-1:0] beyond;

  assign lanes     = bank_is_pair(cmd_q.a_bank) ? 2'b11 : cmd_q.a_bank[1] ? 2'b10 : 2'b01;
  assign beyond    = sent_q - after_q;
  assign found     = (fault_q != ErrNone) ? fault_q
                   : (!is_end_q && !is_ntt_q && cmd_q.s_used && beyond[StoreW-1]) ? ErrAfter : ErrNone;
  assign outside   = rd_err_i ? ErrRead : wr_err_i ? ErrWrite : ctrl_i.soft_reset ? ErrAborted : ErrNone;
  assign look      = state_q == Run && valid_q && outside == ErrNone;
  assign can_ntt   = is_ntt_q && (lanes & ~ntt_ready_i) == '0;
  assign can_arith = !is_ntt_q && arith_ready_i && (!cmd_q.s_used || read_ready_i);
  // Room stays until it is taken, and so does what else makes it ready.
  assign fire      = ready_q && state_q == Run && outside == ErrNone;
  assign accept    = instr_valid_i && instr_ready_o;

  assign instr_ready_o  = state_q == Run && (!valid_q || fire);
  assign take_o         = fire ? uses_q : '0;
  assign arith_valid_o  = fire && !is_ntt_q;
  assign arith_cmd_o    = cmd_q;
  assign k0_o           = k0_q;
  assign k1_o           = k1_q;
  assign read_valid_o   = arith_valid_o && cmd_q.s_used;
  assign read_addr_o    = s_addr_q;
  assign read_after_o   = after_q;
  assign ntt_valid_o    = (fire && is_ntt_q) ? lanes : '0;
  assign ntt_inverse_o  = inverse_q;
  assign ntt_roots_o    = roots_q;
  assign ntt_gang_o     = bank_is_pair(cmd_q.a_bank);
  assign ntt_bank_o     = cmd_q.a_bank[0];
  assign ntt_mod_o      = cmd_q.modulus;

  // ---------------------------------------------------------------- states
  assign log_n_ok   = 32'(ctrl_i.log_n) >= LogNMin && 32'(ctrl_i.log_n) <= LogNMax;
  assign start_o    = state_q == Idle && ctrl_i.start;
  assign resize_o   = start_o && log_n_d != log_n_q;
  assign last_row_d = RowW'((32'd1 << (log_n_d - LogNW'(ColW))) - 1);

  always_comb begin : p_next
    state_d    = state_q;
    valid_d    = (valid_q && !fire) || accept;
    sent_d     = sent_q + StoreW'(arith_valid_o && cmd_q.d_to_mem);
    stored_d   = stored_q + StoreW'(store_done_i);
    pc_d       = pc_q + 32'(fire);
    done_d     = done_q;
    error_d    = error_q;
    error_pc_d = error_pc_q;
    refused_d  = refused_q || (ctrl_i.start && state_q != Idle);
    log_n_d    = log_n_q;
    case (state_q)
      Run: begin
        if (outside != ErrNone) begin
          error_d    = outside;
          error_pc_d = pc_q;
          state_d    = Drain;
        end else if (look && found != ErrNone) begin
          error_d    = found;
          error_pc_d = pc_q;
          state_d    = Drain;
        end else if (look && is_end_q) begin
          state_d = Drain;
        end
      end
      Drain: begin
        valid_d = 1'b0;
        if (outside != ErrNone && error_q == ErrNone) begin
          error_d    = outside;
          error_pc_d = pc_q;
        end else if (all_idle_i && stored_q == sent_q) begin
          state_d = Idle;
          done_d  = error_q == ErrNone;
        end
      end
      default: begin  // Idle
        if (start_o) begin
          sent_d     = '0;
          stored_d   = '0;
          pc_d       = '0;
          done_d     = 1'b0;
          refused_d  = 1'b0;
          error_pc_d = '0;
          error_d    = log_n_ok ? ErrNone : ErrLogN;
          state_d    = log_n_ok ? Run : Drain;
          log_n_d    = log_n_ok ? ctrl_i.log_n : log_n_q;
        end else if (ctrl_i.soft_reset) begin
          done_d    = 1'b0;
          error_d   = ErrNone;
          refused_d = 1'b0;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      state_q    <= Idle;
      valid_q    <= 1'b0;
      ready_q    <= 1'b0;
      sent_q     <= '0;
      stored_q   <= '0;
      pc_q       <= '0;
      done_q     <= 1'b0;
      error_q    <= ErrNone;
      error_pc_q <= '0;
      refused_q  <= 1'b0;
      log_n_q    <= LogNW'(LogNMax);
      last_row_q <= '1;
    end else begin
      state_q    <= state_d;
      valid_q    <= valid_d;
      ready_q    <= look && !fire && found == ErrNone && !is_end_q && (can_ntt || can_arith);
      sent_q     <= sent_d;
      stored_q   <= stored_d;
      pc_q       <= pc_d;
      done_q     <= done_d;
      error_q    <= error_d;
      error_pc_q <= error_pc_d;
      refused_q  <= refused_d;
      log_n_q    <= log_n_d;
      last_row_q <= last_row_d;
    end
  end

  assign fetch_start_o = start_o && log_n_ok;
  assign fetch_addr_o  = ctrl_i.program_addr;
  assign fetch_stop_o  = state_q != Run && !fetch_start_o;
  assign stores_done_o = stored_q;
  assign log_n_o       = log_n_q;
  assign last_row_o    = last_row_q;
  assign fire_o        = fire;
  assign busy_o        = state_q != Idle;
  assign done_o        = done_q;
  assign error_o       = state_q == Idle && error_q != ErrNone;
  assign refused_o     = refused_q;
  assign error_code_o  = error_q;
  assign error_pc_o    = error_pc_q;

endmodule
