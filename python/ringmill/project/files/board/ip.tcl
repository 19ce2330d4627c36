# Packages the core as an IP for block designs, in board/ip:   vivado -mode batch -source board/ip.tcl
# Not run where this was written: no vendor's tool is there. A Tcl interpreter with stand-ins for its commands reads it in a test.
set here [file dirname [file normalize [info script]]]
set part [expr {$$argc > 0 ? [lindex $$argv 0] : "$part"}]
source [file join $$here sources.tcl]

create_project -in_memory -part $$part
read_verilog -sv $$systemverilog
read_verilog $$verilog
set_property top ringmill_axi [current_fileset]
update_compile_order -fileset sources_1

ipx::package_project -root_dir [file join $$here ip] -vendor ringmill -library hardware -name ringmill_axi -taxonomy /UserIP \
  -import_files -set_current true
set core [ipx::current_core]
set_property version 1.1 $$core
set_property display_name "Ringmill core of $name" $$core
set_property description "CKKS limb programs; registers in registers/README.md" $$core
set_property supported_families [list [get_property FAMILY [get_parts $$part]] Beta] $$core
# The window of registers, so that the address editor reserves it.
set map [ipx::add_memory_map s_axi $$core]
set_property slave_memory_map_ref s_axi [ipx::get_bus_interfaces s_axi -of_objects $$core]
set block [ipx::add_address_block registers $$map]
set_property range 16384 $$block
set_property usage register $$block
ipx::create_xgui_files $$core
ipx::update_checksums $$core
ipx::check_integrity $$core
ipx::save_core $$core
puts "packaged: [file join $$here ip]"
