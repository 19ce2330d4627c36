// rm_secret_draw: two of them, with any other words and samples, do the same in every cycle while they draw Gaussian polynomials: when
// they take blocks, when and where they write, when they end. No sample needs more bits here (free_lane.sv). Ternary
// polynomials: fv_trit_bytes.
module fv_secret_draw (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              start_i,
  input logic [1:0]        gaussians_i,
  input logic              block_valid_i,
  input logic [1:0][15:0][31:0] block_i
);

  localparam int unsigned LogNMax = 5;
  localparam int unsigned Control = 1 + 1 + 1 + 1 + 1 + 8 + 1 + 2;

  logic [1:0][Control-1:0] control;
  logic [1:0]              busy;
  for (genvar i = 0; i < 2; i++) begin : g_copy
    logic             fault, ready, trit_we, trit_addr, poly;
    logic [7:0]       gauss_we;
    logic [1:0]       gauss_addr;
    logic [31:0]      unused_trits;
    logic [7:0][6:0]  unused_samples;
    rm_secret_draw #(.LogNMax(LogNMax), .BlockGroups(2)) i_draw (
      .clk_i, .rst_ni, .clear_i(1'b0), .log_n_i(5'(LogNMax)), .start_i(start_i && !busy[i]), .ternary_i(1'b0), .gaussians_i,
      .busy_o(busy[i]), .fault_o(fault), .block_valid_i, .block_ready_o(ready), .block_i(block_i[i]),
      .trit_we_o(trit_we), .trit_addr_o(trit_addr), .trit_data_o(unused_trits), .gauss_we_o(gauss_we),
      .gauss_poly_o(poly), .gauss_addr_o(gauss_addr), .gauss_data_o(unused_samples)
    );
    assign control[i] = {busy[i], fault, ready, trit_we, trit_we && trit_addr, gauss_we, gauss_we != '0 && poly,
                         gauss_we != '0 ? gauss_addr : 2'd0};
  end

  logic run_q;
  initial run_q = 1'b0;
  always_ff @(posedge clk_i) begin : p_run
    run_q <= 1'b1;
  end
  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    if (run_q && rst_ni) begin
      a_same: assert (control[0] == control[1]);
    end
  end

  always @(posedge clk_i) begin : p_cover
    if (rst_ni) begin
      c_end: cover (control[0][1:0] == 2'd3 && control[0][2]);   // the last group of the second polynomial
    end
  end

endmodule
