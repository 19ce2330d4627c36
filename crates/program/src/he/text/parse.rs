//! Text to program.

use std::sync::Arc;

use num_complex::Complex64;

use super::cursor::{Cursor, expected};
use super::lexer::{Token, tokens};
use crate::he::lanes::together;
use crate::he::{
    Builder, Constant, Flat, HeError, Level, Like, Lookup, Numbers, Op, OpKind, Program, Rule, Source,
    Tables, Value,
};

/// Parses and verifies a program that stands alone.
///
/// # Errors
/// The first violated rule, with its line.
pub fn parse(text: &str) -> Result<Program, HeError> {
    parse_with_tables(text, &Tables::default())
}

/// Parses and verifies a program that may name vectors by their digests in `tables`.
///
/// # Errors
/// The first violated rule, with its line.
pub fn parse_with_tables(text: &str, tables: &Tables) -> Result<Program, HeError> {
    let mut lines = text.lines().enumerate().filter_map(|(i, line)| match tokens(line) {
        Ok(t) if t.is_empty() => None,
        result => Some((i as u32 + 1, result)),
    });
    let mut reader = Reader { builder: None, header: None, lanes: 1, tables };
    for (number, result) in lines.by_ref() {
        let mut cursor = result.map(Cursor::new).map_err(|r| HeError::new(r).at(Some(number), None))?;
        let source = cursor.take_source().map_err(|r| HeError::new(r).at(Some(number), None))?;
        let done = reader.line(&mut cursor, number, source.clone());
        if done.map_err(|e| e.at(Some(number), source.as_ref()))? {
            if let Some((after, _)) = lines.next() {
                return Err(HeError::new(Rule::AfterEnd).at(Some(after), None));
            }
            let Some(builder) = reader.builder else { break };
            return builder.finish()?.in_lanes(reader.lanes);
        }
    }
    Err(HeError::new(Rule::NoEnd).at(Some(text.lines().count().max(1) as u32), None))
}

/// The header of a managed program waits for its chain.
struct Reader<'t> {
    builder: Option<Builder>,
    header: Option<(String, usize)>,
    /// Records that a traced program takes at once.
    lanes: usize,
    tables: &'t Tables,
}

impl Reader<'_> {
    /// Reads one line; true at `end`.
    fn line(&mut self, c: &mut Cursor<'_>, number: u32, source: Option<Source>) -> Result<bool, HeError> {
        let first = c.next("a line of a program")?;
        let Some(builder) = &mut self.builder else {
            self.head(&first, c)?;
            c.finish()?;
            return Ok(false);
        };
        builder.source(source);
        match first {
            Token::Value(name) => define(builder, self.tables, name, c, number)?,
            Token::Word("output") => {
                let name = c.text("the output's name in quotes")?;
                c.punct(',')?;
                let value = c.value(builder)?;
                c.finish()?;
                builder.output(&name, value)?;
            }
            Token::Word("region") => builder.region(&c.text("the region's name in quotes")?),
            Token::Word("data") => return self.data(c).map(|()| false),
            Token::Word("end") => {
                c.finish()?;
                return Ok(true);
            }
            t => return Err(expected("%value = …, output, region, data or end", &t).into()),
        }
        c.finish()?;
        Ok(false)
    }

    /// `data @name real [a, b, …]` or `data @name table "DIGEST"`.
    fn data(&mut self, c: &mut Cursor<'_>) -> Result<(), HeError> {
        let name = c.name("the table's name, as in @weights")?;
        const KINDS: &str = "'real', 'complex' or 'table'";
        let complex = match c.next(KINDS)? {
            Token::Word("real") => Some(false),
            Token::Word("complex") => Some(true),
            Token::Word("table") => None,
            t => return Err(expected(KINDS, &t).into()),
        };
        let Some(builder) = &mut self.builder else { return Ok(()) };
        let numbers = match complex {
            None => Arc::unwrap_or_clone(c.apart(builder, self.tables)?),
            Some(complex) => c.numbers(complex)?,
        };
        c.finish()?;
        builder.table(name, numbers)?;
        Ok(())
    }

    fn head(&mut self, first: &Token<'_>, c: &mut Cursor<'_>) -> Result<(), HeError> {
        if let Some((name, slots)) = &self.header {
            if *first != Token::Word("chain") {
                return Err(Rule::NoChain.into());
            }
            self.builder = Some(Builder::managed(name, *slots, c.chain()?)?);
            return Ok(());
        }
        if *first != Token::Word("he") {
            return Err(expected("'he @name traced slots S'", first).into());
        }
        let name = c.name("the program's name, as in @score")?;
        let stage = c.next("'traced' or 'managed'")?;
        c.word("slots")?;
        let slots = c.integer("the number of slots")?;
        match stage {
            Token::Word("traced") => {
                self.builder = Some(Builder::traced(name, slots)?);
                if c.eat_word("lanes") {
                    self.lanes = c.integer("the number of lanes")?;
                    together(slots, self.lanes)?;
                }
            }
            Token::Word("managed") => self.header = Some((name.into(), slots)),
            t => return Err(expected("'traced' or 'managed'", &t).into()),
        }
        Ok(())
    }
}

