// fv_arith_room - a row that leaves the pipeline for memory always finds space in the write queue. Rows are written
//                 in order. No command is taken while another has rows left.
//
// Induction    space + rows in the queue + rows for memory on their way = WriteRows.
module fv_arith_room
  import rm_core_pkg::*;
#(
  parameter int unsigned RowW       = 2,
  parameter int unsigned WriteStage = 3,
  parameter int unsigned WriteRows  = 4
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            cmd_valid_i,
  input logic            to_mem_i,
  input logic            to_bank_i,
  input logic            s_used_i,
  input logic            rd_valid_i,
  input logic            wr_ready_i
);

  arith_cmd_t cmd;
  always_comb begin : p_cmd
    cmd           = '0;
    cmd.d_to_mem  = to_mem_i;
    cmd.d_to_bank = to_bank_i;
    cmd.s_used    = s_used_i;
  end

  logic            issue, push, push_ready, pop_valid, pop, ready, take;
  logic [RowW-1:0] row, wrow;
  logic [$clog2(WriteRows+1)-1:0] count;

  rm_arith_control #(
    .RowW      (RowW),
    .WriteStage(WriteStage),
    .WriteRows (WriteRows)
  ) i_dut (
    .clk_i, .rst_ni,
    .last_row_i({RowW{1'b1}}),
    .cmd_valid_i, .cmd_ready_o(ready), .cmd_i(cmd),
    .rd_valid_i, .wr_pop_i(pop), .issue_o(issue), .cmd_o(), .row_o(row),
    .we_o(), .wbank_o(), .wrow_o(wrow), .push_o(push),
    .pass_o(), .free_read_o(), .free_write_o(), .idle_o(), .stall_read_o(), .stall_write_o()
  );

  assign pop  = pop_valid && wr_ready_i;
  assign take = cmd_valid_i && ready;

  rm_core_fifo #(.Width(RowW), .Depth(WriteRows)) i_queue (
    .clk_i, .rst_ni,
    .push_valid_i(push), .push_ready_o(push_ready), .push_data_i(wrow),
    .pop_valid_o(pop_valid), .pop_ready_i(wr_ready_i), .pop_data_o(), .count_o(count)
  );

  logic [7:0]      on_way;
  logic            begun_q;
  logic [RowW-1:0] on_way_rows;
  logic            lasts_ok;
  initial begun_q = 1'b0;
  always_ff @(posedge clk_i) begin : p_begun
    begun_q <= 1'b1;
  end

  always_comb begin : p_way
    on_way      = '0;
    on_way_rows = '0;
    lasts_ok    = 1'b1;
    for (int unsigned i = 0; i < WriteStage; i++) begin
      on_way      += 8'(i_dut.flight_q[i].valid && i_dut.flight_q[i].to_mem);
      on_way_rows += RowW'(i_dut.flight_q[i].valid);
      // on_way_rows rows after this one were issued: this one's number, and whether it is the last
      lasts_ok &= !i_dut.flight_q[i].valid || i_dut.flight_q[i].last == (RowW'(row - on_way_rows) == '1);
    end
  end

  always_comb begin : p_check
    if (!begun_q) begin
      assume (!rst_ni);
    end else if (rst_ni) begin
      a_room: assert (!push || push_ready);
      a_sum: assert (8'(i_dut.room_q) + 8'(count) + on_way == 8'(WriteRows));
      // the row to be written next is the row to be issued next, less those on their way
      a_rows: assert (RowW'(row - on_way_rows) == wrow);
      a_lasts: assert (lasts_ok);
      a_idle: assert (i_dut.active_q || row == '0);
      a_last: assert (!i_dut.active_q || i_dut.last_q == (row == '1));
      a_take: assert (!take || !i_dut.active_q || (issue && row == '1));
`ifdef BROKEN
      a_never_full: assert (!(i_dut.room_q == '0));
`endif
    end
  end

endmodule
