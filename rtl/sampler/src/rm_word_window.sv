// rm_word_window - sixteen words of a stream of blocks, from any word on.
//
// Equation     window_o[i] is the word i places after the ones that were taken; take_i takes count_i of them, 1 ... 16.
// Handshake    block_*: valid/ready. take_i only while window_valid_o, which says that two blocks are here.
// Throughput   A block a cycle.
// Clear        clear_i forgets everything and sets the registers to 0.
module rm_word_window (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              clear_i,
  input  logic              block_valid_i,
  output logic              block_ready_o,
  input  logic [15:0][31:0] block_i,
  input  logic              take_i,
  input  logic [4:0]        count_i,
  output logic              window_valid_o,
  output logic [15:0][31:0] window_o
);

  logic [1:0][15:0][31:0] block_d, block_q;
  logic [1:0]             valid_d, valid_q;
  logic [3:0]             place_d, place_q;
  logic [4:0]             after;
  logic                   shift;

  assign window_valid_o = valid_q == 2'b11;
  assign after          = {1'b0, place_q} + count_i;
  assign shift          = (take_i && after[4]) || !valid_q[0];
  assign block_ready_o  = shift || !valid_q[1];

  logic [31:0][31:0] both;
  assign both = block_q;
  for (genvar i = 0; i < 16; i++) begin : g_word
    assign window_o[i] = both[5'(i) + {1'b0, place_q}];
  end

  always_comb begin : p_next
    block_d = block_q;
    valid_d = valid_q;
    place_d = place_q;
    if (take_i) begin
      place_d = after[3:0];
    end
    if (shift) begin
      block_d[0] = block_q[1];
      valid_d    = {1'b0, valid_q[1]};
    end
    if (block_valid_i && block_ready_o) begin
      block_d[1] = block_i;
      valid_d[1] = 1'b1;
    end
    if (clear_i) begin
      valid_d = '0;
      place_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      valid_q <= '0;
      place_q <= '0;
    end else begin
      valid_q <= valid_d;
      place_q <= place_d;
    end
  end
  // Cleared at the clock, by the reset too (rm_chacha20_core).
  always_ff @(posedge clk_i) begin : p_block
    if (clear_i || !rst_ni) begin
      block_q <= '0;
    end else begin
      block_q <= block_d;
    end
  end

  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_taken: assert (!take_i || window_valid_o);
      a_count: assert (!take_i || (count_i >= 5'd1 && count_i <= 5'd16));
    end
  end

endmodule
