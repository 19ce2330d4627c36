// rm_enc_limb - one modulus of the encryption engine: three transforms side by side, and the sums behind them.
//
// Equation     rm_enc_pkg's modes, modulo q. A row of operands goes in two cycles before it enters the transforms; a row of keys goes
//              in beside the rows that leave them.
// Division     With Extra: magnitudes and signs of what rm_enc_round leaves stand at magnitude_i M cycles before the row of operands that they
//              belong to, which has divided_i. They are multiplied by p^-1 at the width of p.
// Starts       start_i is taken while start_ready_o; the other limbs start in the same cycle.
// Latency      Row of operands to row of results: 2 + rm_stream_pkg::latency + rm_enc_pkg::sum_latency.
// Moduli       rm_enc_pkg's fields of one modulus; then prepare_i while prepare_ready_o, as in rm_streaming_ntt.
module rm_enc_limb #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned LogNMin = 10,
  parameter bit          Extra   = 1'b0,
  parameter int unsigned WExtra  = W,      // of p
  parameter int unsigned KindDivide = Kind,
  localparam int unsigned P       = 1 << LogP,
  localparam int unsigned SampleW = rm_sampler_pkg::SampleW
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [4:0]                     log_n_i,
  output logic                           bad_size_o,
  output logic                           fault_o,
  input  logic                           cfg_we_i,
  input  logic [4:0]                     cfg_field_i,
  input  logic [WExtra+1:0]              cfg_data_i,
  input  logic                           prepare_i,
  output logic                           prepare_ready_o,
  output logic [W-1:0]                   q_o,
  input  logic                           start_i,
  output logic                           start_ready_o,
  output logic                           ahead_o,
  // a row of operands
  input  logic [1:0][P-1:0][WExtra-1:0]  magnitude_i,
  input  logic [1:0][P-1:0]              negative_i,
  input  logic                           divided_i,
  input  logic                           use_error_i,
  input  logic                           use_message_i,
  input  logic [P-1:0][1:0]              digit_i,
  input  logic [1:0][P-1:0][SampleW-1:0] sample_i,
  input  logic [P-1:0][W-1:0]            message_i,
  output logic                           over_o,
  // a row of keys
  input  logic                           subtract_i,
  input  logic                           decrypt_i,
  input  logic [1:0][P-1:0][W-1:0]       key_i,
  output logic                           key_over_o,   // c0 of a decryption has a word that is no residue
  output logic [1:0][P-1:0][W-1:0]       result_o
);

  import rm_enc_pkg::*;

  logic [W-1:0] q_q, factor_q, scale;
  logic [W+1:0] aux_q;
  always_ff @(posedge clk_i) begin : p_fields
    if (cfg_we_i && cfg_field_i == FieldQ) begin
      q_q <= cfg_data_i[W-1:0];
    end
    if (cfg_we_i && cfg_field_i == FieldAux) begin
      aux_q <= cfg_data_i[W+1:0];
    end
    if (cfg_we_i && cfg_field_i == FieldFactor) begin
      factor_q <= cfg_data_i[W-1:0];
    end
  end
  assign q_o = q_q;

  // ------------------------------------------------- division: products with p^-1
  logic [1:0][P-1:0][W-1:0] rest;
  logic [1:0][P-1:0]        negative;
  if (Extra) begin : g_divide
    localparam int unsigned M = rm_modmul_pkg::latency(KindDivide, WExtra);
    if (M != rm_modmul_pkg::latency(Kind, W)) begin : g_check
      $error("rm_enc_limb: the multiplier that divides has another latency");
    end
    logic [W-1:0]      scale_q, divide_q;
    logic [WExtra+1:0] divide_aux_q;
    always_ff @(posedge clk_i) begin : p_divide_fields
      if (cfg_we_i && cfg_field_i == FieldScale) begin
        scale_q <= cfg_data_i[W-1:0];
      end
      if (cfg_we_i && cfg_field_i == FieldDivide) begin
        divide_q <= cfg_data_i[W-1:0];
      end
      if (cfg_we_i && cfg_field_i == FieldDivideAux) begin
        divide_aux_q <= cfg_data_i;
      end
    end
    assign scale = scale_q;
    for (genvar c = 0; c < 2; c++) begin : g_part
      for (genvar l = 0; l < P; l++) begin : g_lane
        logic [WExtra-1:0] product;
        rm_modmul #(.W(WExtra), .Kind(KindDivide), .Tile(Tile)) i_product (
          .clk_i, .a_i(magnitude_i[c][l]), .b_i(WExtra'(divide_q)), .q_i(WExtra'(q_q)), .aux_i(divide_aux_q),
          .r_o(product)
        );
        assign rest[c][l] = product[W-1:0];
        if (WExtra > W) begin : g_high
          logic unused_high;
          assign unused_high = ^product[WExtra-1:W];
        end
      end
    end
    rm_delay_line #(.Width(2 * P), .Cycles(M)) i_negative (.clk_i, .data_i(negative_i), .data_o(negative));
  end else begin : g_whole
    assign scale    = '0;
    assign rest     = '0;
    assign negative = '0;
    logic unused_divide;
    assign unused_divide = ^{magnitude_i, negative_i};
  end

  // ------------------------------------------------- operands
  logic [P-1:0][W-1:0]      v_in, v_out;
  logic [1:0][P-1:0][W-1:0] e_in, e_out, addend;
  rm_enc_operand #(.W(W), .P(P)) i_operand (
    .clk_i, .q_i(q_q), .factor_i(factor_q), .scale_i(scale), .divided_i, .use_error_i, .use_message_i, .digit_i,
    .sample_i, .rest_i(rest), .negative_i(negative), .message_i, .over_o, .v_o(v_in), .e_o(e_in)
  );

  // ------------------------------------------------- transforms: v, e0, e1 side by side
  logic unused_busy, unused_ahead_mod, unused_first, unused_mod, unused_valid;
  rm_streaming_ntt #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(2), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin),
    .Style(rm_stream_pkg::FeedForward), .Inverse(1'b0), .Side(3)
  ) i_transform (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .bad_size_o,
    .busy_o          (unused_busy),
    .fault_o,
    .cfg_we_i        (cfg_we_i && cfg_field_i < FieldFactor),
    .cfg_mod_i       (1'b0),
    .cfg_field_i,
    .cfg_data_i      (cfg_data_i[W+1:0]),
    .prepare_valid_i (prepare_i),
    .prepare_mod_i   (1'b0),
    .prepare_ready_o,
    .start_valid_i   (start_i),
    .start_mod_i     (1'b0),
    .start_ready_o,
    .row_i           ({e_in, v_in}),
    .ahead_o,
    .ahead_mod_o     (unused_ahead_mod),
    .first_o         (unused_first),
    .mod_o           (unused_mod),
    .valid_o         (unused_valid),
    .row_o           ({e_out, v_out})
  );
  logic unused;
  assign unused = ^{unused_busy, unused_ahead_mod, unused_first, unused_mod, unused_valid};

  // ------------------------------------------------- sums; c0 of a decryption comes as the second row of keys
  assign addend[0] = decrypt_i ? key_i[1] : e_out[0];
  assign addend[1] = e_out[1];
  for (genvar c = 0; c < 2; c++) begin : g_sum
    rm_enc_sum #(.W(W), .Kind(Kind), .Tile(Tile), .P(P)) i_sum (
      .clk_i, .q_i(q_q), .aux_i(aux_q), .subtract_i, .key_i(key_i[c]), .v_i(v_out), .addend_i(addend[c]),
      .result_o(result_o[c])
    );
  end
  always_comb begin : p_over
    key_over_o = 1'b0;
    for (int unsigned l = 0; l < P; l++) begin
      if (decrypt_i && key_i[1][l] >= q_q) begin
        key_over_o = 1'b1;
      end
    end
  end

endmodule
