// rm_nttu_reorder - exchanges bits I < J of the time: rows change places, words stay where they are in a row.
//
// Method       Of the rows whose bits differ, the later one of a pair goes straight through and the earlier one goes round once more:
//              a row is held back by 0, D or 2 D cycles, D = 2^J - 2^I, with D rows of memory.
// Latency      D cycles, a row a cycle.
module rm_nttu_reorder #(
  parameter int unsigned Width = 64,
  parameter int unsigned I     = 0,
  parameter int unsigned J     = 1,
  parameter int unsigned TimeW = 4,
  parameter int unsigned TagW  = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             first_i,
  input  logic [TagW-1:0]  tag_i,
  input  logic [Width-1:0] row_i,
  output logic             first_o,
  output logic [TagW-1:0]  tag_o,
  output logic [Width-1:0] row_o
);

  localparam int unsigned D = (1 << J) - (1 << I);

  rm_nttu_mark #(
    .Cycles (D),
    .Rows   (1 << TimeW),
    .TagW   (TagW)
  ) i_mark (
    .clk_i,
    .rst_ni,
    .first_i,
    .tag_i,
    .first_o,
    .tag_o
  );

  logic             valid, straight;
  logic [TimeW-1:0] row;
  logic [TagW-1:0]  unused_tag;
  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (TagW)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(TimeW)),
    .first_i (first_o),
    .mod_i   (tag_o),
    .valid_o (valid),
    .time_o  (row),
    .mod_o   (unused_tag)
  );
  // This row of the result is the one that comes in.
  assign straight = valid && row[I] && !row[J];

  logic [Width-1:0] held;
  rm_stream_delay #(
    .Width  (Width),
    .Cycles (D)
  ) i_delay (
    .clk_i,
    .rst_ni,
    .d_i (straight ? held : row_i),
    .d_o (held)
  );
  assign row_o = straight ? row_i : held;

  logic unused;
  assign unused = ^{row, unused_tag};

endmodule
