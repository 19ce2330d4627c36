// rm_array_credits - rows that the consumer of a pipeline still has space for, counted where rows are issued.
//
// A pipeline that never stops may only be given what its results find space for. The consumer has Rows rows at reset. A row
// that is issued takes `take_i` of them, and give_i says that the consumer has one more again.
// Equation     ok_o = want_i <= Rows - taken + given. take_i must be 0 or a want_i that was ok_o in this cycle.
// wrong_o      a row was given that was not taken: from then on until reset; it is not counted.
module rm_array_credits #(
  parameter int unsigned Rows = 32,
  parameter int unsigned Most = 1,               // rows that one issue takes at most
  localparam int unsigned RowW  = $clog2(Rows + 1),
  localparam int unsigned WantW = $clog2(Most + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [WantW-1:0] want_i,
  output logic             ok_o,
  input  logic [WantW-1:0] take_i,
  input  logic             give_i,
  output logic             wrong_o
);

  if (Rows < Most) begin : g_check
    $error("rm_array_credits: Rows must be at least Most, or an issue waits for ever");
  end

  logic [RowW-1:0] left_q, left_d;
  logic            full, wrong_q;

  assign full    = left_q == RowW'(Rows);
  assign ok_o    = RowW'(want_i) <= left_q;
  assign left_d  = left_q - RowW'(take_i) + RowW'(give_i && !full);
  assign wrong_o = wrong_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_left
    if (!rst_ni) begin
      left_q  <= RowW'(Rows);
      wrong_q <= 1'b0;
    end else begin
      left_q  <= left_d;
      wrong_q <= wrong_q || (give_i && full);
    end
  end

endmodule
