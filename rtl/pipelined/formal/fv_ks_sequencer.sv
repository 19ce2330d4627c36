// rm_ks_sequencer, for every level and any promises. It starts only in the gate's cycles. Digits come in order, and the last of a
// key switch only when no other is open. Components 0 and 1 of what is finished start when there is space for them.
// Nothing that could start waits.
module fv_ks_sequencer (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic [rm_ks_pkg::DigitW-1:0] level_i,
  input logic                      gate_ready_i,
  input logic                      digit_valid_i,
  input logic                      room_i,
  input logic                      finished_i
);

  import rm_ks_pkg::*;

  logic  start_o, digit_start_o, down_start_o, active_o;
  info_t info_o;
  rm_ks_sequencer i_dut (
    .clk_i,
    .rst_ni,
    .level_i,
    .gate_ready_i,
    .digit_valid_i,
    .room_i,
    .finished_i,
    .start_o,
    .info_o,
    .digit_start_o,
    .down_start_o,
    .active_o
  );

  // What has started, counted apart: digits of the key switch that comes in, and of the one that is open its stage.
  localparam logic [1:0] None = 2'd0, Open = 2'd1, Finished = 2'd2, Half = 2'd3;
  logic [DigitW-1:0] digits_q, level_q;
  logic [1:0]        stage_q;
  logic              run_q, last;
  initial run_q = 1'b0;
  assign last = digits_q + 1'b1 == level_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ledger
    if (!rst_ni) begin
      digits_q <= '0;
      stage_q  <= None;
    end else begin
      if (digit_start_o) begin
        digits_q <= last ? '0 : digits_q + 1'b1;
      end
      if (digit_start_o && last) begin
        stage_q <= Open;
      end else if (finished_i) begin
        stage_q <= Finished;
      end else if (down_start_o) begin
        stage_q <= (stage_q == Finished) ? Half : None;
      end
    end
  end
  always_ff @(posedge clk_i) begin : p_still
    run_q   <= 1'b1;
    level_q <= level_i;
  end

  logic down_due, digit_due;
  assign down_due  = gate_ready_i && (stage_q == Finished || stage_q == Half) && room_i;
  assign digit_due = gate_ready_i && !down_due && digit_valid_i && !(last && stage_q != None);

  always_comb begin : p_check
    assume (level_i != '0);
    if (!run_q) assume (!rst_ni);
    if (run_q) assume (level_i == level_q);
    // A special residue is finished once, after its last digit.
    if (finished_i) assume (stage_q == Open);
    if (run_q && rst_ni) begin
      a_order: assert (digits_q < level_i);
      a_digit: assert (digit_start_o == digit_due);
      a_down:  assert (down_start_o == down_due);
      a_start: assert (start_o == (digit_due || down_due));
      a_kind:  assert (info_o.down == down_due && !info_o.bad);
      a_part:  assert (!digit_due || info_o.digit == digits_q);
      a_ends:  assert (info_o.first == (digit_due && digits_q == '0) && info_o.last == (digit_due && last));
      a_comp:  assert (!down_due || info_o.comp == (stage_q == Half));
      a_idle:  assert (active_o == (digits_q != '0 || stage_q != None));
      // The registers say what the ledger says: what makes the induction close.
      a_same:  assert (i_dut.digit_q == digits_q && i_dut.open_q == (stage_q != None)
                       && i_dut.pending_q == (stage_q == Finished || stage_q == Half)
                       && i_dut.comp_q == (stage_q == Half));
    end
  end

endmodule
