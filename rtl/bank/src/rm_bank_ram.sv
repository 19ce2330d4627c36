// rm_bank_ram - one limb on chip: simple dual port, one row read and one row written a cycle.
//
// Latency      raddr_i with re_i in one cycle, rdata_o in the next; rdata_o holds while re_i is 0.
// Collision    a read and a write of one row in the same cycle return the old row; with Apart there is no such cycle.
//              Memories of ECP5 cannot return it: synthesis puts registers and a multiplexer around them, unless Apart.
// Inference    no reset, one registered read port: block RAM of every FPGA family.
module rm_bank_ram #(
  parameter int unsigned Width = 432,
  parameter int unsigned Depth = 4096,
  parameter bit          Apart = 1'b0,  // no row is read in the cycle in which it is written
  localparam int unsigned IdxW = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic             clk_i,
  input  logic             re_i,
  input  logic [IdxW-1:0]  raddr_i,
  output logic [Width-1:0] rdata_o,
  input  logic             we_i,
  input  logic [IdxW-1:0]  waddr_i,
  input  logic [Width-1:0] wdata_i
);

  (* no_rw_check = Apart *) logic [Width-1:0] mem [Depth];
  logic [Width-1:0] rdata_q;

  always_ff @(posedge clk_i) begin : p_write
    if (we_i) begin
      mem[waddr_i] <= wdata_i;
    end
  end

  always_ff @(posedge clk_i) begin : p_read
    if (re_i) begin
      rdata_q <= mem[raddr_i];
    end
  end

  assign rdata_o = rdata_q;

`ifndef SYNTHESIS
  if (Apart) begin : g_apart
    always @(posedge clk_i) begin : p_check
      a_apart: assert (!(re_i && we_i && raddr_i == waddr_i));
    end
  end
`endif

endmodule
