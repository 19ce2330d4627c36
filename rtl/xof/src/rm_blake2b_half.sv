// rm_blake2b_half - half of a round of BLAKE2b's compression on columns or on diagonals.
//
// Equation     first half   a += b + x; d = (d ^ a) >>> 32; c += d; b = (b ^ c) >>> 24      RFC 7693, section 3.1
//              second half  a += b + x; d = (d ^ a) >>> 16; c += d; b = (b ^ c) >>> 63
//              with the message word x of the quarter. Combinational.
module rm_blake2b_half #(
  parameter bit Diagonal = 1'b0,
  parameter bit Second   = 1'b0
) (
  input  logic [15:0][63:0] state_i,
  input  logic [3:0][63:0]  words_i,
  output logic [15:0][63:0] state_o
);

  localparam int unsigned RotateD = Second ? 16 : 32;
  localparam int unsigned RotateB = Second ? 63 : 24;

  for (genvar i = 0; i < 4; i++) begin : g_quarter
    localparam int unsigned B = 4 + (Diagonal ? (i + 1) % 4 : i);
    localparam int unsigned C = 8 + (Diagonal ? (i + 2) % 4 : i);
    localparam int unsigned D = 12 + (Diagonal ? (i + 3) % 4 : i);
    logic [63:0] a, b, c, d;
    assign a = state_i[i] + state_i[B] + words_i[i];
    assign d = state_i[D] ^ a;
    assign c = state_i[C] + {d[RotateD-1:0], d[63:RotateD]};
    assign b = state_i[B] ^ c;
    assign state_o[i] = a;
    assign state_o[B] = {b[RotateB-1:0], b[63:RotateB]};
    assign state_o[C] = c;
    assign state_o[D] = {d[RotateD-1:0], d[63:RotateD]};
  end

endmodule
