// rm_dsu - division by the two primes of a level at once, or by one: double scale.
//
// Equation     y_i = x_i (S/s_i)^-1 mod s_i;  v = floor((2^27 + sum of floor(y_i / 2^h_i) R_i) / 2^28);
//              rest = y_0 F_0 + y_1 F_1 - v S mod q, the residue of x mod S in about (-S/2, S/2];
//              r = (c - rest) S^-1 mod q if divide_i, else rest. S = s_0 s_1.
//              single_i: S = s_0, y_0 = x_0, v = 1 if 2 x_0 > s_0. These are `mul_const`, `quotient`, `convert` (or `lift`) and
//              `sub_mul_const` as the limb program has them in `rescale by 2`, to the bit.
//              A machine that holds c as values of the transform takes rest, transforms it, and leaves the last step to rm_ewe;
//              one that holds coefficients divides here.
// Constants    of the row: scale_i[i] = (S/s_i)^-1 2^R mod s_i, factor_i[i] = S/s_i 2^R mod q, minus_i = -S 2^R mod q, back_i = S^-1 2^R
//              mod q, word_i = 2^W mod q. Of one prime scale_i[0] = 2^R mod s_0, and factor_i[1] = head_i[1] = 0.
// Intervals    x_i < s_i, c < q; v <= 2; two products and v S stay below 3 2^W q. Results in [0, q).
// Latency      L + 6 + reduce_latency to rest; 5 + L more to r, whatever divide_i says: rm_arrays_pkg::dsu_latency(Kind, W). One row a
//              cycle, moduli from row to row. limb_valid_o asks for c_i, which must stand there in that very cycle,
//              remainder_latency after its row, since a row of c would have to be kept for that long otherwise.
// Stalls       ready_o is low only while the consumer has no space: rm_array_credits, Rows.
// wrong_o      more rows given back than taken. Until reset.
// Source       SHARP's double scale as Taiyi has it (DSU); docs/limb-program.md, base conversion.
module rm_dsu
  import rm_arith_pkg::*;
  import rm_arrays_pkg::*;
