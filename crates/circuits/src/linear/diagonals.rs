//! A linear map of S slots by its generalised diagonals.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::{Keys, Plan};
use crate::CircuitError;

/// A linear map of S slots: the diagonals that are not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagonals {
    slots: usize,
    by_shift: BTreeMap<usize, Vec<Complex64>>,
}

impl Diagonals {
    /// The zero map of `slots` slots, a power of two.
    pub fn new(slots: usize) -> Self {
        Self { slots, by_shift: BTreeMap::new() }
    }

    /// Length of the vectors.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of diagonals.
    pub fn len(&self) -> usize {
        self.by_shift.len()
    }

    /// Whether this is the zero map.
    pub fn is_empty(&self) -> bool {
        self.by_shift.is_empty()
    }

    /// Adds `value` to the entry of `row` and `column`.
    ///
    /// # Errors
    /// [`CircuitError::Entry`] outside of the slots or not finite.
    pub fn add(&mut self, row: usize, column: usize, value: Complex64) -> Result<(), CircuitError> {
        if row >= self.slots || column >= self.slots || !value.is_finite() {
            return Err(CircuitError::Entry { row, column, value, slots: self.slots });
        }
        if value != Complex64::ZERO {
            let shift = (column + self.slots - row) % self.slots;
            let empty = || vec![Complex64::ZERO; self.slots];
            self.by_shift.entry(shift).or_insert_with(empty)[row] += value;
        }
        Ok(())
    }

    /// The map with the given diagonals: diag_d\[i\] = M\[i, (i + d) mod S\].
    ///
    /// # Errors
    /// [`CircuitError::SlotCount`] for a diagonal of another length, [`CircuitError::Entry`] for one out of range or
    /// with a number that is not finite.
    pub fn from_shifts(
        slots: usize,
        by_shift: BTreeMap<usize, Vec<Complex64>>,
    ) -> Result<Self, CircuitError> {
        let mut map = Self::new(slots);
        for (shift, diagonal) in by_shift {
            if diagonal.len() != slots {
                return Err(CircuitError::SlotCount { found: diagonal.len(), slots });
            }
            if let Some(row) = diagonal.iter().position(|z| !z.is_finite() || shift >= slots) {
                let column = (row + shift) % slots;
                return Err(CircuitError::Entry { row, column, value: diagonal[row], slots });
            }
            if diagonal.iter().any(|&z| z != Complex64::ZERO) {
                map.by_shift.insert(shift, diagonal);
            }
        }
        Ok(map)
    }

    /// Shifts of the diagonals, ascending.
    pub fn shifts(&self) -> impl Iterator<Item = usize> {
        self.by_shift.keys().copied()
    }

    /// The diagonal of a shift.
    pub fn get(&self, shift: usize) -> Option<&[Complex64]> {
        self.by_shift.get(&shift).map(Vec::as_slice)
    }

    /// The steps of least cost.
    ///
    /// # Errors
    /// [`CircuitError::ZeroMap`] for the zero map.
    pub fn plan(&self, keys: Keys) -> Result<Plan, CircuitError> {
        Plan::best(self, keys)
    }
}
