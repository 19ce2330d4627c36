// fv_scoreboard - no instruction starts on a bank that another one uses, and every bank is used in program order.
//
// Model        anything may be dispatched at any time (banks 0 and 1, so that they meet often); the arithmetic unit and
//              the transform unit of lane 0 take any time for anything. From the real unit the model takes one fact,
//              which arith_control's rules of issue give: with chain_i the last write of a command comes before the
//              issue of the last row of the next one.
// Checked      at every start: the bank has no other user, but for a write of the arithmetic unit that is on its way
//              and is followed row by row; and as many uses have started before as the ticket says.
module fv_scoreboard
  import rm_core_pkg::*;
#(
  parameter bit Chain = 1'b1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             put_arith_i,
  input logic             put_ntt_i,
  input logic             a_used_i,
  input logic             c_used_i,
  input logic             d_used_i,
  input logic             a_bank_i,
  input logic             c_bank_i,
  input logic             d_bank_i,
  input logic             permute_i,
  input logic             last_i,    // the row issued is the last one
  input logic             written_i, // the oldest write on its way ends
  input logic             ntt_free_i,
  input logic             ntt_end_i
);

  typedef struct packed {
    arith_cmd_t cmd;
    tickets_t   tickets;
  } entry_t;

  // ---------------------------------------------------------------- dispatch
  arith_cmd_t new_cmd, head_cmd;
  entry_t     head;
  logic [Banks-1:0] take, uses;
  logic [Banks-1:0][TicketW-1:0] ticket;
  logic aq_ready, aq_valid, tq_ready, tq_valid, put_arith, put_ntt;
  logic [TicketW:0] ntt_head;

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
  assign put_arith = put_arith_i && aq_ready;
  assign put_ntt   = put_ntt_i && tq_ready && !put_arith;
  assign take      = put_arith ? uses : put_ntt ? Banks'(1) << a_bank_i : '0;

  // ---------------------------------------------------------------- units that take any time
  logic       active_q, ntt_q, ntt_bank_q, arith_due, start_arith, start_ntt, last, ntt_end;
  arith_cmd_t cmd_q;
  logic [1:0] way_q;        // writes on their way, in order
  logic [1:0] way_bank_q;
  logic       written;
  logic [1:0] ntt_due;
  logic [Banks-1:0] pass, free_read, free_write, uses_a, uses_c, uses_d;

`ifdef BROKEN
  assign start_arith = aq_valid && (!active_q || last);  // does not look at its tickets: must be caught
`else
  assign start_arith = aq_valid && arith_due && (!active_q || last);
