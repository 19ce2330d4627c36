//! The compact form of a limb program: its declarations as text, then a tag and small numbers for each instruction.
//!
//! A bootstrapping of 45,892 instructions takes 559 KB, 2.7 MB as text, and is read and verified in 14 ms where the text takes 29.
//!
//! | bytes | meaning |
//! |---|---|
//! | `RMLIMB`, 0, 1 | what it is, and version 1 |
//! | text | the program without regions, sections and instructions, as [`super::print`] writes it |
//! | instructions | how many, then each with what stands before it |
//! | end | a tag |
//!
//! Numbers are of 7 bits a byte, the least significant first, with bit 7 set in all bytes but the last; a text is the number of its
//! bytes, and these. A signed number d is 2d, or −2d − 1 below zero.
//!
//! An instruction is these, one after the other:
//!
//! - its opcode;
//! - what it defines less the number that would be next; of a `store` the output in the same way;
//! - the type of the result, 0 for quotients, else 1 + 2·modulus + (1 for `eval`), and the buffer, once allocated;
//! - how many operands, where the opcode does not say;
//! - each operand: 2s for a value and 2s + 1 for an input limb. Here s is signed: the last value defined less the operand, or the limb less
//!   the last limb that was read;
//! - the constant, where there is one.
//!
//! Tags above all opcodes are a region with its label, a section with its kind, the end of a section, and the end of the program. Labels
//! and kinds are 0 and a text the first time, and the number of that time from then on.
//!
//! Both ways are streams. A reader takes memory in proportion to what it has read, and the program is verified.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use ringmill_errors::StructuredError;

use super::line::{Line, ParseError};
use super::op::{Immediate, OpSpec, Opcode, Shape};
use super::parse::declarations;
use super::program::{LimbProgram, Region};
use super::section::{Section, SectionKind};
use super::types::{BufferId, Domain, InputId, LimbType, ModulusId, Operand, Source, ValueId};
use super::verify::{VerifyError, verify};

const MAGIC: [u8; 8] = *b"RMLIMB\0\x01";

/// Tags above all opcodes.
const REGION: u8 = 0xf0;
const SECTION: u8 = 0xf1;
const SECTION_END: u8 = 0xf2;
const END: u8 = 0xf3;

/// The longest text: the declarations of a program of 2^16 input groups.
const TEXT_MAX: u64 = 1 << 26;

/// Numbers of values, instructions and operands are below this.
const COUNT_MAX: u64 = 1 << 31;

/// Bytes of labels for each byte of a program, at most: a label is written once and may stand at many places.
const LABELS: u64 = 64;

/// Why a compact program cannot be read or written.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum BinaryError {
    #[error("{source}")]
    Io {
        #[field(display)]
        source: io::Error,
    },
    #[error("this is no limb program in the compact form; it begins with `RMLIMB` and the version")]
    Magic,
    #[error("this limb program has version {version} of the compact form, and this build reads version 1")]
    Version { version: u8 },
    #[error("byte {at}: the program ends before its end; the file was cut")]
    Cut { at: u64 },
    #[error("byte {at}: {what}")]
    Malformed { at: u64, what: &'static str },
    #[error("in the declarations: {source}")]
    Declarations {
        #[field(display)]
        source: ParseError,
    },
    #[error("{source}")]
    Verify {
        #[field(display)]
        source: VerifyError,
    },
}

