// rm_xof_ring and rm_xof_buffer: each block passes all stages Steps / Stages times, blocks leave in the order of their injection, none is
// lost or made twice, for any reader and restarts at any time. Blocks are numbers here, with the stages they have been through.
module fv_xof_ring #(
  parameter int unsigned Stages = 2,
  parameter int unsigned Steps  = 6
) (
  input logic clk_i,
  input logic rst_ni,
  input logic load_i,
  input logic wipe_i,
  input logic block_ready_i
);

  localparam int unsigned TagW   = 4;
  localparam int unsigned CountW = $clog2(Steps + 1);

  logic step, inject, leave, full, valid;
  logic [$clog2(Steps)-1:0] unused_phase;
  rm_xof_ring #(.Stages(Stages), .Steps(Steps)) i_ring (
    .clk_i, .rst_ni, .load_i, .wipe_i, .full_i(full), .step_o(step), .inject_o(inject), .exit_o(leave),
    .phase_o(unused_phase)
  );

  logic [TagW-1:0]                next_q, due_q, block;
  logic [Stages-1:0][TagW-1:0]    tag_q;
  logic [Stages-1:0][CountW-1:0]  count_q;
  logic                           loaded_q, run_q;
  initial run_q = 1'b0;

  rm_xof_buffer #(.Width(TagW)) i_buffer (
    .clk_i, .rst_ni, .clear_i(load_i || wipe_i), .push_i(step && leave), .data_i(tag_q[Stages-1]), .full_o(full),
    .block_valid_o(valid), .block_ready_i, .block_o(block)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_model
    if (!rst_ni) begin
      next_q   <= '0;
      due_q    <= '0;
      tag_q    <= '0;
      count_q  <= '0;
      loaded_q <= 1'b0;
    end else begin
      if (step) begin
        tag_q   <= {tag_q[Stages-2:0], inject ? next_q : tag_q[Stages-1]};
        next_q  <= next_q + TagW'(inject);
        count_q[0] <= inject ? CountW'(1) : count_q[Stages-1] + 1'b1;
        for (int unsigned s = 1; s < Stages; s++) begin
          count_q[s] <= count_q[s-1] + 1'b1;
        end
      end
      if (valid && block_ready_i) begin
        due_q <= due_q + 1'b1;
      end
      if (load_i || wipe_i) begin
        next_q   <= '0;
        due_q    <= '0;
        loaded_q <= load_i && !wipe_i;
      end
    end
  end
  always_ff @(posedge clk_i) begin : p_run
    run_q <= 1'b1;
  end

  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    if (run_q && rst_ni) begin
      a_order: assert (!valid || block == due_q);
      a_done:  assert (!(step && leave) || count_q[Stages-1] == CountW'(Steps));
      a_idle:  assert (loaded_q || (!valid && !step));
      a_moves: assert (!loaded_q || full || step);
    end
  end

  // A fourth block comes out: the properties above are not about an empty ring.
  always @(posedge clk_i) begin : p_cover
    if (rst_ni) begin
      c_fourth: cover (valid && block == TagW'(3));
    end
  end

endmodule
