// rm_ks_sequencer - which slot enters the chain next: digits in order, and the special residue as soon as it is there.
//
// Rule         A start is possible when the inverse transform takes one (gate_ready_i, N/P cycles apart). First choice: a
//              component of a finished special residue (finished_i), with space for its result; component 0, then 1.
//              Else the next digit, when its rows are promised. The last digit of a key switch waits until both
//              components of the one before have started, because it replaces the finished sums that these still read.
// Consequence  With operands promised early, components of one key switch take their turns between the digits of the
//              next: from 3 limbs on a key switch costs level + 2 slots (README.md).
// Handshake    digit_valid_i promises every row of the next digit: operand, and keys. digit_start_o takes it. room_i promises
//              that a whole component of the result, and its addend, can be passed.
module rm_ks_sequencer (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [rm_ks_pkg::DigitW-1:0] level_i,
  input  logic                      gate_ready_i,
  input  logic                      digit_valid_i,
  input  logic                      room_i,
  input  logic                      finished_i,
  output logic                      start_o,
  output rm_ks_pkg::info_t             info_o,
  output logic                      digit_start_o,
  output logic                      down_start_o,
  output logic                      active_o
);

  logic [rm_ks_pkg::DigitW-1:0] digit_q;
  logic                      open_q, pending_q, comp_q;
  logic                      last, down, digit;

  assign last          = digit_q == level_i - 1'b1;
  assign down          = gate_ready_i && pending_q && room_i;
  assign digit         = gate_ready_i && !down && digit_valid_i && !(last && open_q);
  assign start_o       = down || digit;
  assign digit_start_o = digit;
  assign down_start_o  = down;
  assign active_o      = digit_q != '0 || open_q;

  always_comb begin : p_info
    info_o       = '0;
    info_o.down  = down;
    info_o.comp  = down && comp_q;
    info_o.digit = down ? '0 : digit_q;
    info_o.first = digit && digit_q == '0;
    info_o.last  = digit && last;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      digit_q   <= '0;
      open_q    <= 1'b0;
      pending_q <= 1'b0;
      comp_q    <= 1'b0;
    end else begin
      if (digit) begin
        digit_q <= last ? '0 : digit_q + 1'b1;
      end
      if (digit && last) begin
        open_q <= 1'b1;
      end else if (down && comp_q) begin
        open_q <= 1'b0;
      end
      if (finished_i) begin
        pending_q <= 1'b1;
      end else if (down && comp_q) begin
        pending_q <= 1'b0;
      end
      if (down) begin
        comp_q <= !comp_q;
      end
    end
  end

  always @(posedge clk_i) begin : p_assert
    if (rst_ni) begin
      a_finished_once: assert (!finished_i || (open_q && !pending_q));
      a_pending_open: assert (!pending_q || open_q);
    end
  end

endmodule
