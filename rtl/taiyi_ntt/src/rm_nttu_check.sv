// rm_nttu_check - whether a modulus may be used: q = 1 mod 2N, and of the multiplier's class.
//
// Timing       combinational, from a copy of q and aux of each modulus. One that was never written has q = 0 or noise.
module rm_nttu_check #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Mods = 8,
  parameter int unsigned LogN = 8,
  localparam int unsigned ModW = $clog2(Mods)
) (
  input  logic            clk_i,
  input  logic            cfg_we_i,
  input  logic [6:0]      cfg_field_i,
  input  logic [ModW-1:0] cfg_mod_i,
  input  logic [W+1:0]    cfg_data_i,
  input  logic [ModW-1:0] mod_i,
  output logic            bad_o
);

  localparam int unsigned H = W / 2;

  logic [W-1:0] q_mem[Mods];
  logic [5:0]   aux_mem[Mods];   // as much as a class asks for
  logic         wide_mem[Mods];  // q was longer than a word
  always_ff @(posedge clk_i) begin : p_memory
    if (cfg_we_i && cfg_field_i == 7'(rm_nttu_pkg::FieldQ)) begin
      q_mem[cfg_mod_i]    <= cfg_data_i[W-1:0];
      wide_mem[cfg_mod_i] <= cfg_data_i[W+1:W] != '0;
    end
    if (cfg_we_i && cfg_field_i == 7'(rm_nttu_pkg::FieldAux)) begin
      aux_mem[cfg_mod_i] <= cfg_data_i[5:0];
    end
  end

  logic [W-1:0] q;
  logic         in_class;
  assign q = q_mem[mod_i];

  case (rm_modmul_pkg::family(Kind))
    rm_modmul_pkg::KindP2: begin : g_p2
      assign in_class = q[H-1:0] == H'(1);
    end
    rm_modmul_pkg::KindP2Sparse: begin : g_sparse
      localparam int unsigned B = rm_modmul_pkg::delta_bits(W);
      logic [W-H-1:0] delta;   // signed, B bits
      assign delta    = q[W-1:H] - (W - H)'(64'd1 << (W - 1 - H));
      assign in_class = q[H-1:0] == H'(1) && (delta[W-H-1:B-1] == '0 || delta[W-H-1:B-1] == '1);
    end
    rm_modmul_pkg::KindPrf: begin : g_prf
      localparam logic [31:0] Ones = rm_modmul_pkg::prf_ones(Kind);
      assign in_class = q[W-1] && q[W-2:H] == '0 && q[0] && (q[H-1:0] & ~Ones[H-1:0]) == '0;
    end
    rm_modmul_pkg::KindNtt: begin : g_ntt
      localparam int unsigned T = rm_modmul_pkg::ntt_word(Kind);
      localparam int unsigned K = rm_modmul_pkg::ntt_delta_bits(Kind, W);
      logic [W+1:0] power, far;   // q - 1 - 2^b, signed
      if (rm_modmul_pkg::ntt_any_length(Kind)) begin : g_any
        assign power = (W + 2)'(1) << (7'(aux_mem[mod_i]) + 7'(T));
      end else begin : g_word
        assign power = (W + 2)'(1) << W;
      end
      assign far      = {2'b00, q} - (W + 2)'(1) - power;
      assign in_class = far[T-1:0] == '0 && (far[W+1:T+K-1] == '0 || far[W+1:T+K-1] == '1);
    end
    default: begin : g_odd
      assign in_class = q[0];
    end
  endcase
  assign bad_o = wide_mem[mod_i] || q[LogN:0] != (LogN + 1)'(1) || q == W'(1) || !in_class;

  logic unused_aux;
  assign unused_aux = ^aux_mem[mod_i];

endmodule
