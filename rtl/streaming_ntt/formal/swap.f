rm_delay_line.sv
rm_stream_delay.sv
rm_stream_tag.sv
rm_stream_clock.sv
rm_stream_swap.sv
fv_stream_swap.sv
