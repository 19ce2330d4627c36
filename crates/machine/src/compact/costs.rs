//! What a core takes for each kind of work, for the choice of key-switch methods.
//!
//! Its two transform units work in parallel with the arithmetic unit. Everything else, and all data from
//! memory, passes through the arithmetic unit. So its table is one of [units side by
//! side](CostTable::side_by_side). Transforms take the time that the two units need for them. The other rates
//! are fitted to the cycles of whole key switches, hybrid and KLSS, as the model counts them for the plans
//! that are run. In cycles a row they depend only on the cycles that memory takes for a row. `tests/costs.rs`
//! compares them with the model: single key switches are off by up to a fifth, by 7 % in the mean square.

use ringmill_program::cost::{Auxiliary, CostTable, Kind, Rates};

use super::{CompactConfig, CompactLiteral, Multiplier};

/// The clock of reported times if the core's is unknown, in MHz.
pub const CLOCK_MHZ: f64 = 100.0;

/// Cycles that memory takes for a row; cycles a row of a term of a conversion, of a product with a key limb, and of an
/// automorphism with all that a rotation does beside its key switch.
const FITTED: [[f64; 4]; 4] =
    [[1.0, 0.81, 2.75, 6.9], [2.0, 1.83, 3.84, 6.7], [4.0, 2.94, 7.91, 4.8], [8.0, 4.99, 15.8, 7.4]];

/// The rates of a core whose memory takes `memory` cycles for a row. They are interpolated between two fitted
/// ones. Beyond the last, where only memory counts, they grow with it.
pub(super) fn cycles_a_row(memory: f64) -> [f64; Kind::ALL.len()] {
    let at = FITTED[..FITTED.len() - 1].iter().rposition(|row| row[0] <= memory).unwrap_or(0);
    let (low, high) = (&FITTED[at], &FITTED[at + 1]);
    let rate = |column: usize| {
        if memory >= high[0] {
            return high[column] * memory / high[0];
        }
        low[column] + (memory - low[0]) / (high[0] - low[0]) * (high[column] - low[column])
    };
    Kind::ALL.map(|kind| match kind {
        // A row and stage of one of two units.
        Kind::Transform | Kind::WideTransform => 0.5,
        // Goes with the terms.
        Kind::Conversion => 0.0,
        Kind::ConversionTerm => rate(1),
        Kind::KeyTerm | Kind::WideKeyTerm => rate(2),
        // A pass that reads memory.
        Kind::Pointwise => memory,
        Kind::Automorphism => rate(3),
    })
}

/// The table of a core with a clock of `mhz`, and the primes for KLSS: the longest that its words hold, if its multiplier
/// takes any prime.
pub fn table(config: &CompactConfig, mhz: f64) -> CostTable {
    let row_bits = 64 * config.row_words();
    let memory = row_bits.div_ceil(config.bus_bits()) * config.timing().beat_cycles;
    let nanoseconds = 1e3 / mhz / f64::from(config.row_words());
    let rates = cycles_a_row(memory.into()).map(|cycles| cycles * nanoseconds);
    let (butterflies, word, bus) = (config.butterflies(), config.word_bits(), config.bus_bits());
    let machine = format!(
        "compact core at {mhz} MHz, {butterflies} butterflies a lane, words of {word} bits, a bus of {bus}"
    );
    let any = matches!(config.multiplier(), Multiplier::Montgomery | Multiplier::Barrett);
    let bits = if any { vec![word] } else { Vec::new() };
    // Per word and stage they are the same at every degree.
    let of = Rates { log_n: CompactLiteral::LOG_N_MIN, rates };
    let auxiliary = Auxiliary { bits, moduli: config.moduli() as usize };
    CostTable::side_by_side(machine, of).with_auxiliary(auxiliary)
}
