# A project for the ZCU104: the processor, this core, its memory on the processor's DDR.
#   vivado -mode batch -source board/ip.tcl -tclargs xczu7ev-ffvc1156-2-e; vivado -mode batch -source board/zcu104.tcl
# Not run where this was written: no vendor's tool is there. A Tcl interpreter with stand-ins for its commands reads it in a test.
set here [file dirname [file normalize [info script]]]
create_project ringmill_zcu104 [file join $$here zcu104] -part xczu7ev-ffvc1156-2-e -force
set_property board_part [lindex [get_board_parts *zcu104*] end] [current_project]
set_property ip_repo_paths [file join $$here ip] [current_project]
update_ip_catalog

create_bd_design system
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps]
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset 1} $$ps
# One clock for the bus and the core; the slave port sees all of the DDR.
set_property -dict [list CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ {$mhz} CONFIG.PSU__USE__M_AXI_GP0 {1} CONFIG.PSU__USE__M_AXI_GP1 {0} \
  CONFIG.PSU__USE__M_AXI_GP2 {0} CONFIG.PSU__USE__S_AXI_GP2 {1} CONFIG.PSU__USE__IRQ0 {1}] $$ps
set core [create_bd_cell -type ip -vlnv ringmill:hardware:ringmill_axi core]
set reset [create_bd_cell -type ip -vlnv xilinx.com:ip:proc_sys_reset reset]
set to_core [create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect to_core]
set to_memory [create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect to_memory]
set_property CONFIG.NUM_SI 1 $$to_core
set_property CONFIG.NUM_SI 1 $$to_memory

set clock [get_bd_pins ps/pl_clk0]
foreach pin {ps/maxihpm0_fpd_aclk ps/saxihp0_fpd_aclk core/aclk reset/slowest_sync_clk to_core/aclk to_memory/aclk} {
  connect_bd_net $$clock [get_bd_pins $$pin]
}
connect_bd_net [get_bd_pins ps/pl_resetn0] [get_bd_pins reset/ext_reset_in]
foreach pin {core/aresetn to_core/aresetn to_memory/aresetn} {
  connect_bd_net [get_bd_pins reset/peripheral_aresetn] [get_bd_pins $$pin]
}
connect_bd_intf_net [get_bd_intf_pins ps/M_AXI_HPM0_FPD] [get_bd_intf_pins to_core/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins to_core/M00_AXI] [get_bd_intf_pins core/s_axi]
connect_bd_intf_net [get_bd_intf_pins core/m_axi] [get_bd_intf_pins to_memory/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins to_memory/M00_AXI] [get_bd_intf_pins ps/S_AXI_HP0_FPD]
connect_bd_net [get_bd_pins core/irq] [get_bd_pins ps/pl_ps_irq0]
assign_bd_address
validate_bd_design
save_bd_design

make_wrapper -files [get_files system.bd] -top -import
set_property top system_wrapper [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "the run of Vivado did not end: see its log" }
open_run impl_1
report_utilization -file [file join $$here zcu104_utilization.txt]
report_timing_summary -file [file join $$here zcu104_timing.txt]
write_hw_platform -fixed -include_bit -force [file join $$here zcu104.xsa]
puts "registers at [get_property OFFSET [get_bd_addr_segs ps/Data/SEG_core_registers]]: driver/platform_board.c"
