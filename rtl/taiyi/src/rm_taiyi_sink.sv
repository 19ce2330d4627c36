// rm_taiyi_sink - where the rows of a unit's results go: slots in the order of their instructions, rows in order.
//
// Timing       push_i with the slot of an instruction, before its first row. Each row of a result in its cycle, valid_i.
// wrong_o      a row that no instruction waits for, or more instructions inside than Depth.
module rm_taiyi_sink #(
  parameter int unsigned T     = 6,
  parameter int unsigned SlotW = 6,
  parameter int unsigned Depth = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [SlotW-1:0] slot_i,
  input  logic             valid_i,
  output logic             we_o,
  output logic [SlotW-1:0] slot_o,
  output logic [T-1:0]     row_o,
  output logic             empty_o,
  output logic             wrong_o
);

  localparam int unsigned CntW = $clog2(Depth + 1);

  logic            ready, some, pop;
  logic [T-1:0]    row_q;
  logic [CntW-1:0] count;

  rm_core_fifo #(.Width(SlotW), .Depth(Depth)) i_slots (
    .clk_i, .rst_ni, .push_valid_i(push_i), .push_ready_o(ready), .push_data_i(slot_i),
    .pop_valid_o(some), .pop_ready_i(pop), .pop_data_o(slot_o), .count_o(count)
  );

  assign we_o    = valid_i && some;
  assign row_o   = row_q;
  assign pop     = we_o && row_q == '1;
  assign empty_o = count == '0;
  assign wrong_o = (valid_i && !some) || (push_i && !ready);

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_row
    if (!rst_ni) begin
      row_q <= '0;
    end else if (we_o) begin
      row_q <= row_q + 1'b1;
    end
  end

endmodule
