// rm_enc_jobs, whatever the host asks for and however long samples take. Numbers of jobs that draw go up, over resets too. A set of samples
// has one job at a time. A job is offered once, with its samples. None is taken without the secret key that it needs. A draw that fails is
// reported in the cycle after, and its samples never count as whole.
module fv_enc_jobs (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        bad_size_i,
  input logic        secret_ready_i,
  input logic        job_valid_i,
  input logic [rm_enc_pkg::ModeW-1:0] job_mode_i,
  input logic [63:0] job_number_i,
  input logic        draw_ends_i,
  input logic        draw_fault_i,
  input logic        ternary_done_i,
  input logic        take_i,
  input logic        release_i,
  input logic        release_set_i
);

  import rm_enc_pkg::*;

  logic             ready, refused, draw, draw_seal, draw_ternary, draw_set, accept, head_valid, head_set, busy;
  logic [1:0]       gaussians, whole;
  logic [ModeW-1:0] head_mode;
  logic [RefusalW-1:0] refusal;

  // What is known of each set: its job, whether it was taken, whether its draw has ended, and well.
  logic [1:0]            held_q, taken_q, ended_q, drawn_q, seal_q, begun_q;
  logic [1:0][ModeW-1:0] mode_q;
  logic [63:0]           last_q;
  logic                  released, ends, ends_set_q;
  logic                  waits_q;   // for the end of a draw
  logic                  failed_q;  // a draw ended with a fault in the cycle before
  assign released = release_i && taken_q[release_set_i] && ended_q[release_set_i];

  // The sampler: busy from the draw on, as long as it likes.
  logic drawing_q, cold_n, run_q, some_q;
  initial {run_q, drawing_q, some_q, failed_q} = '0;
  assign cold_n = run_q;
  always_ff @(posedge clk_i) begin : p_environment
    run_q     <= 1'b1;
    drawing_q <= rst_ni && (draw || (drawing_q && !draw_ends_i));
  end

  rm_enc_jobs #(.Extra(1'b1), .Early(1'b1), .WithSeal(1'b1), .EarlySeal(1'b0), .LogSets(1)) i_jobs (
    .clk_i, .rst_ni, .cold_ni(cold_n), .bad_size_i, .secret_ready_i, .job_valid_i, .job_ready_o(ready), .job_mode_i,
    .job_number_i, .refused_o(refused), .refusal_o(refusal), .draw_o(draw), .draw_seal_o(draw_seal),
    .draw_ternary_o(draw_ternary), .draw_gaussians_o(gaussians), .draw_set_o(draw_set), .draw_busy_i(drawing_q),
    .draw_fault_i, .ternary_done_i, .accept_o(accept), .head_valid_o(head_valid), .head_mode_o(head_mode),
    .head_set_o(head_set), .whole_o(whole), .take_i(take_i && head_valid), .release_i(released),
    .release_set_i, .busy_o(busy)
  );

  always_ff @(posedge clk_i) begin : p_sets
    if (!rst_ni) begin
      {held_q, taken_q, ended_q, drawn_q, seal_q, begun_q} <= '0;
    end else begin
      if (accept) begin
        held_q[draw_set]  <= 1'b1;
        taken_q[draw_set] <= 1'b0;
        begun_q[draw_set] <= 1'b0;
        drawn_q[draw_set] <= !draw;
        ended_q[draw_set] <= !draw;
        seal_q[draw_set]  <= draw_seal;
        mode_q[draw_set]  <= job_mode_i;
        ends_set_q        <= draw_set;
      end
      if (waits_q && ternary_done_i) begin
        begun_q[ends_set_q] <= 1'b1;
      end
      if (ends) begin
        drawn_q[ends_set_q] <= !draw_fault_i;
        ended_q[ends_set_q] <= 1'b1;
        if (draw_fault_i && !taken_q[ends_set_q] && !(take_i && head_valid && head_set == ends_set_q)) begin
          held_q[ends_set_q] <= 1'b0;
        end
      end
      if (take_i && head_valid) begin
        taken_q[head_set] <= 1'b1;
      end
      if (released) begin
        held_q[release_set_i] <= 1'b0;
      end
    end
    if (run_q && draw) begin
      some_q <= 1'b1;
      last_q <= job_number_i;
    end
  end
  assign ends = waits_q && !drawing_q;
  always_ff @(posedge clk_i) begin : p_waits
    waits_q  <= rst_ni && (draw || (waits_q && drawing_q));
    failed_q <= rst_ni && ends && draw_fault_i;
  end

  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    if (run_q && rst_ni) begin
      if (draw && some_q) a_number: assert (job_number_i > last_q);
      if (failed_q) a_failed: assert (refused && refusal == RefusedDraw);
      if (draw) a_draw: assert (accept && job_mode_i != Decrypt);
      if (accept) begin
        a_ready: assert (job_valid_i && ready && !bad_size_i);
        a_free:  assert (!held_q[draw_set]);
        a_mode:  assert (job_mode_i <= Seal);
        if (job_mode_i == Symmetric || job_mode_i == PublicKey || job_mode_i == Decrypt) begin
          a_secret: assert (secret_ready_i);
        end
      end
      if (head_valid) begin
        a_held: assert (held_q[head_set] && !taken_q[head_set]);
        a_offered: assert (drawn_q[head_set] || (mode_q[head_set] == Divided && begun_q[head_set]));
        a_whole: assert (drawn_q[head_set] || !whole[head_set]);
        a_as: assert (head_mode == (seal_q[head_set] ? Divided : mode_q[head_set]));
      end
    end
  end

  always @(posedge clk_i) begin : p_cover
    if (rst_ni) begin
      c_both:  cover (held_q == 2'b11 && taken_q == 2'b11);
      c_again: cover (refused && refusal == RefusedNumber);
    end
  end

  logic unused;
  assign unused = ^{draw_ternary, gaussians, busy};

endmodule
