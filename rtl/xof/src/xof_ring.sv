// xof_ring - control of a ring of stages through which blocks pass several times.
//
// Equation     A block that is injected in one step has been through Steps stages when it exits, in the step that injects its
//              successor in the same place: Steps steps later. Stages blocks are in the ring.
// Steps        step_o while the buffer behind the ring has room (full_i is low): all stages move together.
// Restart      load_i empties the ring; from the next cycle on new blocks are injected. wipe_i empties it until load_i.
module xof_ring #(
  parameter int unsigned Stages = 4,
  parameter int unsigned Steps  = 40,
  localparam int unsigned PhaseW = $clog2(Steps)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              load_i,
  input  logic              wipe_i,
  input  logic              full_i,
  output logic              step_o,
  output logic              inject_o,   // the first stage takes a new block, else the one that leaves the last stage
  output logic              exit_o,     // the last stage holds a block that is done; it leaves with step_o
  output logic [PhaseW-1:0] phase_o
);

  if (Stages < 2 || Steps % Stages != 0 || Steps < Stages) begin : g_check
    $error("xof_ring: a block passes all stages a whole number of times");
  end

  logic              run_d, run_q, primed_d, primed_q;
  logic [PhaseW-1:0] phase_d, phase_q;

  assign step_o  = run_q && !full_i;
  assign exit_o  = inject_o && primed_q;
  assign phase_o = phase_q;
  if (Stages == Steps) begin : g_once
    assign inject_o = run_q;
  end else begin : g_again
    assign inject_o = run_q && phase_q < PhaseW'(Stages);
  end

  always_comb begin : p_next
    run_d    = run_q;
    primed_d = primed_q;
    phase_d  = phase_q;
    if (step_o) begin
      phase_d  = phase_q + 1'b1;
      if (phase_q == PhaseW'(Steps - 1)) begin
        phase_d  = '0;
        primed_d = 1'b1;
      end
    end
    if (load_i || wipe_i) begin
      run_d    = load_i && !wipe_i;
      primed_d = 1'b0;
      phase_d  = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      run_q    <= 1'b0;
      primed_q <= 1'b0;
      phase_q  <= '0;
    end else begin
      run_q    <= run_d;
      primed_q <= primed_d;
      phase_q  <= phase_d;
    end
  end

endmodule
