//! The text form read back.
//!
//! One declaration or instruction a line, `#` begins a comment:
//!
//! ```text
//! limb NAME : 2^LOG_N {
//!   modulus NAME = PRIME
//!   input data|key|plain NAME : coeff|eval MODULUS …
//!   output NAME : coeff|eval MODULUS …
//!   buffers COUNT                                      once allocated
//! region LABEL
//!   %N = OP operands : MODULUS coeff|eval              bB:%N = … once allocated
//!   store OPERAND -> OUTPUT.LIMB
//! }
//! ```

use std::collections::HashMap;

use ringmill_ring::{Modulus, RingError};

use super::build::LimbBuilder;
use super::op::{Immediate, OpSpec, Opcode, Shape};
use super::program::{Allocation, LimbProgram};
use super::types::{BufferId, Domain, InputClass, InputId, LimbType, ModulusId, Operand, OutputId, ValueId};
use super::verify::{VerifyError, verify};

/// What is wrong with a text, and on which line (from 1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    Modulus { line: usize, source: RingError },
    #[error("line {line}: {what} must stand above the first instruction")]
    Late { line: usize, what: &'static str },
    #[error(
        "line {line}: a program with `buffers` names one for each value and a program without names none"
    )]
    BufferMismatch { line: usize },
    #[error("line {line}: {source}")]
    Verify { line: usize, source: VerifyError },
}

/// Reads one limb program and verifies it.
///
/// # Errors
/// The first line that cannot be read, or the line of the instruction that breaks an invariant
/// (line 1 for a fault of the program as a whole).
pub fn parse(text: &str) -> Result<LimbProgram, ParseError> {
    let mut reader = Reader::new(text);
    reader.whole()?;
    let Reader { mut builder, types, buffers, buffer_of, lines, .. } = reader;
    builder.program.value_types = types.into_iter().map(|t| t.unwrap_or(LimbType::QUOTIENT)).collect();
    builder.program.allocation = buffers.map(|buffers| Allocation { buffers, buffer_of });
    let program = builder.program;
    match verify(&program) {
        Ok(()) => Ok(program),
        Err(source) => Err(ParseError::Verify { line: source.at.map_or(1, |i| lines[i]), source }),
    }
}

