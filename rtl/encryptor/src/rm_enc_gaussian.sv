// rm_enc_gaussian - samples of one Gaussian polynomial of 2^LogSets objects, written eight at a time, read a row a cycle.
//
// Writes       Samples 8 a ... 8 a + 7 of set wset_i, those whose bit of we_i is set.
// Reads        re_i with a row's number: sample l * N/P + t of lane l stands at sample_o in the next cycle.
// Memory       A column for each place among the eight, so that one sample can be written alone; a bank for each lane.
module rm_enc_gaussian #(
  parameter int unsigned LogP     = 1,
  parameter int unsigned LogNMax  = 14,
  parameter int unsigned LogSets  = 1,
  localparam int unsigned P       = 1 << LogP,
  localparam int unsigned LogRows = LogNMax - LogP,
  localparam int unsigned GroupW  = LogNMax - 3,
  localparam int unsigned SampleW = rm_sampler_pkg::SampleW,
  localparam int unsigned Lanes   = rm_sampler_pkg::Lanes
) (
  input  logic                          clk_i,
  input  logic [4:0]                    log_n_i,
  input  logic [Lanes-1:0]              we_i,
  input  logic [LogSets-1:0]            wset_i,
  input  logic [GroupW-1:0]             waddr_i,
  input  logic [Lanes-1:0][SampleW-1:0] wdata_i,
  input  logic                          re_i,
  input  logic [LogSets-1:0]            rset_i,
  input  logic [LogRows-1:0]            time_i,
  output logic [P-1:0][SampleW-1:0]     sample_o
);

  localparam int unsigned BankW = LogRows - 3;

  logic [4:0]       log_bank;
  logic [LogP-1:0]  lane;
  logic [BankW-1:0] waddr;
  logic [2:0]       column_q;
  assign log_bank = log_n_i - 5'(LogP) - 5'd3;
  assign lane     = LogP'(waddr_i >> log_bank);
  assign waddr    = BankW'(waddr_i & (GroupW'(1 << log_bank) - 1'b1));

  always_ff @(posedge clk_i) begin : p_column
    column_q <= time_i[2:0];
  end

  for (genvar l = 0; l < P; l++) begin : g_lane
    logic [Lanes-1:0][SampleW-1:0] group;
    for (genvar c = 0; c < Lanes; c++) begin : g_column
      rm_bank_ram #(.Width(SampleW), .Depth(1 << (LogSets + BankW))) i_bank (
        .clk_i, .re_i, .raddr_i({rset_i, time_i[LogRows-1:3]}), .rdata_o(group[c]),
        .we_i(we_i[c] && lane == LogP'(l)), .waddr_i({wset_i, waddr}), .wdata_i(wdata_i[c])
      );
    end
    assign sample_o[l] = group[column_q];
  end

endmodule
