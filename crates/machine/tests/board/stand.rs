//! A SoC behind a line: LiteX's UARTBone after its source (`litex/soc/cores/uart.py`), registers and memory, and a core that
//! computes by the emulator. It may misbehave.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringmill_machine::compact::{CompactConfig, Core, Emulator, TableEntry};
use serial2::SerialPort;

/// Where the core finds its memory, and, left out, a host finds registers and memory.
const REGISTERS: u64 = 0x9000_0000;
const MEMORY: u64 = 0x4000_0000;
/// What reads where nothing is.
const NOTHING: u32 = u32::MAX;
/// A UARTBone in the middle of a command gives it up after this.
const GIVES_UP: Duration = Duration::from_millis(100);

/// What goes wrong, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The n-th byte from the host is lost.
    Loses(usize),
    /// The n-th byte to the host is lost.
    LosesAnswer(usize),
    /// The n-th byte from the host is another.
    Changes(usize),
    /// The line ends before the n-th byte from the host.
    HangsUp(usize),
    /// Nothing is said from the n-th byte from the host on.
    Mute(usize),
    /// The next program does not end; whether its cycles go on.
    Hangs(bool),
    /// The next program ends with an error code.
    Stops(u8),
}

/// The board.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) config: CompactConfig,
    others: HashMap<u64, u32>,
    pub(super) memory: Vec<u32>,
    /// Where a host finds registers and memory.
    pub(super) window: [u64; 2],
    /// Bits of a word of memory that stay 0.
    pub(super) broken: u32,
    /// Whether a reset ends what runs.
    pub(super) resets: bool,
    pub(super) busy: bool,
    pub(super) fault: Fault,
    /// What a console says on the line before all else.
    pub(super) console: Vec<u8>,
    /// Bytes from and to the host, over all connections.
    pub(super) taken: usize,
    pub(super) said: usize,
    status: u32,
    cycles: u32,
    counts: bool,
    program: u32,
    log_n: u32,
    table: HashMap<u64, u32>,
}

pub(super) type Shared = Arc<Mutex<Board>>;

impl Board {
    pub(super) fn new(config: CompactConfig, bytes: usize) -> Self {
        Self {
            config,
            others: HashMap::new(),
            memory: vec![0x5555_5555; bytes / 4],
            window: [REGISTERS, MEMORY],
            broken: 0,
            resets: true,
            busy: false,
            fault: Fault::None,
            console: Vec::new(),
            taken: 0,
            said: 0,
            status: 0,
            cycles: 0,
            counts: false,
            program: 0,
            log_n: 0,
            table: HashMap::new(),
        }
    }

    /// Has a register read otherwise.
    pub(super) fn reads(&mut self, register: u64, word: u32) {
        self.others.insert(register, word);
    }

