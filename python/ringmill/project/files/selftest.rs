//! The self-test once more, through the Rust driver: `make selftest-rust`.
//!
//!     selftest INSTRUCTIONS INPUTS EXPECTED

#![allow(dead_code)] // registers and driver offer more than one test uses

#[path = "../driver/layout.rs"]
mod layout;
#[path = "../driver/registers.rs"]
mod registers;
#[path = "../driver/ringmill_core.rs"]
mod ringmill_core;

use std::ffi::{c_int, c_void};
use std::process::ExitCode;
use std::{env, fs};

use layout::{MODEL_BEAT_CYCLES, MODEL_CYCLES, MODEL_FIRST_CYCLES, MODEL_LATENCY, PROGRAM};
use ringmill_core::{Core, Platform};

/// Memory of the core above this address, so that relocation is tested too.
const BASE: usize = 1 << 17;

#[repr(C)]
#[derive(Default)]
struct Memory {
    settings: [u32; 14],
    seed: u64,
    errors: [u64; 2],
}

#[link(name = "rm_core")]
unsafe extern "C" {
    fn rm_core_memory_default(out: *mut Memory);
    fn rm_core_new(bytes: *mut u8, size: u64, memory: *const Memory) -> *mut c_void;
    fn rm_core_free(core: *mut c_void);
    fn rm_core_write_register(core: *mut c_void, address: u32, value: u32) -> c_int;
    fn rm_core_read_register(core: *mut c_void, address: u32, value: *mut u32) -> c_int;
    fn rm_core_wait(core: *mut c_void, cycles: u64) -> c_int;
}

/// The simulated core; its words are its memory and never move.
struct Simulation {
    core: *mut c_void,
    words: Vec<u64>,
}

impl Simulation {
    fn new(bytes: u64) -> Option<Self> {
        let mut words = vec![0u64; (bytes as usize + BASE) / 8];
        let mut memory = Memory::default();
        // SAFETY: `words` outlives the core (`drop`) and keeps its place; `memory` has the layout of rm_core_memory.
        let core = unsafe {
            rm_core_memory_default(&mut memory);
            // read_latency, write_latency, rate_num, rate_den.
            memory.settings[..4].copy_from_slice(&[MODEL_LATENCY, MODEL_LATENCY, 1, MODEL_BEAT_CYCLES]);
            rm_core_new(words.as_mut_ptr().cast(), 8 * words.len() as u64, &memory)
        };
        (!core.is_null()).then_some(Self { core, words })
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // SAFETY: the core is ours and not used again.
        unsafe { rm_core_free(self.core) }
    }
}

fn ok(code: c_int) -> Result<(), c_int> {
    if code == 0 { Ok(()) } else { Err(code) }
}

impl Platform for Simulation {
    type Error = c_int;

    fn read_register(&mut self, offset: u32) -> Result<u32, c_int> {
        let mut value = 0;
        // SAFETY: the core is ours.
        ok(unsafe { rm_core_read_register(self.core, offset, &mut value) }).map(|()| value)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), c_int> {
        // SAFETY: the core is ours.
        ok(unsafe { rm_core_write_register(self.core, offset, value) })
    }

    fn wait(&mut self) -> Result<(), c_int> {
        // SAFETY: the core is ours.
        ok(unsafe { rm_core_wait(self.core, 1 << 36) })
    }

    fn memory(&mut self) -> &mut [u64] {
        &mut self.words[BASE / 8..]
    }

    fn base(&self) -> u64 {
        BASE as u64
    }
}

fn words(path: &str) -> Vec<u64> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight bytes"))).collect()
}

fn main() -> ExitCode {
    let paths: Vec<String> = env::args().skip(1).collect();
    let [instructions, inputs, expected] = &paths[..] else {
        eprintln!("usage: selftest INSTRUCTIONS INPUTS EXPECTED");
        return ExitCode::from(2);
    };
    let platform = Simulation::new(PROGRAM.bytes).expect("a simulated core");
    let mut core = Core::open(platform, &PROGRAM, &words(instructions)).expect("the core opens");
    let (n, inputs, expected) = (1 << PROGRAM.log_n, words(inputs), words(expected));
    assert_eq!(inputs.len(), n * PROGRAM.input_limbs as usize, "input words");
    assert_eq!(expected.len(), n * PROGRAM.outputs.len(), "expected words");
    for (i, limb) in (0..).zip(inputs.chunks_exact(n)) {
        core.put(i, limb).expect("an input");
    }
    let first = core.run(1 << 32).expect("the run");
    // Once more: inputs stay where they are, and the transform units have their roots by now.
    let cycles = core.run(1 << 32).expect("the second run");
    let mut found = vec![0; n];
    for (i, limb) in (0..).zip(expected.chunks_exact(n)) {
        core.get(i, &mut found).expect("an output");
        if found != limb {
            eprintln!("FAIL output limb {i} differs");
            return ExitCode::FAILURE;
        }
    }
    let limbs = PROGRAM.outputs.len();
    println!(
        "PASS {limbs} output limbs of {n} words, {first} and {cycles} cycles, \
         {MODEL_FIRST_CYCLES} and {MODEL_CYCLES} by the model"
    );
    if expected.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
