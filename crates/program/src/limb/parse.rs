//! The text form read back.
//!
//! One declaration or instruction a line, `#` begins a comment:
//!
//! ```text
//! limb NAME : 2^LOG_N {
//!   modulus NAME = PRIME
//!   input CLASS NAME : coeff|eval MODULUS …
//!   input CLASS NAME : coeff (2^STRIDE) MODULUS …
//!   output NAME : coeff|eval MODULUS …
//!   buffers COUNT                                      once allocated
//! region LABEL
//! section KIND                                         its instructions, then `end`
//!   %N = OP operands : MODULUS coeff|eval              bB:%N = … once allocated
//!   store OPERAND -> OUTPUT.LIMB
//! }
//! ```
//!
//! KIND is `tensor LIMBS`, `rescale LIMBS`, `raise SHAPE`, or `key_switch SHAPE END` with END `divide`, `rescale` or `extended`,
//! and then perhaps `hoisted` and `galois G`. SHAPE is `hybrid`, `klss`, `seal` or `openfhe`, and LIMBS+SPECIAL/ALPHA.
//!
//! CLASS is `data`, `key`, `plain`, `secret`, or `sampled` with `ternary`, `gaussian`, `uniform(public_key)` or
//! `uniform(ciphertext)`.

use std::collections::HashMap;

use ringmill_ring::Modulus;

use super::build::LimbBuilder;
use super::line::{Line, Parsed};
use super::op::{Immediate, OpSpec, Opcode, Shape};
use super::program::{Allocation, LimbProgram};
use super::types::{
    BufferId, Distribution, Domain, InputClass, InputId, LimbType, ModulusId, Operand, OutputId, ValueId,
};
use super::verify::verify;

pub use super::line::ParseError;

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

/// Reads a program without instructions and verifies nothing: names, types, and whether values have buffers.
pub(super) fn declarations(text: &str) -> Result<LimbProgram, ParseError> {
    let mut reader = Reader::new(text);
    reader.whole()?;
    let Reader { mut builder, buffers, lines, .. } = reader;
    let more = !builder.program.regions.is_empty() || !builder.program.sections.is_empty();
    if let Some(line) = lines.first().copied().or(more.then_some(1)) {
        return Err(ParseError::Instruction { line });
    }
    builder.program.allocation = buffers.map(|buffers| Allocation { buffers, buffer_of: Vec::new() });
    Ok(builder.program)
}

