// fv_galois_rows - the walker against its definition, for every galois element, every N of the build and every row.
//
// Induction    w and the step are those of the row that the model counts; then row and turn follow.
module fv_galois_rows
  import rm_core_pkg::*;
#(
  parameter int unsigned Nbf     = 2,
  parameter int unsigned LogNMax = 6,
  localparam int unsigned ColW   = $clog2(2 * Nbf),
  localparam int unsigned RowW   = LogNMax - ColW
) (
  input logic             clk_i,
  input logic             load_i,
  input logic             step_i,
  input logic [LogNMax:0] galois_i,
  input logic [LogNW-1:0] log_n_i
);

  logic             loaded_q, load, step;
  logic [LogNMax:0] g_q;
  logic [LogNW-1:0] log_n_q, bits;
  logic [RowW-1:0]  r_q, row, last;
  logic [ColW-1:0]  turn;

  rm_galois_rows #(
    .Nbf    (Nbf),
    .LogNMax(LogNMax)
  ) i_dut (
    .clk_i,
    .load_i  (load),
    .galois_i,
    .log_n_i,
    .step_i  (step),
    .next_i  (r_q + 1'b1),
    .row_o   (row),
    .turn_o  (turn)
  );

  assign load = load_i && galois_i[0] && 32'(log_n_i) <= LogNMax && 32'(log_n_i) > ColW;
  assign bits = log_n_q - LogNW'(ColW);
  assign last = RowW'((32'd1 << bits) - 1);
  assign step = step_i && loaded_q && r_q != last;

  initial loaded_q = 1'b0;

  always_ff @(posedge clk_i) begin : p_model
    if (load) begin
      loaded_q <= 1'b1;
      g_q      <= galois_i;
      log_n_q  <= log_n_i;
      r_q      <= '0;
    end else if (step) begin
      r_q <= r_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- definition
  // brv(r) over `bits` bits; w = g brv(r) + (g - 1)/2 mod N for this row and the next
  logic [RowW-1:0]    u, u_next, back;
  logic [LogNMax-1:0] w, w_next, mask;

  always_comb begin : p_define
    u      = '0;
    u_next = '0;
    for (int unsigned i = 0; i < RowW; i++) begin
      if (i < 32'(bits)) begin
        u[i]      = r_q[32'(bits)-1-i];
        u_next[i] = 1'(({1'b0, r_q} + 1'b1) >> (32'(bits) - 1 - i));
      end
    end
    mask   = LogNMax'((32'd1 << log_n_q) - 1);
    w      = (LogNMax'(g_q) * LogNMax'(u) + LogNMax'(g_q >> 1)) & mask;
    w_next = (LogNMax'(g_q) * LogNMax'(u_next) + LogNMax'(g_q >> 1)) & mask;
    back   = '0;
    for (int unsigned i = 0; i < RowW; i++) begin
      if (i < 32'(bits)) begin
        back[i] = w[32'(bits)-1-i];
      end
    end
  end

  logic [LogNW-1:0] left;
  assign left = LogNW'(LogNMax) - log_n_q;

  always_comb begin : p_check
    if (loaded_q) begin
      a_row: assert (row == back);
`ifdef BROKEN
      a_turn: assert (turn == '0);
`else
      a_turn: assert (turn == ColW'(w >> bits));
`endif
      // induction
      a_model: assert (g_q[0] && 32'(log_n_q) <= LogNMax && 32'(log_n_q) > ColW && r_q <= last);
      a_w: assert (i_dut.w_q == LogNMax'(w << left));
      a_g: assert (i_dut.g_q == LogNMax'(g_q) && i_dut.g3_q == LogNMax'(g_q) + LogNMax'({g_q, 1'b0}));
      a_delta: assert (r_q == last || LogNMax'(i_dut.w_q + i_dut.delta_q) == LogNMax'(w_next << left));
    end
  end

endmodule
