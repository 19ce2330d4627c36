// rm_stream_constants - twiddle factors that stand for a whole polynomial: Words of them for each modulus, read a cycle later.
module rm_stream_constants #(
  parameter int unsigned W     = 54,
  parameter int unsigned Mods  = 8,
  parameter int unsigned Words = 1,
  localparam int unsigned ModW = $clog2(Mods)
) (
  input  logic                          clk_i,
  input  logic                          we_i,
  input  logic [rm_stream_pkg::IndexW-1:0] index_i,
  input  logic [ModW-1:0]               wmod_i,
  input  logic [W-1:0]                  data_i,
  input  logic [ModW-1:0]               mod_i,
  output logic [Words-1:0][W-1:0]       words_o
);

  for (genvar j = 0; j < Words; j++) begin : g_word
    logic [W-1:0] mem[Mods];
    always_ff @(posedge clk_i) begin : p_memory
      if (we_i && index_i == rm_stream_pkg::IndexW'(j)) begin
        mem[wmod_i] <= data_i;
      end
      words_o[j] <= mem[mod_i];
    end
  end

endmodule
