// rm_seal_sampler - u, e0 and e1 of an encryption by SEAL from its seed: BLAKE2Xb and what draws from it.
//
// Equation     Those of SEAL 4's Encryptor, whose generator of the default kind has this seed: rm_seal_draw.
// Rate         `Rounds` rounds of BLAKE2b are built: 12 give 64 blocks of 64 bytes in 65 cycles. N = 2^14: 7,540 cycles, about.
// Seed         Taken with start_i, while not busy_o; eight words of 64 bits, low halves first. It is wiped, with all that follows from
//              it, when the last sample is drawn, and by the reset.
module rm_seal_sampler #(
  parameter int unsigned Rounds     = 12,
  parameter int unsigned LogNMax    = 14,
  localparam int unsigned Bytes     = rm_sampler_pkg::trit_bytes(LogNMax),
  localparam int unsigned TritAddrW = $clog2((Bytes + 3) / 4),
  localparam int unsigned GroupW    = LogNMax - 3
) (
  input  logic                                                    clk_i,
  input  logic                                                    rst_ni,
  input  logic [4:0]                                              log_n_i,
  input  logic                                                    start_i,
  input  logic [15:0][31:0]                                       seed_i,
  output logic                                                    busy_o,
  output logic                                                    trit_we_o,
  output logic [TritAddrW-1:0]                                    trit_addr_o,
  output logic [31:0]                                             trit_data_o,
  output logic [rm_sampler_pkg::Lanes-1:0]                           gauss_we_o,
  output logic                                                    gauss_poly_o,
  output logic [GroupW-1:0]                                       gauss_addr_o,
  output logic [rm_sampler_pkg::Lanes-1:0][rm_sampler_pkg::SampleW-1:0] gauss_data_o
);

  logic              start, draws, draws_q, wipe, block_valid, block_ready;
  logic [15:0][31:0] block;

  assign start  = start_i && !busy_o;
  assign busy_o = draws || draws_q;
  assign wipe   = draws_q && !draws;   // the cycle after the last sample

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_draws
    if (!rst_ni) begin
      draws_q <= 1'b0;
    end else begin
      draws_q <= draws;
    end
  end

  rm_blake2xb_core #(.Rounds(Rounds)) i_core (
    .clk_i, .rst_ni, .load_i(start), .wipe_i(wipe), .key_i(seed_i), .block_valid_o(block_valid),
    .block_ready_i(block_ready), .block_o(block)
  );
  rm_seal_draw #(.LogNMax(LogNMax)) i_draw (
    .clk_i, .rst_ni, .clear_i(wipe), .log_n_i, .start_i(start), .busy_o(draws), .block_valid_i(block_valid),
    .block_ready_o(block_ready), .block_i(block), .trit_we_o, .trit_addr_o, .trit_data_o, .gauss_we_o, .gauss_poly_o,
    .gauss_addr_o, .gauss_data_o
  );

endmodule
