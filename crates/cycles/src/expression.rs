//! Figures of units: whole cycles as a rational function of the program's size.
//!
//! A figure is a sum of products of `n`, `log_n`, `terms` and whole numbers, divided by whole numbers: `n/1024`,
//! `n*terms/24576`, `n/1024 + 256`, `n*log_n/2048`. Each of the three names occurs at most once in a product, so that a figure is
//! affine in each. It is kept as eight numerators over one denominator and rounded up to whole cycles when it is evaluated.

use std::fmt;

/// Numerators of the products of `n` (bit 0), `log_n` (bit 1) and `terms` (bit 2), by which of them occur.
type Numerators = [u64; 8];

/// The names that a figure may hold, in the order of the bits.
const NAMES: [&str; 3] = ["n", "log_n", "terms"];

/// Which bit stands for the number of terms.
const TERMS: usize = 1 << 2;

/// Deepest nesting of parentheses: more than anyone writes, less than a stack holds.
const DEEPEST: u32 = 32;

/// A number of cycles that depends on the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    numerators: Numerators,
    denominator: u64,
    text: String,
}

/// What an expression takes of one program: (fixed + each·terms) / denominator, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affine {
    fixed: u128,
    each: u128,
    denominator: u64,
}

impl Affine {
    /// At a number of terms; what exceeds 64 bits is the greatest number that there is.
    pub fn at(self, terms: u32) -> u64 {
        let sum = self.fixed.saturating_add(self.each.saturating_mul(terms.into()));
        u64::try_from(sum.div_ceil(self.denominator.into())).unwrap_or(u64::MAX)
    }
}

