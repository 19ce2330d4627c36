// fv_ntt_twiddle_gen - a table is filled by doubling. Every entry is written once and is the product of the right
//                      roots, each made from an entry that is present by then. The table is complete when a transform
//                      may read it.
//
// Method       bounded, a whole generation at small sizes. The proof script cuts the multipliers away: here a word says
//              which roots it holds, root b is 2^b, and a product is their union, M cycles later. So entry x must hold x.
//              What memory and tables held before is anything. BROKEN asks for entry 0 too and must give a
//              counterexample.
module fv_ntt_twiddle_gen #(
  parameter int unsigned LogNMax  = 5,
  parameter int unsigned LogNbf   = 0,
  parameter int unsigned Kind     = rm_modmul_pkg::KindP2,
  localparam int unsigned LogNMin = LogNbf + 3,
  localparam int unsigned W       = 10,  // at least LogNMax; what a multiplier can be built for
  localparam int unsigned Nbf     = 1 << LogNbf,
  localparam int unsigned Lanes   = rm_ntt_pkg::gen_lanes(Nbf),
  localparam int unsigned Groups  = Nbf / Lanes,
  localparam int unsigned GroupW  = (Groups > 1) ? $clog2(Groups) : 1,
  localparam int unsigned AddrW   = LogNMax - LogNbf,
  localparam int unsigned N       = 1 << LogNMax,
  localparam int unsigned M       = rm_modmul_pkg::latency(Kind, W)
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [3:0] log_n_i
);

  // A transform that starts in the cycle after done requests its first row in the next, and reads the twiddle factor of
  // that row this number of cycles after done.
  localparam int unsigned Ready = 2 + rm_ntt_pkg::OffTwAddr;

  logic                    start, done, load_q, wslot;
  logic [3:0]              root_index, root_index_q, log_n_q, log_n;
  logic [AddrW-1:0]        addr, addr_q, waddr;
  logic [Nbf-1:0][W-1:0]   row;
  logic [Lanes-1:0]        we;
  logic [GroupW-1:0]       wgroup;
  logic [Lanes-1:0][W-1:0] wdata;
  logic [1:0]              cycle_q;
  logic [Ready:1]          done_q;

  assign start = cycle_q == 2'd1;
  assign log_n = (LogNMin == LogNMax) ? 4'(LogNMax) : log_n_q;

  rm_ntt_twiddle_gen #(
    .W      (W),
    .Kind   (Kind),
    .Tile   (rm_modmul_pkg::TileLut),
    .LogNMax(LogNMax),
    .LogNbf (LogNbf)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_n_i     (log_n),
    .start_i     (start),
    .slot_i      (1'b0),
    .done_o      (done),
    .root_index_o(root_index),
    .root_i      (W'(1) << root_index_q),
    .load_q_o    (load_q),
    .q_i         ('0),
    .aux_i       ('0),
    .addr_o      (addr),
    .row_i       (row),
    .we_o        (we),
    .wslot_o     (wslot),
    .waddr_o     (waddr),
    .wgroup_o    (wgroup),
    .wdata_o     (wdata)
  );

  rm_ntt_twiddle_table #(
    .W    (W),
    .Nbf  (Nbf),
    .Lanes(Lanes),
    .AddrW(AddrW)
  ) i_table (
    .clk_i,
    .addr_i  (addr_q),
    .row_o   (row),
    .we_i    (we),
    .waddr_i (waddr),
    .wgroup_i(wgroup),
    .wdata_i (wdata)
  );

  // ---------------------------------------------------------------- products
  for (genvar l = 0; l < Lanes; l++) begin : g_product
    logic [W-1:0] line_q [M];
    always_ff @(posedge clk_i) begin : p_line
      line_q[0] <= i_dut.operand_q[l] | i_dut.root_q;
      for (int unsigned i = 1; i < M; i++) line_q[i] <= line_q[i-1];
    end
    always_comb begin : p_product
      assume (i_dut.product[l] == line_q[M-1]);
    end
  end

  // ---------------------------------------------------------------- entries
  logic [N-1:0]                  written_q, all;
  logic [Lanes-1:0][LogNMax-1:0] entry;

  for (genvar l = 0; l < Lanes; l++) begin : g_entry
    assign entry[l] = (LogNMax'(waddr) << LogNbf) + LogNMax'(32'((Groups > 1) ? wgroup : '0) * Lanes + l);
  end

  // entries 1 ... 2^log N - 1
`ifdef BROKEN
  assign all = N'((129'd1 << (32'd1 << log_n)) - 129'd1);
`else
  assign all = N'((129'd1 << (32'd1 << log_n)) - 129'd2);
`endif

  initial cycle_q = '0;

  always_ff @(posedge clk_i) begin : p_model
    cycle_q      <= cycle_q + 2'(cycle_q != '1);
    root_index_q <= root_index;
    addr_q       <= addr;
    if (cycle_q == '0) begin
      log_n_q   <= log_n_i;
      written_q <= '0;
      done_q    <= '0;
    end else begin
      done_q <= {done_q[Ready-1:1], done};
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (we[l]) written_q[entry[l]] <= 1'b1;
      end
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_written
    always_comb begin : p_word
      if (cycle_q != '0 && we[l]) begin
        a_in_range: assert (all[entry[l]]);
        a_once: assert (!written_q[entry[l]]);
        a_value: assert (wdata[l] == W'(entry[l]));
      end
    end
  end

  always_comb begin : p_check
    assume (rst_ni == (cycle_q != '0));
    assume (32'(log_n_i) >= LogNMin && 32'(log_n_i) <= LogNMax);
    if (cycle_q != '0) begin
      a_whole: assert (!done_q[Ready] || written_q == all);
    end
  end

endmodule
