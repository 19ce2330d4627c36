//! Text to program.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::lexer::{Token, tokens};
use crate::he::{
    Builder, Chain, Constant, HeError, Level, Numbers, Op, OpKind, Program, Rule, Scale, Source, Type, Value,
};

/// Parses and verifies a program that stands alone.
///
/// # Errors
/// The first violated rule, with its line.
pub fn parse(text: &str) -> Result<Program, HeError> {
    parse_with_tables(text, BTreeMap::new())
}

/// Parses and verifies a program whose `const @name` may refer to `tables`.
///
/// # Errors
/// The first violated rule, with its line.
pub fn parse_with_tables(text: &str, mut tables: BTreeMap<String, Numbers>) -> Result<Program, HeError> {
    let mut lines = text.lines().enumerate().filter_map(|(i, line)| match tokens(line) {
        Ok(t) if t.is_empty() => None,
        result => Some((i as u32 + 1, result)),
    });
    let mut reader = Reader { builder: None, header: None, tables: &mut tables };
    for (number, result) in lines.by_ref() {
        let mut cursor = result.map(Cursor::new).map_err(|r| HeError::new(r).at(Some(number), None))?;
        let source = cursor.take_source().map_err(|r| HeError::new(r).at(Some(number), None))?;
        let done = reader.line(&mut cursor, number, source.clone());
        if done.map_err(|e| e.at(Some(number), source.as_ref()))? {
            if let Some((after, _)) = lines.next() {
                return Err(HeError::new(Rule::AfterEnd).at(Some(after), None));
            }
            let Some(builder) = reader.builder else { break };
            return builder.finish();
        }
    }
    Err(HeError::new(Rule::NoEnd).at(Some(text.lines().count().max(1) as u32), None))
}

/// The header of a managed program waits for its chain.
struct Reader<'t> {
    builder: Option<Builder>,
    header: Option<(String, usize)>,
    tables: &'t mut BTreeMap<String, Numbers>,
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
            Token::Word("data") => {
                let name = c.name("the table's name, as in @weights")?;
                if self.tables.contains_key(name) {
                    return Err(Rule::DuplicateName { name: name.into(), what: "table" }.into());
                }
                let complex = match c.next("'real' or 'complex'")? {
                    Token::Word("real") => false,
                    Token::Word("complex") => true,
                    t => return Err(expected("'real' or 'complex'", &t).into()),
                };
                c.punct('[')?;
                let numbers = c.list()?;
                let numbers = if complex { Numbers::Complex(numbers.to_complex()) } else { numbers };
                if !complex && matches!(numbers, Numbers::Complex(_)) {
                    let (expected, found) = ("real numbers".into(), "a complex one".into());
                    return Err(Rule::Syntax { expected, found }.into());
                }
                builder.table(name, numbers)?;
            }
            Token::Word("end") => {
                c.finish()?;
                return Ok(true);
            }
            t => return Err(expected("%value = …, output, region, data or end", &t).into()),
        }
        c.finish()?;
        Ok(false)
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
            Token::Word("traced") => self.builder = Some(Builder::traced(name, slots)?),
            Token::Word("managed") => self.header = Some((name.into(), slots)),
            t => return Err(expected("'traced' or 'managed'", &t).into()),
        }
        Ok(())
    }
}

fn expected(what: &str, found: &Token<'_>) -> Rule {
    Rule::Syntax { expected: what.into(), found: found.show() }
}

/// `%name = op operands [: type]`.
fn define(
    b: &mut Builder,
    tables: &mut BTreeMap<String, Numbers>,
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
    c.finish()?;
    let digits = name.bytes().all(|x| x.is_ascii_digit());
    let value = b.push_full(op, ty, (!digits).then_some(name))?;
    b.bind(name, value, line);
    Ok(())
}

