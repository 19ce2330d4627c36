// The last step of the other kinds at full width and for every modulus. What the equations guarantee before it (README.md
// of the block, and the argument in each source) is assumed of a cut net; 0 <= r_o < q is proved.
module fv_last #(
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned W    = 60
) (
  input logic         clk_i,
  input logic [W-1:0] a_i,
  input logic [W-1:0] b_i,
  input logic [W-1:0] q_i,
  input logic [W+1:0] aux_i
);

  localparam int unsigned H = W / 2;
  localparam int unsigned Cycles = rm_modmul_pkg::latency(Kind, W);
`ifdef BROKEN
  localparam int unsigned Less = 1;
`else
  localparam int unsigned Less = 0;
`endif

  logic [W-1:0] r_o, q_q;
  logic [3:0]   cycle_q;
  initial cycle_q = '0;
  always_ff @(posedge clk_i) begin : p_cycle
    cycle_q <= cycle_q + 4'(cycle_q != '1);
    q_q     <= q_i;
  end

  if (Kind == rm_modmul_pkg::KindMontgomery) begin : g_montgomery
    rm_modmul_montgomery #(.W(W)) i_dut (.clk_i, .a_i, .b_i, .q_i, .aux_i(aux_i[W-1:0]), .r_o);
    always_comb begin : p_assume
      assume (i_dut.t_high < q_i);
      assume (i_dut.u[2*W-1:W] < q_i);
    end
  end else if (Kind == rm_modmul_pkg::KindBarrett) begin : g_barrett
    rm_modmul_barrett #(.W(W)) i_dut (.clk_i, .a_i, .b_i, .q_i, .aux_i, .r_o);
    always_comb begin : p_assume
      assume (i_dut.r_q < {q_i, 1'b0});
    end
  end else begin : g_prf
    rm_modmul_prf #(.W(W)) i_dut (.clk_i, .a_i, .b_i, .q_i, .aux_i(aux_i[H-1:0]), .r_o);
    // -2q < S < 6 * 2^M
    always_comb begin : p_assume
      assume (q_i[W-1:H] == {1'b1, {(H - 1) {1'b0}}});
      assume ((W + 6)'(i_dut.s_q) + $signed((W + 6)'({q_i, 1'b0})) > 0);
      assume (i_dut.s_q < $signed((W + 4)'({3'd6, {(W - 1) {1'b0}}})));
    end
  end

  always_comb begin : p_check
    assume (q_i > 2);
    if (cycle_q != '0) assume (q_i == q_q);  // a proof about one modulus holds for each
    if (cycle_q > 4'(Cycles)) begin
      a_range: assert (r_o < q_i - W'(Less));
    end
  end

endmodule
