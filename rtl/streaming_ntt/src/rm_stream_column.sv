// rm_stream_column - P/2 butterflies between lanes that differ in bit X of their numbers.
//
// Equation     forward  (a, b) -> (a + T b, a - T b);  inverse  (a, b) -> ((a + b)/2, T (a - b)/2)   mod q, canonical
//              T is words_i[butterfly >> X], two cycles after the row that it belongs to. The inverse wants 1/T of the
//              forward transform; a and b change places at the ports of rm_ntt_butterfly, which turns the sign of its
//              difference.
// Latency      rm_stream_pkg::column_latency, a row a cycle, no stall. next_* is the row of one cycle ago: what loads the twiddle
//              factors follows it.
module rm_stream_column #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogP    = 1,
  parameter int unsigned X       = 0,
  parameter bit          Inverse = 1'b0,
  parameter int unsigned TimeW   = 8,
  localparam int unsigned P      = 1 << LogP,
  localparam int unsigned Words  = (P / 2) >> X,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [4:0]              log_rows_i,
  input  logic                    cfg_we_i,
  input  logic                    cfg_aux_i,
  input  logic [ModW-1:0]         cfg_mod_i,
  input  logic [W+1:0]            cfg_data_i,
  input  logic                    first_i,
  input  logic [ModW-1:0]         mod_i,
  input  logic [P-1:0][W-1:0]     row_i,
  output logic                    next_valid_o,
  output logic [TimeW-1:0]        next_time_o,
  output logic [ModW-1:0]         next_mod_o,
  input  logic [Words-1:0][W-1:0] words_i,
  output logic                    first_o,
  output logic [ModW-1:0]         mod_o,
  output logic [P-1:0][W-1:0]     row_o
);

  localparam int unsigned M = rm_modmul_pkg::latency(Kind, W);

  logic             valid, valid_q;
  logic [TimeW-1:0] now, now_q;
  logic [ModW-1:0]  mod, mod_q;
  logic [W-1:0]     q1, q2, q_post;
  logic [W+1:0]     aux1, aux2;

  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (ModW)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i,
    .first_i,
    .mod_i,
    .valid_o (valid),
    .time_o  (now),
    .mod_o   (mod)
  );

  rm_stream_moduli #(
    .W    (W),
    .Mods (Mods)
  ) i_moduli (
    .clk_i,
    .cfg_we_i,
    .cfg_aux_i,
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i (mod),
    .q_o   (q1),
    .aux_o (aux1)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= valid;
    end
  end
  always_ff @(posedge clk_i) begin : p_late
    now_q <= now;
    mod_q <= mod;
    q2    <= q1;
    aux2  <= aux1;
  end
  assign next_valid_o = valid_q;
  assign next_time_o  = now_q;
  assign next_mod_o   = mod_q;

  rm_delay_line #(
    .Width  (W),
    .Cycles (M + 1)
  ) i_q_post (
    .clk_i,
    .data_i (q2),
    .data_o (q_post)
  );

  for (genvar f = 0; f < P / 2; f++) begin : g_butterfly
    localparam int unsigned A = ((f >> X) << (X + 1)) | (f & ((1 << X) - 1));
    localparam int unsigned B = A | (1 << X);
    rm_ntt_butterfly #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_butterfly (
      .clk_i,
      .pre1_inverse_i  (Inverse),
      .x_i             (Inverse ? row_i[B] : row_i[A]),
      .y_i             (Inverse ? row_i[A] : row_i[B]),
      .pre2_inverse_i  (Inverse),
      .pre2_q_i        (q1),
      .mul_inverse_i   (Inverse),
      .mul_q_i         (q2),
      .mul_aux_i       (aux2),
      .twiddle_i       (words_i[f>>X]),
      .post1_inverse_i (Inverse),
      .post2_q_i       (q_post),
      .x_o             (row_o[A]),
      .y_o             (row_o[B])
    );
  end

  rm_stream_tag #(
    .Cycles (M + 4),
    .ModW   (ModW)
  ) i_tag (
    .clk_i,
    .rst_ni,
    .first_i,
    .mod_i,
    .first_o,
    .mod_o
  );

endmodule
