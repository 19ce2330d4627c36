// rm_nttu_power - a power of psi, from its exponent, on the fly.
//
// Equation     r_o = psi^x 2^F, F the factor of the multiplier. The exponent comes as a sign and digits of log R bits, the highest
//              last; digit d picks psi^(digit R^(d + 4 - Digits) / 2^missing) out of a table of R words, and the words are multiplied:
//              one product for two digits, three for four. psi^N = -1 is the sign; it turns the highest word.
// Timing       x and the tables in cycle c, with q_0_i; q and aux of the first products a cycle later, of the last one M cycles after
//              that. r_o in c + 1 + M (two digits) or c + 1 + 2 M, straight out of a multiplier.
module rm_nttu_power #(
  parameter int unsigned W      = 54,
  parameter int unsigned Kind   = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile   = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogR   = 2,
  parameter int unsigned Digits = 2,
  localparam int unsigned R     = 1 << LogR
) (
  input  logic                            clk_i,
  input  logic                            negative_i,
  input  logic [Digits-1:0][LogR-1:0]     digit_i,
  input  logic [Digits-1:0][R-1:0][W-1:0] table_i,
  input  logic [W-1:0]                    q_0_i,
  input  logic [W-1:0]                    q_1_i,
  input  logic [W+1:0]                    aux_1_i,
  input  logic [W-1:0]                    q_2_i,
  input  logic [W+1:0]                    aux_2_i,
  output logic [W-1:0]                    r_o
);

  logic [Digits-1:0][W-1:0]   word_q;
  logic [Digits/2-1:0][W-1:0] product;
  logic [W-1:0]               top;
  assign top = table_i[Digits-1][digit_i[Digits-1]];

  always_ff @(posedge clk_i) begin : p_word
    for (int unsigned d = 0; d < Digits - 1; d++) begin
      word_q[d] <= table_i[d][digit_i[d]];
    end
    word_q[Digits-1] <= negative_i ? q_0_i - top : top;
  end

  for (genvar p = 0; p < Digits / 2; p++) begin : g_pair
    rm_modmul #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_pair (
      .clk_i,
      .a_i   (word_q[2*p]),
      .b_i   (word_q[2*p+1]),
      .q_i   (q_1_i),
      .aux_i (aux_1_i),
      .r_o   (product[p])
    );
  end

  if (Digits == 2) begin : g_two
    assign r_o = product[0];
    logic unused_late;
    assign unused_late = ^{q_2_i, aux_2_i};
  end else begin : g_four
    rm_modmul #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_both (
      .clk_i,
      .a_i   (product[0]),
      .b_i   (product[1]),
      .q_i   (q_2_i),
      .aux_i (aux_2_i),
      .r_o
    );
  end

endmodule
