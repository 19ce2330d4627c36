// rm_core_lanes - both transform units with the tickets of their waiting commands, and whether transforms are under way.
//
// Rule         the head of a lane is granted from the cycle after the scoreboard says that its ticket is due; one
//              that only asks for twiddles has no ticket and needs no grant. A ganged transform is a command to each
//              lane, each with the ticket of its own bank; rm_ntt_pair starts both in one cycle.
// Queues       commands wait in the units, their tickets here, pushed together and popped together: both queues of a
//              lane hold NttQueue entries, and a command is taken only when both have room.
module rm_core_lanes
  import rm_core_pkg::*;
#(
  parameter int unsigned W       = 54,
  parameter int unsigned Nbf     = 4,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned LogNMin = 10,
  parameter int unsigned Mods    = 16,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  localparam int unsigned Cols   = 2 * Nbf,
  localparam int unsigned RowW   = LogNMax - $clog2(Cols),
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [LogNW-1:0]            log_n_i,
  input  logic                        flush_i,
  // commands
  input  logic [1:0]                  put_i,        // only when ready_o
  output logic [1:0]                  ready_o,
  input  logic                        inverse_i,
  input  logic                        roots_i,
  input  logic                        gang_i,       // put to both lanes
  input  logic                        bank_i,
  input  logic [ModW-1:0]             mod_i,
  input  logic [1:0][TicketW-1:0]     ticket_i,
  // scoreboard
  output logic [1:0]                  head_bank_o,
  output logic [1:0][TicketW-1:0]     head_ticket_o,
  input  logic [1:0]                  due_i,
  output logic [1:0]                  pass_o,
  output logic [1:0]                  pass_bank_o,
  output logic [1:0]                  done_o,
  output logic [1:0]                  done_bank_o,
  // status
  output logic [1:0]                  idle_o,
  output logic [1:0]                  running_o,    // a transform has started and not ended
  output logic [1:0]                  wait_ticket_o,
  output logic [1:0]                  wait_twiddle_o,
  // modulus table
  output logic [1:0][ModW-1:0]        tab_mod_o,
  output logic [1:0][3:0]             tab_root_o,
  input  logic [1:0][W-1:0]           tab_q_i,
  input  logic [1:0][W+1:0]           tab_aux_i,
  input  logic [1:0][W-1:0]           tab_root_i,
  // banks
  output logic [1:0]                  re_o,
  output logic [1:0]                  rbank_o,
  output logic [1:0][RowW-1:0]        rrow_o,
  input  logic [1:0][Cols-1:0][W-1:0] rdata_i,
  output logic [1:0]                  we_o,
  output logic [1:0]                  wbank_o,
  output logic [1:0][RowW-1:0]        wrow_o,
  output logic [1:0][Cols-1:0][W-1:0] wdata_o
);

  logic [1:0] cmd_ready, ticket_ready, ticket_valid, waits, head_valid, started, skipped, unit_busy;

  assign ready_o = cmd_ready & ticket_ready;

  // A ticket that is due stays due; the grant stands in a register, a cycle later.
  logic [1:0] grant_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_grant
    if (!rst_ni) begin
      grant_q <= '0;
    end else begin
      grant_q <= ticket_valid & due_i & ~(started | skipped);
    end
  end

  rm_ntt_pair #(
    .W         (W),
    .Nbf       (Nbf),
    .LogNMax   (LogNMax),
    .LogNMin   (LogNMin),
    .Mods      (Mods),
    .Kind      (Kind),
    .Tile      (Tile),
    .QueueDepth(NttQueue)
  ) i_ntt (
    .clk_i,
    .rst_ni,
    .log_n_i       (log_n_i[3:0]),
    .flush_i,
    .cmd_valid_i   (put_i),
    .cmd_ready_o   (cmd_ready),
    .cmd_inverse_i ({2{inverse_i}}),
    .cmd_bank_i    ({2{bank_i}}),
    .cmd_mod_i     ({2{mod_i}}),
    .cmd_gang_i    ({2{gang_i}}),
    .cmd_roots_i   ({2{roots_i}}),
    .head_valid_o  (head_valid),
    .head_bank_o,
    .head_grant_i  (grant_q),
    .started_o     (started),
    .skipped_o     (skipped),
    .pass_o,
    .pass_bank_o,
    .done_o,
    .done_bank_o,
    .busy_o        (unit_busy),
    .wait_ticket_o,
    .wait_twiddle_o,
    .tab_mod_o,
    .tab_root_o,
    .tab_q_i,
    .tab_aux_i,
    .tab_root_i,
    .rd_en_o       (re_o),
    .rd_bank_o     (rbank_o),
    .rd_row_o      (rrow_o),
    .rd_data_i     (rdata_i),
    .wr_en_o       (we_o),
    .wr_bank_o     (wbank_o),
    .wr_row_o      (wrow_o),
    .wr_data_o     (wdata_o)
  );

  for (genvar i = 0; i < 2; i++) begin : g_lane
    rm_unit_queue #(
      .Width(TicketW),
      .Depth(NttQueue)
    ) i_tickets (
      .clk_i,
      .rst_ni,
      .push_valid_i(put_i[i]),
      .push_ready_o(ticket_ready[i]),
      .push_data_i (ticket_i[i]),
      .pop_valid_o (ticket_valid[i]),
      .pop_ready_i (started[i] || skipped[i]),
      .pop_data_o  (head_ticket_o[i]),
      .busy_o      (waits[i])
    );

    logic [1:0] under_way_q;  // the next transform may start while one drains

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_under_way
      if (!rst_ni) begin
        under_way_q <= '0;
      end else begin
        under_way_q <= under_way_q + 2'(started[i]) - 2'(done_o[i]);
      end
    end

    assign running_o[i] = under_way_q != '0;
  end

  assign idle_o = ~(unit_busy | waits | running_o);

  logic unused_log_n;
  assign unused_log_n = log_n_i[LogNW-1];

`ifndef SYNTHESIS
  a_heads_agree: assert property (@(posedge clk_i) disable iff (!rst_ni)
                                  ((started | skipped) & ~(ticket_valid & head_valid)) == '0)
  else $error("rm_core_lanes: a transform started without a ticket");
`else
  logic unused_head;
  assign unused_head = ^head_valid;
`endif

endmodule
