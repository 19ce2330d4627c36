// rm_stream_tag - the mark of a polynomial's first row, and its modulus, some cycles later.
//
// Equation     first_o is first_i of Cycles cycles ago, with the modulus that came along; Cycles >= 1.
// Bounds       Beyond 32 cycles a counter does it: at most one mark is on its way. Delays that long are half a polynomial at
//              most, and marks come N/P cycles apart.
module rm_stream_tag #(
  parameter int unsigned Cycles = 1,
  parameter int unsigned ModW   = 3
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            first_i,
  input  logic [ModW-1:0] mod_i,
  output logic            first_o,
  output logic [ModW-1:0] mod_o
);

  if (Cycles <= 32) begin : g_line
    logic [Cycles-1:0] first_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_first
      if (!rst_ni) begin
        first_q <= '0;
      end else begin
        first_q <= Cycles'({first_q, first_i});
      end
    end
    assign first_o = first_q[Cycles-1];
    rm_delay_line #(
      .Width  (ModW),
      .Cycles (Cycles)
    ) i_mod (
      .clk_i,
      .data_i (mod_i),
      .data_o (mod_o)
    );
  end else begin : g_counter
    localparam int unsigned CntW = $clog2(Cycles + 1);
    logic [CntW-1:0] left_q;
    logic [ModW-1:0] mod_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_left
      if (!rst_ni) begin
        left_q <= '0;
      end else if (first_i) begin
        left_q <= CntW'(Cycles);
      end else if (left_q != '0) begin
        left_q <= left_q - 1'b1;
      end
    end
    always_ff @(posedge clk_i) begin : p_mod
      if (first_i) begin
        mod_q <= mod_i;
      end
    end
    assign first_o = left_q == CntW'(1);
    assign mod_o   = mod_q;

    always @(posedge clk_i) begin : p_assert
      if (rst_ni) begin
        a_alone: assert (!first_i || left_q <= CntW'(1));
      end
    end
  end

endmodule
