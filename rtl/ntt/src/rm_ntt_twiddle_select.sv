// rm_ntt_twiddle_select - spreads a row of the twiddle table over the butterflies.
//
// Butterfly j takes word w, w[b] = fixed_i[b] ? offset_i[b] : j[b] ^ mirror_i (rm_ntt_twiddle_map): log2 Nbf
// levels of 2:1 multiplexers, level b between words whose numbers differ in bit b. Combinational.
module rm_ntt_twiddle_select #(
  parameter int unsigned W       = 54,
  parameter int unsigned LogNbf  = 2,
  localparam int unsigned Nbf    = 1 << LogNbf,
  localparam int unsigned SelW   = (LogNbf > 0) ? LogNbf : 1
) (
  input  logic [Nbf-1:0][W-1:0] row_i,
  input  logic [SelW-1:0]       offset_i,
  input  logic [SelW-1:0]       fixed_i,
  input  logic                  mirror_i,
  output logic [Nbf-1:0][W-1:0] twiddle_o
);

  logic [Nbf-1:0][W-1:0] level [LogNbf + 1];

  assign level[0]  = row_i;
  assign twiddle_o = level[LogNbf];

  for (genvar b = 0; b < LogNbf; b++) begin : g_level
    for (genvar j = 0; j < Nbf; j++) begin : g_word
      localparam bit Bit = ((j >> b) & 1) != 0;
      logic other;
      assign other         = fixed_i[b] ? offset_i[b] ^ Bit : mirror_i;
      assign level[b+1][j] = other ? level[b][j ^ (1 << b)] : level[b][j];
    end
  end

  if (LogNbf == 0) begin : g_unused
    logic unused;
    assign unused = ^{offset_i, fixed_i, mirror_i};
  end

endmodule
