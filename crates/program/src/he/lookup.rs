//! A table that whole numbers are looked up in.

use std::f64::consts::PI;

use super::Rule;

/// An entry for each of a range of whole numbers, and how far from these the numbers may be that are looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    entries: Vec<f64>,
    first: i64,
    noise: f64,
}

impl Lookup {
    /// The fewest entries.
    pub const LEAST: usize = 2;

    /// The most entries.
    pub const MOST: usize = 256;

    /// The farthest that the first number may be from zero: beyond, binary64 and scales hold no halves.
    pub const FARTHEST: i64 = 1 << 20;

    /// Entries for `first`, `first` + 1 and so on. `noise` is how far the data may be from whole numbers, below one half; the error of
    /// encryption comes on top of that.
    ///
    /// # Errors
    /// [`Rule::LookupEntries`], [`Rule::NotFinite`], [`Rule::LookupFirst`] and [`Rule::LookupNoise`].
    pub fn new(entries: Vec<f64>, first: i64, noise: f64) -> Result<Self, Rule> {
        let found = entries.len();
        if !(Self::LEAST..=Self::MOST).contains(&found) {
            return Err(Rule::LookupEntries { found, least: Self::LEAST, most: Self::MOST });
        }
        if let Some(index) = entries.iter().position(|e| !e.is_finite()) {
            return Err(Rule::NotFinite { index });
        }
        if first.unsigned_abs() > Self::FARTHEST.unsigned_abs() {
            return Err(Rule::LookupFirst { first, most: Self::FARTHEST });
        }
        if !(0.0..0.5).contains(&noise) {
            return Err(Rule::LookupNoise { noise });
        }
        Ok(Self { entries, first, noise })
    }

    /// The entries, that of [`first`](Self::first) first.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// The least number that has an entry.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// How far data may be from whole numbers.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The entry of the whole number nearest to x; numbers beyond the table have those of the numbers that lie whole tables away.
    pub fn at(&self, x: f64) -> f64 {
        let index = (x - self.first as f64).round().rem_euclid(self.entries.len() as f64);
        // Rounding may give the divisor itself.
        self.entries[index as usize % self.entries.len()]
    }

    /// The greatest entry less the least one.
    pub fn range(&self) -> f64 {
        let (least, most) = self
            .entries
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &e| (least.min(e), most.max(e)));
        most - least
    }

    /// The greatest |entry|.
    pub fn magnitude(&self) -> f64 {
        self.entries.iter().fold(0.0, |most: f64, e| most.max(e.abs()))
    }

    /// Levels beyond those that the exponential of the numbers takes, at most.
    pub fn depth(&self) -> u32 {
        match self.entries.len() {
            2 => 0,
            entries => entries.next_power_of_two().ilog2(),
        }
    }

    /// C so that a number d from a whole one gives an entry that is off by C·d² at most.
    ///
    /// The kernel at d is sin²(πd)/(p·sin(πd/p))² ≥ 1 − (p² − 1)/3·(πd/p)², all kernels are positive and their sum is 1.
    pub fn flatness(&self) -> f64 {
        let p = self.entries.len() as f64;
        self.range() * PI * PI / 3.0 * (1.0 - 1.0 / (p * p))
    }
}
