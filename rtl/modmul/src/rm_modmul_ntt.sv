// rm_modmul_ntt - word Montgomery product for NTT primes next to a power of two, by words of t bits.
//
// Equation     r_o = a_i * b_i * 2^(-t S) mod q_i,  q = 2^b + delta * 2^t + 1,  S = ceil(W / t)
//   The Montgomery quotient of a word is the word itself. With k = (q - 1) / 2^t = 2^(b-t) + delta and lo = T mod 2^t,
//     step(T) = (T - lo * q) / 2^t = (T >> t) - (lo << (b - t)) - lo * delta:
//   wires and a product with the few bits of delta.
// Class        SEAL and OpenFHE look for q = 1 mod 2N next to 2^b, so t = log2 2N and delta is small, -2^(Kw-1) <= delta <
//              2^(Kw-1), Kw = rm_modmul_pkg::ntt_delta_bits. b = W and delta < 0; or, any length, b is the modulus's own,
//              t + Kw <= b <= W, and q < 2^W: aux_i = b - t.
// Intervals    0 <= a_i < 2^W, 0 <= b_i < q. T0 = a * b < 2^W * q. After i steps T = (T0 - m * q) / 2^(t i) for some
//              0 <= m < 2^(t i), so -q < T < 2^(W - t i) * q; t S >= W makes that (-q, q) after the last one, and one
//              conditional addition of q gives 0 <= r_o < q.
// Latency      rm_modmul_pkg::latency(Kind, W) = product + 2 S + 1 cycles, one product a cycle, no stall. q_i and aux_i belong
//              to the operands beside them.
// Source       word Montgomery (Montgomery 1985); the class of moduli: SEAL 4, util/numth.cpp, get_primes.
module rm_modmul_ntt #(
  parameter int unsigned Kind = rm_modmul_pkg::ntt_kind(17),
  parameter int unsigned W    = 60,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  input  logic [W-1:0] q_i,
  input  logic [5:0]   aux_i,
  output logic [W-1:0] r_o
);

  localparam int unsigned T         = rm_modmul_pkg::ntt_word(Kind);
  localparam int unsigned S         = rm_modmul_pkg::ntt_steps(Kind, W);
  localparam bit          AnyLength = rm_modmul_pkg::ntt_any_length(Kind);
  localparam int unsigned Kw        = rm_modmul_pkg::ntt_delta_bits(Kind, W);
  localparam int unsigned Lp        = rm_modmul_pkg::ProductLatency;
  // A sign above T0, and above q after the last step.
  localparam int unsigned Wt        = (W > S * T) ? 2 * W + 1 : W + S * T + 1;

  if (T < 2 || W < T + 3 || S < 2) begin : g_check
    $error("rm_modmul_ntt: words of 2 bits or more, two or more of them in W");
  end

  logic [2*W-1:0] product;
  rm_modmul_product #(
    .Wa   (W),
    .Wb   (W),
    .Tile (Tile)
  ) i_product (
    .clk_i,
    .a_i,
    .b_i,
    .p_o (product)
  );

  // What differs between moduli, beside the product it belongs to.
  localparam int unsigned Tag = Kw + (AnyLength ? 6 : 0);
  logic [Tag-1:0] tag_d, tag[S+1];
  if (AnyLength) begin : g_tag_any
    assign tag_d = {aux_i, q_i[T+:Kw]};
  end else begin : g_tag
    assign tag_d = q_i[T+:Kw];
    logic unused_aux;
    assign unused_aux = ^aux_i;
  end
  rm_modmul_delay #(.Width(Tag), .Depth(Lp)) i_tag (.clk_i, .d_i(tag_d), .d_o(tag[0]));

  for (genvar s = 0; s < S; s++) begin : g_step
    localparam int unsigned Wi = Wt - s * T;
    logic signed [Wi-1:0]   t;
    logic signed [Wi-T-1:0] t_next;
    logic [5:0]             lead;

    if (s == 0) begin : g_first
      assign t = Wi'({1'b0, product});
    end else begin : g_next
      assign t = g_step[s-1].t_next;
    end
    if (AnyLength) begin : g_lead_any
      assign lead = tag[s][Kw+:6];
    end else begin : g_lead
      assign lead = '0;
    end

    rm_modmul_step #(
      .Wt      (Wi),
      .H       (T),
      .Sparse  (1'b1),
      .Kw      (Kw),
      .Lead    (W - T),
      .AnyLead (AnyLength),
      .Tile    (Tile)
    ) i_step (
      .clk_i,
      .t_i    (t),
      .k_i    (tag[s][Kw-1:0]),
      .lead_i (lead),
      .t_o    (t_next)
    );
    rm_modmul_delay #(.Width(Tag), .Depth(2)) i_tag_next (.clk_i, .d_i(tag[s]), .d_o(tag[s+1]));
  end

  logic signed [Wt-S*T-1:0] last;
  logic [W-1:0]             q_last;
  assign last = g_step[S-1].t_next;
  if (AnyLength) begin : g_q_any
    rm_modmul_delay #(.Width(W), .Depth(Lp + 2 * S)) i_q (.clk_i, .d_i(q_i), .d_o(q_last));
  end else begin : g_q
    // 2^W + delta * 2^T + 1 without its bit W, which the negative delta takes away
    assign q_last = {{(W - T - Kw) {tag[S][Kw-1]}}, tag[S][Kw-1:0], {(T - 1) {1'b0}}, 1'b1};
  end

  always_ff @(posedge clk_i) begin : p_result
    r_o <= last[W-1:0] + (q_last & {W{last[Wt-S*T-1]}});
  end

  // The class of moduli fixes the rest of q; of any length, the last tag has done its work.
  logic unused;
  assign unused = ^q_i ^ ^tag[S] ^ ^last;

endmodule
