// rm_stream_loop - one stage of the feedback kind: rows of P neighbours, pairs 2^t rows apart, t = LogD.
//
// Equation     The butterfly of rm_stream_column on each lane, between a row with bit t of the time clear and the one 2^t later.
//              A row of the first half waits in the loop. When its partner comes, the sum leaves and the difference takes
//              its place in the loop, to leave 2^t later. Forward, the partner meets the twiddle factor before the
//              loop; inverse, the difference after it. twiddle_i is read in the cycle after load_o.
// Intervals    Sum and difference are brought below q in the loop's one cycle; the inverse halves behind it.
// Latency      2^t + M + 2 cycles, the inverse 2^t + M + 3; a row a cycle. P 2^t words of memory, P multipliers.
// Source       single-path delay feedback, as in Nguyen, Kim and Lee, Fig. 1, on P lanes.
module rm_stream_loop #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogD    = 3,
  parameter bit          Inverse = 1'b0,
  parameter int unsigned TimeW   = 8,
  localparam int unsigned P      = 1 << LogP,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [4:0]          log_rows_i,
  input  logic                cfg_we_i,
  input  logic                cfg_aux_i,
  input  logic [ModW-1:0]     cfg_mod_i,
  input  logic [W+1:0]        cfg_data_i,
  input  logic                first_i,
  input  logic [ModW-1:0]     mod_i,
  input  logic [P-1:0][W-1:0] row_i,
  output logic                load_o,
  output logic [ModW-1:0]     load_mod_o,
  input  logic [W-1:0]        twiddle_i,
  output logic                first_o,
  output logic [ModW-1:0]     mod_o,
  output logic [P-1:0][W-1:0] row_o
);

  localparam int unsigned M = rm_modmul_pkg::latency(Kind, W);

  // ------------------------------------------------- loop
  logic [P-1:0][W-1:0] head, come, keep, leave, out_q;
  logic                second;
  logic [W-1:0]        q_loop;

  for (genvar l = 0; l < P; l++) begin : g_lane
    logic [W:0] sum, sum_less, diff;
    assign sum      = {1'b0, head[l]} + {1'b0, come[l]};
    assign sum_less = sum - {1'b0, q_loop};
    assign diff     = {1'b0, head[l]} - {1'b0, come[l]};
    assign leave[l] = !second ? head[l] : sum_less[W] ? sum[W-1:0] : sum_less[W-1:0];
    assign keep[l]  = !second ? come[l] : diff[W-1:0] + (diff[W] ? q_loop : W'(0));
  end

  rm_stream_delay #(
    .Width  (P * W),
    .Cycles (1 << LogD)
  ) i_loop (
    .clk_i,
    .rst_ni,
    .d_i (keep),
    .d_o (head)
  );

  always_ff @(posedge clk_i) begin : p_out
    out_q <= leave;
  end

  // ------------------------------------------------- product, for rows with bit t set; the others wait beside it
  logic [P-1:0][W-1:0] factor, product, wait_late, past;
  logic                second_mul, second_late;
  logic [W-1:0]        q_mul;
  logic [W+1:0]        aux_mul;

  for (genvar l = 0; l < P; l++) begin : g_product
    rm_modmul #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_mul (
      .clk_i,
      .a_i   (factor[l]),
      .b_i   (twiddle_i),
      .q_i   (q_mul),
      .aux_i (aux_mul),
      .r_o   (product[l])
    );
    assign past[l] = second_late ? product[l] : wait_late[l];
  end

  rm_delay_line #(
    .Width  (P * W),
    .Cycles (M)
  ) i_wait (
    .clk_i,
    .data_i (factor),
    .data_o (wait_late)
  );
  rm_delay_line #(
    .Width  (1),
    .Cycles (M)
  ) i_second (
    .clk_i,
    .data_i (second_mul),
    .data_o (second_late)
  );

  // ------------------------------------------------- which rows: of the cycle before the product, and its modulus
  logic             early_first, valid, second_d;
  logic [ModW-1:0]  early_mod, mod_now;
  logic [TimeW-1:0] now;

  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (ModW)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i,
    .first_i (early_first),
    .mod_i   (early_mod),
    .valid_o (valid),
    .time_o  (now),
    .mod_o   (mod_now)
  );
  assign second_d   = valid && now[LogD];
  assign load_o     = valid && now[LogD:0] == (LogD + 1)'(1 << LogD);
  assign load_mod_o = mod_now;

  always_ff @(posedge clk_i) begin : p_second
    second_mul <= second_d;
  end

  if (!Inverse) begin : g_forward
    // Operands in the cycle after the row, the loop M later.
    assign early_first = first_i;
    assign early_mod   = mod_i;
    always_ff @(posedge clk_i) begin : p_factor
      factor <= row_i;
    end
    rm_stream_moduli #(
      .W    (W),
      .Mods (Mods)
    ) i_moduli (
      .clk_i,
      .cfg_we_i,
      .cfg_aux_i,
      .cfg_mod_i,
      .cfg_data_i,
      .mod_i (mod_now),
      .q_o   (q_mul),
      .aux_o (aux_mul)
    );
    rm_delay_line #(
      .Width  (W),
      .Cycles (M)
    ) i_q_loop (
      .clk_i,
      .data_i (q_mul),
      .data_o (q_loop)
    );
    assign come   = past;
    assign second = second_late;
    assign row_o  = out_q;

    logic            product_first;
    logic [ModW-1:0] product_mod;
    rm_stream_tag #(.Cycles(M + 2), .ModW(ModW)) i_tag_product (
      .clk_i, .rst_ni, .first_i, .mod_i, .first_o(product_first), .mod_o(product_mod)
    );
    rm_stream_tag #(.Cycles(1 << LogD), .ModW(ModW)) i_tag_loop (
      .clk_i, .rst_ni, .first_i(product_first), .mod_i(product_mod), .first_o, .mod_o
    );
  end else begin : g_inverse
    // The loop in the cycle after the row, halves 2^t + 2 after it, operands one later.
    logic             in_valid;
    logic [TimeW-1:0] in_time;
    logic [ModW-1:0]  in_mod;
    logic [W+1:0]     unused_aux, aux_half;
    logic [W-1:0]     q_half;
    logic             loop_first;
    logic [ModW-1:0]  loop_mod;

    rm_stream_clock #(
      .TimeW (TimeW),
      .ModW  (ModW)
    ) i_clock_in (
      .clk_i,
      .rst_ni,
      .log_rows_i,
      .first_i,
      .mod_i,
      .valid_o (in_valid),
      .time_o  (in_time),
      .mod_o   (in_mod)
    );
    rm_stream_moduli #(
      .W    (W),
      .Mods (Mods)
    ) i_moduli_loop (
      .clk_i,
      .cfg_we_i,
      .cfg_aux_i,
      .cfg_mod_i,
      .cfg_data_i,
      .mod_i (in_mod),
      .q_o   (q_loop),
      .aux_o (unused_aux)
    );
    always_ff @(posedge clk_i) begin : p_come
      come   <= row_i;
      second <= in_valid && in_time[LogD];
    end

    rm_stream_tag #(.Cycles(1 << LogD), .ModW(ModW)) i_tag_loop (
      .clk_i, .rst_ni, .first_i, .mod_i, .first_o(loop_first), .mod_o(loop_mod)
    );
    // Row 0 stands in out_q two cycles later; its modulus is read in the cycle between.
    logic             half_valid, half_first;
    logic [ModW-1:0]  half_first_mod;
    logic [TimeW-1:0] half_time;
    logic [ModW-1:0]  half_mod;
    rm_stream_tag #(.Cycles(1), .ModW(ModW)) i_tag_early (
      .clk_i, .rst_ni, .first_i(loop_first), .mod_i(loop_mod), .first_o(half_first), .mod_o(half_first_mod)
    );
    rm_stream_clock #(
      .TimeW (TimeW),
      .ModW  (ModW)
    ) i_clock_half (
      .clk_i,
      .rst_ni,
      .log_rows_i,
      .first_i (half_first),
      .mod_i   (half_first_mod),
      .valid_o (half_valid),
      .time_o  (half_time),
      .mod_o   (half_mod)
    );
    rm_stream_moduli #(
      .W    (W),
      .Mods (Mods)
    ) i_moduli_half (
      .clk_i,
      .cfg_we_i,
      .cfg_aux_i,
      .cfg_mod_i,
      .cfg_data_i,
      .mod_i (half_mod),
      .q_o   (q_half),
      .aux_o (aux_half)
    );
    rm_stream_tag #(.Cycles(1), .ModW(ModW)) i_tag_out (
      .clk_i, .rst_ni, .first_i(half_first), .mod_i(half_first_mod), .first_o(early_first), .mod_o(early_mod)
    );

    for (genvar l = 0; l < P; l++) begin : g_half
      logic [W:0] even;
      assign even = {1'b0, out_q[l]} + {1'b0, out_q[l][0] ? q_half : W'(0)};
      always_ff @(posedge clk_i) begin : p_half
        factor[l] <= even[W:1];
      end
      logic unused_bit;
      assign unused_bit = even[0];
    end
    always_ff @(posedge clk_i) begin : p_constants
      q_mul   <= q_half;
      aux_mul <= aux_half;
    end
    assign row_o = past;
    rm_stream_tag #(.Cycles(M + 1), .ModW(ModW)) i_tag_product (
      .clk_i, .rst_ni, .first_i(early_first), .mod_i(early_mod), .first_o, .mod_o
    );

    logic unused_time;
    assign unused_time = ^{unused_aux, in_time, half_valid, half_time};
  end

  logic unused_now;
  assign unused_now = ^now;

endmodule
