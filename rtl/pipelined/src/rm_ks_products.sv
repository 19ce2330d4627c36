// rm_ks_products - a row times keys, added to sums; or sums less a row, divided, and an addend. Without memories.
//
// Equation     digit   sum[c] = (first ? 0 : sum[c]) + x * key[c]  mod q, c = 0, 1
//              down    sum[0] = (finished - x) * down + addend     mod q
//              All canonical. Keys and `down` carry the factor 2^R of the multiplier.
// Timing       a is the cycle of row_i, finished_i, key_i and mode_down_i. q_i and down_i belong to a + 1, mul_* to a + 2, add_*,
//              addend_i and sum_i to a + 2 + M, late_q_i to a + 3 + M; sum_o stands in a + 4 + M. A row a cycle, no stall.
// Intervals    finished - x in (-q, q), corrected before the product; product + addend in [0, 2q), corrected after it.
module rm_ks_products #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned P       = 2,
  parameter bit          Special = 1'b0    // nothing goes down
) (
  input  logic                     clk_i,
  // cycle a
  input  logic                     mode_down_i,
  input  logic [P-1:0][W-1:0]      row_i,
  input  logic [P-1:0][W-1:0]      finished_i,
  input  logic [1:0][P-1:0][W-1:0] key_i,
  // constants, in their cycles
  input  logic [W-1:0]             q_i,
  input  logic [W-1:0]             down_i,
  input  logic [W-1:0]             mul_q_i,
  input  logic [W+1:0]             mul_aux_i,
  input  logic [W-1:0]             late_q_i,
  // cycle a + 2 + M
  input  logic                     add_down_i,
  input  logic                     add_first_i,
  input  logic [P-1:0][W-1:0]      addend_i,
  input  logic [1:0][P-1:0][W-1:0] sum_i,
  // cycle a + 4 + M
  output logic [1:0][P-1:0][W-1:0] sum_o
);

  // ------------------------------------------------- factors, in a + 2
  logic [P-1:0][W-1:0]      factor_q;
  logic [1:0][P-1:0][W-1:0] key1_q, key2_q;
  logic                     down1_q;

  always_ff @(posedge clk_i) begin : p_key
    key1_q  <= key_i;
    key2_q  <= (down1_q && !Special) ? {2 * P{down_i}} : key1_q;
    down1_q <= mode_down_i;
  end

  if (Special) begin : g_special
    logic [P-1:0][W-1:0] row_q;
    always_ff @(posedge clk_i) begin : p_row
      row_q    <= row_i;
      factor_q <= row_q;
    end
    logic unused_down;
    assign unused_down = ^{finished_i, q_i, down_i};
  end else begin : g_down
    for (genvar l = 0; l < P; l++) begin : g_lane
      logic [W:0] diff_q;
      always_ff @(posedge clk_i) begin : p_difference
        diff_q      <= mode_down_i ? {1'b0, finished_i[l]} - {1'b0, row_i[l]} : {1'b0, row_i[l]};
        factor_q[l] <= diff_q[W-1:0] + (q_i & {W{diff_q[W]}});
      end
    end
  end

  // ------------------------------------------------- products, in a + 2 + M, and sums
  for (genvar c = 0; c < 2; c++) begin : g_component
    for (genvar l = 0; l < P; l++) begin : g_lane
      logic [W-1:0] product, addend, sum_new_q;
      logic [W:0]   sum_q, less;
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_product (
        .clk_i, .a_i(factor_q[l]), .b_i(key2_q[c][l]), .q_i(mul_q_i), .aux_i(mul_aux_i), .r_o(product)
      );
      // On the way down both components have the product; that of component 0 is the result.
      assign addend = add_down_i ? addend_i[l] : add_first_i ? '0 : sum_i[c][l];
      assign less   = sum_q - {1'b0, late_q_i};
      always_ff @(posedge clk_i) begin : p_sum
        sum_q     <= {1'b0, product} + {1'b0, addend};
        sum_new_q <= less[W] ? sum_q[W-1:0] : less[W-1:0];
      end
      assign sum_o[c][l] = sum_new_q;
    end
  end

endmodule
