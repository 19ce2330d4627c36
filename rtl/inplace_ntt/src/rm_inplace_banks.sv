// rm_inplace_banks - a limb in 16 banks from which rows of any four neighbouring index bits are read and written, one each a cycle.
//
// Map          rm_inplace_map: a row of any window has one word in each bank.
// Row          Lane bit c stands for the index bit of the window that is c modulo 4 (rm_inplace_pkg::pass_t).
// Latency      Read: asked for in cycle t, there in t + 2. Written in cycle t, a read that is asked for in t + 1 sees it.
module rm_inplace_banks #(
  parameter int unsigned W       = 54,
  parameter int unsigned LogNMax = 13
) (
  input  logic                            clk_i,
  input  logic                            re_i,
  input  logic [rm_inplace_pkg::RowW-1:0] rrow_i,
  input  logic [3:0]                      rwindow_i,
  output logic [15:0][W-1:0]              rdata_o,
  input  logic                            we_i,      // without reset
  input  logic [rm_inplace_pkg::RowW-1:0] wrow_i,
  input  logic [3:0]                      wwindow_i,
  input  logic [15:0][W-1:0]              wdata_i
);

  localparam int unsigned AddrW = LogNMax - 4;

  logic [1:0][3:0]             fold;
  logic [1:0][15:0][AddrW-1:0] addr, addr_q;

  rm_inplace_map #(.LogNMax(LogNMax)) i_read_map (
    .row_i    (rrow_i),
    .window_i (rwindow_i),
    .fold_o   (fold[0]),
    .addr_o   (addr[0])
  );
  rm_inplace_map #(.LogNMax(LogNMax)) i_write_map (
    .row_i    (wrow_i),
    .window_i (wwindow_i),
    .fold_o   (fold[1]),
    .addr_o   (addr[1])
  );

  logic                     re_q, we_q;
  logic [3:0]               rfold_q, rfold_q2;
  logic [15:0][W-1:0]       stored, into, into_q;

  rm_inplace_route #(.W(W)) i_write (
    .x_i   (fold[1]),
    .row_i (wdata_i),
    .row_o (into)
  );
  rm_inplace_route #(.W(W)) i_read (
    .x_i   (rfold_q2),
    .row_i (stored),
    .row_o (rdata_o)
  );

  always_ff @(posedge clk_i) begin : p_stage
    re_q     <= re_i;
    we_q     <= we_i;
    addr_q   <= addr;
    into_q   <= into;
    rfold_q  <= fold[0];
    rfold_q2 <= rfold_q;
  end

  for (genvar k = 0; k < 16; k++) begin : g_ram
    rm_bank_ram #(
      .Width (W),
      .Depth (1 << AddrW)
    ) i_ram (
      .clk_i,
      .re_i    (re_q),
      .raddr_i (addr_q[0][k]),
      .rdata_o (stored[k]),
      .we_i    (we_q),
      .waddr_i (addr_q[1][k]),
      .wdata_i (into_q[k])
    );
  end

endmodule
