// rm_arith_decode - opcode and operands of a command to the control bits of its rows. Combinational.
module rm_arith_decode
  import rm_core_pkg::*;
  import rm_arith_pkg::*;
(
  input  arith_cmd_t cmd_i,
  output arith_ctl_t ctl_o
);

  always_comb begin : p_decode
    ctl_o          = '0;
    ctl_o.x_from_a = cmd_i.a_used;
    ctl_o.y_from_s = cmd_i.a_used && cmd_i.s_used;
    ctl_o.z_sel    = ZNone;
    ctl_o.fix      = FixNone;
    ctl_o.add      = AddNone;
    ctl_o.product  = 1'b1;
    case (cmd_i.op)
      ArithCopy: begin
        ctl_o.add     = AddPre;
        ctl_o.product = 1'b0;
      end
      ArithAdd: begin
        ctl_o.z_sel   = ZY;
        ctl_o.fix     = FixAbove;
        ctl_o.add     = AddPre;
        ctl_o.product = 1'b0;
      end
      ArithSub: begin
        ctl_o.z_sel   = ZY;
        ctl_o.minus   = 1'b1;
        ctl_o.swap    = cmd_i.swap;
        ctl_o.fix     = FixBelow;
        ctl_o.add     = AddPre;
        ctl_o.product = 1'b0;
      end
      ArithAddk: begin
        ctl_o.z_sel   = ZK0;
        ctl_o.fix     = FixAbove;
        ctl_o.add     = AddPre;
        ctl_o.product = 1'b0;
      end
      ArithSubk: begin
        ctl_o.z_sel = ZY;
        ctl_o.minus = 1'b1;
        ctl_o.swap  = cmd_i.swap;
        ctl_o.fix   = FixBelow;
      end
      ArithMul: begin
        ctl_o.b_from_y = 1'b1;
      end
      ArithMac: begin
        ctl_o.b_from_y = 1'b1;
        ctl_o.add      = AddC;
      end
      ArithMack: begin
        ctl_o.shift = cmd_i.shift;
        ctl_o.add   = AddC;
      end
      ArithLift: begin
        ctl_o.lift = 1'b1;
        ctl_o.add  = AddLift;
      end
      ArithShrk: begin
        ctl_o.z_sel   = ZK0;
        ctl_o.shift   = cmd_i.shift;
        ctl_o.add     = AddPre;
        ctl_o.product = 1'b0;
      end
      default: begin  // ArithMulk: the dispatcher lets no other code through. Permuting, K1 is the galois element
        ctl_o.shift = cmd_i.shift;
        ctl_o.add   = cmd_i.permute ? AddNone : AddK1;
      end
    endcase
  end

endmodule
