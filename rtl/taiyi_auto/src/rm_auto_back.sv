// rm_auto_back - the way back through rm_galois_columns: data_o[h'] = data_i[h] where there column h comes from column h'.
//
// Method       Each layer there exchanges pairs, both words of a pair by the same bit, so it undoes itself: the same layers in
//              the opposite order. Used for addresses, which a lane makes for words that come from another one.
// Timing       combinational.
module rm_auto_back #(
  parameter int unsigned W    = 4,
  parameter int unsigned Cols = 4,
  localparam int unsigned ColW = $clog2(Cols)
) (
  input  logic [Cols-2:0]        swap_i,
  input  logic [Cols-1:0][W-1:0] data_i,
  output logic [Cols-1:0][W-1:0] data_o
);

  logic [ColW:0][Cols-1:0][W-1:0] layer;

  assign layer[ColW] = data_i;
  for (genvar i = 0; i < ColW; i++) begin : g_layer
    for (genvar h = 0; h < Cols; h++) begin : g_column
      localparam int unsigned X = high(h, i);
      assign layer[i][h] = swap_i[(1<<i)+X-1] ? layer[i+1][h^(1<<(ColW-1-i))] : layer[i+1][h];
    end
  end
  assign data_o = layer[0];

  // The `bits` highest bits of h, reversed; for constants only.
  function automatic int unsigned high(int unsigned h, int unsigned bits);
    high = 0;
    for (int unsigned b = 0; b < bits; b++) begin
      high |= ((h >> (ColW - 1 - b)) & 1) << b;
    end
  endfunction

endmodule
