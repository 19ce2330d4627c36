// rm_blake3_core - BLAKE3's compression, repeated with a counter that goes up: the extendable output of a root.
//
// Equation     block n is compress(cv_i, words_i, counter_i + n * Stride, length_i, flags_i), all 16 words. With the flag ROOT these
//              are bytes 64 n ... 64 n + 63 of the output (Stride = 1). Two cores of Stride 2 make alternate blocks.
//              A chaining value is the first eight words of block 0.
// Interval     7 / Rounds cycles a block: Rounds = 1 (73.1 bits a cycle) or 7 (512).
// Stages       A register every half of a column or diagonal round.
// Latency      load_i to the first block: 30 cycles.
// Handshake    load_i takes all inputs and begins anew. block_*: valid/ready.
// Wipe         As in rm_chacha20_core.
module rm_blake3_core #(
  parameter int unsigned Rounds = 1,
  parameter int unsigned Stride = 1,
  parameter int unsigned Depth  = 2    // blocks that wait for the reader: 4 keep a ring of one round going
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              load_i,
  input  logic              wipe_i,
  input  logic [7:0][31:0]  cv_i,
  input  logic [15:0][31:0] words_i,
  input  logic [6:0]        length_i,
  input  logic [7:0]        flags_i,
  input  logic [63:0]       counter_i,
  output logic              block_valid_o,
  input  logic              block_ready_i,
  output logic [15:0][31:0] block_o
);

  localparam int unsigned Stages = 4 * Rounds;
  localparam int unsigned Steps  = 28;

  if (Rounds != 1 && Rounds != 7) begin : g_check
    $error("rm_blake3_core: one round is built, or all seven");
  end

  logic step, inject, leave, full, clear;
  logic [$clog2(Steps)-1:0] phase;
  assign clear = load_i || wipe_i;

  rm_xof_ring #(.Stages(Stages), .Steps(Steps)) i_ring (
    .clk_i, .rst_ni, .load_i, .wipe_i, .full_i(full), .step_o(step), .inject_o(inject), .exit_o(leave), .phase_o(phase)
  );

  logic [7:0][31:0]  cv_q;
  logic [15:0][31:0] words_q;
  logic [6:0]        length_q;
  logic [7:0]        flags_q;
  logic [63:0]       counter_q;
  logic [15:0][31:0] first, initial_in, last, out;
  logic [Stages-1:0][15:0][31:0] state_q;
  logic [Stages-1:0][3:0][31:0]  taken;

  // The first half of the initial values of SHA-256.
  localparam logic [3:0][31:0] Iv = {32'ha54ff53a, 32'h3c6ef372, 32'hbb67ae85, 32'h6a09e667};
  assign initial_in = {24'd0, flags_q, 25'd0, length_q, counter_q, Iv, cv_q};
  assign last       = state_q[Stages-1];
  assign first      = inject ? initial_in : last;

  // ------------------------------------------------- message words of each stage
  // Word i of the next round is word Permutation[i] of this one.
  localparam int unsigned Permutation[16] = '{2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};

  if (Rounds == 7) begin : g_wired
    logic [6:0][15:0][31:0] words;
    assign words[0] = words_q;
    for (genvar r = 1; r < 7; r++) begin : g_round
      for (genvar i = 0; i < 16; i++) begin : g_word
        assign words[r][i] = words[r-1][Permutation[i]];
      end
    end
    for (genvar s = 0; s < Stages; s++) begin : g_stage
      for (genvar i = 0; i < 4; i++) begin : g_word
        assign taken[s][i] = words[s/4][8 * (s % 4 / 2) + 2 * i + s % 2];
      end
    end
    logic unused_phase;
    assign unused_phase = ^phase;
  end else begin : g_turned
    // Stage s meets a block s steps after stage 0 does, so its words are those of stage 0, s steps later.
    logic [3:0][15:0][31:0] words_now_q;
    logic [15:0][31:0]      words_next;
    for (genvar i = 0; i < 16; i++) begin : g_next
      assign words_next[i] = words_now_q[0][Permutation[i]];
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_words
      if (!rst_ni) begin
        words_now_q <= '0;
      end else if (wipe_i) begin
        words_now_q <= '0;
      end else if (load_i) begin
        words_now_q <= {1536'd0, words_i};
      end else if (step) begin
        words_now_q[3:1] <= words_now_q[2:0];
        if (phase == 5'(Steps - 1)) begin
          words_now_q[0] <= words_q;
        end else if (phase[1:0] == 2'd3) begin
          words_now_q[0] <= words_next;
        end
      end
    end
    for (genvar s = 0; s < Stages; s++) begin : g_stage
      for (genvar i = 0; i < 4; i++) begin : g_word
        assign taken[s][i] = words_now_q[s][8 * (s % 4 / 2) + 2 * i + s % 2];
      end
    end
    logic unused_words;
    assign unused_words = ^words_now_q;
  end

  for (genvar s = 0; s < Stages; s++) begin : g_half
    logic [15:0][31:0] from, state_d;
    if (s == 0) begin : g_first
      assign from = first;
    end else begin : g_next
      assign from = state_q[s-1];
    end
    rm_blake3_half #(.Diagonal(s % 4 >= 2), .Second(s % 2 == 1)) i_half (
      .state_i(from), .words_i(taken[s]), .state_o(state_d)
    );
    // Cleared at the clock, by the reset too: a register of the families aimed at has no other reset beside one at any time.
    always_ff @(posedge clk_i) begin : p_stage
      if (clear || !rst_ni) begin
        state_q[s] <= '0;
      end else if (step) begin
        state_q[s] <= state_d;
      end
    end
  end
  for (genvar i = 0; i < 8; i++) begin : g_out
    assign out[i]   = last[i] ^ last[i+8];
    assign out[i+8] = last[i+8] ^ cv_q[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_inputs
    if (!rst_ni) begin
      {cv_q, words_q, length_q, flags_q, counter_q} <= '0;
    end else if (wipe_i) begin
      {cv_q, words_q, length_q, flags_q, counter_q} <= '0;
    end else if (load_i) begin
      cv_q      <= cv_i;
      words_q   <= words_i;
      length_q  <= length_i;
      flags_q   <= flags_i;
      counter_q <= counter_i;
    end else if (step && inject) begin
      counter_q <= counter_q + 64'(Stride);
    end
  end

  rm_xof_buffer #(.Width(512), .Depth(Depth)) i_buffer (
    .clk_i, .rst_ni, .clear_i(clear), .push_i(step && leave), .data_i(out), .full_o(full),
    .block_valid_o, .block_ready_i, .block_o
  );

endmodule
