// rm_pool_adder - products and sums of the tasks of one feed, whatever their modulus: rm_ks_products with constants by modulus.
//
// Timing       r is the cycle of row_i and key_i; task_* by rm_pool_marks: row_task_i belongs to r, add_task_i to r + 3 + M.
//              finished_i belongs to r + 1, addend_i and sum_i to r + 3 + M, sum_o to r + 5 + M.
module rm_pool_adder #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned ModBits = 3
) (
  input  logic                          clk_i,
  input  logic                          cfg_we_i,
  input  logic [5:0]                    cfg_field_i,
  input  logic [ModBits-1:0]            cfg_mod_i,
  input  logic [W+1:0]                  cfg_data_i,
  input  rm_pool_pkg::task_t            row_task_i,
  input  logic [15:0][W-1:0]            row_i,
  input  logic [1:0][15:0][W-1:0]       key_i,
  input  logic [15:0][W-1:0]            finished_i,
  input  rm_pool_pkg::task_t            add_task_i,
  input  logic [15:0][W-1:0]            addend_i,
  input  logic [1:0][15:0][W-1:0]       sum_i,
  output logic [1:0][15:0][W-1:0]       sum_o
);

  import rm_pool_pkg::*;

  localparam int unsigned M    = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Mods = 1 << ModBits;

  logic                    down_q;
  logic [ModBits-1:0]      mod_q;
  logic [15:0][W-1:0]      row_q;
  logic [1:0][15:0][W-1:0] key_q;
  logic [W-1:0]            q, q_mul, q_late, down;
  logic [W+1:0]            aux, aux_mul;

  always_ff @(posedge clk_i) begin : p_row
    down_q <= row_task_i.kind == Down;
    mod_q  <= ModBits'(row_task_i.mod);
    row_q  <= row_i;
    key_q  <= key_i;
    q_mul   <= q;
    aux_mul <= aux;
  end

  rm_stream_moduli #(.W(W), .Mods(Mods)) i_moduli (
    .clk_i, .cfg_we_i(cfg_we_i && cfg_field_i <= 6'd1), .cfg_aux_i(cfg_field_i[0]), .cfg_mod_i, .cfg_data_i,
    .mod_i(mod_q),
    .q_o(q), .aux_o(aux)
  );
  rm_stream_constants #(.W(W), .Mods(Mods), .Words(1)) i_down (
    .clk_i, .we_i(cfg_we_i && cfg_field_i == 6'(rm_ks_pkg::FieldDown)), .index_i('0), .wmod_i(cfg_mod_i),
    .data_i(cfg_data_i[W-1:0]), .mod_i(mod_q), .words_o(down)
  );
  rm_delay_line #(.Width(W), .Cycles(M + 1)) i_late (.clk_i, .data_i(q_mul), .data_o(q_late));

  rm_ks_products #(.W(W), .Kind(Kind), .Tile(Tile), .P(16)) i_products (
    .clk_i,
    .mode_down_i (down_q),
    .row_i       (row_q),
    .finished_i,
    .key_i       (key_q),
    .q_i         (q),
    .down_i      (down),
    .mul_q_i     (q_mul),
    .mul_aux_i   (aux_mul),
    .late_q_i    (q_late),
    .add_down_i  (add_task_i.kind == Down),
    .add_first_i (add_task_i.first),
    .addend_i,
    .sum_i,
    .sum_o
  );

  logic unused;
  assign unused = ^{row_task_i, add_task_i};

endmodule