struct Reader<'a> {
    line: usize,
    rest: &'a str,
    text: std::iter::Enumerate<std::str::Lines<'a>>,
    /// No value number is meant to reach the number of lines.
    line_count: usize,
    builder: LimbBuilder,
    moduli: HashMap<&'a str, ModulusId>,
    inputs: HashMap<&'a str, (u32, u32)>,
    outputs: HashMap<&'a str, (u32, u32)>,
    types: Vec<Option<LimbType>>,
    buffers: Option<u32>,
    buffer_of: Vec<BufferId>,
    /// The line of each instruction.
    lines: Vec<usize>,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            line: 0,
            rest: "",
            text: text.lines().enumerate(),
            line_count: text.lines().count(),
            builder: LimbBuilder::new("", 0),
            moduli: HashMap::new(),
            inputs: HashMap::new(),
            outputs: HashMap::new(),
            types: Vec::new(),
            buffers: None,
            buffer_of: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Moves to the next line that says something; false at the end of the text.
    fn next_line(&mut self) -> bool {
        for (i, line) in self.text.by_ref() {
            let said = line.split('#').next().unwrap_or("").trim();
            if !said.is_empty() {
                (self.line, self.rest) = (i + 1, said);
                return true;
            }
        }
        (self.line, self.rest) = (self.line_count.max(1), "");
        false
    }

    fn whole(&mut self) -> Parsed<()> {
        self.next_line();
        self.expect("limb", "`limb NAME : 2^LOG_N {`")?;
        self.builder.program.name = self.name("a program name")?.to_owned();
        self.expect(":", "`:`")?;
        self.expect("2^", "`2^`")?;
        self.builder.program.log_n = self.number_below(64)? as u32;
        self.expect("{", "`{`")?;
        self.end_of_line()?;
        loop {
            if !self.next_line() {
                return Err(self.expected("`}`"));
            }
            if self.eat("}") {
                break;
            }
            self.statement()?;
            self.end_of_line()?;
        }
        self.end_of_line()?;
        if self.next_line() { Err(self.expected("nothing after `}`")) } else { Ok(()) }
    }

    fn statement(&mut self) -> Parsed<()> {
        match self.peek_word() {
            "modulus" => self.declaration("modulus", Self::modulus),
            "input" => self.declaration("input", Self::input),
            "output" => self.declaration("output", Self::output),
            "buffers" => self.declaration("buffers", |r| {
                r.buffers = Some(r.number_below(u64::from(u32::MAX))? as u32);
                Ok(())
            }),
            "region" => {
                self.expect("region", "`region`")?;
                let label = std::mem::take(&mut self.rest).trim();
                let first = self.builder.program.nodes.len() as u32;
                self.builder.program.regions.push(super::Region { label: label.to_owned(), first });
                Ok(())
            }
            "store" => self.store(),
            _ => self.definition(),
        }
    }

    fn declaration(&mut self, what: &'static str, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.expect(what, what)?;
        if self.lines.is_empty() { read(self) } else { Err(ParseError::Late { line: self.line, what }) }
    }

    fn modulus(&mut self) -> Parsed<()> {
        let name = self.name("a name")?;
        self.expect("=", "`=`")?;
        let value = self.number()?;
        let modulus =
            Modulus::new(value).map_err(|source| ParseError::Modulus { line: self.line, source })?;
        let max = u64::from(u16::MAX) - 1;
        if self.moduli.len() as u64 >= max {
            return Err(ParseError::TooLarge { line: self.line, value: self.moduli.len() as u64, max });
        }
        let id = self.builder.modulus(name, modulus);
        self.moduli.insert(name, id);
        Ok(())
    }

    fn input(&mut self) -> Parsed<()> {
        const CLASSES: [InputClass; 3] = [InputClass::Data, InputClass::Key, InputClass::Plain];
        let word = self.name("`data`, `key` or `plain`")?;
        let Some(class) = CLASSES.into_iter().find(|c| c.name() == word) else {
            return Err(self.found("`data`, `key` or `plain`", word));
        };
        let (name, domain, moduli) = self.group()?;
        let first = self.builder.program.input_types.len() as u32;
        self.builder.input(name, class, domain, &moduli);
        self.inputs.insert(name, (first, moduli.len() as u32));
        Ok(())
    }

    fn output(&mut self) -> Parsed<()> {
        let (name, domain, moduli) = self.group()?;
        let first = self.builder.program.output_types.len() as u32;
        self.builder.output(name, domain, &moduli);
        self.outputs.insert(name, (first, moduli.len() as u32));
        Ok(())
    }

    fn group(&mut self) -> Parsed<(&'a str, Domain, Vec<ModulusId>)> {
        let name = self.name("a name")?;
        self.expect(":", "`:`")?;
        let domain = self.domain()?;
        let mut moduli = Vec::new();
        while !self.rest.is_empty() {
            moduli.push(self.modulus_name()?);
        }
        Ok((name, domain, moduli))
    }

    fn store(&mut self) -> Parsed<()> {
        self.expect("store", "`store`")?;
        let src = self.operand()?;
        self.expect("->", "`->`")?;
        let output = self.limb_of("output")?;
        self.lines.push(self.line);
        self.builder.store(OutputId(output), src);
        Ok(())
    }

    fn definition(&mut self) -> Parsed<()> {
        let mut buffer = None;
        if !self.rest.starts_with('%') {
            self.expect("b", "a declaration, `%N = …` or `store`")?;
            buffer = Some(self.number_below(u64::from(u32::MAX))? as u32);
            self.expect(":", "`:`")?;
        }
        if buffer.is_some() != self.buffers.is_some() {
            return Err(ParseError::BufferMismatch { line: self.line });
        }
        self.expect("%", "`%N = …`")?;
        let dst = self.number_below(self.line_count as u64)? as usize;
        self.expect("=", "`=`")?;
        let name = self.name("an instruction")?;
        let Some(spec) = OpSpec::by_name(name).filter(|spec| spec.op != Opcode::Store) else {
            return Err(self.found("an instruction", name));
        };
        let operands = self.operands(spec)?;
        let mut immediate = 0;
        if spec.immediate != Immediate::None {
            self.expect(",", "`,` and a constant")?;
            immediate = self.number()?;
        }
        self.expect(":", "`:` and a type")?;
        let ty = self.limb_type()?;
        self.lines.push(self.line);
        self.builder.push(spec.op, dst as u32, operands, immediate);
        self.record(dst, ty, buffer);
        Ok(())
    }

    fn record(&mut self, dst: usize, ty: LimbType, buffer: Option<u32>) {
        if self.types.len() <= dst {
            self.types.resize(dst + 1, None);
        }
        // A second definition keeps the first type; the verifier reports it.
        self.types[dst].get_or_insert(ty);
        if let Some(buffer) = buffer {
            if self.buffer_of.len() <= dst {
                self.buffer_of.resize(dst + 1, BufferId(0));
            }
            self.buffer_of[dst] = BufferId(buffer);
        }
    }

    fn operands(&mut self, spec: &OpSpec) -> Parsed<Vec<Operand>> {
        let mut operands = Vec::new();
        match spec.shape {
            Shape::Input | Shape::Other => operands.push(self.operand()?),
            Shape::Same(count) => {
                for i in 0..count {
                    if i > 0 {
                        self.expect(",", "`,` and an operand")?;
                    }
                    operands.push(self.operand()?);
                }
            }
            Shape::Sources | Shape::SourcesOnly => self.list(&mut operands)?,
            Shape::SourcesAndQuotient => {
                self.list(&mut operands)?;
                self.expect(",", "`,` and a quotient")?;
                operands.push(self.operand()?);
            }
            Shape::Pairs => {
                self.list(&mut operands)?;
                let half = operands.len();
                self.expect(",", "`,` and a second list")?;
                self.list(&mut operands)?;
                if operands.len() != 2 * half {
                    let found = format!("{half} and {}", operands.len() - half);
                    return Err(self.found("two lists of equal length", &found));
                }
            }
        }
        Ok(operands)
    }

    fn list(&mut self, operands: &mut Vec<Operand>) -> Parsed<()> {
        self.expect("[", "`[`")?;
        while !self.eat("]") {
            operands.push(self.operand()?);
            if !self.eat(",") && !self.rest.starts_with(']') {
                return Err(self.expected("`,` or `]`"));
            }
        }
        Ok(())
    }

    fn operand(&mut self) -> Parsed<Operand> {
        if self.eat("%") {
            let value = self.number_below(self.line_count as u64)?;
            return Ok(ValueId(value as u32).into());
        }
        Ok(InputId(self.limb_of("input")?).into())
    }

    /// `NAME.LIMB` of an input or output, as its number.
    fn limb_of(&mut self, what: &'static str) -> Parsed<u32> {
        let name = self.name("`%N` or `NAME.LIMB`")?;
        let groups = if what == "input" { &self.inputs } else { &self.outputs };
        let Some(&(first, count)) = groups.get(name) else {
            return Err(ParseError::Unknown { line: self.line, what, name: name.to_owned() });
        };
        self.expect(".", "`.` and the number of a limb")?;
        let limb = self.number()?;
        if limb >= u64::from(count) {
            return Err(ParseError::NoSuchLimb { line: self.line, name: name.to_owned(), limb, count });
        }
        Ok(first + limb as u32)
    }

    fn limb_type(&mut self) -> Parsed<LimbType> {
        if self.rest == Domain::Quotient.name() {
            self.rest = "";
            return Ok(LimbType::QUOTIENT);
        }
        let modulus = self.modulus_name()?;
        Ok(LimbType::coeff(modulus).in_domain(self.domain()?))
    }

    fn domain(&mut self) -> Parsed<Domain> {
        match self.name("`coeff` or `eval`")? {
            "coeff" => Ok(Domain::Coeff),
            "eval" => Ok(Domain::Eval),
            word => Err(self.found("`coeff` or `eval`", word)),
        }
    }

    fn modulus_name(&mut self) -> Parsed<ModulusId> {
        let name = self.name("a modulus")?;
        let found = self.moduli.get(name).copied();
        found.ok_or_else(|| ParseError::Unknown { line: self.line, what: "modulus", name: name.to_owned() })
    }

    fn peek_word(&self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn name(&mut self, expected: &'static str) -> Parsed<&'a str> {
        let word = self.peek_word();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(expected));
        }
        self.rest = self.rest[word.len()..].trim_start();
        Ok(word)
    }

    fn number(&mut self) -> Parsed<u64> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let Ok(value) = self.rest[..end].parse() else {
            return Err(self.expected("a number below 2^64"));
        };
        self.rest = self.rest[end..].trim_start();
        Ok(value)
    }

    fn number_below(&mut self, bound: u64) -> Parsed<u64> {
        let value = self.number()?;
        if value < bound {
            Ok(value)
        } else {
            Err(ParseError::TooLarge { line: self.line, value, max: bound - 1 })
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn end_of_line(&self) -> Parsed<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    fn expected(&self, expected: &'static str) -> ParseError {
        self.found(expected, if self.rest.is_empty() { "end of line" } else { self.rest })
    }

    fn found(&self, expected: &'static str, found: &str) -> ParseError {
        ParseError::Expected { line: self.line, expected, found: found.to_owned() }
    }
}
