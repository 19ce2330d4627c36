// rm_ntt_twiddle_gen - fills a twiddle table from log N stored roots, by doubling.
//
// Equation     entry x of the table is the product of rho_b over the bits b of x, times 2^R:
//                  P(2^b) = rho_b,   P(2^b + x) = P(x) * rho_b  for 0 < x < 2^b,   b = 0 ... log N - 1
//              with rho_b = psi^(N / 2^(b+1)). Entry 0 is never written or used. As
//              brv_s(i + 2^b) = brv_s(i) + 2^(s-1-b),  P(2^s + i) = T_s(i).
// Levels       level b issues n_b = max(1, 2^b / Lanes) groups of Lanes entries, one a cycle; the next
//              level follows after max(n_b, gen_latency): then all it reads has been written, and the
//              root of a level stands until its first product has left.
// Cycles       start_i in cycle g; done_o is a pulse in cycle
//                  g + sum over b = 0 ... log N - 2 of max(n_b, M + 4)  +  n_(log N - 1) + M,
//              and from the cycle after done_o on a transform may start: its first twiddle is read
//              when the last entry is there.
module rm_ntt_twiddle_gen #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned LogNMax = 14,
  parameter int unsigned LogNbf  = 2,
  localparam int unsigned Nbf    = 1 << LogNbf,
  localparam int unsigned Lanes  = rm_ntt_pkg::gen_lanes(Nbf),
  localparam int unsigned Groups = Nbf / Lanes,
  localparam int unsigned GroupW = (Groups > 1) ? $clog2(Groups) : 1,
  localparam int unsigned AddrW  = LogNMax - LogNbf
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [3:0]              log_n_i,
  input  logic                    start_i,
  input  logic                    slot_i,       // table being filled, from the cycle after start_i on
  output logic                    done_o,
  // modulus table, one cycle
  output logic [3:0]              root_index_o,
  input  logic [W-1:0]            root_i,
  output logic                    load_q_o,     // q and aux of the modulus are there
  input  logic [W-1:0]            q_i,          // held by the user from the cycle after load_q_o on
  input  logic [W+1:0]            aux_i,
  // table being filled: address in one cycle, to be registered; row two cycles later
  output logic [AddrW-1:0]        addr_o,
  input  logic [Nbf-1:0][W-1:0]   row_i,
  output logic [Lanes-1:0]        we_o,
  output logic                    wslot_o,
  output logic [AddrW-1:0]        waddr_o,
  output logic [GroupW-1:0]       wgroup_o,
  output logic [Lanes-1:0][W-1:0] wdata_o
);

  localparam int unsigned M        = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Interval = rm_ntt_pkg::gen_latency(M);
  localparam int unsigned LogLanes = $clog2(Lanes);
  localparam int unsigned LogGroups = $clog2(Groups);
  // group numbers go to N / Lanes; the counter also spans a short level
  localparam int unsigned NumW     = LogNMax - LogLanes;
  localparam int unsigned CntW     = (NumW > $clog2(Interval)) ? NumW : $clog2(Interval);
  localparam int unsigned OffRow   = 2;            // row of the table
  localparam int unsigned OffMul   = 3;            // operands of the multipliers
  localparam int unsigned OffOut   = OffMul + M;   // products
  localparam int unsigned OffDone  = M;

  if (M < 2) begin : g_check_latency
    $error("rm_ntt_twiddle_gen: the multiplier must take two cycles at least");
  end

  // ---------------------------------------------------------------- levels
  logic            busy_q, busy_d;
  logic [3:0]      level_q, level_d;
  logic [CntW-1:0] cnt_q, cnt_d;
  logic [CntW-1:0] count_less;   // n_b - 1
  logic            issue, last_level, level_end;

  assign count_less = (32'(level_q) <= LogLanes) ? '0 : CntW'((1 << (32'(level_q) - LogLanes)) - 1);
  assign issue      = busy_q && cnt_q <= count_less;
  assign last_level = level_q == log_n_i - 4'd1;
  assign level_end  = cnt_q >= count_less && (last_level || cnt_q >= CntW'(Interval - 1));

  always_comb begin : p_next
    busy_d  = busy_q;
    level_d = level_q;
    cnt_d   = cnt_q + 1'b1;
    if (busy_q && level_end) begin
      cnt_d   = '0;
      level_d = level_q + 4'd1;
      if (last_level) begin
        busy_d = 1'b0;
      end
    end
    if (start_i) begin
      busy_d  = 1'b1;
      level_d = '0;
      cnt_d   = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_busy
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else begin
      busy_q <= busy_d;
    end
  end

  always_ff @(posedge clk_i) begin : p_level
    level_q <= level_d;
    cnt_q   <= cnt_d;
  end

  assign root_index_o = level_q;
  assign load_q_o     = busy_q && level_q == '0 && cnt_q == CntW'(1);
  assign addr_o       = cnt_q[NumW-1:LogGroups];

  // The root of a level is used from offset OffMul of its first group on.
  logic [W-1:0] root_q;

  always_ff @(posedge clk_i) begin : p_root
    if (busy_q && cnt_q == CntW'(OffMul - 1)) begin
      root_q <= root_i;
    end
  end

  // ---------------------------------------------------------------- what travels with a group
  typedef struct packed {
    logic             slot;
    logic [NumW-1:0]  target;  // group that is written
    logic [Lanes-1:0] we;
    logic [Lanes-1:0] direct;  // entry 2^b: the root itself
  } tag_t;

  tag_t            tag_d;
  tag_t            tag_row, tag_out;
  logic [OffOut:1]  valid_q;
  logic [OffDone:1] end_q;

  always_comb begin : p_tag
    tag_d.slot   = slot_i;
    tag_d.target = cnt_q[NumW-1:0];
    tag_d.we     = '1;
    tag_d.direct = '0;
    if (32'(level_q) + 1 > LogLanes) begin
      tag_d.target    = cnt_q[NumW-1:0] | (NumW'(1) << (32'(level_q) - LogLanes));
      tag_d.direct[0] = cnt_q == '0;
    end else begin
      // first entries: within group 0
      for (int unsigned l = 0; l < Lanes; l++) begin
        tag_d.we[l]     = (l >> level_q) == 1;
        tag_d.direct[l] = l == (1 << level_q);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_valid
    if (!rst_ni) begin
      valid_q <= '0;
      end_q   <= '0;
    end else begin
      valid_q <= {valid_q[OffOut-1:1], issue};
      end_q   <= {end_q[OffDone-1:1], issue && last_level && level_end};
    end
  end

  rm_delay_line #(.Width ($bits(tag_t)), .Cycles(OffRow)) i_tag_row (
    .clk_i, .data_i(tag_d), .data_o(tag_row)
  );
  rm_delay_line #(.Width ($bits(tag_t)), .Cycles(OffOut - OffRow)) i_tag_out (
    .clk_i, .data_i(tag_row), .data_o(tag_out)
  );

  // ---------------------------------------------------------------- products
  logic [GroupW-1:0]       source_group;  // within the row
  logic [Lanes-1:0][W-1:0] group, operand_q, product;

  rm_delay_line #(.Width (GroupW), .Cycles(OffRow)) i_source (
    .clk_i, .data_i((Groups > 1) ? cnt_q[GroupW-1:0] : '0), .data_o(source_group)
  );

  assign group = row_i[32'(source_group) * Lanes +: Lanes];

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    logic [W-1:0] word;

    if (l == 3) begin : g_fold
      // Entry 3 = 2 + 1 is the only one that is made from another lane's (entry 1), in level 1.
      assign word = (tag_row.we[1:0] == '0) ? group[1] : group[l];
    end else begin : g_same
      assign word = group[l];
    end

    always_ff @(posedge clk_i) begin : p_operand
      operand_q[l] <= word;
    end

    rm_modmul #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_mul (
      .clk_i,
      .a_i   (operand_q[l]),
      .b_i   (root_q),
      .q_i,
      .aux_i,
      .r_o   (product[l])
    );

    always_ff @(posedge clk_i) begin : p_write
      wdata_o[l] <= tag_out.direct[l] ? root_q : product[l];
    end
  end

  always_ff @(posedge clk_i) begin : p_write_address
    wslot_o  <= tag_out.slot;
    waddr_o  <= tag_out.target[NumW-1:LogGroups];
    wgroup_o <= (Groups > 1) ? tag_out.target[GroupW-1:0] : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_write_enable
    if (!rst_ni) begin
      we_o <= '0;
    end else begin
      we_o <= valid_q[OffOut] ? tag_out.we : '0;
    end
  end

  assign done_o = end_q[OffDone];

endmodule
