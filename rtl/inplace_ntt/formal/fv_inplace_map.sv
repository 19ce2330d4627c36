// rm_inplace_map: what a bank gives for a row of any window is the one word of the map that belongs to the row, in the lane that
// the row says. So every window sees the same memory, and no two words of a row are in one bank.
module fv_inplace_map (
  input logic [11:0] row_i,
  input logic [3:0]  window_i,
  input logic [3:0]  bank_i
);

  logic [3:0]        fold_o;
  logic [15:0][11:0] addr_o;

  rm_inplace_map #(
    .LogNMax (16)
  ) i_dut (
    .row_i,
    .window_i,
    .fold_o,
    .addr_o
  );

  // The index that the bank and its address stand for, by the map itself.
  logic [11:0] addr;
  logic [15:0] index, below, rest;
  logic [3:0]  lane, bits, wanted;

  assign addr  = addr_o[bank_i];
  assign index = {addr, bank_i ^ addr[3:0] ^ addr[7:4] ^ addr[11:8]};
  assign below = (16'd1 << window_i) - 16'd1;
  assign rest  = ((index >> 4) & ~below) | (index & below);
  assign lane  = bank_i ^ fold_o;
  assign bits  = 4'(index >> window_i);

  // The window's bits in the places that they have modulo 4.
  always_comb begin : p_wanted
    for (int unsigned c = 0; c < 4; c++) begin
      wanted[c] = bits[2'(4'(c) - window_i)];
    end
  end
  always_comb begin : p_check
    assume (window_i <= 4'd12);
    a_row: assert (rest == {4'd0, row_i});
    a_lane: assert (lane == wanted);
  end

endmodule
