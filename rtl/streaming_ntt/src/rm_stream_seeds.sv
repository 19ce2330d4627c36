// rm_stream_seeds - makes the seeds of a modulus from its log N stored roots: first twiddle factors, tables and ratios.
//
// Equation     The stored roots are rho_b 2^R, b = 0 ... log N - 1, of the forward transform; for an inverse one their
//              inverses. Every seed is plus or minus the product of the roots in a set (a mask of their numbers); its sets are
//              listed below and derived in rtl/streaming_ntt/README.md.
// Duration     A seed of n roots takes (n - 1) * (M + 2) + 4 cycles, an empty place two. One multiplier, for use when moduli
//              are set, not while data flow.
// Handshake    prepare_*: valid/ready; ready again when the seeds are in their places. Roots, q and aux must be written
//              before; log_n_i stands still.
module rm_stream_seeds #(
  parameter int unsigned W       = 54,
  parameter int unsigned Kind    = rm_modmul_pkg::KindMontgomery,
  parameter int unsigned Tile    = rm_modmul_pkg::TileDsp48e2,
  parameter int unsigned Mods    = 8,
  parameter int unsigned LogP    = 1,
  parameter int unsigned LogNMax = 13,
  parameter int unsigned Style   = rm_stream_pkg::FeedForward,
  localparam int unsigned ModW   = $clog2(Mods)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [4:0]                    log_n_i,
  input  logic                          cfg_we_i,
  input  logic [4:0]                    cfg_field_i,  // 0 q, 1 aux, 2 + b the root rho_b
  input  logic [ModW-1:0]               cfg_mod_i,
  input  logic [W+1:0]                  cfg_data_i,
  input  logic                          prepare_valid_i,
  input  logic [ModW-1:0]               prepare_mod_i,
  output logic                          prepare_ready_o,
  // seeds; lanes_o: of the stages between lanes of the feedback kind, stage_o their lane bit
  output logic                          seed_valid_o,
  output logic [rm_stream_pkg::SeedW-1:0]  seed_what_o,
  output logic                          seed_lanes_o,
  output logic [rm_stream_pkg::StageW-1:0] seed_stage_o,
  output logic [rm_stream_pkg::IndexW-1:0] seed_index_o,
  output logic [ModW-1:0]               seed_mod_o,
  output logic [W-1:0]                  seed_data_o
);

  import rm_stream_pkg::*;

  localparam int unsigned M     = rm_modmul_pkg::latency(Kind, W);
  localparam int unsigned Grp   = rm_stream_pkg::group(Kind, W);
  localparam bit          IsFeedback = Style == rm_stream_pkg::Feedback;
  localparam int unsigned MaskW = 32;

  // ------------------------------------------------- list of seeds
  typedef enum logic [2:0] {
    ListConstant,    // stages between lanes, feed-forward
    ListStart,       // stages on time bits
    ListTable,       // their tables
    ListLaneStart,   // stages between lanes, feedback
    ListLaneTable
  } list_e;

  list_e             list_q;
  logic [StageW-1:0] stage_q;
  logic [IndexW-1:0] index_q;
  logic [IndexW-1:0] last_index;
  logic [StageW-1:0] last_stage, offset, s_now;
  logic [MaskW-1:0]  mask, index, top, low;
  logic [4:0]        log_rows;
  logic              negative, is_table;

  assign log_rows = log_n_i - 5'(LogP);
  assign index    = MaskW'(index_q);
  assign is_table = list_q == ListTable || list_q == ListLaneTable;
  assign offset   = (list_q == ListLaneTable) ? StageW'(LogP - 1) - stage_q : '0;

  always_comb begin : p_last
    last_stage = '0;
    last_index = '0;
    case (list_q)
      ListConstant: begin
        last_stage = StageW'(LogP - 1);
        last_index = IndexW'((32'd1 << stage_q) - 32'd1);
      end
      ListStart: begin
        last_stage = log_rows - 1'b1;
        last_index = IsFeedback ? '0 : IndexW'((1 << LogP) / 2 - 1);
      end
      ListLaneStart: begin
        last_stage = StageW'(LogP - 1);
        last_index = IndexW'((32'd1 << (StageW'(LogP - 1) - stage_q)) - 32'd1);
      end
      ListLaneTable: begin
        last_stage = StageW'(LogP - 1);
        last_index = IndexW'((2 << Grp) - 1);
      end
      default: begin
        last_index = IndexW'((2 << Grp) - 1);
      end
    endcase
  end

  // The stage of the transform: block number i has s_now bits, its twiddle factor is rho_s times those of the bits of i.
  always_comb begin : p_mask
    s_now    = '0;
    top      = '0;
    low      = '0;
    mask     = '0;
    negative = 1'b0;
    if (is_table) begin
      low = MaskW'(offset) + Grp;               // root of the lowest bit of a group's number
      top = low + (index & MaskW'((1 << Grp) - 1));
      if (index < MaskW'(1 << Grp)) begin
        mask = index << offset;                 // product of the roots of the bits of a row within a group
      end else if (top < MaskW'(log_n_i)) begin
        // r(top) / (r(low) ... r(top - 1)) = - r(top) r(top - 1) r(0) ... r(low - 1), and r(low) alone
        mask     = (top == low) ? MaskW'(1) << low
                                : (MaskW'(1) << top) | (MaskW'(1) << (top - 1)) | ((MaskW'(1) << low) - 1);
        negative = top != low;
      end
      if (mask >= MaskW'(1) << log_n_i) begin
        mask = '0;                              // no such bit at this degree
      end
    end else begin
      case (list_q)
        ListConstant: begin
          s_now = stage_q;
          mask  = (MaskW'(1) << s_now) | index;
        end
        ListStart: begin
          s_now = log_rows - 1'b1 - stage_q + (IsFeedback ? 5'd0 : 5'(LogP));
          mask  = (MaskW'(1) << s_now) | (IsFeedback ? '0 : index << (s_now + 5'd1 - 5'(LogP)));
        end
        default: begin
          s_now = log_n_i - 5'd1 - stage_q;
          mask  = (MaskW'(1) << s_now) | index;
        end
      endcase
    end
  end

  // ------------------------------------------------- one seed after the other
  typedef enum logic [2:0] {
    Idle,
    Take,      // the set of the next seed
    Fetch,     // its next root is read
    First,     // the first root is the product so far
    Multiply,  // wait for the product
    Give
  } state_e;

  state_e            state_q;
  logic [MaskW-1:0]  left_q;
  logic              begun_q, negative_q;
  logic [$clog2(M+1)-1:0] wait_q;
  logic [ModW-1:0]   mod_q;
  logic [W-1:0]      product_q, root_q, result, q;
  logic [W+1:0]      aux;
  logic [4:0]        which;
  logic [W-1:0]      root_mem[Mods * 32];

  always_comb begin : p_which
    which = '0;
    for (int unsigned b = LogNMax; b > 0; b--) begin
      if (left_q[b-1]) begin
        which = 5'(b - 1);
      end
    end
  end

  always_ff @(posedge clk_i) begin : p_roots
    root_q <= root_mem[{mod_q, which}];
    if (cfg_we_i && cfg_field_i >= 5'd2) begin
      root_mem[{cfg_mod_i, cfg_field_i - 5'd2}] <= cfg_data_i[W-1:0];
    end
  end

  rm_stream_moduli #(
    .W    (W),
    .Mods (Mods)
  ) i_moduli (
    .clk_i,
    .cfg_we_i  (cfg_we_i && cfg_field_i <= 5'd1),
    .cfg_aux_i (cfg_field_i[0]),
    .cfg_mod_i,
    .cfg_data_i,
    .mod_i     (mod_q),
    .q_o       (q),
    .aux_o     (aux)
  );

  rm_modmul #(
    .W    (W),
    .Kind (Kind),
    .Tile (Tile)
  ) i_mul (
    .clk_i,
    .a_i   (product_q),
    .b_i   (root_q),
    .q_i   (q),
    .aux_i (aux),
    .r_o   (result)
  );

  logic last_of_stage, last_of_list, last_of_all;
  assign last_of_stage = index_q == last_index;
  assign last_of_list  = last_of_stage && stage_q == last_stage;
  assign last_of_all   = last_of_list && list_q == (IsFeedback ? ListLaneTable : ListTable);

  always_ff @(posedge clk_i or negedge rst_ni) begin : p_state
    if (!rst_ni) begin
      state_q <= Idle;
      list_q  <= ListConstant;
      stage_q <= '0;
      index_q <= '0;
    end else begin
      case (state_q)
        Idle: begin
          list_q  <= IsFeedback ? ListStart : ListConstant;
          stage_q <= '0;
          index_q <= '0;
          if (prepare_valid_i) begin
            state_q <= Take;
          end
        end
        Take:     state_q <= (mask == '0) ? Give : Fetch;
        Fetch:    state_q <= begun_q ? Multiply : First;
        First:    state_q <= (left_q == '0) ? Give : Fetch;
        Multiply: begin
          if (wait_q == '0) begin
            state_q <= (left_q == '0) ? Give : Fetch;
          end
        end
        Give: begin
          state_q <= last_of_all ? Idle : Take;
          index_q <= last_of_stage ? '0 : index_q + 1'b1;
          if (last_of_stage) begin
            stage_q <= last_of_list ? '0 : stage_q + 1'b1;
          end
          if (last_of_list) begin
            case (list_q)
              ListConstant:  list_q <= ListStart;
              ListStart:     list_q <= ListTable;
              ListTable:     list_q <= ListLaneStart;
              ListLaneStart: list_q <= ListLaneTable;
              default:       list_q <= ListConstant;
            endcase
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin : p_data
    case (state_q)
      Idle: mod_q <= prepare_mod_i;
      Take: begin
        left_q     <= mask;
        negative_q <= negative;
        begun_q    <= 1'b0;
      end
      Fetch: begin
        left_q <= left_q & (left_q - 1'b1);
        wait_q <= ($clog2(M + 1))'(M);
      end
      First: begin
        product_q <= root_q;
        begun_q   <= 1'b1;
      end
      Multiply: begin
        wait_q <= wait_q - 1'b1;
        if (wait_q == '0) begin
          product_q <= result;
        end
      end
      default: ;
    endcase
  end

  assign prepare_ready_o = state_q == Idle;
  assign seed_valid_o    = state_q == Give && mask != '0;
  assign seed_what_o     = is_table ? SeedTable : (list_q == ListConstant) ? SeedConstant : SeedStart;
  assign seed_lanes_o    = list_q == ListLaneStart || list_q == ListLaneTable;
  assign seed_stage_o    = stage_q;
  assign seed_index_o    = index_q;
  assign seed_mod_o      = mod_q;
  assign seed_data_o     = negative_q ? q - product_q : product_q;

endmodule
