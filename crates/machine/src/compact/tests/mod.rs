mod emulator;
mod isa;
mod model;
mod programs;
