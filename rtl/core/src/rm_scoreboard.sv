// rm_scoreboard - every bank has its users in program order.
//
// Ticket       at dispatch an instruction takes from each bank it uses the number of uses dispatched before it.
// finished     uses of the bank that have ended: a transform with its last write, an instruction of the arithmetic
//              unit with its last write (banks written) or the issue of its last row (banks only read).
// passed       uses that need not be waited for row by row: a transform that has read its last row (rm_ntt_pkg::OffPass),
//              an instruction of the arithmetic unit that has issued its last row. What starts later in the pipeline
//              of the arithmetic unit on at least 2 * `Depth` rows reads behind the writes (rm_arith_unit, rtl/ntt).
// Start        a transform when `finished` has reached its ticket; an instruction of the arithmetic unit when, for
//              every bank it uses, `passed` has (chain_i) or `finished` has (short limbs; the bank that is read
//              permuted). All numbers modulo 2^TicketW: fewer uses than that are under way.
// Deadlock     none: tickets are in program order, queues are in program order within a unit, so the oldest
//              instruction that has not started is at the head of its queue and all its tickets come due.
module rm_scoreboard
  import rm_core_pkg::*;
(
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // dispatch
  input  logic [Banks-1:0]                 take_i,
  output tickets_t                         ticket_o,
  // head of the arithmetic queue
  input  logic                             chain_i,
  input  arith_cmd_t                       arith_cmd_i,
  input  tickets_t                         arith_tickets_i,
  output logic                             arith_due_o,
  // heads of the transform queues
  input  logic [1:0]                       ntt_bank_i,
  input  logic [1:0][TicketW-1:0]          ntt_ticket_i,
  output logic [1:0]                       ntt_due_o,
  // ends of uses
  input  logic [Banks-1:0]                 pass_i,
  input  logic [Banks-1:0]                 free_read_i,
  input  logic [Banks-1:0]                 free_write_i,
  input  logic [1:0]                       ntt_pass_i,
  input  logic [1:0]                       ntt_pass_bank_i,
  input  logic [1:0]                       ntt_done_i,
  input  logic [1:0]                       ntt_done_bank_i,
  output logic                             all_free_o
);

  logic [Banks-1:0][TicketW-1:0] taken_q, passed_q, finished_q;
  logic [Banks-1:0]              read, done, matched, uses_a, uses;

  assign uses_a = arith_cmd_i.a_used ? bank_uses(arith_cmd_i.a_bank) : '0;
  assign uses   = uses_a | (arith_cmd_i.c_used ? bank_uses(arith_cmd_i.c_bank) : '0) |
                  (arith_cmd_i.d_to_bank ? bank_uses(arith_cmd_i.d_bank) : '0);

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    if (b < NttBanks) begin : g_ntt
      assign read[b] = ntt_pass_i[b/2] && ntt_pass_bank_i[b/2] == 1'(b % 2);
      assign done[b] = ntt_done_i[b/2] && ntt_done_bank_i[b/2] == 1'(b % 2);
    end else begin : g_no_ntt
      assign read[b] = 1'b0;
      assign done[b] = 1'b0;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_count
      if (!rst_ni) begin
        taken_q[b]    <= '0;
        passed_q[b]   <= '0;
        finished_q[b] <= '0;
      end else begin
        taken_q[b]    <= taken_q[b] + TicketW'(take_i[b]);
        passed_q[b]   <= passed_q[b] + TicketW'(pass_i[b] || read[b]);
        finished_q[b] <= finished_q[b] + TicketW'(free_read_i[b] || free_write_i[b] || done[b]);
      end
    end

    // the bank stands where the head of the arithmetic queue waits for it
    logic permuted;
    assign permuted   = arith_cmd_i.permute && uses_a[b];
    assign matched[b] = !uses[b] || ((chain_i && !permuted) ? passed_q[b] : finished_q[b]) == arith_tickets_i[b];
  end

  assign ticket_o    = taken_q;
  assign arith_due_o = &matched;
  assign all_free_o  = taken_q == finished_q && taken_q == passed_q;

  for (genvar i = 0; i < 2; i++) begin : g_lane
    assign ntt_due_o[i] = finished_q[2*i+32'(ntt_bank_i[i])] == ntt_ticket_i[i];
  end

`ifndef SYNTHESIS
  a_one_end: assert property (@(posedge clk_i) disable iff (!rst_ni)
                              (free_read_i & free_write_i) == '0 &&
                              ((free_read_i | free_write_i) & done) == '0 && (pass_i & read) == '0)
  else $error("rm_scoreboard: two uses of one bank end together");
`endif

endmodule
