// fv_scoreboard - no instruction starts on a bank that another one uses, and every bank is used in program order.
//
// Model        anything may be dispatched at any time to queues of two (banks 0 and 1, so that they meet often). The
//              arithmetic unit and the transform unit of lane 0 take any time for anything, and the next transform
//              may start while one drains. The model assumes one property, which the rules of issue of the real
//              units guarantee. With Chain, the last write of a command, and of a transform, comes before the issue
//              of the last row of the command that follows it.
// Checked      at every start: the bank has no other user, but for writes that are on their way and are followed row
//              by row; and as many uses have started before as the ticket says.
// No hang      while every unit is empty and something waits, the oldest of all that waits is due. Units end by themselves,
//              so everything starts in the end.
// Induction    tickets of a bank are in the order of dispatch, within a queue and across. For every bank, all
//              differences modulo 2^TicketW: taken - started = uses waiting in the queues, whose tickets are started
//              + 0, 1, 2, ... in some order. started - passed = users at work. passed - finished = users with writes
//              on their way. These hold after reset and after every step, and imply what is checked.
module fv_scoreboard
  import rm_core_pkg::*;
#(
  parameter bit Chain = 1'b1
) (
  input logic clk_i,
  input logic rst_ni,
  input logic put_arith_i,
  input logic put_ntt_i,
  input logic a_used_i,
  input logic c_used_i,
  input logic d_used_i,
  input logic a_bank_i,
  input logic c_bank_i,
  input logic d_bank_i,
  input logic permute_i,
  input logic last_i,     // the row issued is the last one
  input logic written_i,  // the oldest write on its way ends
  input logic ntt_free_i,
  input logic ntt_pass_i,
  input logic ntt_end_i
);

  typedef struct packed {
    logic       valid;
    arith_cmd_t cmd;
    tickets_t   tickets;
  } arith_entry_t;

  typedef struct packed {
    logic               valid;
    logic               bank;
    logic [TicketW-1:0] ticket;
  } ntt_entry_t;

  // ---------------------------------------------------------------- state
  arith_entry_t [1:0] aq_q;  // 0 is the head
  ntt_entry_t [1:0]   nq_q;
  logic               active_q, ntt_q, ntt_bank_q;
  logic               drain_q, drain_bank_q;  // a transform whose last writes are on their way
  arith_cmd_t         cmd_q;
  logic [1:0]         way_q, way_bank_q;  // writes on their way, in order
  logic [1:0][1:0]    first_q;  // [a][n]: entry a of the arithmetic queue was dispatched before transform n

  // ---------------------------------------------------------------- dispatch
  arith_cmd_t                    new_cmd;
  arith_entry_t                  new_arith;
  ntt_entry_t                    new_ntt;
  logic [Banks-1:0]              take, uses;
  tickets_t                      ticket;
  logic                          put_arith, put_ntt;

  always_comb begin : p_new
    new_cmd           = '0;
    new_cmd.a_used    = a_used_i;
    new_cmd.c_used    = c_used_i;
    new_cmd.d_to_bank = d_used_i;
    new_cmd.a_bank    = BankW'(a_bank_i);
    new_cmd.c_bank    = BankW'(c_bank_i);
    new_cmd.d_bank    = BankW'(d_bank_i);
    new_cmd.permute   = permute_i && a_used_i && !(d_used_i && d_bank_i == a_bank_i) &&
                        !(c_used_i && c_bank_i == a_bank_i);
  end

  assign uses = (a_used_i ? Banks'(1) << a_bank_i : '0) | (c_used_i ? Banks'(1) << c_bank_i : '0) |
                (d_used_i ? Banks'(1) << d_bank_i : '0);
  assign put_arith = put_arith_i && !aq_q[1].valid;
  assign put_ntt   = put_ntt_i && !nq_q[1].valid && !put_arith;
  assign take      = put_arith ? uses : put_ntt ? Banks'(1) << a_bank_i : '0;
  assign new_arith = '{valid: 1'b1, cmd: new_cmd,
                       tickets: ticket};
  assign new_ntt   = '{valid: 1'b1, bank: a_bank_i, ticket: ticket[a_bank_i]};

  // ---------------------------------------------------------------- units that take any time
  logic             arith_due, start_arith, start_ntt, last, ntt_pass, ntt_end, written, behind;
  logic [1:0]       ntt_due;
  logic [Banks-1:0] pass, free_read, free_write, uses_a, uses_c, uses_d;

`ifdef BROKEN
  assign start_arith = aq_q[0].valid && (!active_q || last);  // does not look at its tickets: must be caught
`else
  assign start_arith = aq_q[0].valid && arith_due && (!active_q || last);
