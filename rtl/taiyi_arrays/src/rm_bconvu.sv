// rm_bconvu - base conversion: residues modulo up to M targets from those modulo up to Terms sources, a systolic chain an element.
//
// Equation     r of target m = (sum over the sources of y_i F_i[m] - v S) mod q_m, v
//                fast 0; centred floor((2^27 + sum of floor(y_i / 2^h_i) R_i) / 2^28); lift 1 if 2 y > s, of one source.
//              F_i[m] = S/s_i 2^R mod q_m and minus[m] = -S 2^R mod q_m, S the product of the sources' moduli s_i. These are
//              `convert_fast`, `quotient` with `convert`, and `lift` of the limb program, to the bit. Where results are to be held
//              times 2^R, the constants have it twice.
// Rows         a row has Elements words y_i of source i; the rows of a conversion follow each other, last_i closes it. mode_i, and
//              the targets' constants, belong to the closing row; factor_i[m], shift_i and head_i to each row.
// Intervals    y_i < s_i < 2^W. v <= 64, so v minus is below 2^W q and needs no bit more than another term would.
// Latency      rm_arrays_pkg::bconv_latency(Kind, W, Terms) + m cycles from the closing row to the row of target m. A row a cycle;
//              a conversion of a sources to t targets takes max(a, t) cycles. More targets than M: the sources pass again.
// Stalls       a closing row waits as rm_mac_control says; nothing else waits.
// wrong_o      as rm_mac_control, and [3]: mode_i 3, which counts as fast. Until reset.
// Source       Taiyi and SHARP (BConvU); Kim and others 2022 (ARK); docs/limb-program.md, base conversion.
module rm_bconvu
  import rm_arrays_pkg::*;