/// `%name = op operands [: type] [within bound] [like value off distance [bias distance]]`.
fn define(
    b: &mut Builder,
    tables: &Tables,
    name: &str,
    c: &mut Cursor<'_>,
    line: u32,
) -> Result<(), HeError> {
    if b.find_bound(name).is_some() {
        return Err(Rule::Redefined { value: format!("%{name}") }.into());
    }
    c.punct('=')?;
    let word = match c.next("an operation")? {
        Token::Word(w) => w,
        t => return Err(expected("an operation", &t).into()),
    };
    let Some(kind) = OpKind::from_word(word) else {
        let stage = b.program().stage();
        let known: Vec<_> = OpKind::all().filter(|k| k.allowed_in(stage)).map(OpKind::word).collect();
        return Err(Rule::UnknownOp { word: word.into(), known: known.join(", ") }.into());
    };
    let op = c.op(kind, b, tables)?;
    let ty = if c.eat(':') { Some(c.ty()?) } else { None };
    let within = if c.eat_word("within") { Some(c.real()?) } else { None };
    let like = match c.eat_word("like") {
        true => {
            let value = c.value(b)?;
            c.word("off")?;
            let off = c.real()?;
            let bias = if c.eat_word("bias") { c.real()? } else { 0.0 };
            let flat = match c.eat_word("flat") {
                true => {
                    let square = c.real()?;
                    c.word("from")?;
                    Some(Flat { square, from: c.real()? })
                }
                false => None,
            };
            Some(Like { value, off, bias, flat })
        }
        false => None,
    };
    c.finish()?;
    let digits = name.bytes().all(|x| x.is_ascii_digit());
    let value = b.push_full(op, ty, (!digits).then_some(name))?;
    b.bind(name, value, line);
    if let Some(bound) = within {
        b.promise(value, bound)?;
    }
    if let Some(like) = like {
        b.resemble(value, like)?;
    }
    Ok(())
}

