//! What a machine takes for each kind of work, and the text file that says so.

use std::fmt;

use ringmill_errors::StructuredError;
use ringmill_ring::Modulus;

use super::work::{Kind, Work};

/// First line of a file.
const HEAD: &str = "ringmill costs 2";

/// Nanoseconds a word for each kind of work, at one ring degree; transforms a word and stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// log2 of the ring degree at which they were measured.
    pub log_n: u32,
    /// In the order of [`Kind::ALL`].
    pub rates: [f64; Kind::ALL.len()],
}

/// Primes beside those of a chain that a machine has for [KLSS](crate::lower::klss).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auxiliary {
    /// Bits of those that its transforms like; none where it computes modulo primes of a special form only.
    pub bits: Vec<u32>,
    /// The most moduli of a program, those of the chain among them.
    pub moduli: usize,
}

impl Default for Auxiliary {
    /// Those of CPUs: as many as are wanted, of 49 bits, whose transforms reduce less often than those of the longest that one
    /// multiply-add serves (`docs/algorithms/ntt.md`), or of the longest that there are.
    fn default() -> Self {
        Self { bits: vec![Modulus::NARROW_BITS - 1, Modulus::MAX_BITS], moduli: usize::MAX }
    }
}

/// The costs of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    /// The machine, as text.
    machine: String,
    /// By ascending degree, at least one.
    rates: Vec<Rates>,
    /// Whether transforms are done beside all else. Not in files, as what follows: those are of CPUs.
    side_by_side: bool,
    auxiliary: Auxiliary,
}

/// What is wrong with a cost file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum CostError {
    #[error("a cost file begins with `{HEAD}`, this one with `{found}`")]
    Head { found: String },
    #[error("line {line} of a cost file is `{text}`; expected {expected}")]
    Line { line: usize, text: String, expected: String },
    #[error("a cost file holds rates for at least one degree; this one for none")]
    Empty,
}

impl CostTable {
    /// A table.
    ///
    /// # Errors
    /// [`CostError::Empty`] without any rates.
    pub fn new(machine: impl Into<String>, mut rates: Vec<Rates>) -> Result<Self, CostError> {
        if rates.is_empty() {
            return Err(CostError::Empty);
        }
        rates.sort_by_key(|r| r.log_n);
        Ok(Self::of(machine, rates))
    }

    /// That of a CPU with rates by ascending degree. The machine's name is one line of a file.
    fn of(machine: impl Into<String>, rates: Vec<Rates>) -> Self {
        let machine = machine.into().replace(['\n', '\r'], " ");
        Self { machine, rates, side_by_side: false, auxiliary: Auxiliary::default() }
    }

    /// A table of a machine whose transforms are done by units of their own beside all other work, with rates that are the
    /// same at every degree.
    pub fn side_by_side(machine: impl Into<String>, rates: Rates) -> Self {
        Self { side_by_side: true, ..Self::of(machine, vec![rates]) }
    }

    /// The same for a machine with other primes.
    #[must_use]
    pub fn with_auxiliary(self, auxiliary: Auxiliary) -> Self {
        Self { auxiliary, ..self }
    }

    /// The primes that the machine has for KLSS.
    pub fn auxiliary(&self) -> &Auxiliary {
        &self.auxiliary
    }

    /// The default costs if nothing was measured: those of a Zen 4 core with 52-bit products, as the
    /// calibration of `ringmill-machine` found them. Those of sums and products are the remaining time of the
    /// clinic's program and a bootstrapping there. Choices depend on their ratios only.
    pub fn shipped() -> Self {
        let at = |log_n, rates| Rates { log_n, rates };
        Self::of(
            "shipped: Zen 4, AVX-512 IFMA, one core",
            vec![
                at(14, [0.0768, 0.1250, 0.0, 0.1630, 0.6670, 0.86, 0.40, 0.20]),
                at(16, [0.0926, 0.1340, 0.0, 0.2287, 0.6380, 0.87, 0.55, 0.30]),
            ],
        )
    }

    /// The machine, as text.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The rates, by ascending degree.
    pub fn rates(&self) -> &[Rates] {
        &self.rates
    }

