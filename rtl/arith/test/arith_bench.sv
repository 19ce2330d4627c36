// arith_bench - the arithmetic unit with its banks, for the C++ harness: fields of a command as ports, writes visible.
module arith_bench
  import rm_core_pkg::*;
#(
  parameter int unsigned W       = 54,
  parameter int unsigned Nbf     = 4,
  parameter int unsigned LogNMax = 10,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  localparam int unsigned Cols   = 2 * Nbf,
  localparam int unsigned RowW   = LogNMax - $clog2(Cols)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [LogNW-1:0]       log_n_i,
  input  logic                   cmd_valid_i,
  output logic                   cmd_ready_o,
  input  logic [3:0]             op_i,
  input  logic [3:0]             used_i,   // A, C, D bank, D memory
  input  logic                   s_used_i,
  input  logic [BankW-1:0]       a_bank_i,
  input  logic [BankW-1:0]       c_bank_i,
  input  logic [BankW-1:0]       d_bank_i,
  input  logic [ShiftW-1:0]      shift_i,
  input  logic                   permute_i,
  input  logic                   swap_i,
  input  logic [W-1:0]           k0_i,
  input  logic [W-1:0]           k1_i,
  input  logic [W-1:0]           q_i,
  input  logic [W+1:0]           aux_i,
  input  logic [W-1:0]           p_i,
  input  logic                   rd_row_valid_i,
  output logic                   rd_row_ready_o,
  input  logic [Cols-1:0][W-1:0] rd_row_data_i,
  output logic                   wr_row_valid_o,
  input  logic                   wr_row_ready_i,
  output logic [Cols-1:0][W-1:0] wr_row_data_o,
  output logic                   we_o,
  output logic [BankW-1:0]       wbank_o,
  output logic [RowW-1:0]        wrow_o,
  output logic [Cols-1:0][W-1:0] wdata_o,
  output logic [Banks-1:0]       pass_o,
  output logic [Banks-1:0]       free_read_o,
  output logic [Banks-1:0]       free_write_o,
  output logic                   idle_o,
  output logic                   stall_read_o,
  output logic                   stall_write_o,
  output logic                   chain_o,
  output logic [7:0]             depth_o,
  output logic [7:0]             factor_bits_o
);

  arith_cmd_t cmd;
  logic       a_re, c_re;
  logic [BankW-1:0] a_bank, c_bank;
  logic [RowW-1:0]  a_row, c_row;
  logic [Cols-1:0][W-1:0] a_data, c_data;

  assign depth_o       = 8'(i_dut.Depth);
  assign factor_bits_o = 8'(rm_modmul_pkg::factor_bits(Kind, W));

  assign cmd = '{
    op:        arith_op_e'(op_i),
    modulus:   '0,
    source:    '0,
    a_used:    used_i[0],
    a_bank:    a_bank_i,
    c_used:    used_i[1],
    c_bank:    c_bank_i,
    d_to_bank: used_i[2],
    d_bank:    d_bank_i,
    d_to_mem:  used_i[3],
    d_addr:    '0,
    s_used:    s_used_i,
    shift:     shift_i,
    permute:   permute_i,
    swap:      swap_i
  };

  rm_arith_unit #(
    .W      (W),
    .Nbf    (Nbf),
    .LogNMax(LogNMax),
    .Kind   (Kind),
    .Tile   (Tile)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .last_row_i(RowW'((32'd1 << (log_n_i - LogNW'($clog2(Cols)))) - 1)),
    .chain_o   (chain_o),
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i     (cmd),
    .k0_i,
    .k1_i,
    .q_i,
    .aux_i,
    .p_i,
    .a_re_o    (a_re),
    .a_bank_o  (a_bank),
    .a_row_o   (a_row),
    .c_re_o    (c_re),
    .c_bank_o  (c_bank),
    .c_row_o   (c_row),
    .a_data_i  (a_data),
    .c_data_i  (c_data),
    .we_o,
    .wbank_o,
    .wrow_o,
    .wdata_o,
    .rd_row_valid_i,
    .rd_row_ready_o,
    .rd_row_data_i,
    .wr_row_valid_o,
    .wr_row_ready_i,
    .wr_row_data_o,
    .pass_o,
    .free_read_o,
    .free_write_o,
    .issue_o   (),
    .idle_o,
    .stall_read_o,
    .stall_write_o
  );

  rm_bank_array #(
    .W      (W),
    .Nbf    (Nbf),
    .LogNMax(LogNMax)
  ) i_banks (
    .clk_i,
    .rst_ni,
    .a_re_i     (a_re),
    .a_bank_i   (a_bank),
    .a_row_i    (a_row),
    .a_data_o   (a_data),
    .c_re_i     (c_re),
    .c_bank_i   (c_bank),
    .c_row_i    (c_row),
    .c_data_o   (c_data),
    .we_i       (we_o),
    .wbank_i    (wbank_o),
    .wrow_i     (wrow_o),
    .wdata_i    (wdata_o),
    .ntt_re_i   ('0),
    .ntt_rbank_i('0),
    .ntt_rrow_i ('0),
    .ntt_rdata_o(),
    .ntt_we_i   ('0),
    .ntt_wbank_i('0),
    .ntt_wrow_i ('0),
    .ntt_wdata_i('0)
  );

endmodule
