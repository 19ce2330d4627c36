// rm_stream_delay - rows some cycles later, in a memory.
//
// Equation     d_o is d_i of Cycles cycles ago. Cycles words in all: a memory of Cycles - 1 and its output register; up to
//              four cycles are registers. No reset of the content: the tags beside it say what counts.
module rm_stream_delay #(
  parameter int unsigned Width  = 8,
  parameter int unsigned Cycles = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] d_o
);

  if (Cycles <= 4) begin : g_registers
    rm_delay_line #(
      .Width  (Width),
      .Cycles (Cycles)
    ) i_line (
      .clk_i,
      .data_i (d_i),
      .data_o (d_o)
    );
    logic unused_reset;
    assign unused_reset = rst_ni;
  end else begin : g_memory
    localparam int unsigned Depth = Cycles - 1;
    localparam int unsigned PtrW  = $clog2(Depth);

    // Deeper memories of one port are no table of LUTs: yosys 0.70 takes those of UltraScale+ for 2^16 words, and stops.
    (* ram_style = (Depth > 256) ? "block" : "auto" *)
    logic [Width-1:0] mem[Depth];
    logic [Width-1:0] out_q;
    logic [PtrW-1:0]  ptr_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_pointer
      if (!rst_ni) begin
        ptr_q <= '0;
      end else begin
        ptr_q <= (ptr_q == PtrW'(Depth - 1)) ? '0 : ptr_q + 1'b1;
      end
    end

    always_ff @(posedge clk_i) begin : p_memory
      out_q      <= mem[ptr_q];
      mem[ptr_q] <= d_i;
    end
    assign d_o = out_q;
  end

endmodule
