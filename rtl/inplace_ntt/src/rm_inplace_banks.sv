// rm_inplace_banks - a limb in 16 banks from which rows of any four neighbouring index bits are read and written, one each a cycle.
//
// Map          Word i is in bank (sum without carries of the hexadecimal digits of i), at address i >> 4. Four index bits that are
//              neighbours have four different remainders modulo 4, so they reach all four bits of the bank number:
//              a row whose words differ in just these has one word in each bank.
// Row          Lane bit c stands for the index bit of the window that is c modulo 4 (rm_inplace_pkg::pass_t).
// Latency      Read: asked for in cycle t, there in t + 2. Written in cycle t, a read that is asked for in t + 1 sees it.
module rm_inplace_banks #(
  parameter int unsigned W       = 54,
  parameter int unsigned LogNMax = 13
) (
  input  logic                         clk_i,
  input  logic                         re_i,
  input  logic [rm_inplace_pkg::RowW-1:0] rrow_i,
  input  logic [3:0]                   rwindow_i,
  output logic [15:0][W-1:0]           rdata_o,
  input  logic                         we_i,      // without reset
  input  logic [rm_inplace_pkg::RowW-1:0] wrow_i,
  input  logic [3:0]                   wwindow_i,
  input  logic [15:0][W-1:0]           wdata_i
);

  localparam int unsigned AddrW = LogNMax - 4;

  // Index of lane 0, and which of the upper bits vary in a row.
  logic [1:0][15:0]            index;
  logic [1:0][AddrW-1:0]       varies;
  logic [1:0][3:0]             fold;
  logic [1:0][rm_inplace_pkg::RowW-1:0] row;
  logic [1:0][3:0]             window;
  logic [1:0][15:0][AddrW-1:0] addr, addr_q;

  assign row    = {wrow_i, rrow_i};
  assign window = {wwindow_i, rwindow_i};

  for (genvar p = 0; p < 2; p++) begin : g_port
    for (genvar b = 0; b < 16; b++) begin : g_bit
      // Below the window, or in it. No window begins above bit 12.
      logic below;
      if (b < rm_inplace_pkg::RowW) begin : g_below
        assign below = 4'(b) < window[p];
      end else begin : g_above
        assign below = 1'b0;
      end
      if (b < 4) begin : g_low
        assign index[p][b] = below && row[p][b];
      end else begin : g_upper
        logic here;
        assign here = !below && 5'(b) < 5'(window[p]) + 5'd4;
        if (b < rm_inplace_pkg::RowW) begin : g_middle
          assign index[p][b] = below ? row[p][b] : !here && row[p][b-4];
        end else begin : g_high
          assign index[p][b] = !here && row[p][b-4];
        end
        if (b < LogNMax) begin : g_varies
          assign varies[p][b-4] = here;
        end
      end
    end
    assign fold[p] = index[p][3:0] ^ index[p][7:4] ^ index[p][11:8] ^ index[p][15:12];
    for (genvar k = 0; k < 16; k++) begin : g_bank
      for (genvar a = 0; a < AddrW; a++) begin : g_addr
        assign addr[p][k][a] = varies[p][a] ? ((((k >> (a % 4)) & 1) == 1) ^ fold[p][a%4]) : index[p][a+4];
      end
    end
  end

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
