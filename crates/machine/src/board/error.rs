//! What can go wrong on the way to a board.

use ringmill_errors::StructuredError;

/// Why a board cannot be used, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum BoardError {
    #[error(
        "machine board is given no port: write board:serial=PATH, as /dev/ttyUSB0, or board:tcp=HOST:PORT for a simulated \
         SoC or a server of the line"
    )]
    NoPort,
    #[error("machine board is given two ports, serial={serial} and tcp={tcp}; give one of them")]
    TwoPorts { serial: String, tcp: String },
    #[error(
        "{place} does not open: {why}. See that the board is connected, that the simulated SoC or the server of the line \
         runs, and that you may use the port"
    )]
    Closed { place: String, why: String },
    #[error("{place} is no serial port: {why}. Name the board's, as serial=/dev/ttyUSB0")]
    NotSerial { place: String, why: String },
    #[error(
        "{place} is in use: by another program, or by this one with other values of wait, memory or ones. End that, or name another \
         port"
    )]
    InUse { place: String },
    #[error(
        "{place} went away ({why}): the board was unplugged, or the simulated SoC or the server of the line ended. Connect it \
         again and run again: the core is reset, and keys and programs are loaded anew"
    )]
    Unplugged { place: String, why: String },
    #[error(
        "nothing answers at {place} within {seconds} s. See that the bitstream is loaded and that baud is that of its serial \
         line; wait= gives a slow simulator more time"
    )]
    Silent { place: String, seconds: u64 },
    #[error(
        "{place} speaks without being asked, beginning with {said:?}: this is not the line of a bus. Take the board's other \
         port, or a bitstream without a console on this one"
    )]
    Talks { place: String, said: String },
    #[error(
        "the line at {place} lost bytes: the core answers, but not to what it was asked. Take a shorter cable and no hub \
         between, or a lower baud that the bitstream has too; then run again, and keys and programs are loaded anew"
    )]
    Lost { place: String },
    #[error(
        "the word at {address:#x} of the board's memory was written as {written:#010x} and reads {found:#010x}: the line at \
         {place} changed or lost bytes, or the memory does not keep its words. Run again; if it happens again, take a lower \
         baud, or load the bitstream anew, so that its DRAM is calibrated"
    )]
    Changed { place: String, address: u64, written: u32, found: u32 },
    #[error(
        "the memory of the board at {place} does not keep its words: byte {address:#x} was written as {written:#010x} and \
         reads {found:#010x}. Its DRAM is not calibrated, or it is smaller than memory= says: load the bitstream anew, and \
         see what its processor says of the DRAM"
    )]
    Memory { place: String, address: u64, written: u32, found: u32 },
    #[error(
        "register ID at {place} reads {id:#010x}; a compact core reads {expected:#010x}. Load a bitstream that `make board` \
         made, or name the port of the board that has one"
    )]
    NoCore { place: String, id: u32, expected: u32 },
    #[error(
        "the core at {place} has version {major}.{minor} of registers and instructions; this driver needs \
         {needed_major}.{needed_minor} or a later {needed_major}.x. Make its bitstream anew with this version of Ringmill"
    )]
    OtherVersion { place: String, major: u32, minor: u32, needed_major: u32, needed_minor: u32 },
    #[error(
        "the core at {place} is not the one that the program was prepared for: it was built with {found}, that one with \
         {prepared}. Prepare the program again"
    )]
    OtherCore { place: String, found: String, prepared: String },
    #[error(
        "the core at {place} is busy and does not move for {seconds} s, not even after a reset: load the bitstream anew, or \
         press the board's reset"
    )]
    Stuck { place: String, seconds: u64 },
}