    /// The register at an address of the host; otherwise it is one of the memory, or of nothing.
    fn register(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.window[0]).filter(|&at| at < 0x4000)
    }

    fn word(&mut self, address: u64) -> Option<&mut u32> {
        let at = address.checked_sub(self.window[1])?;
        self.memory.get_mut(at as usize / 4)
    }

    fn read(&mut self, address: u64) -> u32 {
        let Some(at) = self.register(address) else {
            return self.word(address).map_or(NOTHING, |word| *word);
        };
        let c = &self.config;
        let said = match at {
            0x00 => 0x524d_4343,
            0x04 => 0x0001_0001,
            0x08 => c.word_bits() | c.butterflies() << 8 | c.log_n_max() << 16 | c.moduli() << 24,
            0x0c => c.multiplier() as u32 | c.bus_bits() << 16,
            0x14 => self.status | u32::from(self.busy),
            0x18 => 7,
            0x24 => self.program,
            0x28 => self.log_n,
            0x100 => {
                self.cycles += if self.counts { 1 << 30 } else { 0 };
                self.cycles
            }
            _ => 0,
        };
        self.others.get(&at).copied().unwrap_or(said)
    }

    fn write(&mut self, address: u64, word: u32) {
        let Some(register) = self.register(address) else {
            let kept = word & !self.broken;
            if let Some(at) = self.word(address) {
                *at = kept;
            }
            return;
        };
        match register {
            0x10 if word & 2 == 2 => self.busy &= !self.resets,
            0x10 if word & 1 == 1 => self.run(),
            0x24 => self.program = word,
            0x28 => self.log_n = word,
            at @ 0x2000..0x4000 => {
                self.table.insert(at - 0x2000, word);
            }
            _ => {}
        }
    }

    /// The words of an entry of the table, low halves first.
    fn entry(&self, index: u64, field: u64) -> Option<u64> {
        let half = |i| self.table.get(&(256 * index + 8 * field + i)).map(|&word| u64::from(word));
        half(0).zip(half(4)).map(|(low, high)| low | high << 32)
    }

    fn run(&mut self) {
        (self.status, self.cycles, self.counts) = (2, 0, false);
        match std::mem::replace(&mut self.fault, Fault::None) {
            Fault::Hangs(counts) => (self.busy, self.counts) = (true, counts),
            Fault::Stops(code) => self.status = 4 | u32::from(code) << 8,
            other => {
                self.fault = other;
                self.compute();
            }
        }
    }

    /// The emulator's memory begins at 0, so that addresses of the program count from there.
    fn compute(&mut self) {
        let mut core = Emulator::new(self.config);
        for index in 0..u64::from(self.config.moduli()) {
            let Some((q, aux)) = self.entry(index, 0).zip(self.entry(index, 1)) else { continue };
            let roots = (0..u64::from(self.log_n)).map_while(|b| self.entry(index, 2 + b)).collect();
            core.set_modulus(index as usize, &TableEntry { q, aux, roots }).unwrap();
        }
        let pairs = self.memory.chunks_exact(2);
        let mut words: Vec<u64> = pairs.map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect();
        let (base, start) = (MEMORY / 64, 64 * u64::from(self.program) - MEMORY);
        for one in words[start as usize / 8..].chunks_exact_mut(4) {
            one[0] = one[0].wrapping_sub(if one[0] >> 30 & 1 == 1 { base << 32 } else { 0 });
            one[1] = one[1].wrapping_sub(if one[0] >> 31 & 1 == 1 { base } else { 0 });
        }
        core.write(0, &words).unwrap();
        core.run(start, self.log_n).unwrap();
        core.read(0, &mut words[..start as usize / 8]).unwrap();
        for (pair, word) in self.memory.chunks_exact_mut(2).zip(&words[..start as usize / 8]) {
            (pair[0], pair[1]) = (*word as u32, (word >> 32) as u32);
        }
    }
}

/// A line as the board has it: bytes in, bytes out.
trait Line {
    /// How many bytes came; 0 if none came in time.
    fn take(&mut self, bytes: &mut [u8], patience: Duration) -> io::Result<usize>;
    fn say(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Line for TcpStream {
    fn take(&mut self, bytes: &mut [u8], patience: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(patience))?;
        match Read::read(self, bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }

    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
}

impl Line for SerialPort {
    fn take(&mut self, bytes: &mut [u8], patience: Duration) -> io::Result<usize> {
        self.set_read_timeout(patience)?;
        match SerialPort::read(self, bytes) {
            Err(e) if e.kind() == ErrorKind::TimedOut => Ok(0),
            other => other,
        }
    }

    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        SerialPort::write_all(self, bytes)
    }
}

/// A UARTBone on a line.
struct Bone<L> {
    line: L,
    board: Shared,
    mute: bool,
    /// What came and was not taken yet, the next byte last.
    came: Vec<u8>,
}

impl<L: Line> Bone<L> {
    fn new(line: L, board: Shared) -> Self {
        Self { line, board, mute: false, came: Vec::new() }
    }

