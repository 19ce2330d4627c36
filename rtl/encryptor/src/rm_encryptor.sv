// rm_encryptor - encryption, key generation and decryption as one pipeline: a polynomial of every limb each N/P cycles.
//
// Equation     rm_enc_pkg's modes, modulo the q_i of all limbs, canonical residues, with the samples and expansions of the engine for the
//              same seeds. The message and the errors are added as coefficients, so a limb has three transforms (v, e0, e1).
// Interval     N/P cycles for a whole encryption, when samples are drawn as fast (schedule.py): the next ones are drawn meanwhile.
//              Jobs that expand public seeds start N/P + 64 cycles apart below N = 2^12.
// Latency      rm_enc_pkg::begin_lead and latency from start to the first row of the result, N/P - 1 more to the last; of a job that
//              is divided rm_enc_pkg::extra_latency more.
// Division     With Extra: a job that is divided starts in the lane of p, and begins in the limbs when its rest is there. Others begin
//              when no such job is on its way, so results keep the order of jobs.
// SEAL         With Seal: jobs of mode Seal, drawn as SEAL draws from a seed of 64 bytes, which job_secret_seed_i is as wide as then. They
//              start, and their results come, as mode Divided.
// Jobs         job_*: rm_enc_jobs. What a job does not use of its inputs is not read. The secret seed is taken with the handshake and kept
//              in the generator alone, which wipes it when all is drawn.
// Promises     The pipeline does not stall. operand_valid_i promises the rows of the next job's message and keys (Public), message
//              (Symmetric) or parts (Decrypt); room_i space for its results. start_o takes both. Divided: also extra_*. Rows are then asked for, message_re_o
//              and key_re_o, and stand there in the next cycle. A row that is missing (its valid is low), or a word of a
//              message or of c0 that is no residue, makes result_bad_o with every row of that job from there on, the last one
//              at the latest.
// Keys         key_row_i[0] is b, key_row_i[1] is a, and so of extra_key_row_i modulo p; of a decryption c1 and c0. No factor is in them. Orders: rm_streaming_ntt, feed-forward.
// Secret key   secret_*: rm_enc_secret; taken while secret_free_o, when no job is inside. No output depends on it but the results
//              of the modes that need it.
// Status       waiting_o: the job at hand waits for samples (0), operands (1), room (2).
// Fault        fault_o: a unit was not ready in its cycle; it does not happen, and stays until reset.
module rm_encryptor #(
  parameter int unsigned Limbs    = 4,
  parameter int unsigned W        = 60,    // of limb 0, and of the ports
  parameter int unsigned WRest    = 60,    // of the others
  parameter int unsigned Kind     = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned KindRest = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile     = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogP     = 1,
  parameter int unsigned LogNMax  = 14,
  parameter int unsigned LogNMin  = 10,
  parameter int unsigned Doubles  = 10,    // double rounds of ChaCha20
  parameter bit          Seeded   = 1'b1,  // with expansions of public seeds: P = 2
  parameter bit          Extra    = 1'b0,  // with the division by an extra prime of W bits
  parameter bit          Seal     = 1'b0,  // with SEAL's samples, which are divided
  parameter int unsigned SealRounds = 12,  // rounds of its BLAKE2b
  localparam int unsigned P       = 1 << LogP,
  localparam int unsigned LogRows = LogNMax - LogP,
  localparam int unsigned SeedWords = Seal ? 16 : 8,
  localparam int unsigned Moduli  = Limbs + (Extra ? 2 : 0),
  localparam int unsigned LimbW   = (Moduli > 1) ? $clog2(Moduli) : 1
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 cold_ni,
  input  logic [4:0]                           log_n_i,
  output logic                                 bad_size_o,
  output logic                                 busy_o,
  output logic                                 fault_o,
  output logic [2:0]                           waiting_o,
  input  logic                                 cfg_we_i,
  input  logic [LimbW-1:0]                     cfg_limb_i,
  input  logic [4:0]                           cfg_field_i,
  input  logic [W+1:0]                         cfg_data_i,
  input  logic                                 prepare_i,
  output logic                                 prepare_ready_o,
  // secret key
  output logic                                 secret_free_o,
  input  logic                                 secret_begin_i,
  input  logic                                 secret_we_i,
  input  logic [31:0]                          secret_data_i,
  output logic                                 secret_ready_o,
  // jobs
  input  logic                                 job_valid_i,
  output logic                                 job_ready_o,
  input  logic [rm_enc_pkg::ModeW-1:0]            job_mode_i,
  input  logic [63:0]                          job_number_i,
  input  logic [SeedWords-1:0][31:0]           job_secret_seed_i,
  input  logic [7:0][31:0]                     job_public_seed_i,
  output logic                                 refused_o,
  output logic [rm_enc_pkg::RefusalW-1:0]         refusal_o,
  // promises
  input  logic                                 operand_valid_i,
  input  logic                                 room_i,
  output logic                                 start_o,
  output logic [rm_enc_pkg::ModeW-1:0]            start_mode_o,
  // message, coefficients
  output logic                                 message_re_o,
  output logic [LogRows-1:0]                   message_time_o,
  input  logic                                 message_valid_i,
  input  logic [Limbs-1:0][P-1:0][W-1:0]       message_row_i,
  // keys, values
  output logic                                 key_re_o,
  output logic [LogRows-1:0]                   key_time_o,
  input  logic                                 key_valid_i,
  input  logic [1:0][Limbs-1:0][P-1:0][W-1:0]  key_row_i,
  // keys modulo p, values
  output logic                                 extra_key_re_o,
  output logic [LogRows-1:0]                   extra_key_time_o,
  input  logic                                 extra_key_valid_i,
  input  logic [1:0][P-1:0][W-1:0]             extra_key_row_i,
  // result, values
  output logic                                 result_valid_o,
  output logic [1:0]                           result_parts_o,   // which of the two are results
  output logic [LogRows-1:0]                   result_time_o,
  output logic                                 result_bad_o,
  output logic [1:0][Limbs-1:0][P-1:0][W-1:0]  result_row_o
);

  import rm_enc_pkg::*;
  import rm_sampler_pkg::SampleW;
  import rm_sampler_pkg::Lanes;

  localparam int unsigned M       = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Lead    = rm_stream_pkg::lead(Kind, W);
  localparam int unsigned RowsMin = 1 << (LogNMin - LogP);
  localparam int unsigned Begin   = begin_lead(Extra);     // before the transforms of the limbs
  localparam int unsigned Chain   = Begin + latency(Kind, W, LogP, LogNMin, LogNMax)
      + (Extra ? extra_latency(Kind, W, LogP, LogNMin, LogNMax) : 0);
  localparam int unsigned Inside  = Chain / RowsMin + 3;   // most jobs between start and last row
  localparam int unsigned InsideW = $clog2(Inside + 1);
  // The samples of a job that is divided are read until its last row is in the limbs.
  localparam int unsigned LogSets = Extra ? SetW : 1;
  localparam int unsigned Sets    = 1 << LogSets;
  // Errors are drawn while v is in the lane of p, where that is long enough; whole says whether they were.
  localparam bit          Early   = Extra && drawn_by_begin(Kind, W, LogP, LogNMin, LogNMax, Doubles);
  localparam bit          EarlySeal = Seal && seal_drawn_by_begin(Kind, W, LogP, LogNMin, LogNMax, SealRounds);

  if (Limbs > 1 && rm_modmul_pkg::latency(KindRest, WRest) != M) begin : g_check_latency
    $error("rm_encryptor: the multipliers of all limbs must have one latency");
  end
  if (Seeded && LogP != 1) begin : g_check_seeded
    $error("rm_encryptor: expansions of seeds come in the order of the values only at P = 2");
  end
  if (WRest > W || LogNMin < LogP + 5) begin : g_check_size
    $error("rm_encryptor: limb 0 is the widest, N / P >= 32");
  end
  if (Extra && !(rm_modmul_pkg::family(Kind) inside {
      rm_modmul_pkg::KindMontgomery, rm_modmul_pkg::KindBarrett, rm_modmul_pkg::KindNtt})) begin : g_check_extra
    $error("rm_encryptor: the division multiplies words of p modulo narrower q, which this kind does not");
  end

  if (Seal && !Extra) begin : g_check_seal
    $error("rm_encryptor: what SEAL encrypts is divided by the extra prime");
  end

  logic [4:0]       log_rows;
  logic [LimbW-1:0] unused_limb;
  assign log_rows    = log_n_i - 5'(LogP);
  assign unused_limb = cfg_limb_i;

  // ------------------------------------------------- jobs and their samples
  logic               draw_seal;
  logic               accept, draw, draw_ternary, draw_busy, draw_fault, head_valid, jobs_busy, release_now, start;
  logic               secret_ready, begin_job, begin_ready;
  logic [LogSets-1:0] draw_set, head_set, release_set;
  logic [Sets-1:0]    whole;
  logic [1:0]         draw_gaussians;
  logic [ModeW-1:0]   head_mode;
  logic [InsideW-1:0] inside_q;
  logic               result_last;

  localparam int unsigned TritAddrW = $clog2((rm_sampler_pkg::trit_bytes(LogNMax) + 3) / 4);
  logic                          trit_we, gauss_poly;
  logic [TritAddrW-1:0]          trit_addr;
  logic [31:0]                   trit_data;
  logic [Lanes-1:0]              gauss_we;
  logic [LogNMax-4:0]            gauss_addr;
  logic [Lanes-1:0][SampleW-1:0] gauss_data;
  rm_enc_jobs #(
    .Seeded(Seeded), .Extra(Extra), .Early(Early), .WithSeal(Seal), .EarlySeal(EarlySeal), .LogSets(LogSets)
  ) i_jobs (
    .clk_i, .rst_ni, .cold_ni, .bad_size_i(bad_size_o), .secret_ready_i(secret_ready), .job_valid_i, .job_ready_o,
    .job_mode_i, .job_number_i, .refused_o, .refusal_o, .draw_o(draw), .draw_seal_o(draw_seal),
    .draw_ternary_o(draw_ternary),
    .draw_gaussians_o(draw_gaussians), .draw_set_o(draw_set), .draw_busy_i(draw_busy), .draw_fault_i(draw_fault),
    .ternary_done_i(gauss_we != '0),
    .accept_o(accept), .head_valid_o(head_valid), .head_mode_o(head_mode), .head_set_o(head_set), .whole_o(whole),
    .take_i(start),
    .release_i(release_now), .release_set_i(release_set), .busy_o(jobs_busy)
  );

  // Samples of the engine, and of SEAL; one sampler draws at a time.
  typedef struct packed {
    logic                          busy, fault, trit_we, gauss_poly;
    logic [TritAddrW-1:0]          trit_addr;
    logic [31:0]                   trit_data;
    logic [Lanes-1:0]              gauss_we;
    logic [LogNMax-4:0]            gauss_addr;
    logic [Lanes-1:0][SampleW-1:0] gauss_data;
  } drawn_t;
  drawn_t own, drawn;
  rm_secret_sampler #(.Doubles(Doubles), .LogNMax(LogNMax)) i_sampler (
    .clk_i, .rst_ni, .log_n_i, .start_i(draw && !draw_seal), .ternary_i(draw_ternary), .gaussians_i(draw_gaussians),
    .seed_i(job_secret_seed_i[7:0]), .busy_o(own.busy), .fault_o(own.fault), .trit_we_o(own.trit_we),
    .trit_addr_o(own.trit_addr), .trit_data_o(own.trit_data), .gauss_we_o(own.gauss_we), .gauss_poly_o(own.gauss_poly),
    .gauss_addr_o(own.gauss_addr), .gauss_data_o(own.gauss_data)
  );
  if (Seal) begin : g_seal
    logic   of_seal_q;   // the last draw
    drawn_t seal;
    rm_seal_sampler #(.Rounds(SealRounds), .LogNMax(LogNMax)) i_draw (
      .clk_i, .rst_ni, .log_n_i, .start_i(draw_seal), .seed_i(job_secret_seed_i), .busy_o(seal.busy),
      .trit_we_o(seal.trit_we), .trit_addr_o(seal.trit_addr), .trit_data_o(seal.trit_data), .gauss_we_o(seal.gauss_we),
      .gauss_poly_o(seal.gauss_poly), .gauss_addr_o(seal.gauss_addr), .gauss_data_o(seal.gauss_data)
    );
    assign seal.fault = 1'b0;
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_of_seal
      if (!rst_ni) begin
        of_seal_q <= 1'b0;
      end else if (draw) begin
        of_seal_q <= draw_seal;
      end
    end
    assign drawn = of_seal_q ? seal : own;
  end else begin : g_own
    assign drawn = own;
  end
  assign draw_busy  = drawn.busy;
  assign draw_fault = drawn.fault;
  assign trit_we    = drawn.trit_we;
  assign trit_addr  = drawn.trit_addr;
  assign trit_data  = drawn.trit_data;
  assign gauss_we   = drawn.gauss_we;
  assign gauss_poly = drawn.gauss_poly;
  assign gauss_addr = drawn.gauss_addr;
  assign gauss_data = drawn.gauss_data;

  // ------------------------------------------------- starts
  logic                     extra_ready, extra_fault, extra_prepared, extra_begin, limb_start;
  logic                     unused_gate_start, unused_gate_busy;
  logic [InsideW-1:0]       on_way_q;    // jobs between their start in the lane and their begin
  info_t                    start_info, extra_info, begin_info;
  logic [1:0][P-1:0][W-1:0] magnitude;
  logic [1:0][P-1:0]        negative;
  logic [1:0][P-1:0][SampleW-1:0] rounded;
  logic [Limbs-1:0] start_ready, ahead, over, key_over, underrun, limb_fault, limb_bad_size, prepared;
  logic             operand_ok, apart_ok, seeded_head, divided_head, gate_ok, late_q;
  logic [6:0]       apart_q;

  assign seeded_head  = head_mode == Symmetric || head_mode == PublicKey;
  assign operand_ok   = head_mode == PublicKey || operand_valid_i;
  assign apart_ok     = apart_q == '0 || !seeded_head;
  assign divided_head = head_mode == Divided;
  assign gate_ok      = divided_head ? extra_ready : begin_ready && on_way_q == '0;
  assign start        = head_valid && operand_ok && room_i && apart_ok && gate_ok && !bad_size_o;
  assign start_o      = start;
  assign start_mode_o = head_mode;
  assign waiting_o    = {head_valid && !room_i, head_valid && !operand_ok, jobs_busy && !head_valid};
  assign bad_size_o   = limb_bad_size[0];
  assign busy_o       = inside_q != '0 || jobs_busy;

  // Cycles in which an expansion may not start after one: counted from when the transforms could.
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_apart
    if (!rst_ni) begin
      apart_q <= '0;
    end else if (start && seeded_head && log_n_i < 5'd12) begin
      apart_q <= 7'd64;
    end else if (apart_q != '0 && begin_ready) begin
      apart_q <= apart_q - 1'b1;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_inside
    if (!rst_ni) begin
      inside_q <= '0;
      late_q   <= 1'b0;
    end else begin
      inside_q <= inside_q + InsideW'(start) - InsideW'(result_last);
      late_q   <= late_q || (begin_job && !begin_ready) || (limb_start && start_ready != '1);
    end
  end
  assign fault_o = limb_fault != '0 || extra_fault || late_q;

  // ------------------------------------------------- the lane of p; begins in the limbs
  assign start_info = '{mode: head_mode, set: SetW'(head_set), bad: 1'b0};
  assign begin_job  = extra_begin || (start && !divided_head);
  always_comb begin : p_begin
    begin_info = start_info;
    if (extra_begin) begin
      begin_info     = extra_info;
      begin_info.bad = extra_info.bad || !whole[extra_info.set[LogSets-1:0]];
    end
  end
  rm_stream_gate #(.LogRows(LogRows), .Polys(Inside)) i_gate (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .bad_size_i(bad_size_o), .start_valid_i(begin_job),
    .start_ready_o(begin_ready), .start_o(unused_gate_start), .last_i(release_now), .busy_o(unused_gate_busy)
  );
  if (Extra) begin : g_extra
    logic                     ahead_extra, of_extra, of_inverse, unused_start_mod;
    logic [W-1:0]             p;
    logic [1:0][P-1:0][W-1:0] row;
    info_t                    ahead_info;
    assign of_extra   = cfg_we_i && cfg_limb_i == LimbW'(Limbs);
    assign of_inverse = cfg_we_i && cfg_limb_i == LimbW'(Limbs + 1);
    rm_enc_extra #(
      .W(W), .Kind(Kind), .Tile(Tile), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin), .Inside(Inside)
    ) i_lane (
      .clk_i, .rst_ni, .log_n_i, .fault_o(extra_fault), .cfg_we_i(of_extra), .cfg_inverse_we_i(of_inverse),
      .cfg_field_i, .cfg_data_i, .prepare_i, .prepare_ready_o(extra_prepared), .p_o(p), .trit_we_i(trit_we),
      .trit_set_i(draw_set), .trit_addr_i(trit_addr), .trit_data_i(trit_data), .start_i(start && divided_head),
      .start_info_i(start_info), .ready_o(extra_ready), .key_re_o(extra_key_re_o), .key_time_o(extra_key_time_o),
      .key_valid_i(extra_key_valid_i), .key_row_i(extra_key_row_i), .ahead_o(ahead_extra), .info_o(ahead_info),
      .row_o(row)
    );
    // Samples stand two cycles after the begin, beside the row.
    rm_stream_tag #(.Cycles(Lead - 2), .ModW(InfoW)) i_begin (
      .clk_i, .rst_ni, .first_i(ahead_extra), .mod_i(ahead_info), .first_o(extra_begin), .mod_o(extra_info)
    );
    rm_enc_round #(.W(W), .P(P)) i_round (
      .clk_i, .p_i(p), .row_i(row), .sample_i(rounded), .magnitude_o(magnitude), .negative_o(negative)
    );
    rm_stream_tag #(.Cycles(Begin), .ModW(1)) i_start (
      .clk_i, .rst_ni, .first_i(begin_job), .mod_i(1'b0), .first_o(limb_start), .mod_o(unused_start_mod)
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_on_way
      if (!rst_ni) begin
        on_way_q <= '0;
      end else begin
        on_way_q <= on_way_q + InsideW'(start && divided_head) - InsideW'(extra_begin);
      end
    end
  end else begin : g_no_extra
    assign extra_ready      = 1'b0;
    assign extra_fault      = 1'b0;
    assign extra_prepared   = 1'b1;
    assign extra_begin      = 1'b0;
    assign extra_info       = '0;
    assign extra_key_re_o   = 1'b0;
    assign extra_key_time_o = '0;
    assign magnitude        = '0;
    assign negative         = '0;
    assign on_way_q         = '0;
    assign limb_start       = begin_job;
    logic unused_extra;
    assign unused_extra = ^{extra_key_valid_i, extra_key_row_i, rounded};
  end

  // ------------------------------------------------- rows in: samples, secret key, message
  logic                in_first, in_valid, in_last;
  logic [LogRows-1:0]  in_time;
  info_t               in_tag, in_info;

  rm_stream_tag #(.Cycles(Begin + Lead - 3), .ModW(InfoW)) i_in_tag (
    .clk_i, .rst_ni, .first_i(begin_job), .mod_i(begin_info), .first_o(in_first), .mod_o(in_tag)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_in_clock (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(in_first), .mod_i(in_tag), .valid_o(in_valid), .time_o(in_time),
    .mod_o(in_info)
  );
  assign in_last        = in_valid && in_time == LogRows'((32'd1 << log_rows) - 32'd1);
  assign release_now    = in_last;
  assign release_set    = in_info.set[LogSets-1:0];
  assign message_re_o   = in_valid && (in_info.mode == Public || in_info.mode == Symmetric || in_info.mode == Divided);
  assign message_time_o = in_time;

  logic [P-1:0][1:0]              drawn_digit, secret_digit, digit;
  logic [1:0][P-1:0][SampleW-1:0] sample;
  logic                           from_secret;
  assign from_secret = in_info.mode != Public && in_info.mode != Divided;

  rm_enc_trits #(.LogP(LogP), .LogNMax(LogNMax), .LogSets(LogSets)) i_trits (
    .clk_i, .rst_ni, .log_n_i, .we_i(trit_we), .wset_i(draw_set), .waddr_i(trit_addr), .wdata_i(trit_data),
    .first_i(in_first), .next_i(in_valid), .rset_i(in_info.set[LogSets-1:0]), .digit_o(drawn_digit)
  );
  // With the division errors are read first, and wait for their row where nothing is divided.
  localparam int unsigned SampleWait = Extra ? M + RoundLatency : 0;
  logic                           sample_re;
  logic [LogRows-1:0]             sample_time;
  logic [LogSets-1:0]             sample_set;
  logic [1:0][P-1:0][SampleW-1:0] sample_now;
  if (Extra) begin : g_sample
    logic  sample_first;
    info_t sample_tag, sample_info;
    rm_stream_tag #(.Cycles(1), .ModW(InfoW)) i_tag (
      .clk_i, .rst_ni, .first_i(begin_job), .mod_i(begin_info), .first_o(sample_first), .mod_o(sample_tag)
    );
    rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_clock (
      .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(sample_first), .mod_i(sample_tag), .valid_o(sample_re),
      .time_o(sample_time), .mod_o(sample_info)
    );
    assign sample_set = sample_info.set[LogSets-1:0];
    logic unused_info;
    assign unused_info = ^{sample_info.mode, sample_info.bad};
  end else begin : g_sample_beside
    assign sample_re   = in_valid;
    assign sample_time = in_time;
    assign sample_set  = in_info.set[LogSets-1:0];
  end
  assign rounded = sample_now;
  rm_delay_line #(.Width(2 * P * SampleW), .Cycles(SampleWait)) i_sample (
    .clk_i, .data_i(sample_now), .data_o(sample)
  );
  for (genvar i = 0; i < 2; i++) begin : g_gaussian
    rm_enc_gaussian #(.LogP(LogP), .LogNMax(LogNMax), .LogSets(LogSets)) i_gaussian (
      .clk_i, .log_n_i, .we_i((gauss_poly == 1'(i)) ? gauss_we : '0), .wset_i(draw_set), .waddr_i(gauss_addr),
      .wdata_i(gauss_data), .re_i(sample_re), .rset_i(sample_set), .time_i(sample_time), .sample_o(sample_now[i])
    );
  end
  assign secret_free_o  = !busy_o;
  assign secret_ready_o = secret_ready;
  rm_enc_secret #(.LogP(LogP), .LogNMax(LogNMax)) i_secret (
    .clk_i, .rst_ni, .log_n_i, .begin_i(secret_begin_i && secret_free_o), .we_i(secret_we_i && secret_free_o),
    .data_i(secret_data_i), .ready_o(secret_ready), .re_i(in_valid), .use_i(from_secret), .time_i(in_time),
    .digit_o(secret_digit)
  );

  // One cycle later: the rows stand there.
  logic  row_valid_q, row_first_q, row_last_q, use_error, use_message, divided, missing;
  info_t row_info_q;
  assign divided     = row_info_q.mode == Divided;
  assign digit       = (row_info_q.mode == Public || divided) ? drawn_digit : secret_digit;
  assign use_error   = row_info_q.mode != Decrypt;
  assign use_message = row_info_q.mode == Public || row_info_q.mode == Symmetric || divided;
  assign missing     = use_message && !message_valid_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_row_valid
    if (!rst_ni) begin
      row_valid_q <= 1'b0;
    end else begin
      row_valid_q <= in_valid;
    end
  end
  always_ff @(posedge clk_i) begin : p_row
    row_first_q <= in_first;
    row_last_q  <= in_last;
    row_info_q  <= in_info;
  end

  // Two more: the limbs say whether a word was no residue.
  logic [1:0] check_valid_q;
  logic       check_first, check_last, check_missing, bad_q, bad_now, unused_slots_ready;
  info_t      check_info, push_info, pop_info;
  logic [$clog2(Inside+1)-1:0] unused_slots;
  logic       unused_pop_valid;
  rm_delay_line #(.Width(InfoW + 3), .Cycles(2)) i_check (
    .clk_i, .data_i({row_info_q, row_first_q, row_last_q, missing}),
    .data_o({check_info, check_first, check_last, check_missing})
  );
  assign bad_now = (bad_q && !check_first) || check_missing || over != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_check
    if (!rst_ni) begin
      check_valid_q <= '0;
      bad_q         <= 1'b0;
    end else begin
      check_valid_q <= {check_valid_q[0], row_valid_q};
      bad_q         <= bad_now;
    end
  end
  always_comb begin : p_push
    push_info     = check_info;
    push_info.bad = bad_now || check_info.bad;
  end
  rm_core_fifo #(.Width(InfoW), .Depth(Inside)) i_slots (
    .clk_i, .rst_ni, .push_valid_i(check_valid_q[1] && check_last), .push_ready_o(unused_slots_ready),
    .push_data_i(push_info), .pop_valid_o(unused_pop_valid), .pop_ready_i(ahead[0]), .pop_data_o(pop_info),
    .count_o(unused_slots)
  );

  // ------------------------------------------------- rows of keys, beside those that leave the transforms
  logic               key_first, key_valid, row_key_q, key_bad_q, key_bad;
  logic [LogRows-1:0] key_time, key_time_q;
  logic               key_first_q, key_last_q, from_port_q, from_seed_q, decrypt;
  info_t              key_tag, key_info, key_info_q;

  rm_stream_tag #(.Cycles(Lead - 1), .ModW(InfoW)) i_key_tag (
    .clk_i, .rst_ni, .first_i(ahead[0]), .mod_i(pop_info), .first_o(key_first), .mod_o(key_tag)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_key_clock (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(key_first), .mod_i(key_tag), .valid_o(key_valid),
    .time_o(key_time), .mod_o(key_info)
  );
  assign key_re_o   = key_valid && (key_info.mode == Public || key_info.mode == Decrypt || key_info.mode == Divided);
  assign key_time_o = key_time;
  assign decrypt    = key_info_q.mode == Decrypt;
  assign key_bad    = key_info_q.bad || (key_bad_q && !key_first_q) || (from_port_q && !key_valid_i) || key_over != '0
      || underrun != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_key_valid
    if (!rst_ni) begin
      row_key_q   <= 1'b0;
      from_port_q <= 1'b0;
      from_seed_q <= 1'b0;
      key_bad_q   <= 1'b0;
    end else begin
      row_key_q   <= key_valid;
      from_port_q <= key_re_o;
      from_seed_q <= key_valid && !key_re_o;
      key_bad_q   <= key_bad;
    end
  end
  always_ff @(posedge clk_i) begin : p_key
    key_time_q  <= key_time;
    key_first_q <= key_first;
    key_last_q  <= key_time == LogRows'((32'd1 << log_rows) - 32'd1);
    key_info_q  <= key_info;
  end

  // ------------------------------------------------- public seeds of the jobs whose samples are drawn
  logic [Sets-1:0][7:0][31:0] public_seed_q;
  always_ff @(posedge clk_i) begin : p_seed
    if (accept) begin
      public_seed_q[draw_set] <= job_public_seed_i;
    end
  end

  // ------------------------------------------------- limbs
  for (genvar i = 0; i < Limbs; i++) begin : g_limb
    localparam int unsigned Wi = (i == 0) ? W : WRest;
    localparam int unsigned Ki = (i == 0) ? Kind : KindRest;
    logic                      we;
    logic [Wi-1:0]             q;
    logic [P-1:0][Wi-1:0]      message;
    logic [1:0][P-1:0][Wi-1:0] key, result;
    logic [1:0][P-1:0]         high;      // words of limbs with fewer bits than the port
    logic [P-1:0]              high_message;
    assign we = cfg_we_i && (Moduli == 1 || cfg_limb_i == LimbW'(i));

    for (genvar l = 0; l < P; l++) begin : g_lane
      assign message[l]      = message_row_i[i][l][Wi-1:0];
      assign high_message[l] = use_message && message_row_i[i][l] != W'(message[l]);
      for (genvar c = 0; c < 2; c++) begin : g_part
        assign high[c][l] = key_row_i[c][i][l] != W'(key_row_i[c][i][l][Wi-1:0]);
        assign result_row_o[c][i][l] = W'(result[c][l]);
      end
    end

    if (Seeded) begin : g_seeded
      logic [Wi-1:0]       threshold_q;
      logic [1:0][Wi-1:0]  seeded_row;
      always_ff @(posedge clk_i) begin : p_threshold
        if (we && cfg_field_i == FieldThreshold) begin
          threshold_q <= cfg_data_i[Wi-1:0];
        end
      end
      rm_enc_uniform #(.W(Wi), .Tile(Tile), .Limb(i), .LogNMax(LogNMax), .Jobs(Inside)) i_uniform (
        .clk_i, .rst_ni, .log_n_i, .q_i(q), .threshold_i(threshold_q), .job_i(start && seeded_head),
        .job_key_i(head_mode == PublicKey), .job_seed_i(public_seed_q[head_set]), .take_i(from_seed_q),
        .row_o(seeded_row), .underrun_o(underrun[i])
      );
      for (genvar l = 0; l < P; l++) begin : g_key
        assign key[0][l] = from_seed_q ? seeded_row[l] : key_row_i[0][i][l][Wi-1:0];
        assign key[1][l] = key_row_i[1][i][l][Wi-1:0];
      end
    end else begin : g_not_seeded
      assign underrun[i] = 1'b0;
      logic unused_seeds;
      assign unused_seeds = ^{q, public_seed_q};
      for (genvar l = 0; l < P; l++) begin : g_key
        assign key[0][l] = key_row_i[0][i][l][Wi-1:0];
        assign key[1][l] = key_row_i[1][i][l][Wi-1:0];
      end
    end

    logic limb_over, limb_key_over, high_q, high_late_q;
    rm_enc_limb #(
      .W(Wi), .Kind(Ki), .Tile(Tile), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin), .Extra(Extra), .WExtra(W),
      .KindDivide(divide_kind(Kind, W, Wi))
    ) i_limb (
      .clk_i, .rst_ni, .log_n_i, .bad_size_o(limb_bad_size[i]), .fault_o(limb_fault[i]), .cfg_we_i(we), .cfg_field_i,
      .cfg_data_i, .prepare_i, .prepare_ready_o(prepared[i]), .q_o(q), .start_i(limb_start),
      .start_ready_o(start_ready[i]), .ahead_o(ahead[i]), .magnitude_i(magnitude), .negative_i(negative),
      .divided_i(divided), .use_error_i(use_error), .use_message_i(use_message),
      .digit_i(digit), .sample_i(sample), .message_i(message), .over_o(limb_over), .subtract_i(from_seed_q),
      .decrypt_i(decrypt), .key_i(key), .key_over_o(limb_key_over), .result_o(result)
    );
    always_ff @(posedge clk_i) begin : p_high
      high_q      <= high_message != '0;
      high_late_q <= high_q;
    end
    assign over[i]     = limb_over || high_late_q;
    assign key_over[i] = from_port_q && (limb_key_over || high != '0);
  end
  assign prepare_ready_o = prepared == '1 && extra_prepared;

  // ------------------------------------------------- result: rows of keys, M + 3 cycles later
  localparam int unsigned SumLatency = sum_latency(Kind, W);
  logic [SumLatency-1:0] result_valid_q;
  logic                  last_row;
  logic [ModeW-1:0]      result_mode;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_result_valid
    if (!rst_ni) begin
      result_valid_q <= '0;
    end else begin
      result_valid_q <= {result_valid_q[SumLatency-2:0], row_key_q};
    end
  end
  rm_delay_line #(.Width(ModeW + LogRows + 2), .Cycles(SumLatency)) i_result (
    .clk_i, .data_i({key_info_q.mode, key_time_q, key_last_q, key_bad}),
    .data_o({result_mode, result_time_o, last_row, result_bad_o})
  );
  assign result_valid_o = result_valid_q[SumLatency-1];
  assign result_parts_o = {result_mode == Public || result_mode == Divided, 1'b1};
  assign result_last    = result_valid_o && last_row;

  logic unused;
  assign unused = ^{unused_gate_start, unused_gate_busy, ahead, limb_bad_size, unused_slots, unused_slots_ready,
                    unused_pop_valid, key_info_q.set, unused_limb};

endmodule
