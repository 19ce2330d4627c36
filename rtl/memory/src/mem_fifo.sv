// mem_fifo - small show-ahead FIFO in registers or distributed memory.
//
// Contract     what goes in comes out, once, in order; holds Depth words.
// Cycles       a word taken in cycle t is shown in cycle t + 1 if the FIFO was empty; one word in
//              and one out a cycle. valid_o and ready_o are functions of registers alone.
// clear_i      empties it at the end of the cycle; a word offered in that cycle is dropped.
module mem_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);

  localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned CntW = $clog2(Depth + 1);

  if (Depth < 1) begin : g_check_depth
    $error("mem_fifo: Depth must be at least 1");
  end

  logic [Width-1:0] mem [Depth];
  logic [PtrW-1:0]  wptr_q, wptr_d, rptr_q, rptr_d;
  logic [CntW-1:0]  count_q, count_d;
  logic             push, pop;

  assign valid_o = count_q != '0;
  assign ready_o = count_q != CntW'(Depth);
  assign data_o  = mem[rptr_q];
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;

  always_comb begin : p_next
    wptr_d  = wptr_q;
    rptr_d  = rptr_q;
    count_d = count_q;
    if (push && !pop) count_d = count_q + 1'b1;
    if (pop && !push) count_d = count_q - 1'b1;
    if (push) wptr_d = (wptr_q == PtrW'(Depth - 1)) ? '0 : wptr_q + 1'b1;
    if (pop)  rptr_d = (rptr_q == PtrW'(Depth - 1)) ? '0 : rptr_q + 1'b1;
    if (clear_i) begin
      wptr_d  = '0;
      rptr_d  = '0;
      count_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      count_q <= '0;
    end else begin
      wptr_q  <= wptr_d;
      rptr_q  <= rptr_d;
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) begin : p_mem
    if (push) mem[wptr_q] <= data_i;
  end

`ifndef SYNTHESIS
  mem_handshake_check #(.Width(Width)) i_check_out (
    .clk_i, .rst_ni, .clear_i, .valid_i(valid_o), .ready_i, .data_i(data_o)
  );
`endif

endmodule
