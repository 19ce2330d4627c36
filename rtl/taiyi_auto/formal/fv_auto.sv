// rm_auto: every value of every limb in its place, for every odd g and every pattern of starts. The memory holds the number of each
// value, so a row says where its values came from; each must satisfy 2 brv(j') + 1 = g (2 brv(j) + 1) mod 2N.
module fv_auto #(
  parameter int unsigned LogN = 5,
  parameter int unsigned LogL = 1,
  parameter int unsigned LogR = 1,
  localparam int unsigned L   = 1 << LogL,
  localparam int unsigned R   = 1 << LogR,
  localparam int unsigned T   = LogN - LogL - LogR
) (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          start_valid_i,
  input logic [LogN:0] start_galois_i
);

  logic                          start_ready_o, bad_size_o, bad_galois_o, read_o, valid_o, first_o, busy_o;
  logic [L-1:0][T-1:0]           addr_o, addr_q;
  logic [L-1:0][R-1:0][LogN-1:0] row_i, row_o;

  rm_auto #(
    .W    (LogN),
    .LogN (LogN),
    .LogL (LogL),
    .LogR (LogR)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .start_valid_i,
    .start_ready_o,
    .start_log_n_i (5'(LogN)),
    .start_galois_i,
    .bad_size_o,
    .bad_galois_o,
    .read_o,
    .addr_o,
    .row_i,
    .valid_o,
    .first_o,
    .row_o,
    .busy_o
  );

  always_ff @(posedge clk_i) addr_q <= addr_o;
  for (genvar l = 0; l < L; l++) begin : g_memory
    for (genvar e = 0; e < R; e++) begin : g_element
      if (LogL > 0) begin : g_lanes
        assign row_i[l][e] = {LogL'(l), addr_q[l], LogR'(e)};
      end else begin : g_one
        assign row_i[l][e] = {addr_q[l], LogR'(e)};
      end
    end
  end

  // g of the limb whose rows come out: starts are as far apart as limbs are long, so a short queue in time does.
  logic [LogN:0] g_q[6];
  logic [LogN:0] g_now, g_hold_q;
  logic [T-1:0]  row_q, row;
  logic          run_q;
  initial run_q = 1'b0;
  assign row   = first_o ? '0 : row_q;
  assign g_now = first_o ? g_q[5] : g_hold_q;
  always_ff @(posedge clk_i) begin : p_follow
    run_q  <= 1'b1;
    g_q[0] <= start_galois_i;
    for (int unsigned i = 1; i < 6; i++) g_q[i] <= g_q[i-1];
    g_hold_q <= g_now;
    row_q    <= row + 1'b1;
  end

  always_comb begin : p_assume
    if (!run_q) assume (!rst_ni);
  end

  for (genvar l = 0; l < L; l++) begin : g_lane
    for (genvar e = 0; e < R; e++) begin : g_check
      logic [LogN-1:0] j, k, k_from;
      if (LogL > 0) begin : g_lanes
        assign j = {LogL'(l), row, LogR'(e)};
      end else begin : g_one
        assign j = {row, LogR'(e)};
      end
      for (genvar b = 0; b < LogN; b++) begin : g_reverse
        assign k[b]      = j[LogN-1-b];
        assign k_from[b] = row_o[l][e][LogN-1-b];
      end
      logic [LogN:0] want;
      assign want = g_now * {k, 1'b1};
      always_comb begin : p_check
        if (run_q && rst_ni && valid_o) begin
`ifdef BROKEN
          a_place: assert ({k_from, 1'b0} == want);
`else
          a_place: assert ({k_from, 1'b1} == want);
`endif
        end
      end
    end
  end
  always_comb begin : p_even
    if (run_q && rst_ni) begin
      a_even: assert (start_galois_i[0] || !start_ready_o);
    end
  end

endmodule
