// rm_stream_twiddle: every row of twiddle factors is there when its stage takes it, for any gaps between polynomials of 8 rows.
//
// Case 0: the feedback kind's stages on time bits. 1, 2: feed-forward, P = 4: the stage on bit 0 or 1 of an inverse transform,
// which has a multiplier of its own and uses it in every cycle. 3: P = 2, the shared multiplier of a forward one. Times of
// arrival are those of the contract; what is multiplied plays no part. With BROKEN everything comes six cycles too early.
module fv_stream_twiddle #(
  parameter int unsigned Case = 0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i
);

  localparam int unsigned Kind    = rm_modmul_pkg::KindP2;
  localparam int unsigned W       = 6;
  localparam int unsigned M       = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned LogRows = 3;
  localparam int unsigned Column  = rm_stream_pkg::column_latency(Kind, W);
`ifdef BROKEN
  localparam int unsigned Early = 6;
`else
  localparam int unsigned Early = 0;
`endif
  localparam int unsigned Lead   = rm_stream_pkg::lead(Kind, W) - Early;
  localparam int unsigned Stages = (Case == 0 || Case == 3) ? 2 : 1;
  localparam int unsigned Hold0  = (Case == 0 || Case == 3) ? 1 : Case - 1;
  localparam int unsigned Lanes  = (Case == 2) ? 2 : 1;
  localparam int unsigned Longest = 64;

  logic [Longest-1:0] ago_q;   // starts n cycles ago, bit n
  logic [Longest:0]   ago;
  logic [Stages-1:0]  load;
  logic               run_q, fault_o;
  logic [2:0]         since_q;
  logic [Stages-1:0][Lanes-1:0][W-1:0] unused_rows;
  initial run_q = 1'b0;
  assign ago = {ago_q, start_i};

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ago
    if (!rst_ni) begin
      ago_q   <= '0;
      since_q <= '0;
    end else begin
      ago_q   <= ago[Longest-1:0];
      since_q <= start_i ? 3'd7 : since_q - 3'(since_q != '0);
    end
  end
  always_ff @(posedge clk_i) begin : p_run
    run_q <= 1'b1;
  end

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    localparam int unsigned Hold = Hold0 + s;
    // Feedback: stages on bits 2 (no row of it is made) ... Hold before this one, each 2^t + M + 2; then half of 2^Hold.
    localparam int unsigned Loops = 8 - (1 << Hold) + (LogRows - Hold) * (M + 2) + (1 << (Hold - 1));
    // Inverse: stages on bits below, each a column and 2^t. Forward: a column, then exchanges from bit 2 on.
    localparam int unsigned Below = Hold * Column + (1 << Hold) - 1 + 1;
    localparam int unsigned Above = Column + 8 - (1 << Hold) + (2 - Hold) * Column + 1;
    localparam int unsigned Lag   = Lead + ((Case == 0) ? Loops : (Case == 3) ? Above : Below);
    logic [(8>>Hold)-1:0] at;
    for (genvar k = 0; k < (8 >> Hold); k++) begin : g_row
      assign at[k] = ago[Lag + (k << Hold)];
    end
    assign load[s] = at != '0;
  end

  rm_stream_twiddle #(
    .W      (W),
    .Kind   (Kind),
    .Tile   (rm_modmul_pkg::TileLut),
    .Mods   (2),
    .TimeW  (LogRows),
    .Stages (Stages),
    .Hold0  (Hold0),
    .Mult   (1),
    .Lanes  (Lanes),
    .Polys  (9)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .log_rows_i   (5'(LogRows)),
    .cfg_we_i     (1'b0),
    .cfg_aux_i    (1'b0),
    .cfg_mod_i    (1'b0),
    .cfg_data_i   ('0),
    .seed_start_i (1'b0),
    .seed_table_i (1'b0),
    .seed_mod_i   (1'b0),
    .seed_stage_i ('0),
    .seed_index_i ('0),
    .seed_data_i  ('0),
    .start_i,
    .start_mod_i  (1'b0),
    .load_i       (load),
    .rows_o       (unused_rows),
    .fault_o
  );

  always_comb begin : p_check
    if (!run_q) assume (!rst_ni && !start_i);
    if (run_q) assume (rst_ni);
    assume (!(start_i && since_q != '0));
    if (run_q && rst_ni) begin
      a_in_time: assert (!fault_o);
    end
  end

endmodule
