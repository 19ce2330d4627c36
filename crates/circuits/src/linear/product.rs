//! The product of two encrypted matrices.
//!
//! In blocks of d×d slots, row by row, d a power of two: with σ(A)\[i, j\] = A\[i, i + j\] and τ(B)\[i, j\] = B\[i + j, j\]
//! (indices mod d), (A·B)\[i, j\] = Σ_k σ(A)\[i, j + k\]·τ(B)\[i + k, j\]. Moving by k along a row or column is a linear
//! map of at most two diagonals. Jiang, Kim, Lauter and Song, *Secure outsourced matrix computation* (CCS 2018, §3).
//!
//! Three levels; d products of ciphertexts, summed before they are relinearised; about 3d hoisted rotations.

use num_complex::Complex64;
use ringmill_program::he::{Builder, Value};

use super::{Diagonals, Keys, emit};
use crate::CircuitError;
use crate::write::Writer;

/// An encrypted matrix: element (i, j) sits in slot i·strides\[0\] + j·strides\[1\]. What other slots hold does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// The ciphertext.
    pub value: Value,
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Slots from a row, and from a column, to the next.
    pub strides: [usize; 2],
}

/// The side of the blocks that a product works in.
pub fn block_side(rows: usize, inner: usize, columns: usize) -> usize {
    rows.max(inner).max(columns).next_power_of_two()
}

/// Adds A·B to a traced program, in the region "matrix product, r×c×p". The product has strides (d, 1) with
/// d = [`block_side`], and zeros in every other slot.
///
/// # Errors
/// [`CircuitError::Inner`] if the inner dimensions differ, [`CircuitError::MatrixShape`] if d² slots are more than the
/// program has or a matrix reaches beyond them.
pub fn matrix_product(b: &mut Builder, left: &Matrix, right: &Matrix) -> Result<Value, CircuitError> {
    let ([rows, inner], [other, columns]) = (left.shape, right.shape);
    if inner != other {
        return Err(CircuitError::Inner { left: inner, right: other });
    }
    let slots = b.program().slots();
    for m in [left, right] {
        let [r, c] = m.shape;
        let last = |r: usize, c: usize| (r - 1) * m.strides[0] + (c - 1) * m.strides[1];
        if r * c == 0 || last(r, c) >= slots {
            return Err(CircuitError::MatrixShape { rows: r, columns: c, entries: r * c, slots });
        }
    }
    let d = block_side(rows, inner, columns);
    if d * d > slots {
        return Err(CircuitError::MatrixShape { rows: d, columns: d, entries: d * d, slots });
    }
    let mut w = Writer::open(b, &format!("matrix product, {rows}×{inner}×{columns}"));
    let (mut sigma, mut tau) = (Diagonals::new(slots), Diagonals::new(slots));
    for (i, j) in cells(d) {
        let k = (i + j) % d;
        if i < rows && k < inner {
            sigma.add(i * d + j, i * left.strides[0] + k * left.strides[1], Complex64::ONE)?;
        }
        if k < inner && j < columns {
            tau.add(i * d + j, k * right.strides[0] + j * right.strides[1], Complex64::ONE)?;
        }
    }
    let turned = written(&mut w, left.value, &sigma)?;
    let sheared = written(&mut w, right.value, &tau)?;
    let mut total = None;
    for k in 0..d {
        let (mut along, mut down) = (Diagonals::new(slots), Diagonals::new(slots));
        for (i, j) in cells(d) {
            along.add(i * d + j, i * d + (j + k) % d, Complex64::ONE)?;
            down.add(i * d + j, (i + k) % d * d + j, Complex64::ONE)?;
        }
        let (x, y) = (written(&mut w, turned, &along)?, written(&mut w, sheared, &down)?);
        let term = w.mul(x, y)?;
        total = Some(match total {
            Some(sum) => w.add(sum, term)?,
            None => term,
        });
    }
    total.ok_or(CircuitError::ZeroMap)
}

/// Every (i, j) of a d×d block.
fn cells(d: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..d * d).map(move |cell| (cell / d, cell % d))
}

fn written(w: &mut Writer<'_>, x: Value, map: &Diagonals) -> Result<Value, CircuitError> {
    // The identity needs no mask: what it would clear is zero on the other side of the product.
    let identity = map.shifts().eq([0]) && map.get(0).is_some_and(|d| d.iter().all(|&z| z == Complex64::ONE));
    if identity { Ok(x) } else { emit::write(w, x, map, &map.plan(Keys::Fast)?) }
}
