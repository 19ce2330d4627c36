// rm_inplace_map - where the words of a row are in 16 banks. Combinational.
//
// Map          Word i is in bank (sum without carries of the hexadecimal digits of i), at address i >> 4. Four neighbouring bits
//              of i have four different remainders modulo 4, so they reach all four bits of the bank number: a row whose
//              words differ in just these has one word in each bank.
// Row          The bits of i outside of the window, in order. Lane bit c stands for the window's bit that is c modulo 4, so
//              lane l is in bank l xor fold_o.
module rm_inplace_map #(
  parameter int unsigned LogNMax = 13,
  localparam int unsigned AddrW  = LogNMax - 4
) (
  input  logic [rm_inplace_pkg::RowW-1:0] row_i,
  input  logic [3:0]                      window_i,  // at most LogNMax - 4
  output logic [3:0]                      fold_o,
  output logic [15:0][AddrW-1:0]          addr_o     // of each bank
);

  // Index of lane 0, and which of its upper bits vary in a row.
  logic [15:0]      index;
  logic [AddrW-1:0] varies;

  for (genvar b = 0; b < 16; b++) begin : g_bit
    // Below the window, or in it. No window begins above bit 12.
    logic below;
    if (b < rm_inplace_pkg::RowW) begin : g_below
      assign below = 4'(b) < window_i;
    end else begin : g_above
      assign below = 1'b0;
    end
    if (b < 4) begin : g_low
      assign index[b] = below && row_i[b];
    end else begin : g_upper
      logic here;
      assign here = !below && 5'(b) < 5'(window_i) + 5'd4;
      if (b < rm_inplace_pkg::RowW) begin : g_middle
        assign index[b] = below ? row_i[b] : !here && row_i[b-4];
      end else begin : g_high
        assign index[b] = !here && row_i[b-4];
      end
      if (b < LogNMax) begin : g_varies
        assign varies[b-4] = here;
      end
    end
  end

  assign fold_o = index[3:0] ^ index[7:4] ^ index[11:8] ^ index[15:12];

  for (genvar k = 0; k < 16; k++) begin : g_bank
    for (genvar a = 0; a < AddrW; a++) begin : g_addr
      assign addr_o[k][a] = varies[a] ? ((((k >> (a % 4)) & 1) == 1) ^ fold_o[a%4]) : index[a+4];
    end
  end

endmodule
