//! The bus of a SoC behind its line: words at addresses, in bytes of LiteX's UARTBone or of Etherbone.
//!
//! A line itself speaks UARTBone. `litex_server` speaks Etherbone, and says so: it greets. UARTBone has no checks, so that
//! callers read back what they write.

use std::io;
use std::time::Duration;

use super::BoardError;
use super::port::{Place, Port, is_late};

/// Silence after which a line has nothing more to say, and after which a UARTBone in the middle of a command begins anew: it
/// waits 100 ms.
const QUIET: Duration = Duration::from_millis(150);
/// Bytes of a line that speaks unasked before it is given up.
const TALK: usize = 1 << 14;
/// How `litex_server` greets: the class of its way to the board.
const GREETING: &[u8] = b"Comm";
/// A UARTBone gives up a command that takes 100 ms; this is what one may take on the line.
const COMMAND_MILLISECONDS: u32 = 40;
/// Most words of a command of either kind.
const BURST: usize = 254;

/// How commands are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    UartBone,
    Etherbone,
}

/// The bus of a SoC.
#[derive(Debug)]
pub(super) struct Bus {
    port: Port,
    place: Place,
    speech: Speech,
    /// Most words of a command; even.
    burst: usize,
    /// How long the line may say nothing.
    patience: Duration,
}

impl Bus {
    /// Opens the line, and waits until it is quiet.
    pub(super) fn open(place: &Place, patience: Duration) -> Result<Self, BoardError> {
        let port = place.open(patience)?;
        let burst = match place {
            // Ten bits a byte.
            Place::Serial(_, baud) => {
                let words = (baud / 10 / 1000 * COMMAND_MILLISECONDS / 4) as usize;
                BURST.min(words & !1).max(2)
            }
            Place::Tcp(_) => BURST,
        };
        let mut bus = Self { port, place: place.clone(), speech: Speech::UartBone, burst, patience };
        let said = bus.drain()?;
        if said.starts_with(GREETING) && matches!(place, Place::Tcp(_)) {
            bus.speech = Speech::Etherbone;
        } else if said.len() >= TALK {
            let said = String::from_utf8_lossy(&said[..32]).into_owned();
            return Err(BoardError::Talks { place: place.to_string(), said });
        }
        Ok(bus)
    }

    /// Most words of one command.
    pub(super) const fn burst(&self) -> usize {
        self.burst
    }

    /// What the line says until it is quiet.
    pub(super) fn drain(&mut self) -> Result<Vec<u8>, BoardError> {
        let (mut said, mut bytes) = (Vec::new(), [0; 1024]);
        while said.len() < TALK {
            match self.port.receive(&mut bytes, QUIET) {
                Ok(got) => said.extend_from_slice(&bytes[..got]),
                Err(e) if is_late(&e) => break,
                Err(e) => return Err(self.failed(&e)),
            }
        }
        Ok(said)
    }

    /// Writes words that follow each other, at most [`Self::burst`] of them.
    pub(super) fn write(&mut self, address: u32, words: &[u32]) -> Result<(), BoardError> {
        let mut bytes = match self.speech {
            Speech::UartBone => uartbone(WRITE, words.len(), address),
            Speech::Etherbone => etherbone(words.len(), 0, address),
        };
        bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        self.send(&bytes)
    }

    /// Reads words that follow each other, at most [`Self::burst`] of them.
    pub(super) fn read(&mut self, address: u32, words: &mut [u32]) -> Result<(), BoardError> {
        let (bytes, head) = match self.speech {
            Speech::UartBone => (uartbone(READ, words.len(), address), 0),
            Speech::Etherbone => {
                // Where answers go, which means nothing here; then an address for each word.
                let mut bytes = etherbone(0, words.len(), 0);
                let addresses = (address..).step_by(4).take(words.len());
                bytes.extend(addresses.flat_map(u32::to_be_bytes));
                (bytes, ETHERBONE_HEAD)
            }
        };
        self.send(&bytes)?;
        let mut answer = vec![0; head + 4 * words.len()];
        let mut have = 0;
        while have < answer.len() {
            match self.port.receive(&mut answer[have..], self.patience) {
                Ok(got) => have += got,
                Err(e) => return Err(self.failed(&e)),
            }
        }
        for (word, bytes) in words.iter_mut().zip(answer[head..].as_chunks().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), BoardError> {
        self.port.send(bytes, self.patience).map_err(|e| self.failed(&e))
    }

    fn failed(&self, why: &io::Error) -> BoardError {
        let place = self.place.to_string();
        if is_late(why) {
            return BoardError::Silent { place, seconds: self.patience.as_secs() };
        }
        BoardError::Unplugged { place, why: why.to_string() }
    }
}

/// Commands of the UARTBone: bursts over ascending addresses.
const WRITE: u8 = 1;
const READ: u8 = 2;

/// The head of a UARTBone's command: command, words, address of a word.
fn uartbone(command: u8, words: usize, address: u32) -> Vec<u8> {
    // A burst has fewer than 256.
    let mut bytes = vec![command, words as u8];
    bytes.extend((address / 4).to_be_bytes());
    bytes
}

/// Bytes before the words of an Etherbone packet with one record.
const ETHERBONE_HEAD: usize = 16;

/// The head of an Etherbone packet with one record: magic number, version 1, addresses and ports of 32 bits, padding; flags,
/// all bytes of a word, words to write, words to read; the first address.
fn etherbone(writes: usize, reads: usize, address: u32) -> Vec<u8> {
    let mut bytes = vec![0x4e, 0x6f, 0x10, 0x44, 0, 0, 0, 0, 0, 0x0f, writes as u8, reads as u8];
    bytes.extend(address.to_be_bytes());
    bytes
}
