//! Many records of a kernel that takes a record: every lane of a ciphertext holds one, and a batch is as many as there are lanes.

use std::collections::BTreeMap;

use ringmill_ckks::Ciphertext;

use super::KernelFileError;
use crate::bundle::{Bundle, Json};

/// Named ciphertexts of one run, or of several where records are more than the lanes.
#[derive(Debug, Clone)]
pub struct Batches {
    /// How many records there are; `None` of a kernel that takes no batches.
    pub records: Option<u64>,
    /// Ciphertexts by name, a run each.
    pub runs: Vec<BTreeMap<String, Ciphertext>>,
}

/// Records that a bundle says it holds, for a kernel of `lanes` lanes.
pub(super) fn records(read: &Bundle, lanes: Option<usize>) -> Result<Option<u64>, KernelFileError> {
    match (read.fact("records"), lanes) {
        (None, None) => Ok(None),
        (Some(Json::Whole(count)), Some(_)) if (1..1 << 40).contains(count) => Ok(Some(*count as u64)),
        _ => Err(KernelFileError::Records { lanes: lanes.unwrap_or(1) }),
    }
}

/// Runs that the records take.
pub(super) fn runs(records: Option<u64>, lanes: usize) -> usize {
    records.map_or(1, |count| count.div_ceil(lanes as u64) as usize)
}

/// What a bundle calls a part of a run.
pub(super) fn part(name: &str, run: usize, runs: usize) -> String {
    if runs > 1 { format!("{run}/{name}") } else { name.to_owned() }
}
