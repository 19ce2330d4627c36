// rm_stream_twiddle - twiddle factors of some stages of a streaming transform, made on the fly by Mult multipliers.
//
// Equation     Stage s takes a row of Words = Mult * Lanes twiddle factors and holds it for 2^(Hold0 + s) rows of data. Row k
//              is T(k)[j] = start[j] * product over the bits b of k of r(b), r(b) = rho of the bit of the block number
//              that bit b of k stands for. Within a group of 2^Grp rows, T(g 2^Grp + i) = U(g) * table[i]; between groups
//              U(g + 1) = U(g) * ratio[trailing ones of g]. Row 0 of a group is U itself, and the multiplier, free for
//              that one, makes the next U: 2^Grp products for 2^Grp rows and nothing more.
//              rtl/streaming_ntt/README.md derives the ratios.
// Rate         Words products a 2^(Hold0 + s) cycles. One stage with Lanes = 2^Hold0 keeps its multipliers busy in every cycle;
//              stages Hold0, Hold0 + 1, ... of Lanes = 2^(Hold0 - 1) take 1/2 + 1/4 + ... < 1 of theirs.
// Turns        Each stage works ahead as far as its rows have room. A stage with nothing ahead comes first, then the one
//              with the shortest rows: their times divide each other, so the shortest first misses no deadline while
//              less than all the time is used. A polynomial that begins while the last stages end another one has all others
//              come first once: a stage has rows for Slots cycles more than a multiplier takes.
// Latency      From start_i to the first row: two cycles, a multiplier, and one more for each further lane. load_i takes the
//              next row of a stage; it stands at rows_o from the next cycle on.
module rm_stream_twiddle #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned TimeW   = 8,   // log2 of the most rows
  parameter int unsigned Stages  = 1,
  parameter int unsigned Hold0   = 0,
  parameter int unsigned Mult    = 1,
  parameter int unsigned Lanes   = 1,
  parameter int unsigned Polys   = 4,   // polynomials that have started and may not have ended
  localparam int unsigned Words  = Mult * Lanes,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic [4:0]                          log_rows_i,
  input  logic                                cfg_we_i,
  input  logic                                cfg_aux_i,
  input  logic [ModW-1:0]                     cfg_mod_i,
  input  logic [W+1:0]                        cfg_data_i,
  // seeds: a start belongs to a stage and a word, a table entry to all
  input  logic                                seed_start_i,
  input  logic                                seed_table_i,
  input  logic [ModW-1:0]                     seed_mod_i,
  input  logic [rm_stream_pkg::StageW-1:0]       seed_stage_i,
  input  logic [rm_stream_pkg::IndexW-1:0]       seed_index_i,
  input  logic [W-1:0]                        seed_data_i,
  // a polynomial
  input  logic                                start_i,
  input  logic [ModW-1:0]                     start_mod_i,
  input  logic [Stages-1:0]                   load_i,
  output logic [Stages-1:0][Words-1:0][W-1:0] rows_o,
  output logic                                fault_o   // a row was taken that is not there
);

  localparam int unsigned M     = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Grp   = rm_stream_pkg::group(Kind, W);
  localparam int unsigned Slots = Stages * Lanes;
  localparam int unsigned SlotW = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned LaneW = (Lanes > 1) ? $clog2(Lanes) : 1;
  localparam int unsigned StgW  = (Stages > 1) ? $clog2(Stages) : 1;
  localparam int unsigned RowW  = Mult * W;
  localparam int unsigned CntW  = 6;

  // ------------------------------------------------- what each stage wants next
  logic [Stages-1:0]            want, want_first, grant, landed, missing;
  logic [Stages-1:0][LaneW-1:0] lane;
  logic [Stages-1:0][TimeW-1:0] row;
  logic [Stages-1:0][ModW-1:0]  modulus;

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    localparam int unsigned Hold  = Hold0 + s;
    localparam int unsigned Depth = ((M + 6 + Slots) >> Hold) + 3;

    logic             active, some, last_lane, last_row, room;
    logic [ModW-1:0]  first_mod;
    logic [TimeW-1:0] row_q, final_row;
    logic [LaneW-1:0] lane_q;
    logic [$clog2(Polys+1)-1:0] unused_count;
    logic [CntW-1:0]  ahead_q, ready_q;   // rows begun, rows complete, and not taken

    assign active    = log_rows_i > 5'(Hold);
    assign final_row = TimeW'((32'd1 << (log_rows_i - 5'(Hold))) - 32'd1);

    rm_core_fifo #(
      .Width (ModW),
      .Depth (Polys)
    ) i_polynomials (
      .clk_i,
      .rst_ni,
      .push_valid_i (start_i && active),
      .push_ready_o (room),
      .push_data_i  (start_mod_i),
      .pop_valid_o  (some),
      .pop_ready_i  (grant[s] && last_lane && last_row),
      .pop_data_o   (first_mod),
      .count_o      (unused_count)
    );

    assign last_lane     = lane_q == LaneW'(Lanes - 1);
    assign last_row      = row_q == final_row;
    assign want[s]       = some && (lane_q != '0 || ahead_q < CntW'(Depth));
    assign want_first[s] = want[s] && (ahead_q == '0 || (ahead_q == CntW'(1) && lane_q != '0));
    assign lane[s]       = lane_q;
    assign row[s]        = row_q;
    assign modulus[s]    = first_mod;

    always_ff @(posedge clk_i or negedge rst_ni) begin : p_place
      if (!rst_ni) begin
        row_q   <= '0;
        lane_q  <= '0;
        ahead_q <= '0;
        ready_q <= '0;
      end else begin
        if (grant[s]) begin
          lane_q <= last_lane ? '0 : lane_q + 1'b1;
          if (last_lane) begin
            row_q <= last_row ? '0 : row_q + 1'b1;
          end
        end
        ahead_q <= ahead_q + CntW'(grant[s] && lane_q == '0) - CntW'(load_i[s]);
        ready_q <= ready_q + CntW'(landed[s]) - CntW'(load_i[s]);
      end
    end
    assign missing[s] = load_i[s] && ready_q == '0;

    always @(posedge clk_i) begin : p_assert
      if (rst_ni) begin
        a_there: assert (!missing[s]);
        a_room:  assert (!(start_i && active && !room));
      end
    end
  end

  logic [StgW-1:0] turn;
  always_comb begin : p_turn
    grant = '0;
    turn  = '0;
    for (int unsigned s = Stages; s > 0; s--) begin
      if (want[s-1] && (want_first == '0 || want_first[s-1])) begin
        grant       = '0;
        grant[s-1]  = 1'b1;
        turn        = StgW'(s - 1);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_fault
    if (!rst_ni) begin
      fault_o <= 1'b0;
    end else begin
      fault_o <= fault_o || missing != '0;
    end
  end

  // ------------------------------------------------- one cycle later: operands are read
  logic             read_q, group_q, zero_q;
  logic [StgW-1:0]  stage_q;
  logic [LaneW-1:0] read_lane_q;
  logic [ModW-1:0]  mod_q;
  logic [Grp-1:0]   entry_q, ones;

  // Trailing ones of the group's number.
  always_comb begin : p_ones
    ones = '0;
    for (int unsigned b = TimeW; b > Grp; b--) begin
      if (!row[turn][b-1]) begin
        ones = Grp'(b - 1 - Grp);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_read_valid
    if (!rst_ni) begin
      read_q <= 1'b0;
    end else begin
      read_q <= grant != '0;
    end
  end
  always_ff @(posedge clk_i) begin : p_read
    stage_q     <= turn;
    read_lane_q <= lane[turn];
    mod_q       <= modulus[turn];
    zero_q      <= row[turn] == '0;
    group_q     <= (row[turn] & TimeW'((1 << Grp) - 1)) == '0;
    entry_q     <= ((row[turn] & TimeW'((1 << Grp) - 1)) == '0) ? ones : Grp'(row[turn]);
  end

  logic [SlotW-1:0] slot, seed_slot;
  assign slot      = SlotW'(32'(stage_q) * Lanes + 32'(read_lane_q));
  assign seed_slot = SlotW'(32'(seed_stage_i) * Lanes + 32'(seed_index_i) / Mult);

  logic [RowW-1:0] start_word, now_word, next_word, unit_d, unit_q;
  logic [W-1:0]    table_mem[Mods << (Grp + 1)];
  logic [W-1:0]    factor_q, q_mul;
  logic [W+1:0]    aux_mul;
  logic            write_next;
  logic [SlotW-1:0] next_slot;
  logic [RowW-1:0]  product;

  for (genvar m = 0; m < Mult; m++) begin : g_memory
    logic [W-1:0] start_mem[Mods*Slots];
    logic [W-1:0] now_mem[Slots];
    logic [W-1:0] next_mem[Slots];
    always_ff @(posedge clk_i) begin : p_memory
      if (seed_start_i && 32'(seed_index_i) % Mult == m) begin
        start_mem[32'(seed_mod_i)*Slots+32'(seed_slot)] <= seed_data_i;
      end
      if (read_q && group_q) begin
        now_mem[slot] <= unit_d[W*m+:W];
      end
      if (write_next) begin
        next_mem[next_slot] <= product[W*m+:W];
      end
    end
    assign start_word[W*m+:W] = start_mem[32'(mod_q)*Slots+32'(slot)];
    assign now_word[W*m+:W]   = now_mem[slot];
    assign next_word[W*m+:W]  = next_mem[slot];
  end
  assign unit_d = zero_q ? start_word : group_q ? next_word : now_word;

  always_ff @(posedge clk_i) begin : p_operands
    unit_q   <= unit_d;
    factor_q <= table_mem[{mod_q, group_q, entry_q}];
    if (seed_table_i) begin
      table_mem[{seed_mod_i, seed_index_i[Grp:0]}] <= seed_data_i;
    end
  end

  rm_stream_moduli #(
    .W    (W),
    .Mods (Mods)
  ) i_moduli (
    .clk_i,
    .cfg_we_i,
    .cfg_aux_i,
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i (mod_q),
    .q_o   (q_mul),
    .aux_o (aux_mul)
  );

  // ------------------------------------------------- product, and U beside it
  logic [RowW-1:0] unit_late, result;
  for (genvar m = 0; m < Mult; m++) begin : g_mul
    rm_modmul #(
      .W    (W),
      .Kind (Kind),
      .Tile (Tile)
    ) i_mul (
      .clk_i,
      .a_i   (unit_q[W*m+:W]),
      .b_i   (factor_q),
      .q_i   (q_mul),
      .aux_i (aux_mul),
      .r_o   (product[W*m+:W])
    );
  end

  rm_delay_line #(
    .Width  (RowW),
    .Cycles (M)
  ) i_unit (
    .clk_i,
    .data_i (unit_q),
    .data_o (unit_late)
  );

  logic [M:0]       late_q;   // a product is there
  logic             group_late;
  logic [StgW-1:0]  stage_late;
  logic [LaneW-1:0] lane_late;
  always_ff @(posedge clk_i or negedge rst_ni) begin : p_late
    if (!rst_ni) begin
      late_q <= '0;
    end else begin
      late_q <= {late_q[M-1:0], read_q};
    end
  end
  rm_delay_line #(
    .Width  (1 + StgW + LaneW),
    .Cycles (M + 1)
  ) i_where (
    .clk_i,
    .data_i ({group_q, stage_q, read_lane_q}),
    .data_o ({group_late, stage_late, lane_late})
  );
  assign result     = group_late ? unit_late : product;
  assign write_next = late_q[M] && group_late;
  assign next_slot  = SlotW'(32'(stage_late) * Lanes + 32'(lane_late));

  // ------------------------------------------------- rows that are ready
  for (genvar s = 0; s < Stages; s++) begin : g_rows
    localparam int unsigned Hold  = Hold0 + s;
    localparam int unsigned Depth = ((M + 6 + Slots) >> Hold) + 3;
    localparam int unsigned PtrW  = $clog2(Depth);
    logic [PtrW-1:0] in_q, out_q;
    logic            write;

    assign write     = late_q[M] && stage_late == StgW'(s);
    assign landed[s] = write && lane_late == LaneW'(Lanes - 1);
    always_ff @(posedge clk_i or negedge rst_ni) begin : p_pointers
      if (!rst_ni) begin
        in_q  <= '0;
        out_q <= '0;
      end else begin
        if (landed[s]) begin
          in_q <= (in_q == PtrW'(Depth - 1)) ? '0 : in_q + 1'b1;
        end
        if (load_i[s]) begin
          out_q <= (out_q == PtrW'(Depth - 1)) ? '0 : out_q + 1'b1;
        end
      end
    end
    for (genvar l = 0; l < Lanes; l++) begin : g_lane
      logic [RowW-1:0] mem[Depth];
      always_ff @(posedge clk_i) begin : p_memory
        if (write && lane_late == LaneW'(l)) begin
          mem[in_q] <= result;
        end
        if (load_i[s]) begin
          rows_o[s][l*Mult+:Mult] <= mem[out_q];
        end
      end
    end
  end

  logic unused;
  assign unused = ^{seed_index_i, seed_stage_i};

endmodule