impl LimbProgram {
    /// Writes the compact form.
    ///
    /// # Errors
    /// What the writer refuses.
    pub fn write_binary(&self, out: impl Write) -> io::Result<()> {
        let mut w = Writer { out, texts: HashMap::new() };
        w.out.write_all(&MAGIC)?;
        w.text(&Self { allocation: self.allocation.clone(), ..self.emptied() }.to_string())?;
        w.number(self.len() as u64)?;
        let mut regions = self.regions.iter().peekable();
        let (mut sections, mut end) = (self.sections.iter().peekable(), None);
        let (mut value, mut output, mut input) = (0i64, 0i64, 0i64);
        for i in 0..=self.len() {
            if end.take_if(|end| *end as usize == i).is_some() {
                w.out.write_all(&[SECTION_END])?;
            }
            while let Some(region) = regions.next_if(|region| region.first as usize == i) {
                w.out.write_all(&[REGION])?;
                w.known(region.label.clone())?;
            }
            if let Some(section) = sections.next_if(|section| section.first as usize == i) {
                w.out.write_all(&[SECTION])?;
                w.known(section.kind.to_string())?;
                end = Some(section.end);
            }
            if i == self.len() {
                break;
            }
            w.out.write_all(&[self.opcode(i) as u8])?;
            let last = value - 1;
            match self.defined(i) {
                Some(v) => {
                    w.signed(i64::from(v.0) - value)?;
                    value = i64::from(v.0) + 1;
                    w.number(type_code(self.value_type(v)))?;
                    if let Some(allocation) = &self.allocation {
                        w.number(allocation.buffer_of[v.index()].0.into())?;
                    }
                }
                None => {
                    let stored = i64::from(self.nodes[i].dst);
                    w.signed(stored - output)?;
                    output = stored + 1;
                }
            }
            let operands = self.operands(i);
            if count_of(self.opcode(i).spec()).is_none() {
                w.number(operands.len() as u64)?;
            }
            for operand in operands {
                match operand.source() {
                    Source::Value(v) => w.number(zigzag(last - i64::from(v.0)) << 1)?,
                    Source::Input(limb) => {
                        w.number(zigzag(i64::from(limb.0) - input) << 1 | 1)?;
                        input = limb.0.into();
                    }
                }
            }
            if let Some(constant) = self.immediate(i) {
                w.number(constant)?;
            }
        }
        w.out.write_all(&[END])?;
        w.out.flush()
    }

    /// Reads the compact form to its end and verifies the program.
    ///
    /// # Errors
    /// What is wrong, with the byte; [`BinaryError::Verify`] for a program that breaks an invariant.
    pub fn read_binary(from: impl Read) -> Result<Self, BinaryError> {
        let mut reader =
            Reader { from: io::BufReader::with_capacity(1 << 16, from), at: 0, texts: Vec::new() };
        let program = reader.program()?;
        verify(&program).map_err(|source| BinaryError::Verify { source })?;
        Ok(program)
    }
}

const fn zigzag(d: i64) -> u64 {
    ((d << 1) ^ (d >> 63)) as u64
}

const fn unzigzag(z: u64) -> i64 {
    (z >> 1) as i64 ^ -((z & 1) as i64)
}

fn type_code(ty: LimbType) -> u64 {
    ty.modulus().map_or(0, |m| 1 + 2 * m.index() as u64 + u64::from(ty.domain() == Domain::Eval))
}

fn type_of(code: u64) -> Option<LimbType> {
    let Some(code) = code.checked_sub(1) else { return Some(LimbType::QUOTIENT) };
    let modulus = ModulusId(u16::try_from(code / 2).ok().filter(|m| *m < u16::MAX)?);
    Some(if code % 2 == 1 { LimbType::eval(modulus) } else { LimbType::coeff(modulus) })
}

/// How many operands an instruction has, where its opcode says that.
const fn count_of(spec: &OpSpec) -> Option<usize> {
    match spec.shape {
        Shape::Input | Shape::Other => Some(1),
        Shape::Same(count) => Some(count as usize),
        Shape::Sources | Shape::SourcesOnly | Shape::SourcesAndQuotient | Shape::Pairs => None,
    }
}

struct Writer<W> {
    out: W,
    /// Labels and kinds, with the number of their first time.
    texts: HashMap<String, u64>,
}

impl<W: Write> Writer<W> {
    fn number(&mut self, mut n: u64) -> io::Result<()> {
        let mut bytes = [0; 10];
        let mut len = 0;
        loop {
            bytes[len] = (n & 0x7f) as u8 | if n > 0x7f { 0x80 } else { 0 };
            len += 1;
            n >>= 7;
            if n == 0 {
                return self.out.write_all(&bytes[..len]);
            }
        }
    }

