// rm_ntt_twiddle_map - where the twiddles of a row of butterflies stand in the table.
//
// Table        entry 2^s + i holds T_s(i) = psi^((2 brv_s(i) + 1) N / 2^(s+1)), block i of stage s.
// Equation     the row requested in cycle t of stage s belongs to blocks i = (t << u) + g, u =
//              s - log ROWS, g < G = 2^u (type II; G groups a row), or to i = t >> -u (type I). As
//              2^s = ROWS << u, with k = log N - 1 - s = log2 of the distance in words:
//                  entry = (ROWS + t) * Nbf >> k        (forward, g = 0)
//              The inverse takes T_s(2^s - 1 - i): t becomes ROWS - 1 - t, and g becomes G - 1 - g.
//              Ganged, ROWS is that of half a limb and 2^s = 2 ROWS << u; lane l has blocks i + l 2^(s-1), so
//              the first entry is ((2 + l) ROWS + t) * Nbf >> k, 2 + (1 - l) in the inverse. The crossing stage,
//              k = log N - 1, gets entry 1 from the same formula, whatever lane and time.
//              Butterfly j belongs to group g = j mod G (rm_ntt_route).
// Selection    entry = row * Nbf + offset; butterfly j takes word w of the row with bits
//                  w[b] = offset[b]   for b >= u (all butterflies of a group alike)
//                  w[b] = j[b] ^ inverse   below.
// Latency      address registers valid OffTwAddr cycles after the row's request; word selection one
//              cycle later, with the row of the table.
module rm_ntt_twiddle_map #(
  parameter int unsigned LogNMax = 14,
  parameter int unsigned LogNbf  = 2,
  localparam int unsigned RowW   = LogNMax - LogNbf - 1,
  localparam int unsigned AddrW  = LogNMax - LogNbf,
  localparam int unsigned SelW   = (LogNbf > 0) ? LogNbf : 1
) (
  input  logic             clk_i,
  // offset 0
  input  logic [RowW-1:0]  time_i,
  input  logic [RowW-1:0]  mask_i,      // ROWS - 1
  input  logic [3:0]       log_dist_i,  // k
  input  logic             inverse_i,
  input  logic             gang_i,
  input  logic             lane_i,
  // offset OffTwAddr - 1, to be registered
  output logic [AddrW-1:0] addr_o,
  // offset OffTwAddr + 1
  output logic [SelW-1:0]  offset_o,
  output logic [SelW-1:0]  fixed_o,     // bit b of the word comes from offset_o
  output logic             mirror_o     // the other bits are inverted
);

  // ---------------------------------------------------------------- 0 -> 1: ROWS + t or its mirror
  logic [RowW-1:0] place;
  logic [RowW:0]   rows, block_q;
  logic [3:0]      log_dist1_q;
  logic            inverse1_q;

  assign place = (inverse_i ? ~time_i : time_i) & mask_i;
  assign rows  = {1'b0, mask_i} + 1'b1;

  always_ff @(posedge clk_i) begin : p_block
    block_q     <= {1'b0, place} | (gang_i ? rows << 1 : rows) | ((gang_i && (lane_i ^ inverse_i)) ? rows : '0);
    log_dist1_q <= log_dist_i;
    inverse1_q  <= inverse_i;
  end

  // ---------------------------------------------------------------- 1 -> 2: shift
  logic [LogNMax-1:0] first, entry_q;  // first: (ROWS + t) * Nbf
  logic [SelW-1:0]    fixed2_q;
  logic               inverse2_q;

  always_comb begin : p_first
    first                      = '0;
    first[LogNMax-1 -: RowW+1] = block_q;
  end

  always_ff @(posedge clk_i) begin : p_entry
    entry_q    <= first >> log_dist1_q;
    inverse2_q <= inverse1_q;
    for (int unsigned b = 0; b < SelW; b++) begin
      fixed2_q[b] <= 32'(log_dist1_q) + b + 1 > LogNbf;  // k >= log Nbf - b
    end
  end

  assign addr_o = entry_q[LogNMax-1:LogNbf];

  // ---------------------------------------------------------------- 2 -> 4: beside the table
  rm_delay_line #(
    .Width (2 * SelW + 1),
    .Cycles(2)
  ) i_beside (
    .clk_i,
    .data_i({entry_q[SelW-1:0], fixed2_q, inverse2_q}),
    .data_o({offset_o, fixed_o, mirror_o})
  );

endmodule
