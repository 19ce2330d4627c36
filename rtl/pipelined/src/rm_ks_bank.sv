// rm_ks_bank - sums of one modulus: products with the key of a digit's rows, and the way down.
//
// Equation     digit   sum[c] = (first ? 0 : sum[c]) + x * key[c]  mod q, c = 0, 1; x the digit modulo q
//              down    result = (sum[c] - x) / p + addend          mod q; x the special residue of component c, lifted
//              All canonical. Keys and 1/p carry the factor 2^R of the multiplier.
// Memory       Two limbs of sums in progress, two of finished ones: the last digit's sums go to the finished, which the way
//              down reads while the next key switch makes its own. A special bank's finished sums are read at source_*.
// Timing       r is the cycle in which row_i stands: down_re_i, and time_i beside it, belong to r - 1, key_i, own_i and
//              mode_* to r, sum_* to r + 1 + M, addend_i to r + 2 + M, write_* to r + 4 + M, when result_o stands too.
//              A row a cycle, no stall.
// Intervals    sum - x in (-q, q), corrected before the product; product + addend in [0, 2q), corrected after it.
module rm_ks_bank #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned P       = 2,
  parameter int unsigned LogRows = 8,
  parameter bit          Special = 1'b0
) (
  input  logic                     clk_i,
  // constants of the modulus
  input  logic                     cfg_we_i,
  input  logic [rm_ks_pkg::FieldW-1:0] cfg_field_i,
  input  logic [W+1:0]             cfg_data_i,
  // finished sums: of a special bank for the source, else for the way down
  input  logic                     down_re_i,
  input  logic                     down_comp_i,
  input  logic [LogRows-1:0]       down_time_i,
  output logic [P-1:0][W-1:0]      down_row_o,   // a cycle later
  // cycle r
  input  logic                     mode_down_i,
  input  logic                     mode_comp_i,
  input  logic [P-1:0][W-1:0]      row_i,
  input  logic [1:0][P-1:0][W-1:0] key_i,
  // cycle r + 1 + M
  input  logic                     sum_re_i,
  input  logic [LogRows-1:0]       sum_time_i,
  // cycle r + 2 + M
  input  logic                     add_down_i,
  input  logic                     add_first_i,
  input  logic [P-1:0][W-1:0]      addend_i,
  // cycle r + 4 + M
  input  logic                     write_i,
  input  logic                     write_last_i,
  input  logic [LogRows-1:0]       write_time_i,
  output logic [P-1:0][W-1:0]      result_o
);

  logic [W-1:0] q_q, down_q;
  logic [W+1:0] aux_q;

  always_ff @(posedge clk_i) begin : p_constants
    if (cfg_we_i && cfg_field_i == rm_ks_pkg::FieldQ) begin
      q_q <= cfg_data_i[W-1:0];
    end
    if (cfg_we_i && cfg_field_i == rm_ks_pkg::FieldAux) begin
      aux_q <= cfg_data_i;
    end
    if (cfg_we_i && cfg_field_i == rm_ks_pkg::FieldDown) begin
      down_q <= cfg_data_i[W-1:0];
    end
  end

  // ------------------------------------------------- memories
  logic [1:0][P-1:0][W-1:0] finished, sum_old, sum_new_q;
  logic                     down_comp_q;

  for (genvar c = 0; c < 2; c++) begin : g_memory
    rm_bank_ram #(
      .Width (P * W),
      .Depth (1 << LogRows)
    ) i_sums (
      .clk_i,
      .re_i    (sum_re_i),
      .raddr_i (sum_time_i),
      .rdata_o (sum_old[c]),
      .we_i    (write_i && !write_last_i),
      .waddr_i (write_time_i),
      .wdata_i (sum_new_q[c])
    );
    rm_bank_ram #(
      .Width (P * W),
      .Depth (1 << LogRows)
    ) i_finished (
      .clk_i,
      .re_i    (down_re_i && down_comp_i == 1'(c)),
      .raddr_i (down_time_i),
      .rdata_o (finished[c]),
      .we_i    (write_i && write_last_i),
      .waddr_i (write_time_i),
      .wdata_i (sum_new_q[c])
    );
  end
  always_ff @(posedge clk_i) begin : p_comp
    down_comp_q <= down_comp_i;
  end
  assign down_row_o = finished[down_comp_q];

  // ------------------------------------------------- factors, in r + 2
  logic [P-1:0][W-1:0]      factor_q;
  logic [1:0][P-1:0][W-1:0] key1_q, key2_q;
  logic                     down1_q;

  always_ff @(posedge clk_i) begin : p_key
    key1_q  <= key_i;
    key2_q  <= (down1_q && !Special) ? {2 * P{down_q}} : key1_q;
    down1_q <= mode_down_i;
  end

  if (Special) begin : g_special
    // Nothing of the special modulus goes down.
    logic [P-1:0][W-1:0] row_q;
    always_ff @(posedge clk_i) begin : p_row
      row_q    <= row_i;
      factor_q <= row_q;
    end
    logic unused_down;
    assign unused_down = ^{mode_comp_i, down_q};
  end else begin : g_down
    for (genvar l = 0; l < P; l++) begin : g_lane
      logic [W:0] diff_q;
      always_ff @(posedge clk_i) begin : p_difference
        diff_q      <= mode_down_i ? {1'b0, finished[mode_comp_i][l]} - {1'b0, row_i[l]} : {1'b0, row_i[l]};
        factor_q[l] <= diff_q[W-1:0] + (q_q & {W{diff_q[W]}});
      end
    end
  end

  // ------------------------------------------------- products, in r + 2 + M, and sums
  for (genvar c = 0; c < 2; c++) begin : g_component
    for (genvar l = 0; l < P; l++) begin : g_lane
      logic [W-1:0] product, addend;
      logic [W:0]   sum_q, less;
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_product (
        .clk_i, .a_i(factor_q[l]), .b_i(key2_q[c][l]), .q_i(q_q), .aux_i(aux_q), .r_o(product)
      );
      // On the way down both components have the product; that of component 0 is the result.
      assign addend = add_down_i ? addend_i[l] : add_first_i ? '0 : sum_old[c][l];
      assign less   = sum_q - {1'b0, q_q};
      always_ff @(posedge clk_i) begin : p_sum
        sum_q           <= {1'b0, product} + {1'b0, addend};
        sum_new_q[c][l] <= less[W] ? sum_q[W-1:0] : less[W-1:0];
      end
    end
  end
  assign result_o = sum_new_q[0];

endmodule
