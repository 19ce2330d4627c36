// rm_ntt_twiddle_table - memory of one twiddle table: rows of Nbf words, written in groups of Lanes words.
//
// Latency      addr_i is a register of the user; the row is there in the next cycle.
// Writes       any words of one group, chosen by we_i; in the cycle after, a read sees them. A read in the same cycle
//              means nothing.
// Structure    one memory a word, so that FPGAs need no byte enables of odd widths; the words share
//              both addresses.
module rm_ntt_twiddle_table #(
  parameter int unsigned W     = 54,
  parameter int unsigned Nbf   = 4,
  parameter int unsigned Lanes = 1,
  parameter int unsigned AddrW = 12,
  localparam int unsigned Groups = Nbf / Lanes,
  localparam int unsigned GroupW = (Groups > 1) ? $clog2(Groups) : 1
) (
  input  logic                    clk_i,
  input  logic [AddrW-1:0]        addr_i,
  output logic [Nbf-1:0][W-1:0]   row_o,
  input  logic [Lanes-1:0]        we_i,
  input  logic [AddrW-1:0]        waddr_i,
  input  logic [GroupW-1:0]       wgroup_i,
  input  logic [Lanes-1:0][W-1:0] wdata_i
);

  for (genvar j = 0; j < Nbf; j++) begin : g_word
    (* no_rw_check *) logic [W-1:0] mem [1 << AddrW];
    logic [W-1:0] word_q;
    logic         we;

    assign we = we_i[j % Lanes] && (32'(wgroup_i) == j / Lanes || Groups == 1);

    always_ff @(posedge clk_i) begin : p_memory
      word_q <= mem[addr_i];
      if (we) begin
        mem[waddr_i] <= wdata_i[j % Lanes];
      end
    end

    assign row_o[j] = word_q;
  end

  if (Groups == 1) begin : g_unused
    logic unused;
    assign unused = ^wgroup_i;
  end

endmodule
