// enc_sum - one component of the result modulo q: transformed error, or another addend, and a product with v.
//
// Equation     result = (subtract ? -key : key) * v * 2^-R + addend, canonical. key has any W bits, or less than q where it is
//              subtracted; addend < q.
// Latency      enc_pkg::sum_latency, a row a cycle.
module enc_sum #(
  parameter int unsigned W    = 54,
  parameter int unsigned Kind = modmul_pkg::KindMontgomery,
  parameter int unsigned Tile = modmul_pkg::TileDsp48e2,
  parameter int unsigned P    = 2
) (
  input  logic                clk_i,
  input  logic [W-1:0]        q_i,
  input  logic [W+1:0]        aux_i,
  input  logic                subtract_i,
  input  logic [P-1:0][W-1:0] key_i,
  input  logic [P-1:0][W-1:0] v_i,
  input  logic [P-1:0][W-1:0] addend_i,
  output logic [P-1:0][W-1:0] result_o
);

  localparam int unsigned M = modmul_pkg::latency(Kind, W);

  for (genvar l = 0; l < P; l++) begin : g_lane
    logic [W-1:0] key_q, v_q, product, addend, result_q;
    logic [W:0]   sum_q, less;

    always_ff @(posedge clk_i) begin : p_operands
      key_q <= (subtract_i && key_i[l] != '0) ? q_i - key_i[l] : key_i[l];
      v_q   <= v_i[l];
    end
    modmul #(.W(W), .Kind(Kind), .Tile(Tile)) i_product (
      .clk_i, .a_i(key_q), .b_i(v_q), .q_i, .aux_i, .r_o(product)
    );
    delay_line #(.Width(W), .Cycles(M + 1)) i_addend (.clk_i, .data_i(addend_i[l]), .data_o(addend));

    assign less = sum_q - {1'b0, q_i};
    always_ff @(posedge clk_i) begin : p_sum
      sum_q    <= {1'b0, product} + {1'b0, addend};
      result_q <= less[W] ? sum_q[W-1:0] : less[W-1:0];
    end
    assign result_o[l] = result_q;
  end

endmodule