#(
  parameter int unsigned W        = 36,
  parameter int unsigned Kind     = rm_modmul_pkg::KindP2,
  parameter int unsigned Tile     = rm_modmul_pkg::TileLut,
  parameter int unsigned Elements = 2,
  parameter int unsigned Rows     = 64
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              valid_i,
  output logic                              ready_o,
  input  logic                              single_i,
  input  logic                              divide_i,
  input  logic [1:0][Elements-1:0][W-1:0]   x_i,
  input  logic [1:0][W-1:0]                 s_i,
  input  logic [1:0][W+1:0]                 s_aux_i,
  input  logic [1:0][W-1:0]                 scale_i,
  input  logic [1:0][HeadShiftBits-1:0]     shift_i,
  input  logic [1:0][HeadFactorBits-1:0]    head_i,
  input  logic [W-1:0]                      q_i,
  input  logic [W+1:0]                      aux_i,
  input  logic [W-1:0]                      word_i,
  input  logic [1:0][W-1:0]                 factor_i,
  input  logic [W-1:0]                      minus_i,
  input  logic [W-1:0]                      back_i,
  output logic                              limb_valid_o,
  input  logic [Elements-1:0][W-1:0]        c_i,
  output logic                              valid_o,
  output logic [Elements-1:0][W-1:0]        r_o,
  input  logic                              give_i,
  output logic                              wrong_o
);

  localparam int unsigned L    = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Lp   = rm_modmul_pkg::ProductLatency;
  localparam int unsigned G    = guard_bits(2);
  localparam logic [QuotientBits+1:0] Half = (QuotientBits + 2)'(1) << (QuotientBits - 1);
  localparam int unsigned Rest = remainder_latency(Kind, W);
  localparam int unsigned All  = dsu_latency(Kind, W);

  // ---------------------------------------------------------------- issue
  logic           take;
  logic [All-1:0] valid_q;
  assign take         = valid_i && ready_o;
  assign limb_valid_o = valid_q[Rest-1];
  assign valid_o      = valid_q[All-1];

  rm_array_credits #(.Rows(Rows)) i_credits (
    .clk_i, .rst_ni, .want_i(1'b1), .ok_o(ready_o), .take_i(take), .give_i, .wrong_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= {valid_q[All-2:0], take};
    end
  end

  // ---------------------------------------------------------------- constants, in the cycles after the row that take them
  logic [1:0][W-1:0]              s_1_q, scale_1_q;
  logic [1:0][W+1:0]              s_aux_1_q;
  logic [W-1:0]                   half_y;
  logic                           single_y;
  logic [1:0][HeadShiftBits-1:0]  shift_y;
  logic [1:0][HeadFactorBits-1:0] head_y;
  logic [1:0][W-1:0]              factor_y;
  logic [W-1:0]                   minus_v, q_sum, word_sum;
  logic [W+1:0]                   aux_sum;
  always_ff @(posedge clk_i) begin : p_first
    s_1_q     <= s_i;
    scale_1_q <= scale_i;
    s_aux_1_q <= s_aux_i;
  end
  // y stands in 1 + L, v in 1 + L + Lp, the wide sum in 1 + L + Lp + 2
  localparam int unsigned AtY = 1 + L, AtV = AtY + Lp, AtSum = AtV + 2;
  rm_delay_line #(.Width(W + 1), .Cycles(AtY)) i_half (
    .clk_i, .data_i({s_i[0] >> 1, single_i}), .data_o({half_y, single_y})
  );
  rm_delay_line #(.Width(2 * (HeadShiftBits + HeadFactorBits + W)), .Cycles(AtY)) i_of_y (
    .clk_i, .data_i({shift_i, head_i, factor_i}), .data_o({shift_y, head_y, factor_y})
  );
  rm_delay_line #(.Width(W), .Cycles(AtV)) i_minus (.clk_i, .data_i(minus_i), .data_o(minus_v));
  rm_delay_line #(.Width(3 * W + 2), .Cycles(AtSum)) i_of_sum (
    .clk_i, .data_i({q_i, aux_i, word_i}), .data_o({q_sum, aux_sum, word_sum})
  );

  // of the last step, which begins in cycle Rest
  arith_ctl_t   ctl_d, ctl1, ctl2_q, ctl3_q;
  logic [W-1:0] back_3, q_3, q_4_q, q_b;
  logic [W+1:0] aux_3, aux_4_q;
  logic         product_a, product_b_q;
  always_comb begin : p_decode
    ctl_d          = '0;
    ctl_d.x_from_a = divide_i;
    ctl_d.y_from_s = 1'b1;
    ctl_d.z_sel    = divide_i ? ZY : ZNone;
    ctl_d.minus    = divide_i;
    ctl_d.fix      = FixBelow;
    ctl_d.add      = divide_i ? AddNone : AddPre;
    ctl_d.product  = divide_i;
  end
  rm_delay_line #(.Width($bits(arith_ctl_t)), .Cycles(Rest)) i_ctl (.clk_i, .data_i(ctl_d), .data_o({ctl1}));
  rm_delay_line #(.Width(3 * W + 2), .Cycles(Rest + 2)) i_last (
    .clk_i, .data_i({back_i, q_i, aux_i}), .data_o({back_3, q_3, aux_3})
  );
  rm_delay_line #(.Width(1), .Cycles(L + 1)) i_by_product (.clk_i, .data_i(ctl3_q.product), .data_o(product_a));
  rm_delay_line #(.Width(W), .Cycles(L + 1)) i_q (.clk_i, .data_i(q_4_q), .data_o(q_b));
  always_ff @(posedge clk_i) begin : p_last
    ctl2_q      <= ctl1;
    ctl3_q      <= ctl2_q;
    q_4_q       <= q_3;
    aux_4_q     <= aux_3;
    product_b_q <= product_a;
  end

  // ---------------------------------------------------------------- elements
  for (genvar e = 0; e < Elements; e++) begin : g_element
    logic [1:0][W-1:0]            x_q, y;
    logic [1:0][QuotientBits-1:0] part;
    logic [1:0][2*W-1:0]          product;
    logic [1:0]                   above_q, one_q;
    logic [QuotientBits+1:0]      quotient;
    logic [1:0]                   times_q;
    logic [W+1:0]                 extra_q;
    logic [2*W:0]                 both_q;
    logic [2*W+G-1:0]             sum_q;
    logic [W-1:0]                 rest;

    always_ff @(posedge clk_i) begin : p_row
      x_q <= {x_i[1][e], x_i[0][e]};
    end
    for (genvar i = 0; i < 2; i++) begin : g_source
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_scale (
        .clk_i, .a_i(x_q[i]), .b_i(scale_1_q[i]), .q_i(s_1_q[i]), .aux_i(s_aux_1_q[i]), .r_o(y[i])
      );
      rm_quotient_term #(.W(W)) i_term (
        .clk_i, .y_i(y[i]), .shift_i(shift_y[i]), .factor_i(head_y[i]), .part_o(part[i])
      );
      rm_modmul_product #(.Wa(W), .Wb(W), .Tile(Tile)) i_product (
        .clk_i, .a_i(y[i]), .b_i(factor_y[i]), .p_o(product[i])
      );
    end

    assign quotient = (QuotientBits + 2)'(part[0]) + (QuotientBits + 2)'(part[1]) + Half;
    always_ff @(posedge clk_i) begin : p_sum
      above_q <= {above_q[0], y[0] > half_y};
      one_q   <= {one_q[0], single_y};
      times_q <= one_q[1] ? {1'b0, above_q[1]} : quotient[QuotientBits+:2];
      extra_q <= times_q * minus_v;
      both_q  <= {1'b0, product[0]} + {1'b0, product[1]};
      sum_q   <= (2 * W + G)'(both_q) + (2 * W + G)'(extra_q);
    end

    rm_wide_reduce #(.W(W), .Kind(Kind), .Tile(Tile), .G(G)) i_reduce (
      .clk_i, .sum_i(sum_q), .q_i(q_sum), .aux_i(aux_sum), .word_i(word_sum), .r_o(rest)
    );

    rm_arith_column #(.W(W), .Kind(Kind), .Tile(Tile), .MulL(L)) i_column (
      .clk_i,
      .a_i        (c_i[e]),
      .s_i        (rest),
      .c_i        ('0),
      .ctl2_i     (ctl2_q),
      .k0_2_i     ('0),
      .ctl3_i     (ctl3_q),
      .k0_3_i     (back_3),
      .q_3_i      (q_3),
      .bound_3_i  (q_3),
      .neg_k1_3_i ('0),
      .q_4_i      (q_4_q),
      .aux_4_i    (aux_4_q),
      .product_a_i(product_a),
      .product_b_i(product_b_q),
      .q_b_i      (q_b),
      .d_o        (r_o[e])
    );

    // Bits of the fraction.
    logic unused_fraction;
    assign unused_fraction = ^quotient[QuotientBits-1:0];
  end

endmodule
