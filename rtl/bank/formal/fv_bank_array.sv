// fv_bank_array - no access waits and none is misdirected. While each bank has one user, as the scoreboard ensures,
//                 every row that is read in a cycle is, in the next, what was last written to that row of that bank.
//
// Method       words of one bit, few rows. One word is followed: bank, row and column are picked by the solver and
//              held. Any of the three units may read or write any of its banks in any cycle, all at once.
// Induction    what is known of the word stands in the memory.
//              BROKEN lets the arithmetic unit write a bank that a transform writes and must give a counterexample.
module fv_bank_array
  import rm_core_pkg::*;
#(
  parameter int unsigned Nbf   = 4,
  localparam int unsigned Cols = 2 * Nbf,
  localparam int unsigned ColW = $clog2(Cols),
  localparam int unsigned RowW = 2
) (
  input logic                  clk_i,
  input logic [BankW-1:0]      pick_bank_i,
  input logic [RowW-1:0]       pick_row_i,
  input logic [ColW-1:0]       pick_col_i,
  input logic                  a_re_i,
  input logic [BankW-1:0]      a_bank_i,
  input logic [RowW-1:0]       a_row_i,
  input logic                  c_re_i,
  input logic [BankW-1:0]      c_bank_i,
  input logic [RowW-1:0]       c_row_i,
  input logic                  we_i,
  input logic [BankW-1:0]      wbank_i,
  input logic [RowW-1:0]       wrow_i,
  input logic [Cols-1:0]       wdata_i,
  input logic [1:0]            ntt_re_i,
  input logic [1:0]            ntt_rbank_i,
  input logic [1:0][RowW-1:0]  ntt_rrow_i,
  input logic [1:0]            ntt_we_i,
  input logic [1:0]            ntt_wbank_i,
  input logic [1:0][RowW-1:0]  ntt_wrow_i,
  input logic [1:0][Cols-1:0]  ntt_wdata_i
);

  logic [Cols-1:0]      a_data, c_data;
  logic [1:0][Cols-1:0] ntt_rdata;

  rm_bank_array #(
    .W      (1),
    .Nbf    (Nbf),
    .LogNMax(RowW + ColW)
  ) i_dut (
    .clk_i,
    .rst_ni     (1'b1),
    .a_re_i,
    .a_bank_i,
    .a_row_i,
    .a_data_o   (a_data),
    .c_re_i,
    .c_bank_i,
    .c_row_i,
    .c_data_o   (c_data),
    .we_i,
    .wbank_i,
    .wrow_i,
    .wdata_i,
    .ntt_re_i,
    .ntt_rbank_i,
    .ntt_rrow_i,
    .ntt_rdata_o(ntt_rdata),
    .ntt_we_i,
    .ntt_wbank_i,
    .ntt_wrow_i,
    .ntt_wdata_i
  );

  // ---------------------------------------------------------------- one user a bank
  logic [1:0][BankW-1:0] ntt_from, ntt_to;
  logic [1:0]            both_read, both_write, under_read;  // a row is not read while it is written

  for (genvar i = 0; i < 2; i++) begin : g_lane
    assign ntt_from[i]   = {1'b0, 1'(i), ntt_rbank_i[i]};
    assign ntt_to[i]     = {1'b0, 1'(i), ntt_wbank_i[i]};
    assign both_read[i]  = ntt_re_i[i] && ((a_re_i && a_bank_i == ntt_from[i]) || (c_re_i && c_bank_i == ntt_from[i]));
    assign both_write[i] = ntt_we_i[i] && we_i && wbank_i == ntt_to[i];
    assign under_read[i] = (ntt_we_i[i] && ((ntt_re_i[i] && ntt_from[i] == ntt_to[i] && ntt_rrow_i[i] == ntt_wrow_i[i]) ||
                                            (a_re_i && a_bank_i == ntt_to[i] && a_row_i == ntt_wrow_i[i]) ||
                                            (c_re_i && c_bank_i == ntt_to[i] && c_row_i == ntt_wrow_i[i]))) ||
                           (we_i && ntt_re_i[i] && wbank_i == ntt_from[i] && wrow_i == ntt_rrow_i[i]);
  end

  logic under_operand;
  assign under_operand = we_i && ((a_re_i && a_bank_i == wbank_i && a_row_i == wrow_i) ||
                                  (c_re_i && c_bank_i == wbank_i && c_row_i == wrow_i));

  always_comb begin : p_users
    assume (a_bank_i < BankW'(Banks) && c_bank_i < BankW'(Banks) && wbank_i < BankW'(Banks));
    assume (both_read == '0);
`ifndef BROKEN
    assume (both_write == '0);
`endif
    assume (!(c_re_i && a_bank_i == c_bank_i) || a_row_i == c_row_i);
    assume (under_read == '0 && !under_operand);
  end

  // ---------------------------------------------------------------- the word that is followed
  logic             started_q, known_q, word_q;
  logic [BankW-1:0] bank_q, bank;
  logic [RowW-1:0]  row_q, row;
  logic [ColW-1:0]  col_q, col;
  logic [3:0]       asked_q;  // A, C, transforms: they read it in the cycle before

  assign bank = started_q ? bank_q : pick_bank_i;
  assign row  = started_q ? row_q : pick_row_i;
  assign col  = started_q ? col_q : pick_col_i;

  initial begin
    started_q = 1'b0;
    known_q   = 1'b0;
    asked_q   = '0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    bank_q    <= bank;
    row_q     <= row;
    col_q     <= col;
    if (we_i && wbank_i == bank && wrow_i == row) begin
      known_q <= 1'b1;
      word_q  <= wdata_i[col];
    end
    for (int unsigned i = 0; i < 2; i++) begin
      if (ntt_we_i[i] && ntt_to[i] == bank && ntt_wrow_i[i] == row) begin
        known_q <= 1'b1;
        word_q  <= ntt_wdata_i[i][col];
      end
    end
    // What is asked for now is compared in the next cycle with what is known now.
    asked_q <= {ntt_re_i[1] && ntt_from[1] == bank && ntt_rrow_i[1] == row,
                ntt_re_i[0] && ntt_from[0] == bank && ntt_rrow_i[0] == row,
                c_re_i && c_bank_i == bank && c_row_i == row,
                a_re_i && a_bank_i == bank && a_row_i == row} & {4{known_q}};
  end

  logic [Banks-1:0] stored;
  for (genvar b = 0; b < Banks; b++) begin : g_stored
    assign stored[b] = i_dut.g_bank[b].i_ram.mem[row_q][col_q];
  end

  // A read and a write of the followed row never meet, so the word is still the one of the read.
  always_comb begin : p_check
    if (started_q) begin
      a_stored: assert (!known_q || (bank_q < BankW'(Banks) && stored[bank_q] == word_q));
      a_operand_a: assert (!asked_q[0] || a_data[col_q] == word_q);
      a_operand_c: assert (!asked_q[1] || c_data[col_q] == word_q);
      a_lane_0: assert (!asked_q[2] || ntt_rdata[0][col_q] == word_q);
      a_lane_1: assert (!asked_q[3] || ntt_rdata[1][col_q] == word_q);
    end
  end

endmodule
