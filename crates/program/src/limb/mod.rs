//! The limb program: a flat list of operations on residue polynomials with stated meaning on integers,
//! so that two machines that run it produce the same bits.
//!
//! | file | subject |
//! |---|---|
//! | [`types`] | names of moduli, limbs and buffers; domain, class and type of a limb |
//! | [`op`] | the table of instructions: operands, domains, meaning (`docs/limb-program.md` is printed from it) |
//! | [`program`] | the program as stored, and its instructions as a machine reads them |
//! | [`build`] | how a lowering writes one |
//! | [`section`], [`mod@split`] | operations of the scheme in a program, and parts of it for machines of fixed function |
//! | [`mod@verify`] | the invariants every program obeys |
//! | [`mod@print`], [`mod@parse`] | the text form and back |
//! | [`binary`] | the compact form, written and read as a stream |

pub mod binary;
pub mod build;
mod dead;
pub mod doc;
mod line;
pub mod op;
pub mod parse;
pub mod print;
pub mod program;
pub mod random;
pub mod section;
pub mod split;
pub mod types;
pub mod verify;

pub use binary::BinaryError;
pub use build::LimbBuilder;
pub use op::{Immediate, OpSpec, Opcode, Shape};
pub use parse::{ParseError, parse};
pub use program::{Allocation, InputGroup, Instruction, LimbProgram, NamedModulus, OutputGroup, Region};
pub use section::{Borders, Section, SectionKind, SwitchEnd, SwitchMethod, SwitchShape};
pub use split::{Split, SplitError, split};
pub use types::{
    BufferId, Distribution, Domain, Expansion, InputClass, InputId, LimbType, ModulusId, Operand, OutputId,
    Source, ValueId,
};
pub use verify::{VerifyError, Violation, verify};
