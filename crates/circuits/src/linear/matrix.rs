//! A matrix in the clear times an encrypted vector in slots 0 … columns − 1.
//!
//! Three packings of the product; the plan takes the one of least time:
//!
//! | packing | needs | diagonals | further rotations | result outside of the rows |
//! |---|---|---|---|---|
//! | banded | – | r + c − 1 at most, those not zero | – | zero |
//! | folded | – | r′ = 2^⌈log2 r⌉ | log2(S/r′), a sum of S/r′ blocks | repeats with period r′ |
//! | repeated | zeros beyond the columns | c′ = 2^⌈log2 c⌉ | log2(S/c′), copies of the vector | zero |
//!
//! Folded is the hybrid method of Juvekar, Vaikuntanathan and Chandrakasan (*GAZELLE*, USENIX Security 2018, §4).

use num_complex::Complex64;
use ringmill_program::he::{Builder, Value};

use super::{Diagonals, Keys, Plan, emit};
use crate::CircuitError;
use crate::write::Writer;

/// Where the products of a matrix and a vector are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Diagonals of the matrix as it stands in the slots.
    Banded,
    /// Rows repeat with this period; blocks of the result are added up.
    Folded {
        /// 2^⌈log2 rows⌉.
        period: usize,
    },
    /// The vector is repeated with this period first.
    Repeated {
        /// 2^⌈log2 columns⌉.
        period: usize,
    },
}

/// A product planned.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPlan {
    /// How it is packed.
    pub packing: Packing,
    /// The linear map that is applied.
    pub map: Diagonals,
    /// Its steps.
    pub steps: Plan,
}

impl MatrixPlan {
    /// Estimated time in rotations.
    pub fn time(&self) -> f64 {
        self.steps.time() + f64::from(self.doublings())
    }

    /// Rotations beside those of the map.
    pub fn doublings(&self) -> u32 {
        match self.packing {
            Packing::Banded => 0,
            Packing::Folded { period } | Packing::Repeated { period } => (self.map.slots() / period).ilog2(),
        }
    }
}

/// The entries, row by row, each with its row and column.
fn entries(matrix: &[Complex64], columns: usize) -> impl Iterator<Item = (usize, usize, Complex64)> {
    let nonzero = matrix.iter().enumerate().filter(|(_, z)| **z != Complex64::ZERO);
    nonzero.map(move |(k, &z)| (k / columns, k % columns, z))
}

fn map_of(
    packing: Packing,
    matrix: &[Complex64],
    columns: usize,
    slots: usize,
) -> Result<Diagonals, CircuitError> {
    let mut map = Diagonals::new(slots);
    for (row, column, value) in entries(matrix, columns) {
        match packing {
            Packing::Banded => map.add(row, column, value)?,
            Packing::Folded { period } => {
                // The one row of this class from which a shift below the period reaches the column.
                let shift = (column + slots - row) % period;
                map.add((column + slots - shift) % slots, column, value)?;
            }
            Packing::Repeated { period } => {
                let shift = (column + slots - row) % period;
                map.add(row, (row + shift) % slots, value)?;
            }
        }
    }
    Ok(map)
}

/// The product of least time. `matrix` holds the entries row by row; `clean` says that the vector is zero beyond its
/// columns.
///
/// # Errors
/// [`CircuitError::MatrixShape`] if it does not fit the slots, [`CircuitError::Entry`] for an entry that is not finite,
/// [`CircuitError::ZeroMap`] for a matrix of zeros.
pub fn plan_matrix_vector(
    matrix: &[Complex64],
    columns: usize,
    slots: usize,
    clean: bool,
    keys: Keys,
) -> Result<MatrixPlan, CircuitError> {
    let rows = matrix.len().checked_div(columns).unwrap_or(0);
    if rows * columns != matrix.len() || rows == 0 || rows > slots || columns > slots {
        return Err(CircuitError::MatrixShape { rows, columns, entries: matrix.len(), slots });
    }
    let (wide, tall) = (rows.next_power_of_two(), columns.next_power_of_two());
    let mut packings = vec![Packing::Banded, Packing::Folded { period: wide }];
    if clean {
        packings.push(Packing::Repeated { period: tall });
    }
    let mut best: Option<MatrixPlan> = None;
    for packing in packings {
        let map = map_of(packing, matrix, columns, slots)?;
        let steps = map.plan(keys)?;
        let plan = MatrixPlan { packing, map, steps };
        if best.as_ref().is_none_or(|b| plan.time() < b.time()) {
            best = Some(plan);
        }
    }
    best.ok_or(CircuitError::ZeroMap)
}

/// Adds the product to a traced program, in the region "matrix times vector, n diagonals".
///
/// # Errors
/// Those of [`super::apply`].
pub fn matrix_vector(b: &mut Builder, x: Value, plan: &MatrixPlan) -> Result<Value, CircuitError> {
    let mut w = Writer::open(b, &format!("matrix times vector, {} diagonals", plan.map.len()));
    let blocks = |period: usize| plan.map.slots() / period;
    match plan.packing {
        Packing::Banded => emit::write(&mut w, x, &plan.map, &plan.steps),
        Packing::Folded { period } => {
            let y = emit::write(&mut w, x, &plan.map, &plan.steps)?;
            Ok(w.sum(y, blocks(period), period as i64)?)
        }
        Packing::Repeated { period } => {
            let x = w.sum(x, blocks(period), period as i64)?;
            emit::write(&mut w, x, &plan.map, &plan.steps)
        }
    }
}
