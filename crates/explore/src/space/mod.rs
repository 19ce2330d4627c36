//! The space of designs: parameters ([`chains`]) times machines of a target ([`crate::target`]).

pub mod chains;
mod pool;

pub(crate) use pool::few_ones;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ExploreError;
use crate::design::SecretKind;
use crate::near::hint;
use crate::target::{self, Row, Values};

/// The axes. A narrower space is a faster answer to a narrower question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Space {
    /// log2 N.
    pub log_n: Vec<u32>,
    /// Bits of the primes that rescaling removes.
    pub level_bits: Vec<u32>,
    /// log2 of the scale less these bits. Other than 0 only where one rescale follows: a distance doubles with each.
    pub scale_offsets: Vec<i32>,
    /// Bits by which special primes exceed the largest digit: from 6 on, a key switch adds nothing but its rounding.
    pub special_extra: Vec<u32>,
    /// Distributions of secrets.
    pub secrets: Vec<SecretKind>,
    /// The axes of the target's machines.
    #[serde(flatten)]
    pub machine: BTreeMap<String, Along>,
}

/// What is searched along an axis of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Along {
    /// Numbers.
    Numbers(Vec<u32>),
    /// Names.
    Names(Vec<String>),
}

/// The axes of the parameters, by name.
const PARAMETERS: [&str; 5] = ["log_n", "level_bits", "scale_offsets", "special_extra", "secrets"];

impl Default for Space {
    fn default() -> Self {
        Self::of(target::default().row())
    }
}

impl Space {
    /// Everything that a target has.
    pub fn of(row: &Row) -> Self {
        let whole = |values: Values| match values {
            Values::Numbers(all) => Along::Numbers(all.to_vec()),
            Values::Names(all) => Along::Names(all.iter().map(|&name| name.to_owned()).collect()),
        };
        Self {
            log_n: (row.log_n_searched..=row.log_n[1]).collect(),
            level_bits: (20..=60).collect(),
            scale_offsets: vec![-1, 0, 1, 2],
            special_extra: vec![1, 2, 3, 4, 6],
            secrets: vec![SecretKind::Ternary, SecretKind::Gaussian],
            machine: row.axes.iter().map(|axis| (axis.name.to_owned(), whole(axis.values))).collect(),
        }
    }

    /// Reads the axes that are narrowed, by name; the others are those of the target.
    ///
    /// # Errors
    /// [`ExploreError::UnknownWord`] for an axis that there is not, [`ExploreError::DesignFile`] for what is no list of its values.
    pub fn read(row: &Row, given: Value) -> Result<Self, ExploreError> {
        fn list<T: serde::de::DeserializeOwned>(axis: &str, value: Value) -> Result<T, ExploreError> {
            let wrong = |e: serde_json::Error| ExploreError::DesignFile { why: format!("axis {axis}: {e}") };
            serde_json::from_value(value).map_err(wrong)
        }
        let given: BTreeMap<String, Value> = list("of the space", given)?;
        let mut space = Self::of(row);
        for (axis, value) in given {
            match axis.as_str() {
                "log_n" => space.log_n = list(&axis, value)?,
                "level_bits" => space.level_bits = list(&axis, value)?,
                "scale_offsets" => space.scale_offsets = list(&axis, value)?,
                "special_extra" => space.special_extra = list(&axis, value)?,
                "secrets" => space.secrets = list(&axis, value)?,
                _ => {
                    let along = list(&axis, value)?;
                    space.machine.insert(axis, along);
                }
            }
        }
        space.known(row).map(|()| space)
    }

    /// The same with an axis of numbers narrowed.
    #[must_use]
    pub fn with_numbers(mut self, axis: &str, numbers: &[u32]) -> Self {
        self.machine.insert(axis.to_owned(), Along::Numbers(numbers.to_vec()));
        self
    }

    /// The same with an axis of names narrowed.
    #[must_use]
    pub fn with_names(mut self, axis: &str, names: &[&str]) -> Self {
        self.machine.insert(axis.to_owned(), Along::Names(names.iter().map(|&n| n.to_owned()).collect()));
        self
    }

