delay_line.sv
stream_delay.sv
stream_tag.sv
stream_clock.sv
stream_swap.sv
fv_stream_swap.sv
