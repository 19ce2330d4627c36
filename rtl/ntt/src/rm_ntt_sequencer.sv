// rm_ntt_sequencer - goes through the stages of a transform, one row a cycle.
//
// Forward stages 0, 1, ... log N - 1 have distances N/2, N/4, ... 1 words, the inverse goes backwards.
// Stage s is of type I (distance of d = ROWS >> (s+1) rows) while s < log ROWS, else of type II.
//
// Stages overlap: the next one starts in the very next cycle unless it would read a row that is still
// on its way. A row read at time t' of one stage and t of the next is safe if
//     t + ROWS + gap >= t' + L + 1,   L = RowLatency,
// and t' - t is at most D - 1, D the larger row distance of the two stages (1 in type II). Hence
//     gap = max(0, L + D - ROWS),
// which is not zero only where ROWS < 2 L.
//
// Ganged, two lanes hold half a limb each: ROWS halves, the stage of distance N/2 crosses lanes (cross_o, rows in
// order), all others are those of N/2 words. The same gaps hold, with D the distance of the neighbour of the crossing.
//
// Cycles       start_i in cycle c: rows are requested from c + 1 on; free_o from the cycle of the last
//              request on, so that another transform follows without a gap. A start needs free_o.
module rm_ntt_sequencer #(
  parameter int unsigned LogNMax    = 14,
  parameter int unsigned LogNMin    = 10,
  parameter int unsigned LogCols    = 3,   // log2(2 * Nbf)
  parameter int unsigned RowLatency = 20,
  parameter bit          Gang       = 1'b0,  // ganged transforms may come
  localparam int unsigned RowW      = LogNMax - LogCols
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic [3:0]      log_n_i,
  input  logic            start_i,
  input  logic            start_inverse_i,
  input  logic            start_bank_i,
  input  logic            start_slot_i,
  input  logic            start_gang_i,
  output logic            free_o,
  // the row requested in this cycle
  output logic            valid_o,
  output logic [RowW-1:0] row_o,
  output logic            second_o,   // second row of a pair in type I: swap half rows
  output logic            type2_o,    // distance below a row: route columns
  output logic            cross_o,    // ganged, distance N/2: exchange half rows with the other lane
  output logic            last_o,     // last row of the transform
  output logic            inverse_o,
  output logic            bank_o,
  output logic            slot_o,     // twiddle table
  output logic            gang_o,
  // for the twiddle address
  output logic [RowW-1:0] time_o,
  output logic [RowW-1:0] mask_o,     // ROWS - 1
  output logic [3:0]      log_dist_o  // log2 of the distance in words, log N - 1 - s
);

  // The longest gap is RowLatency + ROWS/2 - ROWS at the smallest N, if positive.
  localparam int unsigned RowsMin = 1 << (LogNMin - LogCols - 32'(Gang));
  localparam bit          HasGaps = RowLatency > RowsMin / 2;
  localparam int unsigned GapW    = $clog2(RowLatency + 1) + 1;

  if (LogNMin < LogCols + 2) begin : g_check_rows
    $error("rm_ntt_sequencer: the smallest N must have four rows");
  end
  if (LogNMax > 15 || LogNMin > LogNMax) begin : g_check_range
    $error("rm_ntt_sequencer: LogNMin <= LogNMax <= 15");
  end

  typedef enum logic [1:0] {StIdle, StRows, StGap} state_e;

  state_e            state_q, state_d;
  logic [RowW-1:0]   time_q, time_d;
  logic [RowW-1:0]   dist_q, dist_d;
  logic [3:0]        log_dist_q, log_dist_d;
  logic [GapW-1:0]   gap_q, gap_d;
  logic              inverse_q, bank_q, slot_q, gang_q;

  // ---------------------------------------------------------------- constants of the transform
  logic [3:0]      log_rows, top_q;        // log N - 1
  logic [RowW:0]   all_rows, rows;         // of the limb; of this lane
  logic [RowW-1:0] half_q, mask_q;         // half of its rows; all but one

  assign log_rows = log_n_i - 4'(LogCols);
  assign all_rows = (RowW + 1)'(1) << log_rows;
  assign rows     = (Gang && start_gang_i) ? all_rows >> 1 : all_rows;

  // ---------------------------------------------------------------- what comes after this stage
  logic            free_q, last_time_d, last_time_q, last_stage, type2, crosses, crosses_next;
  logic [3:0]      log_dist_next;
  logic [RowW-1:0] dist_next, dist_larger;
  logic [GapW-1:0] gap;

  assign type2        = log_dist_q < 4'(LogCols);
  assign crosses      = Gang && gang_q && log_dist_q == top_q;
  assign crosses_next = Gang && gang_q && log_dist_next == top_q;
  assign last_stage   = inverse_q ? (log_dist_q == top_q) : (log_dist_q == 4'd0);

  always_comb begin : p_next_stage
    if (inverse_q) begin
      // type II, or the step from type II to d = 1
      log_dist_next = log_dist_q + 4'd1;
      dist_next     = (type2 || crosses_next) ? RowW'(1) : dist_q << 1;
      dist_larger   = crosses_next ? dist_q : dist_next;
    end else begin
      log_dist_next = log_dist_q - 4'd1;
      dist_next     = crosses ? half_q : dist_q[0] ? RowW'(1) : dist_q >> 1;
      dist_larger   = crosses ? dist_next : dist_q;
    end
  end

  if (HasGaps) begin : g_gap
    logic [RowW+GapW:0] need;
    assign need = (RowW + GapW + 1)'(RowLatency) + (RowW + GapW + 1)'(dist_larger) -
                  (RowW + GapW + 1)'({half_q, 1'b0});
    assign gap  = need[RowW+GapW] ? '0 : need[GapW-1:0];
  end else begin : g_no_gap
    logic unused_dist;
    assign unused_dist = ^dist_larger;
    assign gap         = '0;
  end

  // ---------------------------------------------------------------- states
  // Idle, or in the last row of the last stage; known a cycle before, since the way to a start is long.
  // mask_q is all ones and at least 1: the row before the last differs in bit 0 alone, and is of the same stage.
  assign last_time_d = state_q == StRows && (time_q ^ mask_q) == RowW'(1);
  assign free_o      = free_q;

  always_comb begin : p_next
    state_d    = state_q;
    time_d     = time_q;
    dist_d     = dist_q;
    log_dist_d = log_dist_q;
    gap_d      = gap_q;
    case (state_q)
      StRows: begin
        time_d = time_q + 1'b1;
        if (last_time_q) begin
          time_d     = '0;
          dist_d     = dist_next;
          log_dist_d = log_dist_next;
          gap_d      = gap;
          if (last_stage) begin
            state_d = StIdle;
          end else if (gap != '0) begin
            state_d = StGap;
          end
        end
      end
      StGap: begin
        gap_d = gap_q - 1'b1;
        if (gap_q == GapW'(1)) begin
          state_d = StRows;
        end
      end
      default: ;
    endcase
    if (start_i) begin
      state_d    = StRows;
      time_d     = '0;
      dist_d     = (start_inverse_i || (Gang && start_gang_i)) ? RowW'(1) : all_rows[RowW:1];
      log_dist_d = start_inverse_i ? 4'd0 : log_n_i - 4'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      state_q     <= StIdle;
      last_time_q <= 1'b0;
      free_q      <= 1'b1;
    end else begin
      state_q     <= state_d;
      last_time_q <= last_time_d;
      free_q      <= !start_i && (free_q || (last_time_d && last_stage));
    end
  end

  always_ff @(posedge clk_i) begin : p_position
    time_q     <= time_d;
    dist_q     <= dist_d;
    log_dist_q <= log_dist_d;
    gap_q      <= gap_d;
    if (start_i) begin
      inverse_q <= start_inverse_i;
      bank_q    <= start_bank_i;
      slot_q    <= start_slot_i;
      gang_q    <= start_gang_i;
      top_q     <= log_n_i - 4'd1;
      half_q    <= rows[RowW:1];
      mask_q    <= RowW'(rows - 1'b1);
    end
  end

  rm_ntt_row_order #(
    .RowW (RowW)
  ) i_row_order (
    .dist_i (dist_q),
    .time_i (time_q),
    .row_o
  );

  assign valid_o    = state_q == StRows;
  assign second_o   = valid_o && !type2 && !crosses && time_q[0];
  assign cross_o    = valid_o && crosses;
  assign type2_o    = type2;
  assign last_o     = last_time_q && last_stage;
  assign inverse_o  = inverse_q;
  assign bank_o     = bank_q;
  assign slot_o     = slot_q;
  assign gang_o     = Gang && gang_q;
  assign time_o     = time_q;
  assign mask_o     = mask_q;
  assign log_dist_o = log_dist_q;

`ifndef SYNTHESIS
  a_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
                           free_q == (state_q == StIdle || (state_q == StRows && last_time_q && last_stage)));
  a_start_free: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i |-> free_o);
  a_log_n: assert property (@(posedge clk_i) disable iff (!rst_ni)
                            start_i |-> 32'(log_n_i) >= LogNMin && 32'(log_n_i) <= LogNMax);
`endif

endmodule