`endif
  assign start_ntt  = nq_q[0].valid && ntt_due[0] && !ntt_q && ntt_free_i;
  assign behind     = drain_q && (uses_a[drain_bank_q] || uses_c[drain_bank_q] || uses_d[drain_bank_q]);
  assign last       = active_q && last_i && (Chain ? way_q == '0 && !behind : !way_q[1]);
  assign written    = written_i && way_q[0];
  assign ntt_pass   = ntt_q && ntt_pass_i && !drain_q;
  assign ntt_end    = drain_q && ntt_end_i;
  assign uses_a     = Banks'(cmd_q.a_used) << cmd_q.a_bank;
  assign uses_c     = Banks'(cmd_q.c_used) << cmd_q.c_bank;
  assign uses_d     = Banks'(cmd_q.d_to_bank) << cmd_q.d_bank;
  assign pass       = last ? uses_a | uses_c | uses_d : '0;
  assign free_read  = last ? (uses_a | uses_c) & ~uses_d : '0;
  assign free_write = written ? Banks'(1) << way_bank_q[0] : '0;

  rm_scoreboard i_dut (
    .clk_i, .rst_ni,
    .take_i(take), .ticket_o(ticket),
    .chain_i(Chain), .arith_cmd_i(aq_q[0].cmd), .arith_tickets_i(aq_q[0].tickets), .arith_due_o(arith_due),
    .ntt_bank_i({1'b0, nq_q[0].bank}), .ntt_ticket_i({TicketW'(0), nq_q[0].ticket}), .ntt_due_o(ntt_due),
    .pass_i(pass), .free_read_i(free_read), .free_write_i(free_write),
    .ntt_pass_i({1'b0, ntt_pass}), .ntt_pass_bank_i({1'b0, ntt_bank_q}),
    .ntt_done_i({1'b0, ntt_end}), .ntt_done_bank_i({1'b0, drain_bank_q}),
    .all_free_o()
  );

  // ---------------------------------------------------------------- steps
  arith_entry_t [1:0] aq_left;  // queues after a start
  ntt_entry_t [1:0]   nq_left;
  logic [1:0]         way_left, way_bank_left;
  logic [1:0][1:0]    first_up, first_left;
  assign first_up      = start_arith ? {2'b00, first_q[1]} : first_q;
  assign first_left    = start_ntt ? {1'b0, first_up[1][1], 1'b0, first_up[0][1]} : first_up;
  assign aq_left       = start_arith ? {arith_entry_t'('0), aq_q[1]} : aq_q;
  assign nq_left       = start_ntt ? {ntt_entry_t'('0), nq_q[1]} : nq_q;
  assign way_left      = written ? {1'b0, way_q[1]} : way_q;
  assign way_bank_left = written ? {1'b0, way_bank_q[1]} : way_bank_q;

  always_ff @(posedge clk_i) begin : p_units
    if (!rst_ni) begin
      aq_q     <= '0;
      nq_q     <= '0;
      active_q <= 1'b0;
      ntt_q    <= 1'b0;
      drain_q  <= 1'b0;
      way_q    <= '0;
    end else begin
      aq_q <= aq_left;
      nq_q <= nq_left;
      first_q <= first_left;
      if (put_arith) begin
        aq_q[aq_left[0].valid]    <= new_arith;
        first_q[aq_left[0].valid] <= 2'b00;
      end
      if (put_ntt) begin
        nq_q[nq_left[0].valid]       <= new_ntt;
        first_q[0][nq_left[0].valid] <= 1'b1;
        first_q[1][nq_left[0].valid] <= 1'b1;
      end
      active_q <= start_arith || (active_q && !last);
      if (start_arith) begin
        cmd_q <= aq_q[0].cmd;
      end
      ntt_q   <= start_ntt || (ntt_q && !ntt_pass);
      drain_q <= ntt_pass || (drain_q && !ntt_end);
      if (ntt_pass) begin
        drain_bank_q <= ntt_bank_q;
      end
      if (start_ntt) begin
        ntt_bank_q <= nq_q[0].bank;
      end
      way_q      <= way_left;
      way_bank_q <= way_bank_left;
      if (last && cmd_q.d_to_bank) begin
        way_q[way_left[0]]      <= 1'b1;
        way_bank_q[way_left[0]] <= cmd_q.d_bank[0];
      end
    end
  end

  // ---------------------------------------------------------------- what must hold
  logic begun_q;
  initial begun_q = 1'b0;
  always_ff @(posedge clk_i) begin : p_begun
    begun_q <= 1'b1;
  end

  for (genvar b = 0; b < 2; b++) begin : g_bank
    logic [TicketW-1:0]      started_q, waiting;
    logic [3:0]              here;    // entries that wait for this bank: two of arithmetic, two transforms
    logic [3:0][TicketW-1:0] offset;  // ticket - started
    logic                    at_work, on_way, by_ntt, draining, follow;

    for (genvar e = 0; e < 2; e++) begin : g_entry
      logic a, c, d;
      assign a = aq_q[e].cmd.a_used && aq_q[e].cmd.a_bank == BankW'(b);
      assign c = aq_q[e].cmd.c_used && aq_q[e].cmd.c_bank == BankW'(b);
      assign d = aq_q[e].cmd.d_to_bank && aq_q[e].cmd.d_bank == BankW'(b);
      assign here[e]   = aq_q[e].valid && (a || c || d);
      assign offset[e] = aq_q[e].tickets[b] - started_q;
      assign here[2+e]   = nq_q[e].valid && nq_q[e].bank == 1'(b);
      assign offset[2+e] = nq_q[e].ticket - started_q;
    end

    assign waiting = TicketW'(here[0]) + TicketW'(here[1]) + TicketW'(here[2]) + TicketW'(here[3]);
    assign at_work = active_q && (uses_a[b] || uses_c[b] || uses_d[b]);
    assign by_ntt  = ntt_q && ntt_bank_q == 1'(b);
    assign draining = drain_q && drain_bank_q == 1'(b);
    assign on_way  = (way_q[0] && way_bank_q[0] == 1'(b)) || (way_q[1] && way_bank_q[1] == 1'(b));
    assign follow  = Chain && !(aq_q[0].cmd.permute && aq_q[0].cmd.a_bank == BankW'(b));

    always_ff @(posedge clk_i) begin : p_started
      if (!rst_ni) begin
        started_q <= '0;
      end else begin
        started_q <= started_q + TicketW'(start_arith && here[0]) + TicketW'(start_ntt && here[2]);
      end
    end

    always_comb begin : p_check
      if (begun_q && rst_ni) begin
        // starts
        if (start_arith && here[0]) begin
          a_alone: assert (!at_work && !by_ntt && ((!on_way && !draining) || follow));
          a_order: assert (offset[0] == '0);
        end
        if (start_ntt && here[2]) begin
          a_ntt_alone: assert (!at_work && !by_ntt && !on_way && !draining);
          a_ntt_order: assert (offset[2] == '0);
        end
        a_not_both: assert (!(start_arith && here[0] && start_ntt && here[2]));
        // induction
        a_taken: assert (TicketW'(ticket[b] - started_q) == waiting);
        a_passed: assert (TicketW'(started_q - i_dut.passed_q[b]) == TicketW'(at_work) + TicketW'(by_ntt));
        a_finished: assert (TicketW'(i_dut.passed_q[b] - i_dut.finished_q[b]) ==
                            TicketW'(way_q[0] && way_bank_q[0] == 1'(b)) +
                            TicketW'(way_q[1] && way_bank_q[1] == 1'(b)) + TicketW'(draining));
        a_one_user: assert (!(at_work && by_ntt) && !(by_ntt && (on_way || draining)) && !(on_way && draining) &&
                            (Chain || !(at_work && (on_way || draining))));
        for (int unsigned i = 0; i < 4; i++) begin
          assert (!here[i] || offset[i] < waiting);
          for (int unsigned j = 0; j < i; j++) begin
            assert (!(here[i] && here[j]) || offset[i] != offset[j]);
          end
        end
        for (int unsigned i = 0; i < 2; i++) begin
          assert (!(here[2*i] && here[2*i+1]) || offset[2*i] < offset[2*i+1]);
          for (int unsigned j = 0; j < 2; j++) begin
            assert (!(here[i] && here[2+j]) || first_q[i][j] == (offset[i] < offset[2+j]));
          end
        end
      end
    end
  end

  // Banks 0 and 1, and what the decoder lets through of permuting commands.
  function automatic logic legal(arith_cmd_t cmd);
    return cmd.a_bank[BankW-1:1] == '0 && cmd.c_bank[BankW-1:1] == '0 && cmd.d_bank[BankW-1:1] == '0 &&
           (!cmd.permute || (cmd.a_used && !(cmd.d_to_bank && cmd.d_bank == cmd.a_bank) &&
                             !(cmd.c_used && cmd.c_bank == cmd.a_bank)));
  endfunction

  logic empty, arith_oldest;
  assign empty        = !active_q && !ntt_q && !drain_q && way_q == '0;
  assign arith_oldest = aq_q[0].valid && (!nq_q[0].valid || first_q[0][0]);

  always_comb begin : p_progress
    if (begun_q && rst_ni) begin
      for (int unsigned i = 0; i < 2; i++) begin
        assert (!(aq_q[1].valid && nq_q[i].valid && first_q[1][i]) || first_q[0][i]);
        assert (!(nq_q[1].valid && aq_q[i].valid && !first_q[i][1]) || !first_q[i][0]);
      end
      a_arith_goes_on: assert (!(empty && arith_oldest) || arith_due);
      a_ntt_goes_on: assert (!(empty && !arith_oldest && nq_q[0].valid) || ntt_due[0]);
    end
  end

  always_comb begin : p_shape
    if (!begun_q) begin
      assume (!rst_ni);
    end else if (rst_ni) begin
      a_queues: assert ((aq_q[0].valid || !aq_q[1].valid) && (nq_q[0].valid || !nq_q[1].valid));
      a_way: assert (way_q != 2'b10 && (!Chain || !way_q[1]));
      a_banks: assert ((!active_q || legal(cmd_q)) && (!aq_q[0].valid || legal(aq_q[0].cmd)) &&
                       (!aq_q[1].valid || legal(aq_q[1].cmd)));
    end
  end

endmodule
