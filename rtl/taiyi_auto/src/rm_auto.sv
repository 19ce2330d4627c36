// rm_auto - the automorphism x -> x^g on values, rows of L lanes of R elements, a row a cycle, every odd g.
//
// Equation     out[j] = in[j'],  2 brv(j') + 1 = g (2 brv(j) + 1) mod 2N.  Value j = l N/L + t R + e is element e of row t of lane l;
//              values in bit-reversed order, as the transform unit gives them out and the limb program has them.
// Method       Lanes change places as a whole, rows within a lane by an address of each lane, elements within a row: log L +
//              log R layers of two-way selectors, and no buffer.
// Timing       start_*: valid/ready, ready N/(L R) cycles after the last start. Addresses of row 0 stand 3 cycles after the start is
//              taken, row_i wants their words in the cycle after, row 0 stands at row_o 6 cycles after the start, the others follow
//              without a gap: rm_auto_pkg. It cannot be stalled.
// Wrong use    An even g, or a size that was not built: bad_galois_o, bad_size_o, and ready stays low.
module rm_auto #(
  parameter int unsigned W    = 54,
  parameter int unsigned LogN = 12,
  parameter int unsigned LogL = 2,
  parameter int unsigned LogR = 3,
  localparam int unsigned L   = 1 << LogL,
  localparam int unsigned R   = 1 << LogR,
  localparam int unsigned T   = LogN - LogL - LogR
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       start_valid_i,
  output logic                       start_ready_o,
  input  logic [4:0]                 start_log_n_i,
  input  logic [LogN:0]              start_galois_i,   // mod 2N
  output logic                       bad_size_o,
  output logic                       bad_galois_o,
  output logic                       read_o,
  output logic [L-1:0][T-1:0]        addr_o,           // row of each lane
  input  logic [L-1:0][R-1:0][W-1:0] row_i,            // a cycle later
  output logic                       valid_o,
  output logic                       first_o,
  output logic [L-1:0][R-1:0][W-1:0] row_o,
  output logic                       busy_o
);

  if (LogR < 1 || LogN < LogL + LogR + 1) begin : g_check
    $error("rm_auto: two elements a lane or more, two rows or more");
  end

  // ------------------------------------------------- starts
  logic start, last;
  assign bad_size_o   = start_log_n_i != 5'(LogN);
  assign bad_galois_o = !start_galois_i[0];

  rm_stream_gate #(
    .LogRows (T),
    .Polys   (8)
  ) i_gate (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(T)),
    .bad_size_i (bad_size_o || bad_galois_o),
    .start_valid_i,
    .start_ready_o,
    .start_o    (start),
    .last_i     (last),
    .busy_o
  );

  // ------------------------------------------------- addresses
  localparam int unsigned SwapW = (L > 1) ? L - 1 : 1;
  logic [L-1:0][LogR-1:0] turn;
  logic [LogR-1:0]        galois;
  logic [SwapW-1:0]       lane_swap, lane_swap_late;

  rm_auto_address #(
    .LogN (LogN),
    .LogL (LogL),
    .LogR (LogR)
  ) i_address (
    .clk_i,
    .rst_ni,
    .start_i     (start),
    .galois_i    (start_galois_i),
    .read_o,
    .addr_o,
    .turn_o      (turn),
    .galois_o    (galois),
    .lane_swap_o (lane_swap)
  );

  rm_delay_line #(
    .Width  (SwapW),
    .Cycles (2)
  ) i_lane_swap (
    .clk_i,
    .data_i (lane_swap),
    .data_o (lane_swap_late)
  );

  // ------------------------------------------------- lanes change places
  logic [L-1:0][R-1:0][W-1:0] placed, placed_q, turned;
  if (L > 1) begin : g_lanes
    rm_galois_columns #(
      .W   (R * W),
      .Nbf (L / 2)
    ) i_lanes (
      .swap_i (lane_swap_late),
      .data_i (row_i),
      .data_o (placed)
    );
  end else begin : g_one
    assign placed = row_i;
    logic unused_swap;
    assign unused_swap = ^lane_swap_late;
  end

  // ------------------------------------------------- elements within each lane
  for (genvar l = 0; l < L; l++) begin : g_elements
    logic [R-2:0] swap, swap_q, swap_late_q;
    rm_galois_swaps #(
      .Nbf (R / 2)
    ) i_swaps (
      .permute_i (1'b1),
      .galois_i  (galois),
      .turn_i    (turn[l]),
      .swap_o    (swap)
    );
    always_ff @(posedge clk_i) begin : p_swap
      swap_q      <= swap;
      swap_late_q <= swap_q;
    end
    rm_galois_columns #(
      .W   (W),
      .Nbf (R / 2)
    ) i_columns (
      .swap_i (swap_late_q),
      .data_i (placed_q[l]),
      .data_o (turned[l])
    );
  end

  always_ff @(posedge clk_i) begin : p_row
    placed_q <= placed;
    row_o    <= turned;
  end

  // ------------------------------------------------- marks: a row is there ReadToRow cycles after its addresses
  logic         mark, unused_mod;
  logic [T-1:0] row;
  rm_stream_tag #(
    .Cycles (rm_auto_pkg::StartToRead + rm_auto_pkg::ReadToRow),
    .ModW   (1)
  ) i_tag (
    .clk_i,
    .rst_ni,
    .first_i (start),
    .mod_i   (1'b0),
    .first_o (mark),
    .mod_o   (unused_mod)
  );
  logic unused_clock;
  rm_stream_clock #(
    .TimeW (T),
    .ModW  (1)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(T)),
    .first_i    (mark),
    .mod_i      (1'b0),
    .valid_o,
    .time_o     (row),
    .mod_o      (unused_clock)
  );
  assign first_o = mark;
  assign last    = valid_o && row == '1;

endmodule
