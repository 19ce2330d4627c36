// fv_ntt_hazard - no row is read while it is on its way, and every stage finds the rows of the one before.
//
// Method       the pipeline between read and write request is a delay of RowLatency cycles. Each row of both
//              banks has a mark (on its way) and a count (stages done). Size, directions and banks are free.
//              Every start comes as early as it may: a bank waits for its own transform alone, and what the
//              other bank does moves no row of it, so later starts are the same runs, shifted.
// Follower     two cycles after the unit lets others pass, OffPass cycles behind the last read, something goes through
//              the rows in order and writes RowLatency - 3 cycles later (rm_arith_unit). It finds every row written, and
//              its own writes come after all of the transform. Rows >= 2 * (RowLatency - 2), as rm_arith_unit asks.
module fv_ntt_hazard #(
  parameter int unsigned LogNMax    = 5,
  parameter int unsigned LogNMin    = 3,
  parameter int unsigned LogCols    = 1,
  parameter int unsigned RowLatency = 7,
  parameter bit          Gang       = 1'b0,  // a transform may also be half a ganged one
  parameter int          OffPass    = rm_ntt_pkg::OffPass,
  localparam int unsigned RowW      = LogNMax - LogCols,
  localparam int unsigned Rows      = 1 << RowW
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [3:0] log_n_i,
  input logic       inverse_i,
  input logic       gang_i,
  input logic       bank_i
);

  logic            free, start, valid, last, bank, inverse;
  logic [RowW-1:0] row, mask;
  logic [3:0]      log_n_q, log_dist;
  logic [1:0]      active_q;  // a transform runs or drains on the bank
  logic            started_q;

  assign start = rst_ni && started_q && free && !active_q[bank_i];

  rm_ntt_sequencer #(
    .LogNMax   (LogNMax),
    .LogNMin   (LogNMin),
    .LogCols   (LogCols),
`ifdef BROKEN
    .RowLatency(RowLatency - 1),  // gaps one cycle too short must be caught
`else
    .RowLatency(RowLatency),
`endif
    .Gang      (Gang)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_n_i        (log_n_q),
    .start_i        (start),
    .start_inverse_i(inverse_i),
    .start_bank_i   (bank_i),
    .start_slot_i   (1'b0),
    .start_gang_i   (Gang && gang_i),
    .free_o         (free),
    .valid_o        (valid),
    .row_o          (row),
    .second_o       (),
    .type2_o        (),
    .cross_o        (),
    .last_o         (last),
    .inverse_o      (inverse),
    .bank_o         (bank),
    .slot_o         (),
    .gang_o         (),
    .time_o         (),
    .mask_o         (mask),
    .log_dist_o     (log_dist)
  );

  // ---------------------------------------------------------------- the pipeline
  logic [RowLatency:1]           valid_q, last_q, bank_q;
  logic [RowLatency:1][RowW-1:0] row_q;
  logic                          write, wbank;
  logic [RowW-1:0]               wrow;

  assign write = valid_q[RowLatency];
  assign wbank = bank_q[RowLatency];
  assign wrow  = row_q[RowLatency];

  // ---------------------------------------------------------------- the rows
  logic [1:0][Rows-1:0]      flying_q;
  logic [1:0][Rows-1:0][3:0] stages_q;
  logic [3:0]                stage;
  logic [7:0]                behind_q;  // cycles since the last read of a transform that drains; all ones if none does
  logic                      behind_bank_q;

  logic [31:0] all_rows;  // of a limb, of which a lane has half when ganged
  assign all_rows = 32'd1 << (log_n_q - 4'(LogCols));

  assign stage = inverse ? log_dist : log_n_q - 4'd1 - log_dist;

  initial started_q = 1'b0;

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!started_q) begin
      log_n_q <= log_n_i;
    end
    if (!rst_ni) begin
      valid_q  <= '0;
      flying_q <= '0;
      active_q <= '0;
      behind_q <= '1;
    end else begin
      if (write && last_q[RowLatency] && wbank == behind_bank_q) begin
        behind_q <= '1;
      end else if (behind_q != '1) begin
        behind_q <= behind_q + 8'd1;
      end
      if (valid && last) begin
        behind_q      <= 8'd1;
        behind_bank_q <= bank;
      end
      valid_q <= {valid_q[RowLatency-1:1], valid};
      if (valid) begin
        flying_q[bank][row] <= 1'b1;
      end
      if (write) begin
        flying_q[wbank][wrow] <= 1'b0;
        stages_q[wbank][wrow] <= stages_q[wbank][wrow] + 4'd1;
        if (last_q[RowLatency]) active_q[wbank] <= 1'b0;
      end
      if (start) begin
        active_q[bank_i] <= 1'b1;
        stages_q[bank_i] <= '0;
      end
    end
    last_q <= {last_q[RowLatency-1:1], last};
    bank_q <= {bank_q[RowLatency-1:1], bank};
    row_q  <= {row_q[RowLatency-1:1], row};
  end

  always_comb begin : p_check
    assume (32'(log_n_i) >= LogNMin && 32'(log_n_i) <= LogNMax);
    assume (rst_ni == started_q);
    if (rst_ni && started_q && valid) begin
      a_range: assert ((row & ~mask) == '0);
      a_written: assert (!flying_q[bank][row]);
      a_stage: assert (stages_q[bank][row] == stage);
    end
    if (rst_ni && started_q && all_rows >= 2 * (32'(RowLatency) - 2) && behind_q != '1) begin
      if (32'(behind_q) >= 32'(OffPass + 2) && 32'(behind_q) < 32'(OffPass + 2 + Rows)) begin
        a_follower: assert (!flying_q[behind_bank_q][RowW'(32'(behind_q) - 32'(OffPass + 2))]);
      end
      if (32'(behind_q) >= 32'(OffPass + RowLatency - 1)) begin
        a_follower_writes: assert (!write || wbank != behind_bank_q);
      end
    end
    if (rst_ni && started_q && write && last_q[RowLatency]) begin
      // the end of a transform: nothing of it is left on its way but this row
      a_complete: assert ((flying_q[wbank] & ~(Rows'(1) << wrow)) == '0);
      a_every_stage: assert (stages_q[wbank][0] + 4'(wrow == '0) == log_n_q);
    end
  end

endmodule