struct Reader<'a> {
    at: Line<'a>,
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
    /// The line of the section that is not at its end yet.
    open: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            at: Line::default(),
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
            open: None,
        }
    }

    /// Moves to the next line that says something; false at the end of the text.
    fn next_line(&mut self) -> bool {
        for (i, line) in self.text.by_ref() {
            let said = line.split('#').next().unwrap_or("").trim();
            if !said.is_empty() {
                self.at = Line { number: i + 1, rest: said };
                return true;
            }
        }
        self.at = Line { number: self.line_count.max(1), rest: "" };
        false
    }

    fn whole(&mut self) -> Parsed<()> {
        self.next_line();
        self.at.expect("limb", "`limb NAME : 2^LOG_N {`")?;
        self.builder.program.name = self.at.name("a program name")?.to_owned();
        self.at.expect(":", "`:`")?;
        self.at.expect("2^", "`2^`")?;
        self.builder.program.log_n = self.at.number_below(64)? as u32;
        self.at.expect("{", "`{`")?;
        self.at.end_of_line()?;
        loop {
            if !self.next_line() {
                return Err(self.at.expected("`}`"));
            }
            if self.at.eat("}") {
                break;
            }
            self.statement()?;
            self.at.end_of_line()?;
        }
        self.at.end_of_line()?;
        if let Some(section) = self.open {
            return Err(ParseError::Open { line: self.at.number, section });
        }
        if self.next_line() { Err(self.at.expected("nothing after `}`")) } else { Ok(()) }
    }

    fn statement(&mut self) -> Parsed<()> {
        match self.at.peek_word() {
            "modulus" => self.declaration("modulus", Self::modulus),
            "input" => self.declaration("input", Self::input),
            "output" => self.declaration("output", Self::output),
            "buffers" => self.declaration("buffers", |r| {
                r.buffers = Some(r.at.number_below(u64::from(u32::MAX))? as u32);
                Ok(())
            }),
            "region" => {
                self.at.expect("region", "`region`")?;
                let label = std::mem::take(&mut self.at.rest).trim();
                let first = self.builder.program.nodes.len() as u32;
                self.builder.program.regions.push(super::Region { label: label.to_owned(), first });
                Ok(())
            }
            "section" => self.section(),
            "end" => self.end(),
            "store" => self.store(),
            _ => self.definition(),
        }
    }

    fn section(&mut self) -> Parsed<()> {
        self.at.expect("section", "`section`")?;
        if let Some(section) = self.open {
            return Err(ParseError::Open { line: self.at.number, section });
        }
        let kind = self.at.section_kind()?;
        self.open = Some(self.at.number);
        self.builder.begin_section(kind);
        Ok(())
    }

    fn end(&mut self) -> Parsed<()> {
        self.at.expect("end", "`end`")?;
        if self.open.take().is_none() {
            return Err(self.at.found("an instruction: no section is open", "end"));
        }
        self.builder.end_section();
        Ok(())
    }

    fn declaration(&mut self, what: &'static str, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.at.expect(what, what)?;
        if self.lines.is_empty() { read(self) } else { Err(ParseError::Late { line: self.at.number, what }) }
    }

    fn modulus(&mut self) -> Parsed<()> {
        let name = self.at.name("a name")?;
        self.at.expect("=", "`=`")?;
        let value = self.at.number()?;
        let modulus =
            Modulus::new(value).map_err(|source| ParseError::Modulus { line: self.at.number, source })?;
        let max = u64::from(u16::MAX) - 1;
        if self.moduli.len() as u64 >= max {
            return Err(ParseError::TooLarge { line: self.at.number, value: self.moduli.len() as u64, max });
        }
        let id = self.builder.modulus(name, modulus);
        self.moduli.insert(name, id);
        Ok(())
    }

    fn input(&mut self) -> Parsed<()> {
        let class = self.class()?;
        let name = self.at.name("a name")?;
        self.at.expect(":", "`:`")?;
        let domain = self.domain()?;
        let mut log_stride = 0;
        if self.at.eat("(") {
            self.at.expect("2^", "`2^`")?;
            log_stride = self.at.number_below(64)? as u32;
            self.at.expect(")", "`)`")?;
        }
        let moduli = self.moduli()?;
        let first = self.builder.program.input_types.len() as u32;
        self.builder.sparse_input(name, class, domain, &moduli, log_stride);
        self.inputs.insert(name, (first, moduli.len() as u32));
        Ok(())
    }

    fn class(&mut self) -> Parsed<InputClass> {
        const CLASSES: &str = "`data`, `key`, `plain`, `secret` or `sampled`";
        match self.at.name(CLASSES)? {
            "data" => Ok(InputClass::Data),
            "key" => Ok(InputClass::Key),
            "plain" => Ok(InputClass::Plain),
            "secret" => Ok(InputClass::Secret),
            "sampled" => Ok(InputClass::Sampled(self.distribution()?)),
            word => Err(self.at.found(CLASSES, word)),
        }
    }

    fn distribution(&mut self) -> Parsed<Distribution> {
        // No name is the beginning of another one.
        let found = Distribution::ALL.into_iter().find(|d| self.at.eat(d.name()));
        found.ok_or_else(|| {
            self.at.expected("`ternary`, `gaussian`, `uniform(public_key)` or `uniform(ciphertext)`")
        })
    }

    fn output(&mut self) -> Parsed<()> {
        let name = self.at.name("a name")?;
        self.at.expect(":", "`:`")?;
        let (domain, moduli) = (self.domain()?, self.moduli()?);
        let first = self.builder.program.output_types.len() as u32;
        self.builder.output(name, domain, &moduli);
        self.outputs.insert(name, (first, moduli.len() as u32));
        Ok(())
    }

    /// The moduli up to the end of the line.
    fn moduli(&mut self) -> Parsed<Vec<ModulusId>> {
        let mut moduli = Vec::new();
        while !self.at.rest.is_empty() {
            moduli.push(self.modulus_name()?);
        }
        Ok(moduli)
    }

    fn store(&mut self) -> Parsed<()> {
        self.at.expect("store", "`store`")?;
        let src = self.operand()?;
        self.at.expect("->", "`->`")?;
        let output = self.limb_of("output")?;
        self.lines.push(self.at.number);
        self.builder.store(OutputId(output), src);
        Ok(())
    }

    fn definition(&mut self) -> Parsed<()> {
        let mut buffer = None;
        if !self.at.rest.starts_with('%') {
            self.at.expect("b", "a declaration, `%N = …` or `store`")?;
            buffer = Some(self.at.number_below(u64::from(u32::MAX))? as u32);
            self.at.expect(":", "`:`")?;
        }
        if buffer.is_some() != self.buffers.is_some() {
            return Err(ParseError::BufferMismatch { line: self.at.number });
        }
        self.at.expect("%", "`%N = …`")?;
        let dst = self.at.number_below(self.line_count as u64)? as usize;
        self.at.expect("=", "`=`")?;
        let name = self.at.name("an instruction")?;
        let Some(spec) = OpSpec::by_name(name).filter(|spec| spec.op != Opcode::Store) else {
            return Err(self.at.found("an instruction", name));
        };
        let operands = self.operands(spec)?;
        let mut immediate = 0;
        if spec.immediate != Immediate::None {
            self.at.expect(",", "`,` and a constant")?;
            immediate = self.at.number()?;
        }
        self.at.expect(":", "`:` and a type")?;
        let ty = self.limb_type()?;
        self.lines.push(self.at.number);
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
                        self.at.expect(",", "`,` and an operand")?;
                    }
                    operands.push(self.operand()?);
                }
            }
            Shape::Sources | Shape::SourcesOnly => self.list(&mut operands)?,
            Shape::SourcesAndQuotient => {
                self.list(&mut operands)?;
                self.at.expect(",", "`,` and a quotient")?;
                operands.push(self.operand()?);
            }
            Shape::Pairs => {
                self.list(&mut operands)?;
                let half = operands.len();
                self.at.expect(",", "`,` and a second list")?;
                self.list(&mut operands)?;
                if operands.len() != 2 * half {
                    let found = format!("{half} and {}", operands.len() - half);
                    return Err(self.at.found("two lists of equal length", &found));
                }
            }
        }
        Ok(operands)
    }

    fn list(&mut self, operands: &mut Vec<Operand>) -> Parsed<()> {
        self.at.expect("[", "`[`")?;
        while !self.at.eat("]") {
            operands.push(self.operand()?);
            if !self.at.eat(",") && !self.at.rest.starts_with(']') {
                return Err(self.at.expected("`,` or `]`"));
            }
        }
        Ok(())
    }

    fn operand(&mut self) -> Parsed<Operand> {
        if self.at.eat("%") {
            let value = self.at.number_below(self.line_count as u64)?;
            return Ok(ValueId(value as u32).into());
        }
        Ok(InputId(self.limb_of("input")?).into())
    }

    /// `NAME.LIMB` of an input or output, as its number.
    fn limb_of(&mut self, what: &'static str) -> Parsed<u32> {
        let name = self.at.name("`%N` or `NAME.LIMB`")?;
        let groups = if what == "input" { &self.inputs } else { &self.outputs };
        let Some(&(first, count)) = groups.get(name) else {
            return Err(ParseError::Unknown { line: self.at.number, what, name: name.to_owned() });
        };
        self.at.expect(".", "`.` and the number of a limb")?;
        let limb = self.at.number()?;
        if limb >= u64::from(count) {
            return Err(ParseError::NoSuchLimb { line: self.at.number, name: name.to_owned(), limb, count });
        }
        Ok(first + limb as u32)
    }

    fn limb_type(&mut self) -> Parsed<LimbType> {
        if self.at.rest == Domain::Quotient.name() {
            self.at.rest = "";
            return Ok(LimbType::QUOTIENT);
        }
        let modulus = self.modulus_name()?;
        Ok(LimbType::coeff(modulus).in_domain(self.domain()?))
    }

    fn domain(&mut self) -> Parsed<Domain> {
        match self.at.name("`coeff` or `eval`")? {
            "coeff" => Ok(Domain::Coeff),
            "eval" => Ok(Domain::Eval),
            word => Err(self.at.found("`coeff` or `eval`", word)),
        }
    }

    fn modulus_name(&mut self) -> Parsed<ModulusId> {
        let name = self.at.name("a modulus")?;
        let found = self.moduli.get(name).copied();
        found.ok_or_else(|| ParseError::Unknown {
            line: self.at.number,
            what: "modulus",
            name: name.to_owned(),
        })
    }
}
