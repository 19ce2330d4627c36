//! The exact scale of a value: a formal product of integer powers.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Π base^exponent with bases ≥ 2 and exponents ≠ 0; the empty product is 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Scale(BTreeMap<u64, i64>);

impl Scale {
    /// The scale 1.
    pub fn one() -> Self {
        Self::default()
    }

    /// 2^bits.
    pub fn pow2(bits: i64) -> Self {
        Self::power(2, bits)
    }

    /// base^exponent; 1 if the base is below 2.
    pub fn power(base: u64, exponent: i64) -> Self {
        let mut map = BTreeMap::new();
        if base >= 2 && exponent != 0 {
            map.insert(base, exponent);
        }
        Self(map)
    }

    fn combine(&self, other: &Self, sign: i64) -> Self {
        let mut map = self.0.clone();
        for (&base, &e) in &other.0 {
            let sum = map.entry(base).or_insert(0);
            *sum += sign * e;
            if *sum == 0 {
                map.remove(&base);
            }
        }
        Self(map)
    }

    /// self · other.
    pub fn mul(&self, other: &Self) -> Self {
        self.combine(other, 1)
    }

    /// self / other.
    pub fn div(&self, other: &Self) -> Self {
        self.combine(other, -1)
    }

    /// log2 as a binary64 number.
    pub fn log2(&self) -> f64 {
        self.0.iter().map(|(&b, &e)| (b as f64).log2() * e as f64).sum()
    }

    /// The nearest binary64 number, within a few units in the last place.
    pub fn to_f64(&self) -> f64 {
        self.0.iter().map(|(&b, &e)| (b as f64).powi(e as i32)).product()
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("1");
        }
        for (i, (base, e)) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("*")?;
            }
            write!(f, "{base}^{e}")?;
        }
        Ok(())
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s.trim() == "1" {
            return Ok(Self::one());
        }
        s.split('*').try_fold(Self::one(), |acc, factor| {
            let (b, e) = factor.split_once('^').ok_or_else(|| format!("'{factor}' is not base^exponent"))?;
            let b: u64 = b.trim().parse().map_err(|_| format!("'{b}' is not a base"))?;
            let e: i64 = e.trim().parse().map_err(|_| format!("'{e}' is not an exponent"))?;
            if b < 2 { Err(format!("base {b} is below 2")) } else { Ok(acc.mul(&Self::power(b, e))) }
        })
    }
}
