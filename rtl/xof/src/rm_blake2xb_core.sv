// rm_blake2xb_core - the stream of SEAL's generator: buffers of 4096 bytes, each BLAKE2Xb of the buffer's number under a key of 64 bytes.
//
// Equation     Buffer c is 64 blocks. Root: BLAKE2b keyed with key_i over c, 8 bytes little-endian, with the length of the
//              output in its parameters; block i: BLAKE2b of the root with the parameters of node i. Words of 32 bits, low half first.
// Compressions The block of the key is compressed once. Then one for each root, and one for each block of 64 bytes: 65 for 4096 bytes.
//              All have 64 bytes of message at most, so message words 8 to 15 are 0.
// Order        A root is made while the blocks of the buffer before come out. The message of the blocks at hand stands in one of two
//              banks, beside the root that waits for one. The key stands in a bank too, until the first root takes its place.
// Interval     Rounds = 12: 65 cycles a buffer. With fewer of its rounds built (1, 2, 3, 4 or 6) a block passes them 12 / Rounds times.
// Latency      load_i to the first block: 149 cycles, three compressions.
// Stages       A register every half of a column or diagonal round.
// Handshake    load_i takes the key and begins anew. block_*: valid/ready; while the reader waits, so does all else.
// Wipe         wipe_i and the reset set every register that held the key, or what follows from it, to 0.
// Timing       The control sees no data: which compression is where is counted.
module rm_blake2xb_core #(
  parameter int unsigned Rounds = 12
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              load_i,
  input  logic              wipe_i,
  input  logic [15:0][31:0] key_i,
  output logic              block_valid_o,
  input  logic              block_ready_i,
  output logic [15:0][31:0] block_o
);

  localparam int unsigned Stages = 4 * Rounds;
  localparam int unsigned Passes = 12 / Rounds;
  localparam int unsigned PassW  = (Passes > 1) ? $clog2(Passes) : 1;

  if (Rounds == 0 || 12 % Rounds != 0) begin : g_check
    $error("rm_blake2xb_core: 1, 2, 3, 4, 6 or 12 rounds are built");
  end

  localparam logic [7:0][63:0] Iv = {
    64'h5be0cd19137e2179, 64'h1f83d9abfb41bd6b, 64'h9b05688c2b3e6c1f, 64'h510e527fade682d1,
    64'ha54ff53a5f1d36f1, 64'h3c6ef372fe94f82b, 64'hbb67ae8584caa73b, 64'h6a09e667f3bcc908
  };
  localparam int unsigned Sigma[10][16] = '{
    '{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    '{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    '{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    '{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    '{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    '{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    '{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    '{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    '{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    '{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}
  };
  // Words 0 to 2 of the parameters: 64 bytes of hash; key of 64 bytes, one root; or a node of 64 bytes. The output has 4096 bytes.
  localparam logic [63:0] Root0 = 64'h0000_0000_0101_4040;
  localparam logic [63:0] Node0 = 64'h0000_0040_0000_0040;
  localparam logic [63:0] Node2 = 64'h0000_0000_0000_4000;
  localparam logic [31:0] OutputBytes = 32'd4096;

  typedef enum logic [1:0] {Key, Root, Node} kind_e;
  typedef struct packed {
    logic             valid;
    kind_e            kind;
    logic             bank;
    logic [5:0]       index;   // of the block in its buffer
    logic [PassW-1:0] pass;
  } tag_t;

  logic clear, step, full, run_q, again, inject, leave, leave_key, leave_root, leave_node;
  tag_t in_tag, new_tag, last_tag;
  tag_t [Stages-1:0]             tag_q;
  logic [Stages-1:0][15:0][63:0] state_q;
  logic [15:0][63:0]             initial_in, first, last;
  logic [7:0][63:0]              begin_in, begin_out, out;

  logic             key_sent_q, keyed_q, root_sent_q, waits_q, fill_q, take_q;
  logic [1:0]       held_q, open_q;       // a bank is in use; its blocks are not all on their way
  logic [5:0]       index_q;
  logic [63:0]      number_q;             // of the next root
  logic [7:0][63:0] hash_q, wait_q;       // of the key's block; the root that waits for a bank
  logic [1:0][7:0][63:0] bank_q;
  logic             fill, send_key, send_root, send_node;

  assign clear    = load_i || wipe_i;
  assign step     = run_q && !full;
  assign last_tag = tag_q[Stages-1];
  assign last     = state_q[Stages-1];
  assign again    = last_tag.valid && last_tag.pass != PassW'(Passes - 1);
  assign leave    = last_tag.valid && !again;
  assign leave_key  = step && leave && last_tag.kind == Key;
  assign leave_root = step && leave && last_tag.kind == Root;
  assign leave_node = step && leave && last_tag.kind == Node;

  // What goes in: the key, roots as soon as there is a place for one, blocks.
  assign send_key  = !key_sent_q;
  assign send_root = keyed_q && !root_sent_q && !waits_q;
  assign send_node = open_q[take_q];
  assign inject    = step && !again;
  assign fill      = waits_q && !held_q[fill_q];
  always_comb begin : p_new
    new_tag       = '0;
    new_tag.valid = send_key || send_root || send_node;
    new_tag.kind  = send_key ? Key : send_root ? Root : Node;
    new_tag.bank  = (send_key || send_root) ? 1'b0 : take_q;
    new_tag.index = index_q;
    in_tag        = new_tag;
    if (again) begin
      in_tag      = last_tag;
      in_tag.pass = last_tag.pass + 1'b1;
    end
  end

  // What a compression begins with.
  function automatic logic [7:0][63:0] chain(kind_e kind, logic [5:0] index, logic [7:0][63:0] hash);
    chain = Iv;
    case (kind)
      Root:    chain = hash;
      Node: begin
        chain[0] = Iv[0] ^ Node0;
        chain[1] = Iv[1] ^ {OutputBytes, 26'd0, index};
        chain[2] = Iv[2] ^ Node2;
      end
      default: begin
        chain[0] = Iv[0] ^ Root0;
        chain[1] = Iv[1] ^ {OutputBytes, 32'd0};
      end
    endcase
  endfunction
  assign begin_in  = chain(new_tag.kind, new_tag.index, hash_q);
  assign begin_out = chain(last_tag.kind, last_tag.index, hash_q);
  always_comb begin : p_initial
    initial_in = {Iv, begin_in};
    case (new_tag.kind)
      Key:     initial_in[12] = Iv[4] ^ 64'd128;
      Root:    initial_in[12] = Iv[4] ^ 64'd136;
      default: initial_in[12] = Iv[4] ^ 64'd64;
    endcase
    if (new_tag.kind != Key) begin
      initial_in[14] = ~Iv[6];
    end
  end
  assign first = again ? last : initial_in;

  for (genvar s = 0; s < Stages; s++) begin : g_half
    logic [15:0][63:0] from, state_d;
    logic [3:0][63:0]  taken;
    tag_t              tag;
    if (s == 0) begin : g_first
      assign from = first;
      assign tag  = in_tag;
    end else begin : g_next
      assign from = state_q[s-1];
      assign tag  = tag_q[s-1];
    end
    // Message words of this stage's round, which is another one in each pass.
    logic [7:0][63:0] words;
    assign words = (tag.kind == Root) ? {448'd0, number_q} : bank_q[tag.bank];
    always_comb begin : p_taken
      taken = '0;
      for (int unsigned p = 0; p < Passes; p++) begin
        for (int unsigned i = 0; i < 4; i++) begin
          automatic int unsigned word;
          word = Sigma[(p * Rounds + s / 4) % 10][8 * (s % 4 / 2) + 2 * i + s % 2];
          if (tag.pass == PassW'(p) && word < 8) begin
            taken[i] = words[word[2:0]];
          end
        end
      end
    end
    rm_blake2b_half #(.Diagonal(s % 4 >= 2), .Second(s % 2 == 1)) i_half (
      .state_i(from), .words_i(taken), .state_o(state_d)
    );
    // Cleared at the clock, by the reset too (rm_blake3_core).
    always_ff @(posedge clk_i) begin : p_stage
      if (clear || !rst_ni) begin
        state_q[s] <= '0;
      end else if (step) begin
        state_q[s] <= state_d;
      end
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_tag
      if (!rst_ni) begin
        tag_q[s] <= '0;
      end else if (clear) begin
        tag_q[s] <= '0;
      end else if (step) begin
        tag_q[s] <= tag;
      end
    end
  end
  for (genvar i = 0; i < 8; i++) begin : g_out
    assign out[i] = begin_out[i] ^ last[i] ^ last[i+8];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_control
    if (!rst_ni) begin
      {run_q, key_sent_q, keyed_q, root_sent_q, waits_q, fill_q, take_q} <= '0;
      {held_q, open_q, index_q, number_q} <= '0;
    end else if (clear) begin
      {key_sent_q, keyed_q, root_sent_q, waits_q, fill_q, take_q} <= '0;
      {held_q, open_q, index_q, number_q} <= '0;
      run_q <= load_i && !wipe_i;
    end else begin
      if (inject) begin
        key_sent_q <= 1'b1;
        if (!send_key && send_root) begin
          root_sent_q <= 1'b1;
        end
        if (!send_key && !send_root && send_node) begin
          index_q <= index_q + 1'b1;
          if (index_q == '1) begin
            open_q[take_q] <= 1'b0;
            take_q         <= !take_q;
          end
        end
      end
      if (leave_key) begin
        keyed_q <= 1'b1;
      end
      if (leave_root) begin
        root_sent_q <= 1'b0;
        waits_q     <= 1'b1;
        number_q    <= number_q + 1'b1;
      end
      if (leave_node && last_tag.index == '1) begin
        held_q[last_tag.bank] <= 1'b0;
      end
      if (fill) begin
        waits_q        <= 1'b0;
        held_q[fill_q] <= 1'b1;
        open_q[fill_q] <= 1'b1;
        fill_q         <= !fill_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin : p_secret
    if (!rst_ni || wipe_i) begin
      hash_q <= '0;
      wait_q <= '0;
      bank_q <= '0;
    end else if (load_i) begin
      hash_q <= '0;
      wait_q <= '0;
      bank_q <= {512'd0, key_i};
    end else begin
      if (leave_key) begin
        hash_q <= out;
      end
      if (leave_root) begin
        wait_q <= out;
      end
      if (fill) begin
        bank_q[fill_q] <= wait_q;
      end
    end
  end

  rm_xof_buffer #(.Width(512)) i_buffer (
    .clk_i, .rst_ni, .clear_i(clear), .push_i(leave_node), .data_i(out), .full_o(full), .block_valid_o, .block_ready_i,
    .block_o
  );

endmodule
