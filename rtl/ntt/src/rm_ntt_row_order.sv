// rm_ntt_row_order - which row is read (and L cycles later written) in cycle time_i of a stage.
//
// Type I, distance of d = 2^l rows: rows r and r + d follow each other, so that the half-row swap can
// pair their words. The time's lowest bit becomes bit l of the row:
//     row = { time[hi : l+1], time[0], time[l : 1] }
// Type II: rows in order, which is the same map with d = 1. Combinational, one 5-input function a bit.
module rm_ntt_row_order #(
  parameter int unsigned RowW = 11
) (
  input  logic [RowW-1:0] dist_i,  // d, one bit set
  input  logic [RowW-1:0] time_i,
  output logic [RowW-1:0] row_o
);

  logic [RowW-1:0] below;  // bits below d

  assign below = dist_i - 1'b1;

  always_comb begin : p_row
    for (int unsigned b = 0; b < RowW; b++) begin
      if (dist_i[b]) begin
        row_o[b] = time_i[0];
      end else if (below[b]) begin
        row_o[b] = (b + 1 < RowW) ? time_i[(b + 1 < RowW) ? b + 1 : b] : 1'b0;
      end else begin
        row_o[b] = time_i[b];
      end
    end
  end

endmodule
