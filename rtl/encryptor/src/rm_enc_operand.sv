// rm_enc_operand - a row of small coefficients and of a message as rows of residues, for the three transforms of a limb.
//
// Equation     v = digit * 2^R, e0 = sample 0 + message, e1 = sample 1, modulo q, canonical; 2^R undoes the factor of the product that
//              follows. use_* says which of the three operands of e0 and e1 count; the others are 0.
//              With divided_i v = digit * scale, and rest 0 and 1 are there in place of the samples, rest < q, their
//              signs in negative_i.
// Latency      2 cycles, a row a cycle. over_o, beside the result: a word of the message is no residue.
module rm_enc_operand #(
  parameter int unsigned W       = 54,
  parameter int unsigned P       = 2,
  localparam int unsigned SampleW = rm_sampler_pkg::SampleW
) (
  input  logic                          clk_i,
  input  logic [W-1:0]                  q_i,
  input  logic [W-1:0]                  factor_i,        // 2^R mod q
  input  logic [W-1:0]                  scale_i,
  input  logic                          divided_i,
  input  logic                          use_error_i,
  input  logic                          use_message_i,
  input  logic [P-1:0][1:0]             digit_i,         // 00, 01, 11 for 0, 1, -1
  input  logic [1:0][P-1:0][SampleW-1:0] sample_i,
  input  logic [1:0][P-1:0][W-1:0]      rest_i,
  input  logic [1:0][P-1:0]             negative_i,
  input  logic [P-1:0][W-1:0]           message_i,
  output logic                          over_o,
  output logic [P-1:0][W-1:0]           v_o,
  output logic [1:0][P-1:0][W-1:0]      e_o
);

  logic [W-1:0] minus_factor_q, minus_scale_q;
  logic [P-1:0] over_q;
  always_ff @(posedge clk_i) begin : p_constant
    minus_factor_q <= q_i - factor_i;
    minus_scale_q  <= q_i - scale_i;
    over_o         <= over_q != '0;
  end

  for (genvar l = 0; l < P; l++) begin : g_lane
    logic [W-1:0]      v_q, v_late_q, message_q;
    logic [1:0][W-1:0] error_q, e_q;
    logic [W:0]        sum, less;

    // |sample| <= 42 < q: a negative one is q less its magnitude.
    for (genvar i = 0; i < 2; i++) begin : g_error
      logic [W-1:0] wide;
      assign wide = {{(W - SampleW) {sample_i[i][l][SampleW-1]}}, sample_i[i][l]};
      always_ff @(posedge clk_i) begin : p_error
        if (divided_i) begin
          error_q[i] <= (negative_i[i][l] && rest_i[i][l] != '0) ? q_i - rest_i[i][l] : rest_i[i][l];
        end else if (!use_error_i) begin
          error_q[i] <= '0;
        end else begin
          error_q[i] <= wide + (sample_i[i][l][SampleW-1] ? q_i : W'(0));
        end
      end
    end
    assign sum  = {1'b0, error_q[0]} + {1'b0, message_q};
    assign less = sum - {1'b0, q_i};

    always_ff @(posedge clk_i) begin : p_stages
      case (digit_i[l])
        2'b01:   v_q <= divided_i ? scale_i : factor_i;
        2'b11:   v_q <= divided_i ? minus_scale_q : minus_factor_q;
        default: v_q <= '0;
      endcase
      v_late_q  <= v_q;
      message_q <= use_message_i ? message_i[l] : '0;
      over_q[l] <= use_message_i && message_i[l] >= q_i;
      e_q[0]    <= less[W] ? sum[W-1:0] : less[W-1:0];
      e_q[1]    <= error_q[1];
    end
    assign v_o[l]    = v_late_q;
    assign e_o[0][l] = e_q[0];
    assign e_o[1][l] = e_q[1];
  end

endmodule
