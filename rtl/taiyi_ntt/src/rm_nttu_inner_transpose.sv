// rm_nttu_inner_transpose - within each lane, rows of a block become columns: element bit i and the row's digit bit i change places.
//
// Method       log R exchanges, of the quadrants of R x R words first, down to 2 x 2; a digit bit stands at rm_nttu_pkg::place.
// Latency      R - 1 cycles, a row a cycle.
module rm_nttu_inner_transpose #(
  parameter int unsigned W     = 54,
  parameter int unsigned LogN  = 8,
  parameter int unsigned LogL  = 1,
  parameter int unsigned LogR  = 2,
  parameter int unsigned TimeW = 4,
  parameter int unsigned TagW  = 4,
  localparam int unsigned E    = 1 << (LogL + LogR)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                first_i,
  input  logic [TagW-1:0]     tag_i,
  input  logic [E-1:0][W-1:0] row_i,
  output logic                first_o,
  output logic [TagW-1:0]     tag_o,
  output logic [E-1:0][W-1:0] row_o
);

  logic [LogR:0]               first;
  logic [LogR:0][TagW-1:0]     tag;
  logic [LogR:0][E-1:0][W-1:0] row;
  assign first[0] = first_i;
  assign tag[0]   = tag_i;
  assign row[0]   = row_i;
  assign first_o  = first[LogR];
  assign tag_o    = tag[LogR];
  assign row_o    = row[LogR];

  for (genvar n = 0; n < LogR; n++) begin : g_bit
    localparam int unsigned I = LogR - 1 - n;
    rm_nttu_exchange #(
      .W     (W),
      .LogE  (LogL + LogR),
      .S     (I),
      .LogD  (rm_nttu_pkg::place(I, LogN, LogR)),
      .TimeW (TimeW),
      .TagW  (TagW)
    ) i_exchange (
      .clk_i,
      .rst_ni,
      .first_i (first[n]),
      .tag_i   (tag[n]),
      .row_i   (row[n]),
      .first_o (first[n+1]),
      .tag_o   (tag[n+1]),
      .row_o   (row[n+1])
    );
  end

endmodule
