// rm_bank_place - where a row of a limb stands: the bank itself, or one of a pair. Combinational.
//
// Pair         6 is banks 0 and 2, 7 is banks 1 and 3: rows of the first half of the limb in the bank of lane 0, rows of
//              the second half from row 0 on in the bank of lane 1, as rm_ntt_pair wants them.
module rm_bank_place
  import rm_core_pkg::*;
#(
  parameter int unsigned RowW = 11
) (
  input  logic [RowW-1:0]  last_row_i,  // rows of a limb - 1
  input  logic [BankW-1:0] bank_i,
  input  logic [RowW-1:0]  row_i,
  output logic [BankW-1:0] bank_o,
  output logic [RowW-1:0]  row_o
);

  logic [RowW-1:0] half;  // rows of half a limb - 1
  logic            pair, second;

  assign half   = last_row_i >> 1;
  assign pair   = bank_is_pair(bank_i);
  assign second = (row_i & ~half) != '0;
  assign bank_o = pair ? {1'b0, second, bank_i[0]} : bank_i;
  assign row_o  = pair ? row_i & half : row_i;

endmodule