    /// Nanoseconds of `work` at degree 2^`log_n`, by the rates of the nearest degree.
    ///
    /// Units side by side take as long as the busier one, and longer where both have much to do, since they wait for each
    /// other: (a⁴ + b⁴)^¼ describes what the compact core takes.
    pub fn nanoseconds(&self, work: &Work, log_n: u32) -> f64 {
        let nearest = self.rates.iter().min_by_key(|r| r.log_n.abs_diff(log_n));
        let Some(Rates { rates, .. }) = nearest else { return 0.0 };
        let words = f64::from(log_n).exp2();
        let (mut transforms, mut rest) = (0.0, 0.0);
        for kind in Kind::ALL {
            let time = words * work.get(kind) as f64 * rates[kind as usize];
            match kind {
                Kind::Transform | Kind::WideTransform => transforms += time * f64::from(log_n),
                _ => rest += time,
            }
        }
        if self.side_by_side { (transforms.powi(4) + rest.powi(4)).powf(0.25) } else { transforms + rest }
    }

    /// Reads what [`fmt::Display`] prints.
    ///
    /// # Errors
    /// [`CostError`].
    pub fn parse(text: &str) -> Result<Self, CostError> {
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let found = lines.next().map_or("", |(_, line)| line);
        if found != HEAD {
            return Err(CostError::Head { found: found.chars().take(60).collect() });
        }
        let (mut machine, mut rates) = (String::new(), Vec::new());
        for (line, text) in lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
            if let Some(name) = text.strip_prefix("machine ") {
                name.clone_into(&mut machine);
            } else {
                rates.push(parse_rates(line, text)?);
            }
        }
        Self::new(machine, rates)
    }
}

fn parse_rates(line: usize, text: &str) -> Result<Rates, CostError> {
    let wrong = |expected: String| {
        let text = text.chars().take(60).collect();
        Err(CostError::Line { line, text, expected })
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let log_n = match words[..] {
        ["log_n", n, ..] => n.parse().ok().filter(|n| (1..=20).contains(n)),
        _ => None,
    };
    let Some(log_n) = log_n else {
        return wrong("`machine …` or `log_n 1..20 KIND NANOSECONDS …`".into());
    };
    let mut rates = [0.0; Kind::ALL.len()];
    for (i, kind) in Kind::ALL.into_iter().enumerate() {
        let value = match words.get(2 + 2 * i..4 + 2 * i) {
            Some([name, value]) if *name == kind.name() => value.parse::<f64>().ok(),
            _ => None,
        };
        match value.filter(|v| v.is_finite() && *v >= 0.0) {
            Some(value) => rates[i] = value,
            None => return wrong(format!("`{}` and its nanoseconds as pair {}", kind.name(), i + 1)),
        }
    }
    if words.len() == 2 + 2 * rates.len() {
        Ok(Rates { log_n, rates })
    } else {
        wrong("no more words".into())
    }
}

impl fmt::Display for CostTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}\nmachine {}", self.machine)?;
        writeln!(f, "# nanoseconds a word of each limb of work; transforms a word and stage")?;
        for Rates { log_n, rates } in &self.rates {
            write!(f, "log_n {log_n}")?;
            for (kind, rate) in Kind::ALL.into_iter().zip(rates) {
                write!(f, " {} {rate:.4}", kind.name())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_survives_its_file_and_a_wrong_file_says_where() {
        let shipped = CostTable::shipped();
        assert_eq!(CostTable::parse(&shipped.to_string()).unwrap(), shipped);
        let at = |log_n| Rates { log_n, rates: [0.15, 0.22, 0.0, 0.25, 0.66, 0.7, 0.09, 1.165] };
        let table = CostTable::new("any", vec![at(14), at(16)]).unwrap();
        let refused = |text: &str| CostTable::parse(text).unwrap_err().to_string();
        assert!(refused("something").contains("begins with `ringmill costs 2`"));
        assert!(refused("ringmill costs 2\n").contains("at least one degree"));
        let nan = table.to_string().replacen("0.1500", "NaN", 1);
        assert!(refused(&nan).contains("line 4"), "{}", refused(&nan));
        let cut = table.to_string().replace(" automorphism 1.1650", "");
        assert!(refused(&cut).contains("`automorphism`"), "{}", refused(&cut));
    }
}
