// rm_taiyi_rules - holds a schedule to what the scratchpad can do: no row is read before it is there, none is lost.
//
// A slot is claimed when the instruction begins whose result it takes. From then on it has no row, and gets them in order from one port.
// wrong_o      a row was read that is not there yet; a row came out of order; two ports wrote or claimed one slot; in this cycle.
module rm_taiyi_rules
  import rm_taiyi_pkg::*;
#(
  parameter int unsigned L     = 2,
  parameter int unsigned T     = 6,
  parameter int unsigned SlotW = 6
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [Writes-1:0]              claim_i,
  input  logic [Writes-1:0][SlotW-1:0]   claim_slot_i,
  input  logic [Reads-1:0]               re_i,
  input  logic [Reads-1:0][SlotW-1:0]    rslot_i,
  input  logic [Reads-1:0][L-1:0][T-1:0] rrow_i,
  input  logic [Writes-1:0]              we_i,
  input  logic [Writes-1:0][SlotW-1:0]   wslot_i,
  input  logic [Writes-1:0][T-1:0]       wrow_i,
  output logic                           wrong_o
);

  localparam int unsigned Slots = 1 << SlotW;

  // Rows that each slot has; all of them is 2^T.
  logic [Slots-1:0][T:0] rows_q, rows_d;
  logic                  early, order, twice;

  always_comb begin : p_check
    early = 1'b0;
    order = 1'b0;
    twice = 1'b0;
    for (int unsigned p = 0; p < Reads; p++) begin
      for (int unsigned l = 0; l < L; l++) begin
        early |= re_i[p] && {1'b0, rrow_i[p][l]} >= rows_q[rslot_i[p]];
      end
    end
    for (int unsigned p = 0; p < Writes; p++) begin
      order |= we_i[p] && {1'b0, wrow_i[p]} != rows_q[wslot_i[p]];
      for (int unsigned o = 0; o < p; o++) begin
        twice |= (we_i[p] && we_i[o] && wslot_i[p] == wslot_i[o])
              || (claim_i[p] && claim_i[o] && claim_slot_i[p] == claim_slot_i[o]);
      end
    end
  end
  assign wrong_o = early || order || twice;

  always_comb begin : p_rows
    rows_d = rows_q;
    for (int unsigned p = 0; p < Writes; p++) begin
      if (we_i[p]) begin
        rows_d[wslot_i[p]] = rows_q[wslot_i[p]] + 1'b1;
      end
    end
    for (int unsigned p = 0; p < Writes; p++) begin
      if (claim_i[p]) begin
        rows_d[claim_slot_i[p]] = '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      rows_q <= '0;
    end else begin
      rows_q <= rows_d;
    end
  end

endmodule
