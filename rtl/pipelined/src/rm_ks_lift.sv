// rm_ks_lift - a row of residues of one modulus as residues of another.
//
// Equation     y = x mod q, or of the number next to 0 that x stands for: (x - (2 x > q_s ? q_s : 0)) mod q, canonical.
//              x mod q is a product: mm(x, 2^R mod q) = x mod q for every word x.
// Intervals    0 <= x < q_s < 2^W; product and from_i in [0, q), so their difference in (-q, q), corrected to [0, q).
// Latency      rm_ks_pkg::lift_latency. above_i belongs to the cycle after x_i, all other inputs to that of x_i.
module rm_ks_lift #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned P    = 2
) (
  input  logic                clk_i,
  input  logic [P-1:0][W-1:0] x_i,
  input  logic [P-1:0]        above_i,   // 2 x > q_s, and signs count
  input  logic [W-1:0]        q_i,
  input  logic [W+1:0]        aux_i,
  input  logic [W-1:0]        factor_i,  // 2^R mod q
  input  logic [W-1:0]        from_i,    // q_s mod q
  output logic [P-1:0][W-1:0] y_o
);

  localparam int unsigned M = rm_modmul_pkg::latency(Kind, W);

  logic [P-1:0] above_late;
  logic [W-1:0] q_late, from_late, q_last_q;

  rm_delay_line #(.Width(P), .Cycles(M - 1)) i_above (.clk_i, .data_i(above_i), .data_o(above_late));
  rm_delay_line #(.Width(2 * W), .Cycles(M)) i_constants (.clk_i, .data_i({q_i, from_i}), .data_o({q_late, from_late}));
  always_ff @(posedge clk_i) begin : p_q
    q_last_q <= q_late;
  end

  for (genvar l = 0; l < P; l++) begin : g_lane
    logic [W-1:0] residue;
    logic [W:0]   diff_q;
    rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_residue (
      .clk_i, .a_i(x_i[l]), .b_i(factor_i), .q_i, .aux_i, .r_o(residue)
    );
    always_ff @(posedge clk_i) begin : p_sign
      diff_q <= {1'b0, residue} - {1'b0, from_late & {W{above_late[l]}}};
      y_o[l] <= diff_q[W-1:0] + (q_last_q & {W{diff_q[W]}});
    end
  end

endmodule
