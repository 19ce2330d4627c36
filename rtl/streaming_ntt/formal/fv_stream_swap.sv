// rm_stream_swap: one word, in any lane and row of any polynomial after any gaps, comes out where lane bit 0 and time bit t have
// changed places, in its cycle, with the right mark. Polynomials that keep their distance do not touch each other.
module fv_stream_swap #(
  parameter int unsigned LogD = 1
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            first_i,
  input logic            mod_i,
  input logic            pick_i,
  input logic [3:0][1:0] row_i,
  input logic [1:0]      lane_i,
  input logic [2:0]      time_i
);

  localparam int unsigned LogRows = 3;

  logic            first_o, mod_o;
  logic [3:0][1:0] row_o;
  rm_stream_swap #(
    .W     (2),
    .LogP  (2),
    .LogD  (LogD),
    .TimeW (LogRows),
    .ModW  (1)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_rows_i (5'(LogRows)),
    .first_i,
    .mod_i,
    .row_i,
    .first_o,
    .mod_o,
    .row_o
  );

  // The word is chosen once; its polynomial by pick_i beside a first row.
  logic       run_q, watch_q, mod_q;
  logic [1:0] lane_q, word_q;
  logic [2:0] time_q, since_start_q;
  logic       started_q;
  logic [4:0] since_q;
  initial run_q = 1'b0;

  logic       watch;
  logic [4:0] since;
  assign watch = watch_q || (first_i && pick_i);
  assign since = watch_q ? since_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_watch
    if (!rst_ni) begin
      watch_q       <= 1'b0;
      since_q       <= '0;
      started_q     <= 1'b0;
      since_start_q <= '0;
    end else begin
      watch_q   <= watch && since != 5'd31;
      since_q   <= since + 1'b1;
      started_q <= first_i || (started_q && since_start_q != '1);
      since_start_q <= first_i ? 3'd1 : since_start_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin : p_word
    run_q  <= 1'b1;
    lane_q <= lane_i;
    time_q <= time_i;
    if (watch && !watch_q) mod_q <= mod_i;
    if (watch && since == 5'(time_i)) word_q <= row_i[lane_i];
  end

  logic [1:0] to_lane;
  logic [2:0] to_time;
  always_comb begin : p_place
    to_lane       = lane_i;
    to_time       = time_i;
    to_lane[0]    = time_i[LogD];
    to_time[LogD] = lane_i[0];
  end

  logic [1:0] word;
  assign word = (since == 5'(time_i)) ? row_i[lane_i] : word_q;
  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    if (run_q) assume (rst_ni && lane_i == lane_q && time_i == time_q);
    assume (!(first_i && started_q));   // N/P cycles apart
    if (run_q && rst_ni && watch) begin
      if (since == 5'(to_time) + 5'(1 << LogD)) begin
        a_word: assert (row_o[to_lane] == word);
      end
      if (since == 5'(1 << LogD)) begin
        a_mark: assert (first_o && mod_o == ((since == '0) ? mod_i : mod_q));
      end
    end
  end

endmodule
