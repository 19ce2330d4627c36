// rm_ekey_buffer: rows of keys come out once each and in the order they were asked for, every set in its cycle. None finds the buffer
// full, whenever it comes. Rows that were not asked for change nothing. What has space is asked for, so late rows end no run.
// Broken: a buffer that may hold one row less must give a counterexample.
module fv_ekey_buffer #(
  parameter int unsigned M      = 2,
  parameter int unsigned Depth  = 2,
  parameter bit          Broken = 1'b0
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       block_valid_i,
  input logic [3:0] block_rows_i,
  input logic       fetch_ready_i,
  input logic       data_valid_i,
  input logic       want_i
);

  localparam int unsigned Width = 4;

  logic                    block_ready, fetch_valid, valid, take;
  logic [3:0]              fetch_address;
  logic [M-1:0][Width-1:0] data_in, data;
  logic [1:0]              wrong;
  logic [3:0]              asked_q, came_q, taken_q, left_q;
  logic [M-1:0]            late_q;
  logic                    run_q, come;
  initial run_q = 1'b0;

  // Row n of the keys has the words n; a row that nobody asked for has others.
  assign come    = data_valid_i && asked_q != came_q;
  assign data_in = come ? {M{came_q}} : {M{~came_q}};
  assign take    = valid && want_i;
  rm_ekey_buffer #(.Width(Width), .M(M), .Depth(Depth), .AddressW(4)) i_dut (
    .clk_i, .rst_ni, .block_valid_i, .block_ready_o(block_ready), .block_address_i(asked_q + left_q), .block_rows_i,
    .fetch_valid_o(fetch_valid), .fetch_ready_i, .fetch_address_o(fetch_address), .data_valid_i, .data_i(data_in),
    .valid_o(valid), .take_i(take), .data_o(data), .wrong_o(wrong)
  );

  // Rows asked for, come and taken; rows of the block that are not asked for; rows that wait for set m.
  logic [M-1:0][3:0] taken_by;
  logic [M-1:0]      later;      // set m has the words of its row
  assign taken_by[0] = taken_q;
  assign later[0]    = 1'b1;
  for (genvar m = 1; m < M; m++) begin : g_later
    logic [3:0] taken_late_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_late
      if (!rst_ni) taken_late_q <= '0;
      else         taken_late_q <= taken_by[m-1];
    end
    assign taken_by[m] = taken_late_q;
    assign later[m]    = !late_q[m-1] || data[m] == taken_by[m];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ledger
    if (!rst_ni) begin
      asked_q <= '0;
      came_q  <= '0;
      taken_q <= '0;
      left_q  <= '0;
      late_q  <= '0;
    end else begin
      if (fetch_valid && fetch_ready_i) asked_q <= asked_q + 1'b1;
      if (come) came_q <= came_q + 1'b1;
      if (take) taken_q <= taken_q + 1'b1;
      if (block_valid_i && block_ready) left_q <= block_rows_i;
      else if (fetch_valid && fetch_ready_i) left_q <= left_q - 1'b1;
      late_q <= M'({late_q, take});
    end
  end
  always_ff @(posedge clk_i) begin : p_run
    run_q <= 1'b1;
  end

  always_comb begin : p_check
    if (!run_q) assume (!rst_ni);
    if (run_q && rst_ni) begin
      a_inside:  assert (4'(asked_q - taken_by[M-1]) <= 4'(Depth - 32'(Broken)));
      a_word:    assert (!valid || (data[0] == taken_q && taken_q != came_q));
      a_later:   assert (later == '1);
      a_address: assert (!fetch_valid || fetch_address == asked_q);
      a_asks:    assert (fetch_valid == (left_q != '0 && 4'(asked_q - taken_by[M-1]) < 4'(Depth)));
    end
  end

endmodule
