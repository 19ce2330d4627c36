// fv_arith_unit - every instruction at full width, between multiplications: the factors that enter the multiplier and
//                 the word that is written are what the table of the README says, and results are in [0, q).
//
// Method       one command of one row, anything the decoder lets through, runs through the whole unit; operands and
//              constants are held for the run. The proof script cuts the multipliers' results away: a product is any
//              residue. Both columns get the same words, so a turn of the columns changes nothing. BROKEN lets C be
//              any word and must give a counterexample.
module fv_arith_unit
  import rm_core_pkg::*;
#(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindP2
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic [3:0]   op_i,
  input logic [2:0]   used_i,  // A, S, C
  input logic         swap_i,
  input logic         permute_i,
  input logic [5:0]   shift_i,
  input logic [W-1:0] a_i,
  input logic [W-1:0] s_i,
  input logic [W-1:0] c_i,
  input logic [W-1:0] k0_i,
  input logic [W-1:0] k1_i,
  input logic [W-1:0] q_i,
  input logic [W-1:0] p_i
);

  localparam int unsigned LogN   = 2;                               // a row of two words; two rows built, one used
  localparam int unsigned MulL   = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Take   = 1;                               // after the cycle in reset
  localparam int unsigned Factor = Take + 1 + rm_arith_pkg::StagesBefore;
  localparam int unsigned Write  = Factor + MulL + rm_arith_pkg::StagesAfter;

  // ---------------------------------------------------------------- held for the run
  typedef struct packed {
    arith_op_e    op;
    logic         a_used, s_used, c_used, swap, permute;
    logic [5:0]   shift;
    logic [W-1:0] a, s, c, k0, k1, q, p;
  } given_t;

  given_t       g_q;
  arith_cmd_t   cmd;
  logic [4:0]   cycle_q;
  logic         we;
  logic [1:0][W-1:0] wdata;
  logic [W-1:0] product_q [2];

  initial cycle_q = '0;

  always_ff @(posedge clk_i) begin : p_hold
    cycle_q <= cycle_q + 5'(32'(cycle_q) != Write + 1);
    if (cycle_q == '0) begin
      g_q <= '{op: arith_op_e'(op_i), a_used: used_i[2], s_used: used_i[1], c_used: used_i[0], swap: swap_i,
               permute: permute_i, shift: shift_i, a: a_i, s: s_i, c: c_i, k0: k0_i, k1: k1_i, q: q_i, p: p_i};
    end
    product_q[0] <= i_dut.g_column[0].i_column.product;
    product_q[1] <= product_q[0];
  end

  always_comb begin : p_command
    cmd           = '0;
    cmd.op        = g_q.op;
    cmd.a_used    = g_q.a_used;
    cmd.s_used    = g_q.s_used;
    cmd.c_used    = g_q.c_used;
    cmd.c_bank    = BankW'(1);
    cmd.d_to_bank = 1'b1;
    cmd.d_bank    = BankW'(2);
    cmd.swap      = g_q.swap;
    cmd.permute   = g_q.permute;
    cmd.shift     = g_q.shift;
  end

  rm_arith_unit #(
    .W      (W),
    .Nbf    (1),
    .LogNMax(LogN),
    .Kind   (Kind),
    .Tile   (rm_modmul_pkg::TileLut)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_n_i       (LogNW'(1)),
    .last_row_i    ('0),
    .chain_o       (),
    .cmd_valid_i   (32'(cycle_q) == Take),
    .cmd_ready_o   (),
    .cmd_i         (cmd),
    .k0_i          (g_q.k0),
    .k1_i          (g_q.k1),
    .q_i           (g_q.q),
    .aux_i         ('0),
    .p_i           (g_q.p),
    .a_re_o        (),
    .a_bank_o      (),
    .a_row_o       (),
    .c_re_o        (),
    .c_bank_o      (),
    .c_row_o       (),
    .a_data_i      ({2{g_q.a}}),
    .c_data_i      ({2{g_q.c}}),
    .we_o          (we),
    .wbank_o       (),
    .wrow_o        (),
    .wdata_o       (wdata),
    .rd_row_valid_i(1'b1),
    .rd_row_ready_o(),
    .rd_row_data_i ({2{g_q.s}}),
    .wr_row_valid_o(),
    .wr_row_ready_i(1'b1),
    .wr_row_data_o (),
    .pass_o        (),
    .free_read_o   (),
    .free_write_o  (),
    .issue_o       (),
    .idle_o        (),
    .stall_read_o  (),
    .stall_write_o ()
  );

  // ---------------------------------------------------------------- what is given: rm_instr_decode, and the intervals
  logic         pair, one;
  logic [W-1:0] x, y, first, second;

  assign pair   = (2'(g_q.a_used) + 2'(g_q.s_used) + 2'(g_q.c_used)) == 2'd2;
  assign one    = g_q.a_used ^ g_q.s_used;
  assign x      = g_q.a_used ? g_q.a : g_q.s;
  assign y      = (g_q.a_used && g_q.s_used) ? g_q.s : g_q.c;
  assign first  = g_q.swap ? y : x;
  assign second = g_q.swap ? x : y;

  always_comb begin : p_given
    if (cycle_q == '0) begin
      assume (!rst_ni);
    end else begin
      assume (rst_ni);
      assume (g_q.op <= ArithShrk && g_q.q[0] && g_q.q > W'(2) && g_q.p[0]);
      assume (!g_q.swap || g_q.op == ArithSub || g_q.op == ArithSubk);
      assume (!g_q.permute || g_q.op != ArithLift);
      assume (i_dut.g_column[0].i_column.product < g_q.q);
      case (g_q.op)
        ArithAdd, ArithSub, ArithSubk: assume (pair && x < g_q.q && y < g_q.q);
        ArithMul:                      assume (pair && y < g_q.q);
        ArithMac: begin
          assume (g_q.a_used && g_q.s_used && g_q.c_used && y < g_q.q);
`ifndef BROKEN
          assume (g_q.c < g_q.q);
`endif
        end
        ArithMack: assume (one && g_q.c_used && g_q.c < g_q.q);
        ArithAddk: assume (one && !g_q.c_used && x < g_q.q);
        default:   assume (one && !g_q.c_used);
      endcase
      assume (g_q.op == ArithShrk || g_q.k0 < g_q.q);
      assume (g_q.k1 < g_q.q || !(g_q.op == ArithLift || (g_q.op == ArithMulk && !g_q.permute)));
    end
  end

  // ---------------------------------------------------------------- into the multiplier
  // Sums are written as the unit forms them: a solver is slow to see that (x - y) + q = (x + q) - y.
  logic [W+1:0] q, sum, difference, sum_k0, pre, w;
  logic [W-1:0] b;

  assign q          = {2'b00, g_q.q};
  assign sum        = {2'b00, first} + {2'b00, second};
  assign difference = {2'b00, first} - {2'b00, second};
  assign sum_k0     = {2'b00, x} + {2'b00, g_q.k0};
  assign pre        = {2'b00, i_dut.g_column[0].i_column.pre_q};
  assign b          = i_dut.g_column[0].i_column.b_q;

  always_comb begin : p_factors
    if (32'(cycle_q) == Factor) begin
      case (g_q.op)
        ArithSubk: begin
          a_difference: assert (pre < q && (pre == difference || pre == difference + q) && b == g_q.k0);
        end
        ArithMul, ArithMac:   a_words: assert (pre == {2'b00, x} && b == y);
        ArithMulk, ArithMack: a_shifted: assert (pre == {2'b00, x >> g_q.shift} && b == g_q.k0);
        ArithLift:            a_lifted: assert (pre == {2'b00, x} && b == g_q.k0);
        default: ;  // no product
      endcase
    end
  end

  // ---------------------------------------------------------------- the word written
  logic [W+1:0] addend, total;

  always_comb begin : p_addend
    case (g_q.op)
      ArithMac, ArithMack: addend = {2'b00, g_q.c};
      ArithMulk:           addend = g_q.permute ? '0 : q - {2'b00, g_q.k1};
      ArithLift:           addend = ({1'b0, x} << 1) > {1'b0, g_q.p} ? q - {2'b00, g_q.k1} : '0;
      default:             addend = '0;
    endcase
  end
  assign total = addend + {2'b00, product_q[1]};
  assign w     = {2'b00, wdata[0]};

  always_comb begin : p_result
    if (32'(cycle_q) == Write) begin
      a_written: assert (we);
      case (g_q.op)
        ArithCopy: a_copy: assert (w == {2'b00, x});
        ArithShrk: begin
          if ((sum_k0 >> g_q.shift) >> W == '0) a_shrk: assert (w == sum_k0 >> g_q.shift);
        end
        ArithAdd:  a_add: assert (w < q && (w == sum || w == sum - q));
        ArithSub:  a_sub: assert (w < q && (w == difference || w == difference + q));
        ArithAddk: a_addk: assert (w < q && (w == sum_k0 || w == sum_k0 - q));
        default:   a_product: assert (w < q && (w == total || w == total - q));
      endcase
    end
  end

endmodule
