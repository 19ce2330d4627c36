// fv_ntt_order - rows and twiddle factors of every stage, at the largest size.
//
// Rows         every row of the limb comes exactly once a stage (one to one, in range). In type I the two rows of a
//              pair follow each other and differ by the distance, so one row read and one row written a cycle serve
//              Nbf butterflies without a conflict. Blocks keep their place in time.
// Factors      butterfly j of the row requested at time t gets entry 2^s + i, i its block, mirrored in the
//              inverse. The words of the table are their own numbers, so what is selected can be read.
// Ganged       a lane holds half a limb: stage 0 crosses, rows in order and one twiddle for all; stage s is stage s - 1
//              of a transform of half the length, whose blocks in lane l come after l * 2^(s-1) others.
module fv_ntt_order #(
  parameter int unsigned LogNMax = 15,
  parameter int unsigned LogNbf  = 3,
  localparam int unsigned Nbf    = 1 << LogNbf,
  localparam int unsigned RowW   = LogNMax - LogNbf - 1,
  localparam int unsigned AddrW  = LogNMax - LogNbf,
  localparam int unsigned SelW   = (LogNbf > 0) ? LogNbf : 1
) (
  input logic            clk_i,
  input logic [3:0]      log_n_i,
  input logic [3:0]      stage_i,
  input logic            inverse_i,
  input logic            gang_i,
  input logic            lane_i,
  input logic [RowW-1:0] time_i,
  input logic [RowW-1:0] other_i,
  input logic [SelW-1:0] butterfly_i
);

  // ---------------------------------------------------------------- a stage of a transform, held still
  logic [3:0]      log_n_q, stage_q;
  logic            inverse_q, gang_q, lane_q;
  logic [RowW-1:0] time_q, other_q;
  logic [SelW-1:0] butterfly_q;
  logic [2:0]      cycle_q;

  initial cycle_q = '0;

  always_ff @(posedge clk_i) begin : p_hold
    cycle_q <= cycle_q + 3'(cycle_q != '1);
    if (cycle_q == '0) begin
      log_n_q     <= log_n_i;
      stage_q     <= stage_i;
      inverse_q   <= inverse_i;
      gang_q      <= gang_i;
      lane_q      <= lane_i;
      time_q      <= time_i;
      other_q     <= other_i;
      butterfly_q <= butterfly_i;
    end
  end

  logic [3:0]      log_rows, log_dist, stage;  // of what one lane holds
  logic            crossing;
  logic [RowW-1:0] mask, step, row, row_other, row_partner;
  logic            type1;

  assign log_rows = log_n_q - 4'(LogNbf + 1) - 4'(gang_q);
  assign stage    = stage_q - 4'(gang_q);
  assign crossing    = gang_q && stage_q == '0;
  assign log_dist = log_n_q - 4'd1 - stage_q;
  assign mask     = RowW'((32'd1 << log_rows) - 1);
  assign type1    = !crossing && stage < log_rows;
  assign step     = type1 ? RowW'(32'd1 << (log_rows - 4'd1 - stage)) : RowW'(1);

  rm_ntt_row_order #(.RowW(RowW)) i_row (.dist_i(step), .time_i(time_q), .row_o(row));
  rm_ntt_row_order #(.RowW(RowW)) i_other (.dist_i(step), .time_i(other_q), .row_o(row_other));
  rm_ntt_row_order #(.RowW(RowW)) i_partner (.dist_i(step), .time_i(time_q ^ RowW'(1)), .row_o(row_partner));

  // ---------------------------------------------------------- twiddle factors
  logic [AddrW-1:0]        addr;
  logic [SelW-1:0]         offset, fixed;
  logic                    mirror;
  logic [Nbf-1:0][SelW-1:0] words, chosen;

  rm_ntt_twiddle_map #(
    .LogNMax(LogNMax),
    .LogNbf (LogNbf)
  ) i_map (
    .clk_i,
    .time_i    (time_q),
    .mask_i    (mask),
    .log_dist_i(log_dist),
    .inverse_i (inverse_q),
    .gang_i    (gang_q),
    .lane_i    (lane_q),
    .addr_o    (addr),
    .offset_o  (offset),
    .fixed_o   (fixed),
    .mirror_o  (mirror)
  );

  for (genvar j = 0; j < Nbf; j++) begin : g_word
    assign words[j] = SelW'(j);
  end

  rm_ntt_twiddle_select #(
    .W     (SelW),
    .LogNbf(LogNbf)
  ) i_select (
    .row_i    (words),
    .offset_i (offset),
    .fixed_i  (fixed),
    .mirror_i (mirror),
    .twiddle_o(chosen)
  );

  // ---------------------------------------------------------------- what the definition says
  logic [31:0] entry, block, group, groups, skipped;

  assign groups  = type1 ? 32'd1 : 32'd1 << (stage - log_rows);
  assign group   = 32'(butterfly_q) & (groups - 1);
  // type I: blocks of 2 d rows; type II: `groups` blocks a row
  assign skipped = (gang_q && lane_q) ? 32'd1 << stage : 32'd0;
  assign block   = crossing ? 32'd0 : skipped + (type1 ? 32'(row) >> (log_rows - stage) : 32'(row) * groups + group);
  assign entry   = (32'd1 << stage_q) + (inverse_q ? (32'd1 << stage_q) - 1 - block : block);

  always_comb begin : p_check
    assume (32'(log_n_i) >= LogNbf + 2 + 32'(gang_i) && 32'(log_n_i) <= LogNMax && stage_i < log_n_i);
    if (cycle_q != '0) begin
      assume ((time_q & ~mask) == '0 && (other_q & ~mask) == '0);
      a_range: assert ((row & ~mask) == '0);
      a_once: assert (time_q == other_q || row != row_other);
      a_pair: assert (!type1 || row_partner == (row ^ step));
      a_block: assert (!type1 || (row >> (log_rows - stage)) == (time_q >> (log_rows - stage)));
      a_in_order: assert (type1 || row == time_q);
    end
    // the stage is held still: after four cycles address and selection both belong to it
    if (cycle_q >= 3'd5) begin
`ifdef BROKEN
      a_twiddle: assert ((32'(addr) << LogNbf) + 32'(chosen[butterfly_q]) == entry + 32'(inverse_q));
`else
      a_twiddle: assert ((32'(addr) << LogNbf) +
                         ((LogNbf > 0) ? 32'(chosen[butterfly_q & SelW'(Nbf - 1)]) : 0) == entry);
`endif
      a_table: assert (32'(addr) < (32'd1 << (log_n_q - 4'(LogNbf))));
    end
  end

endmodule
