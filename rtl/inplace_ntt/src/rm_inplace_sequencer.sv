// rm_inplace_sequencer - which row of which pass comes next.
//
// Passes       ceil(log N / 4). Level k has the window at bit 4k, the highest at log N - 4. Forward transforms go from the highest
//              level down, inverse ones up.
// Waits        Row r of a pass needs the rows up to (r | (2^v - 1)) of the pass before, v the higher window of the two. So it
//              begins 2^v - 1 + row_latency cycles after that at the earliest: only beside the highest level, whose 2^v are all
//              rows, and where rows are few, is that later than the end of the pass before.
// Handshake    valid/ready. Ready in the last row of a transform, and when idle; for the other direction `turn` cycles after
//              the last row. Ready depends on the direction that is asked for, bit 0 of start_mod_i.
module rm_inplace_sequencer #(
  parameter int unsigned M    = 11,
  parameter int unsigned ModW = 4
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_n_i,
  input  logic               bad_size_i,
  input  logic               start_valid_i,
  output logic               start_ready_o,
  input  logic [ModW-1:0]    start_mod_i,
  output logic               valid_o,
  output rm_inplace_pkg::pass_t pass_o,
  output logic [ModW-1:0]    mod_o
);

  localparam int unsigned RowW   = rm_inplace_pkg::RowW;
  localparam int unsigned Reach  = rm_inplace_pkg::row_latency(M) - 1;
  localparam int unsigned Turn   = rm_inplace_pkg::turn(M);
  localparam int unsigned WaitW  = $clog2(Reach + 1) + 1;
  localparam int unsigned TurnW  = $clog2(Turn + 1);
  localparam int unsigned SumW   = RowW + WaitW + 1;

  logic             active_q, took;
  logic [1:0]       level_q, top, next_level, higher;
  logic [RowW-1:0]  row_q, last_row;
  logic [WaitW-1:0] wait_q, wait_next;
  logic [TurnW-1:0] turn_q;
  logic [ModW-1:0]  mod_q;
  logic             issue, end_of_pass, end_of_all, first_level, inverse;
  logic [4:0]       high_window;
  logic [4:0]       window, reach_window;
  logic [SumW-1:0]  needed, rows;

  assign top         = 2'((log_n_i - 5'd1) >> 2);
  assign high_window = log_n_i - 5'd4;
  assign last_row    = RowW'((17'd1 << high_window) - 17'd1);
  assign inverse     = mod_q[0];
  assign issue       = active_q && wait_q == '0;
  assign end_of_pass = issue && row_q == last_row;
  assign end_of_all  = end_of_pass && level_q == (inverse ? top : 2'd0);
  assign first_level = level_q == (inverse ? 2'd0 : top);
  assign next_level  = inverse ? level_q + 2'd1 : level_q - 2'd1;
  assign higher      = inverse ? next_level : level_q;
  assign window      = (level_q == top) ? high_window : {1'b0, level_q, 2'b0};

  assign reach_window = (higher == top) ? high_window : {1'b0, higher, 2'b0};
  assign rows         = SumW'(last_row) + 1'b1;
  assign needed       = (SumW'(1) << reach_window) + SumW'(Reach);
  assign wait_next    = (needed > rows) ? WaitW'(needed - rows) : '0;

  assign start_ready_o = !bad_size_i && (!active_q || end_of_all) &&
                         (start_mod_i[0] == inverse || (!active_q && turn_q == '0));
  assign took          = start_valid_i && start_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      active_q <= 1'b0;
      level_q  <= '0;
      row_q    <= '0;
      wait_q   <= '0;
      turn_q   <= '0;
    end else begin
      if (issue) begin
        row_q  <= end_of_pass ? '0 : row_q + 1'b1;
        turn_q <= TurnW'(Turn);
      end else begin
        wait_q <= (wait_q == '0) ? '0 : wait_q - 1'b1;
        turn_q <= (turn_q == '0) ? '0 : turn_q - 1'b1;
      end
      if (end_of_pass) begin
        level_q <= next_level;
        wait_q  <= wait_next;
      end
      if (took) begin
        level_q  <= start_mod_i[0] ? 2'd0 : top;
        wait_q   <= '0;
      end
      active_q <= took || (active_q && !end_of_all);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_mod
    if (!rst_ni) begin
      mod_q <= '0;
    end else if (took) begin
      mod_q <= start_mod_i;
    end
  end

  assign valid_o       = issue;
  assign mod_o         = mod_q;
  assign pass_o.row    = row_q;
  assign pass_o.window = window[3:0];
  assign pass_o.stage  = high_window - window;
  assign pass_o.part   = (level_q == top) ? log_n_i[1:0] : 2'd0;
  assign pass_o.entry  = first_level;
  assign pass_o.leave  = level_q == (inverse ? top : 2'd0);

endmodule
