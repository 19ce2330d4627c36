//! The closed form: cycles that no schedule goes below.
//!
//! Of four bounds the greatest, plus nothing:
//! - *transforms*: each holds one of the two lanes for log N·rows cycles;
//! - *passes*: every term of a product, an inner product, a conversion or a quotient, and every lift, is a pass of at least
//!   `rows` cycles through the one arithmetic unit. A term of a product streams an operand from memory: all but the rows that
//!   the read FIFO holds when it begins arrive while it runs;
//! - *memory*: key limbs are streamed at every use, other inputs are read once, 64 bits a word;
//! - *path*: the longest chain of transforms that wait for each other; a transform begins when its limb is complete, so
//!   a pass in between costs its rows. Passes follow each other row by row and cost nothing among themselves.

use ringmill_machine::compact::CompactConfig;
use ringmill_program::limb::{LimbProgram, Opcode, Source};
use ringmill_program::schedule::Statistics;

/// Lanes: a transform runs on one of them.
const LANES: u64 = 2;

/// What the bound needs to know of a limb program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Counts {
    /// log2 N.
    pub log_n: u32,
    /// Transforms.
    pub transforms: u64,
    /// Passes through the arithmetic unit that stream an operand: terms of products.
    pub products: u64,
    /// Other passes through it.
    pub passes: u64,
    /// Limbs read from memory.
    pub reads: u64,
    /// Limbs written to memory.
    pub writes: u64,
    /// Transforms and passes of the longest path.
    pub path: (u64, u64),
}

impl Counts {
    /// Counts a program.
    pub fn of(program: &LimbProgram) -> Self {
        let s = Statistics::of(program);
        let (n, limb) = (program.n() as u64, 8 * program.n() as u64);
        let kind = |op: Opcode| s.by_kind[op as usize] as u64;
        // A product with a constant moves in front of a transform or into a lift, where it costs nothing.
        let terms = s.multiply_adds / n - kind(Opcode::MulConst) - kind(Opcode::SubMulConst);
        let dots = (0..program.len()).filter(|&i| program.opcode(i) == Opcode::Dot);
        let in_dots = dots.map(|i| program.operands(i).len() as u64 / 2).sum::<u64>();
        let products = in_dots + kind(Opcode::Mul) + kind(Opcode::Mac);
        Self {
            log_n: program.log_n(),
            transforms: (s.ntt + s.intt) as u64,
            products,
            passes: terms - products + kind(Opcode::Lift),
            reads: (s.key_bytes_read + s.data_bytes) / limb,
            writes: s.output_bytes / limb,
            path: longest(program),
        }
    }

    /// The bound for a core.
    pub fn cycles(&self, config: &CompactConfig) -> u64 {
        let rows = u64::from(config.rows(self.log_n));
        let slot = config.slot(self.log_n);
        let beats = (64u64 << self.log_n).div_ceil(config.bus_bits().into());
        let memory = beats * u64::from(config.timing().beat_cycles);
        let streamed = memory * rows.saturating_sub(fifo_rows(config)) / rows;
        let passes = self.products * rows.max(streamed) + self.passes * rows;
        let transforms = self.transforms.div_ceil(LANES) * slot;
        let path = self.path.0 * slot + self.path.1 * rows;
        transforms.max(passes).max(self.reads.max(self.writes) * memory).max(path)
    }
}

/// Rows that can be there before a pass asks for them: the read FIFO (`mem_system.sv`), and those around it.
fn fifo_rows(config: &CompactConfig) -> u64 {
    // Those of a wide beat that is being cut into rows, and the output register.
    let registers = 12;
    (1024 / (4 * u64::from(config.butterflies()))).max(64) + registers
}

/// The longest path as transforms and passes, by transforms first: a transform outweighs all passes of a path, since
/// log N of them fit in it and one pass stands between two transforms.
fn longest(program: &LimbProgram) -> (u64, u64) {
    // Transforms, passes, and whether the value comes out of a pass, to which the next pass is chained.
    let mut at: Vec<(u64, u64, bool)> = vec![(0, 0, false); program.values()];
    let mut most = (0, 0);
    for i in 0..program.len() {
        let of = |o: &ringmill_program::limb::Operand| match o.source() {
            Source::Value(v) => at[v.index()],
            Source::Input(_) => (0, 0, false),
        };
        let from = program.operands(i).iter().map(of).max().unwrap_or((0, 0, false));
        let (transforms, passes, chained) = from;
        let here = match program.opcode(i) {
            Opcode::Ntt | Opcode::Intt => (transforms + 1, passes, false),
            Opcode::Dot | Opcode::Mul | Opcode::Mac | Opcode::Convert | Opcode::Quotient | Opcode::Lift => {
                (transforms, passes + u64::from(!chained), true)
            }
            _ => from,
        };
        most = most.max((here.0, here.1));
        if let Some(v) = program.defined(i) {
            at[v.index()] = here;
        }
    }
    most
}