#(
  parameter int unsigned W        = 36,
  parameter int unsigned Kind     = rm_modmul_pkg::KindP2,
  parameter int unsigned Tile     = rm_modmul_pkg::TileLut,
  parameter int unsigned Elements = 2,
  parameter int unsigned M        = 4,
  parameter int unsigned Terms    = 63,
  parameter int unsigned Rows     = 32,
  localparam int unsigned CountW  = $clog2(M + 1),
  localparam int unsigned IndexW  = (M == 1) ? 1 : $clog2(M)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [Elements-1:0][W-1:0] y_i,
  input  logic [M-1:0][W-1:0]        factor_i,
  input  logic [HeadShiftBits-1:0]   shift_i,
  input  logic [HeadFactorBits-1:0]  head_i,
  // of the closing row
  input  logic                       last_i,
  input  logic [CountW-1:0]          targets_i,
  input  convert_e                   mode_i,
  input  logic [W-1:0]               half_i,   // (s - 1) / 2 of the only source
  input  logic [M-1:0][W-1:0]        q_i,
  input  logic [M-1:0][W+1:0]        aux_i,
  input  logic [M-1:0][W-1:0]        word_i,   // 2^W mod q
  input  logic [M-1:0][W-1:0]        minus_i,
  // results
  output logic                       valid_o,
  output logic [IndexW-1:0]          index_o,
  output logic                       bad_o,
  output logic [Elements-1:0][W-1:0] r_o,
  input  logic                       give_i,
  output logic [3:0]                 wrong_o
);

  localparam int unsigned Lp    = rm_modmul_pkg::ProductLatency;
  localparam int unsigned G     = guard_bits(Terms);
  localparam int unsigned All   = bconv_latency(Kind, W, Terms);
  localparam int unsigned TimesW = 7;   // of v: at most 64
  localparam logic [QuotientBits+TimesW-1:0] Half = (QuotientBits + TimesW)'(1) << (QuotientBits - 1);

  if (Terms > 64) begin : g_check
    $error("rm_bconvu: the quotient is defined for at most 64 sources");
  end

  // ---------------------------------------------------------------- rows
  logic              take, close, send, bad;
  logic [M-1:0]      add, first;
  logic [IndexW-1:0] index, pick;
  logic [2:0]        wrong_rows;
  logic              wrong_mode_q, open_q;
  assign take    = valid_i && ready_o;
  assign wrong_o = {wrong_mode_q, wrong_rows};

  rm_mac_control #(.M(M), .Terms(Terms), .Rows(Rows)) i_control (
    .clk_i, .rst_ni, .last_i, .results_i(targets_i), .ready_o, .take_i(take), .close_o(close), .add_o(add),
    .first_o(first), .send_o(send), .index_o(index), .bad_o(bad), .give_i, .wrong_o(wrong_rows)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_open
    if (!rst_ni) begin
      open_q       <= 1'b0;
      wrong_mode_q <= 1'b0;
    end else begin
      if (take) begin
        open_q <= !last_i;
      end
      wrong_mode_q <= wrong_mode_q || (take && last_i && mode_i > ConvertLift);
    end
  end

  // ---------------------------------------------------------------- constants: of a row along the chain, of a target beside it
  logic [M-1:0][W-1:0] factor;
  for (genvar m = 0; m < M; m++) begin : g_factor
    rm_delay_line #(.Width(W), .Cycles(m)) i_factor (.clk_i, .data_i(factor_i[m]), .data_o(factor[m]));
  end

  logic [M-1:0][W-1:0] q_q, word_q, minus_q;
  logic [M-1:0][W+1:0] aux_q;
  always_ff @(posedge clk_i) begin : p_targets
    if (close) begin
      q_q     <= q_i;
      aux_q   <= aux_i;
      word_q  <= word_i;
      minus_q <= minus_i;
    end
  end
  logic [W-1:0] q_late, word_late, minus_late;
  logic [W+1:0] aux_late;
  rm_delay_line #(.Width(3 * W + 2), .Cycles(Lp + 2)) i_target (
    .clk_i, .data_i({q_q[index], aux_q[index], word_q[index]}), .data_o({q_late, aux_late, word_late})
  );
  rm_delay_line #(.Width(W + IndexW), .Cycles(Lp)) i_minus (
    .clk_i, .data_i({minus_q[index], index}), .data_o({minus_late, pick})
  );
  rm_delay_line #(.Width(IndexW + 1), .Cycles(All - 1)) i_index (
    .clk_i, .data_i({index, bad}), .data_o({index_o, bad_o})
  );

  logic [All-2:0] send_q;
  assign valid_o = send_q[All-2];
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      send_q <= '0;
    end else begin
      send_q <= {send_q[All-3:0], send};
    end
  end

  // What the quotient's sum needs of a row, two cycles after it; what v needs, three.
  logic     add_head, first_head, close_head;
  logic     close_v;
  convert_e mode_v;
  rm_delay_line #(.Width(3), .Cycles(2)) i_head (
    .clk_i, .data_i({take, !open_q, close}), .data_o({add_head, first_head, close_head})
  );
  rm_delay_line #(.Width(1), .Cycles(1)) i_close (.clk_i, .data_i(close_head), .data_o(close_v));
  rm_delay_line #(.Width(2), .Cycles(3)) i_mode (.clk_i, .data_i(mode_i), .data_o({mode_v}));

  // ---------------------------------------------------------------- elements
  for (genvar e = 0; e < Elements; e++) begin : g_element
    logic [QuotientBits-1:0]          part;
    logic [QuotientBits+TimesW-1:0]   quotient_q;
    logic [2:0]                       above_q;
    logic [TimesW-1:0]                times_q;
    logic [W+TimesW-1:0]              extra_q;
    logic [2*W+G-1:0]                 sum, sum_q;

    rm_quotient_term #(.W(W)) i_term (.clk_i, .y_i(y_i[e]), .shift_i, .factor_i(head_i), .part_o(part));

    always_ff @(posedge clk_i) begin : p_quotient
      above_q <= {above_q[1:0], y_i[e] > half_i};
      if (add_head) begin
        quotient_q <= (first_head ? Half : quotient_q) + (QuotientBits + TimesW)'(part);
      end
      if (close_v) begin
        case (mode_v)
          ConvertCentred: times_q <= quotient_q[QuotientBits+:TimesW];
          ConvertLift:    times_q <= TimesW'(above_q[2]);
          default:        times_q <= '0;
        endcase
      end
      extra_q <= times_q * minus_late;
      sum_q   <= sum + (2 * W + G)'(extra_q);
    end

    rm_mac_chain #(.W(W), .Tile(Tile), .M(M), .G(G)) i_chain (
      .clk_i, .x_i(y_i[e]), .b_i(factor), .add_i(add), .first_i(first), .pick_i(pick), .sum_o(sum)
    );
    rm_wide_reduce #(.W(W), .Kind(Kind), .Tile(Tile), .G(G)) i_reduce (
      .clk_i, .sum_i(sum_q), .q_i(q_late), .aux_i(aux_late), .word_i(word_late), .r_o(r_o[e])
    );
  end

endmodule
