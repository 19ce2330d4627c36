// rm_arith_unit - everything the core does to words besides transforms: one row of 2 * Nbf words a cycle.
//
// Equation     the opcodes 0x10 ... 0x1a of the instruction table (rm_core_pkg::arith_op_e), 2 * Nbf words side by
//              side, one multiplier each; see rm_arith_column for the arithmetic and its intervals.
// Timing       a row issued in cycle t reads its banks in t, has their words in t + 1 and writes bank or write
//              queue in t + WriteStage = t + 6 + L, L the latency of the multiplier; the earliest read of what it
//              wrote is in t + Depth = t + 7 + L. One row a cycle; rm_arith_control has the rules of issue.
// Commands     cmd_* with the constants of the modulus (q, aux), the modulus of the source of a lift (p), K0, K1.
// Streams      rd_row: one row is taken with every issue of a command that uses S. wr_row: the write queue holds
//              WriteRows rows, so that what is in the pipeline always finds room.
module rm_arith_unit
  import rm_core_pkg::*;
  import rm_arith_pkg::*;
#(
  parameter int unsigned W       = 54,
  parameter int unsigned Nbf     = 4,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  localparam int unsigned Cols   = 2 * Nbf,
  localparam int unsigned ColW   = $clog2(Cols),
  localparam int unsigned RowW   = LogNMax - ColW,
  localparam int unsigned MulL   = rm_modmul_pkg::latency(Kind, W),
  localparam int unsigned WriteStage = StagesBefore + MulL + StagesAfter,
  localparam int unsigned Depth  = WriteStage + 1,
  localparam int unsigned WriteRows = (Depth + 4 > 32) ? 64 : 32
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [LogNW-1:0]       log_n_i,
  input  logic [RowW-1:0]        last_row_i,
  output logic                   chain_o,      // half a limb has at least Depth rows: see rm_arith_control, pass
  // commands
  input  logic                   cmd_valid_i,
  output logic                   cmd_ready_o,
  input  arith_cmd_t             cmd_i,
  input  logic [W-1:0]           k0_i,
  input  logic [W-1:0]           k1_i,
  input  logic [W-1:0]           q_i,
  input  logic [W+1:0]           aux_i,
  input  logic [W-1:0]           p_i,
  // banks: address in one cycle, row in the next
  output logic                   a_re_o,
  output logic [BankW-1:0]       a_bank_o,
  output logic [RowW-1:0]        a_row_o,
  output logic                   c_re_o,
  output logic [BankW-1:0]       c_bank_o,
  output logic [RowW-1:0]        c_row_o,
  input  logic [Cols-1:0][W-1:0] a_data_i,
  input  logic [Cols-1:0][W-1:0] c_data_i,
  output logic                   we_o,
  output logic [BankW-1:0]       wbank_o,
  output logic [RowW-1:0]        wrow_o,
  output logic [Cols-1:0][W-1:0] wdata_o,
  // streams
  input  logic                   rd_row_valid_i,
  output logic                   rd_row_ready_o,
  input  logic [Cols-1:0][W-1:0] rd_row_data_i,
  output logic                   wr_row_valid_o,
  input  logic                   wr_row_ready_i,
  output logic [Cols-1:0][W-1:0] wr_row_data_o,
  // banks passed and released
  output logic [Banks-1:0]       pass_o,
  output logic [Banks-1:0]       free_read_o,
  output logic [Banks-1:0]       free_write_o,
  // status
  output logic                   issue_o,
  output logic                   idle_o,
  output logic                   stall_read_o,
  output logic                   stall_write_o
);

  if (Nbf != 1 && Nbf != 2 && Nbf != 4 && Nbf != 8 && Nbf != 16) begin : g_check_nbf
    $error("rm_arith_unit: Nbf must be 1, 2, 4, 8 or 16");
  end
  if (LogNMax > 15 || LogNMax < ColW + 1) begin : g_check_logn
    $error("rm_arith_unit: LogNMax must be at most 15, and a limb at least two rows");
  end
  if (W < LogNMax + 1 || W > 62) begin : g_check_w
    $error("rm_arith_unit: W must hold a galois element and lie below 63");
  end

  // ---------------------------------------------------------------- control
  logic            issue, push, wr_pop;
  arith_cmd_t      cmd;
  logic [RowW-1:0] row, wrow;

  rm_arith_control #(
    .RowW      (RowW),
    .WriteStage(WriteStage),
    .WriteRows (WriteRows)
  ) i_control (
    .clk_i,
    .rst_ni,
    .last_row_i,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i,
    .rd_valid_i   (rd_row_valid_i),
    .wr_pop_i     (wr_pop),
    .issue_o      (issue),
    .cmd_o        (cmd),
    .row_o        (row),
    .we_o,
    .wbank_o,
    .wrow_o       (wrow),
    .push_o       (push),
    .pass_o,
    .free_read_o,
    .free_write_o,
    .idle_o,
    .stall_read_o,
    .stall_write_o
  );

  // ---------------------------------------------------------------- stage 0: addresses, constants
  arith_ctl_t      ctl_d, ctl0_q;
  logic [W-1:0]    k0_0_q, k1_0_q, q_0_q, p_0_q;
  logic [W+1:0]    aux_0_q;
  logic [RowW-1:0] turned_row;
  logic [ColW-1:0] turn;
  logic [Cols-2:0] swap_d, swap_q;

  rm_arith_decode i_decode (
    .cmd_i,
    .ctl_o(ctl_d)
  );

  always_ff @(posedge clk_i) begin : p_constants
    if (cmd_ready_o) begin
      ctl0_q  <= ctl_d;
      k0_0_q  <= k0_i;
      k1_0_q  <= k1_i;
      q_0_q   <= q_i;
      aux_0_q <= aux_i;
      p_0_q   <= p_i;
    end
  end

  rm_galois_rows #(
    .Nbf    (Nbf),
    .LogNMax(LogNMax)
  ) i_rows (
    .clk_i,
    .load_i  (cmd_ready_o),
    .galois_i(k1_i[LogNMax:0]),
    .log_n_i,
    .step_i  (issue),
    .next_i  (row + 1'b1),
    .row_o   (turned_row),
    .turn_o  (turn)
  );

  rm_galois_swaps #(
    .Nbf(Nbf)
  ) i_swaps (
    .permute_i(cmd.permute),
    .galois_i (k1_0_q[ColW-1:0]),
    .turn_i   (turn),
    .swap_o   (swap_d)
  );

  assign issue_o        = issue;
  assign chain_o        = (RowW + 8)'(last_row_i) >= (RowW + 8)'(2 * Depth - 1);
  assign a_re_o         = issue && cmd.a_used;
  assign a_bank_o       = cmd.a_used ? cmd.a_bank : cmd.c_bank;
  assign a_row_o        = cmd.permute ? turned_row : row;
  assign c_re_o         = issue && cmd.c_used;
  assign c_bank_o       = cmd.c_bank;
  assign c_row_o        = row;
  assign rd_row_ready_o = issue && cmd.s_used;

  // ---------------------------------------------------------------- control and constants of stages 1 ... 5 + L
  arith_ctl_t   ctl1_q, ctl2_q, ctl3_q;
  logic [W-1:0] k0_1_q, k0_2_q, k0_3_q;
  logic [W-1:0] q_1_q, q_2_q, q_3_q, q_4_q, q_b;
  logic [W-1:0] bound_1_q, bound_2_q, bound_3_q, neg_k1_1_q, neg_k1_2_q, neg_k1_3_q;
  logic [W+1:0] aux_1_q, aux_2_q, aux_3_q, aux_4_q;
  logic         product_a, product_b_q;

  always_ff @(posedge clk_i) begin : p_travel
    swap_q     <= swap_d;
    ctl1_q     <= ctl0_q;
    ctl2_q     <= ctl1_q;
    ctl3_q     <= ctl2_q;
    k0_1_q     <= k0_0_q;
    k0_2_q     <= k0_1_q;
    k0_3_q     <= k0_2_q;
    q_1_q      <= q_0_q;
    q_2_q      <= q_1_q;
    q_3_q      <= q_2_q;
    q_4_q      <= q_3_q;
    aux_1_q    <= aux_0_q;
    aux_2_q    <= aux_1_q;
    aux_3_q    <= aux_2_q;
    aux_4_q    <= aux_3_q;
    // (p + 1) / 2 of an odd p
    bound_1_q  <= ctl0_q.lift ? (p_0_q >> 1) + 1'b1 : q_0_q;
    bound_2_q  <= bound_1_q;
    bound_3_q  <= bound_2_q;
    neg_k1_1_q <= q_0_q - k1_0_q;
    neg_k1_2_q <= neg_k1_1_q;
    neg_k1_3_q <= neg_k1_2_q;
  end

  rm_delay_line #(
    .Width (1),
    .Cycles(MulL + 1)
  ) i_product (
    .clk_i,
    .data_i(ctl3_q.product),
    .data_o(product_a)
  );

  rm_delay_line #(
    .Width (W),
    .Cycles(MulL + 1)
  ) i_q (
    .clk_i,
    .data_i(q_4_q),
    .data_o(q_b)
  );

  always_ff @(posedge clk_i) begin : p_product
    product_b_q <= product_a;
  end

  // ---------------------------------------------------------------- stages 1 ... 6 + L: columns
  logic [Cols-1:0][W-1:0] a_turned, s_q, result;

  always_ff @(posedge clk_i) begin : p_stream
    s_q <= rd_row_data_i;
  end

  rm_galois_columns #(
    .W  (W),
    .Nbf(Nbf)
  ) i_columns (
    .swap_i(swap_q),
    .data_i(a_data_i),
    .data_o(a_turned)
  );

  for (genvar h = 0; h < Cols; h++) begin : g_column
    rm_arith_column #(
      .W   (W),
      .Kind(Kind),
      .Tile(Tile),
      .MulL(MulL)
    ) i_column (
      .clk_i,
      .a_i        (a_turned[h]),
      .s_i        (s_q[h]),
      .c_i        (c_data_i[h]),
      .ctl2_i     (ctl2_q),
      .k0_2_i     (k0_2_q),
      .ctl3_i     (ctl3_q),
      .k0_3_i     (k0_3_q),
      .q_3_i      (q_3_q),
      .bound_3_i  (bound_3_q),
      .neg_k1_3_i (neg_k1_3_q),
      .q_4_i      (q_4_q),
      .aux_4_i    (aux_4_q),
      .product_a_i(product_a),
      .product_b_i(product_b_q),
      .q_b_i      (q_b),
      .d_o        (result[h])
    );
  end

  assign wrow_o  = wrow;
  assign wdata_o = result;

  // ---------------------------------------------------------------- write queue
  logic push_ready;
  assign wr_pop = wr_row_valid_o && wr_row_ready_i;

  rm_core_fifo #(
    .Width(Cols * W),
    .Depth(WriteRows)
  ) i_write_queue (
    .clk_i,
    .rst_ni,
    .push_valid_i(push),
    .push_ready_o(push_ready),
    .push_data_i (result),
    .pop_valid_o (wr_row_valid_o),
    .pop_ready_i (wr_row_ready_i),
    .pop_data_o  (wr_row_data_o),
    .count_o     ()
  );

`ifndef SYNTHESIS
  a_room: assert property (@(posedge clk_i) disable iff (!rst_ni) push |-> push_ready)
  else $error("rm_arith_unit: a result row found no room");
`endif

endmodule
