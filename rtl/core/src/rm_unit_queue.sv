// rm_unit_queue - a queue whose oldest entry stands in a register: what is shown comes from flip-flops alone.
//
// Handshake    valid/ready on both sides. What is pushed in cycle t is shown in t + 2 at the earliest, then one entry a
//              cycle; nothing runs from an input to an output of the other side in the same cycle.
// Memory       rm_core_fifo of Depth words, and the register: Depth words find room whatever is shown.
module rm_unit_queue #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_valid_i,
  output logic             push_ready_o,
  input  logic [Width-1:0] push_data_i,
  output logic             pop_valid_o,
  input  logic             pop_ready_i,
  output logic [Width-1:0] pop_data_o,
  output logic             busy_o       // something is inside
);

  logic             next_valid, load, valid_q;
  logic [Width-1:0] next, data_q;

  rm_core_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) i_fifo (
    .clk_i,
    .rst_ni,
    .push_valid_i,
    .push_ready_o,
    .push_data_i,
    .pop_valid_o (next_valid),
    .pop_ready_i (load),
    .pop_data_o  (next),
    .count_o     ()
  );

  assign load = !valid_q || pop_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (load) begin
      valid_q <= next_valid;
    end
  end

  always_ff @(posedge clk_i) begin : p_data
    if (load) data_q <= next;
  end

  assign pop_valid_o = valid_q;
  assign pop_data_o  = data_q;
  assign busy_o      = valid_q || next_valid;

endmodule
