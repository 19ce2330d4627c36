// rm_arith_column - arithmetic of one column of a row; a row has 2 * Nbf columns and one multiplier each.
//
// Equation     t = x + {0, y, K0} or x - y;  pre = t corrected to [0, q), or t >> shift;
//              d = addend + {0, pre * b * 2^-R mod q} mod q,  b = y or K0,
//              addend = 0, pre, c, or q - K1: always, or when a lifted x lies above p/2.
// Intervals    x, y, c, K0, K1 < q where they are added, subtracted or are the second factor;
//              any x < 2^W where it is copied, shifted, lifted or the first factor.
//              x + y <= 2q - 2, one subtraction; x - y > -q, one addition; addend <= q (q when
//              K1 = 0) and product <= q - 1, one subtraction: every result of ADD ... LIFT is < q.
//              SHRK: (x + K0) >> shift must be below 2^W.
// Timing       operands enter in stage 1 (bank output), d_o is stage 6 + L, L the latency of the
//              multiplier; one word a cycle, no stall. Control and constants arrive from
//              rm_arith_unit already delayed to the stage in their name.
module rm_arith_column
  import rm_arith_pkg::*;
#(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned MulL = 8
) (
  input  logic         clk_i,
  // stage 1
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] s_i,
  input  logic [W-1:0] c_i,
  // stage 2
  input  arith_ctl_t   ctl2_i,
  input  logic [W-1:0] k0_2_i,
  // stage 3
  input  arith_ctl_t   ctl3_i,
  input  logic [W-1:0] k0_3_i,
  input  logic [W-1:0] q_3_i,
  input  logic [W-1:0] bound_3_i,   // q, or (p + 1) / 2 for a lift
  input  logic [W-1:0] neg_k1_3_i,  // q - K1
  // stage 4
  input  logic [W-1:0] q_4_i,
  input  logic [W+1:0] aux_4_i,
  // stages 4 + L and 5 + L
  input  logic         product_a_i,
  input  logic         product_b_i,
  input  logic [W-1:0] q_b_i,
  output logic [W-1:0] d_o
);

  // ---------------------------------------------------------------- stage 1 -> 2: words, late from block memories
  logic [W-1:0] a_q, s_q, c_q;

  always_ff @(posedge clk_i) begin : p_words
    a_q <= a_i;
    s_q <= s_i;
    c_q <= c_i;
  end

  // ---------------------------------------------------------------- stage 2 -> 3: operands, sum
  logic [W-1:0] from_as, from_sc, x, y, z;
  logic [W:0]   t_q;  // two's complement after a subtraction, else unsigned
  logic [W-1:0] y3_q, c3_q;

  assign from_as = ctl2_i.x_from_a ? a_q : s_q;
  assign from_sc = ctl2_i.y_from_s ? s_q : c_q;
  assign x       = ctl2_i.swap ? from_sc : from_as;
  assign y       = ctl2_i.swap ? from_as : from_sc;

  always_comb begin : p_second
    case (ctl2_i.z_sel)
      ZY:      z = y;
      ZK0:     z = k0_2_i;
      default: z = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin : p_sum
    t_q  <= ctl2_i.minus ? {1'b0, x} - {1'b0, z} : {1'b0, x} + {1'b0, z};
    y3_q <= y;
    c3_q <= c_q;
  end

  // ---------------------------------------------------------------- stage 3 -> 4: correction
  logic [W+1:0] fixed;      // t - bound, or t + q
  logic         above;      // t >= bound
  logic [W-1:0] pre, addend, pre_q, b_q, addend_q;

  assign fixed = (ctl3_i.fix == FixBelow) ? {t_q[W], t_q} + {2'b00, q_3_i}
                                          : {1'b0, t_q} - {2'b00, bound_3_i};
  assign above = !fixed[W+1];

  always_comb begin : p_correct
    case (ctl3_i.fix)
      FixAbove: pre = above ? fixed[W-1:0] : t_q[W-1:0];
      FixBelow: pre = t_q[W] ? fixed[W-1:0] : t_q[W-1:0];
      default:  pre = W'(t_q >> ctl3_i.shift);
    endcase
    case (ctl3_i.add)
      AddPre:  addend = pre;
      AddC:    addend = c3_q;
      AddLift: addend = above ? neg_k1_3_i : '0;
      AddK1:   addend = neg_k1_3_i;
      default: addend = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin : p_factors
    pre_q    <= pre;
    b_q      <= ctl3_i.b_from_y ? y3_q : k0_3_i;
    addend_q <= addend;
  end

  // ---------------------------------------------------------------- stage 4 -> 4 + L: product
  logic [W-1:0] product, addend_l;

  rm_modmul #(
    .Kind(Kind),
    .Tile(Tile),
    .W   (W)
  ) i_mul (
    .clk_i,
    .a_i  (pre_q),
    .b_i  (b_q),
    .q_i  (q_4_i),
    .aux_i(aux_4_i),
    .r_o  (product)
  );

  rm_delay_line #(
    .Width (W),
    .Cycles(MulL)
  ) i_addend (
    .clk_i,
    .data_i(addend_q),
    .data_o(addend_l)
  );

  // ---------------------------------------------------------------- -> 6 + L: addition, correction
  logic [W:0]   sum_q;
  logic [W+1:0] less;
  logic [W-1:0] d_q;

  assign less = {1'b0, sum_q} - {2'b00, q_b_i};

  always_ff @(posedge clk_i) begin : p_result
    sum_q <= {1'b0, addend_l} + (product_a_i ? {1'b0, product} : '0);
    d_q   <= (product_b_i && !less[W+1]) ? less[W-1:0] : sum_q[W-1:0];
  end

  assign d_o = d_q;

endmodule
