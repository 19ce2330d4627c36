// rm_pool_rules - whether the next task of the timetable may start now: what it is made of is there, and all it needs is free.
//
// Rules        A task starts in the first cycle, not before that of the task ahead of it, in which
//                its unit takes a transform of its direction; the next feed, in turn, has begun its last task N/16 cycles ago;
//                Back, Rest   its slot is its key switch's, or all that was to be read of it has been begun;
//                Up, Down     its slot is its key switch's and full, and its last reader began N/16 cycles ago;
//                Back, Up     the sums of its modulus are its key switch's or begin with it, and lack this digit; a last digit
//                             waits until both components of the finished sums have been begun;
//                Rest, Down   the finished sums are its key switch's (Rest: written, and read N/16 cycles ago at the latest);
//                Back, Up, Down   the bank of its modulus has been given its last task N/16 cycles ago;
//                and, except Rest, rows outside are promised.
// Sound        Slots and sums carry the tag of their key switch and what they lack, so no order of tasks mixes key switches or
//              counts a digit twice. A table that lacks a task, or has them in an impossible order, stops: stuck_o.
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
  input  logic [Mods-1:0]            finished_i        // first row of finished sums written
);

  import rm_pool_pkg::*;

  localparam int unsigned ModI    = $clog2(Mods);
  localparam int unsigned SlotI   = $clog2(Slots);
  localparam int unsigned ColumnI = (Alpha > 1) ? $clog2(Alpha) : 1;
  localparam int unsigned UnitI   = (Units > 1) ? $clog2(Units) : 1;
  localparam int unsigned FeedI   = (Feeds > 1) ? $clog2(Feeds) : 1;
  localparam int unsigned RestI   = (Special > 1) ? $clog2(Special) : 1;

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
  logic [TagW-1:0]   sums_tag_q[Mods], finished_tag_q[Mods];
  logic [1:0]        finished_q[Mods];   // components that have not been started
  logic [Mods-1:0]   written_q;
  logic [RowW-1:0]   slot_timer_q[Slots], bank_timer_q[Mods], rest_timer_q[Special], feed_timer_q[Feeds];
  logic [FeedI-1:0]  feed_q;

  logic [RowW-1:0]   rows_less_1;
  logic [Digits-1:0] digits_next;
  logic [RestI-1:0]  rest_no;
  logic              first, last, fills, reads, adds, divides;

  assign rows_less_1 = RowW'((17'd1 << log_rows_i) - 17'd1);
  assign rest_no     = limb ? '0 : RestI'(mod - ModI'(Limbs));
  assign first       = digits_q[mod] == '0;
  assign digits_next = digits_q[mod] | Digits'(1'b1) << task_i.part;
  assign last        = digits_next == all_digits;

  // A slot with readers left is its key switch's until they have started.
  assign fills   = readers_q[slot] == '0 || (slot_tag_q[slot] == task_tag_i && !begun_q[slot][column]);
  assign reads   = slot_tag_q[slot] == task_tag_i && readers_q[slot][mod] && (columns & ~full_q[slot]) == '0
      && slot_timer_q[slot] == '0;
  assign adds    = bank_timer_q[mod] == '0 && (first || (sums_tag_q[mod] == task_tag_i && digits_next != digits_q[mod]))
      && !(last && finished_q[mod] != '0);
  assign divides = finished_tag_q[mod] == task_tag_i && finished_q[mod][task_i.part[0]];

  logic able;
  always_comb begin : p_able
    case (task_i.kind)
      Back:    able = fills && adds;
      Up:      able = reads && adds;
      Rest:    able = fills && divides && written_q[mod] && rest_timer_q[rest_no] == '0;
      Down:    able = reads && divides && bank_timer_q[mod] == '0;
      default: able = 1'b0;
    endcase
  end

  assign promise_valid_o = task_valid_i && !bad_task_o && able && !rest && unit_ready_i[unit_no]
      && feed_timer_q[feed_q] == '0;
  assign start_o = task_valid_i && !bad_task_o && able && unit_ready_i[unit_no] && feed_timer_q[feed_q] == '0
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
  end

  // ------------------------------------------------- what a start changes
  logic start_fill, start_new, start_read, start_add, start_divide;
  assign start_fill   = start_o && (back || rest);
  assign start_new    = start_fill && readers_q[slot] == '0;
  assign start_read   = start_o && (up || down);
  assign start_add    = start_o && (back || up);
  assign start_divide = start_o && (rest || down);

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
      end else begin
        slot_timer_q[s] <= (slot_timer_q[s] == '0) ? '0 : slot_timer_q[s] - 1'b1;
        if (event_here) begin
          full_q[s] <= full_q[s] | Alpha'(1'b1) << leave_task_i.column;
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
          slot_timer_q[s]   <= rows_less_1;
        end
      end
    end
  end

  for (genvar m = 0; m < Mods; m++) begin : g_bank
    logic here;
    assign here = mod == ModI'(m);
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_bank
      if (!rst_ni) begin
        digits_q[m]       <= '0;
        sums_tag_q[m]     <= '0;
        finished_tag_q[m] <= '0;
        finished_q[m]     <= '0;
        written_q[m]      <= 1'b0;
        bank_timer_q[m]   <= '0;
      end else begin
        bank_timer_q[m] <= (bank_timer_q[m] == '0) ? '0 : bank_timer_q[m] - 1'b1;
        if (finished_i[m]) begin
          written_q[m] <= 1'b1;
        end
        if (start_o && !rest && here) begin
          bank_timer_q[m] <= rows_less_1;
        end
        if (start_add && here) begin
          digits_q[m]   <= last ? '0 : digits_next;
          sums_tag_q[m] <= task_tag_i;
        end
        if (start_add && last && here) begin
          finished_tag_q[m] <= task_tag_i;
          finished_q[m]     <= 2'b11;
          written_q[m]      <= 1'b0;
        end
        if (start_divide && here) begin
          finished_q[m][task_i.part[0]] <= 1'b0;
        end
      end
    end
  end

  for (genvar k = 0; k < Special; k++) begin : g_rest
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_rest
      if (!rst_ni) begin
        rest_timer_q[k] <= '0;
      end else if (start_o && rest && rest_no == RestI'(k)) begin
        rest_timer_q[k] <= rows_less_1;
      end else begin
        rest_timer_q[k] <= (rest_timer_q[k] == '0) ? '0 : rest_timer_q[k] - 1'b1;
      end
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
  assign unused = ^{leave_task_i, task_i};

endmodule
