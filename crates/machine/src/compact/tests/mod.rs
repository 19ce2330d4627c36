mod emulator;
mod isa;
mod programs;
