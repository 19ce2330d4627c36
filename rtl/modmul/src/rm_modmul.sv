// rm_modmul - modular multiplier: one port list for every kind.
//
// Equation     r_o = a_i * b_i * 2^(-R) mod q_i,  R = rm_modmul_pkg::factor_bits(Kind, W), canonical
// Intervals    0 <= a_i < 2^W, 0 <= b_i < q_i; q_i of the kind's class, aux_i its constant: README.md.
// Latency      rm_modmul_pkg::latency(Kind, W) cycles for every tiling, one product a cycle, no stall, no reset. q_i and aux_i
//              travel with the operands: consecutive products may have different moduli. Operands and constants should
//              come straight from registers.
module rm_modmul #(
  parameter int unsigned Kind = rm_modmul_pkg::KindP2,
  parameter int unsigned W    = 52,
  parameter int unsigned Tile = rm_modmul_pkg::TileDsp48e2
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  input  logic [W-1:0] q_i,
  input  logic [W+1:0] aux_i,
  output logic [W-1:0] r_o
);

  if (Tile >= rm_modmul_pkg::NumTiles) begin : g_check_tile
    $error("rm_modmul: no such tiling");
  end

  case (rm_modmul_pkg::family(Kind))
    rm_modmul_pkg::KindP2, rm_modmul_pkg::KindP2Sparse: begin : g_p2
      rm_modmul_p2 #(
        .W      (W),
        .Sparse (Kind == rm_modmul_pkg::KindP2Sparse),
        .Tile   (Tile)
      ) i_modmul (
        .clk_i,
        .a_i,
        .b_i,
        .q_i,
        .r_o
      );
      logic unused_aux;
      assign unused_aux = ^aux_i;
    end
    rm_modmul_pkg::KindPrf: begin : g_prf
      localparam logic [31:0] Ones = rm_modmul_pkg::prf_ones(Kind);
      rm_modmul_prf #(
        .W    (W),
        .Tile (Tile),
        .Mask (Ones[W/2-1:0])
      ) i_modmul (
        .clk_i,
        .a_i,
        .b_i,
        .q_i,
        .aux_i (aux_i[W/2-1:0]),
        .r_o
      );
      logic unused_aux;
      assign unused_aux = ^aux_i[W+1:W/2];
    end
    rm_modmul_pkg::KindMontgomery: begin : g_montgomery
      rm_modmul_montgomery #(
        .W    (W),
        .Tile (Tile)
      ) i_modmul (
        .clk_i,
        .a_i,
        .b_i,
        .q_i,
        .aux_i (aux_i[W-1:0]),
        .r_o
      );
      logic unused_aux;
      assign unused_aux = ^aux_i[W+1:W];
    end
    rm_modmul_pkg::KindBarrett: begin : g_barrett
      rm_modmul_barrett #(
        .W    (W),
        .Tile (Tile)
      ) i_modmul (
        .clk_i,
        .a_i,
        .b_i,
        .q_i,
        .aux_i,
        .r_o
      );
    end
    rm_modmul_pkg::KindNtt: begin : g_ntt
      rm_modmul_ntt #(
        .Kind (Kind),
        .W    (W),
        .Tile (Tile)
      ) i_modmul (
        .clk_i,
        .a_i,
        .b_i,
        .q_i,
        .aux_i (aux_i[5:0]),
        .r_o
      );
      logic unused_aux;
      assign unused_aux = ^aux_i[W+1:6];
    end
    default: begin : g_check_kind
      $error("rm_modmul: no such kind");
    end
  endcase

endmodule
