// rm_mem_row_fifo - wide FIFO in block memory, shown ahead through the memory's output register.
//
// Contract     what goes in comes out, once, in order. Holds Depth words in the memory and one more
//              in the output register; ready_o does not count the latter, so Depth words can always
//              be accepted when nothing is inside.
// Cycles       a word taken in cycle t is shown in cycle t + 2 at the earliest; one word in and one
//              out a cycle. valid_o comes from a register, data_o from the memory's output register.
// clear_i      empties it at the end of the cycle; a word offered in that cycle is dropped.
// The memory is simple dual port; the read address never equals the write address of the same cycle.
module rm_mem_row_fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 64,
  localparam int unsigned PtrW = $clog2(Depth),
  localparam int unsigned CntW = PtrW + 1
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

  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_check_depth
    $error("rm_mem_row_fifo: Depth must be a power of two, at least 2");
  end

  (* no_rw_check *) logic [Width-1:0] mem [Depth];
  logic [Width-1:0] out_q;
  logic [PtrW-1:0]  wptr_q, wptr_d, rptr_q, rptr_d;
  logic [CntW-1:0]  stored_q, stored_d;
  logic             valid_q, valid_d, push, read;

  assign ready_o = stored_q != CntW'(Depth);
  assign push    = valid_i && ready_o;
  assign read    = stored_q != '0 && (!valid_q || ready_i);
  assign valid_o = valid_q;
  assign data_o  = out_q;

  always_comb begin : p_next
    wptr_d   = wptr_q + PtrW'(push);
    rptr_d   = rptr_q + PtrW'(read);
    stored_d = stored_q + CntW'(push) - CntW'(read);
    valid_d  = read || (valid_q && !ready_i);
    if (clear_i) begin
      wptr_d   = '0;
      rptr_d   = '0;
      stored_d = '0;
      valid_d  = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      wptr_q   <= '0;
      rptr_q   <= '0;
      stored_q <= '0;
      valid_q  <= 1'b0;
    end else begin
      wptr_q   <= wptr_d;
      rptr_q   <= rptr_d;
      stored_q <= stored_d;
      valid_q  <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin : p_mem
    if (push) mem[wptr_q] <= data_i;
    if (read) out_q <= mem[rptr_q];
  end

`ifndef SYNTHESIS
  rm_handshake_check #(.Width(Width)) i_check_out (
    .clk_i, .rst_ni, .clear_i, .valid_i(valid_o), .ready_i, .data_i(data_o)
  );
`endif

endmodule
