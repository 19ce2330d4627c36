// rm_nttu_exchange - exchanges bit S of the word's place in a row with bit LogD of the time.
//
// Method       rm_stream_swap, which exchanges the lowest bit of the place, between wires that bring bit S there and back: the
//              quadrant swap of a matrix transposition, one level of it.
// Latency      2^LogD cycles, a row a cycle.
module rm_nttu_exchange #(
  parameter int unsigned W     = 54,
  parameter int unsigned LogE  = 4,
  parameter int unsigned S     = 0,
  parameter int unsigned LogD  = 0,
  parameter int unsigned TimeW = 4,
  parameter int unsigned TagW  = 4,
  localparam int unsigned E    = 1 << LogE
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

  logic [E-1:0][W-1:0] in, out;
  for (genvar p = 0; p < E; p++) begin : g_wire
    // bits above S stay, S goes to the bottom, those below move up
    localparam int unsigned To = ((p >> (S + 1)) << (S + 1)) | ((p & ((1 << S) - 1)) << 1) | ((p >> S) & 1);
    assign in[To]   = row_i[p];
    assign row_o[p] = out[To];
  end

  rm_stream_swap #(
    .W     (W),
    .LogP  (LogE),
    .LogD  (LogD),
    .TimeW (TimeW),
    .ModW  (TagW)
  ) i_swap (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(TimeW)),
    .first_i,
    .mod_i   (tag_i),
    .row_i   (in),
    .first_o,
    .mod_o   (tag_o),
    .row_o   (out)
  );

endmodule
