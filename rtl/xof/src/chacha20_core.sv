// chacha20_core - the blocks of ChaCha20 of one key and stream, one after the other.
//
// Equation     block n is the ChaCha20 block of key_i, counter counter_i + n and stream_i: word 12 and 13 of the state are the
//              64-bit counter, 14 and 15 the stream, low words first (Bernstein's layout; RFC 8439 has 32 bits of counter and
//              puts the upper three words in the nonce). Word i of a block is block_o[i], its bytes little-endian.
// Interval     10 / Doubles cycles a block: Doubles double rounds are built, 1, 2, 5 or 10. 51.2 bits a cycle each.
// Stages       A register every half round: two additions of 32 bits between registers.
// Latency      load_i to the first block: 42 cycles.
// Handshake    load_i takes key, counter and stream, and begins anew whatever was before. block_*: valid/ready.
// Wipe         wipe_i sets every register that held the key or followed from it to 0; block_valid_o is low until load_i.
//              The reset does the same.
module chacha20_core #(
  parameter int unsigned Doubles = 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              load_i,
  input  logic              wipe_i,
  input  logic [7:0][31:0]  key_i,
  input  logic [63:0]       counter_i,
  input  logic [63:0]       stream_i,
  output logic              block_valid_o,
  input  logic              block_ready_i,
  output logic [15:0][31:0] block_o
);

  localparam int unsigned Stages = 4 * Doubles;
  localparam int unsigned Steps  = 40;

  logic step, inject, leave, full, clear;
  logic [$clog2(Steps)-1:0] unused_phase;
  assign clear = load_i || wipe_i;

  xof_ring #(.Stages(Stages), .Steps(Steps)) i_ring (
    .clk_i, .rst_ni, .load_i, .wipe_i, .full_i(full), .step_o(step), .inject_o(inject), .exit_o(leave),
    .phase_o(unused_phase)
  );

  logic [7:0][31:0]  key_q;
  logic [63:0]       stream_q, in_q, out_q;
  logic [15:0][31:0] first, initial_in, initial_out, sum;
  logic [Stages-1:0][15:0][31:0] state_q;

  // "expand 32-byte k"
  localparam logic [3:0][31:0] Constants = {32'h6b206574, 32'h79622d32, 32'h3320646e, 32'h61707865};
  assign initial_in  = {stream_q, in_q, key_q, Constants};
  assign initial_out = {stream_q, out_q, key_q, Constants};
  assign first       = inject ? initial_in : state_q[Stages-1];

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    logic [15:0][31:0] from, state_d;
    if (s == 0) begin : g_first
      assign from = first;
    end else begin : g_next
      assign from = state_q[s-1];
    end
    chacha20_half #(.Diagonal(s % 4 >= 2), .Second(s % 2 == 1)) i_half (.state_i(from), .state_o(state_d));
    // Cleared at the clock, by the reset too: a register of the families aimed at has no other reset beside one at any time.
    always_ff @(posedge clk_i) begin : p_stage
      if (clear || !rst_ni) begin
        state_q[s] <= '0;
      end else if (step) begin
        state_q[s] <= state_d;
      end
    end
  end
  for (genvar i = 0; i < 16; i++) begin : g_sum
    assign sum[i] = state_q[Stages-1][i] + initial_out[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_key
    if (!rst_ni) begin
      key_q    <= '0;
      stream_q <= '0;
      in_q     <= '0;
      out_q    <= '0;
    end else if (wipe_i) begin
      key_q    <= '0;
      stream_q <= '0;
      in_q     <= '0;
      out_q    <= '0;
    end else if (load_i) begin
      key_q    <= key_i;
      stream_q <= stream_i;
      in_q     <= counter_i;
      out_q    <= counter_i;
    end else if (step) begin
      in_q  <= in_q + 64'(inject);
      out_q <= out_q + 64'(leave);
    end
  end

  xof_buffer #(.Width(512)) i_buffer (
    .clk_i, .rst_ni, .clear_i(clear), .push_i(step && leave), .data_i(sum), .full_o(full),
    .block_valid_o, .block_ready_i, .block_o
  );

endmodule
