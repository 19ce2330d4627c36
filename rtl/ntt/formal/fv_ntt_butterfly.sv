// fv_ntt_butterfly - every butterfly at full width, between multiplications: what goes into the multiplier, and what
//                    comes out of the butterfly, is in [0, q) and is what the equation says modulo q.
//
// Method       the proof script cuts the multiplier's result away: it is any residue, so nothing depends on a kind.
//              Operands, modulus and direction are new in every cycle. There is no feedback, so one butterfly that
//              has passed with free neighbours is all of them. BROKEN lets y reach q and must give a counterexample.
module fv_ntt_butterfly #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindP2
) (
  input logic         clk_i,
  input logic         inverse_i,
  input logic [W-1:0] x_i,
  input logic [W-1:0] y_i,
  input logic [W-1:0] twiddle_i,
  input logic [W-1:0] q_i
);

  localparam int unsigned M    = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Mul  = 2;         // cycles from x_i to the operands of the multiplier
  localparam int unsigned Out  = Mul + M;   //   to its result
  localparam int unsigned Last = Out + 2;   //   to x_o
  localparam int unsigned CntW = $clog2(Last + 2);

  typedef struct packed {
    logic         inverse;
    logic [W-1:0] x;
    logic [W-1:0] y;
    logic [W-1:0] q;
  } given_t;

  given_t          now;
  given_t          line_q [1:Last];  // line_q[s] entered s cycles ago
  logic [W-1:0]    product_q [2];
  logic [CntW-1:0] cycle_q;
  logic [W-1:0]    x_o, y_o;

  assign now = '{inverse: inverse_i, x: x_i, y: y_i, q: q_i};

  rm_ntt_butterfly #(
    .W   (W),
    .Kind(Kind),
    .Tile(rm_modmul_pkg::TileLut)
  ) i_dut (
    .clk_i,
    .pre1_inverse_i (inverse_i),
    .x_i,
    .y_i,
    .pre2_inverse_i (line_q[1].inverse),
    .pre2_q_i       (line_q[1].q),
    .mul_inverse_i  (line_q[Mul].inverse),
    .mul_q_i        (line_q[Mul].q),
    .mul_aux_i      ('0),
    .twiddle_i,
    .post1_inverse_i(line_q[Out].inverse),
    .post2_q_i      (line_q[Out+1].q),
    .x_o,
    .y_o
  );

  initial cycle_q = '0;

  always_ff @(posedge clk_i) begin : p_line
    cycle_q   <= cycle_q + CntW'(32'(cycle_q) != Last + 1);
    line_q[1] <= now;
    for (int unsigned s = 2; s <= Last; s++) line_q[s] <= line_q[s-1];
    product_q[0] <= i_dut.product;
    product_q[1] <= product_q[0];
  end

  // ---------------------------------------------------------------- what is given
  always_comb begin : p_given
    assume (q_i[0] && q_i > W'(2));
    assume (x_i < q_i);
`ifdef BROKEN
    assume (y_i <= q_i);
`else
    assume (y_i < q_i);
`endif
    assume (32'(cycle_q) < Out || i_dut.product < line_q[Out].q);
  end

  // ---------------------------------------------------------------- into the multiplier
  // Sums are written as the butterfly forms them: a solver is slow to see that (y - x) + q = (y + q) - x.
  given_t       m;
  logic [W-1:0] bot;
  logic [W+1:0] twice, m_q, m_difference;

  assign m            = line_q[Mul];
  assign m_q          = {2'b00, m.q};
  assign bot          = i_dut.bot_q;
  assign twice        = {1'b0, bot, 1'b0};
  assign m_difference = {2'b00, m.y} - {2'b00, m.x};

  always_comb begin : p_factor
    if (32'(cycle_q) == Mul) begin
      a_factor: assert (bot < m.q);
      if (m.inverse) begin
        a_half: assert (twice == m_difference || twice == m_difference + m_q ||
                        twice == m_difference + {m_q[W:0], 1'b0});
      end else begin
        a_same: assert (bot == m.y);
      end
    end
  end

  // ---------------------------------------------------------------- out of the butterfly
  given_t       e;
  logic [W+1:0] p, x, y, q, ox, oy, sum, mean, difference;

  assign e          = line_q[Last];
  assign p          = {2'b00, product_q[1]};
  assign x          = {2'b00, e.x};
  assign y          = {2'b00, e.y};
  assign q          = {2'b00, e.q};
  assign ox         = {2'b00, x_o};
  assign oy         = {2'b00, y_o};
  assign sum        = x + p;
  assign difference = x - p;
  assign mean       = x + y;

  always_comb begin : p_result
    if (32'(cycle_q) == Last) begin
      a_range: assert (ox < q && oy < q);
      if (e.inverse) begin
        a_mean: assert ((ox << 1) == mean || (ox << 1) == mean - q || (ox << 1) == mean + q ||
                        (ox << 1) == (mean - q) + q);
        a_product: assert (oy == p);
      end else begin
        a_sum: assert (ox == sum || ox == sum - q);
        a_difference: assert (oy == difference || oy == difference + q);
      end
    end
  end

endmodule
