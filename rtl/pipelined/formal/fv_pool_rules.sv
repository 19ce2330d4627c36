// rm_pool_rules, for any tasks, sets, promises and times of leaving. What has started is counted apart, for one slot, one modulus and
// one feed, one tag and one limb of sums that stand for any. No port is used twice: tasks on a feed, of the same sums and
// reading a slot through one port start N/16 cycles apart, and the port that writes reads only after. Coefficients are not
// replaced before they were read, a limb of sums has one owner, no digit is added twice, no key switches are mixed, and nothing
// that could start waits.
module fv_pool_rules #(
  parameter int unsigned Limbs   = 3,
  parameter int unsigned Special = 2,
  parameter int unsigned Alpha   = 2,
  parameter int unsigned Digits  = 3,
  parameter int unsigned Units   = 2,
  parameter int unsigned Feeds   = 2,
  parameter int unsigned Sums    = 12,
  parameter int unsigned Late    = 3,
  localparam int unsigned Mods   = Limbs + Special,
  localparam int unsigned Slots  = Digits + 2
) (
  input logic                         clk_i,
  input logic                         rst_ni,
  input logic [4:0]                   log_rows_i,
  input logic [4:0]                   level_i,
  input logic [2:0]                   special_i,
  input logic [2:0]                   alpha_i,
  input logic                         task_valid_i,
  input rm_pool_pkg::entry_t          task_i,
  input logic [rm_pool_pkg::TagW-1:0] task_tag_i,
  input logic [Units-1:0]             unit_ready_i,
  input logic                         promise_ready_i,
  input logic                         leave_i,
  input rm_pool_pkg::task_t           leave_task_i,
  input logic [Feeds-1:0]             finished_i,
  input rm_pool_pkg::task_t [Feeds-1:0] finished_task_i,
  input logic                         ended_i,
  input logic [rm_pool_pkg::TagW-1:0] ended_tag_i,
  // the ones that stand for any
  input logic [2:0]                   slot_i,
  input logic [2:0]                   mod_i,
  input logic [0:0]                   feed_i,
  input logic [rm_pool_pkg::TagW-1:0] tag_i,
  input logic [3:0]                   limb_i
);

  import rm_pool_pkg::*;

  logic  bad_set_o, bad_task_o, promise_valid_o, start_o;
  task_t start_task_o;
  rm_pool_rules #(
    .Limbs(Limbs), .Special(Special), .Alpha(Alpha), .Digits(Digits), .Units(Units), .Feeds(Feeds), .Sums(Sums), .Late(Late)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_rows_i,
    .level_i,
    .special_i,
    .alpha_i,
    .bad_set_o,
    .task_valid_i,
    .task_i,
    .task_tag_i,
    .bad_task_o,
    .unit_ready_i,
    .promise_valid_o,
    .promise_ready_i,
    .start_o,
    .start_task_o,
    .leave_i,
    .leave_task_i,
    .finished_i,
    .finished_task_i,
    .ended_i,
    .ended_tag_i
  );

  // ------------------------------------------------- the set, by limbs of a digit one by one
  function automatic logic [3:0] digit_of(logic [4:0] m);
    return (alpha_i == 3'd1) ? 4'(m) : 4'(m >> 1);
  endfunction
  function automatic logic in_set(logic [4:0] m);
    return (m < 5'(Limbs)) ? m < level_i : m < 5'(Mods) && m - 5'(Limbs) < 5'(special_i);
  endfunction

  logic [Mods-1:0]   sums;       // moduli of the set
  logic [Digits-1:0] digits;     // of the set
  always_comb begin : p_set
    digits = '0;
    for (int unsigned m = 0; m < Mods; m++) sums[m] = in_set(5'(m));
    for (int unsigned m = 0; m < Limbs; m++) if (in_set(5'(m))) digits |= Digits'(1'b1) << digit_of(5'(m));
  end
  function automatic logic [Alpha-1:0] columns_of(logic [2:0] s);
    automatic logic [Alpha-1:0] found = '0;
    for (int unsigned m = 0; m < Mods; m++) begin
      if (s < 3'(Digits) && m < Limbs && in_set(5'(m)) && digit_of(5'(m)) == 4'(s)) found |= Alpha'(1'b1) << (5'(m) - 5'(alpha_i) * 5'(s));
      if (s >= 3'(Digits) && m >= Limbs && in_set(5'(m))) found |= Alpha'(1'b1) << (m - Limbs);
    end
    return found;
  endfunction

  // ------------------------------------------------- the next task
  logic       back, up, rest, down, fits, here_slot, here_mod, here_tag, limb;
  logic [2:0] slot;
  logic       column;
  assign back   = task_i.kind == Back;
  assign up     = task_i.kind == Up;
  assign rest   = task_i.kind == Rest;
  assign down   = task_i.kind == Down;
  assign limb   = task_i.mod < 5'(Limbs);
  assign slot   = (back || up) ? 3'(task_i.part) : 3'(Digits) + 3'(task_i.part);
  assign column = back ? (alpha_i == 3'd2 && task_i.mod[0]) : task_i.mod != 5'(Limbs);
  always_comb begin : p_fits
    fits = in_set(task_i.mod) && task_i.unit_no < UnitW'(Units);
    case (task_i.kind)
      Back:    fits = fits && limb && task_i.part == digit_of(task_i.mod);
      Up:      fits = fits && task_i.part < 4'(Digits) && digits[task_i.part[1:0]] && !(limb && task_i.part == digit_of(task_i.mod));
      Rest:    fits = fits && !limb && task_i.part < 4'd2;
      Down:    fits = fits && limb && task_i.part < 4'd2;
      default: fits = 1'b0;
    endcase
  end
  assign here_slot = slot == slot_i;
  assign here_mod  = task_i.mod == 5'(mod_i);
  assign here_tag  = task_tag_i == tag_i;

  // ------------------------------------------------- what has started, counted apart
  localparam logic [4:0] Long = 5'd31;
  function automatic logic [4:0] later(logic [4:0] since);
    return (since == Long) ? Long : since + 5'd1;
  endfunction

  logic              run_q;
  logic [Mods-1:0]   unread_q;
  logic [TagW-1:0]   slot_tag_q, sums_tag_q;
  logic [Alpha-1:0]  begun_q, left_q;
  logic [Digits-1:0] added_q;
  logic [1:0]        whole_q;      // components of the tag's finished sums that were not begun
  logic              behind_q;     // the tag ended with such
  logic              owned_q;      // the limb, by the component of sums of a modulus and a tag
  logic [ModW+TagW:0] owner_q;
  logic              written_q;
  logic              turn_q;
  logic [4:0]        read_q, second_q, fill_q, bank_q, feed_q;   // cycles since such a start, or since a column left
  logic [2:0]        special_q, alpha_q, slot_q, mod_q;
  logic [4:0]        log_rows_q, level_q, rows;
  logic [TagW-1:0]   tag_q;
  logic [3:0]        limb_q;
  logic              which_q, leaves, anew, last, port_free, fresh, fresh_any;
  initial run_q = 1'b0;

  assign rows   = 5'd1 << log_rows_i;
  assign leaves = leave_i && (leave_task_i.kind == Back || leave_task_i.kind == Rest) && leave_task_i.slot == SlotW'(slot_i);
  assign anew   = start_o && (back || rest) && here_slot && unread_q == '0;
  assign last   = (added_q | Digits'(1'b1) << task_i.part) == digits;
  assign fresh  = (back || up) && (added_q == '0 || (last && !limb));
  // Of any modulus, as the design says.
  assign fresh_any = (back || up) && (start_task_o.first || (start_task_o.last && !limb));
  assign port_free = read_q >= rows || (second_q >= rows && fill_q >= rows);

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ledger
    if (!rst_ni) begin
      {unread_q, slot_tag_q, sums_tag_q, begun_q, left_q, added_q, whole_q, written_q, turn_q, behind_q, owned_q, owner_q} <= '0;
      {read_q, second_q, fill_q, bank_q, feed_q} <= '1;
    end else begin
      read_q   <= (start_o && (up || down) && here_slot && read_q >= rows) ? 5'd1 : later(read_q);
      second_q <= (start_o && (up || down) && here_slot && read_q < rows) ? 5'd1 : later(second_q);
      fill_q   <= leaves ? 5'd1 : later(fill_q);
      bank_q   <= (start_o && (back || up) && here_mod) ? 5'd1 : later(bank_q);
      feed_q <= (start_o && turn_q == feed_i) ? 5'd1 : later(feed_q);
      turn_q <= turn_q ^ start_o;
      if (leaves) left_q <= left_q | Alpha'(1'b1) << leave_task_i.column;
      if (start_o && (back || rest) && here_slot) begin_column();
      if (start_o && (up || down) && here_slot) unread_q <= unread_q & ~(Mods'(1'b1) << task_i.mod);
      for (int unsigned f = 0; f < Feeds; f++) begin
        if (finished_i[f] && finished_task_i[f].mod == 5'(mod_i) && finished_task_i[f].tag == tag_i) written_q <= 1'b1;
      end
      if (ended_i && ended_tag_i == tag_i && whole_q != '0) behind_q <= 1'b1;
      if (start_o && (rest || down) && start_task_o.from[task_i.part[0]] == LimbW'(limb_i)) owned_q <= 1'b0;
      for (int unsigned c = 0; c < 2; c++) begin
        if (start_o && fresh_any && !start_task_o.first && start_task_o.from[c] == LimbW'(limb_i)) owned_q <= 1'b0;
      end
      for (int unsigned c = 0; c < 2; c++) begin
        if (start_o && fresh_any && start_task_o.into[c] == LimbW'(limb_i)) {owned_q, owner_q} <= {1'b1, task_i.mod, task_tag_i, 1'(c)};
      end
      if (start_o && (back || up) && here_mod) begin
        added_q    <= last ? '0 : added_q | Digits'(1'b1) << task_i.part;
        sums_tag_q <= task_tag_i;
        if (last && here_tag) {whole_q, written_q} <= {2'b11, 1'b0};
      end
      if (start_o && (rest || down) && here_mod && here_tag) whole_q <= whole_q & ~(2'b01 << task_i.part);
    end
  end
  task automatic begin_column();
    begun_q <= (anew ? '0 : begun_q) | Alpha'(1'b1) << column;
    if (anew) begin
      slot_tag_q <= task_tag_i;
      left_q     <= '0;
      for (int unsigned m = 0; m < Mods; m++) begin
        unread_q[m] <= sums[m] && (back ? !(m < Limbs && digit_of(5'(m)) == task_i.part) : m < Limbs);
      end
    end
  endtask
  always_ff @(posedge clk_i) begin : p_still
    run_q      <= 1'b1;
    log_rows_q <= log_rows_i;
    level_q    <= level_i;
    special_q  <= special_i;
    alpha_q    <= alpha_i;
    slot_q     <= slot_i;
    mod_q      <= mod_i;
    which_q    <= feed_i;
    tag_q      <= tag_i;
    limb_q     <= limb_i;
  end

  // ------------------------------------------------- what may start
  logic fills, reads, adds, divides, due;
  assign fills   = unread_q == '0 || (slot_tag_q == task_tag_i && !begun_q[column]);
  assign reads   = slot_tag_q == task_tag_i && unread_q[task_i.mod[2:0]] && (columns_of(slot_i) & ~left_q) == '0 && port_free;
  assign adds    = (added_q == '0 ? whole_q == '0 : sums_tag_q == task_tag_i && !added_q[task_i.part[1:0]])
      && (!fresh || (i_dut.free_q & (i_dut.free_q - 1'b1)) != '0);
  assign divides = whole_q[task_i.part[0]];
  always_comb begin : p_due
    due = task_valid_i && fits && unit_ready_i[task_i.unit_no[0]] && feed_q >= rows && !i_dut.left_q;
    case (task_i.kind)
      Back:    due = due && fills && adds && bank_q >= rows;
      Up:      due = due && reads && adds && bank_q >= rows;
      Rest:    due = due && fills && divides && written_q;
      default: due = due && reads && divides && bank_q >= rows + 5'(Late);
    endcase
  end

  // The timers of the design say how long a port is still used.
  function automatic logic same(logic [rm_inplace_pkg::RowW-1:0] timer, logic [4:0] since);
    return timer == ((since >= rows) ? '0 : rm_inplace_pkg::RowW'(rows - since));
  endfunction

  // Sums in the limb, in progress or finished, are its owner's.
  logic alone, apart_sums;
  always_comb begin : p_owners
    alone      = 1'b1;
    apart_sums = 1'b1;
    for (int unsigned m = 0; m < Mods; m++) begin
      if (i_dut.digits_q[m] != '0 && i_dut.pending_q[m][i_dut.sums_tag_q[m]] != '0) apart_sums = 1'b0;
      for (int unsigned t = 0; t < Tags; t++) begin
        for (int unsigned c = 0; c < 2; c++) begin
          if (((i_dut.digits_q[m] != '0 && i_dut.sums_tag_q[m] == TagW'(t)) || i_dut.pending_q[m][t][c])
              && (i_dut.sums_q[m][t][c] >= LimbW'(Sums) || (i_dut.sums_q[m][t][c] == LimbW'(limb_i)
              && !(owned_q && owner_q == {ModW'(m), TagW'(t), 1'(c)})))) alone = 1'b0;
        end
      end
    end
  end

  always_comb begin : p_check
    assume (log_rows_i != '0 && log_rows_i <= 5'd3);
    assume (level_i != '0 && level_i <= 5'(Limbs) && special_i != '0 && special_i <= 3'(Special));
    assume (alpha_i != '0 && alpha_i <= 3'(Alpha));
    assume (slot_i < 3'(Slots) && mod_i < 3'(Mods) && limb_i < 4'(Sums));
    if (!run_q) assume (!rst_ni);
    if (run_q) begin
      assume (log_rows_i == log_rows_q && level_i == level_q && special_i == special_q && alpha_i == alpha_q);
      assume (slot_i == slot_q && mod_i == mod_q && feed_i == which_q);
      assume (tag_i == tag_q && limb_i == limb_q);
    end
    for (int unsigned f = 0; f < Feeds; f++) assume (finished_task_i[f].mod < 5'(Mods));
    // What leaves has been begun, and leaves once.
    if (leaves) begin
      assume (leave_task_i.column < 3'(Alpha) && begun_q[leave_task_i.column[0]] && !left_q[leave_task_i.column[0]]);
    end
    if (run_q && rst_ni) begin
      a_set:  assert (!bad_set_o);
      a_fits: assert (bad_task_o == (task_valid_i && !fits));
      if (start_o) begin
        // Ports.
        a_feed: assert (turn_q != feed_i || feed_q >= rows);
        a_read: assert (!((up || down) && here_slot) || port_free);
        a_port: assert (!((up || down) && here_slot) || start_task_o.second == (read_q < rows));
        a_bank: assert (rest || !here_mod || bank_q >= (down ? rows + 5'(Late) : rows));
        // Coefficients: not replaced before they were read, not read before they are whole, and of one key switch.
        a_fill: assert (!(here_slot && (back || rest)) || unread_q == '0 || slot_tag_q == task_tag_i);
        a_full: assert (!(here_slot && (up || down)) || (left_q & columns_of(slot_i)) == columns_of(slot_i));
        a_mine: assert (!(here_slot && (up || down)) || slot_tag_q == task_tag_i);
        // Sums: no digit twice, and what is read is finished, and once.
        a_once: assert (!(here_mod && (back || up)) || !added_q[task_i.part[1:0]]);
        a_sums: assert (!(here_mod && (back || up)) || added_q == '0 || sums_tag_q == task_tag_i);
        a_left: assert (!behind_q);
        a_take: assert (!(here_mod && here_tag && (rest || down)) || (whole_q[task_i.part[0]] && start_task_o.from[task_i.part[0]]
                        == i_dut.sums_q[mod_i][tag_i][task_i.part[0]]));
        // Limbs: none is taken that has an owner; products go into the sums that they are read from, but for fresh ones.
        a_into: assert (!fresh_any || !owned_q || (start_task_o.into[0] != LimbW'(limb_i) && start_task_o.into[1] != LimbW'(limb_i)));
        a_both: assert (!fresh_any || start_task_o.into[0] != start_task_o.into[1]);
        a_same: assert (!(back || up) || fresh || start_task_o.into == start_task_o.from || !here_mod);
        a_ends: assert (!here_mod || (start_task_o.first == (added_q == '0) && start_task_o.last == last));
        a_room: assert (rest || promise_ready_i);
      end
      // Nothing that could start waits.
      if (here_slot && here_mod && here_tag && turn_q == feed_i) begin
        a_due:   assert (start_o == (due && (rest || promise_ready_i)));
        a_offer: assert (promise_valid_o == (due && !rest));
      end
      // The registers say what the ledger says: what makes the induction close.
      a_slot:  assert (i_dut.readers_q[slot_i] == unread_q && i_dut.slot_tag_q[slot_i] == slot_tag_q
                       && i_dut.begun_q[slot_i] == begun_q && i_dut.full_q[slot_i] == left_q);
      a_whole: assert ((left_q & ~begun_q) == '0 && (begun_q & ~columns_of(slot_i)) == '0 && (unread_q != '0 || begun_q == left_q));
      a_added: assert (i_dut.digits_q[mod_i] == added_q && i_dut.sums_tag_q[mod_i] == sums_tag_q);
      a_done:  assert (i_dut.pending_q[mod_i][tag_i] == whole_q && i_dut.written_q[mod_i][tag_i] == written_q);
      a_begun: assert (!(added_q != '0 && sums_tag_q == tag_i) || whole_q == '0);
      a_alone: assert (alone && apart_sums);
      a_free:  assert (i_dut.free_q[limb_i] == !owned_q);
      a_after: assert (!behind_q || i_dut.left_q);
      a_turn:  assert (i_dut.feed_q == turn_q);
      a_time:  assert (same(i_dut.slot_timer_q[slot_i], read_q) && same(i_dut.second_timer_q[slot_i], second_q)
                       && same(i_dut.fill_timer_q[slot_i], fill_q) && i_dut.down_timer_q[mod_i]
                       == ((bank_q >= rows + 5'(Late)) ? '0 : 13'(rows + 5'(Late) - bank_q)) && same(i_dut.bank_timer_q[mod_i], bank_q)
                       && same(i_dut.feed_timer_q[feed_i], feed_q));
    end
  end

endmodule
