// rm_pool_table - the timetable: its rows one after the other, without end, and the key switches that are inside.
//
// Equation     A row stands for the task of key switch newest - age. It is offered, task_valid_o, while that key switch is
//              inside, and passed over otherwise. A row `Take` makes the next key switch the newest: one that is promised, or,
//              while others are inside, none. So the table overlaps key switches, with no beginning or end of its own.
// Inside       At most 8. A key switch is inside until the last row of the last of its parts_i results.
// Pace         A row a cycle at most; a task waits until it is started.
// Loading      table_* while busy_o is low: the next row is then row 0. length_i stands still.
// Wrong        no_take_o: no row of the whole table is `Take`, so no key switch would ever start.
module rm_pool_table #(
  parameter int unsigned Depth = 256,
  localparam int unsigned PtrW = $clog2(Depth)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       table_we_i,
  input  logic [PtrW-1:0]            table_index_i,
  input  rm_pool_pkg::entry_t        table_row_i,
  input  logic [PtrW:0]              length_i,
  input  logic                       hold_i,         // nothing starts
  input  logic [5:0]                 parts_i,
  input  logic                       switch_valid_i,
  output logic                       switch_ready_o,
  output logic [rm_pool_pkg::TagW-1:0]  switch_tag_o,
  output logic                       task_valid_o,
  output rm_pool_pkg::entry_t        task_o,
  output logic [rm_pool_pkg::TagW-1:0]  task_tag_o,
  input  logic                       task_ready_i,
  input  logic                       part_done_i,    // last row of a result
  input  logic [rm_pool_pkg::TagW-1:0]  part_tag_i,
  output logic                       done_o,
  output logic                       idle_o,         // waits for a key switch, nothing inside
  output logic                       busy_o,
  output logic                       moves_o,        // rows are loaded, or one is fetched, taken or passed over
  output logic                       no_take_o
);

  import rm_pool_pkg::*;

  entry_t           rows_q[Depth];
  entry_t           head_q;
  logic [PtrW-1:0]  ptr_q;
  logic             head_valid_q, head_last_q, seen_q, no_take_q;
  logic [TagW-1:0]  newest_q, next_tag, tag;
  logic [Tags-1:0]  inside_q;
  logic [5:0]       left_q[Tags];
  logic             is_take, free, taken, empty, pass, consumed, last_row;

  assign next_tag = newest_q + 1'b1;
  assign tag      = newest_q - head_q.age;
  assign is_take  = head_q.kind == Take;
  assign free     = !inside_q[next_tag];

  assign switch_ready_o = head_valid_q && is_take && free && !hold_i;
  assign switch_tag_o   = next_tag;
  assign taken          = switch_valid_i && switch_ready_o;
  assign empty          = switch_ready_o && !switch_valid_i && inside_q != '0;
  assign task_valid_o   = head_valid_q && !is_take && inside_q[tag] && !hold_i;
  assign task_o         = head_q;
  assign task_tag_o     = tag;
  assign pass           = head_valid_q && !is_take && !inside_q[tag] && !hold_i;
  assign consumed       = taken || empty || pass || (task_valid_o && task_ready_i);
  assign last_row       = {1'b0, ptr_q} + 1'b1 >= length_i;

  assign done_o    = part_done_i && left_q[part_tag_i] == 6'd1;
  assign idle_o    = switch_ready_o && inside_q == '0;
  assign busy_o    = inside_q != '0;
  assign moves_o   = table_we_i || !head_valid_q || consumed;
  assign no_take_o = no_take_q;

  always_ff @(posedge clk_i) begin : p_rows
    if (table_we_i) begin
      rows_q[table_index_i] <= table_row_i;
    end
    if (!head_valid_q || consumed) begin
      head_q      <= rows_q[ptr_q];
      head_last_q <= last_row;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_head
    if (!rst_ni) begin
      ptr_q        <= '0;
      head_valid_q <= 1'b0;
      seen_q       <= 1'b0;
      no_take_q    <= 1'b0;
    end else if (table_we_i) begin
      ptr_q        <= '0;
      head_valid_q <= 1'b0;
      seen_q       <= 1'b0;
      no_take_q    <= 1'b0;
    end else begin
      if (!head_valid_q || consumed) begin
        ptr_q        <= last_row ? '0 : ptr_q + 1'b1;
        head_valid_q <= 1'b1;
      end
      if (consumed) begin
        seen_q    <= !head_last_q && (seen_q || is_take);
        no_take_q <= no_take_q || (head_last_q && !seen_q && !is_take);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_inside
    if (!rst_ni) begin
      newest_q <= '0;
      inside_q <= '0;
    end else begin
      if (taken || empty) begin
        newest_q <= next_tag;
      end
      if (taken) begin
        inside_q[next_tag] <= 1'b1;
      end
      if (done_o) begin
        inside_q[part_tag_i] <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin : p_left
    if (taken) begin
      left_q[next_tag] <= parts_i;
    end
    if (part_done_i) begin
      left_q[part_tag_i] <= left_q[part_tag_i] - 1'b1;
    end
  end

endmodule
