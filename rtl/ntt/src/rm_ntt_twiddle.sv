// rm_ntt_twiddle - two twiddle tables: one serves the running transform while the other is filled.
//
// A slot holds a table, its modulus' index, q and aux. The oldest waiting command (the head) hits if a
// slot holds its modulus. If none does, the slot that the latest start did not take is filled, as soon
// as no row that needs it is on its way (slot_busy_i); the running transform keeps the other one.
//
// Rules        hit_o in cycle c only depends on the slots and on the head in c. A generation starts in
//              the first cycle with: head, no hit, generator free, victim not busy. How long it takes
//              stands in rm_ntt_twiddle_gen.
//              flush_i (only while nothing waits, runs or is filled) forgets both tables.
module rm_ntt_twiddle #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned LogNbf  = 2,
  parameter int unsigned ModW    = 4,
  localparam int unsigned Nbf    = 1 << LogNbf,
  localparam int unsigned RowW   = LogNMax - LogNbf - 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [3:0]            log_n_i,
  input  logic                  flush_i,
  // head of the queue
  input  logic                  head_valid_i,
  input  logic [ModW-1:0]       head_mod_i,
  output logic                  hit_o,
  output logic                  hit_slot_o,
  input  logic                  start_i,       // the head starts, with hit_slot_o
  input  logic [1:0]            slot_busy_i,
  output logic                  busy_o,        // a table is being filled
  // modulus table
  output logic [ModW-1:0]       tab_mod_o,
  output logic [3:0]            tab_root_o,
  input  logic [W-1:0]          tab_q_i,
  input  logic [W+1:0]          tab_aux_i,
  input  logic [W-1:0]          tab_root_i,
  // constants of the slots
  output logic [1:0][W-1:0]     q_o,
  output logic [1:0][W+1:0]     aux_o,
  // the row requested in this cycle (offset 0), and its twiddles at offset OffMul
  input  logic [RowW-1:0]       time_i,
  input  logic [RowW-1:0]       mask_i,
  input  logic [3:0]            log_dist_i,
  input  logic                  inverse_i,
  input  logic                  gang_i,
  input  logic                  lane_i,
  input  logic                  table_slot_i,  // slot of the row at offset OffTwAddr + 1
  output logic [Nbf-1:0][W-1:0] twiddle_o
);

  localparam int unsigned Lanes  = rm_ntt_pkg::gen_lanes(Nbf);
  localparam int unsigned Groups = Nbf / Lanes;
  localparam int unsigned GroupW = (Groups > 1) ? $clog2(Groups) : 1;
  localparam int unsigned AddrW  = LogNMax - LogNbf;
  localparam int unsigned SelW   = (LogNbf > 0) ? LogNbf : 1;

  // ---------------------------------------------------------------- slots
  logic [1:0]           valid_q, valid_d;
  logic [1:0][ModW-1:0] mod_q;
  logic [1:0][W-1:0]    q_q;
  logic [1:0][W+1:0]    aux_q;
  logic                 latest_q;   // slot of the latest start
  logic                 filling_q;  // slot of the latest generation
  logic [1:0]           match;
  logic                 victim, gen_start, gen_busy, gen_done, gen_load_q;

  for (genvar s = 0; s < 2; s++) begin : g_match
    assign match[s] = valid_q[s] && mod_q[s] == head_mod_i;
  end

  assign hit_o      = head_valid_i && match != '0;
  assign hit_slot_o = match[1];
  assign victim     = !latest_q;
  assign gen_start  = head_valid_i && match == '0 && !gen_busy && !slot_busy_i[victim];
  assign busy_o     = gen_busy;

  always_comb begin : p_valid_next
    valid_d = valid_q;
    if (gen_start) valid_d[victim] = 1'b0;
    if (gen_done) valid_d[filling_q] = 1'b1;
    if (flush_i) valid_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_slots
    if (!rst_ni) begin
      valid_q  <= '0;
      latest_q <= 1'b1;
      gen_busy <= 1'b0;
    end else begin
      valid_q <= valid_d;
      if (start_i) latest_q <= hit_slot_o;
      // free again in the cycle in which the new table can be hit
      if (gen_start) gen_busy <= 1'b1;
      else if (gen_done) gen_busy <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin : p_constants
    if (gen_start) begin
      filling_q     <= victim;
      mod_q[victim] <= head_mod_i;
    end
    if (gen_load_q) begin
      q_q[filling_q]   <= tab_q_i;
      aux_q[filling_q] <= tab_aux_i;
    end
  end

  assign q_o       = q_q;
  assign aux_o     = aux_q;
  assign tab_mod_o = mod_q[filling_q];

  // ---------------------------------------------------------------- generator
  logic [AddrW-1:0]        gen_addr, gen_waddr;
  logic [Lanes-1:0]        gen_we;
  logic                    gen_wslot;
  logic [GroupW-1:0]       gen_wgroup;
  logic [Lanes-1:0][W-1:0] gen_wdata;
  logic [1:0][Nbf-1:0][W-1:0] row;

  rm_ntt_twiddle_gen #(
    .W       (W),
    .Kind    (Kind),
    .Tile    (Tile),
    .LogNMax (LogNMax),
    .LogNbf  (LogNbf)
  ) i_gen (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .start_i      (gen_start),
    .slot_i       (filling_q),
    .done_o       (gen_done),
    .root_index_o (tab_root_o),
    .root_i       (tab_root_i),
    .load_q_o     (gen_load_q),
    .q_i          (q_q[filling_q]),
    .aux_i        (aux_q[filling_q]),
    .addr_o       (gen_addr),
    .row_i        (row[filling_q]),
    .we_o         (gen_we),
    .wslot_o      (gen_wslot),
    .waddr_o      (gen_waddr),
    .wgroup_o     (gen_wgroup),
    .wdata_o      (gen_wdata)
  );

  // ---------------------------------------------------------------- tables
  logic [AddrW-1:0] run_addr;

  for (genvar s = 0; s < 2; s++) begin : g_table
    logic [AddrW-1:0] addr_q;
    logic             fills;

    assign fills = gen_busy && 32'(filling_q) == s;

    always_ff @(posedge clk_i) begin : p_addr
      addr_q <= fills ? gen_addr : run_addr;
    end

    rm_ntt_twiddle_table #(
      .W     (W),
      .Nbf   (Nbf),
      .Lanes (Lanes),
      .AddrW (AddrW)
    ) i_table (
      .clk_i,
      .addr_i   (addr_q),
      .row_o    (row[s]),
      .we_i     ((32'(gen_wslot) == s) ? gen_we : '0),
      .waddr_i  (gen_waddr),
      .wgroup_i (gen_wgroup),
      .wdata_i  (gen_wdata)
    );
  end

  // ---------------------------------------------------------------- twiddles of the running rows
  logic [SelW-1:0]       offset, fixed;
  logic                  mirror;
  logic [Nbf-1:0][W-1:0] twiddle_d, twiddle_q;

  rm_ntt_twiddle_map #(
    .LogNMax (LogNMax),
    .LogNbf  (LogNbf)
  ) i_map (
    .clk_i,
    .time_i,
    .mask_i,
    .log_dist_i,
    .inverse_i,
    .gang_i,
    .lane_i,
    .addr_o   (run_addr),
    .offset_o (offset),
    .fixed_o  (fixed),
    .mirror_o (mirror)
  );

  rm_ntt_twiddle_select #(
    .W      (W),
    .LogNbf (LogNbf)
  ) i_select (
    .row_i     (row[table_slot_i]),
    .offset_i  (offset),
    .fixed_i   (fixed),
    .mirror_i  (mirror),
    .twiddle_o (twiddle_d)
  );

  always_ff @(posedge clk_i) begin : p_twiddle
    twiddle_q <= twiddle_d;
  end

  assign twiddle_o = twiddle_q;

`ifndef SYNTHESIS
  a_one_hit: assert property (@(posedge clk_i) disable iff (!rst_ni) match != 2'b11 || !head_valid_i);
  a_start_hit: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i |-> hit_o);
  a_flush_idle: assert property (@(posedge clk_i) disable iff (!rst_ni)
                                 flush_i |-> !head_valid_i && !gen_busy && slot_busy_i == '0);
`endif

endmodule
