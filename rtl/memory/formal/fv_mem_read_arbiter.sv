// fv_mem_read_arbiter - every burst that is granted appears on AR once, unchanged, with its owner's number, and stays
//                       until it is taken. There are never two grants in a cycle. Fetch goes first, and no request
//                       waits without a reason.
//
// Induction    the burst expected on AR is what stands there. BROKEN takes a grant of the stream for given whenever the
//              channel is free and must give a counterexample.
module fv_mem_read_arbiter
  import rm_mem_pkg::*;
(
  input logic   clk_i,
  input logic   rst_ni,
  input logic   fetch_valid_i,
  input burst_t fetch_i,
  input logic   stream_valid_i,
  input burst_t stream_i,
  input logic   ar_ready_i
);

  logic             fetch_ready, stream_ready, ar_valid, fetch, stream, started_q;
  logic             due_q, id_q;
  logic [AddrW-1:0] addr_q;
  axi_addr_t        ar;
  logic [BeatsW-1:0] beats_q;

  rm_mem_read_arbiter i_dut (
    .clk_i, .rst_ni,
    .fetch_valid_i, .fetch_ready_o(fetch_ready), .fetch_i,
    .stream_valid_i, .stream_ready_o(stream_ready), .stream_i,
    .ar_valid_o(ar_valid), .ar_ready_i, .ar_o(ar)
  );

  assign fetch = fetch_valid_i && fetch_ready;
`ifdef BROKEN
  assign stream = stream_valid_i && (!ar_valid || ar_ready_i);
`else
  assign stream = stream_valid_i && stream_ready;
`endif

  rm_handshake_check #(.Width(1 + AddrW + LenW)) i_ar (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(ar_valid), .ready_i(ar_ready_i), .data_i(ar)
  );

  initial begin
    started_q = 1'b0;
  end

  always_ff @(posedge clk_i) begin : p_model
    started_q <= 1'b1;
    if (!rst_ni) begin
      due_q <= 1'b0;
    end else begin
      due_q <= fetch || stream || (due_q && !ar_ready_i);
      if (fetch || stream) begin
        id_q    <= stream;
        addr_q  <= stream ? stream_i.addr : fetch_i.addr;
        beats_q <= stream ? stream_i.beats : fetch_i.beats;
      end
    end
  end

  always_comb begin : p_check
    assume (!fetch_valid_i || (fetch_i.beats != '0 && fetch_i.beats <= BeatsW'(MaxBeats)));
    assume (!stream_valid_i || (stream_i.beats != '0 && stream_i.beats <= BeatsW'(MaxBeats)));
    if (!started_q) begin
      assume (!rst_ni);
    end else if (rst_ni) begin
      a_one: assert (!(fetch && stream));
      a_kept: assert (!(fetch || stream) || !due_q || ar_ready_i);  // what waits is not overwritten
      a_due: assert (ar_valid == due_q);
      a_same: assert (!due_q || (ar.id == id_q && ar.addr == addr_q && BeatsW'(ar.len) + 1'b1 == beats_q));
      a_fetch_first: assert (!fetch_valid_i || !stream_ready);
      a_busy: assert (!(fetch_valid_i || stream_valid_i) || fetch || stream || (due_q && !ar_ready_i));
    end
  end

endmodule
