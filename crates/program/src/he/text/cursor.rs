//! The tokens of a line, read from the left: items that do not depend on the operation.

use num_complex::Complex64;
use ringmill_ckks::Generator;

use super::lexer::Token;
use crate::he::{Builder, Chain, Level, Numbers, Rule, Scale, Source, Type, Value};

pub(super) fn expected(what: &str, found: &Token<'_>) -> Rule {
    Rule::Syntax { expected: what.into(), found: found.show() }
}

/// The tokens of a line, read from the left.
pub(super) struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: Vec<Token<'a>>) -> Self {
        Self { tokens, at: 0 }
    }

    /// Cuts `@ "file":line` off the end.
    pub(super) fn take_source(&mut self) -> Result<Option<Source>, Rule> {
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

    pub(super) fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    pub(super) fn next(&mut self, what: &str) -> Result<Token<'a>, Rule> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        let found = "the end of the line".into();
        token.ok_or_else(|| Rule::Syntax { expected: what.into(), found })
    }

    pub(super) fn finish(&self) -> Result<(), Rule> {
        self.peek().map_or(Ok(()), |t| Err(expected("the end of the line", t)))
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(&Token::Punct(c));
        self.at += usize::from(hit);
        hit
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let hit = matches!(self.peek(), Some(Token::Word(w)) if *w == word);
        self.at += usize::from(hit);
        hit
    }

    pub(super) fn punct(&mut self, c: char) -> Result<(), Rule> {
        let what = format!("'{c}'");
        match self.next(&what)? {
            Token::Punct(found) if found == c => Ok(()),
            t => Err(expected(&what, &t)),
        }
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Rule> {
        let what = format!("'{word}'");
        match self.next(&what)? {
            Token::Word(found) if found == word => Ok(()),
            t => Err(expected(&what, &t)),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<&'a str, Rule> {
        match self.next(what)? {
            Token::Name(name) => Ok(name),
            t => Err(expected(what, &t)),
        }
    }

    pub(super) fn text(&mut self, what: &str) -> Result<String, Rule> {
        match self.next(what)? {
            Token::Text(text) => Ok(text),
            t => Err(expected(what, &t)),
        }
    }

    pub(super) fn integer<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Rule> {
        match self.next(what)? {
            Token::Number(s) => s.parse().map_err(|_| expected(what, &Token::Number(s))),
            t => Err(expected(what, &t)),
        }
    }

    pub(super) fn real(&mut self) -> Result<f64, Rule> {
        match self.next("a number")? {
            // `f64::from_str` also reads "inf" and "nan", but those are words here.
            Token::Number(s) => s.parse().map_err(|_| expected("a number", &Token::Number(s))),
            t @ Token::Word("nan" | "inf" | "NaN") => Err(expected("a finite number", &t)),
            t => Err(expected("a number", &t)),
        }
    }

    pub(super) fn value(&mut self, b: &Builder) -> Result<Value, Rule> {
        match self.next("a value such as %3")? {
            Token::Value(name) => {
                b.find_bound(name).ok_or_else(|| Rule::Undefined { value: format!("%{name}") })
            }
            t => Err(expected("a value such as %3", &t)),
        }
    }

    /// `re` or `(re, im)`; real numbers have no imaginary part.
    pub(super) fn number(&mut self) -> Result<(f64, Option<f64>), Rule> {
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
    pub(super) fn list(&mut self) -> Result<Numbers, Rule> {
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

    pub(super) fn integers(&mut self, what: &str) -> Result<Vec<u64>, Rule> {
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

    pub(super) fn scale(&mut self) -> Result<Scale, Rule> {
        let mut scale = Scale::ONE;
        loop {
            let base: u64 = self.integer("a scale such as 2^40")?;
            let exponent = if self.eat('^') { self.integer("an exponent")? } else { 1 };
            if base != 1 {
                let prime = Scale::prime(base).map_err(|e| Rule::ScaleText { why: e.to_string() })?;
                scale = scale.mul(&prime.pow(exponent));
            }
            if !self.eat('*') {
                return Ok(scale);
            }
        }
    }

    pub(super) fn chain(&mut self) -> Result<Chain, Rule> {
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
        let mut chain = Chain::new(log_n, scale, q, p, alpha)?;
        if self.eat_word("levels") {
            let primes = self.integers("primes of a level")?;
            let primes: Vec<usize> =
                primes.into_iter().map(|primes| usize::try_from(primes).unwrap_or(usize::MAX)).collect();
            chain = chain.levelled(&primes)?;
        }
        if !self.eat_word("rotations") {
            return Ok(chain);
        }
        let g: u64 = self.integer("a generator of rotations")?;
        let unknown = || Rule::Chain { what: format!("{g} is no generator of rotations; 3 and 5 are") };
        Ok(chain.turned_by(Generator::from_value(g).ok_or_else(unknown)?))
    }

    pub(super) fn ty(&mut self) -> Result<Type, Rule> {
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
        let level = Level::new(self.integer("a level")?);
        self.punct(',')?;
        self.word("scale")?;
        let scale = self.scale()?;
        self.punct(')')?;
        Ok(match parts {
            Some(parts) => Type::ct(parts, level, scale),
            None => Type::pt(level, scale),
        })
    }

    pub(super) fn hoist(&mut self) -> Result<Option<u32>, Rule> {
        if self.eat_word("hoist") { self.integer("a group number").map(Some) } else { Ok(None) }
    }
}
