//! Convolution of images packed in the slots of one ciphertext.
//!
//! y\[o, i, j\] = Σ_{c, u, v} k\[o, c, u, v\]·x\[c, s·i + u − p, s·j + v − p\], zeros outside of x. The result keeps the grid of x:
//! element (i, j) stays at s·i, s·j. So a diagonal belongs to each (o − c, u, v), however large the image: at most
//! (O + C − 1)·kh·kw. Gaps of a stride s are kept, not closed, as in Lee et al. (ICML 2022, multiplexed packing); the next
//! layer reads them by its strides.

use num_complex::Complex64;

use super::Diagonals;
use crate::CircuitError;

/// Images in the slots: element (c, i, j) sits in slot Σ index·stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Channels, rows, columns.
    pub shape: [usize; 3],
    /// Slots from one to the next along each axis.
    pub strides: [usize; 3],
}

impl Grid {
    fn slot(&self, index: [usize; 3]) -> usize {
        index.iter().zip(self.strides).map(|(i, stride)| i * stride).sum()
    }
}

/// A layer's weights and how it moves over the image.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// k\[o, c, u, v\], v fastest.
    pub weights: Vec<f64>,
    /// Output channels, input channels, rows, columns.
    pub shape: [usize; 4],
    /// Elements from one place of the kernel to the next.
    pub stride: usize,
    /// Zeros around the image.
    pub padding: usize,
}

/// The convolution as a linear map, and where its result sits.
///
/// # Errors
/// [`CircuitError::Convolution`] if shapes do not go together or the result does not fit the slots;
/// [`CircuitError::Entry`] for a weight that is not finite.
pub fn convolution(slots: usize, x: &Grid, k: &Kernel) -> Result<(Diagonals, Grid), CircuitError> {
    let refuse = |what: String| Err(CircuitError::Convolution { what });
    let ([channels, rows, columns], [outputs, inputs, kh, kw]) = (x.shape, k.shape);
    if k.weights.len() != k.shape.iter().product::<usize>() || k.weights.is_empty() {
        return refuse(format!("{} weights are no kernel of shape {:?}", k.weights.len(), k.shape));
    }
    if inputs != channels {
        return refuse(format!("the kernel takes {inputs} channel(s), the image has {channels}"));
    }
    if k.stride == 0 || kh > rows + 2 * k.padding || kw > columns + 2 * k.padding {
        let padding = k.padding;
        return refuse(format!(
            "a {kh}×{kw} kernel with stride {} and padding {padding} on {rows}×{columns}",
            k.stride
        ));
    }
    let places = |image: usize, kernel: usize| (image + 2 * k.padding - kernel) / k.stride + 1;
    let [sc, sr, sw] = x.strides;
    let y = Grid {
        shape: [outputs, places(rows, kh), places(columns, kw)],
        strides: [sc, k.stride * sr, k.stride * sw],
    };
    // Elements of a row, and rows of a channel, that have slots of their own.
    let room = [sc / sr.max(1), sr / sw.max(1)];
    let extent = [(y.shape[1] - 1) * k.stride, (y.shape[2] - 1) * k.stride];
    if (extent[0] >= room[0] && outputs > 1) || (extent[1] >= room[1] && y.shape[1] > 1) {
        return refuse(format!(
            "a result of {}×{} does not fit the grid of {}×{}; pad less",
            extent[0] + 1,
            extent[1] + 1,
            room[0],
            room[1]
        ));
    }
    let last = y.slot(y.shape.map(|n| n - 1)).max(x.slot(x.shape.map(|n| n.saturating_sub(1))));
    if last >= slots {
        return refuse(format!("{outputs} channels need {} slots, a ciphertext has {slots}", last + 1));
    }
    let mut map = Diagonals::new(slots);
    for (n, &weight) in k.weights.iter().enumerate() {
        let (v, u) = (n % kw, n / kw % kh);
        let (c, o) = (n / (kw * kh) % inputs, n / (kw * kh * inputs));
        for i in 0..y.shape[1] {
            let Some(row) = inside(i, u, k, rows) else { continue };
            for j in 0..y.shape[2] {
                if let Some(column) = inside(j, v, k, columns) {
                    map.add(y.slot([o, i, j]), x.slot([c, row, column]), Complex64::new(weight, 0.0))?;
                }
            }
        }
    }
    Ok((map, y))
}

/// The element that tap `u` of place `i` reads, unless it is padding.
fn inside(i: usize, u: usize, k: &Kernel, count: usize) -> Option<usize> {
    (i * k.stride + u).checked_sub(k.padding).filter(|&at| at < count)
}
