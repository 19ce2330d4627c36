// chacha20_half - half of a round of ChaCha20: two additions, two exclusive ors and two rotations of each quarter.
//
// Equation     first half   a += b; d = (d ^ a) <<< 16; c += d; b = (b ^ c) <<< 12
//              second half  a += b; d = (d ^ a) <<<  8; c += d; b = (b ^ c) <<<  7      RFC 8439, section 2.1
//              of the four columns, or of the four diagonals. Combinational.
module chacha20_half #(
  parameter bit Diagonal = 1'b0,
  parameter bit Second   = 1'b0
) (
  input  logic [15:0][31:0] state_i,
  output logic [15:0][31:0] state_o
);

  localparam int unsigned RotateD = Second ? 8 : 16;
  localparam int unsigned RotateB = Second ? 7 : 12;

  for (genvar i = 0; i < 4; i++) begin : g_quarter
    localparam int unsigned B = 4 + (Diagonal ? (i + 1) % 4 : i);
    localparam int unsigned C = 8 + (Diagonal ? (i + 2) % 4 : i);
    localparam int unsigned D = 12 + (Diagonal ? (i + 3) % 4 : i);
    logic [31:0] a, b, c, d;
    assign a = state_i[i] + state_i[B];
    assign d = state_i[D] ^ a;
    assign c = state_i[C] + {d[31-RotateD:0], d[31:32-RotateD]};
    assign b = state_i[B] ^ c;
    assign state_o[i] = a;
    assign state_o[B] = {b[31-RotateB:0], b[31:32-RotateB]};
    assign state_o[C] = c;
    assign state_o[D] = {d[31-RotateD:0], d[31:32-RotateD]};
  end

endmodule
