// rm_pool_pkg - tasks of a pool of transform units, fields of its constants, and times of a task.
//
// A task is one transform of one key switch, with what happens to its rows on the way in and on the way out:
//   Back   operand limb `mod` to coefficients, into digit `part`'s slot; on the way out the limb's own product with the key
//   Up     digit `part` modulo `mod`, product with the key added to the sums
//   Rest   component `part` of the finished sums of special modulus `mod` to coefficients, into that component's slot
//   Down   component `part`'s special residue modulo `mod`; the sums less it, divided, are a result
// The functions are for elaboration only.
package rm_pool_pkg;

  localparam logic [2:0] Take = 3'd0;   // no transform: the next key switch is the newest from here on
  localparam logic [2:0] Back = 3'd1;
  localparam logic [2:0] Up   = 3'd2;
  localparam logic [2:0] Rest = 3'd3;
  localparam logic [2:0] Down = 3'd4;

  localparam int unsigned UnitW = 5, ModW = 5, PartW = 4, TagW = 3, SlotW = 5, ColumnW = 3, FeedW = 3, LimbW = 6;
  localparam int unsigned Tags  = 1 << TagW;   // key switches inside

  // A row of the timetable. The order of rows is the order of starts; age 0 is the newest key switch, 1 the one before it.
  typedef struct packed {
    logic [2:0]       kind;
    logic [UnitW-1:0] unit_no;
    logic [ModW-1:0]  mod;
    logic [PartW-1:0] part;
    logic [TagW-1:0]  age;
  } entry_t;

  // A task that was started.
  typedef struct packed {
    logic [2:0]         kind;
    logic [UnitW-1:0]   unit_no;
    logic [ModW-1:0]    mod;
    logic [PartW-1:0]   part;
    logic [TagW-1:0]    tag;     // of its key switch
    logic [SlotW-1:0]   slot;    // of coefficients: read by Up and Down, written by Back and Rest
    logic [ColumnW-1:0] column;  // in that slot, of what is written
    logic [FeedW-1:0]   feed;
    logic               first;   // of the sums' products
    logic               last;
    logic               single;  // the slot has one column
    logic               second;  // reads the slot through its second port
    logic [1:0][LimbW-1:0] from;  // limbs of sums by component: read by all but first products
    logic [1:0][LimbW-1:0] into;  // written by Back and Up
  } task_t;

  localparam int unsigned TaskW = $bits(task_t);

  // Fields of constants beside those of rm_ks_pkg. Of a class and a modulus:
  // + a: (S/s_a) 2^R mod q of column a; of the class that goes back, the scale of a limb
  localparam logic [5:0] FieldFactor = 6'd32;
  localparam logic [5:0] FieldOver   = 6'd40;  // + v - 1: -v S mod q
  // Of a class alone:
  localparam logic [5:0] FieldHead   = 6'd48;  // + a: {shift, R_a} of the quotient
  localparam logic [5:0] FieldHalf   = 6'd56;  // greatest residue of column 0 that stands for itself, where it is alone

  localparam int unsigned HeadBits = 14, QuotientBits = 28, HeadFactorW = 15, ShiftW = 6;

  // Steps that bring a sum below (alpha + 1) q under q.
  function automatic int unsigned reductions(int unsigned alpha);
    return $clog2(alpha + 1);
  endfunction

  // Sources in a register to residue.
  function automatic int unsigned feed_latency(int unsigned m, int unsigned alpha);
    return m + 1 + reductions(alpha);
  endfunction

  // From a start to the cycle in which its first row is read: a unit takes that row 2 M + 2 cycles after the start.
  function automatic int unsigned entry(int unsigned m, int unsigned alpha);
    return 2 * m + 2 - feed_latency(m, alpha) - 2;
  endfunction

endpackage
