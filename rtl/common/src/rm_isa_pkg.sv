// rm_isa_pkg - the instructions of the compact core. Made from rtl/core/instructions.json by `python -m rtl.tools isa`.
package rm_isa_pkg;

  // X is A if it is used, else S; Y is S if A and S are used, else C; mm(a, b) = a*b*2^-R mod q
  localparam logic [7:0] OpEnd   = 8'h00;  // waits until all is stored, then stops
  localparam logic [7:0] OpNtt   = 8'h01;  // transform of bank A in place
  localparam logic [7:0] OpIntt  = 8'h02;  // inverse transform of bank A in place
  localparam logic [7:0] OpRoots = 8'h03;  // makes roots of the modulus in the unit of bank A; changes no word
  localparam logic [7:0] OpCopy  = 8'h10;  // d = X
  localparam logic [7:0] OpAdd   = 8'h11;  // d = X + Y mod q
  localparam logic [7:0] OpSub   = 8'h12;  // d = X - Y mod q, swapped Y - X
  localparam logic [7:0] OpAddK  = 8'h13;  // d = X + K0 mod q
  localparam logic [7:0] OpMulK  = 8'h14;  // d = mm(X >> shift, K0) - K1; K1 is not there in a permuting one
  localparam logic [7:0] OpSubK  = 8'h15;  // d = mm(X - Y, K0), swapped mm(Y - X, K0)
  localparam logic [7:0] OpMul   = 8'h16;  // d = mm(X, Y)
  localparam logic [7:0] OpMac   = 8'h17;  // d = C + mm(A, S)
  localparam logic [7:0] OpMacK  = 8'h18;  // d = C + mm(X >> shift, K0)
  localparam logic [7:0] OpLift  = 8'h19;  // d = mm(X, K0) - (2X > p ? K1 : 0) mod q, p the modulus `source`
  localparam logic [7:0] OpShrK  = 8'h1a;  // d = (X + K0) >> shift on integers

  // The four words, w3 first.
  typedef struct packed {
    logic [63:0] k1;        // w3[63:0] the second constant, or a Galois element
    logic [63:0] k0;        // w2[63:0] the first constant
    logic [7:0]  reserved;  // w1[63:56] zero
    logic        swap;      // w1[55] whether X and Y of a difference are exchanged
    logic        permute;   // w1[54] whether A is read through the automorphism of the Galois element K1
    logic [5:0]  shift;     // w1[53:48] bits that X, or the sum of `shrk`, is shifted right by
    logic [15:0] after;     // w1[47:32] S may be fetched when this number of stores is complete, modulo 2^16
    logic [31:0] s_addr;    // w1[31:0] where S comes from, in units of 64 bytes
    logic [31:0] d_addr;    // w0[63:32] where D goes in memory, in units of 64 bytes
    logic        s_used;    // w0[31] whether S, a limb from memory, is used
    logic        d_to_mem;  // w0[30] whether D goes to memory
    logic        d_to_bank; // w0[29] whether D goes into a bank
    logic [2:0]  d_bank;    // w0[28:26] the bank of the result D
    logic        c_used;    // w0[25] whether C is used
    logic [2:0]  c_bank;    // w0[24:22] bank operand C
    logic        a_used;    // w0[21] whether A is used
    logic [2:0]  a_bank;    // w0[20:18] bank operand A
    logic [4:0]  source;    // w0[17:13] index of the modulus of the operand of a lift
    logic [4:0]  modulus;   // w0[12:8] index of q in the table of moduli
    logic [7:0]  opcode;    // w0[7:0] what it does
  } instruction_t;

endpackage
