mod emulator;
mod isa;
