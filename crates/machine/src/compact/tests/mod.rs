mod core;
mod emulator;
mod isa;
mod model;
mod primes;
mod programs;
mod simulated;
mod slots;
