// rm_ewe - element-wise engine: one instruction of the limb program on one row of words a cycle.
//
// Equation     add r = a + b;  sub r = a - b;  neg r = -a;  mul r = mm(a, b);  mac r = a + mm(b, c);  mul_const r = mm(a, k);
//              add_const r = a + k;  sub_mul_const r = mm(a - b, k);  lift r = mm(a, k) - (2a > p ? k1 : 0);  all modulo q.
//              mm(x, y) = x y 2^-R mod q, R = rm_modmul_pkg::factor_bits(Kind, W). Where data is held times 2^R, and constants of
//              products are k 2^R, these are the instructions of the limb program in that form. A constant without 2^R gives
//              a plain integer. KindBarrett has R = 0.
//              lift: k = 2^R mod q and k1 = p mod q, both times 2^R where the result is held so.
// Intervals    a, b, c, k, k1 < q; of lift a < p, p odd, below 2^W. Results in [0, q).
// Latency      rm_arrays_pkg::ewe_latency(Kind, W) = 6 + L cycles from a row taken to valid_o, L that of the multiplier.
//              One row a cycle, from one instruction and one modulus to the next: op_i, moduli and constants travel with the row.
// Stalls       ready_o is low only while the consumer has no space for a result: rm_array_credits, Rows. Nothing stops inside.
// wrong_o      [0] a code that is no instruction: the row is dropped; [1] more rows given back than taken. Until reset.
// Source       docs/limb-program.md; the words are rm_arith_column's, as in the compact core.
module rm_ewe
  import rm_arith_pkg::*;
  import rm_arrays_pkg::*;
