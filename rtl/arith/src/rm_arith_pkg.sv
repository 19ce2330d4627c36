// rm_arith_pkg - control bits of one row of the arithmetic unit, decoded once an instruction.
package rm_arith_pkg;

  typedef enum logic [1:0] {
    ZNone = 2'd0,  // t = x
    ZY    = 2'd1,  // t = x + y or x - y
    ZK0   = 2'd2   // t = x + K0
  } z_sel_e;

  typedef enum logic [1:0] {
    FixNone  = 2'd0,  // pre = t >> shift
    FixAbove = 2'd1,  // pre = t - q if t >= q
    FixBelow = 2'd2   // pre = t + q if t < 0
  } fix_sel_e;

  typedef enum logic [2:0] {
    AddNone = 3'd0,  // d = product
    AddPre  = 3'd1,  // d = pre, no product
    AddC    = 3'd2,  // d = c + product
    AddLift = 3'd3,  // d = product + (x above p/2 ? q - K1 : 0)
    AddK1   = 3'd4   // d = product + q - K1
  } add_sel_e;

  // In the order of use. Stages as in rm_arith_column.
  typedef struct packed {
    logic       x_from_a;  // stage 2
    logic       y_from_s;
    logic       swap;
    z_sel_e     z_sel;
    logic       minus;
    fix_sel_e   fix;       // stage 3
    logic       lift;
    logic [5:0] shift;
    add_sel_e   add;
    logic       b_from_y;
    logic       product;   // stages 4 + L and 5 + L
  } arith_ctl_t;

  // Cycles from the issue of a row to its result: bank, operands, sum, correction, product,
  // addition, correction. See rm_arith_column.
  localparam int unsigned StagesBefore = 4;
  localparam int unsigned StagesAfter  = 2;

endpackage