impl Expression {
    /// A fixed number of cycles.
    pub fn fixed(cycles: u64) -> Self {
        let mut numerators = Numerators::default();
        numerators[0] = cycles;
        Self { numerators, denominator: 1, text: cycles.to_string() }
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Why it is none, with what would be one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text, depth: 0 };
        let sum = reader.sum()?;
        match reader.peek() {
            None => {
                let reduced = sum.reduced();
                Ok(Self {
                    numerators: reduced.numerators,
                    denominator: reduced.denominator,
                    text: text.trim().into(),
                })
            }
            Some(found) => Err(format!("`{found}` stands where `+`, `*`, `/` or the end would be right")),
        }
    }

    /// At a ring degree 2^`log_n`.
    pub fn of(&self, log_n: u32) -> Affine {
        let product = |bits: usize| {
            let n = if bits & 1 == 0 { 1 } else { 1u128 << log_n };
            let log = if bits & 2 == 0 { 1 } else { u128::from(log_n) };
            u128::from(self.numerators[bits]).saturating_mul(n * log)
        };
        let sum = |terms: usize| {
            (0..8).filter(|bits| bits & TERMS == terms).map(product).fold(0, u128::saturating_add)
        };
        Affine { fixed: sum(0), each: sum(TERMS), denominator: self.denominator }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A sum while it is read.
#[derive(Clone, Copy)]
struct Sum {
    numerators: Numerators,
    denominator: u64,
}

const TOO_LARGE: &str = "its numbers are too large; all products must stay below 2^64";

impl Sum {
    const fn one(bits: usize, factor: u64) -> Self {
        let mut numerators = [0; 8];
        numerators[bits] = factor;
        Self { numerators, denominator: 1 }
    }

    fn plus(self, other: Self) -> Result<Self, String> {
        let divisor = gcd(self.denominator, other.denominator);
        let (left, right) = (other.denominator / divisor, self.denominator / divisor);
        let denominator = self.denominator.checked_mul(left).ok_or(TOO_LARGE)?;
        let mut numerators = Numerators::default();
        for (bits, sum) in numerators.iter_mut().enumerate() {
            let a = self.numerators[bits].checked_mul(left).ok_or(TOO_LARGE)?;
            let b = other.numerators[bits].checked_mul(right).ok_or(TOO_LARGE)?;
            *sum = a.checked_add(b).ok_or(TOO_LARGE)?;
        }
        Ok(Self { numerators, denominator }.reduced())
    }

    fn times(self, other: Self) -> Result<Self, String> {
        let mut numerators = Numerators::default();
        for (i, &a) in self.numerators.iter().enumerate().filter(|(_, a)| **a != 0) {
            for (j, &b) in other.numerators.iter().enumerate().filter(|(_, b)| **b != 0) {
                if i & j != 0 {
                    let name = NAMES[(i & j).trailing_zeros() as usize];
                    return Err(format!("`{name}` is multiplied by itself; it may occur once in a product"));
                }
                let product = a.checked_mul(b).ok_or(TOO_LARGE)?;
                numerators[i | j] = numerators[i | j].checked_add(product).ok_or(TOO_LARGE)?;
            }
        }
        let denominator = self.denominator.checked_mul(other.denominator).ok_or(TOO_LARGE)?;
        Ok(Self { numerators, denominator }.reduced())
    }

    fn over(self, other: Self) -> Result<Self, String> {
        if other.numerators[1..].iter().any(|&a| a != 0) {
            return Err("it divides by a name; divide by whole numbers, as n/1024".into());
        }
        let inverse = Self::one(0, other.denominator);
        let by = Self { denominator: other.numerators[0], ..inverse };
        if by.denominator == 0 {
            return Err("it divides by 0".into());
        }
        self.times(by)
    }

    fn reduced(self) -> Self {
        let divisor = self.numerators.iter().fold(self.denominator, |a, &b| gcd(a, b)).max(1);
        Self { numerators: self.numerators.map(|a| a / divisor), denominator: self.denominator / divisor }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn sum(&mut self) -> Result<Sum, String> {
        let mut sum = self.product()?;
        while self.peek() == Some('+') {
            self.skip('+');
            sum = sum.plus(self.product()?)?;
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<Sum, String> {
        let mut product = self.factor()?;
        while let Some(c @ ('*' | '/')) = self.peek() {
            self.skip(c);
            let factor = self.factor()?;
            product = if c == '*' { product.times(factor)? } else { product.over(factor)? };
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<Sum, String> {
        match self.peek() {
            Some('(') => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(format!("its parentheses are nested more than {DEEPEST} deep"));
                }
                self.skip('(');
                let inner = self.sum()?;
                if self.peek() != Some(')') {
                    return Err("a parenthesis is not closed".into());
                }
                self.skip(')');
                self.depth -= 1;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() => {
                let word = self.word(|c| c.is_ascii_digit());
                word.parse().map(|number| Sum::one(0, number)).map_err(|_| TOO_LARGE.into())
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
                let place = NAMES.iter().position(|name| *name == word);
                let unknown = || {
                    format!("`{word}` is no name of a figure; n, log_n and terms are, and + * / ( ) between")
                };
                place.map(|bit| Sum::one(1 << bit, 1)).ok_or_else(unknown)
            }
            Some(c) => Err(format!("`{c}` stands where n, log_n, terms or a whole number would be right")),
            None => Err("it ends where n, log_n, terms or a whole number would be right".into()),
        }
    }

    fn word(&mut self, of: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str, log_n: u32, terms: u32) -> u64 {
        Expression::parse(text).unwrap().of(log_n).at(terms)
    }

    #[test]
    fn figures_are_what_they_say_rounded_up() {
        assert_eq!(at("n/1024", 16, 9), 64);
        assert_eq!(at("n*terms/24576", 16, 5), 14); // 13.3
        assert_eq!(at("n / 1024 + 256", 10, 1), 257);
        assert_eq!(at("n*log_n/(2*512)", 12, 1), 48);
        assert_eq!(at("(terms + 1)*n/1024", 10, 3), 4);
        assert_eq!(at("3", 16, 7), 3);
        assert_eq!(at("n/3 + n/6", 10, 1), 512);
        assert_eq!(at("terms*18446744073709551615", 16, u32::MAX), u64::MAX);
    }

    #[test]
    fn what_is_no_figure_is_refused_with_what_would_be_one() {
        for (text, says) in [
            ("", "it ends where n, log_n, terms or a whole number would be right"),
            ("n/lanes", "`lanes` is no name of a figure; n, log_n and terms are"),
            ("n*n", "`n` is multiplied by itself"),
            ("n/terms", "it divides by a name; divide by whole numbers, as n/1024"),
            ("n/0", "it divides by 0"),
            ("n-1", "`-` stands where `+`, `*`, `/` or the end would be right"),
            ("(n", "a parenthesis is not closed"),
            ("n)", "`)` stands where"),
            ("1.5", "`.` stands where"),
            ("99999999999999999999", "its numbers are too large"),
            ("n*18446744073709551615*2", "its numbers are too large"),
            ("n/18446744073709551615/2", "its numbers are too large"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(Expression::parse(&"(".repeat(1 << 16)).unwrap_err().contains("nested"));
    }

    /// A random expression as text, with its value as an exact fraction by the schoolbook.
    fn expression(log_n: u32, terms: u32) -> impl Strategy<Value = (String, u128, u128)> {
        let product = (any::<[bool; 3]>(), 1u64..100, 1u64..100).prop_map(move |(names, by, over)| {
            let mut text = by.to_string();
            let mut value = u128::from(by);
            for (name, at) in ["n", "log_n", "terms"]
                .iter()
                .zip([1 << log_n, log_n, terms])
                .zip(names)
                .filter(|x| x.1)
                .map(|x| x.0)
            {
                text = format!("{name} * {text}");
                value *= u128::from(at);
            }
            (format!("{text}/{over}"), value, u128::from(over))
        });
        prop::collection::vec(product, 1..4).prop_map(|all| {
            let text: Vec<_> = all.iter().map(|p| p.0.clone()).collect();
            let below: u128 = all.iter().map(|p| p.2).product();
            (text.join(" + "), all.iter().map(|p| p.1 * (below / p.2)).sum(), below)
        })
    }

    proptest! {
        #[test]
        fn sums_of_fractions_are_exact((text, above, below) in expression(13, 7)) {
            prop_assert_eq!(u128::from(at(&text, 13, 7)), above.div_ceil(below), "{}", text);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[n*/+() 0-9a-z_]{0,24}|.{0,12}") {
            if let Ok(read) = Expression::parse(&text) {
                prop_assert_eq!(read.to_string(), text.trim());
            }
        }
    }
}
