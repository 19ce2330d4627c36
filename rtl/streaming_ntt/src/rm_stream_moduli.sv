// rm_stream_moduli - q and the multiplier's constant of each modulus, one copy a place of use, read a cycle later.
module rm_stream_moduli #(
  parameter int unsigned W    = 54,
  parameter int unsigned Mods = 8,
  localparam int unsigned ModW = $clog2(Mods)
) (
  input  logic            clk_i,
  input  logic            cfg_we_i,
  input  logic            cfg_aux_i,   // else q
  input  logic [ModW-1:0] cfg_mod_i,
  input  logic [W+1:0]    cfg_data_i,
  input  logic [ModW-1:0] mod_i,
  output logic [W-1:0]    q_o,
  output logic [W+1:0]    aux_o
);

  logic [W-1:0] q_mem[Mods];
  logic [W+1:0] aux_mem[Mods];

  always_ff @(posedge clk_i) begin : p_memory
    if (cfg_we_i && !cfg_aux_i) begin
      q_mem[cfg_mod_i] <= cfg_data_i[W-1:0];
    end
    if (cfg_we_i && cfg_aux_i) begin
      aux_mem[cfg_mod_i] <= cfg_data_i;
    end
    q_o   <= q_mem[mod_i];
    aux_o <= aux_mem[mod_i];
  end

endmodule
