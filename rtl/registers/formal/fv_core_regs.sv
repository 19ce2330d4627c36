// fv_core_regs - AXI4-Lite as the host sees it. Answers are stable until they are taken, there are as many as
//                accesses, and none comes before its access is complete. Each comes within Wait cycles if the host
//                takes answers. Start, soft reset and a word of the modulus table come while a write is under way,
//                never from a read.
//
// Method       bounded. The host does what it likes: both halves of a write in any order, reads between them, answers
//              taken at any time, or (Prompt) always. The core's status is anything in every cycle. BROKEN expects every
//              answer a cycle too early and must give a counterexample.
module fv_core_regs
  import rm_core_pkg::*;
#(
  parameter bit Prompt = 1'b0  // the host takes every answer at once
) (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          aw_valid_i,
  input logic [13:0]   aw_addr_i,
  input logic          w_valid_i,
  input logic [31:0]   w_data_i,
  input logic [3:0]    w_strb_i,
  input logic          b_ready_i,
  input logic          ar_valid_i,
  input logic [13:0]   ar_addr_i,
  input logic          r_ready_i,
  input core_status_t  status_i,
  input rm_mem_pkg::err_t bus_err_i
);

  localparam int unsigned CntW = 4;
`ifdef BROKEN
  localparam int unsigned Wait = 2;
`else
  localparam int unsigned Wait = 5;  // its own turn after a read, or a write, that came with it
`endif

  logic         aw_ready, w_ready, b_valid, ar_ready, r_valid, mod_we, irq, started_q, b_ready, r_ready;
  logic [1:0]   b_resp, r_resp;
  logic [31:0]  r_data;
  logic [4:0]   mod_index, mod_field;
  logic [63:0]  mod_data;
  core_ctrl_t   ctrl;
  axil_req_t    host;
  axil_rsp_t    answer;

  assign b_ready = Prompt || b_ready_i;
  assign r_ready = Prompt || r_ready_i;
  assign host    = '{aw_valid: aw_valid_i, aw_addr: aw_addr_i, aw_prot: '0, w_valid: w_valid_i, w_data: w_data_i,
                     w_strb: w_strb_i, b_ready: b_ready, ar_valid: ar_valid_i, ar_addr: ar_addr_i, ar_prot: '0,
                     r_ready: r_ready};

  assign {aw_ready, w_ready, ar_ready} = {answer.aw_ready, answer.w_ready, answer.ar_ready};
  assign {b_valid, b_resp}             = {answer.b_valid, answer.b_resp};
  assign {r_valid, r_data, r_resp}     = {answer.r_valid, answer.r_data, answer.r_resp};

  rm_core_regs i_dut (
    .clk_i,
    .rst_ni,
    .host_i          (host),
    .host_o          (answer),
    .ctrl_o          (ctrl),
    .status_i,
    .bus_err_i,
    .mod_we_o        (mod_we),
    .mod_index_o     (mod_index),
    .mod_field_o     (mod_field),
    .mod_data_o      (mod_data),
    .irq_o           (irq)
  );

  // ---------------------------------------------------------------- handshakes
  rm_handshake_check #(.Width(14), .AsAssumption(1'b1)) i_aw (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(aw_valid_i), .ready_i(aw_ready), .data_i(aw_addr_i)
  );
  rm_handshake_check #(.Width(36), .AsAssumption(1'b1)) i_w (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(w_valid_i), .ready_i(w_ready), .data_i({w_strb_i, w_data_i})
  );
  rm_handshake_check #(.Width(14), .AsAssumption(1'b1)) i_ar (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(ar_valid_i), .ready_i(ar_ready), .data_i(ar_addr_i)
  );
  rm_handshake_check #(.Width(2)) i_b (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(b_valid), .ready_i(b_ready), .data_i(b_resp)
  );
  rm_handshake_check #(.Width(34)) i_r (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(r_valid), .ready_i(r_ready), .data_i({r_resp, r_data})
  );

  // ---------------------------------------------------------------- accesses that wait for their answer
  logic [CntW-1:0] addresses_q, words_q, reads_q, write_age_q, read_age_q;
  logic            write_due, effect;

  assign write_due = addresses_q != '0 && words_q != '0;
  assign effect    = ctrl.start || ctrl.soft_reset || mod_we;

  initial started_q = 1'b0;

  always_ff @(posedge clk_i) begin : p_count
    started_q <= 1'b1;
    if (!rst_ni) begin
      addresses_q <= '0;
      words_q     <= '0;
      reads_q     <= '0;
      write_age_q <= '0;
      read_age_q  <= '0;
    end else begin
      addresses_q <= addresses_q + CntW'(aw_valid_i && aw_ready) - CntW'(b_valid && b_ready);
      words_q     <= words_q + CntW'(w_valid_i && w_ready) - CntW'(b_valid && b_ready);
      reads_q     <= reads_q + CntW'(ar_valid_i && ar_ready) - CntW'(r_valid && r_ready);
      write_age_q <= (!write_due || b_valid) ? '0 : write_age_q + 1'b1;
      read_age_q  <= (reads_q == '0 || r_valid) ? '0 : read_age_q + 1'b1;
    end
  end

  always_comb begin : p_check
    if (!started_q) begin
      assume (!rst_ni);
    end else begin
      assume (rst_ni);
      a_answer_to_write: assert (!b_valid || write_due);
      a_answer_to_read: assert (!r_valid || reads_q != '0);
      a_one_at_a_time: assert (!(b_valid && r_valid));
      a_codes: assert ((!b_valid || b_resp == 2'b00 || b_resp == 2'b10) && (!r_valid || r_resp == 2'b00 || r_resp == 2'b10));
      a_effect: assert (!effect || write_due);
      a_table: assert (!mod_we || mod_field <= 5'd16);
      if (Prompt) begin
        a_write_ends: assert (32'(write_age_q) < Wait);
        a_read_ends: assert (32'(read_age_q) < Wait);
      end
    end
  end

endmodule
