// rm_mem_read_arbiter - instruction fetch and read stream share one AXI read channel.
//
// Contract     AR is held in a register, so it never changes while it waits. Fetch goes first: it
//              asks for little (its credit bounds it), and the core stands still without it.
//              ARID names the owner (0 fetch, 1 stream); RID takes each beat back to it.
// Cycles       a burst granted in cycle t appears as ARVALID in t + 1; one a cycle while ARREADY.
module rm_mem_read_arbiter
  import rm_mem_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              fetch_valid_i,
  output logic              fetch_ready_o,
  input  burst_t            fetch_i,
  input  logic              stream_valid_i,
  output logic              stream_ready_o,
  input  burst_t            stream_i,
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output axi_addr_t         ar_o
);

  logic      valid_q, open;
  axi_addr_t ar_q;

  assign open           = !valid_q || ar_ready_i;
  assign fetch_ready_o  = open;
  assign stream_ready_o = open && !fetch_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_ar
    if (!rst_ni) begin
      valid_q <= 1'b0;
      ar_q    <= '0;
    end else if (open) begin
      valid_q   <= fetch_valid_i || stream_valid_i;
      ar_q.id   <= !fetch_valid_i;
      ar_q.addr <= fetch_valid_i ? fetch_i.addr : stream_i.addr;
      ar_q.len  <= LenW'((fetch_valid_i ? fetch_i.beats : stream_i.beats) - 1'b1);
    end
  end

  assign ar_valid_o = valid_q;
  assign ar_o       = ar_q;

  logic unused;
  assign unused = ^{fetch_i.last, stream_i.last};

`ifndef SYNTHESIS
  rm_handshake_check #(.Width($bits(axi_addr_t))) i_check_ar (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(valid_q), .ready_i(ar_ready_i), .data_i(ar_q)
  );
`endif

endmodule
