//! The HE program: operations on encrypted vectors, in single-assignment form.
//!
//! A program is *traced* (what a kernel says) or *managed* (every value with its level, exact scale and
//! number of parts; `relin`, `rescale` and `drop` explicit). `docs/he-program.md` defines the operations and
//! the text form; [`verify`] lists the invariants.

mod builder;
mod chain;
mod clear;
mod constant;
mod error;
mod infer;
mod lanes;
mod lookup;
mod op;
mod program;
mod sum;
mod tables;
mod text;
mod types;
mod verify;

pub use builder::Builder;
pub use chain::Chain;
pub use clear::{Vectors, evaluate_clear};
pub use constant::{Constant, Numbers, Table, TableId};
pub use error::{HeError, Rule};
pub use lookup::Lookup;
pub use op::{Op, OpKind, Operands};
pub use program::{Flat, Instr, Like, Output, Program, Region};
pub use ringmill_ckks::{Level, Scale};
pub use sum::{SumStep, sum_steps};
pub use tables::{Digest, Tables, TablesError};
pub use text::{Outline, parse, parse_with_tables};
pub use types::{CtType, PtType, Source, Stage, Type, Value};
pub use verify::verify;

/// Slots of the largest ring.
const MOST_SLOTS: usize = 1 << 16;

/// Greatest |c| of a real integer constant by which a traced `mul` costs no depth.
pub const INTEGER_FACTOR_MAX: f64 = (1u64 << 20) as f64;

/// Whether a product with x costs no depth: x is an integer, of at most [`INTEGER_FACTOR_MAX`].
pub fn is_free_factor(x: f64) -> bool {
    x.fract() == 0.0 && x.abs() <= INTEGER_FACTOR_MAX
}
