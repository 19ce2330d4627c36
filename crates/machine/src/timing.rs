//! What a program takes on a machine, told without running it.

/// What one run takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Cycles of the machine's clock; none where it has no clock of its own.
    pub cycles: Option<u64>,
    /// Seconds, where costs are measured or the clock is known.
    pub seconds: Option<f64>,
    /// What was counted, with names that stay: `first_cycles`, `read_beats`.
    pub counters: Vec<(&'static str, u64)>,
    /// Cycles in which each unit worked.
    pub busy: Vec<(&'static str, u64)>,
    /// What each unit did when, instruction by instruction.
    pub spans: Vec<Span>,
    /// What tells it, in words.
    pub by: String,
}

/// A unit at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The unit.
    pub unit: &'static str,
    /// What it does.
    pub what: String,
    /// The first cycle.
    pub start: u64,
    /// The cycle after the last one.
    pub end: u64,
}
