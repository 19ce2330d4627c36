//! `KSwitchKeys`, which `RelinKeys` and `GaloisKeys` are: rows of key-switching keys, one public key a digit.

use std::collections::BTreeMap;
use std::fmt;

use super::header::HEADER;
use super::payload::{Input, Output};
use super::{EncryptionParameters, Object, PublicKey, SealError};

/// Switching keys by row. Relinearisation has s² in row 0; Galois element g stands in row (g − 1)/2 of N.
#[derive(Clone, PartialEq)]
pub struct KSwitchKeys {
    /// Number of rows, with the empty ones.
    pub rows: usize,
    /// The keys of rows that are not empty: one public key for each prime but the special one.
    pub keys: BTreeMap<usize, Vec<PublicKey>>,
}

const NAME: &str = "set of key-switching keys";

impl KSwitchKeys {
    /// The row of a Galois element.
    pub const fn row(element: u64) -> usize {
        (element as usize - 1) / 2
    }

    /// The Galois element of a row.
    pub const fn element(row: usize) -> u64 {
        2 * row as u64 + 1
    }
}

impl Object for KSwitchKeys {
    type Context = EncryptionParameters;
    const NAME: &'static str = NAME;

    fn take(parameters: &EncryptionParameters, input: &mut Input<'_>) -> Result<Self, SealError> {
        let field = |field, found, expected: String| SealError::Field { what: NAME, field, found, expected };
        parameters.take_key_level(NAME, input)?;
        let (rows, digits) = (input.word(NAME)?, parameters.top() as u64);
        if rows > parameters.n() as u64 {
            return Err(field("a number of rows of", rows, format!("at most N = {}", parameters.n())));
        }
        let mut keys = BTreeMap::new();
        for row in 0..rows as usize {
            let count = input.word(NAME)?;
            if count == 0 {
                continue;
            }
            if count != digits {
                let expected = format!("one for each prime but the special one, {digits},");
                return Err(field("a number of digits of", count, expected));
            }
            let digit =
                |input: &mut Input<'_>| input.object(NAME, |input| PublicKey::take(parameters, input));
            keys.insert(row, (0..count).map(|_| digit(input)).collect::<Result<_, _>>()?);
        }
        Ok(Self { rows: rows as usize, keys })
    }

    fn put(&self, parameters: &EncryptionParameters, out: &mut Output<'_>) -> Result<(), SealError> {
        parameters.put_level(parameters.moduli().len(), out)?;
        out.word(self.rows as u64)?;
        for row in 0..self.rows {
            let digits = self.keys.get(&row).map_or(&[][..], Vec::as_slice);
            out.word(digits.len() as u64)?;
            for key in digits {
                out.object(key.payload_len(parameters), |out| key.put(parameters, out))?;
            }
        }
        Ok(())
    }

    fn payload_len(&self, parameters: &EncryptionParameters) -> u64 {
        let digits = self.keys.range(..self.rows).flat_map(|(_, digits)| digits);
        let digits: u64 = digits.map(|key| HEADER + key.payload_len(parameters)).sum();
        32 + 8 + 8 * self.rows as u64 + digits
    }
}

impl fmt::Debug for KSwitchKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KSwitchKeys({} of {} rows)", self.keys.len(), self.rows)
    }
}
