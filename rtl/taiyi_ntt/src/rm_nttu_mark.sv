// rm_nttu_mark - the mark of a first row, and what it carries, any number of cycles later.
//
// Method       Marks of rm_stream_tag, each no longer than a limb, so that no two marks are within one.
module rm_nttu_mark #(
  parameter int unsigned Cycles = 1,
  parameter int unsigned Rows   = 16,   // of a limb: marks are that far apart at least
  parameter int unsigned TagW   = 4
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            first_i,
  input  logic [TagW-1:0] tag_i,
  output logic            first_o,
  output logic [TagW-1:0] tag_o
);

  localparam int unsigned Step  = (Rows > 32) ? Rows : 32;
  localparam int unsigned Steps = (Cycles + Step - 1) / Step;

  logic [Steps:0]           first;
  logic [Steps:0][TagW-1:0] tag;
  assign first[0] = first_i;
  assign tag[0]   = tag_i;
  for (genvar s = 0; s < Steps; s++) begin : g_step
    rm_stream_tag #(
      .Cycles ((s == Steps - 1) ? Cycles - s * Step : Step),
      .ModW   (TagW)
    ) i_tag (
      .clk_i,
      .rst_ni,
      .first_i (first[s]),
      .mod_i   (tag[s]),
      .first_o (first[s+1]),
      .mod_o   (tag[s+1])
    );
  end
  assign first_o = first[Steps];
  assign tag_o   = tag[Steps];

  logic unused_idle;
  assign unused_idle = clk_i ^ rst_ni;

endmodule