    /// The numbers along an axis of the target; none along one of names.
    pub fn numbers(&self, axis: &str) -> &[u32] {
        match self.machine.get(axis) {
            Some(Along::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The names along an axis of the target; none along one of numbers.
    pub fn names(&self, axis: &str) -> &[String] {
        match self.machine.get(axis) {
            Some(Along::Names(names)) => names,
            _ => &[],
        }
    }

    /// Checks that every axis is one of the target.
    fn known(&self, row: &Row) -> Result<(), ExploreError> {
        let is_known = |name: &&String| row.axes.iter().any(|axis| axis.name == name.as_str());
        let Some(unknown) = self.machine.keys().find(|name| !is_known(name)) else { return Ok(()) };
        let all: Vec<&str> = PARAMETERS.into_iter().chain(row.axes.iter().map(|axis| axis.name)).collect();
        Err(ExploreError::UnknownWord {
            what: "axis",
            word: unknown.clone(),
            hint: hint(unknown, all.iter().copied()),
            known: all.join(", "),
        })
    }

    /// Checks every axis by itself.
    ///
    /// # Errors
    /// [`ExploreError::Constraint`] for an empty axis or a value that nothing can have; [`ExploreError::UnknownWord`].
    pub(crate) fn check_axes(&self, row: &Row) -> Result<(), ExploreError> {
        self.known(row)?;
        let fail = |constraint: &'static str, value: String, right: String| {
            Err(ExploreError::Constraint { constraint, value, right })
        };
        let [least, most] = row.log_n;
        if self.log_n.is_empty() || self.log_n.iter().any(|n| !(least..=most).contains(n)) {
            return fail("log_n", format!("{:?}", self.log_n), format!("{least} to {most}"));
        }
        for axis in row.axes {
            self.check_axis(axis)?;
        }
        if self.level_bits.is_empty() || self.level_bits.iter().any(|b| !(20..=60).contains(b)) {
            return fail("level_bits", format!("{:?}", self.level_bits), "20 to 60".into());
        }
        let empty = [
            ("scale_offsets", self.scale_offsets.is_empty()),
            ("special_extra", self.special_extra.is_empty()),
            ("secrets", self.secrets.is_empty()),
        ];
        match empty.into_iter().find(|e| e.1) {
            Some((axis, _)) => fail(axis, "empty".into(), "at least one value".into()),
            None => Ok(()),
        }
    }

    fn check_axis(&self, axis: &'static target::Axis) -> Result<(), ExploreError> {
        let (given, right) = match (axis.values, self.machine.get(axis.name)) {
            (Values::Names(all), Some(Along::Names(given))) => {
                if let Some(word) = given.iter().find(|word| !all.contains(&word.as_str())) {
                    let (word, hint) = (word.clone(), hint(word, all.iter().copied()));
                    return Err(ExploreError::UnknownWord {
                        what: axis.one,
                        word,
                        hint,
                        known: all.join(", "),
                    });
                }
                if !given.is_empty() {
                    return Ok(());
                }
                ("empty".to_owned(), "at least one value".to_owned())
            }
            (Values::Numbers(all), given) => {
                let given = match given {
                    Some(Along::Numbers(given)) => given.as_slice(),
                    _ => &[],
                };
                if !given.is_empty() && given.iter().all(|x| all.contains(x)) {
                    return Ok(());
                }
                let right = all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                (format!("{given:?}"), right)
            }
            (Values::Names(_), _) => ("empty".to_owned(), "at least one value".to_owned()),
        };
        Err(ExploreError::Constraint { constraint: axis.name, value: given, right })
    }
}

/// The numbers of a key of words of one letter and a number each.
pub(crate) fn numbers<const N: usize>(key: &str) -> Option<[u32; N]> {
    let numbers: Option<Vec<u32>> = key.split(' ').map(|word| word.get(1..)?.parse().ok()).collect();
    numbers?.try_into().ok()
}
