// rm_stream_swap - exchanges the lowest bit of the lane number with bit t of the time, t = LogD.
//
// Equation     Of each pair of lanes, the word of the odd lane at a time with bit t clear changes places with the word of the
//              even lane 2^t cycles later.
// Latency      2^t cycles; N <= P 2^t: one cycle, nothing exchanged (bypass_i). P 2^t words of memory. A row a cycle.
module rm_stream_swap #(
  parameter int unsigned W     = 54,
  parameter int unsigned LogP  = 1,
  parameter int unsigned LogD  = 3,
  parameter int unsigned TimeW = 8,
  parameter int unsigned ModW  = 3,
  localparam int unsigned P    = 1 << LogP
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [4:0]          log_rows_i,
  input  logic                first_i,
  input  logic [ModW-1:0]     mod_i,
  input  logic [P-1:0][W-1:0] row_i,
  output logic                first_o,
  output logic [ModW-1:0]     mod_o,
  output logic [P-1:0][W-1:0] row_o
);

  logic             valid, turn;
  logic [TimeW-1:0] time_now;
  logic [ModW-1:0]  unused_mod;

  rm_stream_clock #(
    .TimeW (TimeW),
    .ModW  (ModW)
  ) i_clock (
    .clk_i,
    .rst_ni,
    .log_rows_i,
    .first_i,
    .mod_i,
    .valid_o (valid),
    .time_o  (time_now),
    .mod_o   (unused_mod)
  );
  assign turn = valid && time_now[LogD];

  // Odd lanes wait before the exchange, even lanes after it.
  logic [P/2-1:0][W-1:0] odd, odd_late, even, even_late;
  for (genvar j = 0; j < P / 2; j++) begin : g_pair
    assign odd[j]       = row_i[2*j+1];
    assign even[j]      = turn ? odd_late[j] : row_i[2*j];
    assign row_o[2*j]   = even_late[j];
    assign row_o[2*j+1] = turn ? row_i[2*j] : odd_late[j];
  end

  rm_stream_delay #(
    .Width  (P * W),
    .Cycles (1 << LogD)
  ) i_delay (
    .clk_i,
    .rst_ni,
    .d_i ({odd, even}),
    .d_o ({odd_late, even_late})
  );

  rm_stream_tag #(
    .Cycles (1 << LogD),
    .ModW   (ModW)
  ) i_tag (
    .clk_i,
    .rst_ni,
    .first_i,
    .mod_i,
    .first_o,
    .mod_o
  );

  logic unused;
  assign unused = ^{unused_mod, time_now};

endmodule
