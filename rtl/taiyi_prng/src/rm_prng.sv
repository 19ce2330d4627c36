// rm_prng - the uniform halves of keys from their seed: E residues of a limb a cycle, in the order of the values.
//
// Equation     The engine's `uniform`: BLAKE3 keyed with the seed over context, label and number of the limb (rm_uniform_message); words w
//              of 64 bits are taken if w q mod 2^64 >= 2^64 mod q, and give floor(w q / 2^64) (Lemire 2019). The first
//              N that are taken are the limb, E = 2^LogE of them a row. Label, limb, modulus and N are those of the start.
// Rate         E / 8 generators, E words of 64 bits a cycle. A row leaves as soon as it is full: without refused words in every cycle.
// Latency      start taken to row 0: rm_prng_pkg::latency(LogE) cycles if E words before it are kept; one more for each E refused.
// Interval     ready comes in the cycle after the last row: latency + N/E, and what was refused.
// Handshake    start_*: valid/ready. valid_o with row_o and last_o; it cannot be stalled. A start that is refused (bad_size_o,
//              bad_label_o, bad_modulus_o) does not begin.
// Secrets      none: a seed of a key's uniform half is public.
module rm_prng #(
  parameter int unsigned W       = 36,
  parameter int unsigned LogE    = 4,
  parameter int unsigned LogNMax = 16,
  parameter int unsigned Tile    = rm_modmul_pkg::TileLut
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   start_valid_i,
  output logic                                   start_ready_o,
  input  logic [4:0]                             log_n_i,
  input  logic [7:0][31:0]                       seed_i,
  input  logic [rm_prng_pkg::LabelMax-1:0][7:0]  label_i,
  input  logic [5:0]                             label_length_i,
  input  logic [31:0]                            limb_i,
  input  logic [W-1:0]                           q_i,
  input  logic [W-1:0]                           threshold_i,   // 2^64 mod q
  output logic                                   bad_size_o,
  output logic                                   bad_label_o,
  output logic                                   bad_modulus_o,
  output logic                                   valid_o,
  output logic                                   last_o,
  output logic [(1<<LogE)-1:0][W-1:0]            row_o
);

  localparam int unsigned E     = 1 << LogE;
  localparam int unsigned Cores = E / rm_prng_pkg::BlockWords;
  localparam int unsigned R     = rm_prng_pkg::registers(LogE);
  localparam int unsigned RowsW = LogNMax - LogE + 1;

  if (LogE < 3 || LogNMax < LogE) begin : g_check
    $error("rm_prng: a row has the words of a block at least, and a limb a row");
  end

  // ------------------------------------------------- starts
  logic busy_q, start, load_q, done;
  assign bad_size_o    = start_valid_i && (32'(log_n_i) < LogE || 32'(log_n_i) > LogNMax);
  assign bad_label_o   = start_valid_i && 32'(label_length_i) > rm_prng_pkg::LabelMax;
  assign bad_modulus_o = start_valid_i && (q_i == '0 || threshold_i >= q_i);
  assign start_ready_o = !busy_q && !bad_size_o && !bad_label_o && !bad_modulus_o;
  assign start         = start_valid_i && start_ready_o;

  logic [7:0][31:0]  seed_q;
  logic [15:0][31:0] words_q, words;
  logic [6:0]        length_q, length;
  logic [7:0]        flags_q, flags;
  logic [W-1:0]      q_q, threshold_q;
  logic [RowsW-1:0]  left_q;
  rm_uniform_message i_message (
    .label_i, .label_length_i, .limb_i, .words_o(words), .length_o(length), .flags_o(flags)
  );
  always_ff @(posedge clk_i) begin : p_job
    if (start) begin
      seed_q      <= seed_i;
      words_q     <= words;
      length_q    <= length;
      flags_q     <= flags;
      q_q         <= q_i;
      threshold_q <= threshold_i;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_busy
    if (!rst_ni) begin
      busy_q <= 1'b0;
      load_q <= 1'b0;
      left_q <= '0;
    end else begin
      load_q <= start;
      if (start) begin
        busy_q <= 1'b1;
        left_q <= RowsW'(32'd1 << (log_n_i - 5'(LogE)));
      end else if (valid_o) begin
        busy_q <= !done;
        left_q <= left_q - RowsW'(1);
      end
    end
  end

  // ------------------------------------------------- words of 64 bits, E a cycle
  logic [Cores-1:0]       block_valid;
  logic [E-1:0][63:0]     word;
  logic                   take, running_q;
  for (genvar i = 0; i < Cores; i++) begin : g_core
    rm_blake3_core #(.Rounds(7), .Stride(Cores)) i_core (
      .clk_i, .rst_ni, .load_i(load_q), .wipe_i(1'b0), .cv_i(seed_q), .words_i(words_q), .length_i(length_q),
      .flags_i(flags_q), .counter_i(64'(i)), .block_valid_o(block_valid[i]), .block_ready_i(take),
      .block_o(word[rm_prng_pkg::BlockWords*i+:rm_prng_pkg::BlockWords])
    );
  end
  // From the load on: what the generators have before it belongs to the limb before.
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_running
    if (!rst_ni) begin
      running_q <= 1'b0;
    end else begin
      running_q <= (running_q || load_q) && !done;
    end
  end
  assign take = running_q && &block_valid;

  // ------------------------------------------------- words times q
  localparam int unsigned ToGood = 1 + rm_modmul_pkg::ProductLatency + 1;
  logic [E-1:0]        good_q;
  logic [E-1:0][W-1:0] residue_q;
  for (genvar i = 0; i < E; i++) begin : g_word
    logic [63:0]   word_q;
    logic [63+W:0] product;
    rm_modmul_product #(.Wa(64), .Wb(W), .Tile(Tile)) i_product (.clk_i, .a_i(word_q), .b_i(q_q), .p_o(product));
    always_ff @(posedge clk_i) begin : p_word
      word_q       <= word[i];
      good_q[i]    <= product[63:0] >= 64'(threshold_q);
      residue_q[i] <= product[63+W:64];
    end
  end

  // ------------------------------------------------- those that are taken move together
  localparam int unsigned Cw = LogE + 1;
  logic [E:0][Cw-1:0]    kept;
  logic [E-1:0]          good_counted;
  logic [E-1:0][W-1:0]   counted, packed_row;
  logic [E-1:0][LogE-1:0] down;
  rm_prng_count #(.E(E)) i_count (.clk_i, .flag_i(good_q), .count_o(kept));
  rm_delay_line #(.Width(E * W + E), .Cycles(R)) i_counted (
    .clk_i, .data_i({good_q, residue_q}), .data_o({good_counted, counted})
  );
  for (genvar i = 0; i < E; i++) begin : g_down
    assign down[i] = LogE'(i) - kept[i][LogE-1:0];
  end
  rm_prng_pack #(.W(W), .E(E)) i_pack (
    .clk_i, .keep_i(good_counted), .down_i(down), .row_i(counted), .row_o(packed_row)
  );

  // ------------------------------------------------- and fill rows: `pending` words wait for more
  localparam int unsigned ToPacked = ToGood + 2 * R;
  logic [ToPacked-1:0]   valid_q;
  logic [Cw-1:0]         number;
  logic [LogE-1:0]       fill_q;
  logic [Cw-1:0]         fill_next;
  logic                  full, full_turned;
  logic [LogE-1:0]       fill_turned;
  logic                  valid_turned;
  logic [E-1:0][W-1:0]   turned, pending_q;
  rm_delay_line #(.Width(Cw), .Cycles(R)) i_number (.clk_i, .data_i(kept[E]), .data_o(number));
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= {valid_q[ToPacked-2:0], take} & {ToPacked{running_q}};
    end
  end
  assign fill_next = Cw'(fill_q) + number;
  assign full      = fill_next[LogE];
  always_ff @(posedge clk_i) begin : p_fill
    if (load_q) begin
      fill_q <= '0;
    end else if (valid_q[ToPacked-1]) begin
      fill_q <= fill_next[LogE-1:0];
    end
  end
  rm_prng_turn #(.W(W), .E(E)) i_turn (.clk_i, .by_i(fill_q), .row_i(packed_row), .row_o(turned));
  rm_delay_line #(.Width(LogE + 1), .Cycles(R)) i_place (
    .clk_i, .data_i({full, fill_q}), .data_o({full_turned, fill_turned})
  );
  logic [R-1:0] turning_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_turning
    if (!rst_ni) begin
      turning_q <= '0;
    end else begin
      turning_q <= R'({turning_q, valid_q[ToPacked-1]}) & {R{running_q}};
    end
  end
  assign valid_turned = turning_q[R-1];

  // Places from fill_turned on take new words. Where the row is full, what is turned to the places below waits for the next.
  logic                row_valid_q;
  logic [E-1:0][W-1:0] row_q;
  always_ff @(posedge clk_i) begin : p_row
    if (valid_turned) begin
      for (int unsigned i = 0; i < E; i++) begin
        row_q[i] <= (i < 32'(fill_turned)) ? pending_q[i] : turned[i];
        if (full_turned || i >= 32'(fill_turned)) begin
          pending_q[i] <= turned[i];
        end
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_row_valid
    if (!rst_ni) begin
      row_valid_q <= 1'b0;
    end else begin
      row_valid_q <= valid_turned && full_turned && running_q && !done;
    end
  end
  assign valid_o = row_valid_q;
  assign row_o   = row_q;
  assign done    = row_valid_q && left_q == RowsW'(1);
  assign last_o  = done;

endmodule
