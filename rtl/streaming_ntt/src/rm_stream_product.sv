// rm_stream_product - negacyclic products of streams: two transforms, products word by word, and the way back.
//
// Equation     out = a * b mod (X^N + 1, q), canonical; rows in the order of coefficients of rm_streaming_ntt, both ways.
// Interval     N/P cycles, with any gap between pairs of polynomials. No memory reorders anything.
// Latency      rm_streaming_ntt forward and inverse, and two multipliers between them: the first takes 2^(2R) to one word of a
//              pair, so that the factor of the second one is undone. A multiplier with R = 0 does without the first.
// Start        As in rm_streaming_ntt: row 0 of both operands rm_stream_pkg::lead cycles after the start.
// Moduli       cfg_*: fields 0 q and 1 aux go to all; 2 + b is a root, 18 is 2^(2R) mod q; cfg_inverse_i chooses the roots of the
//              inverse, 1/rho_b 2^R. Then prepare_* for all three transforms together.
module rm_stream_product #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogNMax = 13,
  parameter int unsigned LogNMin = 10,
  parameter int unsigned Style   = rm_stream_pkg::FeedForward,
  localparam int unsigned P      = 1 << LogP,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [4:0]          log_n_i,
  output logic                bad_size_o,
  output logic                busy_o,
  output logic                fault_o,
  input  logic                cfg_we_i,
  input  logic                cfg_inverse_i,
  input  logic [ModW-1:0]     cfg_mod_i,
  input  logic [4:0]          cfg_field_i,
  input  logic [W+1:0]        cfg_data_i,
  input  logic                prepare_valid_i,
  input  logic [ModW-1:0]     prepare_mod_i,
  output logic                prepare_ready_o,
  input  logic                start_valid_i,
  input  logic [ModW-1:0]     start_mod_i,
  output logic                start_ready_o,
  input  logic [P-1:0][W-1:0] a_row_i,
  input  logic [P-1:0][W-1:0] b_row_i,
  output logic                first_o,
  output logic [ModW-1:0]     mod_o,
  output logic                valid_o,
  output logic [P-1:0][W-1:0] row_o
);

  localparam int unsigned M       = rm_modmul_pkg::latency(Kind, W);
  localparam bit          Scaled  = rm_modmul_pkg::factor_bits(Kind, W) != 0;
  localparam int unsigned Between = Scaled ? 2 * M : M;
  localparam logic [4:0]  FieldSquare = 5'd18;

  logic root, constant, forward_we, inverse_we;
  assign root       = cfg_we_i && cfg_field_i >= 5'd2 && cfg_field_i < FieldSquare;
  assign constant   = cfg_we_i && cfg_field_i <= 5'd1;
  assign forward_we = constant || (root && !cfg_inverse_i);
  assign inverse_we = constant || (root && cfg_inverse_i);

  // ------------------------------------------------- two transforms side by side
  logic [1:0]                     start_ready, prepare_ready, fault, bad_size, busy, ahead;
  logic [1:0][ModW-1:0]           ahead_mod;
  logic [1:0][P-1:0][W-1:0]       operand, value;
  logic                           back_ready, back_prepared, back_fault, back_busy, back_start;
  logic [ModW-1:0]                back_mod;
  logic                           late_q, prepare, start;
  assign operand         = {b_row_i, a_row_i};
  assign start_ready_o   = start_ready == '1;
  assign start           = start_valid_i && start_ready_o;
  assign prepare_ready_o = prepare_ready == '1 && back_prepared;
  assign prepare         = prepare_valid_i && prepare_ready_o;
  assign bad_size_o      = bad_size != '0;
  assign busy_o          = busy != '0 || back_busy;
  assign fault_o         = fault != '0 || back_fault || late_q;

  for (genvar i = 0; i < 2; i++) begin : g_forward
    logic            unused_result, unused_rows;
    logic [ModW-1:0] unused_mod;
    rm_streaming_ntt #(
      .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin),
      .Style(Style), .Inverse(1'b0)
    ) i_forward (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .bad_size_o      (bad_size[i]),
      .busy_o          (busy[i]),
      .fault_o         (fault[i]),
      .cfg_we_i        (forward_we),
      .cfg_mod_i,
      .cfg_field_i,
      .cfg_data_i,
      .prepare_valid_i (prepare),
      .prepare_mod_i,
      .prepare_ready_o (prepare_ready[i]),
      .start_valid_i   (start),
      .start_mod_i,
      .start_ready_o   (start_ready[i]),
      .row_i           (operand[i]),
      .ahead_o         (ahead[i]),
      .ahead_mod_o     (ahead_mod[i]),
      .first_o         (unused_result),
      .mod_o           (unused_mod),
      .valid_o         (unused_rows),
      .row_o           (value[i])
    );
    logic unused_outputs;
    assign unused_outputs = ^{unused_result, unused_rows, unused_mod};
  end

  // ------------------------------------------------- products; the constants are read a cycle before the rows
  localparam int unsigned LogRows = LogNMax - LogP;
  logic                 early, unused_valid;
  logic [ModW-1:0]      early_mod, mod;
  logic [LogRows-1:0]   unused_time;
  logic [W-1:0]         q, q_late, square;
  logic [W+1:0]         aux, aux_late;
  logic [P-1:0][W-1:0]  a_late, b_scaled, product;

  rm_stream_tag #(.Cycles(rm_stream_pkg::lead(Kind, W) - 1), .ModW(ModW)) i_early (
    .clk_i, .rst_ni, .first_i(ahead[0]), .mod_i(ahead_mod[0]), .first_o(early), .mod_o(early_mod)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(ModW)) i_clock (
    .clk_i, .rst_ni, .log_rows_i(log_n_i - 5'(LogP)), .first_i(early), .mod_i(early_mod), .valid_o(unused_valid),
    .time_o(unused_time), .mod_o(mod)
  );
  rm_stream_moduli #(.W(W), .Mods(Mods)) i_moduli (
    .clk_i, .cfg_we_i(constant), .cfg_aux_i(cfg_field_i[0]), .cfg_mod_i, .cfg_data_i, .mod_i(mod), .q_o(q), .aux_o(aux)
  );

  if (Scaled) begin : g_scaled
    rm_stream_constants #(.W(W), .Mods(Mods), .Words(1)) i_square (
      .clk_i, .we_i(cfg_we_i && cfg_field_i == FieldSquare), .index_i('0), .wmod_i(cfg_mod_i),
      .data_i(cfg_data_i[W-1:0]), .mod_i(mod), .words_o(square)
    );
    for (genvar l = 0; l < P; l++) begin : g_lane
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_scale (
        .clk_i, .a_i(value[1][l]), .b_i(square), .q_i(q), .aux_i(aux), .r_o(b_scaled[l])
      );
    end
    rm_delay_line #(.Width(P * W), .Cycles(M)) i_a (.clk_i, .data_i(value[0]), .data_o(a_late));
    rm_delay_line #(.Width(2 * W + 2), .Cycles(M)) i_q (.clk_i, .data_i({q, aux}), .data_o({q_late, aux_late}));
  end else begin : g_plain
    assign a_late   = value[0];
    assign b_scaled = value[1];
    assign q_late   = q;
    assign aux_late = aux;
    assign square   = '0;
    logic unused_square;
    assign unused_square = ^square;
  end
  for (genvar l = 0; l < P; l++) begin : g_product
    rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_product (
      .clk_i, .a_i(a_late[l]), .b_i(b_scaled[l]), .q_i(q_late), .aux_i(aux_late), .r_o(product[l])
    );
  end

  // ------------------------------------------------- the way back
  rm_stream_tag #(.Cycles(Between), .ModW(ModW)) i_start (
    .clk_i, .rst_ni, .first_i(ahead[0]), .mod_i(ahead_mod[0]), .first_o(back_start), .mod_o(back_mod)
  );

  logic            unused_ahead, unused_bad;
  logic [ModW-1:0] unused_ahead_mod;
  rm_streaming_ntt #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(Mods), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin),
    .Style(Style), .Inverse(1'b1)
  ) i_back (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .bad_size_o      (unused_bad),
    .busy_o          (back_busy),
    .fault_o         (back_fault),
    .cfg_we_i        (inverse_we),
    .cfg_mod_i,
    .cfg_field_i,
    .cfg_data_i,
    .prepare_valid_i (prepare),
    .prepare_mod_i,
    .prepare_ready_o (back_prepared),
    .start_valid_i   (back_start),
    .start_mod_i     (back_mod),
    .start_ready_o   (back_ready),
    .row_i           (product),
    .ahead_o         (unused_ahead),
    .ahead_mod_o     (unused_ahead_mod),
    .first_o,
    .mod_o,
    .valid_o,
    .row_o
  );

  // Starts keep their distance on the way, so the inverse is always ready for them.
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_late
    if (!rst_ni) begin
      late_q <= 1'b0;
    end else begin
      late_q <= late_q || (back_start && !back_ready);
    end
  end

  logic unused;
  assign unused = ^{ahead[1], ahead_mod[1], unused_valid, unused_time, unused_ahead, unused_ahead_mod, unused_bad};

endmodule
