//! One line of a limb program's text, read from the left, and what can be wrong with it.

use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

use super::section::{SectionKind, SwitchEnd, SwitchMethod, SwitchShape};
use super::verify::VerifyError;

/// What is wrong with a text, and on which line (from 1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum ParseError {
    #[error("line {line}: expected {expected}, found `{found}`")]
    Expected { line: usize, expected: &'static str, found: String },
    #[error("line {line}: no {what} is called `{name}`; declare it above")]
    Unknown { line: usize, what: &'static str, name: String },
    #[error("line {line}: `{name}` has {count} limbs; there is no limb {limb}")]
    NoSuchLimb { line: usize, name: String, limb: u64, count: u32 },
    #[error("line {line}: number {value} is too large here; at most {max}")]
    TooLarge { line: usize, value: u64, max: u64 },
    #[error("line {line}: {source}")]
    Modulus {
        line: usize,
        #[field(display)]
        source: RingError,
    },
    #[error("line {line}: an instruction stands where only declarations do")]
    Instruction { line: usize },
    #[error("line {line}: the section of line {section} is not at its `end` yet")]
    Open { line: usize, section: usize },
    #[error("line {line}: {what} must stand above the first instruction")]
    Late { line: usize, what: &'static str },
    #[error(
        "line {line}: a program with `buffers` names one for each value and a program without names none"
    )]
    BufferMismatch { line: usize },
    #[error("line {line}: {source}")]
    Verify {
        line: usize,
        #[field(display)]
        source: VerifyError,
    },
}

/// What reading gives.
pub(super) type Parsed<T> = Result<T, ParseError>;

/// What is left of a line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: usize,
    pub(super) rest: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn peek_word(&self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    pub(super) fn name(&mut self, expected: &'static str) -> Parsed<&'a str> {
        let word = self.peek_word();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(expected));
        }
        self.rest = self.rest[word.len()..].trim_start();
        Ok(word)
    }

    pub(super) fn number(&mut self) -> Parsed<u64> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let Ok(value) = self.rest[..end].parse() else {
            return Err(self.expected("a number below 2^64"));
        };
        self.rest = self.rest[end..].trim_start();
        Ok(value)
    }

    fn count(&mut self) -> Parsed<u32> {
        Ok(self.number_below(1 << 32)? as u32)
    }

    /// What a section is.
    pub(super) fn section_kind(&mut self) -> Parsed<SectionKind> {
        const KINDS: &str = "`tensor`, `rescale`, `raise` or `key_switch`";
        match self.name(KINDS)? {
            "tensor" => Ok(SectionKind::Tensor { limbs: self.count()? }),
            "rescale" => Ok(SectionKind::Rescale { limbs: self.count()?, primes: self.primes_of_level()? }),
            "raise" => Ok(SectionKind::Raise(self.switch_shape()?)),
            "key_switch" => {
                let shape = self.switch_shape()?;
                let end = match self.name("`divide`, `rescale` or `extended`")? {
                    "divide" => SwitchEnd::Divide,
                    "rescale" => SwitchEnd::Rescale { primes: self.primes_of_level()? },
                    "extended" => SwitchEnd::Extended,
                    word => return Err(self.found("`divide`, `rescale` or `extended`", word)),
                };
                let hoisted = self.eat("hoisted");
                let galois = if self.eat("galois") { Some(self.number()?) } else { None };
                Ok(SectionKind::KeySwitch { shape, end, hoisted, galois })
            }
            word => Err(self.found(KINDS, word)),
        }
    }

    /// The primes that a rescale divides by; one where nothing is said.
    fn primes_of_level(&mut self) -> Parsed<u32> {
        if self.eat("by") { self.count() } else { Ok(1) }
    }

    fn switch_shape(&mut self) -> Parsed<SwitchShape> {
        let method = SwitchMethod::ALL.into_iter().find(|m| self.eat(m.name()));
        let method = method.ok_or_else(|| self.expected("`hybrid`, `klss`, `seal` or `openfhe`"))?;
        let limbs = self.count()?;
        self.expect("+", "`+` and the number of special primes")?;
        let special = self.count()?;
        self.expect("/", "`/` and the limbs of a digit")?;
        Ok(SwitchShape { method, limbs, special, alpha: self.count()? })
    }

    pub(super) fn number_below(&mut self, bound: u64) -> Parsed<u64> {
        let value = self.number()?;
        if value < bound {
            Ok(value)
        } else {
            Err(ParseError::TooLarge { line: self.number, value, max: bound - 1 })
        }
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, token: &str, expected: &'static str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(expected)) }
    }

    pub(super) fn end_of_line(&self) -> Parsed<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    pub(super) fn expected(&self, expected: &'static str) -> ParseError {
        self.found(expected, if self.rest.is_empty() { "end of line" } else { self.rest })
    }

    pub(super) fn found(&self, expected: &'static str, found: &str) -> ParseError {
        ParseError::Expected { line: self.number, expected, found: found.to_owned() }
    }
}
