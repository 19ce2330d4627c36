// rm_enc_extra - the lane of the extra prime: v b and v a modulo p, in coefficients.
//
// Equation     row_o[c] = NTT^-1(NTT(v) key[c]) mod p, key[0] = b, key[1] = a; canonical. v is read from a copy of the ternary samples.
// Lanes        The forward transform takes 2 P coefficients a cycle: it is through in half of the time, and leaves half of its values in
//              a memory for the other half of the interval. The two inverse transforms take P a cycle, as the limbs do.
// Starts       start_i is taken while ready_o: N/P cycles apart. ahead_o stands rm_stream_pkg::lead cycles before row 0 of the
//              result, with what came with the start.
// Keys         key_re_o asks for a row of keys, which stands there in the next cycle. A row that is missing makes bad_o with ahead_o.
// Latency      rm_enc_pkg::extra_latency.
module rm_enc_extra #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned LogNMin = 10,
  parameter int unsigned Inside  = 4,    // most jobs in the lane
  localparam int unsigned P         = 1 << LogP,
  localparam int unsigned LogRows   = LogNMax - LogP,
  localparam int unsigned TritAddrW = $clog2((rm_sampler_pkg::trit_bytes(LogNMax) + 3) / 4)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [4:0]                  log_n_i,
  output logic                        fault_o,
  // p: q, aux, roots, factor; and the roots of the inverse transform
  input  logic                        cfg_we_i,
  input  logic                        cfg_inverse_we_i,
  input  logic [4:0]                  cfg_field_i,
  input  logic [W+1:0]                cfg_data_i,
  input  logic                        prepare_i,
  output logic                        prepare_ready_o,
  output logic [W-1:0]                p_o,
  // samples
  input  logic                        trit_we_i,
  input  logic [rm_enc_pkg::SetW-1:0] trit_set_i,
  input  logic [TritAddrW-1:0]        trit_addr_i,
  input  logic [31:0]                 trit_data_i,
  // starts
  input  logic                        start_i,
  input  rm_enc_pkg::info_t           start_info_i,
  output logic                        ready_o,
  // keys modulo p, values
  output logic                        key_re_o,
  output logic [LogRows-1:0]          key_time_o,
  input  logic                        key_valid_i,
  input  logic [1:0][P-1:0][W-1:0]    key_row_i,
  // result
  output logic                        ahead_o,
  output rm_enc_pkg::info_t           info_o,
  output logic [1:0][P-1:0][W-1:0]    row_o
);

  import rm_enc_pkg::*;

  localparam int unsigned M        = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Lead     = rm_stream_pkg::lead(Kind, W);
  localparam int unsigned Wide     = 2 * P;
  localparam int unsigned LogHalf  = LogRows - 1;     // rows of 2 P coefficients

  logic [4:0] log_rows, log_half;
  assign log_rows = log_n_i - 5'(LogP);
  assign log_half = log_n_i - 5'(LogP) - 5'd1;

  logic [W-1:0] q_q, factor_q, minus_factor_q;
  logic [W+1:0] aux_q;
  always_ff @(posedge clk_i) begin : p_fields
    if (cfg_we_i && cfg_field_i == FieldQ) begin
      q_q <= cfg_data_i[W-1:0];
    end
    if (cfg_we_i && cfg_field_i == FieldAux) begin
      aux_q <= cfg_data_i;
    end
    if (cfg_we_i && cfg_field_i == FieldFactor) begin
      factor_q <= cfg_data_i[W-1:0];
    end
    minus_factor_q <= q_q - factor_q;
  end
  assign p_o = q_q;

  // ------------------------------------------------- v, 2 P coefficients a row
  logic                  gate_start, last_out, unused_busy;
  logic                  in_first, in_valid;
  logic [LogHalf-1:0]    unused_in_time;
  info_t                 in_tag, in_info;
  logic [Wide-1:0][1:0]  digit;
  logic [Wide-1:0][W-1:0] v_in_q, v_in;

  // The forward transform alone would be ready again after N / 2P cycles.
  rm_stream_gate #(.LogRows(LogRows), .Polys(Inside)) i_gate (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .bad_size_i(1'b0), .start_valid_i(start_i), .start_ready_o(ready_o),
    .start_o(gate_start), .last_i(last_out), .busy_o(unused_busy)
  );
  rm_stream_tag #(.Cycles(Lead - 3), .ModW(InfoW)) i_in_tag (
    .clk_i, .rst_ni, .first_i(gate_start), .mod_i(start_info_i), .first_o(in_first), .mod_o(in_tag)
  );
  rm_stream_clock #(.TimeW(LogHalf), .ModW(InfoW)) i_in_clock (
    .clk_i, .rst_ni, .log_rows_i(log_half), .first_i(in_first), .mod_i(in_tag), .valid_o(in_valid),
    .time_o(unused_in_time), .mod_o(in_info)
  );
  rm_enc_trits #(.LogP(LogP + 1), .LogNMax(LogNMax), .LogSets(SetW)) i_trits (
    .clk_i, .rst_ni, .log_n_i, .we_i(trit_we_i), .wset_i(trit_set_i), .waddr_i(trit_addr_i), .wdata_i(trit_data_i),
    .first_i(in_first), .next_i(in_valid), .rset_i(in_info.set), .digit_o(digit)
  );
  for (genvar l = 0; l < Wide; l++) begin : g_operand
    always_ff @(posedge clk_i) begin : p_operand
      case (digit[l])
        2'b01:   v_in_q[l] <= factor_q;
        2'b11:   v_in_q[l] <= minus_factor_q;
        default: v_in_q[l] <= '0;
      endcase
      v_in[l] <= v_in_q[l];
    end
  end

  logic                   forward_ready, forward_fault, forward_prepared, forward_bad_size, forward_ahead;
  logic [Wide-1:0][W-1:0] v_out;
  logic                   unused_f_busy, unused_f_ahead_mod, unused_f_first, unused_f_mod, forward_valid;
  rm_streaming_ntt #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(2), .LogP(LogP + 1), .LogNMax(LogNMax), .LogNMin(LogNMin),
    .Style(rm_stream_pkg::FeedForward), .Inverse(1'b0)
  ) i_forward (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .bad_size_o      (forward_bad_size),
    .busy_o          (unused_f_busy),
    .fault_o         (forward_fault),
    .cfg_we_i        (cfg_we_i && cfg_field_i < FieldFactor),
    .cfg_mod_i       (1'b0),
    .cfg_field_i,
    .cfg_data_i,
    .prepare_valid_i (prepare_i && prepare_ready_o),
    .prepare_mod_i   (1'b0),
    .prepare_ready_o (forward_prepared),
    .start_valid_i   (gate_start),
    .start_mod_i     (1'b0),
    .start_ready_o   (forward_ready),
    .row_i           (v_in),
    .ahead_o         (forward_ahead),
    .ahead_mod_o     (unused_f_ahead_mod),
    .first_o         (unused_f_first),
    .mod_o           (unused_f_mod),
    .valid_o         (forward_valid),
    .row_o           (v_out)
  );

  // ------------------------------------------------- values: even pairs of lanes at once, odd ones in the second half
  logic               key_first, key_valid, second_q, asked_q, bad_d, bad_q, key_first_q, key_last_q;
  logic [LogRows-1:0] key_time, key_time_q, half;
  info_t              queue_info, key_tag, key_info, key_info_q;
  logic [P-1:0][W-1:0] even, odd, late, v;
  logic               unused_pop_valid, unused_push_ready;
  logic [$clog2(Inside+1)-1:0] unused_count;

  rm_core_fifo #(.Width(InfoW), .Depth(Inside)) i_infos (
    .clk_i, .rst_ni, .push_valid_i(gate_start), .push_ready_o(unused_push_ready), .push_data_i(start_info_i),
    .pop_valid_o(unused_pop_valid), .pop_ready_i(forward_ahead), .pop_data_o(queue_info), .count_o(unused_count)
  );
  rm_stream_tag #(.Cycles(Lead - 1), .ModW(InfoW)) i_key_tag (
    .clk_i, .rst_ni, .first_i(forward_ahead), .mod_i(queue_info), .first_o(key_first), .mod_o(key_tag)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_key_clock (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(key_first), .mod_i(key_tag), .valid_o(key_valid),
    .time_o(key_time), .mod_o(key_info)
  );
  assign key_re_o   = key_valid;
  assign key_time_o = key_time;
  assign half       = LogRows'(32'd1 << log_half);

  for (genvar l = 0; l < P; l++) begin : g_pairs
    localparam int unsigned Pair = l / 2;
    assign even[l] = v_out[4*Pair+l%2];
    assign odd[l]  = v_out[4*Pair+2+l%2];
  end
  rm_bank_ram #(.Width(P * W), .Depth(1 << LogHalf)) i_late (
    .clk_i, .re_i(key_valid), .raddr_i(LogHalf'(key_time - half)), .rdata_o(late), .we_i(forward_valid),
    .waddr_i(key_time_q[LogHalf-1:0]), .wdata_i(odd)
  );
  assign v     = second_q ? late : even;
  assign bad_d = key_info_q.bad || (bad_q && !key_first_q) || (asked_q && !key_valid_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_asked
    if (!rst_ni) begin
      asked_q <= 1'b0;
      bad_q   <= 1'b0;
    end else begin
      asked_q <= key_valid;
      bad_q   <= bad_d;
    end
  end
  always_ff @(posedge clk_i) begin : p_key
    key_first_q <= key_first;
    key_time_q  <= key_time;
    key_info_q  <= key_info;
    second_q    <= key_time >= half;
    key_last_q  <= key_time == LogRows'((32'd1 << log_rows) - 32'd1);
  end

  // ------------------------------------------------- products, and back to coefficients
  logic                     inverse_start, inverse_ready, inverse_fault, inverse_prepared, inverse_bad_size;
  logic                     inverse_first;
  logic                     unused_i_busy, unused_i_ahead_mod, unused_i_mod, unused_i_valid;
  logic [1:0][P-1:0][W-1:0] key_q, product;
  logic [P-1:0][W-1:0]      v_q;
  info_t                    done_info;
  logic                     unused_inverse_mod, unused_done_valid, unused_done_ready, out_valid, unused_out_mod;
  logic [LogRows-1:0]       out_time;
  logic [$clog2(Inside+1)-1:0] unused_done;

  // The product's operand register and M cycles after the values, less the lead: M + 1 after the mark of the values.
  rm_stream_tag #(.Cycles(M + 1), .ModW(1)) i_inverse_tag (
    .clk_i, .rst_ni, .first_i(forward_ahead), .mod_i(1'b0), .first_o(inverse_start), .mod_o(unused_inverse_mod)
  );
  always_ff @(posedge clk_i) begin : p_operands
    key_q <= key_row_i;
    v_q   <= v;
  end
  for (genvar c = 0; c < 2; c++) begin : g_part
    for (genvar l = 0; l < P; l++) begin : g_lane
      rm_modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_product (
        .clk_i, .a_i(key_q[c][l]), .b_i(v_q[l]), .q_i(q_q), .aux_i(aux_q), .r_o(product[c][l])
      );
    end
  end
  rm_streaming_ntt #(
    .W(W), .Kind(Kind), .Tile(Tile), .Mods(2), .LogP(LogP), .LogNMax(LogNMax), .LogNMin(LogNMin),
    .Style(rm_stream_pkg::FeedForward), .Inverse(1'b1), .Side(2)
  ) i_inverse (
    .clk_i,
    .rst_ni,
    .log_n_i,
    .bad_size_o      (inverse_bad_size),
    .busy_o          (unused_i_busy),
    .fault_o         (inverse_fault),
    .cfg_we_i        ((cfg_we_i && cfg_field_i <= FieldAux) || (cfg_inverse_we_i && cfg_field_i < FieldFactor)),
    .cfg_mod_i       (1'b0),
    .cfg_field_i,
    .cfg_data_i,
    .prepare_valid_i (prepare_i && prepare_ready_o),
    .prepare_mod_i   (1'b0),
    .prepare_ready_o (inverse_prepared),
    .start_valid_i   (inverse_start),
    .start_mod_i     (1'b0),
    .start_ready_o   (inverse_ready),
    .row_i           (product),
    .ahead_o,
    .ahead_mod_o     (unused_i_ahead_mod),
    .first_o         (inverse_first),
    .mod_o           (unused_i_mod),
    .valid_o         (unused_i_valid),
    .row_o
  );

  // What is known of a job when its last key was read goes on beside the inverse transforms.
  info_t keyed_info;
  always_comb begin : p_keyed
    keyed_info     = key_info_q;
    keyed_info.bad = bad_d;
  end
  rm_core_fifo #(.Width(InfoW), .Depth(Inside)) i_done (
    .clk_i, .rst_ni, .push_valid_i(asked_q && key_last_q), .push_ready_o(unused_done_ready), .push_data_i(keyed_info),
    .pop_valid_o(unused_done_valid), .pop_ready_i(ahead_o), .pop_data_o(done_info), .count_o(unused_done)
  );
  assign info_o  = done_info;
  rm_stream_clock #(.TimeW(LogRows), .ModW(1)) i_out_clock (
    .clk_i, .rst_ni, .log_rows_i(log_rows), .first_i(inverse_first), .mod_i(1'b0), .valid_o(out_valid),
    .time_o(out_time), .mod_o(unused_out_mod)
  );
  assign last_out = out_valid && out_time == LogRows'((32'd1 << log_rows) - 32'd1);

  assign prepare_ready_o = forward_prepared && inverse_prepared;

  // The gate and the tags start transforms when they are ready.
  logic late_start_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_late
    if (!rst_ni) begin
      late_start_q <= 1'b0;
    end else begin
      late_start_q <= late_start_q || (gate_start && !forward_ready) || (inverse_start && !inverse_ready);
    end
  end
  assign fault_o = forward_fault || inverse_fault || late_start_q;

  logic unused;
  assign unused = ^{unused_busy, unused_in_time, unused_f_busy, unused_f_ahead_mod, unused_f_first, unused_f_mod,
                    unused_pop_valid, unused_push_ready, unused_count, unused_inverse_mod, unused_done_valid,
                    unused_done_ready, unused_done, unused_out_mod, in_info.mode, in_info.bad, key_time_q[LogRows-1],
                    forward_bad_size, inverse_bad_size, unused_i_busy, unused_i_ahead_mod, unused_i_mod,
                    unused_i_valid};

endmodule
