// rm_nttu_main_transpose - between the halves: elements change places with G, rows of a block with V. It undoes itself.
//
// Method       One exchange a bit. Of G and V, the bits at the top are the lane number, the others are time, so a bit's exchange is
//                element with time   rm_nttu_exchange, the buffer within a lane: half a limb at most
//                element with lane   wires
//                row with lane       rm_nttu_exchange between lanes
//                row with time       rm_nttu_reorder (fewer lanes than elements)
// Latency      rm_nttu_pkg::main_delay, a row a cycle.
module rm_nttu_main_transpose #(
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

  localparam int unsigned D     = rm_nttu_pkg::missing(LogN, LogR);
  localparam int unsigned Nodes = 2 * LogR - D;

  logic [Nodes:0]               first;
  logic [Nodes:0][TagW-1:0]     tag;
  logic [Nodes:0][E-1:0][W-1:0] row;
  assign first[0] = first_i;
  assign tag[0]   = tag_i;
  assign row[0]   = row_i;
  assign first_o  = first[Nodes];
  assign tag_o    = tag[Nodes];
  assign row_o    = row[Nodes];

  // Node x is bit x of {V, G}.
  for (genvar x = 0; x < Nodes; x++) begin : g_node
    localparam bit          OfG    = x < LogR - D;
    localparam int unsigned Upper  = rm_nttu_pkg::upper_bit(x, LogR);
    localparam bit          OnLane = Upper >= TimeW;
    localparam int unsigned Space  = OnLane ? LogR + Upper - TimeW : 0;     // of the lane bit
    // element bit, or row bit
    localparam int unsigned Inner  = OfG ? x + D : rm_nttu_pkg::place(x + D - LogR, LogN, LogR);

    if (OfG && OnLane) begin : g_wires
      for (genvar p = 0; p < E; p++) begin : g_wire
        localparam int unsigned Differ = ((p >> Inner) ^ (p >> Space)) & 1;
        assign row[x+1][p] = row[x][p^(Differ<<Inner)^(Differ<<Space)];
      end
      assign first[x+1] = first[x];
      assign tag[x+1]   = tag[x];
    end else if (OfG || OnLane) begin : g_exchange
      rm_nttu_exchange #(
        .W     (W),
        .LogE  (LogL + LogR),
        .S     (OfG ? Inner : Space),
        .LogD  (OfG ? Upper : Inner),
        .TimeW (TimeW),
        .TagW  (TagW)
      ) i_exchange (
        .clk_i,
        .rst_ni,
        .first_i (first[x]),
        .tag_i   (tag[x]),
        .row_i   (row[x]),
        .first_o (first[x+1]),
        .tag_o   (tag[x+1]),
        .row_o   (row[x+1])
      );
    end else begin : g_reorder
      rm_nttu_reorder #(
        .Width (E * W),
        .I     (Inner),
        .J     (Upper),
        .TimeW (TimeW),
        .TagW  (TagW)
      ) i_reorder (
        .clk_i,
        .rst_ni,
        .first_i (first[x]),
        .tag_i   (tag[x]),
        .row_i   (row[x]),
        .first_o (first[x+1]),
        .tag_o   (tag[x+1]),
        .row_o   (row[x+1])
      );
    end
  end

endmodule
