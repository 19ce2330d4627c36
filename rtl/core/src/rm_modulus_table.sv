// rm_modulus_table - q, aux and the stored roots rho_b of every modulus.
//
// Write        field 0 q, field 1 aux, field 2 + b the root rho_b, b < 15; while the core is idle. The
//              write happens one cycle later: a register cuts the long path from the bus to the memories.
// Read         what waits for the arithmetic unit in the same cycle (q and aux of one entry, q of another); transform unit i in the
//              next cycle (q, aux and one root).
// Memory       distributed: at most 32 entries are read, rarely, by two units at once; block RAMs would stand empty.
module rm_modulus_table
  import rm_core_pkg::*;
#(
  parameter int unsigned W    = 54,
  parameter int unsigned Mods = 16,
  localparam int unsigned ModW = $clog2(Mods)
) (
  input  logic                  clk_i,
  input  logic                  we_i,
  input  logic [ModIdxW-1:0]    index_i,
  input  logic [ModFieldW-1:0]  field_i,
  input  logic [63:0]           data_i,
  // arithmetic unit
  input  logic [ModW-1:0]       modulus_i,
  input  logic [ModW-1:0]       source_i,
  output logic [W-1:0]          q_o,
  output logic [W+1:0]          aux_o,
  output logic [W-1:0]          p_o,
  // transform units
  input  logic [1:0][ModW-1:0]  ntt_mod_i,
  input  logic [1:0][3:0]       ntt_root_i,
  output logic [1:0][W-1:0]     ntt_q_o,
  output logic [1:0][W+1:0]     ntt_aux_o,
  output logic [1:0][W-1:0]     ntt_rho_o
);

  if (Mods < 2 || Mods > 32) begin : g_check_mods
    $error("rm_modulus_table: Mods must be 2 ... 32");
  end

  (* ram_style = "distributed" *) logic [W-1:0] q_mem [Mods];
  (* ram_style = "distributed" *) logic [W+1:0] aux_mem [Mods];
  (* ram_style = "distributed" *) logic [W-1:0] rho_mem [16*Mods];

  logic             we;
  logic             we_q_q, we_aux_q, we_rho_q;
  logic [ModW-1:0]  index_q;
  logic [3:0]       root_q;
  logic [W+1:0]     data_q;
  assign we = we_i && 32'(index_i) < Mods;

  always_ff @(posedge clk_i) begin : p_ask
    we_q_q   <= we && field_i == ModFieldW'(0);
    we_aux_q <= we && field_i == ModFieldW'(1);
    we_rho_q <= we && field_i >= ModFieldW'(2);
    index_q  <= index_i[ModW-1:0];
    root_q   <= 4'(field_i - ModFieldW'(2));
    data_q   <= data_i[W+1:0];
  end

  always_ff @(posedge clk_i) begin : p_write
    if (we_q_q) begin
      q_mem[index_q] <= data_q[W-1:0];
    end
    if (we_aux_q) begin
      aux_mem[index_q] <= data_q;
    end
    if (we_rho_q) begin
      rho_mem[{index_q, root_q}] <= data_q[W-1:0];
    end
  end

  assign q_o   = q_mem[modulus_i];
  assign aux_o = aux_mem[modulus_i];
  assign p_o   = q_mem[source_i];

  for (genvar i = 0; i < 2; i++) begin : g_lane
    always_ff @(posedge clk_i) begin : p_read
      ntt_q_o[i]   <= q_mem[ntt_mod_i[i]];
      ntt_aux_o[i] <= aux_mem[ntt_mod_i[i]];
      ntt_rho_o[i] <= rho_mem[{ntt_mod_i[i], ntt_root_i[i]}];
    end
  end

endmodule
