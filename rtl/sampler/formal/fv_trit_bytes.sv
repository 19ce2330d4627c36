// rm_trit_bytes: two of them, with other words whose bytes are refused alike, do the same in every cycle: when they take words, when and
// where they write, when they end.
module fv_trit_bytes (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             start_i,
  input logic             word_valid_i,
  input logic [1:0][31:0] word_i
);

  localparam int unsigned LogNMax = 5;

  logic [1:0][4:0] control;
  logic [1:0]      busy;
  for (genvar i = 0; i < 2; i++) begin : g_copy
    logic        take, we, addr;
    logic [31:0] unused_data;
    rm_trit_bytes #(.LogNMax(LogNMax)) i_trits (
      .clk_i, .rst_ni, .clear_i(1'b0), .log_n_i(5'(LogNMax)), .start_i(start_i && !busy[i]), .busy_o(busy[i]),
      .word_valid_i, .word_take_o(take), .word_i(word_i[i]), .we_o(we), .addr_o(addr), .data_o(unused_data)
    );
    assign control[i] = {busy[i], take, we, we && addr, 1'b0};
  end

  logic [3:0] alike;
  for (genvar b = 0; b < 4; b++) begin : g_byte
    assign alike[b] = (word_i[0][8*b+:8] < rm_sampler_pkg::TritBytes) == (word_i[1][8*b+:8] < rm_sampler_pkg::TritBytes);
  end

  logic run_q;
  initial run_q = 1'b0;
  always_ff @(posedge clk_i) begin : p_run
    run_q <= 1'b1;
  end
  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
`ifndef BROKEN
    assume (alike == '1);
`endif
    if (run_q && rst_ni) begin
      a_same: assert (control[0] == control[1]);
    end
  end

endmodule