    fn signed(&mut self, d: i64) -> io::Result<()> {
        self.number(zigzag(d))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.out.write_all(text.as_bytes())
    }

    /// A text as 0 and its bytes the first time, later as its number.
    fn known(&mut self, text: String) -> io::Result<()> {
        if let Some(&number) = self.texts.get(&text) {
            return self.number(number);
        }
        self.number(0)?;
        self.text(&text)?;
        let number = self.texts.len() as u64 + 1;
        self.texts.insert(text, number);
        Ok(())
    }
}

struct Reader<R> {
    from: io::BufReader<R>,
    /// Bytes read.
    at: u64,
    texts: Vec<String>,
}

impl<R: Read> Reader<R> {
    const fn malformed(&self, what: &'static str) -> BinaryError {
        BinaryError::Malformed { at: self.at, what }
    }

    fn exact(&mut self, bytes: &mut [u8]) -> Result<(), BinaryError> {
        self.from.read_exact(bytes).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => BinaryError::Cut { at: self.at },
            _ => BinaryError::Io { source },
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, BinaryError> {
        let mut byte = [0];
        self.exact(&mut byte)?;
        Ok(byte[0])
    }

    fn number(&mut self) -> Result<u64, BinaryError> {
        let mut n = 0u64;
        for place in 0..10 {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if place == 9 && part > 1 {
                break;
            }
            n |= part << (7 * place);
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(self.malformed("a number has more than 64 bits"))
    }

    /// A number near another one, both below the most that there are.
    fn near(&mut self, base: i64, d: u64) -> Result<u32, BinaryError> {
        let n = base.checked_add(unzigzag(d)).and_then(|n| u64::try_from(n).ok());
        let n = n.filter(|&n| n < COUNT_MAX).and_then(|n| u32::try_from(n).ok());
        n.ok_or_else(|| self.malformed("a number of a value, limb or output is out of range"))
    }

    fn text(&mut self) -> Result<String, BinaryError> {
        let len = self.number()?;
        if len > TEXT_MAX {
            return Err(self.malformed("a text is longer than 2^26 bytes"));
        }
        // As long as what there is: a length alone takes no memory.
        let mut bytes = Vec::new();
        let read = self.from.by_ref().take(len).read_to_end(&mut bytes);
        let read = read.map_err(|source| BinaryError::Io { source })? as u64;
        self.at += read;
        if read < len {
            return Err(BinaryError::Cut { at: self.at });
        }
        String::from_utf8(bytes).map_err(|_| self.malformed("a text is not UTF-8"))
    }

    fn known(&mut self) -> Result<String, BinaryError> {
        let number = self.number()?;
        if number == 0 {
            let text = self.text()?;
            self.texts.push(text.clone());
            return Ok(text);
        }
        let text = usize::try_from(number - 1).ok().and_then(|at| self.texts.get(at)).cloned();
        text.ok_or_else(|| self.malformed("a text is named by a number that none has"))
    }

    fn program(&mut self) -> Result<LimbProgram, BinaryError> {
        let mut magic = [0; 8];
        self.exact(&mut magic)?;
        if magic[..7] != MAGIC[..7] {
            return Err(BinaryError::Magic);
        }
        if magic[7] != MAGIC[7] {
            return Err(BinaryError::Version { version: magic[7] });
        }
        let head = self.text()?;
        let mut p = declarations(&head).map_err(|source| BinaryError::Declarations { source })?;
        let count = self.number()?;
        if count >= COUNT_MAX {
            return Err(self.malformed("a program has fewer than 2^31 instructions"));
        }
        // What each value is, in the order of definitions: a number alone takes no memory.
        let mut defined: Vec<(u32, LimbType, BufferId)> = Vec::new();
        let (mut value, mut output, mut input) = (0i64, 0i64, 0i64);
        let mut open: Option<(SectionKind, u32)> = None;
        let (mut operands, mut labels) = (Vec::new(), 0);
        loop {
            let first = p.nodes.len() as u32;
            let tag = self.byte()?;
            match tag {
                REGION => {
                    let label = self.known()?;
                    labels += label.len() as u64;
                    if labels > LABELS * self.at + (1 << 20) {
                        return Err(self.malformed("labels are too long for the program"));
                    }
                    p.regions.push(Region { label, first });
                    continue;
                }
                SECTION if open.is_none() => {
                    open = Some((self.kind()?, first));
                    continue;
                }
                SECTION_END => {
                    let Some((kind, first)) = open.take() else {
                        return Err(self.malformed("a section ends that has not begun"));
                    };
                    p.sections.push(Section { kind, first, end: p.nodes.len() as u32 });
                    continue;
                }
                END if open.is_none() && u64::from(first) == count => break,
                _ if u64::from(first) == count => {
                    return Err(self.malformed("what follows the last instruction is no end"));
                }
                _ => {}
            }
            let Some(row) = OpSpec::TABLE.iter().find(|row| row.op as u8 == tag) else {
                return Err(self.malformed("there is no such instruction"));
            };
            let last = value - 1;
            let base = if row.op == Opcode::Store { output } else { value };
            let d = self.number()?;
            let dst = self.near(base, d)?;
            if row.op == Opcode::Store {
                output = i64::from(dst) + 1;
            } else {
                value = i64::from(dst) + 1;
                let code = self.number()?;
                let known =
                    type_of(code).filter(|ty| ty.modulus().is_none_or(|m| m.index() < p.moduli.len()));
                let ty = known.ok_or_else(|| self.malformed("a type has a modulus that is not declared"))?;
                if u64::from(dst) >= count {
                    return Err(self.malformed("a value has a number beyond those of instructions"));
                }
                let buffer = if p.allocation.is_some() { self.number()? } else { 0 };
                let buffer =
                    u32::try_from(buffer).map_err(|_| self.malformed("a buffer has no such number"))?;
                defined.push((dst, ty, BufferId(buffer)));
            }
            let len = match count_of(row) {
                Some(len) => len as u64,
                None => self.number()?,
            };
            if len + p.operands.len() as u64 >= COUNT_MAX {
                return Err(self.malformed("a program has fewer than 2^31 operands"));
            }
            operands.clear();
            for _ in 0..len {
                let n = self.number()?;
                operands.push(if n & 1 == 0 {
                    let d = unzigzag(n >> 1);
                    let d = d.checked_neg().ok_or_else(|| self.malformed("an operand is out of range"))?;
                    Operand::from(ValueId(self.near(last, zigzag(d))?))
                } else {
                    let limb = self.near(input, n >> 1)?;
                    input = limb.into();
                    Operand::from(InputId(limb))
                });
            }
            let immediate = if row.immediate == Immediate::None { 0 } else { self.number()? };
            p.push_node(row.op, dst, operands.iter().copied(), immediate);
        }
        let values = defined.iter().map(|(dst, ..)| *dst as usize + 1).max().unwrap_or(0);
        p.value_types = vec![LimbType::QUOTIENT; values];
        let mut buffer_of = vec![BufferId(0); if p.allocation.is_some() { values } else { 0 }];
        for &(dst, ty, buffer) in &defined {
            p.value_types[dst as usize] = ty;
            if let Some(of) = buffer_of.get_mut(dst as usize) {
                *of = buffer;
            }
        }
        if let Some(allocation) = &mut p.allocation {
            allocation.buffer_of = buffer_of;
        }
        match self.from.read(&mut [0]) {
            Ok(0) => Ok(p),
            Ok(_) => Err(self.malformed("there are bytes behind the end")),
            Err(source) => Err(BinaryError::Io { source }),
        }
    }

    fn kind(&mut self) -> Result<SectionKind, BinaryError> {
        let text = self.known()?;
        let mut line = Line { number: 1, rest: text.trim() };
        let kind = line.section_kind().and_then(|kind| line.end_of_line().map(|()| kind));
        kind.map_err(|_| self.malformed("a section has no such kind"))
    }
}
