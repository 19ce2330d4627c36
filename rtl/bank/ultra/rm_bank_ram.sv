// rm_bank_ram - one limb on chip in UltraRAM of UltraScale+: ../src/rm_bank_ram.sv, and one attribute.
module rm_bank_ram #(
  parameter int unsigned Width = 432,
  parameter int unsigned Depth = 4096,
  parameter bit          Apart = 1'b0,  // UltraRAM needs nothing of it
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

  (* ram_style = "ultra" *)
  logic [Width-1:0] mem [Depth];
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

endmodule
