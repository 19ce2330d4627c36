// rm_ks_ring - rows on a side way: pushed while a digit enters the chain, popped when it comes out.
//
// Timing       pop_i in one cycle, the row in the next (rm_bank_ram). Rows stay in order.
// Bounds       At most Depth rows inside; Depth is at least the cycles between push and pop. Assertions hold both ends.
module rm_ks_ring #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  input  logic             pop_i,
  output logic [Width-1:0] data_o
);

  localparam int unsigned PtrW = $clog2(Depth);

  logic [PtrW-1:0] wptr_q, rptr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_pointers
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else begin
      if (push_i) begin
        wptr_q <= (wptr_q == PtrW'(Depth - 1)) ? '0 : wptr_q + 1'b1;
      end
      if (pop_i) begin
        rptr_q <= (rptr_q == PtrW'(Depth - 1)) ? '0 : rptr_q + 1'b1;
      end
    end
  end

  rm_bank_ram #(
    .Width (Width),
    .Depth (Depth)
  ) i_ram (
    .clk_i,
    .re_i    (pop_i),
    .raddr_i (rptr_q),
    .rdata_o (data_o),
    .we_i    (push_i),
    .waddr_i (wptr_q),
    .wdata_i (data_i)
  );

`ifndef SYNTHESIS
  int unsigned inside_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_inside
    if (!rst_ni) begin
      inside_q <= 0;
    end else begin
      inside_q <= inside_q + 32'(push_i) - 32'(pop_i);
    end
  end
  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_space: assert (!push_i || inside_q < Depth);
      a_there: assert (!pop_i || inside_q > 0);
    end
  end
`endif

endmodule
