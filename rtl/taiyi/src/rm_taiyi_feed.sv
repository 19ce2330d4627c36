// rm_taiyi_feed - counts the rows of an instruction, and the terms of each row, one term a cycle.
//
// Timing       fire_i in one cycle, term 0 of row 0 in the next, terms_i a row. The next fire_i may come with the last term.
// wrong_o      fire_i before the last term, or no terms.
module rm_taiyi_feed
  import rm_taiyi_pkg::*;
#(
  parameter int unsigned T = 6,           // log2 of the rows of a limb
  localparam int unsigned TermW = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             fire_i,
  input  issue_t           issue_i,
  input  logic [TermW-1:0] terms_i,
  output logic             active_o,
  output logic             first_o,       // term 0 of row 0
  output logic             last_term_o,
  output logic [T-1:0]     row_o,
  output logic [TermW-1:0] term_o,
  output issue_t           issue_o,
  output logic             wrong_o
);

  logic             active_q, end_of_row, last;
  logic [T-1:0]     row_q;
  logic [TermW-1:0] term_q, terms_q;
  issue_t           issue_q;

  assign active_o    = active_q;
  assign row_o       = row_q;
  assign term_o      = term_q;
  assign issue_o     = issue_q;
  assign end_of_row  = term_q == terms_q - 1'b1;
  assign last        = end_of_row && row_q == '1;
  assign last_term_o = active_q && end_of_row;
  assign first_o     = active_q && row_q == '0 && term_q == '0;
  assign wrong_o     = fire_i && ((active_q && !last) || terms_i == '0);

  always_ff @(posedge clk_i) begin : p_words
    if (fire_i) begin
      issue_q <= issue_i;
      terms_q <= terms_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_count
    if (!rst_ni) begin
      active_q <= 1'b0;
      row_q    <= '0;
      term_q   <= '0;
    end else if (fire_i) begin
      active_q <= 1'b1;
      row_q    <= '0;
      term_q   <= '0;
    end else if (active_q) begin
      term_q <= end_of_row ? '0 : term_q + 1'b1;
      if (end_of_row) begin
        row_q    <= row_q + 1'b1;
        active_q <= !last;
      end
    end
  end

endmodule
