// rm_core_trace - reports to the simulator's library what the units do: dispatches, rows that leave the arithmetic unit,
//              rows that a transform writes, and ends of transforms. Bound to rm_core_engine; not hardware.
//
// Order        arithmetic instructions end in program order, and so do the transforms of one lane; with the order of
//              dispatch the library knows which instruction an end belongs to.
module rm_core_trace
  import rm_core_pkg::*;
#(
  parameter int unsigned W    = 54,
  parameter int unsigned Cols = 8,
  parameter int unsigned RowW = 10
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic                        start_i,
  input logic                        arith_put_i,
  input logic [1:0]                  ntt_put_i,
  input logic                        roots_i,          // the command makes twiddle factors only
  input logic                        gang_i,           // the command is one transform for both lanes
  input logic                        row_valid_i,
  input logic                        row_last_i,
  input logic                        row_to_bank_i,
  input logic [BankW-1:0]            row_bank_i,
  input logic [RowW-1:0]             row_i,
  input logic [Cols-1:0][W-1:0]      row_data_i,
  input logic [1:0]                  ntt_we_i,
  input logic [1:0]                  ntt_bank_i,
  input logic [1:0][RowW-1:0]        ntt_row_i,
  input logic [1:0][Cols-1:0][W-1:0] ntt_data_i,
  input logic [1:0]                  ntt_done_i,
  input logic [1:0]                  ntt_done_bank_i
);

  // unit: 0, 1 the transforms, 2 the arithmetic unit, 3 what has no result, 4 both transforms together
  import "DPI-C" function void rm_trace_start();
  import "DPI-C" function void rm_trace_put(input int unit);
  import "DPI-C" function void rm_trace_row(input int unit, input int bank, input int row, input int last,
                                            input bit [Cols*W-1:0] data);
  import "DPI-C" function void rm_trace_done(input int lane, input int bank);

  always_ff @(posedge clk_i) begin : p_report
    if (rst_ni) begin
      if (start_i) rm_trace_start();
      if (arith_put_i) rm_trace_put(2);
      // bank -1: the result went to memory alone
      if (row_valid_i) rm_trace_row(2, row_to_bank_i ? 32'(row_bank_i) : -1, 32'(row_i), 32'(row_last_i), row_data_i);
      if (ntt_put_i != '0) rm_trace_put(roots_i ? 3 : gang_i ? 4 : ntt_put_i[0] ? 0 : 1);
      for (int i = 0; i < 2; i++) begin
        if (ntt_we_i[i]) rm_trace_row(i, 2 * i + 32'(ntt_bank_i[i]), 32'(ntt_row_i[i]), 0, ntt_data_i[i]);
        if (ntt_done_i[i]) rm_trace_done(i, 2 * i + 32'(ntt_done_bank_i[i]));
      end
    end
  end

endmodule

bind rm_core_engine rm_core_trace #(
  .W   (W),
  .Cols(Cols),
  .RowW(RowW)
) i_trace (
  .clk_i,
  .rst_ni,
  .start_i        (start),
  .arith_put_i    (aq_push),
  .ntt_put_i      (ntt_push),
  .roots_i        (new_roots),
  .gang_i         (new_gang),
  .row_valid_i    (i_arith.i_control.leave.valid),
  .row_last_i     (i_arith.i_control.leave.last),
  .row_to_bank_i  (we),
  .row_bank_i     (wbank),
  .row_i          (wrow),
  .row_data_i     (wdata),
  .ntt_we_i       (ntt_we),
  .ntt_bank_i     (ntt_wbank),
  .ntt_row_i      (ntt_wrow),
  .ntt_data_i     (ntt_wdata),
  .ntt_done_i     (ntt_done),
  .ntt_done_bank_i(ntt_done_bank)
);
