// rm_ks_bank - sums of one modulus: products with the key of a digit's rows, and the way down.
//
// Equation     rm_ks_products; on the way down x is the special residue of component c, lifted, and `down` 1/p.
// Memory       Two limbs of sums in progress, two of finished ones: the last digit's sums go to the finished, which the way
//              down reads while the next key switch makes its own. A special bank's finished sums are read at source_*.
// Timing       r is the cycle in which row_i stands: down_re_i, and time_i beside it, belong to r - 1, key_i, own_i and
//              mode_* to r, sum_* to r + 1 + M, addend_i to r + 2 + M, write_* to r + 4 + M, when result_o stands too.
//              A row a cycle, no stall.
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
  logic [1:0][P-1:0][W-1:0] finished, sum_old, sum_new;
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
      .wdata_i (sum_new[c])
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
      .wdata_i (sum_new[c])
    );
  end
  always_ff @(posedge clk_i) begin : p_comp
    down_comp_q <= down_comp_i;
  end
  assign down_row_o = finished[down_comp_q];

  // ------------------------------------------------- products, in r + 2 + M, and sums
  rm_ks_products #(.W(W), .Kind(Kind), .Tile(Tile), .P(P), .Special(Special)) i_products (
    .clk_i,
    .mode_down_i,
    .row_i,
    .finished_i  (finished[mode_comp_i]),
    .key_i,
    .q_i         (q_q),
    .down_i      (down_q),
    .mul_q_i     (q_q),
    .mul_aux_i   (aux_q),
    .late_q_i    (q_q),
    .add_down_i,
    .add_first_i,
    .addend_i,
    .sum_i       (sum_old),
    .sum_o       (sum_new)
  );
  assign result_o = sum_new[0];

endmodule
