// rm_taiyi_pad - the scratchpad: Slots limbs, rows of L lanes of R words, and a port for each operand and result of all units.
//
// Timing       an address in one cycle, its row in the next. A row that is written in a cycle can be addressed in the next one.
// Ports        each lane has an address of its own in the row, for the automorphism unit. Two ports never write one slot at a time:
//              rm_taiyi_rules. It is a model: hardware would make these ports of banks, which README.md leaves out.
module rm_taiyi_pad
  import rm_taiyi_pkg::*;
#(
  parameter int unsigned W     = 36,
  parameter int unsigned L     = 2,
  parameter int unsigned R     = 8,
  parameter int unsigned T     = 6,
  parameter int unsigned SlotW = 6
) (
  input  logic                                   clk_i,
  input  logic [Reads-1:0]                       re_i,
  input  logic [Reads-1:0][SlotW-1:0]            rslot_i,
  input  logic [Reads-1:0][L-1:0][T-1:0]         rrow_i,
  output logic [Reads-1:0][L-1:0][R-1:0][W-1:0]  rdata_o,
  input  logic [Writes-1:0]                      we_i,
  input  logic [Writes-1:0][SlotW-1:0]           wslot_i,
  input  logic [Writes-1:0][T-1:0]               wrow_i,
  input  logic [Writes-1:0][L-1:0][R-1:0][W-1:0] wdata_i
);

  for (genvar l = 0; l < L; l++) begin : g_lane
    logic [R*W-1:0] mem [1 << (SlotW + T)];
    always_ff @(posedge clk_i) begin : p_write
      for (int unsigned p = 0; p < Writes; p++) begin
        if (we_i[p]) begin
          mem[{wslot_i[p], wrow_i[p]}] <= wdata_i[p][l];
        end
      end
    end
    for (genvar p = 0; p < Reads; p++) begin : g_read
      always_ff @(posedge clk_i) begin : p_read
        if (re_i[p]) begin
          rdata_o[p][l] <= mem[{rslot_i[p], rrow_i[p][l]}];
        end
      end
    end
  end

endmodule
