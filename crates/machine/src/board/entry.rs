//! `board` in the registry.

use std::sync::Arc;
use std::time::Duration;

use super::link::{LEAST, Settings, Window};
use super::port::Place;
use super::{Board, BoardError, MEMORY as MEMORY_BASE, REGISTERS, SPACE};
use crate::compact::entry::{asked, searching};
use crate::compact::parameters::{self, CLOCK, EFFORT, POLICY};
use crate::compact::{CompactError, CompactLiteral, registers as reg};
use crate::parameter::{Allowed, Parameter, Preset};
use crate::registry::{Entry, Estimates, LeftOut, Setting};
use crate::spec::MachineSpec;
use crate::{Machine, MachineError};

static SERIAL: Parameter = Parameter {
    name: "serial",
    field: "serial",
    rtl: None,
    allowed: Allowed::Path,
    default: None,
    unit: "",
    about: "the serial port of a board, as /dev/ttyUSB0",
};

static TCP: Parameter = Parameter {
    name: "tcp",
    field: "tcp",
    rtl: None,
    allowed: Allowed::HostPort,
    default: None,
    unit: "",
    about: "a simulated SoC, a server of a serial line's bytes, or litex_server",
};

/// Of the board's serial line, as `board/soc.py` has it.
const BAUD_LEFT_OUT: u64 = 1_000_000;
static BAUD: Parameter = Parameter {
    name: "baud",
    field: "baud",
    rtl: None,
    allowed: Allowed::Range(9600, 12_000_000),
    default: Some(Preset::Whole(BAUD_LEFT_OUT)),
    unit: "bits/s",
    about: "of the serial port, as the bitstream has it",
};

const WAIT_LEFT_OUT: u64 = 60;
static WAIT: Parameter = Parameter {
    name: "wait",
    field: "wait",
    rtl: None,
    allowed: Allowed::Range(1, 3600),
    default: Some(Preset::Whole(WAIT_LEFT_OUT)),
    unit: "s",
    about: "how long the board may say nothing",
};

static MEMORY: Parameter = Parameter {
    name: "memory",
    field: "memory",
    rtl: None,
    allowed: Allowed::Range(LEAST, SPACE),
    default: None,
    unit: "bytes",
    about: "memory of the board",
};

/// Bytes of the core's registers: the table of moduli is the last of them.
const REGISTERS_BYTES: u64 = (reg::MODULUS + reg::MODULUS_BYTES) as u64;
static REGISTERS_AT: Parameter = Parameter {
    name: "registers_at",
    field: "registers_at",
    rtl: None,
    allowed: Allowed::Range(0, (1 << 32) - REGISTERS_BYTES),
    default: Some(Preset::Whole(REGISTERS as u64)),
    unit: "bytes",
    about: "where a host finds the core's registers; behind PCI Express 134217728",
};

static MEMORY_AT: Parameter = Parameter {
    name: "memory_at",
    field: "memory_at",
    rtl: None,
    allowed: Allowed::Range(0, (1 << 32) - SPACE),
    default: Some(Preset::Whole(MEMORY_BASE as u64)),
    unit: "bytes",
    about: "where a host finds the memory; behind PCI Express 0",
};

/// The machine `board`.
pub static ENTRY: Entry = Entry {
    name: "board",
    about: "the hardware core of a board behind a serial line or a socket",
    runs: "those that its core was built for, which its registers say",
    estimates: Estimates::Cycles,
    simulates: "on the board",
    shared: true,
    options: &[
        Setting::or(&SERIAL, LeftOut::Words("tcp")),
        Setting::or(&TCP, LeftOut::Words("serial")),
        Setting::default(&BAUD),
        Setting::default(&WAIT),
        Setting::or(&MEMORY, LeftOut::Words("found: words are tried at powers of two")),
        Setting::default(&REGISTERS_AT),
        Setting::default(&MEMORY_AT),
        Setting::default(&parameters::ONES.parameter),
        Setting::default(&parameters::LATENCY.parameter),
        Setting::default(&parameters::BEAT.parameter),
        Setting::or(&CLOCK, LeftOut::Words("not known: cycles alone; costs are given for 100")),
        Setting::default(&POLICY),
        Setting::default(&EFFORT),
    ],
    open,
};

fn open(spec: &MachineSpec) -> Result<Arc<dyn Machine>, MachineError> {
    let place = match (spec.text(SERIAL.name), spec.text(TCP.name)) {
        (None, None) => None,
        (Some(serial), Some(tcp)) => {
            let (serial, tcp) = (serial.to_owned(), tcp.to_owned());
            return Err(BoardError::TwoPorts { serial, tcp }.into());
        }
        (Some(serial), None) => {
            // The range of the option fits.
            Some(Place::Serial(serial.into(), spec.whole(BAUD.name).unwrap_or(BAUD_LEFT_OUT) as u32))
        }
        (None, Some(tcp)) => Some(Place::Tcp(tcp.to_owned())),
    };
    let window = Window {
        registers: address(spec, &REGISTERS_AT, REGISTERS)?,
        memory: address(spec, &MEMORY_AT, MEMORY_BASE)?,
    };
    let settings = place.map(|place| Settings {
        place,
        window,
        patience: Duration::from_secs(spec.whole(WAIT.name).unwrap_or(WAIT_LEFT_OUT)),
        memory: spec.whole(MEMORY.name),
        // Ones are those of one multiplier alone, and no port has been asked yet.
        literal: asked(spec, CompactLiteral::default()),
    });
    let spec = spec.clone();
    Ok(Arc::new(Board::new(settings, Box::new(move |machine| searching(&spec, machine)))))
}

/// Of a word on the bus.
fn address(spec: &MachineSpec, of: &Parameter, left_out: u32) -> Result<u32, MachineError> {
    let Some(at) = spec.whole(of.name) else { return Ok(left_out) };
    if !at.is_multiple_of(4) {
        let (value, allowed) = (at.to_string(), "a multiple of 4".to_owned());
        return Err(CompactError::Parameter { name: of.name, value, allowed }.into());
    }
    // The range of the option fits.
    Ok(at as u32)
}
