//! The text form: `docs/he-program.md`.

mod cursor;
mod lexer;
mod parse;
mod print;

pub use parse::{parse, parse_with_tables};
pub use print::Outline;