impl Cursor<'_> {
    /// `[a, b, …]`.
    fn numbers(&mut self, complex: bool) -> Result<Numbers, Rule> {
        self.punct('[')?;
        Ok(match (self.list()?, complex) {
            (Numbers::Complex(_), false) => {
                let (expected, found) = ("real numbers".into(), "a complex one".into());
                return Err(Rule::Syntax { expected, found });
            }
            (numbers @ Numbers::Real(_), true) => Numbers::Complex(numbers.to_complex()),
            (numbers, _) => numbers,
        })
    }

    /// The digest of a table that stands apart, as its numbers.
    fn apart(&mut self, b: &Builder, tables: &Tables) -> Result<Arc<Numbers>, Rule> {
        const WHAT: &str = "the digest of a table, 64 hexadecimal digits in quotes";
        let text = self.text(WHAT)?;
        let digest = text.parse().map_err(|()| expected(WHAT, &Token::Text(text.clone())))?;
        let Some(numbers) = tables.get(&digest) else { return Err(Rule::MissingTable { digest: text }) };
        let (found, slots) = (numbers.len(), b.program().slots());
        if found != slots {
            return Err(Rule::TableLength { digest: text, found, slots });
        }
        Ok(Arc::clone(numbers))
    }

    fn constant(&mut self, b: &Builder, tables: &Tables) -> Result<Constant, HeError> {
        match self.peek() {
            Some(&Token::Name(name)) => {
                self.at += 1;
                let id = b.find_table(name).ok_or_else(|| Rule::UnknownTable { name: name.into() })?;
                Ok(Constant::Table(id))
            }
            Some(Token::Word("table")) => {
                self.at += 1;
                Ok(Constant::List(self.apart(b, tables)?))
            }
            Some(Token::Punct('[')) => {
                self.at += 1;
                Ok(Constant::List(self.list()?.into()))
            }
            _ => Ok(match self.number()? {
                (re, None) => Constant::Real(re),
                (re, Some(im)) => Constant::Complex(Complex64::new(re, im)),
            }),
        }
    }

    fn two(&mut self, b: &Builder) -> Result<(Value, Value), Rule> {
        let x = self.value(b)?;
        self.punct(',')?;
        Ok((x, self.value(b)?))
    }

    fn op(&mut self, kind: OpKind, b: &Builder, tables: &Tables) -> Result<Op, HeError> {
        Ok(match kind {
            OpKind::Input => Op::Input(self.text("the input's name in quotes")?),
            OpKind::Plain => Op::Plain(self.text("the plaintext's name in quotes")?),
            OpKind::Const => Op::Const(self.constant(b, tables)?),
            OpKind::Neg => Op::Neg(self.value(b)?),
            OpKind::Square => Op::Square(self.value(b)?),
            OpKind::Bootstrap => {
                let a = self.value(b)?;
                let iterations =
                    if self.eat(',') { Some(self.integer("how many iterations")?) } else { None };
                Op::Bootstrap { a, iterations }
            }
            OpKind::Lookup => {
                let a = self.value(b)?;
                self.punct(',')?;
                let entries = match self.numbers(false)? {
                    Numbers::Real(entries) => entries,
                    // Not asked for.
                    Numbers::Complex(_) => Vec::new(),
                };
                self.punct(',')?;
                let first = self.integer("the first number of the table")?;
                let noise = if self.eat(',') { self.real()? } else { 0.0 };
                Op::Lookup { a, table: Arc::new(Lookup::new(entries, first, noise)?) }
            }
            OpKind::Relin => Op::Relin(self.value(b)?),
            OpKind::Rescale => Op::Rescale(self.value(b)?),
            OpKind::Conj => Op::Conj { a: self.value(b)?, hoist: self.hoist()? },
            OpKind::Add => self.two(b).map(|(x, y)| Op::Add(x, y))?,
            OpKind::Sub => self.two(b).map(|(x, y)| Op::Sub(x, y))?,
            OpKind::Mul => self.two(b).map(|(x, y)| Op::Mul(x, y))?,
            OpKind::AddPlain => self.two(b).map(|(x, y)| Op::AddPlain(x, y))?,
            OpKind::SubPlain => self.two(b).map(|(x, y)| Op::SubPlain(x, y))?,
            OpKind::MulPlain => self.two(b).map(|(x, y)| Op::MulPlain(x, y))?,
            OpKind::Rotate
            | OpKind::Sum
            | OpKind::Raise
            | OpKind::Drop
            | OpKind::AddScalar
            | OpKind::MulScalar => {
                let a = self.value(b)?;
                self.punct(',')?;
                self.op_with_number(kind, a)?
            }
        })
    }

    /// The operations whose second operand is a number.
    fn op_with_number(&mut self, kind: OpKind, a: Value) -> Result<Op, Rule> {
        Ok(match kind {
            OpKind::Rotate => Op::Rotate { a, k: self.integer("slots to rotate by")?, hoist: self.hoist()? },
            OpKind::Sum => {
                let count = self.integer("how many slots to add up")?;
                let stride = if self.eat(',') { self.integer("a stride")? } else { 1 };
                Op::Sum { a, count, stride }
            }
            OpKind::Raise => Op::Raise { a, bits: self.integer("log2 of q0 over the scale")? },
            OpKind::Drop => Op::Drop(a, Level::new(self.integer("a level")?)),
            OpKind::AddScalar => Op::AddScalar(a, self.real()?),
            _ => {
                let c = self.real()?;
                self.punct(',')?;
                self.word("scale")?;
                Op::MulScalar { a, c, scale: self.scale()? }
            }
        })
    }
}