#(
  parameter int unsigned W        = 36,
  parameter int unsigned Kind     = rm_modmul_pkg::KindP2,
  parameter int unsigned Tile     = rm_modmul_pkg::TileLut,
  parameter int unsigned Elements = 4,
  parameter int unsigned Rows     = 32
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [3:0]                 op_i,
  input  logic [W-1:0]               q_i,
  input  logic [W+1:0]               aux_i,
  input  logic [W-1:0]               p_i,    // modulus of the operand of lift
  input  logic [W-1:0]               k_i,
  input  logic [W-1:0]               k1_i,
  input  logic [Elements-1:0][W-1:0] a_i,
  input  logic [Elements-1:0][W-1:0] b_i,
  input  logic [Elements-1:0][W-1:0] c_i,
  output logic                       valid_o,
  output logic [Elements-1:0][W-1:0] r_o,
  input  logic                       give_i,
  output logic [1:0]                 wrong_o
);

  localparam int unsigned MulL = rm_modmul_pkg::latency(Kind, W);

  // ---------------------------------------------------------------- issue
  logic known, take, issue, bad_op_q, bad_give;
  assign known   = op_i <= EweLast;
  assign take    = valid_i && ready_o;
  assign issue   = take && known;
  assign wrong_o = {bad_give, bad_op_q};

  rm_array_credits #(.Rows(Rows)) i_credits (
    .clk_i, .rst_ni, .want_i(1'b1), .ok_o(ready_o), .take_i(issue), .give_i, .wrong_o(bad_give)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_wrong
    if (!rst_ni) begin
      bad_op_q <= 1'b0;
    end else begin
      bad_op_q <= bad_op_q || (take && !known);
    end
  end

  // ---------------------------------------------------------------- stage 0 -> 1: control bits, operands
  arith_ctl_t ctl_d, ctl1_q, ctl2_q, ctl3_q;
  logic       zero_x, third;   // x is 0; the words are b, c and a

  always_comb begin : p_decode
    ctl_d          = '0;
    ctl_d.x_from_a = 1'b1;
    ctl_d.y_from_s = 1'b1;
    ctl_d.product  = 1'b1;
    zero_x         = 1'b0;
    third          = 1'b0;
    case (op_i)
      EweAdd: begin
        ctl_d.z_sel   = ZY;
        ctl_d.fix     = FixAbove;
        ctl_d.add     = AddPre;
        ctl_d.product = 1'b0;
      end
      EweSub, EweNeg: begin
        zero_x        = op_i == EweNeg;
        ctl_d.z_sel   = ZY;
        ctl_d.minus   = 1'b1;
        ctl_d.fix     = FixBelow;
        ctl_d.add     = AddPre;
        ctl_d.product = 1'b0;
      end
      EweMul: begin
        ctl_d.b_from_y = 1'b1;
      end
      EweMac: begin
        third          = 1'b1;
        ctl_d.b_from_y = 1'b1;
        ctl_d.add      = AddC;
      end
      EweAddConst: begin
        ctl_d.z_sel   = ZK0;
        ctl_d.fix     = FixAbove;
        ctl_d.add     = AddPre;
        ctl_d.product = 1'b0;
      end
      EweSubMulConst: begin
        ctl_d.z_sel = ZY;
        ctl_d.minus = 1'b1;
        ctl_d.fix   = FixBelow;
      end
      EweLift: begin
        ctl_d.lift = 1'b1;
        ctl_d.add  = AddLift;
      end
      default: begin  // EweMulConst: other codes are not issued
        ctl_d.add = AddNone;
      end
    endcase
  end

  // ---------------------------------------------------------------- constants, in the stages that take them
  logic [W-1:0] k_1_q, k_2_q, k_3_q, q_1_q, q_2_q, q_3_q, q_4_q, q_b;
  logic [W-1:0] bound_1_q, bound_2_q, bound_3_q, less_1_q, less_2_q, less_3_q;
  logic [W+1:0] aux_1_q, aux_2_q, aux_3_q, aux_4_q;
  logic         product_a, product_b_q;

  always_ff @(posedge clk_i) begin : p_travel
    ctl1_q    <= ctl_d;
    ctl2_q    <= ctl1_q;
    ctl3_q    <= ctl2_q;
    k_1_q     <= k_i;
    k_2_q     <= k_1_q;
    k_3_q     <= k_2_q;
    q_1_q     <= q_i;
    q_2_q     <= q_1_q;
    q_3_q     <= q_2_q;
    q_4_q     <= q_3_q;
    aux_1_q   <= aux_i;
    aux_2_q   <= aux_1_q;
    aux_3_q   <= aux_2_q;
    aux_4_q   <= aux_3_q;
    // (p + 1) / 2 of an odd p
    bound_1_q <= ctl_d.lift ? (p_i >> 1) + 1'b1 : q_i;
    bound_2_q <= bound_1_q;
    bound_3_q <= bound_2_q;
    less_1_q  <= q_i - k1_i;
    less_2_q  <= less_1_q;
    less_3_q  <= less_2_q;
    product_b_q <= product_a;
  end

  rm_delay_line #(.Width(1), .Cycles(MulL + 1)) i_product (.clk_i, .data_i(ctl3_q.product), .data_o(product_a));
  rm_delay_line #(.Width(W), .Cycles(MulL + 1)) i_q (.clk_i, .data_i(q_4_q), .data_o(q_b));

  // ---------------------------------------------------------------- words
  for (genvar e = 0; e < Elements; e++) begin : g_element
    logic [W-1:0] x_q, y_q, z_q;
    always_ff @(posedge clk_i) begin : p_operands
      x_q <= zero_x ? '0 : third ? b_i[e] : a_i[e];
      y_q <= zero_x ? a_i[e] : third ? c_i[e] : b_i[e];
      z_q <= a_i[e];
    end
    rm_arith_column #(.W(W), .Kind(Kind), .Tile(Tile), .MulL(MulL)) i_column (
      .clk_i,
      .a_i        (x_q),
      .s_i        (y_q),
      .c_i        (z_q),
      .ctl2_i     (ctl2_q),
      .k0_2_i     (k_2_q),
      .ctl3_i     (ctl3_q),
      .k0_3_i     (k_3_q),
      .q_3_i      (q_3_q),
      .bound_3_i  (bound_3_q),
      .neg_k1_3_i (less_3_q),
      .q_4_i      (q_4_q),
      .aux_4_i    (aux_4_q),
      .product_a_i(product_a),
      .product_b_i(product_b_q),
      .q_b_i      (q_b),
      .d_o        (r_o[e])
    );
  end

  // ---------------------------------------------------------------- which of the rows are there
  logic [ewe_latency(Kind, W)-1:0] valid_q;
  assign valid_o = valid_q[ewe_latency(Kind, W)-1];
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= {valid_q[ewe_latency(Kind, W)-2:0], issue};
    end
  end

endmodule
