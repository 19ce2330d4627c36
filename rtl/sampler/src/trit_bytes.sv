// trit_bytes - uniform ternary coefficients, kept as bytes of five digits.
//
// Equation     Of the bytes of the words that are taken, those below 3^5 = 243, in their order, until there are ceil(N / 5): digit i mod
//              5 to base 3 of byte floor(i / 5), less one, is coefficient i.
// Draws        As the engine does: as many bytes as are missing, at most 4096, then again as many as are missing; what is left of
//              the last word of each such draw is not used.
// Rate         A word a cycle while word_valid_i. Four bytes are written at a time, little-endian; the last write may have fewer.
// Timing       Depends on which bytes are refused, so on nothing about those that are kept.
module trit_bytes #(
  parameter int unsigned LogNMax = 14,
  localparam int unsigned Bytes  = sampler_pkg::trit_bytes(LogNMax),
  localparam int unsigned CountW = $clog2(Bytes + 1),
  localparam int unsigned AddrW  = $clog2((Bytes + 3) / 4)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic [4:0]       log_n_i,
  input  logic             start_i,
  output logic             busy_o,
  input  logic             word_valid_i,
  output logic             word_take_o,
  input  logic [31:0]      word_i,
  output logic             we_o,
  output logic [AddrW-1:0] addr_o,
  output logic [31:0]      data_o
);

  import sampler_pkg::*;

  localparam int unsigned BatchW = $clog2(TritBatch + 1);

  logic [CountW-1:0] wanted, missing_d, missing_q, missing_after;
  logic [BatchW-1:0] left_d, left_q, left_after, wanted_batch, next_batch;
  logic [2:0]        kept, pending_d, pending_q, total;
  logic [3:0]        keep;
  logic [2:0][7:0]   pending_byte_d, pending_byte_q;
  logic [AddrW-1:0]  addr_d, addr_q;

  // ceil(N / 5) of every size: constants.
  always_comb begin : p_wanted
    wanted = '0;
    for (int unsigned n = 1; n <= LogNMax; n++) begin
      if (log_n_i == 5'(n)) begin
        wanted = CountW'(((32'd1 << n) + 32'd4) / 32'd5);
      end
    end
  end

  // The first draw, and the next one.
  assign wanted_batch = (32'(wanted) > TritBatch) ? BatchW'(TritBatch) : BatchW'(wanted);
  assign next_batch   = (32'(missing_after) > TritBatch) ? BatchW'(TritBatch) : BatchW'(missing_after);

  assign word_take_o = left_q != '0 && word_valid_i;
  assign busy_o      = left_q != '0 || pending_q != '0;

  for (genvar b = 0; b < 4; b++) begin : g_keep
    assign keep[b] = word_take_o && left_q > BatchW'(b) && word_i[8*b+:8] < TritBytes;
  end
  assign kept          = 3'(keep[0]) + 3'(keep[1]) + 3'(keep[2]) + 3'(keep[3]);
  assign total         = pending_q + kept;
  assign missing_after = missing_q - CountW'(kept);
  assign left_after    = (left_q > BatchW'(4)) ? left_q - BatchW'(4) : '0;

  // Those that wait, then those that are kept now: seven at most.
  logic [6:0][7:0] queue;
  always_comb begin : p_queue
    automatic logic [2:0] place;
    queue = {32'd0, pending_byte_q};
    place = pending_q;
    for (int unsigned b = 0; b < 4; b++) begin
      if (keep[b]) begin
        queue[place] = word_i[8*b+:8];
        place        = place + 3'd1;
      end
    end
  end

  always_comb begin : p_next
    missing_d      = missing_q;
    left_d         = left_q;
    pending_d      = total;
    pending_byte_d = queue[2:0];
    addr_d         = addr_q;
    we_o           = 1'b0;
    if (word_take_o) begin
      missing_d = missing_after;
      left_d    = (left_after != '0) ? left_after : next_batch;
    end
    if (total >= 3'd4 || (left_q == '0 && pending_q != '0)) begin
      we_o           = 1'b1;
      addr_d         = addr_q + 1'b1;
      pending_d      = (total >= 3'd4) ? total - 3'd4 : '0;
      pending_byte_d = queue[6:4];
    end
    if (start_i) begin
      missing_d = wanted;
      left_d    = wanted_batch;
      addr_d    = '0;
    end
    if (clear_i) begin
      missing_d      = '0;
      left_d         = '0;
      pending_d      = '0;
      pending_byte_d = '0;
    end
  end
  assign addr_o = addr_q;
  assign data_o = queue[3:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      missing_q      <= '0;
      left_q         <= '0;
      pending_q      <= '0;
      pending_byte_q <= '0;
      addr_q         <= '0;
    end else begin
      missing_q      <= missing_d;
      left_q         <= left_d;
      pending_q      <= pending_d;
      pending_byte_q <= pending_byte_d;
      addr_q         <= addr_d;
    end
  end

endmodule
