// rm_nttu_inner_twist - the product between the two short transforms of a half: every lane has the same factors.
//
// Equation     word (e, t) times psi^(z N/R^2), r = log2 R, t the row of the block, t' = t with its digit put right (rm_nttu_pkg::place):
//                Half 0  forward  z = t' (2 brv(e) + 1)              inverse  z = -2^(1+d) e k21
//                Half 1  forward  z = 2^(1+d) t' k21                 inverse  z = -e (2 brv(t') + 1)
//              k21 = brv of the r - d bits of t (Half 0) or of e >> d (Half 1).
// Method       R makers of powers, one an element of a lane, each with one multiplier; lanes share them. z has two digits and a sign.
// Timing       first_i is the mark M + 2 cycles before that of row_i; out M cycles after row_i. A row a cycle.
module rm_nttu_inner_twist #(
  parameter int unsigned W     = 54,
  parameter int unsigned Kind  = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile  = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods  = 8,
  parameter int unsigned LogN  = 8,
  parameter int unsigned LogL  = 1,
  parameter int unsigned LogR  = 2,
  parameter bit          Half  = 1'b0,
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

  localparam int unsigned M = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned D = rm_nttu_pkg::missing(LogN, LogR);
  localparam int unsigned ZW = 2 * LogR + 1;

  logic                     unused_valid, inverse;
  logic [TimeW-1:0]         row;
  logic [W-1:0]             q_1, q_2, q_late;
  logic [W+1:0]             aux_1, aux_2, aux_late;
  logic [1:0][R-1:0][W-1:0] tables;

  rm_nttu_front #(
    .W      (W),
    .Mods   (Mods),
    .LogR   (LogR),
    .Digits (2),
    .TimeW  (TimeW)
  ) i_front (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_field_i,
    .cfg_mod_i,
    .cfg_data_i,
    .first_i,
    .tag_i,
    .valid_o   (unused_valid),
    .row_o     (row),
    .inverse_o (inverse),
    .q_o       (q_1),
    .aux_o     (aux_1),
    .table_o   (tables)
  );
  always_ff @(posedge clk_i) begin : p_late
    q_2   <= q_1;
    aux_2 <= aux_1;
  end
  rm_delay_line #(
    .Width  (2 * W + 2),
    .Cycles (M)
  ) i_late (
    .clk_i,
    .data_i ({q_2, aux_2}),
    .data_o ({q_late, aux_late})
  );

  // ------------------------------------------------- digits of the row
  logic [LogR-1:0] digit, digit_brv, third;   // t', brv(t'), k21 of t
  for (genvar i = 0; i < LogR; i++) begin : g_digit
    assign digit[i]              = row[rm_nttu_pkg::place(i, LogN, LogR)];
    assign digit_brv[LogR-1-i]   = row[rm_nttu_pkg::place(i, LogN, LogR)];
    if (i < LogR - D) begin : g_third
      assign third[i] = row[LogR-D-1-i];
    end else begin : g_missing
      assign third[i] = 1'b0;
    end
  end

  // ------------------------------------------------- factors, and products
  for (genvar e = 0; e < R; e++) begin : g_element
    localparam logic [ZW-1:0] Number = ZW'(e);
    localparam logic [ZW-1:0] Odd    = ZW'(2 * rev(e, LogR) + 1);
    localparam logic [ZW-1:0] Third  = ZW'(rev(e >> D, LogR - D));
    logic [ZW-1:0]   z, z_q;
    logic [W-1:0]    factor;

    if (!Half) begin : g_first
      assign z = inverse ? -((ZW'(third) * Number) << (1 + D)) : ZW'(digit) * Odd;
      logic unused_brv;
      assign unused_brv = ^digit_brv;
    end else begin : g_second
      assign z = inverse ? -(ZW'({digit_brv, 1'b1}) * Number) : (ZW'(digit) * Third) << (1 + D);
      logic unused_third;
      assign unused_third = ^third;
    end
    always_ff @(posedge clk_i) begin : p_exponent
      z_q <= z;
    end

    rm_nttu_power #(
      .W      (W),
      .Kind   (Kind),
      .Tile   (Tile),
      .LogR   (LogR),
      .Digits (2)
    ) i_power (
      .clk_i,
      .negative_i (z_q[ZW-1]),
      .digit_i    (z_q[ZW-2:0]),
      .table_i    (tables),
      .q_0_i      (q_1),
      .q_1_i      (q_2),
      .aux_1_i    (aux_2),
      .q_2_i      ('0),
      .aux_2_i    ('0),
      .r_o        (factor)
    );

    for (genvar l = 0; l < L; l++) begin : g_lane
      rm_modmul #(
        .W    (W),
        .Kind (Kind),
        .Tile (Tile)
      ) i_product (
        .clk_i,
        .a_i   (row_i[l][e]),
        .b_i   (factor),
        .q_i   (q_late),
        .aux_i (aux_late),
        .r_o   (row_o[l][e])
      );
    end
  end

  // The lowest `bits` bits of e, reversed; for constants only.
  function automatic int unsigned rev(int unsigned e, int unsigned bits);
    rev = 0;
    for (int unsigned b = 0; b < bits; b++) begin
      rev |= ((e >> b) & 1) << (bits - 1 - b);
    end
  endfunction

  logic unused_row;
  assign unused_row = ^{row, unused_valid};

endmodule
