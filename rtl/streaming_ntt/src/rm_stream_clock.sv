// rm_stream_clock - the time of a row in its polynomial.
//
// Equation     With first_i the time is 0, then 1, 2, ... up to the last row, 2^log_rows_i - 1; valid_o while it runs. All
//              outputs belong to the row beside first_i, in the same cycle.
module rm_stream_clock #(
  parameter int unsigned TimeW = 8,
  parameter int unsigned ModW  = 3
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [4:0]       log_rows_i,
  input  logic             first_i,
  input  logic [ModW-1:0]  mod_i,
  output logic             valid_o,
  output logic [TimeW-1:0] time_o,
  output logic [ModW-1:0]  mod_o
);

  logic [TimeW-1:0] next_q, last;
  logic             run_q;
  logic [ModW-1:0]  mod_q;

  assign last    = TimeW'((32'd1 << log_rows_i) - 32'd1);
  assign valid_o = first_i || run_q;
  assign time_o  = first_i ? '0 : next_q;
  assign mod_o   = first_i ? mod_i : mod_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_run
    if (!rst_ni) begin
      run_q  <= 1'b0;
      next_q <= '0;
    end else begin
      run_q  <= valid_o && time_o != last;
      next_q <= time_o + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin : p_mod
    mod_q <= mod_o;
  end

  // Polynomials do not overlap.
  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_apart: assert (!(first_i && run_q));
    end
  end

endmodule
