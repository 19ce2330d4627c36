# The sources in order of compilation; read by the scripts beside it.
set root [file dirname [file dirname [file normalize [info script]]]]
set systemverilog [list]
foreach name [list \
$systemverilog
] { lappend systemverilog [file join $$root $$name] }
set verilog [list [file join $$root board/ringmill_axi.v]]
