# A project for the Arty A7-100T: a MicroBlaze, this core, its memory on the board's DDR3.
#   vivado -mode batch -source board/ip.tcl -tclargs xc7a100tcsg324-1; vivado -mode batch -source board/arty_a7.tcl
# Not run where this was written: no vendor's tool is there. A Tcl interpreter with stand-ins for its commands reads it in a test.
set here [file dirname [file normalize [info script]]]
create_project ringmill_arty_a7 [file join $$here arty_a7] -part xc7a100tcsg324-1 -force
set_property board_part [lindex [get_board_parts *arty-a7-100*] end] [current_project]
set_property ip_repo_paths [file join $$here ip] [current_project]
update_ip_catalog

create_bd_design system
# The memory controller gives the clock and the reset of everything: a quarter of the memory's.
create_bd_cell -type ip -vlnv xilinx.com:ip:mig_7series memory
apply_board_connection -board_interface ddr3_sdram -ip_intf memory/mig_ddr_interface -diagram system
set cpu [create_bd_cell -type ip -vlnv xilinx.com:ip:microblaze cpu]
apply_bd_automation -rule xilinx.com:bd_rule:microblaze -config {local_mem 64KB cache 16KB debug_module "Debug Only" \
  axi_periph Enabled axi_intc 1 clk /memory/ui_clk} $$cpu
create_bd_cell -type ip -vlnv xilinx.com:ip:axi_uartlite uart
apply_board_connection -board_interface usb_uart -ip_intf uart/UART -diagram system
set core [create_bd_cell -type ip -vlnv ringmill:hardware:ringmill_axi core]
foreach slave {core/s_axi uart/S_AXI} {
  apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config [list Master /cpu Clk_master /memory/ui_clk Clk_slave /memory/ui_clk] \
    [get_bd_intf_pins $$slave]
}
foreach master {core/m_axi} {
  apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config [list Master /$$master Slave /memory/S_AXI Clk_master /memory/ui_clk] \
    [get_bd_intf_pins memory/S_AXI]
}
connect_bd_net [get_bd_pins core/irq] [get_bd_pins cpu_xlconcat/In0]
assign_bd_address
validate_bd_design
save_bd_design

make_wrapper -files [get_files system.bd] -top -import
set_property top system_wrapper [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "the run of Vivado did not end: see its log" }
open_run impl_1
report_utilization -file [file join $$here arty_a7_utilization.txt]
report_timing_summary -file [file join $$here arty_a7_timing.txt]
write_hw_platform -fixed -include_bit -force [file join $$here arty_a7.xsa]
puts "registers at [get_property OFFSET [get_bd_addr_segs cpu/Data/SEG_core_registers]]: driver/platform_bare.c"
