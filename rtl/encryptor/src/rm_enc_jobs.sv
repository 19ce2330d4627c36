// rm_enc_jobs - takes jobs, refuses those that would be unsafe, has their samples drawn, and offers them in order.
//
// Jobs         job_*: valid/ready. A job that is refused is taken too; refused_o is high in the cycle after, with the reason. Its seed is
//              not used. Ready is low while all sets of samples are in use, and while bad_size_i.
// Numbers      Each job that draws has a number above that of every job before that drew, whether its encryption ended or not. The
//              last one survives rst_ni; cold_ni, the reset at power-on, alone forgets it. So no seed is used twice as long as
//              the host gives each seed one number.
// Offer        head_*: the oldest job whose samples are there; take_i takes it. The set of samples is free again with release_i.
//              With Early, or EarlySeal, a job that is divided is offered when its ternary samples are there, ternary_done_i: the
//              others are read two transforms later. whole_o says of each set that no sample is missing.
// SEAL         A job of mode Seal is drawn by SEAL's sampler, draw_seal_o, and offered as one of mode Divided.
module rm_enc_jobs #(
  parameter bit          Seeded  = 1'b1,
  parameter bit          Extra   = 1'b0,
  parameter bit          Early   = 1'b0,
  parameter bit          WithSeal  = 1'b0,
  parameter bit          EarlySeal = 1'b0,
  parameter int unsigned LogSets = 1,
  localparam int unsigned Sets   = 1 << LogSets
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        cold_ni,
  input  logic                        bad_size_i,
  input  logic                        secret_ready_i,
  input  logic                        job_valid_i,
  output logic                        job_ready_o,
  input  logic [rm_enc_pkg::ModeW-1:0]   job_mode_i,
  input  logic [63:0]                 job_number_i,
  output logic                        refused_o,
  output logic [rm_enc_pkg::RefusalW-1:0] refusal_o,
  output logic                        draw_o,
  output logic                        draw_seal_o,
  output logic                        draw_ternary_o,
  output logic [1:0]                  draw_gaussians_o,
  output logic [LogSets-1:0]          draw_set_o,
  input  logic                        draw_busy_i,
  input  logic                        draw_fault_i,
  input  logic                        ternary_done_i,  // the samples that follow are being written
  output logic                        accept_o,        // a job is taken and not refused, into set draw_set_o
  output logic                        head_valid_o,
  output logic [rm_enc_pkg::ModeW-1:0]   head_mode_o,
  output logic [LogSets-1:0]          head_set_o,
  output logic [Sets-1:0]             whole_o,
  input  logic                        take_i,
  input  logic                        release_i,
  input  logic [LogSets-1:0]          release_set_i,
  output logic                        busy_o
);

  import rm_enc_pkg::*;

  // used: from the job on; full: from the last sample on; begun: from the last ternary one on; taken: from take_i on.
  logic [Sets-1:0]            used_d, used_q, full_d, full_q, begun_d, begun_q, taken_d, taken_q;
  logic [Sets-1:0]            early_d, early_q;
  logic [Sets-1:0][ModeW-1:0] mode_d, mode_q;
  logic [LogSets-1:0]         write_d, write_q, read_d, read_q;
  logic                       drawing_d, drawing_q, refused_d, early;
  logic [RefusalW-1:0]     refusal_d;
  logic                    take_job, draws;
  logic                    some_q;
  logic [63:0]             last_q;

  assign job_ready_o = !drawing_q && !used_q[write_q] && !bad_size_i && !draw_busy_i;
  assign take_job    = job_valid_i && job_ready_o;
  assign draws       = job_mode_i != Decrypt;

  always_comb begin : p_refusal
    refusal_d = '0;
    if (job_mode_i > Seal || (!Extra && job_mode_i == Divided) || (!WithSeal && job_mode_i == Seal)
        || (!Seeded && (job_mode_i == Symmetric || job_mode_i == PublicKey))) begin
      refusal_d = RefusedMode;
    end else if (!draw_ternary_o && !secret_ready_i) begin
      refusal_d = RefusedSecret;
    end else if (draws && some_q && job_number_i <= last_q) begin
      refusal_d = RefusedNumber;
    end
    refused_d = take_job && refusal_d != '0;
    accept_o  = take_job && refusal_d == '0;
    if (drawing_q && !draw_busy_i && draw_fault_i) begin
      refused_d = 1'b1;
      refusal_d = RefusedDraw;
    end
  end
  assign draw_o           = accept_o && draws;
  assign draw_seal_o      = draw_o && job_mode_i == Seal;
  assign draw_ternary_o   = job_mode_i == Public || job_mode_i == Divided || job_mode_i == Seal;
  assign draw_gaussians_o = draw_ternary_o ? 2'd2 : 2'd1;
  assign draw_set_o       = write_q;

  always_comb begin : p_next
    used_d    = used_q;
    full_d    = full_q;
    begun_d   = begun_q;
    taken_d   = taken_q;
    early_d   = early_q;
    mode_d    = mode_q;
    write_d   = write_q;
    read_d    = read_q;
    drawing_d = drawing_q;
    if (accept_o) begin
      used_d[write_q]  = 1'b1;
      full_d[write_q]  = !draws;
      begun_d[write_q] = 1'b0;
      taken_d[write_q] = 1'b0;
      early_d[write_q] = (Early && job_mode_i == Divided) || (EarlySeal && job_mode_i == Seal);
      mode_d[write_q]  = (job_mode_i == Seal) ? Divided : job_mode_i;
      drawing_d        = draws;
      if (!draws) begin
        write_d = write_q + 1'b1;
      end
    end
    if (drawing_q && ternary_done_i) begin
      begun_d[write_q] = 1'b1;
    end
    if (drawing_q && !draw_busy_i) begin
      drawing_d = 1'b0;
      if (!draw_fault_i) begin
        full_d[write_q] = 1'b1;
        write_d         = write_q + 1'b1;
      end else if (taken_q[write_q] || (take_i && read_q == write_q)) begin
        write_d         = write_q + 1'b1;   // it is under way, and stays without samples
      end else begin
        used_d[write_q] = 1'b0;
      end
    end
    if (take_i) begin
      taken_d[read_q] = 1'b1;
      read_d          = read_q + 1'b1;
    end
    if (release_i) begin
      used_d[release_set_i] = 1'b0;
    end
  end

  assign early        = early_q[read_q] && begun_q[read_q];
  assign head_valid_o = used_q[read_q] && !taken_q[read_q] && (full_q[read_q] || early);
  assign head_mode_o  = mode_q[read_q];
  assign head_set_o   = read_q;
  assign whole_o      = full_q;
  assign busy_o       = used_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      used_q    <= '0;
      full_q    <= '0;
      begun_q   <= '0;
      taken_q   <= '0;
      early_q   <= '0;
      mode_q    <= '0;
      write_q   <= '0;
      read_q    <= '0;
      drawing_q <= 1'b0;
      refused_o <= 1'b0;
      refusal_o <= '0;
    end else begin
      used_q    <= used_d;
      full_q    <= full_d;
      begun_q   <= begun_d;
      taken_q   <= taken_d;
      early_q   <= early_d;
      mode_q    <= mode_d;
      write_q   <= write_d;
      read_q    <= read_d;
      drawing_q <= drawing_d;
      refused_o <= refused_d;
      refusal_o <= refused_d ? refusal_d : '0;
    end
  end

  always_ff @(posedge clk_i or negedge cold_ni) begin : p_number
    if (!cold_ni) begin
      some_q <= 1'b0;
      last_q <= '0;
    end else if (draw_o) begin
      some_q <= 1'b1;
      last_q <= job_number_i;
    end
  end

endmodule
