// rm_inplace_column - eight butterflies between lanes that differ in bit 3 - K of their numbers; forward, inverse, or nothing.
//
// Equation     forward  (a, b) -> (a + T b, a - T b);  inverse  (a, b) -> ((a + b)/2, T (b - a)/2)   mod q, canonical
//              off      (a, b) -> (a, T b): the first steps of a forward butterfly, the last ones of an inverse, and T = 1
// Latency      rm_inplace_pkg::column. mod_i and off_i belong to the row; twiddle_i, a word a butterfly, comes two cycles later.
module rm_inplace_column #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned ModW = 4,
  parameter int unsigned K    = 0
) (
  input  logic               clk_i,
  input  logic               cfg_we_i,
  input  logic               cfg_aux_i,
  input  logic [ModW-1:0]    cfg_mod_i,
  input  logic [W+1:0]       cfg_data_i,
  input  logic [ModW-1:0]    mod_i,      // bit 0: inverse
  input  logic               off_i,
  input  logic [15:0][W-1:0] row_i,
  input  logic [7:0][W-1:0]  twiddle_i,
  output logic [15:0][W-1:0] row_o
);

  localparam int unsigned M = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned X = 3 - K;

  logic         pre, pre_q, pre_q2, post, post_late;
  logic [W-1:0] q1, q2, q_post;
  logic [W+1:0] aux1, aux2;

  assign pre = mod_i[0] && !off_i;
  assign post  = mod_i[0] || off_i;

  rm_stream_moduli #(.W(W), .Mods(1 << ModW)) i_moduli (
    .clk_i,
    .cfg_we_i,
    .cfg_aux_i,
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i,
    .q_o   (q1),
    .aux_o (aux1)
  );
  always_ff @(posedge clk_i) begin : p_late
    q2        <= q1;
    aux2      <= aux1;
    pre_q  <= pre;
    pre_q2 <= pre_q;
  end
  rm_delay_line #(.Width(W), .Cycles(M + 1)) i_q_post (
    .clk_i,
    .data_i (q2),
    .data_o (q_post)
  );
  rm_delay_line #(.Width(1), .Cycles(M + 2)) i_after (
    .clk_i,
    .data_i (post),
    .data_o (post_late)
  );

  for (genvar f = 0; f < 8; f++) begin : g_butterfly
    localparam int unsigned A = ((f >> X) << (X + 1)) | (f & ((1 << X) - 1));
    localparam int unsigned B = A | (1 << X);
    rm_ntt_butterfly #(.W(W), .Kind(Kind), .Tile(Tile)) i_butterfly (
      .clk_i,
      .pre1_inverse_i  (pre),
      .x_i             (row_i[A]),
      .y_i             (row_i[B]),
      .pre2_inverse_i  (pre_q),
      .pre2_q_i        (q1),
      .mul_inverse_i   (pre_q2),
      .mul_q_i         (q2),
      .mul_aux_i       (aux2),
      .twiddle_i       (twiddle_i[f]),
      .post1_inverse_i (post_late),
      .post2_q_i       (q_post),
      .x_o             (row_o[A]),
      .y_o             (row_o[B])
    );
  end

endmodule
