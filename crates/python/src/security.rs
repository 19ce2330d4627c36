//! The published tables of security.

use pyo3::prelude::*;

use ringmill_ckks::params::{Secret, SecurityTable};

use crate::error::{Failure, Family};

/// Greatest log2 PQ that keeps the given bits of security (128, 192 or 256) at N = 2^log_n with ternary
/// secrets, by the table of 2018 or of 2024. None if the table has no entry.
#[pyfunction]
#[pyo3(signature = (log_n, bits = 128, table = 2024))]
pub(crate) fn security_limit(log_n: u32, bits: u32, table: u32) -> PyResult<Option<u32>> {
    let table = match table {
        2018 => SecurityTable::Standard2018,
        2024 => SecurityTable::Guidelines2024,
        other => {
            let message = format!("there is no security table of {other}; there are those of 2018 and 2024");
            return Err(Failure::rule(Family::Parameter, "SecurityTable", &message).into());
        }
    };
    Ok(table.limit(log_n, Secret::Ternary, bits))
}
