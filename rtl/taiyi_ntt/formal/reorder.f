rm_delay_line.sv
rm_stream_delay.sv
rm_stream_tag.sv
rm_stream_clock.sv
rm_nttu_mark.sv
rm_nttu_reorder.sv
fv_nttu_reorder.sv
