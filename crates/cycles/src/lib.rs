//! When a large machine does what: descriptions of machines as data, and static schedules of limb programs on them.
//!
//! Instructions are simulated one by one, a limb whole, without data: bits are what [`ringmill_program`] and its machines are for.
//!
//! | file | subject |
//! |---|---|
//! | [`description`] | machines as TOML: units, memories, channels, each number with its source |
//! | [`expression`] | cycles of a unit as a function of ring degree and terms |
//! | [`graph`] | what is to be done: the instructions of a limb program |
//! | `plan` | a graph on a machine: units, durations, places |
//! | [`order`] | the first pass: in which order instructions are issued |
//! | [`replay`] | the second pass: when, with finite memories |
//! | [`axi`] | a part that steps cycle by cycle: a core's way to memory through one AXI4 port, as the RTL of `rtl/memory` |
//! | [`capacity`] | the second pass without times: what a chip of some capacity moves |
//! | `account`, [`bounds`] | where cycles went, and what no order can beat |
//! | [`outcome`], [`trace`] | the results |
//! | [`mod@timetable`] | a schedule for a machine that keeps it |
//!
//! ```
//! use ringmill_cycles::{Class, Description, Graph, Kind, Settings, simulate};
//!
//! let mut graph = Graph::new("one product", 16)?;
//! let x = graph.input(Class::Data, 36);
//! let y = graph.push(Kind::Ntt, &[x], 36, 1)?;
//! let z = graph.push(Kind::Mul, &[y, y], 36, 1)?;
//! graph.result(z)?;
//! let reported = simulate(&Description::named("taiyi")?, &graph, &Settings::default())?;
//! assert_eq!(reported.parts.iter().map(|(_, cycles)| cycles).sum::<u64>(), reported.cycles);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod account;
pub mod axi;
pub mod bounds;
pub mod capacity;
pub mod description;
pub mod error;
pub mod expression;
pub mod graph;
pub mod order;
pub mod outcome;
mod plan;
pub mod replay;
mod simulate;
pub mod timetable;
pub mod trace;

pub use account::Part;
pub use bounds::Bounds;
pub use capacity::{Capacity, Chip, RegionTraffic, Reordered, Traffic};
pub use description::Description;
pub use error::{CapacityError, DescriptionError, GraphError, Refused};
pub use graph::{Class, Graph, Kind};
pub use order::{Order, Urgency};
pub use outcome::{Outcome, Span};
pub use replay::{Flow, Options, Wait};
pub use simulate::{Settings, accepts, simulate, sweep, timetable};
pub use timetable::Timetable;
