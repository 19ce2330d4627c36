// fv_mem_fetch - the instructions shown are the beats of this program, in order, each with its own error. After END
//                or a stop nothing is shown and nothing is requested. Idle means that no beat is on its way.
//
// Method       bounded, a beat an instruction, two ahead; the memory answers at any time, or never. One beat is followed
//              (picked by the solver); `ahead` counts the instructions before it. BROKEN starts a program while beats of
//              the last one are due and must give a counterexample.
module fv_mem_fetch
  import rm_mem_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 start_i,
  input logic [UnitAddrW-1:0] addr_i,
  input logic                 stop_i,
  input logic                 burst_ready_i,
  input logic                 r_valid_i,
  input logic [8:0]           r_code_i,
  input logic [1:0]           r_resp_i,
  input logic                 instr_ready_i,
  input logic                 pick_i
);

  localparam int unsigned DataW = 256;
  localparam int unsigned CntW  = 4;

  logic                 started_q, idle, burst_valid, r_last, instr_valid, instr_err, err_valid, start, taken, last;
  logic                 running_q, due_valid, due_ready, follow_q, word_err_q, shown_q;
  burst_t               burst;
  logic [DataW-1:0]     instr, data;
  logic [8:0]           word_q;
  logic [1:0]           err_resp;
  logic [UnitAddrW-1:0] err_addr;
  logic [BeatsW-1:0]    due, sent_q;
  logic [2:0]           due_count;
  logic [CntW-1:0]      inside_q, ahead_q;

`ifdef BROKEN
  assign start = start_i && !running_q && !stop_i;
`else
  assign start = start_i && idle && !stop_i;
`endif
  // The operation code and one bit beyond it: all that END depends on, and something that it does not.
  assign data  = DataW'(r_code_i);
  assign taken = instr_valid && instr_ready_i;
  assign last  = taken && !instr_err && instr[7:0] == '0;

  rm_mem_fetch #(.DataW(DataW), .Depth(2), .BurstBytes(64)) i_dut (
    .clk_i, .rst_ni,
    .start_i(start), .addr_i, .stop_i, .idle_o(idle),
    .burst_valid_o(burst_valid), .burst_ready_i, .burst_o(burst),
    .r_valid_i, .r_data_i(data), .r_resp_i, .r_last_i(r_last),
    .instr_valid_o(instr_valid), .instr_ready_i, .instr_o(instr), .instr_err_o(instr_err),
    .err_valid_o(err_valid), .err_resp_o(err_resp), .err_addr_o(err_addr)
  );

  // The bursts that the memory has to answer.
  rm_core_fifo #(.Width(BeatsW), .Depth(5)) i_memory (
    .clk_i, .rst_ni,
    .push_valid_i(burst_valid && burst_ready_i), .push_ready_o(due_ready), .push_data_i(burst.beats),
    .pop_valid_o(due_valid), .pop_ready_i(r_valid_i && r_last), .pop_data_o(due), .count_o(due_count)
  );
  assign r_last = sent_q + 1'b1 == due;

  rm_handshake_check #(.Width(10)) i_shown (
    .clk_i, .rst_ni, .clear_i(stop_i), .valid_i(instr_valid), .ready_i(instr_ready_i),
    .data_i({instr_err, instr[8:0]})
  );

  initial begin
    started_q = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!rst_ni) begin
      sent_q    <= '0;
      running_q <= 1'b0;
      follow_q  <= 1'b0;
      shown_q   <= 1'b0;
      inside_q  <= '0;
    end else begin
      if (r_valid_i) sent_q <= r_last ? '0 : sent_q + 1'b1;
      running_q <= (running_q || start) && !last && !stop_i;
      if (!running_q || last || stop_i) begin
        follow_q <= 1'b0;
        shown_q  <= 1'b0;
        inside_q <= '0;
      end else begin
        inside_q <= inside_q + CntW'(r_valid_i) - CntW'(taken);
        if (!follow_q && !shown_q && r_valid_i && pick_i) begin
          follow_q   <= 1'b1;
          word_q     <= r_code_i;
          word_err_q <= r_resp_i != '0;
          ahead_q    <= inside_q - CntW'(taken);
        end else if (follow_q && taken) begin
          follow_q <= ahead_q != '0;
          shown_q  <= ahead_q == '0;
          ahead_q  <= ahead_q - 1'b1;
        end
      end
    end
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else begin
      assume (rst_ni);
      m_answer: assume (!r_valid_i || due_valid);
      a_under_way: assert (due_ready);
      a_nothing_behind: assert (running_q || !(instr_valid || burst_valid));
      a_inside: assert (!instr_valid || inside_q != '0);
      a_word: assert (!follow_q || ahead_q != '0 || !instr_valid || (instr == DataW'(word_q) && instr_err == word_err_q));
      a_idle: assert (!idle || (!running_q && !due_valid));
      a_error: assert (!err_valid || (instr_valid && instr_err && err_resp != '0));
    end
  end

endmodule
