// rm_bank_array - the six banks and who reaches them: the arithmetic unit all six, transform unit i banks 2i and 2i + 1.
//
// Timing       address in one cycle, row in the next (rm_bank_ram). A unit's data output follows the bank that it
//              addressed in the cycle before.
// Rule         a bank has one user at a time (the scoreboard sees to it); the arithmetic unit may name one bank as A
//              and C with the same row, read or not: where it names the bank of C as A without reading it, the row is
//              that of C. So the address of a bank waits for no read enable of this unit. The assertions hold it.
module rm_bank_array
  import rm_core_pkg::*;
#(
  parameter int unsigned W       = 54,
  parameter int unsigned Nbf     = 4,
  parameter int unsigned LogNMax = 14,
  localparam int unsigned Cols   = 2 * Nbf,
  localparam int unsigned RowW   = LogNMax - $clog2(Cols)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // arithmetic unit
  input  logic                        a_re_i,
  input  logic [BankW-1:0]            a_bank_i,
  input  logic [RowW-1:0]             a_row_i,
  output logic [Cols-1:0][W-1:0]      a_data_o,
  input  logic                        c_re_i,
  input  logic [BankW-1:0]            c_bank_i,
  input  logic [RowW-1:0]             c_row_i,
  output logic [Cols-1:0][W-1:0]      c_data_o,
  input  logic                        we_i,
  input  logic [BankW-1:0]            wbank_i,
  input  logic [RowW-1:0]             wrow_i,
  input  logic [Cols-1:0][W-1:0]      wdata_i,
  // transform units
  input  logic [1:0]                  ntt_re_i,
  input  logic [1:0]                  ntt_rbank_i,
  input  logic [1:0][RowW-1:0]        ntt_rrow_i,
  output logic [1:0][Cols-1:0][W-1:0] ntt_rdata_o,
  input  logic [1:0]                  ntt_we_i,
  input  logic [1:0]                  ntt_wbank_i,
  input  logic [1:0][RowW-1:0]        ntt_wrow_i,
  input  logic [1:0][Cols-1:0][W-1:0] ntt_wdata_i
);

  logic [Banks-1:0][Cols*W-1:0] rdata;
  logic [Banks-1:0]             a_named, a_here, c_here, w_here, n_here, m_here;

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic [RowW-1:0]   raddr, waddr;
    logic [Cols*W-1:0] wdata;

    assign a_named[b] = a_bank_i == BankW'(b);
    assign a_here[b] = a_re_i && a_named[b];
    assign c_here[b] = c_re_i && c_bank_i == BankW'(b);
    assign w_here[b] = we_i && wbank_i == BankW'(b);

    if (b < NttBanks) begin : g_both
      assign n_here[b] = ntt_re_i[b/2] && ntt_rbank_i[b/2] == 1'(b % 2);
      assign m_here[b] = ntt_we_i[b/2] && ntt_wbank_i[b/2] == 1'(b % 2);
      assign raddr     = n_here[b] ? ntt_rrow_i[b/2] : a_named[b] ? a_row_i : c_row_i;
      assign waddr     = m_here[b] ? ntt_wrow_i[b/2] : wrow_i;
      assign wdata     = m_here[b] ? ntt_wdata_i[b/2] : wdata_i;
    end else begin : g_arith
      assign n_here[b] = 1'b0;
      assign m_here[b] = 1'b0;
      assign raddr     = a_named[b] ? a_row_i : c_row_i;
      assign waddr     = wrow_i;
      assign wdata     = wdata_i;
    end

    rm_bank_ram #(
      .Width(Cols * W),
      .Depth(1 << RowW),
      .Apart(1'b1)
    ) i_ram (
      .clk_i,
      .re_i   (a_here[b] || c_here[b] || n_here[b]),
      .raddr_i(raddr),
      .rdata_o(rdata[b]),
      .we_i   (w_here[b] || m_here[b]),
      .waddr_i(waddr),
      .wdata_i(wdata)
    );
  end

  // ---------------------------------------------------------------- data of the bank addressed before
  // A bit a bank: block memories answer late in the cycle, and little may stand behind them.
  logic [Banks-1:0] a_from_q, c_from_q;
  logic [1:0]       ntt_bank_q;

  always_ff @(posedge clk_i) begin : p_select
    for (int unsigned b = 0; b < Banks; b++) begin
      a_from_q[b] <= a_named[b];
      c_from_q[b] <= c_bank_i == BankW'(b);
    end
    ntt_bank_q <= ntt_rbank_i;
  end

  always_comb begin : p_data
    a_data_o = '0;
    c_data_o = '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      a_data_o |= a_from_q[b] ? rdata[b] : '0;
      c_data_o |= c_from_q[b] ? rdata[b] : '0;
    end
    ntt_rdata_o[0] = ntt_bank_q[0] ? rdata[1] : rdata[0];
    ntt_rdata_o[1] = ntt_bank_q[1] ? rdata[3] : rdata[2];
  end

`ifndef SYNTHESIS
  a_one_reader: assert property (@(posedge clk_i) disable iff (!rst_ni)
                                 (n_here & (a_here | c_here)) == '0 &&
                                 ((a_named & c_here) == '0 || a_row_i == c_row_i))
  else $error("rm_bank_array: two readers of one bank");
  a_one_writer: assert property (@(posedge clk_i) disable iff (!rst_ni) (w_here & m_here) == '0)
  else $error("rm_bank_array: two writers of one bank");
`else
  logic unused_rst;
  assign unused_rst = rst_ni;
`endif

endmodule
