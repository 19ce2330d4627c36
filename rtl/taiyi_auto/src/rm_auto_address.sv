// rm_auto_address - where the words of each row come from under x -> x^g: a lane, a row in it, a turn of its elements.
//
// Equation     Word k = brv(j) comes from word g k + (g - 1)/2 mod N. With j = l N/L + t R + e, brv(j) has the lane in its lowest
//              bits, then the row, then the element. So the lowest log L bits of the source follow from the lane alone:
//              lanes change places as a whole. What they carry, c(l), goes to the rest:
//                v(l, t) = c(l) + g brv(t) mod N/L,   source row  brv(v mod 2^T),   turn  v >> T,   T = log2 of the rows;
//              element e comes from element e' with brv(e') = g brv(e) + turn mod R.
// Step         With z ones at the end of t, brv(t + 1) - brv(t) = 3 2^(T-1-z) - 2^T. One running sum serves all lanes.
// Timing       start_i with g; two cycles later sum_q is that of row 0. Rows follow each other; out comes the row of
//              rm_auto_pkg::StartToRead cycles after start_i, lane_swap_o a cycle before.
module rm_auto_address #(
  parameter int unsigned LogN = 8,
  parameter int unsigned LogL = 2,
  parameter int unsigned LogR = 2,
  localparam int unsigned L    = 1 << LogL,
  localparam int unsigned T    = LogN - LogL - LogR,
  localparam int unsigned VW   = T + LogR,
  localparam int unsigned SwapW = (L > 1) ? L - 1 : 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    start_i,
  input  logic [LogN:0]           galois_i,
  output logic                    read_o,
  output logic [L-1:0][T-1:0]     addr_o,      // of the lane that is read
  output logic [L-1:0][LogR-1:0]  turn_o,      // of the lane that is written
  output logic [LogR-1:0]         galois_o,    // g mod R, beside turn_o
  output logic [SwapW-1:0]        lane_swap_o  // a cycle before addr_o
);

  // ------------------------------------------------- c(l), and g
  logic                   start_q, first_q;
  logic [LogN:0]          early_q;
  logic [LogN-1:0]        g_q;
  logic [L-1:0][VW-1:0]   carry_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_marks
    if (!rst_ni) begin
      start_q <= 1'b0;
      first_q <= 1'b0;
    end else begin
      start_q <= start_i;
      first_q <= start_q;
    end
  end
  always_ff @(posedge clk_i) begin : p_galois
    early_q <= galois_i;
    if (start_q) begin
      g_q <= early_q[LogN-1:0];
    end
  end

  for (genvar l = 0; l < L; l++) begin : g_carry
    localparam logic [LogN-1:0] K = LogN'(rev(l));
    logic [LogN-1:0] base;
    assign base = early_q[LogN-1:0] * K + early_q[LogN:1];
    always_ff @(posedge clk_i) begin : p_carry
      if (start_q) begin
        carry_q[l] <= base[LogN-1:LogL];
      end
    end
    if (LogL > 0) begin : g_low
      logic unused_low;
      assign unused_low = ^base[LogL-1:0];
    end
  end

  // The number of a lane, its bits reversed; for constants only.
  function automatic int unsigned rev(int unsigned l);
    rev = 0;
    for (int unsigned b = 0; b < 8; b++) begin   // l has no ones from bit log L on
      rev |= (((l >> b) & 1) << LogL) >> (b + 1);
    end
  endfunction

  // ------------------------------------------------- how lanes change places
  if (L > 1) begin : g_lanes
    logic [L-2:0] swap;
    rm_galois_swaps #(
      .Nbf (L / 2)
    ) i_swaps (
      .permute_i (1'b1),
      .galois_i  (early_q[LogL-1:0]),
      .turn_i    (early_q[LogL:1]),
      .swap_o    (swap)
    );
    always_ff @(posedge clk_i) begin : p_swap
      if (start_q) begin
        lane_swap_o <= swap;
      end
    end
  end else begin : g_one
    assign lane_swap_o = '0;
  end

  // ------------------------------------------------- rows
  logic          valid;
  logic [T-1:0]  row, carry;
  logic [VW-1:0] sum, sum_q, delta;
  logic          unused_mod;

  rm_stream_clock #(
    .TimeW (T),
    .ModW  (1)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(T)),
    .first_i    (first_q),
    .mod_i      (1'b0),
    .valid_o    (valid),
    .time_o     (row),
    .mod_o      (unused_mod)
  );

  // Bit z: the row ends in z ones and a zero. The last row has none, and none follows.
  assign carry = (row + 1'b1) & ~row;
  always_comb begin : p_delta
    delta = '0;
    for (int unsigned z = 0; z < T; z++) begin
      delta |= carry[z] ? (VW'(g_q) + VW'(g_q << 1)) << (T - 1 - z) : '0;
    end
    delta -= VW'(g_q) << T;
  end
  assign sum = first_q ? '0 : sum_q;
  always_ff @(posedge clk_i) begin : p_sum
    sum_q <= sum + delta;
  end

  // ------------------------------------------------- addresses: each lane's, sent to where the words are
  logic [L-1:0][T-1:0] wanted, sent;

  for (genvar l = 0; l < L; l++) begin : g_wanted
    logic [VW-1:0] v;
    assign v = carry_q[l] + sum;
    for (genvar b = 0; b < T; b++) begin : g_reverse
      assign wanted[l][b] = v[T-1-b];
    end
    always_ff @(posedge clk_i) begin : p_turn
      turn_o[l] <= v[VW-1:T];
    end
  end
  if (L > 1) begin : g_back
    rm_auto_back #(
      .W    (T),
      .Cols (L)
    ) i_back (
      .swap_i (lane_swap_o),
      .data_i (wanted),
      .data_o (sent)
    );
  end else begin : g_direct
    assign sent = wanted;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_read
    if (!rst_ni) begin
      read_o <= 1'b0;
    end else begin
      read_o <= valid;
    end
  end
  always_ff @(posedge clk_i) begin : p_address
    addr_o   <= sent;
    galois_o <= g_q[LogR-1:0];
  end

endmodule
