// rm_secret_draw - the secret polynomials of one object, out of a stream of blocks, in the engine's order.
//
// Equation     With ternary_i a uniform ternary polynomial (rm_trit_bytes); then gaussians_i discrete Gaussian ones of standard deviation
//              3.2. A Gaussian polynomial takes 4096 bytes for 512 samples at a time, a word of 64 bits a sample (rm_gaussian_lane). The
//              samples among these that need 64 bits more take them afterwards, in their order (rm_gaussian_tie). Smaller
//              polynomials leave the rest of the 4096 bytes unused.
// Writes       trit_*: four bytes at an address; gauss_*: samples 8 a ... 8 a + 7 of polynomial gauss_poly_o, those whose bit of
//              gauss_we_o is set. A sample that needed more bits is written a second time.
// Rate         A word of 32 bits, or eight samples, a cycle; 6 cycles between draws of 512 samples.
// Timing       Depends on the bytes that are refused, and on nothing about those that are kept. Beyond that a sample
//              that needs more bits takes 18 cycles or more; their probability is 30 / 2^63 each, as in the engine.
// Fault        fault_o, until the next start: more than four groups of eight among 512 samples with such a sample, below 2^-250.
module rm_secret_draw #(
  parameter int unsigned LogNMax     = 14,
  parameter int unsigned BlockGroups = 64,   // groups of eight samples that are drawn at a time: the engine's 64
  localparam int unsigned Bytes      = rm_sampler_pkg::trit_bytes(LogNMax),
  localparam int unsigned TritAddrW  = $clog2((Bytes + 3) / 4),
  localparam int unsigned GroupW     = LogNMax - 3
) (
  input  logic                                                    clk_i,
  input  logic                                                    rst_ni,
  input  logic                                                    clear_i,
  input  logic [4:0]                                              log_n_i,
  input  logic                                                    start_i,
  input  logic                                                    ternary_i,
  input  logic [1:0]                                              gaussians_i,
  output logic                                                    busy_o,
  output logic                                                    fault_o,
  input  logic                                                    block_valid_i,
  output logic                                                    block_ready_o,
  input  logic [15:0][31:0]                                       block_i,
  output logic                                                    trit_we_o,
  output logic [TritAddrW-1:0]                                    trit_addr_o,
  output logic [31:0]                                             trit_data_o,
  output logic [rm_sampler_pkg::Lanes-1:0]                           gauss_we_o,
  output logic                                                    gauss_poly_o,
  output logic [GroupW-1:0]                                       gauss_addr_o,
  output logic [rm_sampler_pkg::Lanes-1:0][rm_sampler_pkg::SampleW-1:0] gauss_data_o
);

  import rm_sampler_pkg::*;

  localparam int unsigned LogBlock = $clog2(BlockGroups);
  localparam int unsigned CountW   = ((GroupW > LogBlock) ? GroupW : LogBlock) + 1;
  localparam int unsigned Latency  = 4;   // rm_gaussian_lane
  localparam int unsigned TieW     = GroupW + Lanes * 7;

  if (LogNMax < 5 || LogNMax > 16) begin : g_check
    $error("rm_secret_draw: 32 <= N <= 2^16");
  end

  typedef enum logic [2:0] {Idle, Trits, Groups, Drain, Next, TieTake, TieWait} state_e;

  state_e            state_d, state_q;
  logic [1:0]        left_d, left_q;            // Gaussian polynomials still to begin or to end
  logic              poly_d, poly_q, ternary_busy;
  logic [CountW-1:0] group_d, group_q, groups;
  logic [2:0]        drain_d, drain_q;
  logic              fault_d, fault_q;

  logic              window_valid, take, trit_take, group_take, tie_take;
  logic [4:0]        count;
  logic [15:0][31:0] window;

  assign groups  = CountW'((32'd1 << log_n_i) >> 3);
  assign busy_o  = state_q != Idle;
  assign fault_o = fault_q;

  rm_word_window i_window (
    .clk_i, .rst_ni, .clear_i, .block_valid_i, .block_ready_o, .block_i, .take_i(take), .count_i(count),
    .window_valid_o(window_valid), .window_o(window)
  );

  // ------------------------------------------------- ternary
  rm_trit_bytes #(.LogNMax(LogNMax)) i_trits (
    .clk_i, .rst_ni, .clear_i, .log_n_i, .start_i(start_i && ternary_i), .busy_o(ternary_busy),
    .word_valid_i(window_valid && state_q == Trits), .word_take_o(trit_take), .word_i(window[0]), .we_o(trit_we_o),
    .addr_o(trit_addr_o), .data_o(trit_data_o)
  );

  // ------------------------------------------------- Gaussian: groups of eight
  logic [Lanes-1:0]              tie, negative;
  logic [Lanes-1:0][4:0]         magnitude;
  logic [Lanes-1:0][SampleW-1:0] sample;
  logic [Latency-1:0]            valid_q;
  logic [Latency-1:0][GroupW-1:0] addr_q;
  logic                          write;

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    rm_gaussian_lane i_lane (
      .clk_i, .word_i({window[2*l+1], window[2*l]}), .tie_o(tie[l]), .negative_o(negative[l]),
      .magnitude_o(magnitude[l]), .sample_o(sample[l])
    );
  end
  assign group_take = state_q == Groups && window_valid;
  assign write      = valid_q[Latency-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
    end else if (clear_i) begin
      valid_q <= '0;
    end else begin
      valid_q <= {valid_q[Latency-2:0], group_take && group_q < groups};
    end
  end
  always_ff @(posedge clk_i) begin : p_addr
    addr_q <= {addr_q[Latency-2:0], group_q[GroupW-1:0]};
  end

  // ------------------------------------------------- samples that need more bits
  logic                  tie_ready, tie_valid, tie_pop, tie_done, tie_start;
  logic [GroupW-1:0]     tie_addr;
  logic [Lanes-1:0]      tie_mask, tie_negative, tie_left_d, tie_left_q, tie_lane;
  logic [Lanes-1:0][4:0] tie_magnitude;
  logic [4:0]            lane_magnitude;
  logic [SampleW-1:0]    tie_sample;
  logic [2:0]            unused_ties;

  rm_core_fifo #(.Width(TieW), .Depth(4)) i_ties (
    .clk_i, .rst_ni, .push_valid_i(write && tie != '0), .push_ready_o(tie_ready),
    .push_data_i({addr_q[Latency-1], tie, negative, magnitude}), .pop_valid_o(tie_valid),
    .pop_ready_i(tie_pop || clear_i), .pop_data_o({tie_addr, tie_mask, tie_negative, tie_magnitude}),
    .count_o(unused_ties)
  );
  // The first lane that is left of the group at hand.
  assign tie_lane  = tie_left_q & (~tie_left_q + 1'b1);
  assign tie_start = state_q == TieTake && window_valid;
  always_comb begin : p_lane
    lane_magnitude = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (tie_lane[l]) begin
        lane_magnitude = tie_magnitude[l];
      end
    end
  end
  rm_gaussian_tie i_tie (
    .clk_i, .rst_ni, .start_i(tie_start), .negative_i((tie_lane & tie_negative) != '0), .magnitude_i(lane_magnitude),
    .lower_i({window[1], window[0]}), .done_o(tie_done), .sample_o(tie_sample)
  );
  assign tie_take = tie_start;

  // ------------------------------------------------- order
  assign take = trit_take || group_take || tie_take;
  always_comb begin : p_count
    count = 5'd1;
    if (group_take) begin
      count = 5'd16;
    end else if (tie_take) begin
      count = 5'd2;
    end
  end

  always_comb begin : p_next
    state_d    = state_q;
    left_d     = left_q;
    poly_d     = poly_q;
    group_d    = group_q;
    drain_d    = drain_q;
    tie_left_d = tie_left_q;
    tie_pop    = 1'b0;
    fault_d    = fault_q || (write && tie != '0 && !tie_ready);
    case (state_q)
      Trits: begin
        if (!ternary_busy) begin
          state_d = (left_q != '0) ? Groups : Idle;
        end
      end
      Groups: begin
        if (group_take) begin
          group_d = group_q + 1'b1;
          if (group_q[LogBlock-1:0] == '1) begin
            state_d = Drain;
            drain_d = 3'(Latency);
          end
        end
      end
      Drain: begin
        drain_d = drain_q - 1'b1;
        if (drain_q == '0) begin
          state_d = Next;
        end
      end
      Next: begin
        if (tie_valid) begin
          state_d    = TieTake;
          tie_left_d = tie_mask;
        end else if (group_q < groups) begin
          state_d = Groups;
        end else begin
          group_d = '0;
          poly_d  = 1'b1;
          left_d  = left_q - 1'b1;
          state_d = (left_q == 2'd1) ? Idle : Groups;
        end
      end
      TieTake: begin
        if (tie_start) begin
          state_d = TieWait;
        end
      end
      TieWait: begin
        if (tie_done) begin
          tie_left_d = tie_left_q & ~tie_lane;
          state_d    = TieTake;
          if (tie_left_d == '0) begin
            tie_pop = 1'b1;
            state_d = Next;
          end
        end
      end
      default: ;
    endcase
    if (start_i) begin
      state_d = ternary_i ? Trits : (gaussians_i != '0) ? Groups : Idle;
      left_d  = gaussians_i;
      poly_d  = 1'b0;
      group_d = '0;
      fault_d = 1'b0;
    end
    if (clear_i) begin
      state_d = Idle;
      left_d  = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      state_q    <= Idle;
      left_q     <= '0;
      poly_q     <= 1'b0;
      group_q    <= '0;
      drain_q    <= '0;
      tie_left_q <= '0;
      fault_q    <= 1'b0;
    end else begin
      state_q    <= state_d;
      left_q     <= left_d;
      poly_q     <= poly_d;
      group_q    <= group_d;
      drain_q    <= drain_d;
      tie_left_q <= tie_left_d;
      fault_q    <= fault_d;
    end
  end

  // ------------------------------------------------- writes: a group, or one sample again
  assign gauss_poly_o = poly_q;
  always_comb begin : p_write
    gauss_we_o   = write ? '1 : '0;
    gauss_addr_o = addr_q[Latency-1];
    gauss_data_o = sample;
    if (state_q == TieWait && tie_done) begin
      gauss_we_o   = tie_lane;
      gauss_addr_o = tie_addr;
      gauss_data_o = {Lanes{tie_sample}};
    end
  end

endmodule
