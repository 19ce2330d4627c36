// rm_enc_uniform - uniform residues modulo q, expanded from public seeds: two a cycle in the order of the values.
//
// Equation     BLAKE3 keyed with the seed over "ringmill uniform v1", the label's length in 8 bytes, the label and the limb's number
//              in 4; its output is read as words w of 64 bits. w is taken if w q mod 2^64 >= 2^64 mod q, and gives floor(w q /
//              2^64) (Lemire 2019). N of them for each job, those that are left are dropped: the engine's `uniform`.
// Jobs         job_i puts a seed and a label into a queue of Jobs; the words of each job come after those of the one before.
// Rate         146.3 bits of output a cycle, of which at most one word in sixteen is refused for q < 2^60: 2.14 words a cycle and more.
//              Between jobs 40 cycles pass without words; Depth groups of four words are there for them.
// Reads        row_o while take_i; underrun_o: there was none. Probability below 2^-190 when row 0 is asked for 100 cycles
//              or more after job_i and N >= 2^12 or jobs are N/2 + 64 cycles apart.
module rm_enc_uniform #(
  parameter int unsigned W       = 54,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Limb    = 0,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned Jobs    = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [4:0]        log_n_i,
  input  logic [W-1:0]      q_i,
  input  logic [W-1:0]      threshold_i,    // 2^64 mod q
  input  logic              job_i,
  input  logic              job_key_i,      // label of a public key, else of a ciphertext
  input  logic [7:0][31:0]  job_seed_i,
  input  logic              take_i,
  output logic [1:0][W-1:0] row_o,
  output logic              underrun_o
);

  localparam int unsigned Depth = 32;   // groups of four words
  localparam int unsigned Slack = 8;    // groups that are on their way when the queue says stop

  // ------------------------------------------------- labels: byte 0 comes first
  localparam int unsigned LabelMax    = 33;
  localparam int unsigned KeyBytes    = 12;
  localparam int unsigned CipherBytes = 13;
  function automatic logic [LabelMax-1:0][7:0] label(bit key);
    automatic logic [8*KeyBytes-1:0]    of_key = "public key a";
    automatic logic [8*CipherBytes-1:0] of_c1  = "ciphertext c1";
    label = '0;
    for (int unsigned i = 0; i < (key ? KeyBytes : CipherBytes); i++) begin
      label[i] = key ? of_key[8*(KeyBytes-1-i)+:8] : of_c1[8*(CipherBytes-1-i)+:8];
    end
  endfunction
  localparam logic [LabelMax-1:0][7:0] KeyLabel    = label(1'b1);
  localparam logic [LabelMax-1:0][7:0] CipherLabel = label(1'b0);

  // ------------------------------------------------- jobs
  logic             queued, queue_ready, load, run_q, job_key;
  logic [7:0][31:0] job_seed;
  logic [LogNMax:0] left_d, left_q;
  logic [$clog2(Jobs+1)-1:0] unused_jobs;

  rm_core_fifo #(.Width(257), .Depth(Jobs)) i_jobs (
    .clk_i, .rst_ni, .push_valid_i(job_i), .push_ready_o(queue_ready), .push_data_i({job_key_i, job_seed_i}),
    .pop_valid_o(queued), .pop_ready_i(load), .pop_data_o({job_key, job_seed}), .count_o(unused_jobs)
  );

  logic [15:0][31:0] message;
  logic [6:0]        message_length;
  logic [7:0]        flags;
  rm_uniform_message i_message (
    .label_i(job_key ? KeyLabel : CipherLabel), .label_length_i(job_key ? 6'(KeyBytes) : 6'(CipherBytes)),
    .limb_i(32'(Limb)), .words_o(message), .length_o(message_length), .flags_o(flags)
  );

  // ------------------------------------------------- two generators, a block from each in turn
  logic [1:0]              block_valid, block_ready;
  logic [1:0][15:0][31:0]  block;
  for (genvar i = 0; i < 2; i++) begin : g_core
    rm_blake3_core #(.Rounds(1), .Stride(2), .Depth(4)) i_core (
      .clk_i, .rst_ni, .load_i(load), .wipe_i(1'b0), .cv_i(job_seed), .words_i(message),
      .length_i(message_length), .flags_i(flags), .counter_i(64'(i)),
      .block_valid_o(block_valid[i]), .block_ready_i(block_ready[i]), .block_o(block[i])
    );
  end

  logic             turn_q, half_q, issue, room;
  logic [3:0][63:0] four;
  assign issue       = run_q && room && block_valid[turn_q];
  assign block_ready = {issue && half_q && turn_q, issue && half_q && !turn_q};
  assign four        = half_q ? block[turn_q][15:8] : block[turn_q][7:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_turn
    if (!rst_ni) begin
      turn_q <= 1'b0;
      half_q <= 1'b0;
    end else if (load) begin
      turn_q <= 1'b0;
      half_q <= 1'b0;
    end else if (issue) begin
      half_q <= !half_q;
      turn_q <= turn_q ^ half_q;
    end
  end

  // ------------------------------------------------- words times q
  localparam int unsigned Stages = 1 + rm_modmul_pkg::ProductLatency;
  logic [Stages-1:0]    valid_q;
  logic [3:0]           good_q;
  logic [3:0][W-1:0]    residue_q;
  logic                 good_valid_q;
  for (genvar i = 0; i < 4; i++) begin : g_word
    logic [63:0]   word_q;
    logic [63+W:0] product;
    rm_modmul_product #(.Wa(64), .Wb(W), .Tile(Tile)) i_product (.clk_i, .a_i(word_q), .b_i(q_i), .p_o(product));
    always_ff @(posedge clk_i) begin : p_word
      word_q       <= four[i];
      good_q[i]    <= product[63:0] >= 64'(threshold_i);
      residue_q[i] <= product[63+W:64];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q      <= '0;
      good_valid_q <= 1'b0;
    end else if (load) begin
      valid_q      <= '0;
      good_valid_q <= 1'b0;
    end else begin
      valid_q      <= {valid_q[Stages-2:0], issue};
      good_valid_q <= valid_q[Stages-1];
    end
  end

  // ------------------------------------------------- four at a time into the queue, N of a job
  logic [2:0]        pending_d, pending_q, total;
  logic [6:0][W-1:0] queue;
  logic [2:0][W-1:0] pending_word_d, pending_word_q;
  logic              push, push_ready;
  logic [$clog2(Depth+1)-1:0] count;

  always_comb begin : p_queue
    queue = {{(4*W) {1'b0}}, pending_word_q};
    total = pending_q;
    for (int unsigned i = 0; i < 4; i++) begin
      if (good_valid_q && good_q[i]) begin
        queue[total] = residue_q[i];
        total        = total + 3'd1;
      end
    end
  end
  assign push = total >= 3'd4 && left_q != '0;
  assign load = queued && left_q == '0;
  always_comb begin : p_next
    left_d         = left_q;
    pending_d      = total;
    pending_word_d = queue[2:0];
    if (total >= 3'd4) begin
      pending_d      = total - 3'd4;
      pending_word_d = queue[6:4];
    end
    if (push) begin
      left_d = left_q - (LogNMax + 1)'(4);
    end
    if (load) begin
      left_d    = (LogNMax + 1)'(32'd1 << log_n_i);
      pending_d = '0;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_left
    if (!rst_ni) begin
      left_q    <= '0;
      pending_q <= '0;
      run_q     <= 1'b0;
    end else begin
      left_q    <= left_d;
      pending_q <= pending_d;
      run_q     <= left_d != '0;
    end
  end
  always_ff @(posedge clk_i) begin : p_pending
    pending_word_q <= pending_word_d;
  end

  logic              out_valid, second_q;
  logic [3:0][W-1:0] out;
  rm_core_fifo #(.Width(4 * W), .Depth(Depth)) i_words (
    .clk_i, .rst_ni, .push_valid_i(push), .push_ready_o(push_ready), .push_data_i(queue[3:0]), .pop_valid_o(out_valid),
    .pop_ready_i(take_i && second_q), .pop_data_o(out), .count_o(count)
  );
  assign room       = 32'(count) <= Depth - Slack;
  assign row_o      = second_q ? out[3:2] : out[1:0];
  assign underrun_o = take_i && !out_valid;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_second
    if (!rst_ni) begin
      second_q <= 1'b0;
    end else if (take_i && out_valid) begin
      second_q <= !second_q;
    end
  end

  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_room: assert (!push || push_ready);
      a_jobs: assert (!job_i || queue_ready);
    end
  end

endmodule
