// rm_arith_control - walks the rows of one command after the other, issues at most one row a cycle, and says when
//                 banks are passed and released.
//
// Rules, cycle by cycle
//   take      cmd_valid_i && cmd_ready_o: what a command brings is loaded while cmd_ready_o is high; the command's first row may be issued in the next cycle. A command is
//             taken while none is at work, or in the cycle in which the last row of the present one is issued.
//   issue     a command is at work, the read stream has a row if it is used, and the write queue has room for one
//             row more than is promised to it if the result goes to memory. A row that cannot be issued waits;
//             the pipeline goes on.
//   pass      with the issue of the last row: pass_o names every bank of the command. From the next cycle on, a
//             command that follows in the same pipeline may start on those banks when it has at least
//             2 * `rm_arith_unit.Depth` rows: row r is read after it was written, though a pair has it half a limb later.
//   release   free_read_o names the banks only read, with the issue of the last row; free_write_o the bank written,
//             with the write of its last row. In the next cycle another unit may use them.
// The results appear WriteStage cycles after the issue: what is needed then travels in a delay line; the write row is
// counted at the end of it.
module rm_arith_control
  import rm_core_pkg::*;
#(
  parameter int unsigned RowW       = 11,
  parameter int unsigned WriteStage = 14,  // cycles from issue to write
  parameter int unsigned WriteRows  = 32   // rows that the write queue holds
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [RowW-1:0]  last_row_i,  // rows of a limb - 1
  // commands
  input  logic             cmd_valid_i,
  output logic             cmd_ready_o,
  input  arith_cmd_t       cmd_i,
  // issue
  input  logic             rd_valid_i,
  input  logic             wr_pop_i,    // the write queue gives a row away
  output logic             issue_o,
  output arith_cmd_t       cmd_o,       // command at work
  output logic [RowW-1:0]  row_o,
  // write
  output logic             we_o,
  output logic [BankW-1:0] wbank_o,
  output logic [RowW-1:0]  wrow_o,
  output logic             push_o,      // result row to the write queue
  // banks
  output logic [Banks-1:0] pass_o,
  output logic [Banks-1:0] free_read_o,
  output logic [Banks-1:0] free_write_o,
  // status
  output logic             idle_o,
  output logic             stall_read_o,
  output logic             stall_write_o
);

  localparam int unsigned RoomW  = $clog2(WriteRows + 1);
  localparam int unsigned FlyW   = $clog2(WriteStage + 2);

  typedef struct packed {
    logic             valid;
    logic             last;
    logic             to_bank;
    logic             to_mem;
    logic [BankW-1:0] bank;
  } flight_t;

  logic             active_d, active_q, last_d, last_q;
  arith_cmd_t       cmd_q;
  logic [RowW-1:0]  row_d, row_q, wrow_d, wrow_q;
  logic [RoomW-1:0] room_d, room_q;
  logic [FlyW-1:0]  fly_d, fly_q;  // rows issued and not yet at the end
  logic             promise;
  flight_t [WriteStage-1:0] flight_q;
  flight_t          enter, leave;

  // ---------------------------------------------------------------- issue
  logic need_read, need_room;
  assign need_read     = cmd_q.s_used && !rd_valid_i;
  assign need_room     = cmd_q.d_to_mem && room_q == '0;
  assign issue_o       = active_q && !need_read && !need_room;
  assign stall_read_o  = active_q && need_read;
  assign stall_write_o = active_q && !need_read && need_room;
  assign cmd_ready_o   = !active_q || (issue_o && last_q);
  assign promise       = issue_o && cmd_q.d_to_mem;

  always_comb begin : p_next
    active_d = active_q;
    row_d    = row_q;
    room_d   = room_q;
    fly_d    = fly_q;
    last_d   = last_q;
    if (issue_o) begin
      row_d    = last_q ? '0 : row_q + 1'b1;
      active_d = !last_q;
      // last_row_i is all ones: the row before the last differs in bit 0 alone
      last_d   = (row_q ^ last_row_i) == RowW'(1);
    end
    if (cmd_valid_i && cmd_ready_o) begin
      active_d = 1'b1;
      last_d   = last_row_i == '0;
    end
    if (promise && !wr_pop_i) begin
      room_d = room_q - 1'b1;
    end else if (wr_pop_i && !promise) begin
      room_d = room_q + 1'b1;
    end
    if (issue_o && !leave.valid) begin
      fly_d = fly_q + 1'b1;
    end else if (leave.valid && !issue_o) begin
      fly_d = fly_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      active_q <= 1'b0;
      row_q    <= '0;
      room_q   <= RoomW'(WriteRows);
      fly_q    <= '0;
      wrow_q   <= '0;
      last_q   <= 1'b0;
    end else begin
      active_q <= active_d;
      row_q    <= row_d;
      room_q   <= room_d;
      fly_q    <= fly_d;
      wrow_q   <= wrow_d;
      last_q   <= last_d;
    end
  end

  // Until a command is taken, what stands here means nothing.
  always_ff @(posedge clk_i) begin : p_command
    if (cmd_ready_o) begin
      cmd_q <= cmd_i;
    end
  end

  assign cmd_o = cmd_q;
  assign row_o = row_q;

  // ---------------------------------------------------------------- from issue to write
  assign enter = '{
    valid:   issue_o,
    last:    last_q,
    to_bank: cmd_q.d_to_bank,
    to_mem:  cmd_q.d_to_mem,
    bank:    cmd_q.d_bank
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_flight
    if (!rst_ni) begin
      flight_q <= '0;
    end else begin
      flight_q <= {flight_q[WriteStage-2:0], enter};
    end
  end

  assign leave   = flight_q[WriteStage-1];
  assign we_o    = leave.valid && leave.to_bank;
  assign push_o  = leave.valid && leave.to_mem;
  assign wbank_o = leave.bank;
  assign wrow_o  = wrow_q;
  assign wrow_d  = !leave.valid ? wrow_q : leave.last ? '0 : wrow_q + 1'b1;

  // ---------------------------------------------------------------- banks
  logic [Banks-1:0] uses_a, uses_c, uses_d;
  assign uses_a = cmd_q.a_used ? bank_uses(cmd_q.a_bank) : '0;
  assign uses_c = cmd_q.c_used ? bank_uses(cmd_q.c_bank) : '0;
  assign uses_d = cmd_q.d_to_bank ? bank_uses(cmd_q.d_bank) : '0;

  assign pass_o       = (issue_o && last_q) ? uses_a | uses_c | uses_d : '0;
  assign free_read_o  = (issue_o && last_q) ? (uses_a | uses_c) & ~uses_d : '0;
  assign free_write_o = (we_o && leave.last) ? bank_uses(leave.bank) : '0;

  assign idle_o = !active_q && fly_q == '0;

endmodule
