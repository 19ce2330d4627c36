// rm_inplace_column_twiddle - the 2^U twiddle factors of stage U of a pass of radix 16, made on the fly.
//
// Equation     T_j(i) = S(i) * K_j for block i and lanes j < 2^U, with K_j the product of rho_b over the bits b of j, and
//              S(i) = rho_stage times the product of rho_(b+U) over the bits b of i (README). In groups of 16 blocks
//                S(16 n + x) = G(n) * A(x),    G(n + 1) = G(n) * B(trailing ones of n),    G(0) = rho_stage.
//              Block 0 of a group is G itself; the multiplier, free for that one, makes the next G: M + 2 <= 16 cycles.
//              So 2^U multipliers give 2^U factors a cycle. One more pass with the same words: they depend on neither i's
//              upper bits nor the pass.
// Sign         An inverse transform wants -1/T (rm_inplace_column): the tables hold 1/rho, and S(0) is negated.
// Part         With a part of the lane bits, j counts on the lowest bits alone, and S starts from the stage that is meant;
//              stages that are not there get the factor 1 everywhere: part_one.
// Latency      2 M + 3 cycles from step_i to words_o, which stand until the next ones. A step a cycle at most.
module rm_inplace_column_twiddle #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned ModW = 4,
  parameter int unsigned U    = 0,
  localparam int unsigned Words = 1 << U,
  localparam int unsigned RowW  = rm_inplace_pkg::RowW
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // the table of moduli
  input  logic                     cfg_we_i,
  input  logic [4:0]               cfg_field_i,
  input  logic [ModW-1:0]          cfg_mod_i,
  input  logic [W+1:0]             cfg_data_i,
  // A and B of this stage, and K: entries of stage 0's A
  input  logic                     table_we_i,
  input  logic                     factor_we_i,
  input  logic [ModW-1:0]          seed_mod_i,
  input  logic [4:0]               seed_index_i,
  input  logic [W-1:0]             seed_data_i,
  // a block
  input  logic                     step_i,
  input  logic [RowW-1:0]          block_i,
  input  logic [4:0]               stage_i,   // of S
  input  logic [1:0]               part_i,
  input  logic [ModW-1:0]          mod_i,
  output logic [Words-1:0][W-1:0]  words_o
);

  localparam int unsigned M    = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Mods = 1 << ModW;

  // ------------------------------------------------- stage 0: which words
  logic [3:0]      ones;
  logic            zero, one_only;
  logic [4:0]      table_index, start_index;
  logic [2:0]      lanes;

  always_comb begin : p_ones
    ones = '0;
    for (int unsigned b = RowW; b > 4; b--) begin
      if (!block_i[b-1]) begin
        ones = 4'(b - 5);
      end
    end
  end
  assign zero        = block_i[3:0] == '0;
  assign table_index = zero ? {1'b1, ones} : {1'b0, block_i[3:0]};
  // Of a part of s bits, the columns U >= 4 - s are there, with U - (4 - s) bits of j.
  assign one_only    = part_i != 2'd0 && 3'(U) + 3'(part_i) < 3'd4;
  assign start_index = one_only ? 5'(rm_inplace_pkg::FieldOne - 2)
                                : (part_i != 2'd0) ? 5'(U) + 5'(part_i) - 5'd4 : stage_i + 5'(U);
  always_comb begin : p_lanes
    lanes = 3'b111;
    if (one_only) begin
      lanes = 3'b000;
    end else if (part_i != 2'd0) begin
      lanes = 3'((4'd1 << (3'(U) + 3'(part_i) - 3'd4)) - 4'd1);
    end
  end

  // ------------------------------------------------- stage 1: G, and what it is multiplied by
  logic [W-1:0] table_mem[Mods * 32];
  logic [W-1:0] start_mem[Mods * 32];
  logic [W-1:0] table_q, start_q, q1, group_q, next_q, now, product;
  logic [W+1:0] aux1;
  logic         step_q, zero_q, first_q, minus_q;

  always_ff @(posedge clk_i) begin : p_tables
    table_q <= table_mem[{mod_i, table_index}];
    start_q <= start_mem[{mod_i, start_index}];
    if (table_we_i) begin
      table_mem[{seed_mod_i, seed_index_i}] <= seed_data_i;
    end
    if (cfg_we_i && cfg_field_i >= 5'd2) begin
      start_mem[{cfg_mod_i, cfg_field_i - 5'd2}] <= cfg_data_i[W-1:0];
    end
  end

  rm_stream_moduli #(.W(W), .Mods(Mods)) i_moduli (
    .clk_i,
    .cfg_we_i  (cfg_we_i && cfg_field_i <= 5'd1),
    .cfg_aux_i (cfg_field_i[0]),
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i,
    .q_o       (q1),
    .aux_o     (aux1)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_step
    if (!rst_ni) begin
      step_q <= 1'b0;
    end else begin
      step_q <= step_i;
    end
  end
  always_ff @(posedge clk_i) begin : p_stage1
    zero_q  <= zero;
    first_q <= block_i == '0;
    minus_q <= mod_i[0] && !one_only;
  end

  always_comb begin : p_now
    now = group_q;
    if (zero_q) begin
      now = first_q ? (minus_q ? q1 - start_q : start_q) : next_q;
    end
  end
  always_ff @(posedge clk_i) begin : p_group
    if (step_q) begin
      group_q <= now;
    end
  end

  rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_step (
    .clk_i,
    .a_i   (now),
    .b_i   (table_q),
    .q_i   (q1),
    .aux_i (aux1),
    .r_o   (product)
  );

  // ------------------------------------------------- stage 1 + M: S, or the next G
  logic [W-1:0]    now_late, s_q;
  logic            zero_late, step_late;
  logic [ModW-1:0] mod_late;
  logic [2:0]      lanes_late;

  rm_delay_line #(.Width(W + 1), .Cycles(M)) i_now (
    .clk_i,
    .data_i ({zero_q, now}),
    .data_o ({zero_late, now_late})
  );
  rm_inplace_shift #(.Cycles(M)) i_step_late (
    .clk_i,
    .rst_ni,
    .mark_i (step_q),
    .mark_o (step_late)
  );
  always_ff @(posedge clk_i) begin : p_s
    s_q <= zero_late ? now_late : product;
    if (step_late && zero_late) begin
      next_q <= product;
    end
  end

  // ------------------------------------------------- stage 2 + M: products with the lanes' words
  rm_delay_line #(.Width(ModW + 3), .Cycles(M + 1)) i_mod (
    .clk_i,
    .data_i ({mod_i, lanes}),
    .data_o ({mod_late, lanes_late})
  );

  logic                    arrive;
  logic [Words-1:0][W-1:0] words, words_q;

  rm_inplace_shift #(.Cycles(M + 1)) i_arrive (
    .clk_i,
    .rst_ni,
    .mark_i (step_late),
    .mark_o (arrive)
  );
  rm_delay_line #(.Width(W), .Cycles(M)) i_word0 (
    .clk_i,
    .data_i (s_q),
    .data_o (words[0])
  );

  if (U > 0) begin : g_products
    logic [W-1:0] q2;
    logic [W+1:0] aux2;
    logic         unused;
    assign unused = ^lanes_late;   // where j has fewer bits
    rm_stream_moduli #(.W(W), .Mods(Mods)) i_moduli_late (
      .clk_i,
      .cfg_we_i  (cfg_we_i && cfg_field_i <= 5'd1),
      .cfg_aux_i (cfg_field_i[0]),
      .cfg_mod_i,
      .cfg_data_i,
      .mod_i     (mod_late),
      .q_o       (q2),
      .aux_o     (aux2)
    );
    for (genvar j = 1; j < Words; j++) begin : g_lane
      logic [W-1:0] factor_mem[Mods*Words];
      logic [W-1:0] factor_q;
      // K_0 = 1 is the field of the host's.
      always_ff @(posedge clk_i) begin : p_factor
        factor_q <= factor_mem[{mod_late, U'(j) & U'(lanes_late)}];
        if (factor_we_i && seed_index_i < 5'(Words)) begin
          factor_mem[{seed_mod_i, U'(seed_index_i)}] <= seed_data_i;
        end else if (cfg_we_i && cfg_field_i == 5'(rm_inplace_pkg::FieldOne)) begin
          factor_mem[{cfg_mod_i, U'(0)}] <= cfg_data_i[W-1:0];
        end
      end
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_mul (
        .clk_i,
        .a_i   (s_q),
        .b_i   (factor_q),
        .q_i   (q2),
        .aux_i (aux2),
        .r_o   (words[j])
      );
    end
  end else begin : g_alone
    logic unused;
    assign unused = ^{mod_late, lanes_late, factor_we_i};
  end

  always_ff @(posedge clk_i) begin : p_hold
    if (arrive) begin
      words_q <= words;
    end
  end
  assign words_o = words_q;

endmodule
