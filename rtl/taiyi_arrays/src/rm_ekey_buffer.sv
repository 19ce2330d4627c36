// rm_ekey_buffer - rows of keys (or plaintexts) fetched ahead of the inner products that take them, in the order of use.
//
// A block is `block_rows_i` rows from row address `block_address_i` on; blocks are fetched one after the other. A row has
// M words sets: set m goes to accumulator m of each processing element, which takes it m cycles after accumulator 0.
// Credits      A row is asked for when space for it is free and promised to no other row. So fetched rows never wait outside:
//              fetch_* has a row's address, data_valid_i brings it any number of cycles later, in order, and cannot be refused.
// Late keys    valid_o stays low, and nothing else happens: what was asked for is still owed.
// Timing       a row that comes in cycle t can be taken in t + 2. take_i takes set 0 in its cycle t, set m is data_o[m] in cycle t + m.
//              One row a cycle. Depth rows, a power of two; hides Depth cycles of latency at full rate.
// wrong_o      [0] a row came that was not asked for, and was dropped; [1] a block without rows. Until reset.
// Source       Taiyi, section V (E-Key buffer); docs/papers/taiyi-machine.md.
module rm_ekey_buffer #(
  parameter int unsigned Width    = 72,   // of a set
  parameter int unsigned M        = 2,
  parameter int unsigned Depth    = 8,
  parameter int unsigned AddressW = 24
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // what to fetch
  input  logic                      block_valid_i,
  output logic                      block_ready_o,
  input  logic [AddressW-1:0]       block_address_i,
  input  logic [AddressW-1:0]       block_rows_i,
  // from off chip
  output logic                      fetch_valid_o,
  input  logic                      fetch_ready_i,
  output logic [AddressW-1:0]       fetch_address_o,
  input  logic                      data_valid_i,
  input  logic [M-1:0][Width-1:0]   data_i,
  // to the array
  output logic                      valid_o,
  input  logic                      take_i,
  output logic [M-1:0][Width-1:0]   data_o,
  output logic [1:0]                wrong_o
);

  localparam int unsigned SpaceW = $clog2(Depth + 1);

  // ---------------------------------------------------------------- addresses
  logic [AddressW-1:0] address_q, rows_q;
  logic [SpaceW-1:0]   space_q, owed_q;   // rows that may be asked for; rows on their way
  logic                fetch, come, gone, empty;
  logic [1:0]          wrong_q;

  assign empty           = block_rows_i == '0;
  assign block_ready_o   = rows_q == '0 || (fetch && rows_q == AddressW'(1));
  assign fetch_valid_o   = rows_q != '0 && space_q != '0;
  assign fetch_address_o = address_q;
  assign fetch           = fetch_valid_o && fetch_ready_i;
  assign come            = data_valid_i && owed_q != '0;
  assign wrong_o         = wrong_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      rows_q  <= '0;
      space_q <= SpaceW'(Depth);
      owed_q  <= '0;
      wrong_q <= '0;
    end else begin
      if (block_valid_i && block_ready_o) begin
        rows_q <= block_rows_i;
      end else if (fetch) begin
        rows_q <= rows_q - 1'b1;
      end
      space_q <= space_q - SpaceW'(fetch) + SpaceW'(gone);
      owed_q  <= owed_q + SpaceW'(fetch) - SpaceW'(come);
      wrong_q <= wrong_q | {block_valid_i && block_ready_o && empty, data_valid_i && owed_q == '0};
    end
  end
  always_ff @(posedge clk_i) begin : p_address
    if (block_valid_i && block_ready_o) begin
      address_q <= block_address_i;
    end else if (fetch) begin
      address_q <= address_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- a memory a set, read one cycle after the other
  logic [M-1:0] take, ready, valid;
  assign take[0] = take_i;
  assign valid_o = valid[0];
  assign gone    = take[M-1];
  for (genvar m = 0; m < M; m++) begin : g_set
    if (m > 0) begin : g_later
      logic take_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin : p_take
        if (!rst_ni) begin
          take_q <= 1'b0;
        end else begin
          take_q <= take[m-1];
        end
      end
      assign take[m] = take_q;
    end
    rm_mem_row_fifo #(.Width(Width), .Depth(Depth)) i_rows (
      .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(come), .ready_o(ready[m]), .data_i(data_i[m]),
      .valid_o(valid[m]), .ready_i(take[m]), .data_o(data_o[m])
    );
  end

`ifndef SYNTHESIS
  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_space: assert (!come || (&ready));
      a_there: assert ((take & ~valid) == '0);
    end
  end
`else
  logic unused;
  assign unused = ^{ready, valid};
`endif

endmodule
