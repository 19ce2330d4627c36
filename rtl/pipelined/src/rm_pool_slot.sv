// rm_pool_slot - a column of a slot of coefficients: a row written and a row read a cycle, or, while nothing is written, two read.
//
// Latency      raddr_i with re_i in one cycle, rdata_o in the next. second_* is the port that writes.
// Inference    true dual port without reset: block memories and UltraRAM have both ports, each of them reads or writes in a cycle.
module rm_pool_slot #(
  parameter int unsigned Width = 960,
  parameter int unsigned Depth = 4096,
  localparam int unsigned IdxW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             re_i,
  input  logic [IdxW-1:0]  raddr_i,
  output logic [Width-1:0] rdata_o,
  input  logic             we_i,
  input  logic [IdxW-1:0]  waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic             second_re_i,    // not beside we_i
  input  logic [IdxW-1:0]  second_raddr_i,
  output logic [Width-1:0] second_rdata_o
);

  logic [Width-1:0] mem [Depth];
  logic [Width-1:0] rdata_q, second_q;
  logic [IdxW-1:0]  second_addr;

  assign second_addr = we_i ? waddr_i : second_raddr_i;

  always_ff @(posedge clk_i) begin : p_write
    if (we_i) begin
      mem[second_addr] <= wdata_i;
    end else if (second_re_i) begin
      second_q <= mem[second_addr];
    end
  end
  always_ff @(posedge clk_i) begin : p_read
    if (re_i) begin
      rdata_q <= mem[raddr_i];
    end
  end

  assign rdata_o        = rdata_q;
  assign second_rdata_o = second_q;

endmodule
