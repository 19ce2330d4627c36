// rm_pool_feed - rows that enter a transform: residues of one modulus from those of 1 to Alpha others.
//
// Equation     y = sum over a of x_a F_a - v S mod q, canonical. F_a = S/s_a 2^R mod q, S the product of the sources' moduli.
//              v is 0 without signs; of one source 1 if x > half; of several the rounded quotient of the limb program,
//              (2^27 + sum of (x_a >> shift_a) R_a) >> 28, at most Alpha. A column that is not used has F_a = R_a = 0.
// Intervals    x_a any words; products in [0, q), so the sum with one of -v S mod q is below (Alpha + 1) q and loses a multiple
//              of q in $clog2(Alpha + 1) steps. (x >> shift) below 2^14, R below 2^15, so the quotient's sum is below 2^32.
// Latency      rm_pool_pkg::feed_latency. class_i, mod_i, single_i and centred_i belong to the cycle before the row.
module rm_pool_feed #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Alpha   = 2,
  parameter int unsigned ClassW  = 3,
  parameter int unsigned ModBits = 3
) (
  input  logic                             clk_i,
  input  logic                             cfg_we_i,
  input  logic [5:0]                       cfg_field_i,
  input  logic [ClassW-1:0]                cfg_class_i,
  input  logic [ModBits-1:0]               cfg_mod_i,
  input  logic [W+1:0]                     cfg_data_i,
  input  logic [ClassW-1:0]                class_i,
  input  logic [ModBits-1:0]               mod_i,
  input  logic                             single_i,
  input  logic                             centred_i,
  input  logic [Alpha-1:0][15:0][W-1:0]    x_i,
  output logic [15:0][W-1:0]               y_o
);

  import rm_pool_pkg::*;

  localparam int unsigned M      = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Steps  = reductions(Alpha);
  localparam int unsigned Pairs  = 1 << (ClassW + ModBits);
  localparam int unsigned HeadW  = HeadFactorW + ShiftW;
  localparam int unsigned QuotW  = $clog2(Alpha + 1);
  localparam int unsigned SumW   = W + Steps;

  if (W + 2 < HeadW) begin : g_width
    $error("rm_pool_feed: words of 19 bits at least");
  end
  if (Alpha > 7) begin : g_alpha
    $error("rm_pool_feed: 1 to 7 sources");
  end

  // ------------------------------------------------- constants, beside the row
  logic [W-1:0]                  q;
  logic [W+1:0]                  aux;
  logic [Alpha-1:0][W-1:0]       factor, over;
  logic [Alpha-1:0][HeadW-1:0]   head;
  logic [W-1:0]                  half;
  logic                          single_q, centred_q;
  logic                          is_factor, is_over, is_head;

  assign is_factor = cfg_field_i >= FieldFactor && cfg_field_i < FieldOver;
  assign is_over   = cfg_field_i >= FieldOver && cfg_field_i < FieldHead;
  assign is_head   = cfg_field_i >= FieldHead && cfg_field_i < FieldHalf;

  rm_stream_moduli #(.W(W), .Mods(1 << ModBits)) i_moduli (
    .clk_i, .cfg_we_i(cfg_we_i && cfg_field_i <= 6'd1), .cfg_aux_i(cfg_field_i[0]), .cfg_mod_i, .cfg_data_i, .mod_i,
    .q_o(q), .aux_o(aux)
  );
  rm_stream_constants #(.W(W), .Mods(Pairs), .Words(Alpha)) i_factors (
    .clk_i, .we_i(cfg_we_i && is_factor), .index_i(rm_stream_pkg::IndexW'(cfg_field_i[2:0])),
    .wmod_i({cfg_class_i, cfg_mod_i}), .data_i(cfg_data_i[W-1:0]), .mod_i({class_i, mod_i}), .words_o(factor)
  );
  rm_stream_constants #(.W(W), .Mods(Pairs), .Words(Alpha)) i_over (
    .clk_i, .we_i(cfg_we_i && is_over), .index_i(rm_stream_pkg::IndexW'(cfg_field_i[2:0])),
    .wmod_i({cfg_class_i, cfg_mod_i}), .data_i(cfg_data_i[W-1:0]), .mod_i({class_i, mod_i}), .words_o(over)
  );
  rm_stream_constants #(.W(HeadW), .Mods(1 << ClassW), .Words(Alpha)) i_heads (
    .clk_i, .we_i(cfg_we_i && is_head), .index_i(rm_stream_pkg::IndexW'(cfg_field_i[2:0])), .wmod_i(cfg_class_i),
    .data_i(cfg_data_i[HeadW-1:0]), .mod_i(class_i), .words_o(head)
  );
  rm_stream_constants #(.W(W), .Mods(1 << ClassW), .Words(1)) i_half (
    .clk_i, .we_i(cfg_we_i && cfg_field_i == FieldHalf), .index_i('0), .wmod_i(cfg_class_i), .data_i(cfg_data_i[W-1:0]),
    .mod_i(class_i), .words_o(half)
  );
  always_ff @(posedge clk_i) begin : p_signs
    single_q  <= single_i;
    centred_q <= centred_i;
  end

  // What products and sums need later.
  logic [Alpha-1:0][W-1:0] over_late;
  logic [Steps:0][W-1:0]   q_late;
  rm_delay_line #(.Width(Alpha * W), .Cycles(M)) i_over_late (.clk_i, .data_i(over), .data_o(over_late));
  rm_delay_line #(.Width(W), .Cycles(M + 1)) i_q_late (.clk_i, .data_i(q), .data_o(q_late[0]));
  for (genvar k = 0; k < Steps; k++) begin : g_q
    always_ff @(posedge clk_i) begin : p_q
      q_late[k+1] <= q_late[k];
    end
  end

  logic unused_q;
  assign unused_q = ^q_late[Steps];

  for (genvar l = 0; l < 16; l++) begin : g_lane
    // ------------------------------------------------- how often S is too much
    logic [Alpha-1:0][HeadBits-1:0]                 head_q;
    logic [Alpha-1:0][HeadFactorW-1:0]              scale_q;
    logic [Alpha-1:0][HeadBits+HeadFactorW-1:0]     part_q;
    logic [QuotientBits+3:0]                        sum;
    logic [1:0]                                     above_q, one_q, signs_q;
    logic [QuotW-1:0]                               quotient_q, quotient_late;

    always_ff @(posedge clk_i) begin : p_heads
      for (int unsigned a = 0; a < Alpha; a++) begin
        head_q[a]  <= HeadBits'(x_i[a][l] >> head[a][HeadW-1:HeadFactorW]);
        scale_q[a] <= head[a][HeadFactorW-1:0];
        part_q[a]  <= head_q[a] * scale_q[a];
      end
      above_q <= {above_q[0], x_i[0][l] > half};
      one_q   <= {one_q[0], single_q};
      signs_q <= {signs_q[0], centred_q};
    end
    always_comb begin : p_sum
      sum = (QuotientBits + 4)'(1) << (QuotientBits - 1);
      for (int unsigned a = 0; a < Alpha; a++) begin
        sum += (QuotientBits + 4)'(part_q[a]);
      end
    end
    always_ff @(posedge clk_i) begin : p_quotient
      quotient_q <= !signs_q[1] ? '0 : (Alpha == 1 || one_q[1]) ? QuotW'(above_q[1]) : QuotW'(sum >> QuotientBits);
    end
    rm_delay_line #(.Width(QuotW), .Cycles(M - 3)) i_quotient (.clk_i, .data_i(quotient_q), .data_o(quotient_late));

    // ------------------------------------------------- products, their sum, and what it has too much
    logic [Alpha-1:0][W-1:0]  product;
    logic [SumW-1:0]          all;
    logic [Steps:0][SumW-1:0] sum_q;

    for (genvar a = 0; a < Alpha; a++) begin : g_product
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_product (
        .clk_i, .a_i(x_i[a][l]), .b_i(factor[a]), .q_i(q), .aux_i(aux), .r_o(product[a])
      );
    end
    always_comb begin : p_all
      all = (quotient_late == '0) ? '0 : SumW'(over_late[quotient_late-1'b1]);
      for (int unsigned a = 0; a < Alpha; a++) begin
        all += SumW'(product[a]);
      end
    end
    always_ff @(posedge clk_i) begin : p_first
      sum_q[0] <= all;
    end
    for (genvar k = 0; k < Steps; k++) begin : g_step
      logic [SumW:0] less;
      assign less = {1'b0, sum_q[k]} - ((SumW + 1)'(q_late[k]) << (Steps - 1 - k));
      always_ff @(posedge clk_i) begin : p_step
        sum_q[k+1] <= less[SumW] ? sum_q[k] : less[SumW-1:0];
      end
    end
    assign y_o[l] = sum_q[Steps][W-1:0];
  end

endmodule
