// rm_pool_rules - whether the next task of the timetable may start now: what it is made of is there, and all it needs is free.
//
// Rules        A task starts in the first cycle, not before that of the task ahead of it, in which
//                its unit takes a transform of its direction; the next feed, in turn, has begun its last task N/16 cycles ago;
//                Back, Rest   its slot is its key switch's, or all that was to be read of it has been begun;
//                Up, Down     its slot is its key switch's and full, and a port of it has begun its last reader N/16 cycles ago;
//                             the second one once nothing is written;
//                Back, Up     the sums of its modulus are its key switch's or begin with it, and lack this digit;
//                Rest, Down   the finished sums are its key switch's (Rest: written);
//                Back, Up     the sums of its modulus have been given their last product N/16 cycles ago;
//                Down         Late cycles more: products read the sums later than what goes down;
//                and, except Rest, rows outside are promised.
// Limbs        Sums that begin take two limbs of those that are free. Their components are free again when Rest or Down
//              that reads them begins. Last products modulo special primes go into two other limbs, since Rest reads them at once.
// Sound        Slots and sums carry the tag of their key switch and what they lack, so no order of tasks mixes key switches or
//              counts a digit twice. A table that lacks a task, or has them in an impossible order, stops: stuck_o. So does
//              one that leaves sums behind where a key switch ends: nothing starts any more.
// Times        All transforms take the same time from start to first row out, so tasks leave in the order of their starts, and
//              rows reach a bank as far apart as the starts were.
// Wrong        bad_task_o: the next task does not belong to the set, or its unit was not built.
module rm_pool_rules #(
  parameter int unsigned Limbs   = 4,
  parameter int unsigned Special = 2,
  parameter int unsigned Alpha   = 2,
  parameter int unsigned Digits  = 4,
  parameter int unsigned Units   = 3,
  parameter int unsigned Feeds   = 2,
  parameter int unsigned Sums    = 14,
  parameter int unsigned Late    = 14,
  localparam int unsigned Mods   = Limbs + Special,
  localparam int unsigned Slots  = Digits + 2,
  localparam int unsigned RowW   = rm_inplace_pkg::RowW
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [4:0]                 log_rows_i,
  input  logic [4:0]                 level_i,
  input  logic [2:0]                 special_i,
  input  logic [2:0]                 alpha_i,
  output logic                       bad_set_o,
  // the next task
  input  logic                       task_valid_i,
  input  rm_pool_pkg::entry_t        task_i,
  input  logic [rm_pool_pkg::TagW-1:0]  task_tag_i,
  output logic                       bad_task_o,
  input  logic [Units-1:0]           unit_ready_i,     // for its direction
  output logic                       promise_valid_o,
  input  logic                       promise_ready_i,
  output logic                       start_o,
  output rm_pool_pkg::task_t         start_task_o,
  // first rows
  input  logic                       leave_i,
  input  rm_pool_pkg::task_t         leave_task_i,
  input  logic [Feeds-1:0]           finished_i,       // first row of finished sums written
  input  rm_pool_pkg::task_t [Feeds-1:0] finished_task_i,
  // the last row of a key switch
  input  logic                       ended_i,
  input  logic [rm_pool_pkg::TagW-1:0] ended_tag_i
);

  import rm_pool_pkg::*;

  localparam int unsigned ModI    = $clog2(Mods);
  localparam int unsigned SlotI   = $clog2(Slots);
  localparam int unsigned ColumnI = (Alpha > 1) ? $clog2(Alpha) : 1;
  localparam int unsigned UnitI   = (Units > 1) ? $clog2(Units) : 1;
  localparam int unsigned FeedI   = (Feeds > 1) ? $clog2(Feeds) : 1;
  localparam int unsigned SumI    = $clog2(Sums);

  if (Sums < 2 * Mods + 2 || Sums > (1 << LimbW)) begin : g_check_sums
    $error("rm_pool_rules: two limbs of sums a modulus and two more, at most 64");
  end

  // ------------------------------------------------- the set
  logic [Mods-1:0]   active;
  logic [Digits-1:0] all_digits;
  logic [Alpha-1:0]  special_columns;

  assign bad_set_o = level_i == '0 || level_i > 5'(Limbs) || special_i == '0 || special_i > 3'(Special) || alpha_i == '0
      || alpha_i > 3'(Alpha) || 8'(Digits) * 8'(alpha_i) < 8'(level_i);

  always_comb begin : p_set
    for (int unsigned m = 0; m < Mods; m++) begin
      active[m] = (m < Limbs) ? 5'(m) < level_i : 3'(m - Limbs) < special_i;
    end
    for (int unsigned j = 0; j < Digits; j++) begin
      all_digits[j] = 8'(j) * 8'(alpha_i) < 8'(level_i);
    end
    for (int unsigned a = 0; a < Alpha; a++) begin
      special_columns[a] = 3'(a) < special_i;
    end
  end

  // ------------------------------------------------- the next task in it
  logic               back, up, rest, down, limb, in_part, in_mods;
  logic [7:0]         begins;
  logic [Mods-1:0]    own;
  logic [Alpha-1:0]   digit_columns, columns;
  logic [SlotI-1:0]   slot;
  logic [ColumnI-1:0] column;
  logic [ModI-1:0]    mod;
  logic [UnitI-1:0]   unit_no;

  assign back    = task_i.kind == Back;
  assign up      = task_i.kind == Up;
  assign rest    = task_i.kind == Rest;
  assign down    = task_i.kind == Down;
  assign in_mods = task_i.mod < ModW'(Mods);
  assign in_part = (back || up) ? task_i.part < PartW'(Digits) : task_i.part < PartW'(2);
  assign mod     = in_mods ? ModI'(task_i.mod) : '0;
  assign unit_no = (task_i.unit_no < UnitW'(Units)) ? UnitI'(task_i.unit_no) : '0;
  assign limb    = mod < ModI'(Limbs);
  assign begins  = 8'(task_i.part) * 8'(alpha_i);

  always_comb begin : p_digit
    for (int unsigned m = 0; m < Mods; m++) begin
      own[m] = m < Limbs && active[m] && 8'(m) >= begins && 8'(m) < begins + 8'(alpha_i);
    end
    for (int unsigned a = 0; a < Alpha; a++) begin
      digit_columns[a] = 3'(a) < alpha_i && begins + 8'(a) < 8'(level_i);
    end
  end
  assign columns = (back || up) ? digit_columns : special_columns;
  assign slot    = !in_part ? '0 : (back || up) ? SlotI'(task_i.part) : SlotI'(Digits) + SlotI'(task_i.part);
  assign column  = back ? ColumnI'(8'(mod) - begins) : ColumnI'(8'(mod) - 8'(Limbs));

  logic fits;
  always_comb begin : p_fits
    case (task_i.kind)
      Back:    fits = own[mod];
      Up:      fits = active[mod] && !own[mod] && digit_columns != '0;
      Rest:    fits = active[mod] && !limb;
      Down:    fits = active[mod] && limb;
      default: fits = 1'b0;
    endcase
  end
  assign bad_task_o = task_valid_i && !(fits && in_mods && in_part && task_i.unit_no < UnitW'(Units));

  // ------------------------------------------------- state
  logic [Mods-1:0]   readers_q[Slots];   // Up or Down that have not been started
  logic [TagW-1:0]   slot_tag_q[Slots];
  logic [Alpha-1:0]  begun_q[Slots], full_q[Slots];
  logic [Digits-1:0] digits_q[Mods];     // that have been added
  logic [TagW-1:0]   sums_tag_q[Mods];   // whose they are
  logic [Mods-1:0][Tags-1:0][1:0] pending_q;              // components of finished sums that have not been read
  logic [Mods-1:0][Tags-1:0]      written_q;
  logic [Mods-1:0][Tags-1:0][1:0][LimbW-1:0] sums_q;       // their limbs, by component
  logic [Sums-1:0]   free_q;
  logic              left_q;             // sums were left behind
  // Until a port may begin its next task.
  logic [RowW-1:0]   slot_timer_q[Slots], second_timer_q[Slots], fill_timer_q[Slots];
  logic [RowW-1:0]   bank_timer_q[Mods], feed_timer_q[Feeds];
  logic [RowW:0]     down_timer_q[Mods];
  logic [FeedI-1:0]  feed_q;

  logic [RowW-1:0]   rows_less_1;
  logic [Digits-1:0] digits_next;
  logic              first, last, fills, reads, adds, divides, second, fresh, room;
  logic [LimbW-1:0]   low, high;          // free limbs of sums

  assign rows_less_1 = RowW'((17'd1 << log_rows_i) - 17'd1);
  assign first       = digits_q[mod] == '0;
  assign digits_next = digits_q[mod] | Digits'(1'b1) << task_i.part;
  assign last        = digits_next == all_digits;

  // A slot with readers left is its key switch's until they have started.
  assign fills   = readers_q[slot] == '0 || (slot_tag_q[slot] == task_tag_i && !begun_q[slot][column]);
  assign reads   = slot_tag_q[slot] == task_tag_i && readers_q[slot][mod] && (columns & ~full_q[slot]) == '0
      && (!second || (second_timer_q[slot] == '0 && fill_timer_q[slot] == '0));
  assign second  = slot_timer_q[slot] != '0;
  assign adds    = bank_timer_q[mod] == '0 && (!fresh || room)
      && (first ? pending_q[mod][task_tag_i] == '0 : sums_tag_q[mod] == task_tag_i && digits_next != digits_q[mod]);
  assign divides = pending_q[mod][task_tag_i][task_i.part[0]];
  assign fresh   = first || (last && !limb);
  assign room    = low != high;

  always_comb begin : p_free
    low  = '0;
    high = '0;
    for (int unsigned n = 0; n < Sums; n++) begin
      if (free_q[n]) begin
        high = LimbW'(n);
      end
      if (free_q[Sums-1-n]) begin
        low = LimbW'(Sums - 1 - n);
      end
    end
  end

  logic able;
  always_comb begin : p_able
    case (task_i.kind)
      Back:    able = fills && adds;
      Up:      able = reads && adds;
      Rest:    able = fills && divides && written_q[mod][task_tag_i];
      Down:    able = reads && divides && down_timer_q[mod] == '0;
      default: able = 1'b0;
    endcase
  end

  assign promise_valid_o = task_valid_i && !bad_task_o && able && !left_q && !rest && unit_ready_i[unit_no]
      && feed_timer_q[feed_q] == '0;
  assign start_o = task_valid_i && !bad_task_o && able && !left_q && unit_ready_i[unit_no] && feed_timer_q[feed_q] == '0
      && (rest || promise_ready_i);

  always_comb begin : p_task
    start_task_o         = '0;
    start_task_o.kind    = task_i.kind;
    start_task_o.unit_no = task_i.unit_no;
    start_task_o.mod     = ModW'(mod);
    start_task_o.part    = task_i.part;
    start_task_o.tag     = task_tag_i;
    start_task_o.slot    = SlotW'(slot);
    start_task_o.column  = ColumnW'(column);
    start_task_o.feed    = FeedW'(feed_q);
    start_task_o.first   = first;
    start_task_o.last    = last;
    start_task_o.single  = (columns & (columns - 1'b1)) == '0;
    start_task_o.second  = second;
    start_task_o.from    = sums_q[mod][task_tag_i];
    start_task_o.into    = fresh ? {high, low} : sums_q[mod][task_tag_i];
  end

  // ------------------------------------------------- what a start changes
  logic start_fill, start_new, start_read, start_add, start_divide, start_fresh;
  assign start_fill   = start_o && (back || rest);
  assign start_new    = start_fill && readers_q[slot] == '0;
  assign start_read   = start_o && (up || down);
  assign start_add    = start_o && (back || up);
  assign start_divide = start_o && (rest || down);
  assign start_fresh  = start_add && fresh;

  for (genvar s = 0; s < Slots; s++) begin : g_slot
    logic here, event_here;
    assign here       = slot == SlotI'(s);
    assign event_here = leave_i && (leave_task_i.kind == Back || leave_task_i.kind == Rest)
        && leave_task_i.slot == SlotW'(s);
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_slot
      if (!rst_ni) begin
        readers_q[s]    <= '0;
        slot_tag_q[s]   <= '0;
        begun_q[s]      <= '0;
        full_q[s]       <= '0;
        slot_timer_q[s] <= '0;
        second_timer_q[s] <= '0;
        fill_timer_q[s] <= '0;
      end else begin
        slot_timer_q[s]   <= (slot_timer_q[s] == '0) ? '0 : slot_timer_q[s] - 1'b1;
        second_timer_q[s] <= (second_timer_q[s] == '0) ? '0 : second_timer_q[s] - 1'b1;
        fill_timer_q[s]   <= (fill_timer_q[s] == '0) ? '0 : fill_timer_q[s] - 1'b1;
        if (event_here) begin
          full_q[s]       <= full_q[s] | Alpha'(1'b1) << leave_task_i.column;
          fill_timer_q[s] <= rows_less_1;
        end
        if (start_fill && here) begin
          begun_q[s] <= (start_new ? '0 : begun_q[s]) | Alpha'(1'b1) << column;
        end
        if (start_new && here) begin
          slot_tag_q[s] <= task_tag_i;
          full_q[s]     <= '0;
          // A digit is raised to all moduli but its own; the special residue goes to all limbs.
          readers_q[s]  <= back ? active & ~own : active & ~({Mods{1'b1}} << Limbs);
        end
        if (start_read && here) begin
          readers_q[s][mod] <= 1'b0;
        end
        if (start_read && here && !second) begin
          slot_timer_q[s] <= rows_less_1;
        end
        if (start_read && here && second) begin
          second_timer_q[s] <= rows_less_1;
        end
      end
    end
  end

  for (genvar m = 0; m < Mods; m++) begin : g_bank
    logic here;
    assign here = mod == ModI'(m);
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_bank
      if (!rst_ni) begin
        digits_q[m]     <= '0;
        sums_tag_q[m]   <= '0;
        bank_timer_q[m] <= '0;
        down_timer_q[m] <= '0;
      end else begin
        bank_timer_q[m] <= (bank_timer_q[m] == '0) ? '0 : bank_timer_q[m] - 1'b1;
        down_timer_q[m] <= (down_timer_q[m] == '0) ? '0 : down_timer_q[m] - 1'b1;
        if (start_add && here) begin
          bank_timer_q[m] <= rows_less_1;
          down_timer_q[m] <= (RowW + 1)'(rows_less_1) + (RowW + 1)'(Late);
          digits_q[m]     <= last ? '0 : digits_next;
          sums_tag_q[m]   <= task_tag_i;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_sums
    if (!rst_ni) begin
      pending_q <= '0;
      written_q <= '0;
      free_q    <= '1;
      left_q    <= 1'b0;
    end else begin
      for (int unsigned f = 0; f < Feeds; f++) begin
        if (finished_i[f]) begin
          written_q[ModI'(finished_task_i[f].mod)][finished_task_i[f].tag] <= 1'b1;
        end
      end
      if (start_add && last) begin
        pending_q[mod][task_tag_i] <= 2'b11;
        written_q[mod][task_tag_i] <= 1'b0;
      end
      if (start_divide) begin
        pending_q[mod][task_tag_i][task_i.part[0]]     <= 1'b0;
        free_q[SumI'(sums_q[mod][task_tag_i][task_i.part[0]])] <= 1'b1;
      end
      if (start_fresh && !first) begin
        free_q[SumI'(sums_q[mod][task_tag_i][0])] <= 1'b1;
        free_q[SumI'(sums_q[mod][task_tag_i][1])] <= 1'b1;
      end
      if (start_fresh) begin
        free_q[SumI'(low)]  <= 1'b0;
        free_q[SumI'(high)] <= 1'b0;
      end
      for (int unsigned m = 0; m < Mods; m++) begin
        if (ended_i && pending_q[m][ended_tag_i] != '0) begin
          left_q <= 1'b1;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin : p_limbs
    if (start_fresh) begin
      sums_q[mod][task_tag_i] <= {high, low};
    end
  end

  for (genvar f = 0; f < Feeds; f++) begin : g_feed
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_feed
      if (!rst_ni) begin
        feed_timer_q[f] <= '0;
      end else if (start_o && feed_q == FeedI'(f)) begin
        feed_timer_q[f] <= rows_less_1;
      end else begin
        feed_timer_q[f] <= (feed_timer_q[f] == '0) ? '0 : feed_timer_q[f] - 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_turn
    if (!rst_ni) begin
      feed_q <= '0;
    end else if (start_o) begin
      feed_q <= (feed_q == FeedI'(Feeds - 1)) ? '0 : feed_q + 1'b1;
    end
  end

  logic unused;
  assign unused = ^{leave_task_i, task_i, finished_task_i};

endmodule
