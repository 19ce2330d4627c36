// rm_auto_pkg - times of the automorphism unit, in cycles.
package rm_auto_pkg;

  localparam int unsigned StartToRead = 3;   // a start is taken; the addresses of row 0 stand at addr_o
  localparam int unsigned ReadToRow   = 3;   // addresses at addr_o; the row that is made of them at row_o

endpackage
