// rm_enc_trits - ternary coefficients of 2^LogSets objects, kept as bytes of five digits, and read a row a cycle.
//
// Writes       Four bytes at an address of set wset_i (rm_trit_bytes).
// Reads        first_i begins with row 0 of set rset_i, next_i goes on to the row after: the digits of the lanes, coefficient
//              l * N/P + t of lane l in row t, stand at digit_o in the next cycle: 00 for 0, 01 for 1, 11 for -1.
//              A lane has its own copy of the memory.
module rm_enc_trits #(
  parameter int unsigned LogP     = 1,
  parameter int unsigned LogNMax  = 14,
  parameter int unsigned LogSets  = 1,
  localparam int unsigned P       = 1 << LogP,
  localparam int unsigned Bytes   = rm_sampler_pkg::trit_bytes(LogNMax),
  localparam int unsigned ByteW   = $clog2(Bytes + 4),
  localparam int unsigned AddrW   = $clog2((Bytes + 3) / 4)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_n_i,
  input  logic               we_i,
  input  logic [LogSets-1:0] wset_i,
  input  logic [AddrW-1:0]   waddr_i,
  input  logic [31:0]        wdata_i,
  input  logic               first_i,
  input  logic               next_i,
  input  logic [LogSets-1:0] rset_i,
  output logic [P-1:0][1:0]  digit_o
);

  for (genvar l = 0; l < P; l++) begin : g_lane
    // Byte and digit of the row that is asked for.
    logic [ByteW-1:0] start_byte, byte_now, byte_q;
    logic [2:0]       start_digit, digit_now, digit_q, digit_late_q;
    logic [1:0]       place_q, code;
    logic [31:0]      word;
    logic [7:0]       five;
    logic [4:0][1:0]  digits;

    // Coefficient l N / P of every size: constants.
    always_comb begin : p_start
      start_byte  = '0;
      start_digit = '0;
      for (int unsigned n = LogP; n <= LogNMax; n++) begin
        if (log_n_i == 5'(n)) begin
          start_byte  = ByteW'((32'(l) << (n - LogP)) / 32'd5);
          start_digit = 3'((32'(l) << (n - LogP)) % 32'd5);
        end
      end
    end
    assign byte_now  = first_i ? start_byte : byte_q;
    assign digit_now = first_i ? start_digit : digit_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_row
      if (!rst_ni) begin
        byte_q  <= '0;
        digit_q <= '0;
      end else if (first_i || next_i) begin
        byte_q  <= byte_now + ByteW'(digit_now == 3'd4);
        digit_q <= (digit_now == 3'd4) ? '0 : digit_now + 1'b1;
      end
    end

    rm_bank_ram #(.Width(32), .Depth(1 << (LogSets + AddrW))) i_memory (
      .clk_i, .re_i(first_i || next_i), .raddr_i({rset_i, byte_now[AddrW+1:2]}), .rdata_o(word), .we_i,
      .waddr_i({wset_i, waddr_i}), .wdata_i
    );
    always_ff @(posedge clk_i) begin : p_place
      place_q      <= byte_now[1:0];
      digit_late_q <= digit_now;
    end
    assign five = word[{place_q, 3'b000}+:8];
    // The digits of a byte to base 3, less one each; a table of its eight bits.
    always_comb begin : p_digits
      automatic logic [7:0] rest;
      rest = five;
      for (int unsigned i = 0; i < 5; i++) begin
        case (rest % 8'd3)
          8'd0:    digits[i] = 2'b11;
          8'd1:    digits[i] = 2'b00;
          default: digits[i] = 2'b01;
        endcase
        rest = rest / 8'd3;
      end
    end
    always_comb begin : p_code
      code = '0;
      for (int unsigned i = 0; i < 5; i++) begin
        if (digit_late_q == 3'(i)) begin
          code = digits[i];
        end
      end
    end
    assign digit_o[l] = code;
  end

endmodule
