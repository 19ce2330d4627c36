// rm_hpip - inner products: Elements vectors of H processing elements of M multiply-accumulators each.
//
// Equation     r[h][e] of result m = sum over the rows of a sum of x[e] key[m][h][e] 2^-R mod q. Keys, or plaintexts, are held times 2^R.
//              The row is shared: it is one limb of one modulus, and each of the H M accumulators of an element has another key.
// Intervals    x any words, keys < q; at most Terms rows a sum. Sums are as wide as 2 W + G bits, G = guard_bits(Terms): 128 bits
//              hold 255 terms of 60 bits. One reduction a processing element, results in [0, q).
// Latency      last row of a sum in cycle t: result m of all H stands in t + rm_arrays_pkg::hpip_latency(Kind, W, Terms) + m.
//              A row a cycle. A sum of n rows and r results (of a processing element) takes max(n, r) cycles.
// Stalls       a row waits for its keys; a row that closes a sum waits as rm_mac_control says. What is inside goes on meanwhile.
//              waits_key_o: a row is there and its keys are not.
// Constants    q_i, aux_i and word_i = 2^W mod q belong to the row that closes the sum: another modulus every sum.
// x_i          should come straight from registers.
// wrong_o      {a block of keys without rows, keys that were not asked for, as rm_mac_control}. Until reset.
// Source       Taiyi, section V: 256 vectors of 4 by 6 a cluster; docs/papers/taiyi-machine.md.
module rm_hpip #(
  parameter int unsigned W        = 36,
  parameter int unsigned Kind     = rm_modmul_pkg::KindP2,
  parameter int unsigned Tile     = rm_modmul_pkg::TileLut,
  parameter int unsigned Elements = 2,
  parameter int unsigned H        = 2,
  parameter int unsigned M        = 2,
  parameter int unsigned Terms    = 63,
  parameter int unsigned KeyRows  = 8,
  parameter int unsigned Rows     = 32,
  parameter int unsigned AddressW = 24,
  localparam int unsigned CountW  = $clog2(M + 1),
  localparam int unsigned IndexW  = (M == 1) ? 1 : $clog2(M)
) (
  input  logic                                     clk_i,
  input  logic                                     rst_ni,
  // rows
  input  logic                                     valid_i,
  output logic                                     ready_o,
  input  logic [Elements-1:0][W-1:0]               x_i,
  input  logic                                     last_i,
  input  logic [CountW-1:0]                        results_i,
  input  logic [W-1:0]                             q_i,
  input  logic [W+1:0]                             aux_i,
  input  logic [W-1:0]                             word_i,
  // keys
  input  logic                                     block_valid_i,
  output logic                                     block_ready_o,
  input  logic [AddressW-1:0]                      block_address_i,
  input  logic [AddressW-1:0]                      block_rows_i,
  output logic                                     fetch_valid_o,
  input  logic                                     fetch_ready_i,
  output logic [AddressW-1:0]                      fetch_address_o,
  input  logic                                     key_valid_i,
  input  logic [M-1:0][H-1:0][Elements-1:0][W-1:0] key_i,
  // results
  output logic                                     valid_o,
  output logic [IndexW-1:0]                        index_o,
  output logic                                     bad_o,
  output logic [H-1:0][Elements-1:0][W-1:0]        r_o,
  input  logic                                     give_i,
  output logic                                     waits_key_o,
  output logic [4:0]                               wrong_o
);

  localparam int unsigned Lp  = rm_modmul_pkg::ProductLatency;
  localparam int unsigned G   = rm_arrays_pkg::guard_bits(Terms);
  localparam int unsigned All = rm_arrays_pkg::hpip_latency(Kind, W, Terms);

  // ---------------------------------------------------------------- rows meet their keys
  logic                                     take, may, there, close, send, bad;
  logic [M-1:0]                             add, first;
  logic [IndexW-1:0]                        index, pick;
  logic [M-1:0][H-1:0][Elements-1:0][W-1:0] key;
  logic [1:0]                               wrong_keys;
  logic [2:0]                               wrong_rows;

  assign take        = valid_i && may && there;
  assign ready_o     = may && there;
  assign waits_key_o = valid_i && !there;
  assign wrong_o     = {wrong_keys, wrong_rows};

  rm_mac_control #(.M(M), .Terms(Terms), .Rows(Rows)) i_control (
    .clk_i, .rst_ni, .last_i, .results_i, .ready_o(may), .take_i(take), .close_o(close), .add_o(add), .first_o(first),
    .send_o(send), .index_o(index), .bad_o(bad), .give_i, .wrong_o(wrong_rows)
  );

  rm_ekey_buffer #(.Width(H * Elements * W), .M(M), .Depth(KeyRows), .AddressW(AddressW)) i_keys (
    .clk_i, .rst_ni, .block_valid_i, .block_ready_o, .block_address_i, .block_rows_i, .fetch_valid_o, .fetch_ready_i,
    .fetch_address_o, .data_valid_i(key_valid_i), .data_i(key_i), .valid_o(there), .take_i(take), .data_o(key),
    .wrong_o(wrong_keys)
  );

  // ---------------------------------------------------------------- constants of a sum, beside its results
  logic [W-1:0] q_q, word_q, q_late, word_late;
  logic [W+1:0] aux_q, aux_late;
  always_ff @(posedge clk_i) begin : p_constants
    if (close) begin
      q_q    <= q_i;
      aux_q  <= aux_i;
      word_q <= word_i;
    end
  end
  rm_delay_line #(.Width(3 * W + 2), .Cycles(Lp + 1)) i_constants (
    .clk_i, .data_i({q_q, aux_q, word_q}), .data_o({q_late, aux_late, word_late})
  );
  rm_delay_line #(.Width(IndexW), .Cycles(Lp)) i_pick (.clk_i, .data_i(index), .data_o(pick));
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

  // ---------------------------------------------------------------- the array
  for (genvar h = 0; h < H; h++) begin : g_pe
    for (genvar e = 0; e < Elements; e++) begin : g_element
      logic [M-1:0][W-1:0] b;
      logic [2*W+G-1:0]    sum;
      for (genvar m = 0; m < M; m++) begin : g_key
        assign b[m] = key[m][h][e];
      end
      rm_mac_chain #(.W(W), .Tile(Tile), .M(M), .G(G)) i_chain (
        .clk_i, .x_i(x_i[e]), .b_i(b), .add_i(add), .first_i(first), .pick_i(pick), .sum_o(sum)
      );
      rm_wide_reduce #(.W(W), .Kind(Kind), .Tile(Tile), .G(G)) i_reduce (
        .clk_i, .sum_i(sum), .q_i(q_late), .aux_i(aux_late), .word_i(word_late), .r_o(r_o[h][e])
      );
    end
  end

endmodule
