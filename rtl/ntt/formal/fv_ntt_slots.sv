// fv_ntt_slots - the two twiddle tables: no command starts with the wrong one, none is filled while rows need it.
//
// Method       the proof script cuts the generator's done_o away: a generation may take any time. q of a modulus is
//              its index, so a slot's constants show what it holds. Commands, starts, flushes and the times in which
//              rows of a slot are on their way are free, as far as the unit and its user allow them.
module fv_ntt_slots #(
  parameter int unsigned W    = 6,
  parameter int unsigned ModW = 2
) (
  input logic            clk_i,
  input logic            flush_i,
  input logic            head_valid_i,
  input logic [ModW-1:0] head_mod_i,
  input logic            start_i,
  input logic [1:0]      rows_i
);

  logic            started_q;
  logic            hit, hit_slot, filling;
  logic [ModW-1:0] tab_mod;
  logic [1:0][W-1:0] q;
  logic [W-1:0]    tab_q_q;
  logic [1:0]      busy;
  logic            start;

  assign start = started_q && start_i && hit;

  rm_ntt_twiddle #(
    .W      (W),
    .Kind   (3),
    .Tile   (0),
    .LogNMax(4),
    .LogNbf (0),
    .ModW   (ModW)
  ) i_dut (
    .clk_i,
    .rst_ni      (started_q),
    .log_n_i     (4'd4),
    .flush_i     (flush_i),
    .head_valid_i(head_valid_i),
    .head_mod_i  (head_mod_i),
    .hit_o       (hit),
    .hit_slot_o  (hit_slot),
    .start_i     (start),
    .slot_busy_i (busy),
    .busy_o      (filling),
    .tab_mod_o   (tab_mod),
    .tab_root_o  (),
    .tab_q_i     (tab_q_q),
    .tab_aux_i   ('0),
    .tab_root_i  ('0),
    .q_o         (q),
    .aux_o       (),
    .time_i      ('0),
    .mask_i      ('0),
    .log_dist_i  ('0),
    .inverse_i   (1'b0),
    .gang_i      (1'b0),
    .lane_i      (1'b0),
    .table_slot_i(1'b0),
    .twiddle_o   ()
  );

  // ---------------------------------------------------------------- what runs
  logic                 any_q, latest_q;     // a transform was started since the last flush; its slot
  logic [1:0]           drain_q;             // rows of the transform before it may be on their way
  logic [1:0][ModW-1:0] runs_q;              // modulus of the rows of a slot
  logic                 wait_q;
  logic [ModW-1:0]      wait_mod_q;
  logic [2:0]           age_q;

  // rows of the latest transform come and go (gaps between stages), those of the one before go once
  assign busy[0] = any_q && rows_i[0] && (latest_q == 1'b0 || drain_q[0]);
  assign busy[1] = any_q && rows_i[1] && (latest_q == 1'b1 || drain_q[1]);

  initial begin
    started_q = 1'b0;
    any_q     = 1'b0;
    wait_q    = 1'b0;
    drain_q   = '0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q  <= 1'b1;
    tab_q_q    <= W'(tab_mod);
    wait_q     <= head_valid_i && !start;
    wait_mod_q <= head_mod_i;
    age_q      <= !filling ? '0 : age_q + 3'(age_q != '1);
    drain_q    <= drain_q & rows_i;
    if (start) begin
      any_q            <= 1'b1;
      latest_q         <= hit_slot;
      runs_q[hit_slot] <= head_mod_i;
      if (any_q && latest_q != hit_slot) drain_q[latest_q] <= 1'b1;
      drain_q[hit_slot] <= 1'b0;
    end
    if (flush_i) any_q <= 1'b0;
  end

  for (genvar s = 0; s < 2; s++) begin : g_slot
    always_comb begin : p_slot
      if (started_q && busy[s]) begin
        a_kept: assert (q[s] == W'(runs_q[s]));
        a_alone: assert (!filling || 32'(i_dut.filling_q) != s);
      end
    end
  end

  always_comb begin : p_check
    // the head stands until it starts; a flush comes while nothing waits, runs or is filled
    assume (!wait_q || (head_valid_i && head_mod_i == wait_mod_q));
    assume (!flush_i || (!head_valid_i && !filling && busy == '0 && drain_q == '0));
    // done: while filling, and after q was loaded
    assume (!i_dut.gen_done || (filling && age_q >= 3'd3));
    if (started_q) begin
      a_right: assert (!hit || q[hit_slot] == W'(head_mod_i));
      if (any_q && !flush_i) begin
        a_latest: assert (i_dut.valid_q[latest_q] && q[latest_q] == W'(runs_q[latest_q]));
      end
`ifdef BROKEN
      // a head whose table is not there must wait: that it can happen shows that the proof reaches it
      a_broken: assert (!(head_valid_i && !hit && any_q && i_dut.valid_q == 2'b11));
`endif
    end
  end

endmodule
