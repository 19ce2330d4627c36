// rm_nttu_front - what a maker of factors knows of each row: its number, direction, modulus and tables of powers.
//
// Timing       row_o and inverse_o stand beside the row of first_i; q, aux and the tables a cycle later.
module rm_nttu_front #(
  parameter int unsigned W      = 54,
  parameter int unsigned Mods   = 8,
  parameter int unsigned LogR   = 2,
  parameter int unsigned Digits = 2,   // the highest ones
  parameter int unsigned TimeW  = 4,
  localparam int unsigned R     = 1 << LogR,
  localparam int unsigned ModW  = $clog2(Mods)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            cfg_we_i,
  input  logic [6:0]                      cfg_field_i,
  input  logic [ModW-1:0]                 cfg_mod_i,
  input  logic [W+1:0]                    cfg_data_i,
  input  logic                            first_i,
  input  logic [ModW:0]                   tag_i,
  output logic                            valid_o,
  output logic [TimeW-1:0]                row_o,
  output logic                            inverse_o,
  output logic [W-1:0]                    q_o,
  output logic [W+1:0]                    aux_o,
  output logic [Digits-1:0][R-1:0][W-1:0] table_o
);

  localparam int unsigned First = rm_nttu_pkg::FieldPower + (4 - Digits) * R;

  logic [ModW:0] tag;
  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (ModW + 1)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(TimeW)),
    .first_i,
    .mod_i   (tag_i),
    .valid_o,
    .time_o  (row_o),
    .mod_o   (tag)
  );
  assign inverse_o = tag[ModW];

  rm_stream_moduli #(
    .W    (W),
    .Mods (Mods)
  ) i_moduli (
    .clk_i,
    .cfg_we_i  (cfg_we_i && cfg_field_i < 7'(rm_nttu_pkg::FieldPower)),
    .cfg_aux_i (cfg_field_i == 7'(rm_nttu_pkg::FieldAux)),
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i (tag[ModW-1:0]),
    .q_o,
    .aux_o
  );

  rm_stream_constants #(
    .W     (W),
    .Mods  (Mods),
    .Words (Digits * R)
  ) i_tables (
    .clk_i,
    .we_i    (cfg_we_i && cfg_field_i >= 7'(First)),
    .index_i (cfg_field_i - 7'(First)),
    .wmod_i  (cfg_mod_i),
    .data_i  (cfg_data_i[W-1:0]),
    .mod_i   (tag[ModW-1:0]),
    .words_o (table_o)
  );

endmodule
