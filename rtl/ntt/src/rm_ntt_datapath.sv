// rm_ntt_datapath - from the row that was read to the row that is written back.
//
// Ganged, stage 0 crosses lanes: instead of swapping in time, lane 0 gives its high half row for lane 1's low one,
// so that each lane pairs word c of row r of both halves for half of the columns; the way back is the same.
//
//   read row -> unshuffle columns -> swap half rows -> Nbf butterflies -> swap back -> shuffle -> row
//               (inverse, type II)   (type I)                            (type I)     (forward, type II)
//
// Latency      row_latency(M) - 1 cycles from row_i to row_o, one row a cycle, no stall, no reset.
// Control      at_i[k] belongs to the row that was requested k cycles ago; only the entries that are
//              used are registers in the end.
module rm_ntt_datapath #(
  parameter int unsigned W    = 54,
  parameter int unsigned Nbf  = 4,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2,
  parameter bit          Gang = 1'b0,
  localparam int unsigned Cols = 2 * Nbf,
  localparam int unsigned M    = rm_modmul_pkg::latency(Kind, W),
  localparam int unsigned L    = rm_ntt_pkg::row_latency(M)
) (
  input  logic                   clk_i,
  input  logic [L:0]             second_at_i,   // second row of a type-I pair
  input  logic [L:0]             type2_at_i,
  input  logic [L:0]             inverse_at_i,
  input  logic [L:0]             slot_at_i,
  input  logic [L:0]             cross_at_i,    // exchange with the other lane
  input  logic                   lane_i,
  input  logic [1:0][W-1:0]      q_i,           // of the two slots
  input  logic [1:0][W+1:0]      aux_i,
  input  logic [Nbf-1:0][W-1:0]  twiddle_i,     // offset OffMul
  input  logic [Cols-1:0][W-1:0] row_i,         // offset OffData
  output logic [Cols-1:0][W-1:0] row_o,         // offset L
  // half rows between lanes: before the butterflies (offset OffData + 1) and after them (OffSwap)
  output logic [Nbf-1:0][W-1:0]  in_give_o,
  input  logic [Nbf-1:0][W-1:0]  in_take_i,
  output logic [Nbf-1:0][W-1:0]  out_give_o,
  input  logic [Nbf-1:0][W-1:0]  out_take_i
);

  localparam int unsigned OffData  = rm_ntt_pkg::OffData;
  localparam int unsigned OffIn    = OffData + 1;
  localparam int unsigned OffPre1  = rm_ntt_pkg::OffPre1;
  localparam int unsigned OffPre2  = rm_ntt_pkg::OffPre2;
  localparam int unsigned OffMul   = rm_ntt_pkg::OffMul;
  localparam int unsigned OffPost1 = rm_ntt_pkg::off_post1(M);
  localparam int unsigned OffPost2 = rm_ntt_pkg::off_post2(M);
  localparam int unsigned OffSwap  = rm_ntt_pkg::off_swap(M);

  // ---------------------------------------------------------------- modulus at each stage
  // Registered where it is used, chosen by the slot one cycle earlier.
  logic [W-1:0] pre2_q_q, mul_q_q, post2_q_q;
  logic [W+1:0] mul_aux_q;

  always_ff @(posedge clk_i) begin : p_modulus
    pre2_q_q  <= q_i[slot_at_i[OffPre2-1]];
    mul_q_q   <= q_i[slot_at_i[OffMul-1]];
    mul_aux_q <= aux_i[slot_at_i[OffMul-1]];
    post2_q_q <= q_i[slot_at_i[OffPost2-1]];
  end

  // ---------------------------------------------------------------- lanes
  // Lane 0 gives what is high (bottom), lane 1 what is low (top).
  logic [Cols-1:0][W-1:0] read_q, in_row;
  logic [Nbf-1:0][W-1:0]  in_lo, in_hi, out_lo, out_hi, x, y;

  assign in_give_o  = lane_i ? in_row[Nbf-1:0] : in_row[Cols-1:Nbf];
  assign out_give_o = lane_i ? x : y;

  always_comb begin : p_cross
    in_lo  = in_row[Nbf-1:0];
    in_hi  = in_row[Cols-1:Nbf];
    out_lo = x;
    out_hi = y;
    if (Gang && cross_at_i[OffIn]) begin
      if (lane_i) in_lo = in_take_i;
      else        in_hi = in_take_i;
    end
    if (Gang && cross_at_i[OffSwap]) begin
      if (lane_i) out_lo = out_take_i;
      else        out_hi = out_take_i;
    end
  end

  // ---------------------------------------------------------------- in
  // The row goes into a register first: block memories answer late in the cycle.
  logic [Nbf-1:0][W-1:0] in_top, in_bot;

  always_ff @(posedge clk_i) begin : p_read
    read_q <= row_i;
  end

  rm_ntt_route #(
    .W         (W),
    .Nbf       (Nbf),
    .Unshuffle (1'b1)
  ) i_unshuffle (
    .en_i  (type2_at_i[OffIn] && inverse_at_i[OffIn]),
    .row_i (read_q),
    .row_o (in_row)
  );

  rm_ntt_swap #(
    .HalfW (Nbf * W)
  ) i_swap_in (
    .clk_i,
    .swap_i (second_at_i[OffIn]),
    .lo_i   (in_lo),
    .hi_i   (in_hi),
    .top_o  (in_top),
    .bot_o  (in_bot)
  );

  // ---------------------------------------------------------------- butterflies
  for (genvar j = 0; j < Nbf; j++) begin : g_butterfly
    rm_ntt_butterfly #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_butterfly (
      .clk_i,
      .pre1_inverse_i  (inverse_at_i[OffPre1]),
      .x_i             (in_top[j]),
      .y_i             (in_bot[j]),
      .pre2_inverse_i  (inverse_at_i[OffPre2]),
      .pre2_q_i        (pre2_q_q),
      .mul_inverse_i   (inverse_at_i[OffMul]),
      .mul_q_i         (mul_q_q),
      .mul_aux_i       (mul_aux_q),
      .twiddle_i       (twiddle_i[j]),
      .post1_inverse_i (inverse_at_i[OffPost1]),
      .post2_q_i       (post2_q_q),
      .x_o             (x[j]),
      .y_o             (y[j])
    );
  end

  // ---------------------------------------------------------------- out
  logic [Nbf-1:0][W-1:0]  out_top, out_bot;
  logic [Cols-1:0][W-1:0] out_row, row_q;

  rm_ntt_swap #(
    .HalfW (Nbf * W)
  ) i_swap_out (
    .clk_i,
    .swap_i (second_at_i[OffSwap]),
    .lo_i   (out_lo),
    .hi_i   (out_hi),
    .top_o  (out_top),
    .bot_o  (out_bot)
  );

  rm_ntt_route #(
    .W         (W),
    .Nbf       (Nbf),
    .Unshuffle (1'b0)
  ) i_shuffle (
    .en_i  (type2_at_i[L-1] && !inverse_at_i[L-1]),
    .row_i ({out_bot, out_top}),
    .row_o (out_row)
  );

  always_ff @(posedge clk_i) begin : p_out
    row_q <= out_row;
  end

  assign row_o = row_q;

endmodule
