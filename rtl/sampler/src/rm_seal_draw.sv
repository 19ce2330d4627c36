// rm_seal_draw - the polynomials of an encryption by SEAL, out of its generator's stream of blocks: u ternary, e0 and e1 centred binomial.
//
// Equation     u: words of 32 bits, each the upper half of its triple, less one; a word of 0 is refused, and the next one takes its place.
//              e: 6 bytes a sample, the ones among its bits 0 to 20 less those among bits 24 to 44. One stream, whatever the sizes.
// Writes       As rm_secret_draw: trit_* four bytes of five digits, gauss_* eight samples of polynomial gauss_poly_o.
// Rate         Five ternary coefficients a cycle, one where a word of 0 is near; eight samples a cycle.
// Timing       Depends on which words are 0, and on nothing about those that are kept.
module rm_seal_draw #(
  parameter int unsigned LogNMax     = 14,
  localparam int unsigned Bytes      = rm_sampler_pkg::trit_bytes(LogNMax),
  localparam int unsigned TritAddrW  = $clog2((Bytes + 3) / 4),
  localparam int unsigned GroupW     = LogNMax - 3
) (
  input  logic                                                    clk_i,
  input  logic                                                    rst_ni,
  input  logic                                                    clear_i,
  input  logic [4:0]                                              log_n_i,
  input  logic                                                    start_i,
  output logic                                                    busy_o,
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

  localparam int unsigned Digits  = 5;                // of a byte
  localparam int unsigned Words   = Lanes * 6 / 4;    // of eight samples
  localparam int unsigned Latency = 3;

  if (LogNMax < 5 || LogNMax > 16) begin : g_check
    $error("rm_seal_draw: 32 <= N <= 2^16");
  end

  typedef enum logic [1:0] {Idle, Trits, Errors, Drain} state_e;

  state_e             state_d, state_q;
  logic [LogNMax:0]   left_d, left_q;      // ternary coefficients to come
  logic [2:0]         have_d, have_q;      // digits of the byte at hand
  logic [GroupW-1:0]  group_d, group_q, last_group;
  logic               poly_d, poly_q;
  logic [2:0]         drain_d, drain_q;

  logic              window_valid, take, trit_take, group_take;
  logic [4:0]        count;
  logic [15:0][31:0] window;

  rm_word_window i_window (
    .clk_i, .rst_ni, .clear_i, .block_valid_i, .block_ready_o, .block_i, .take_i(take), .count_i(count),
    .window_valid_o(window_valid), .window_o(window)
  );
  assign busy_o = state_q != Idle;
  assign take   = trit_take || group_take;

  // ------------------------------------------------- ternary: digits of a byte, five at once or one by one
  logic [Digits-1:0]      zero;
  logic [Digits-1:0][1:0] digit_d, digit_q;
  logic                   five, kept, whole, kept_q, five_q, whole_q, end_q;
  logic [2:0]             place_q;
  logic [7:0]             byte_now, byte_q, part_q;
  logic                   byte_valid_q, byte_end_q;

  for (genvar i = 0; i < Digits; i++) begin : g_digit
    assign zero[i]    = window[i] == '0;
    assign digit_d[i] = 2'(window[i] > 32'h5555_5555) + 2'(window[i] > 32'haaaa_aaaa);
  end
  assign trit_take  = state_q == Trits && window_valid && left_q != '0;
  assign group_take = state_q == Errors && window_valid;
  assign five       = have_q == '0 && left_q >= (LogNMax + 1)'(Digits) && zero == '0;
  assign kept       = trit_take && (five || !zero[0]);
  assign whole      = five || have_q == 3'(Digits - 1) || left_q == (LogNMax + 1)'(1);
  assign count      = group_take ? 5'(Words) : five ? 5'(Digits) : 5'd1;

  always_comb begin : p_byte
    automatic logic [7:0] sum;
    sum = (place_q == '0) ? '0 : part_q;
    case (place_q)
      3'd0:    sum = sum + 8'(digit_q[0]);
      3'd1:    sum = sum + 8'd3 * 8'(digit_q[0]);
      3'd2:    sum = sum + 8'd9 * 8'(digit_q[0]);
      3'd3:    sum = sum + 8'd27 * 8'(digit_q[0]);
      default: sum = sum + 8'd81 * 8'(digit_q[0]);
    endcase
    if (five_q) begin
      sum = 8'(digit_q[0]) + 8'd3 * 8'(digit_q[1]) + 8'd9 * 8'(digit_q[2]) + 8'd27 * 8'(digit_q[3])
          + 8'd81 * 8'(digit_q[4]);
    end
    byte_now = sum;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_digit_valid
    if (!rst_ni) begin
      kept_q       <= 1'b0;
      byte_valid_q <= 1'b0;
    end else begin
      kept_q       <= kept && !clear_i;
      byte_valid_q <= kept_q && whole_q && !clear_i;
    end
  end
  always_ff @(posedge clk_i) begin : p_digit
    digit_q    <= digit_d;
    five_q     <= five;
    whole_q    <= whole;
    end_q      <= left_d == '0;
    place_q    <= have_q;
    byte_q     <= byte_now;
    byte_end_q <= end_q;
    if (kept_q) begin
      part_q <= byte_now;
    end
    if (clear_i || !rst_ni) begin
      digit_q <= '0;
      byte_q  <= '0;
      part_q  <= '0;
    end
  end

  // Four bytes a write; the last one may have fewer.
  logic [1:0]           bytes_q;
  logic [2:0][7:0]      byte_old_q;
  logic [TritAddrW-1:0] addr_q;
  assign trit_we_o   = byte_valid_q && (bytes_q == 2'd3 || byte_end_q);
  assign trit_addr_o = addr_q;
  always_comb begin : p_word
    trit_data_o = {8'd0, byte_old_q};
    trit_data_o[{bytes_q, 3'd0}+:8] = byte_q;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_word_place
    if (!rst_ni) begin
      bytes_q <= '0;
      addr_q  <= '0;
    end else if (start_i || clear_i) begin
      bytes_q <= '0;
      addr_q  <= '0;
    end else if (byte_valid_q) begin
      bytes_q <= bytes_q + 1'b1;
      addr_q  <= addr_q + TritAddrW'(bytes_q == 2'd3);
    end
  end
  always_ff @(posedge clk_i) begin : p_old
    if (clear_i || !rst_ni) begin
      byte_old_q <= '0;
    end else if (byte_valid_q && bytes_q != 2'd3) begin
      byte_old_q[bytes_q] <= byte_q;
    end
  end

  // ------------------------------------------------- errors
  logic [Latency-1:0]                     valid_q, late_poly_q;
  logic [Latency-1:0][GroupW-1:0]         late_addr_q;
  logic [Lanes-1:0][5:0][7:0]             bytes;
  logic [Lanes-1:0][20:0]                 plus_q, minus_q;
  logic [Lanes-1:0][4:0]                  plus_sum_q, minus_sum_q;
  logic [Lanes-1:0][SampleW-1:0]          sample_q;

  function automatic logic [4:0] ones(logic [20:0] bits);
    ones = '0;
    for (int unsigned i = 0; i < 21; i++) begin
      ones = ones + 5'(bits[i]);
    end
  endfunction

  assign bytes = window[Words-1:0];
  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    always_ff @(posedge clk_i) begin : p_lane
      if (clear_i || !rst_ni) begin
        {plus_q[l], minus_q[l], plus_sum_q[l], minus_sum_q[l], sample_q[l]} <= '0;
      end else begin
        plus_q[l]      <= {bytes[l][2][4:0], bytes[l][1], bytes[l][0]};
        minus_q[l]     <= {bytes[l][5][4:0], bytes[l][4], bytes[l][3]};
        plus_sum_q[l]  <= ones(plus_q[l]);
        minus_sum_q[l] <= ones(minus_q[l]);
        sample_q[l]    <= SampleW'(plus_sum_q[l]) - SampleW'(minus_sum_q[l]);
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= clear_i ? '0 : {valid_q[Latency-2:0], group_take};
    end
  end
  always_ff @(posedge clk_i) begin : p_late
    late_addr_q <= {late_addr_q[Latency-2:0], group_q};
    late_poly_q <= {late_poly_q[Latency-2:0], poly_q};
  end
  assign gauss_we_o   = valid_q[Latency-1] ? '1 : '0;
  assign gauss_addr_o = late_addr_q[Latency-1];
  assign gauss_poly_o = late_poly_q[Latency-1];
  assign gauss_data_o = sample_q;

  // ------------------------------------------------- order
  assign last_group = GroupW'(((32'd1 << log_n_i) >> 3) - 32'd1);
  always_comb begin : p_next
    state_d = state_q;
    left_d  = left_q;
    have_d  = have_q;
    group_d = group_q;
    poly_d  = poly_q;
    drain_d = drain_q;
    case (state_q)
      Trits: begin
        if (kept) begin
          left_d = left_q - (five ? (LogNMax + 1)'(Digits) : (LogNMax + 1)'(1));
          have_d = whole ? '0 : have_q + 1'b1;
        end
        if (left_d == '0) begin
          state_d = Errors;
        end
      end
      Errors: begin
        if (group_take) begin
          group_d = group_q + 1'b1;
          if (group_q == last_group) begin
            group_d = '0;
            poly_d  = 1'b1;
            if (poly_q) begin
              state_d = Drain;
              drain_d = 3'(Latency);
            end
          end
        end
      end
      Drain: begin
        drain_d = drain_q - 1'b1;
        if (drain_q == '0) begin
          state_d = Idle;
        end
      end
      default: ;
    endcase
    if (start_i) begin
      state_d = Trits;
      left_d  = (LogNMax + 1)'(32'd1 << log_n_i);
      have_d  = '0;
      group_d = '0;
      poly_d  = 1'b0;
    end
    if (clear_i) begin
      state_d = Idle;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      state_q <= Idle;
      left_q  <= '0;
      have_q  <= '0;
      group_q <= '0;
      poly_q  <= 1'b0;
      drain_q <= '0;
    end else begin
      state_q <= state_d;
      left_q  <= left_d;
      have_q  <= have_d;
      group_q <= group_d;
      poly_q  <= poly_d;
      drain_q <= drain_d;
    end
  end

  logic unused;
  assign unused = ^window[15:Words];

endmodule