/// The tokens of a line, read from the left.
struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(tokens: Vec<Token<'a>>) -> Self {
        Self { tokens, at: 0 }
    }

    /// Cuts `@ "file":line` off the end.
    fn take_source(&mut self) -> Result<Option<Source>, Rule> {
        let n = self.tokens.len();
        let Some(at) = self.tokens.iter().position(|t| *t == Token::Punct('@')) else { return Ok(None) };
        let source = match &self.tokens[at..] {
            [_, Token::Text(file), Token::Punct(':'), Token::Number(line)] if at + 4 == n => {
                line.parse().ok().map(|line| Source { file: file.as_str().into(), line })
            }
            _ => None,
        };
        self.tokens.truncate(at);
        let (expected, found) = ("@ \"file\":line at the end of the line".into(), "'@'".into());
        source.map(Some).ok_or(Rule::Syntax { expected, found })
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    fn next(&mut self, what: &str) -> Result<Token<'a>, Rule> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        let found = "the end of the line".into();
        token.ok_or_else(|| Rule::Syntax { expected: what.into(), found })
    }

    fn finish(&self) -> Result<(), Rule> {
        self.peek().map_or(Ok(()), |t| Err(expected("the end of the line", t)))
    }

    fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(&Token::Punct(c));
        self.at += usize::from(hit);
        hit
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let hit = matches!(self.peek(), Some(Token::Word(w)) if *w == word);
        self.at += usize::from(hit);
        hit
    }

    fn punct(&mut self, c: char) -> Result<(), Rule> {
        let what = format!("'{c}'");
        match self.next(&what)? {
            Token::Punct(found) if found == c => Ok(()),
            t => Err(expected(&what, &t)),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Rule> {
        let what = format!("'{word}'");
        match self.next(&what)? {
            Token::Word(found) if found == word => Ok(()),
            t => Err(expected(&what, &t)),
        }
    }

    fn name(&mut self, what: &str) -> Result<&'a str, Rule> {
        match self.next(what)? {
            Token::Name(name) => Ok(name),
            t => Err(expected(what, &t)),
        }
    }

    fn text(&mut self, what: &str) -> Result<String, Rule> {
        match self.next(what)? {
            Token::Text(text) => Ok(text),
            t => Err(expected(what, &t)),
        }
    }

    fn integer<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Rule> {
        match self.next(what)? {
            Token::Number(s) => s.parse().map_err(|_| expected(what, &Token::Number(s))),
            t => Err(expected(what, &t)),
        }
    }

    fn real(&mut self) -> Result<f64, Rule> {
        match self.next("a number")? {
            // `f64::from_str` also reads "inf" and "nan", but those are words here.
            Token::Number(s) => s.parse().map_err(|_| expected("a number", &Token::Number(s))),
            t @ Token::Word("nan" | "inf" | "NaN") => Err(expected("a finite number", &t)),
            t => Err(expected("a number", &t)),
        }
    }

    fn value(&mut self, b: &Builder) -> Result<Value, Rule> {
        match self.next("a value such as %3")? {
            Token::Value(name) => {
                b.find_bound(name).ok_or_else(|| Rule::Undefined { value: format!("%{name}") })
            }
            t => Err(expected("a value such as %3", &t)),
        }
    }

    /// `re` or `(re, im)`; real numbers have no imaginary part.
    fn number(&mut self) -> Result<(f64, Option<f64>), Rule> {
        if !self.eat('(') {
            return Ok((self.real()?, None));
        }
        let re = self.real()?;
        self.punct(',')?;
        let im = self.real()?;
        self.punct(')')?;
        Ok((re, Some(im)))
    }

    /// Numbers up to `]`; complex ones if any is.
    fn list(&mut self) -> Result<Numbers, Rule> {
        let (mut re, mut im) = (Vec::new(), None::<Vec<f64>>);
        while !self.eat(']') {
            if !re.is_empty() {
                self.punct(',')?;
            }
            let (x, y) = self.number()?;
            if y.is_some() && im.is_none() {
                im = Some(vec![0.0; re.len()]);
            }
            re.push(x);
            if let Some(im) = &mut im {
                im.push(y.unwrap_or(0.0));
            }
        }
        Ok(match im {
            None => Numbers::Real(re),
            Some(im) => Numbers::Complex(re.iter().zip(im).map(|(&re, im)| Complex64::new(re, im)).collect()),
        })
    }

    fn integers(&mut self, what: &str) -> Result<Vec<u64>, Rule> {
        self.punct('[')?;
        let mut out = Vec::new();
        while !self.eat(']') {
            if !out.is_empty() {
                self.punct(',')?;
            }
            out.push(self.integer(what)?);
        }
        Ok(out)
    }

    fn scale(&mut self) -> Result<Scale, Rule> {
        let mut scale = Scale::one();
        loop {
            let base: u64 = self.integer("a scale such as 2^40")?;
            if base == 1 {
                return Ok(scale);
            }
            let exponent = if self.eat('^') { self.integer("an exponent")? } else { 1 };
            scale = scale.mul(&Scale::power(base, exponent));
            if !self.eat('*') {
                return Ok(scale);
            }
        }
    }

    fn chain(&mut self) -> Result<Chain, Rule> {
        self.word("log_n")?;
        let log_n = self.integer("log2 of the ring degree")?;
        self.word("scale")?;
        let scale = self.scale()?;
        self.word("q")?;
        let q = self.integers("a ciphertext prime")?;
        self.word("p")?;
        let p = self.integers("a special prime")?;
        self.word("alpha")?;
        let alpha = self.integer("limbs a digit")?;
        Chain::new(log_n, scale, q, p, alpha)
    }

    fn ty(&mut self) -> Result<Type, Rule> {
        let parts = match self.next("a type")? {
            Token::Word("ct") => {
                self.punct('[')?;
                let parts: u8 = self.integer("2 or 3 parts")?;
                self.punct(']')?;
                if !(2..=3).contains(&parts) {
                    return Err(expected(
                        "2 or 3 parts",
                        &Token::Number(if parts < 2 { "fewer" } else { "more" }),
                    ));
                }
                Some(parts)
            }
            Token::Word("pt") => None,
            t => return Err(expected("a type: ct[2](level …, scale …) or pt(level …, scale …)", &t)),
        };
        self.punct('(')?;
        self.word("level")?;
        let level = Level(self.integer("a level")?);
        self.punct(',')?;
        self.word("scale")?;
        let scale = self.scale()?;
        self.punct(')')?;
        Ok(match parts {
            Some(parts) => Type::ct(parts, level, scale),
            None => Type::pt(level, scale),
        })
    }

    fn hoist(&mut self) -> Result<Option<u32>, Rule> {
        if self.eat_word("hoist") { self.integer("a group number").map(Some) } else { Ok(None) }
    }

    fn constant(
        &mut self,
        b: &mut Builder,
        tables: &mut BTreeMap<String, Numbers>,
    ) -> Result<Constant, HeError> {
        match self.peek() {
            Some(&Token::Name(name)) => {
                self.at += 1;
                if let Some(id) = b.find_table(name) {
                    return Ok(Constant::Table(id));
                }
                let numbers = tables.get(name).cloned();
                let numbers = numbers.ok_or_else(|| Rule::UnknownTable { name: name.into() })?;
                Ok(Constant::Table(b.table(name, numbers)?))
            }
            Some(Token::Punct('[')) => {
                self.at += 1;
                Ok(Constant::List(self.list()?))
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

    fn op(
        &mut self,
        kind: OpKind,
        b: &mut Builder,
        tables: &mut BTreeMap<String, Numbers>,
    ) -> Result<Op, HeError> {
        Ok(match kind {
            OpKind::Input => Op::Input(self.text("the input's name in quotes")?),
            OpKind::Plain => Op::Plain(self.text("the plaintext's name in quotes")?),
            OpKind::Const => Op::Const(self.constant(b, tables)?),
            OpKind::Neg => Op::Neg(self.value(b)?),
            OpKind::Square => Op::Square(self.value(b)?),
            OpKind::Relin => Op::Relin(self.value(b)?),
            OpKind::Rescale => Op::Rescale(self.value(b)?),
            OpKind::Conj => Op::Conj { a: self.value(b)?, hoist: self.hoist()? },
            OpKind::Add => self.two(b).map(|(x, y)| Op::Add(x, y))?,
            OpKind::Sub => self.two(b).map(|(x, y)| Op::Sub(x, y))?,
            OpKind::Mul => self.two(b).map(|(x, y)| Op::Mul(x, y))?,
            OpKind::AddPlain => self.two(b).map(|(x, y)| Op::AddPlain(x, y))?,
            OpKind::SubPlain => self.two(b).map(|(x, y)| Op::SubPlain(x, y))?,
            OpKind::MulPlain => self.two(b).map(|(x, y)| Op::MulPlain(x, y))?,
            OpKind::Rotate | OpKind::Sum | OpKind::Drop | OpKind::AddScalar | OpKind::MulScalar => {
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
            OpKind::Drop => Op::Drop(a, Level(self.integer("a level")?)),
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