    /// The next byte, in the middle of a command in time.
    fn byte(&mut self, inside: bool) -> io::Result<Option<u8>> {
        loop {
            let patience = if inside { GIVES_UP } else { Duration::from_secs(3600) };
            if self.came.is_empty() {
                let mut bytes = [0; 2048];
                let got = self.line.take(&mut bytes, patience)?;
                self.came.extend(bytes[..got].iter().rev());
            }
            let Some(byte) = self.came.pop() else { return Ok(None) };
            let mut board = self.board.lock().unwrap();
            board.taken += 1;
            let at = board.taken - 1;
            match board.fault {
                Fault::Loses(n) if n == at => {
                    board.fault = Fault::None;
                    continue;
                }
                Fault::Changes(n) if n == at => {
                    board.fault = Fault::None;
                    return Ok(Some(byte ^ 0x10));
                }
                Fault::HangsUp(n) if n == at => {
                    board.fault = Fault::None;
                    return Err(ErrorKind::BrokenPipe.into());
                }
                Fault::Mute(n) if n == at => {
                    board.fault = Fault::None;
                    self.mute = true;
                }
                _ => {}
            }
            if !self.mute {
                return Ok(Some(byte));
            }
        }
    }

    fn answer(&mut self, mut bytes: Vec<u8>) -> io::Result<()> {
        let mut board = self.board.lock().unwrap();
        if let Fault::LosesAnswer(n) = board.fault
            && let Some(at) = n.checked_sub(board.said).filter(|&at| at < bytes.len())
        {
            bytes.remove(at);
            board.fault = Fault::None;
        }
        board.said += bytes.len();
        drop(board);
        self.line.say(&bytes)
    }

    fn serve(&mut self) -> io::Result<()> {
        let said = self.board.lock().unwrap().console.clone();
        self.line.say(&said)?;
        loop {
            if let Some(command) = self.byte(false)? {
                self.command(command)?;
            }
        }
    }

    /// A command that was begun; given up where its bytes do not come.
    fn command(&mut self, command: u8) -> io::Result<()> {
        let Some(words) = self.byte(true)? else { return Ok(()) };
        let Some(address) = self.word()? else { return Ok(()) };
        let address = 4 * u64::from(address);
        let mut bytes = Vec::new();
        for at in (address..).step_by(4).take(words.into()) {
            match command {
                1 => {
                    let Some(word) = self.word()? else { return Ok(()) };
                    self.board.lock().unwrap().write(at, word);
                }
                2 => {
                    let word = self.board.lock().unwrap().read(at);
                    bytes.extend(word.to_be_bytes());
                }
                _ => {}
            }
        }
        self.answer(bytes)
    }

    fn word(&mut self) -> io::Result<Option<u32>> {
        let mut word = 0;
        for _ in 0..4 {
            let Some(byte) = self.byte(true)? else { return Ok(None) };
            word = word << 8 | u32::from(byte);
        }
        Ok(Some(word))
    }
}

/// A board behind a socket, for one host after the other.
pub(super) fn socket(board: Board) -> (Shared, String) {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("tcp={}", door.local_addr().unwrap());
    let board = Arc::new(Mutex::new(board));
    let shared = board.clone();
    std::thread::spawn(move || {
        for line in door.incoming() {
            let line = line.unwrap();
            let other = line.try_clone().unwrap();
            drop(Bone::new(line, board.clone()).serve());
            drop(other.shutdown(Shutdown::Both));
        }
    });
    (shared, place)
}

/// A board behind a pseudo-terminal, and its other end, which stays open between hosts.
pub(super) fn terminal(board: Board) -> (Shared, String, SerialPort) {
    let (line, host) = SerialPort::pair().unwrap();
    let path = std::fs::read_link(format!("/proc/self/fd/{}", host.as_raw_fd())).unwrap();
    let place = format!("serial={}", path.display());
    let board = Arc::new(Mutex::new(board));
    let shared = board.clone();
    std::thread::spawn(move || Bone::new(line, board).serve());
    (shared, place, host)
}
