// rm_modmul_lut_product - product of two unsigned numbers in LUTs: Booth rows in groups, and two levels of sums.
//
// Equation     p_o = a_i * b_i, 3 cycles later, one a cycle.
// Stages       1: groups of Rows rows each, straight from the operands; 2: sums of half of the groups; 3: the sum.
module rm_modmul_lut_product #(
  parameter int unsigned Wa = 52,
  parameter int unsigned Wb = 52
) (
  input  logic             clk_i,
  input  logic [Wa-1:0]    a_i,
  input  logic [Wb-1:0]    b_i,
  output logic [Wa+Wb-1:0] p_o
);

  localparam int unsigned Rows   = 4;
  localparam int unsigned Digits = Wb / 2 + 1;
  localparam int unsigned Groups = (Digits + Rows - 1) / Rows;
  localparam int unsigned Half   = (Groups + 1) / 2;
  localparam int unsigned GroupW = Wa + 2 * Rows;                     // signed
  localparam int unsigned HalfW  = GroupW + 2 * Rows * (Half - 1);    // signed
  localparam int unsigned SumW   = HalfW + 2 * Rows * Half;           // signed

  logic [2*Rows*Groups:0] digits;
  assign digits = (2 * Rows * Groups + 1)'({b_i, 1'b0});

  logic [2*Half-1:0][GroupW-1:0] group_d, group_q;
  for (genvar g = 0; g < 2 * Half; g++) begin : g_group
    if (g < Groups) begin : g_used
      rm_modmul_booth #(
        .Nx   (Wa),
        .Rows (Rows)
      ) i_booth (
        .x_i (a_i),
        .y_i (digits[2*Rows*g+:2*Rows+1]),
        .p_o (group_d[g])
      );
    end else begin : g_none
      assign group_d[g] = '0;
    end
  end

  logic [1:0][HalfW-1:0] half, half_q;
  for (genvar s = 0; s < 2; s++) begin : g_half
    rm_modmul_stack #(
      .Num    (Half),
      .Width  (GroupW),
      .Step   (2 * Rows),
      .Signed (1'b1)
    ) i_stack (
      .x_i (group_q[s*Half+:Half]),
      .s_o (half[s])
    );
  end

  logic [SumW-1:0] sum;
  rm_modmul_stack #(
    .Num    (2),
    .Width  (HalfW),
    .Step   (2 * Rows * Half),
    .Signed (1'b1)
  ) i_sum (
    .x_i (half_q),
    .s_o (sum)
  );

  always_ff @(posedge clk_i) begin : p_sum
    group_q <= group_d;
    half_q  <= half;
    p_o     <= (Wa + Wb)'(sum);
  end

  // The product is not negative: what stands above it is its sign, zero.
  logic unused_sign;
  assign unused_sign = ^sum[SumW-1:Wa+Wb];

endmodule
