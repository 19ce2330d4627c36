// fv_galois_columns - columns turned as defined, for every galois element and turn: each column carries its number.
module fv_galois_columns #(
  parameter int unsigned Nbf   = 4,
  localparam int unsigned Cols = 2 * Nbf,
  localparam int unsigned ColW = $clog2(Cols)
) (
  input logic            permute_i,
  input logic [ColW-1:0] galois_i,
  input logic [ColW-1:0] turn_i
);

  logic [Cols-2:0]           swap;
  logic [Cols-1:0][ColW-1:0] number, turned;

  rm_galois_swaps #(.Nbf(Nbf)) i_swaps (.permute_i, .galois_i, .turn_i, .swap_o(swap));
  rm_galois_columns #(.W(ColW), .Nbf(Nbf)) i_columns (.swap_i(swap), .data_i(number), .data_o(turned));

  for (genvar h = 0; h < Cols; h++) begin : g_column
    logic [ColW-1:0] u, v, from;
    assign number[h] = ColW'(h);
    for (genvar i = 0; i < ColW; i++) begin : g_reverse
      assign u[i]    = 1'((h >> (ColW - 1 - i)) & 1);
      assign from[i] = v[ColW-1-i];
    end
    assign v = galois_i * u + turn_i;
    always_comb begin : p_check
      if (!permute_i) begin
        a_still: assert (turned[h] == ColW'(h));
      end else if (galois_i[0]) begin
`ifdef BROKEN
        a_turned: assert (turned[h] == v);  // columns are numbered in reversed bits: must be caught
`else
        a_turned: assert (turned[h] == from);
`endif
      end
    end
  end

endmodule
