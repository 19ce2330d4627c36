// rm_ks_marks - the stage of the sums: which row stands where, and whether anything of it was missing.
//
// Timing       ahead_i stands lead cycles before the first row out of the forward transforms, cycle r. ask_* belong to r - 1,
//              row_* to r, sum_* to r + 1 + M, add_* to r + 2 + M, write_* to r + 4 + M.
// Missing      A key switch is bad from the first row on of a digit (info_i.bad), a key or an addend that was missing. What
//              the digits gather goes over to the finished sums with the last one, and to both components of the result:
//              write_bad_o.
module rm_ks_marks #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned LogRows = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_rows_i,
  input  logic               ahead_i,
  input  rm_ks_pkg::info_t      info_i,
  output logic               ask_o,
  output logic [LogRows-1:0] ask_time_o,
  output rm_ks_pkg::info_t      ask_info_o,
  output rm_ks_pkg::info_t      row_info_o,
  input  logic               key_valid_i,      // in r
  output logic               sum_o,
  output logic [LogRows-1:0] sum_time_o,
  output rm_ks_pkg::info_t      sum_info_o,
  output rm_ks_pkg::info_t      add_info_o,
  input  logic               addend_valid_i,   // in r + 2 + M
  output logic               write_o,
  output logic [LogRows-1:0] write_time_o,
  output rm_ks_pkg::info_t      write_info_o,
  output logic               write_bad_o,
  output logic               finished_o,       // r + 2 of the last digit's first row
  output logic               slot_end_o        // last row written
);

  import rm_ks_pkg::*;

  localparam int unsigned M = rm_modmul_pkg::latency(Kind, W);

  logic first_ask, first_row, first_mid, first_sum, first_write;
  logic  mid_last;
  info_t ask_tag, row_tag, sum_tag, write_tag;

  rm_stream_tag #(.Cycles(rm_stream_pkg::lead(Kind, W) - 1), .ModW(InfoW)) i_ask (
    .clk_i, .rst_ni, .first_i(ahead_i), .mod_i(info_i), .first_o(first_ask), .mod_o(ask_tag)
  );
  rm_stream_tag #(.Cycles(1), .ModW(InfoW)) i_row (
    .clk_i, .rst_ni, .first_i(first_ask), .mod_i(ask_tag), .first_o(first_row), .mod_o(row_tag)
  );
  rm_stream_tag #(.Cycles(2), .ModW(1)) i_mid (
    .clk_i, .rst_ni, .first_i(first_row), .mod_i(row_tag.last), .first_o(first_mid), .mod_o(mid_last)
  );
  rm_stream_tag #(.Cycles(M + 1), .ModW(InfoW)) i_sum (
    .clk_i, .rst_ni, .first_i(first_row), .mod_i(row_tag), .first_o(first_sum), .mod_o(sum_tag)
  );
  rm_stream_tag #(.Cycles(3), .ModW(InfoW)) i_write (
    .clk_i, .rst_ni, .first_i(first_sum), .mod_i(sum_tag), .first_o(first_write), .mod_o(write_tag)
  );
  assign finished_o = first_mid && mid_last;

  info_t ask_info, row_info_q, sum_info, write_info;

  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_ask_clock (
    .clk_i, .rst_ni, .log_rows_i, .first_i(first_ask), .mod_i(ask_tag), .valid_o(ask_o), .time_o(ask_time_o),
    .mod_o(ask_info)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_sum_clock (
    .clk_i, .rst_ni, .log_rows_i, .first_i(first_sum), .mod_i(sum_tag), .valid_o(sum_o), .time_o(sum_time_o),
    .mod_o(sum_info)
  );
  rm_stream_clock #(.TimeW(LogRows), .ModW(InfoW)) i_write_clock (
    .clk_i, .rst_ni, .log_rows_i, .first_i(first_write), .mod_i(write_tag), .valid_o(write_o), .time_o(write_time_o),
    .mod_o(write_info)
  );
  assign ask_info_o   = ask_info;
  assign row_info_o   = row_info_q;
  assign sum_info_o   = sum_info;
  assign write_info_o = write_info;
  assign slot_end_o   = write_o && write_time_o == LogRows'((32'd1 << log_rows_i) - 32'd1);

  always_ff @(posedge clk_i) begin : p_row
    row_info_q <= ask_info;
  end

  // ------------------------------------------------- what was missing, all in r + 2 + M
  logic  key_late, adding_q, add_first_q, missing, earlier, bad;
  logic  digits_bad_q, finished_bad_q, result_bad_q, bad_q, write_bad_q;
  info_t add_info_q;

  rm_delay_line #(.Width(1), .Cycles(M + 2)) i_key_valid (.clk_i, .data_i(key_valid_i), .data_o(key_late));

  assign missing = add_info_q.down ? !addend_valid_i : !key_late;
  always_comb begin : p_earlier
    if (add_info_q.down) begin
      earlier = (add_first_q && !add_info_q.comp) ? finished_bad_q : result_bad_q;
    end else begin
      earlier = !(add_first_q && add_info_q.first) && digits_bad_q;
    end
  end
  assign bad = earlier || add_info_q.bad || missing;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_bad
    if (!rst_ni) begin
      adding_q       <= 1'b0;
      digits_bad_q   <= 1'b0;
      finished_bad_q <= 1'b0;
      result_bad_q   <= 1'b0;
    end else begin
      adding_q <= sum_o;
      if (adding_q && add_info_q.down) begin
        result_bad_q <= bad;
      end
      if (adding_q && !add_info_q.down) begin
        digits_bad_q <= bad;
      end
      if (adding_q && !add_info_q.down && add_info_q.last) begin
        finished_bad_q <= bad;
      end
    end
  end
  always_ff @(posedge clk_i) begin : p_add
    add_info_q  <= sum_info;
    add_first_q <= first_sum;
    bad_q       <= bad;
    write_bad_q <= bad_q;
  end
  assign add_info_o  = add_info_q;
  assign write_bad_o = write_bad_q;

endmodule
