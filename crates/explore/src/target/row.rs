//! What is said of a target: from it texts are read and tables, help and files of results made.

use serde::Serialize;

/// A target as a row of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// log2 of the least and of the greatest degree of its machines.
    pub log_n: [u32; 2],
    /// log2 of the least degree that is searched unless a smaller one is asked for.
    pub log_n_searched: u32,
    /// Primes of the longest chain that one of its machines holds.
    pub primes: u32,
    /// Axes of the space beside those of the parameters.
    pub axes: &'static [Axis],
    /// What tables show of a machine: fields of a design, with headings.
    pub columns: &'static [Column],
    /// A machine in a line, with fields of a design in braces.
    pub summary: &'static str,
    /// Counts that are stored of each run beside its cycles.
    pub counters: &'static [&'static str],
    /// Where cycles come from.
    pub cycles_source: &'static str,
    /// Where their bound comes from.
    pub bound_source: &'static str,
}

/// An axis of the space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Its name.
    pub name: &'static str,
    /// What one of its values is, for messages.
    pub one: &'static str,
    /// Everything on it.
    pub values: Values,
    /// Whether a search in pieces is cut along it.
    pub cut: bool,
}

/// Everything that is on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Values {
    /// Numbers, ascending.
    Numbers(&'static [u32]),
    /// Names.
    Names(&'static [&'static str]),
}

/// A column of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The field of a design.
    pub field: &'static str,
    /// Whether it is a whole number, or else a name.
    pub number: bool,
    /// The heading on a narrow table; empty where it has no place there.
    pub heading: &'static str,
}
