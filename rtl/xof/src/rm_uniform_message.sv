// rm_uniform_message - the block that BLAKE3 hashes for a limb of uniform residues, from its label.
//
// Equation     "ringmill uniform v1", the label's length in 8 bytes, the label, the limb's number in 4; bytes little-endian, byte i of
//              the message is byte i of words_o. The hash is keyed with the seed (flags_o), and one compression is all of it.
// Labels       byte i of the label is label_i[i]; those from label_length_i on do not count. LabelMax bytes fill the block.
module rm_uniform_message #(
  localparam int unsigned ContextBytes = 19,
  localparam int unsigned LabelMax     = 64 - ContextBytes - 8 - 4
) (
  input  logic [LabelMax-1:0][7:0] label_i,
  input  logic [5:0]               label_length_i,   // LabelMax at most
  input  logic [31:0]              limb_i,
  output logic [15:0][31:0]        words_o,
  output logic [6:0]               length_o,
  output logic [7:0]               flags_o
);

  localparam logic [8*ContextBytes-1:0] Context = "ringmill uniform v1";

  logic [63:0][7:0] bytes;
  always_comb begin : p_bytes
    bytes = '0;
    for (int unsigned i = 0; i < ContextBytes; i++) begin
      bytes[i] = Context[8*(ContextBytes-1-i)+:8];
    end
    bytes[ContextBytes] = 8'(label_length_i);
    for (int unsigned i = 0; i < LabelMax + 4; i++) begin
      if (i < 32'(label_length_i)) begin
        bytes[ContextBytes+8+i] = (i < LabelMax) ? label_i[6'(i)] : 8'd0;
      end else if (i < 32'(label_length_i) + 4) begin
        bytes[ContextBytes+8+i] = limb_i[8*2'(i-32'(label_length_i))+:8];
      end
    end
  end
  assign words_o  = bytes;
  assign length_o = 7'(ContextBytes + 8 + 4) + 7'(label_length_i);
  assign flags_o  = 8'd27;   // CHUNK_START, CHUNK_END, ROOT, KEYED_HASH

endmodule
