// rm_stream_gate - lets polynomials in, N/P cycles apart.
//
// Handshake    valid/ready. start_ready_o is high in every cycle in which N/P cycles have passed since the last start, so a
//              start waits N/P - 1 cycles at most; never while bad_size_i.
// Count        busy_o from a start until last_i has come as often.
module rm_stream_gate #(
  parameter int unsigned LogRows = 8,   // log2 of the most rows
  parameter int unsigned Polys   = 4    // most polynomials inside
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [4:0] log_rows_i,
  input  logic       bad_size_i,
  input  logic       start_valid_i,
  output logic       start_ready_o,
  output logic       start_o,
  input  logic       last_i,
  output logic       busy_o
);

  localparam int unsigned CntW = $clog2(Polys + 2);

  logic [LogRows-1:0] wait_q;
  logic [CntW-1:0]    inside_q;

  assign start_ready_o = wait_q == '0 && !bad_size_i;
  assign start_o       = start_valid_i && start_ready_o;
  assign busy_o        = inside_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_start
    if (!rst_ni) begin
      wait_q   <= '0;
      inside_q <= '0;
    end else begin
      if (start_o) begin
        wait_q <= LogRows'((32'd1 << log_rows_i) - 32'd1);
      end else if (wait_q != '0) begin
        wait_q <= wait_q - 1'b1;
      end
      inside_q <= inside_q + CntW'(start_o) - CntW'(last_i);
    end
  end

endmodule
