//! What a program takes on a machine, without running it.

use std::borrow::Cow;

pub use ringmill_cycles::trace::write as trace;

/// What one run takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Cycles of the machine's clock; none where it has no clock of its own.
    pub cycles: Option<u64>,
    /// Seconds, where costs are measured or the clock is known.
    pub seconds: Option<f64>,
    /// What was counted, with names that stay: `first_cycles`, `read_beats`.
    pub counters: Vec<(Cow<'static, str>, u64)>,
    /// Cycles in which each unit worked.
    pub busy: Vec<(Cow<'static, str>, u64)>,
    /// Where every cycle went, the most first; their sum is `cycles`. Empty where that is unknown.
    pub parts: Vec<(String, u64)>,
    /// Joules by unit and memory, as far as they are known.
    pub energy: Vec<(String, f64)>,
    /// What each unit did when, instruction by instruction.
    pub spans: Vec<Span>,
    /// The source of the figures, as text.
    pub by: String,
}

impl Timing {
    /// What each unit did when, as the JSON that trace viewers such as Perfetto open.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_trace(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        let ghz = self.cycles.zip(self.seconds).map(|(cycles, seconds)| cycles as f64 / (seconds * 1e9));
        let spans = self.spans.iter().map(|s| (&*s.unit, &*s.what, s.start, s.end));
        trace(out, spans, ghz)
    }
}

/// A unit at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The unit.
    pub unit: Cow<'static, str>,
    /// What it does.
    pub what: String,
    /// The first cycle.
    pub start: u64,
    /// The cycle after the last one.
    pub end: u64,
}
