// rm_nttu_main_twist - the product between the two halves: N different factors a limb, made on the fly.
//
// Equation     forward  word times psi^(n2 (2 k1 + 1));  inverse  times psi^(-n2 (2 k1 + 1)),  n2 = n21 R + n22, k1 = k11 + R k12.
//              Behind the main transposition a lane holds a block of R rows in which only n22 (forward) or k11 (inverse) changes
//              from row to row, and only n21 or k12 from element to element. So the factor is a product,
//                forward  U(e) = psi^(n21 R (2 k1 + 1)),  V(t) = psi^(n22 (2 k1 + 1))
//                inverse  U(e) = psi^(-n2 2 R k12),       V(t) = psi^(-n2 (2 k11 + 1))
//              U is made an element a cycle during the block before, V a row a cycle; one multiplier an element makes U V.
//              Where the third digit lacks D bits, forward V differs with the lowest D bits of e: 2^D makers.
// Cost         a lane: R products of words, R of factors, 3 (1 + 2^D) in makers of powers.
// Timing       first_i is the mark 3 M + 3 + R cycles before that of row_i; out M cycles after row_i. A row a cycle.
module rm_nttu_main_twist #(
  parameter int unsigned W     = 54,
  parameter int unsigned Kind  = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile  = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods  = 8,
  parameter int unsigned LogN  = 8,
  parameter int unsigned LogL  = 1,
  parameter int unsigned LogR  = 2,
  parameter int unsigned TimeW = 4,
  localparam int unsigned L    = 1 << LogL,
  localparam int unsigned R    = 1 << LogR,
  localparam int unsigned ModW = $clog2(Mods)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       cfg_we_i,
  input  logic [6:0]                 cfg_field_i,
  input  logic [ModW-1:0]            cfg_mod_i,
  input  logic [W+1:0]               cfg_data_i,
  input  logic                       first_i,
  input  logic [ModW:0]              tag_i,
  input  logic [L-1:0][R-1:0][W-1:0] row_i,
  output logic [L-1:0][R-1:0][W-1:0] row_o
);

  localparam int unsigned M  = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned D  = rm_nttu_pkg::missing(LogN, LogR);
  localparam int unsigned VMakers = 1 << D;
  localparam int unsigned XW = LogN + 1;
  localparam int unsigned HW = 2 * LogR - D;   // {V, G}
  localparam int unsigned KW = 2 * LogR + 1;   // 2 k1 + 1

  // ------------------------------------------------- two fronts: U's, and V's R + 1 cycles later
  logic                     v_first;
  logic [ModW:0]            v_tag;
  rm_nttu_mark #(
    .Cycles (R + 1),
    .Rows   (1 << TimeW),
    .TagW   (ModW + 1)
  ) i_mark (
    .clk_i,
    .rst_ni,
    .first_i,
    .tag_i,
    .first_o (v_first),
    .tag_o   (v_tag)
  );

  logic                     u_valid, v_valid, u_inverse, v_inverse;
  logic [TimeW-1:0]         u_row, v_row;
  logic [3:0][R-1:0][W-1:0] u_tables, v_tables;
  logic [W-1:0]             u_q1, u_q2, u_q3, v_q1, v_q2, v_q3, v_q4, v_q5;
  logic [W+1:0]             u_aux1, u_aux2, u_aux3, v_aux1, v_aux2, v_aux3, v_aux4, v_aux5;

  rm_nttu_front #(
    .W(W), .Mods(Mods), .LogR(LogR), .Digits(4), .TimeW(TimeW)
  ) i_u_front (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_field_i,
    .cfg_mod_i,
    .cfg_data_i,
    .first_i,
    .tag_i,
    .valid_o   (u_valid),
    .row_o     (u_row),
    .inverse_o (u_inverse),
    .q_o       (u_q1),
    .aux_o     (u_aux1),
    .table_o   (u_tables)
  );
  rm_nttu_front #(
    .W(W), .Mods(Mods), .LogR(LogR), .Digits(4), .TimeW(TimeW)
  ) i_v_front (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_field_i,
    .cfg_mod_i,
    .cfg_data_i,
    .first_i   (v_first),
    .tag_i     (v_tag),
    .valid_o   (v_valid),
    .row_o     (v_row),
    .inverse_o (v_inverse),
    .q_o       (v_q1),
    .aux_o     (v_aux1),
    .table_o   (v_tables)
  );
  always_ff @(posedge clk_i) begin : p_late
    {u_q2, u_aux2} <= {u_q1, u_aux1};
    {v_q2, v_aux2} <= {v_q1, v_aux1};
  end
  rm_delay_line #(.Width(2 * W + 2), .Cycles(M)) i_u_late (
    .clk_i, .data_i({u_q2, u_aux2}), .data_o({u_q3, u_aux3})
  );
  rm_delay_line #(.Width(2 * W + 2), .Cycles(M)) i_v_late (
    .clk_i, .data_i({v_q2, v_aux2}), .data_o({v_q3, v_aux3})
  );
  rm_delay_line #(.Width(2 * W + 2), .Cycles(M)) i_v_later (
    .clk_i, .data_i({v_q3, v_aux3}), .data_o({v_q4, v_aux4})
  );
  rm_delay_line #(.Width(2 * W + 2), .Cycles(M)) i_v_last (
    .clk_i, .data_i({v_q4, v_aux4}), .data_o({v_q5, v_aux5})
  );

  // A block's U are complete.
  logic take, take_late;
  assign take = v_valid && v_row[LogR-1:0] == '0;
  rm_delay_line #(.Width(1), .Cycles(2 * M + 1)) i_take (.clk_i, .data_i(take), .data_o(take_late));

  // ------------------------------------------------- digits of the rows
  logic [LogR-1:0] u_element, u_element_brv, v_digit, v_digit_brv;
  assign u_element = u_row[LogR-1:0];
  for (genvar i = 0; i < LogR; i++) begin : g_digit
    assign u_element_brv[i]      = u_row[LogR-1-i];
    assign v_digit[i]            = v_row[rm_nttu_pkg::place(i, LogN, LogR)];
    assign v_digit_brv[LogR-1-i] = v_row[rm_nttu_pkg::place(i, LogN, LogR)];
  end

  for (genvar l = 0; l < L; l++) begin : g_lane
    // {V, G}, of U's row and of V's.
    logic [HW-1:0] u_upper, v_upper;
    for (genvar b = 0; b < HW; b++) begin : g_upper
      localparam int unsigned Place = rm_nttu_pkg::upper_bit(b, LogR);
      if (Place < TimeW) begin : g_time
        assign u_upper[b] = u_row[Place];
        assign v_upper[b] = v_row[Place];
      end else begin : g_lane_bit
        assign u_upper[b] = 1'(l >> (Place - TimeW));
        assign v_upper[b] = 1'(l >> (Place - TimeW));
      end
    end

    // forward 2 k1 + 1, k1 from V, G and the lowest D bits of the element; inverse n2 = G R + V
    logic [KW-1:0]               u_point;
    logic [VMakers-1:0][KW-1:0]  v_point;
    logic [HW-1:0]               u_index, v_index;
    for (genvar b = 0; b < LogR; b++) begin : g_point
      assign u_point[1+b]      = u_upper[HW-1-b];
      if (b < LogR - D) begin : g_u_there
        assign u_point[1+LogR+b] = u_upper[LogR-D-1-b];
      end else begin : g_u_element
        assign u_point[1+LogR+b] = u_row[LogR-1-b];
      end
      for (genvar y = 0; y < VMakers; y++) begin : g_maker
        assign v_point[y][1+b] = v_upper[HW-1-b];
        if (b < LogR - D) begin : g_v_there
          assign v_point[y][1+LogR+b] = v_upper[LogR-D-1-b];
        end else begin : g_v_element
          assign v_point[y][1+LogR+b] = 1'(y >> (LogR - 1 - b));
        end
      end
    end
    assign u_point[0] = 1'b1;
    assign u_index    = {u_upper[LogR-D-1:0], u_upper[HW-1-:LogR]};
    assign v_index    = {v_upper[LogR-D-1:0], v_upper[HW-1-:LogR]};

    // ----------------------------------------------- U: an element a cycle
    logic [XW-1:0]       u_product, u_x, u_x_q;
    logic [4*LogR-1:0]   u_digits;
    logic [W-1:0]        u_word;
    logic [R-1:0][W-1:0] collect_q, u_q;
    assign u_product = u_inverse ? XW'(u_element_brv) * XW'({u_index, 1'b0}) : XW'(u_element >> D) * XW'(u_point);
    assign u_x       = u_inverse ? -(u_product << LogR) : u_product << LogR;
    assign u_digits  = (4 * LogR)'(u_x_q[LogN-1:0]) << D;
    always_ff @(posedge clk_i) begin : p_u
      u_x_q     <= u_x;
      collect_q <= {u_word, collect_q[R-1:1]};
      if (take_late) begin
        u_q <= collect_q;
      end
    end
    rm_nttu_power #(
      .W(W), .Kind(Kind), .Tile(Tile), .LogR(LogR), .Digits(4)
    ) i_u_power (
      .clk_i,
      .negative_i (u_x_q[LogN]),
      .digit_i    (u_digits),
      .table_i    (u_tables),
      .q_0_i      (u_q1),
      .q_1_i      (u_q2),
      .aux_1_i    (u_aux2),
      .q_2_i      (u_q3),
      .aux_2_i    (u_aux3),
      .r_o        (u_word)
    );

    // ----------------------------------------------- V: a row a cycle
    logic [VMakers-1:0][W-1:0] v_word;
    for (genvar y = 0; y < VMakers; y++) begin : g_v
      logic [XW-1:0]     v_product, v_x_q;
      logic [4*LogR-1:0] v_digits;
      assign v_product = v_inverse ? XW'({v_digit_brv, 1'b1}) * XW'(v_index) : XW'(v_digit) * XW'(v_point[y]);
      assign v_digits  = (4 * LogR)'(v_x_q[LogN-1:0]) << D;
      always_ff @(posedge clk_i) begin : p_v
        v_x_q <= v_inverse ? -v_product : v_product;
      end
      rm_nttu_power #(
        .W(W), .Kind(Kind), .Tile(Tile), .LogR(LogR), .Digits(4)
      ) i_v_power (
        .clk_i,
        .negative_i (v_x_q[LogN]),
        .digit_i    (v_digits),
        .table_i    (v_tables),
        .q_0_i      (v_q1),
        .q_1_i      (v_q2),
        .aux_1_i    (v_aux2),
        .q_2_i      (v_q3),
        .aux_2_i    (v_aux3),
        .r_o        (v_word[y])
      );
      assign v_point[y][0] = 1'b1;
    end

    // ----------------------------------------------- factors, and products
    for (genvar e = 0; e < R; e++) begin : g_element
      logic [W-1:0] factor;
      rm_modmul #(
        .W(W), .Kind(Kind), .Tile(Tile)
      ) i_factor (
        .clk_i,
        .a_i   (u_q[e]),
        .b_i   (v_word[e%VMakers]),
        .q_i   (v_q4),
        .aux_i (v_aux4),
        .r_o   (factor)
      );
      rm_modmul #(
        .W(W), .Kind(Kind), .Tile(Tile)
      ) i_product (
        .clk_i,
        .a_i   (row_i[l][e]),
        .b_i   (factor),
        .q_i   (v_q5),
        .aux_i (v_aux5),
        .r_o   (row_o[l][e])
      );
    end
  end

  logic unused;
  assign unused = ^{u_valid, u_row, v_row};

endmodule
