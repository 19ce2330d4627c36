// enc_secret - the secret key on chip: written through a port of its own, read by the transforms alone.
//
// Content      N ternary coefficients, sixteen a word of 32 bits in their order: coefficient 16 a + i is bits 2 i + 1 and 2 i of word a, 00
//              for 0, 01 for 1, 11 for -1.
// Writes       begin_i forgets the key; then N / 16 words with we_i. ready_o is high when all are there, each of proper codes.
//              Another N forgets it too, and so does the reset.
// Reads        re_i with a row's number; the digits of its lanes stand at digit_o in the next cycle, where use_i was high with re_i.
//              Without use_i they are 0: what is stored reaches nothing else.
module enc_secret #(
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogNMax = 14,
  localparam int unsigned P       = 1 << LogP,
  localparam int unsigned LogRows = LogNMax - LogP
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4:0]         log_n_i,
  input  logic               begin_i,
  input  logic               we_i,
  input  logic [31:0]        data_i,
  output logic               ready_o,
  input  logic               re_i,
  input  logic               use_i,
  input  logic [LogRows-1:0] time_i,
  output logic [P-1:0][1:0]  digit_o
);

  localparam int unsigned WordW = LogNMax - 4;
  localparam int unsigned BankW = LogRows - 4;

  if (LogRows < 5) begin : g_check
    $error("enc_secret: N / P >= 32");
  end

  logic [WordW:0]        count_d, count_q, words;
  logic                  bad_d, bad_q, wrong, write;
  logic [4:0]            log_n_q, log_bank;
  logic [LogP-1:0]       lane;
  logic [3:0]            place_q;
  logic                  use_q;
  logic [P-1:0][31:0]    word;

  assign words    = (WordW + 1)'((32'd1 << log_n_i) >> 4);
  assign log_bank = log_n_i - 5'(LogP) - 5'd4;
  assign lane     = LogP'(count_q >> log_bank);
  assign write    = we_i && count_q < words;
  assign ready_o  = count_q == words && !bad_q && log_n_q == log_n_i && words != '0;

  always_comb begin : p_wrong
    wrong = 1'b0;
    for (int unsigned i = 0; i < 16; i++) begin
      if (data_i[2*i+:2] == 2'b10) begin
        wrong = 1'b1;
      end
    end
  end

  always_comb begin : p_next
    count_d = count_q;
    bad_d   = bad_q;
    if (write) begin
      count_d = count_q + 1'b1;
      bad_d   = bad_q || wrong;
    end
    if (begin_i || log_n_q != log_n_i) begin
      count_d = '0;
      bad_d   = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      count_q <= '0;
      bad_q   <= 1'b0;
      log_n_q <= '0;
    end else begin
      count_q <= count_d;
      bad_q   <= bad_d;
      log_n_q <= log_n_i;
    end
  end

  for (genvar l = 0; l < P; l++) begin : g_lane
    bank_ram #(.Width(32), .Depth(1 << BankW)) i_bank (
      .clk_i, .re_i(re_i && use_i), .raddr_i(time_i[LogRows-1:4]), .rdata_o(word[l]),
      .we_i(write && lane == LogP'(l)), .waddr_i(BankW'(count_q & ((WordW + 1)'(1 << log_bank) - 1'b1))),
      .wdata_i(data_i)
    );
    assign digit_o[l] = use_q ? word[l][{place_q, 1'b0}+:2] : 2'b00;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_use
    if (!rst_ni) begin
      use_q <= 1'b0;
    end else begin
      use_q <= re_i && use_i;
    end
  end
  always_ff @(posedge clk_i) begin : p_place
    place_q <= time_i[3:0];
  end

endmodule
