// rm_wide_reduce - a wide sum of products becomes a residue: the one reduction of a lazy sum.
//
// Equation     r_o = sum_i 2^-R mod q_i, R = rm_modmul_pkg::factor_bits(Kind, W).
//              sum = high 2^W + low, so sum 2^-R = high 2^(W - R) + mm(low, 1). high is brought below q by G steps that each take
//              off q 2^k or nothing. Where R = W it then stands for itself, else it is multiplied by word_i = 2^W mod q.
// Intervals    0 <= sum < 2^(W + G) q: high < 2^G q, after step k below 2^(G-1-k) q. The two parts are below q each, one
//              subtraction corrects their sum.
// Latency      rm_arrays_pkg::reduce_latency(Kind, W, G), one sum a cycle, no stall, no reset. q_i, aux_i and word_i belong to the sum
//              beside them. sum_i should come straight from registers.
// Source       lazy reduction of inner products; the split is that of a Montgomery step of W bits.
module rm_wide_reduce #(
  parameter int unsigned W    = 36,
  parameter int unsigned Kind = rm_modmul_pkg::KindP2,
  parameter int unsigned Tile = rm_modmul_pkg::TileLut,
  parameter int unsigned G    = 3
) (
  input  logic           clk_i,
  input  logic [2*W+G-1:0] sum_i,
  input  logic [W-1:0]   q_i,
  input  logic [W+1:0]   aux_i,
  input  logic [W-1:0]   word_i,
  output logic [W-1:0]   r_o
);

  localparam int unsigned L    = rm_modmul_pkg::latency(Kind, W);
  localparam bit          Same = rm_modmul_pkg::factor_bits(Kind, W) == W;
  localparam int unsigned Both = rm_arrays_pkg::reduce_latency(Kind, W, G) - 2;

  // ---------------------------------------------------------------- high part below q
  logic [G:0][W+G-1:0] high_q;
  logic [G:0][W-1:0]   q_late;
  assign high_q[0] = sum_i[2*W+G-1:W];
  assign q_late[0] = q_i;
  for (genvar k = 0; k < G; k++) begin : g_below
    logic [W+G:0] less;
    assign less = {1'b0, high_q[k]} - ((W + G + 1)'(q_late[k]) << (G - 1 - k));
    always_ff @(posedge clk_i) begin : p_below
      high_q[k+1] <= less[W+G] ? high_q[k] : less[W+G-1:0];
      q_late[k+1] <= q_late[k];
    end
  end

  // ---------------------------------------------------------------- both parts, times 2^-R
  logic [W-1:0] low, low_late, high_late, q_sum;

  rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_low (
    .clk_i, .a_i(sum_i[W-1:0]), .b_i(W'(1)), .q_i, .aux_i, .r_o(low)
  );
  rm_delay_line #(.Width(W), .Cycles(Both - L)) i_low_late (.clk_i, .data_i(low), .data_o(low_late));

  if (Same) begin : g_same
    rm_delay_line #(.Width(W), .Cycles(Both - G)) i_high_late (.clk_i, .data_i(high_q[G][W-1:0]), .data_o(high_late));
    logic unused_word;
    assign unused_word = ^word_i;
  end else begin : g_word
    logic [W-1:0] word_late;
    logic [W+1:0] aux_late;
    rm_delay_line #(.Width(2 * W + 2), .Cycles(G)) i_late (
      .clk_i, .data_i({word_i, aux_i}), .data_o({word_late, aux_late})
    );
    rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_high (
      .clk_i, .a_i(high_q[G][W-1:0]), .b_i(word_late), .q_i(q_late[G]), .aux_i(aux_late), .r_o(high_late)
    );
  end

  // ---------------------------------------------------------------- their sum
  rm_delay_line #(.Width(W), .Cycles(Both + 1 - G)) i_q_sum (.clk_i, .data_i(q_late[G]), .data_o(q_sum));

  logic [W:0] both_q, over;
  assign over = both_q - {1'b0, q_sum};
  always_ff @(posedge clk_i) begin : p_sum
    both_q <= {1'b0, low_late} + {1'b0, high_late};
    r_o    <= over[W] ? both_q[W-1:0] : over[W-1:0];
  end

  // Below q after the last step.
  logic unused_high;
  assign unused_high = ^high_q[G][W+G-1:W];

endmodule