`endif
  assign start_ntt  = tq_valid && ntt_due[0] && !ntt_q && ntt_free_i;
  assign last       = active_q && last_i && (Chain ? way_q == '0 : !way_q[1]);
  assign written    = written_i && way_q[0];
  assign ntt_end    = ntt_q && ntt_end_i;
  assign uses_a     = Banks'(cmd_q.a_used) << cmd_q.a_bank;
  assign uses_c     = Banks'(cmd_q.c_used) << cmd_q.c_bank;
  assign uses_d     = Banks'(cmd_q.d_to_bank) << cmd_q.d_bank;
  assign pass       = last ? uses_a | uses_c | uses_d : '0;
  assign free_read  = last ? (uses_a | uses_c) & ~uses_d : '0;
  assign free_write = written ? Banks'(1) << way_bank_q[0] : '0;

  always_ff @(posedge clk_i) begin : p_units
    if (!rst_ni) begin
      active_q <= 1'b0;
      ntt_q    <= 1'b0;
      way_q    <= '0;
    end else begin
      active_q <= start_arith || (active_q && !last);
      if (start_arith) begin
        cmd_q <= head_cmd;
      end
      ntt_q <= start_ntt || (ntt_q && !ntt_end);
      if (start_ntt) begin
        ntt_bank_q <= ntt_head[TicketW];
      end
      if (last && cmd_q.d_to_bank) begin
        if (way_q[0] && !written) begin
          way_q[1]      <= 1'b1;
          way_bank_q[1] <= cmd_q.d_bank[0];
        end else begin
          way_q[0]      <= 1'b1;
          way_bank_q[0] <= cmd_q.d_bank[0];
        end
      end else if (written) begin
        way_q         <= {1'b0, way_q[1]};
        way_bank_q[0] <= way_bank_q[1];
      end
    end
  end

  core_fifo #(.Width($bits(entry_t)), .Depth(2)) i_arith_queue (
    .clk_i, .rst_ni,
    .push_valid_i(put_arith), .push_ready_o(aq_ready),
    .push_data_i({new_cmd, ticket[new_cmd.a_bank], ticket[new_cmd.c_bank], ticket[new_cmd.d_bank]}),
    .pop_valid_o(aq_valid), .pop_ready_i(start_arith), .pop_data_o(head), .count_o()
  );
  assign head_cmd = head.cmd;

  core_fifo #(.Width(TicketW + 1), .Depth(2)) i_ntt_queue (
    .clk_i, .rst_ni,
    .push_valid_i(put_ntt), .push_ready_o(tq_ready), .push_data_i({a_bank_i, ticket[new_cmd.a_bank]}),
    .pop_valid_o(tq_valid), .pop_ready_i(start_ntt), .pop_data_o(ntt_head), .count_o()
  );

  scoreboard i_dut (
    .clk_i, .rst_ni,
    .take_i(take), .ticket_o(ticket),
    .chain_i(Chain), .arith_cmd_i(head_cmd), .arith_tickets_i(head.tickets), .arith_due_o(arith_due),
    .ntt_bank_i({1'b0, ntt_head[TicketW]}), .ntt_ticket_i({TicketW'(0), ntt_head[TicketW-1:0]}), .ntt_due_o(ntt_due),
    .pass_i(pass), .free_read_i(free_read), .free_write_i(free_write),
    .ntt_done_i({1'b0, ntt_end}), .ntt_done_bank_i({1'b0, ntt_bank_q}),
    .all_free_o()
  );

  // ---------------------------------------------------------------- what must hold
  logic [1:0][TicketW-1:0] started_q;  // uses of banks 0 and 1 that have started
  logic [1:0] h_uses, at_work, on_way, by_ntt, follow;
  logic       begun_q;

  initial begun_q = 1'b0;

  for (genvar b = 0; b < 2; b++) begin : g_bank
    assign h_uses[b]  = (head_cmd.a_used && head_cmd.a_bank == BankW'(b)) ||
                        (head_cmd.c_used && head_cmd.c_bank == BankW'(b)) ||
                        (head_cmd.d_to_bank && head_cmd.d_bank == BankW'(b));
    assign at_work[b] = active_q && !last && (uses_a[b] || uses_c[b] || uses_d[b]);
    // a write is on its way also in the cycle in which it ends
    assign on_way[b]  = (way_q[0] && way_bank_q[0] == 1'(b)) || (way_q[1] && way_bank_q[1] == 1'(b)) ||
                        (active_q && last && uses_d[b]);
    assign by_ntt[b]  = ntt_q && ntt_bank_q == 1'(b);
    assign follow[b]  = Chain && !(head_cmd.permute && head_cmd.a_bank == BankW'(b));

    always_ff @(posedge clk_i) begin : p_started
      if (!rst_ni) begin
        started_q[b] <= '0;
      end else begin
        started_q[b] <= started_q[b] + TicketW'(start_arith && h_uses[b]) +
                        TicketW'(start_ntt && ntt_head[TicketW] == 1'(b));
      end
    end

    always_comb begin : p_check
      if (begun_q && rst_ni) begin
        if (start_arith && h_uses[b]) begin
          a_not_at_work: assert (!at_work[b]);
          a_not_transformed: assert (!by_ntt[b]);
          a_written: assert (!on_way[b] || follow[b]);
          a_not_both: assert (!(start_ntt && ntt_head[TicketW] == 1'(b)));
          a_order_a: assert (!(head_cmd.a_used && head_cmd.a_bank == BankW'(b)) || head.tickets.a == started_q[b]);
          a_order_c: assert (!(head_cmd.c_used && head_cmd.c_bank == BankW'(b)) || head.tickets.c == started_q[b]);
          a_order_d: assert (!(head_cmd.d_to_bank && head_cmd.d_bank == BankW'(b)) || head.tickets.d == started_q[b]);
        end
        if (start_ntt && ntt_head[TicketW] == 1'(b)) begin
          a_ntt_alone: assert (!at_work[b] && !on_way[b] && !(active_q && (uses_a[b] || uses_c[b] || uses_d[b])));
          a_order_ntt: assert (ntt_head[TicketW-1:0] == started_q[b]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : p_begun
    begun_q <= 1'b1;
  end

  always_comb begin : p_reset
    if (!begun_q) begin
      assume (!rst_ni);
    end
  end

endmodule
