// rm_handshake_check - the one property of every valid/ready handshake in this design:
//   once valid is raised it stays, with the same payload, until ready or until clear (a flush).
// Immediate assertions, so the same file serves simulation (Verilator --assert) and formal
// (yosys read_slang); AsAssumption turns the requirement round for a block's inputs.
module rm_handshake_check #(
  parameter int unsigned Width        = 1,
  parameter bit          AsAssumption = 1'b0
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clear_i,
  input logic             valid_i,
  input logic             ready_i,
  input logic [Width-1:0] data_i
);

  logic             waiting_q;
  logic [Width-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_waiting
    if (!rst_ni) begin
      waiting_q <= 1'b0;
    end else begin
      waiting_q <= valid_i && !ready_i && !clear_i;
    end
  end

  always_ff @(posedge clk_i) begin : p_payload
    data_q <= data_i;
  end

  logic kept;
  assign kept = !waiting_q || (valid_i && data_i == data_q);

  if (AsAssumption) begin : g_assume
    always_comb begin : p_assume
      if (rst_ni) begin
        m_kept: assume (kept);
      end
    end
  end else begin : g_assert
    // Sampled at the clock: between edges a simulator passes through states that do not count.
    always @(posedge clk_i) begin : p_assert
      if (rst_ni) begin
        a_kept: assert (kept);
      end
    end
  end

endmodule
