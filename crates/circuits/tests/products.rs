//! Products of encrypted matrices and convolutions against their definitions.

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_circuits::CircuitError;
use ringmill_circuits::linear::{Grid, Kernel, Keys, Matrix, apply, block_side, convolution, matrix_product};
use ringmill_program::he::{Builder, Op, OpKind, Program, evaluate_clear};
use ringmill_program::manage;

fn slots_of(slots: usize, values: impl IntoIterator<Item = (usize, f64)>) -> Vec<Complex64> {
    // What stands elsewhere must not matter.
    let mut out: Vec<Complex64> = (0..slots).map(|i| Complex64::new(7.0 + i as f64, 0.0)).collect();
    for (slot, value) in values {
        out[slot] = Complex64::new(value, 0.0);
    }
    out
}

fn run(p: &Program, inputs: [(&str, Vec<Complex64>); 2]) -> Vec<Complex64> {
    let inputs: BTreeMap<_, _> = inputs.into_iter().map(|(name, v)| (name.to_owned(), v)).collect();
    evaluate_clear(p, &inputs).unwrap().remove("out").unwrap()
}

fn value(seed: usize, i: usize, j: usize) -> f64 {
    ((seed * 31 + i * 7 + j * 13) as f64).sin()
}

fn product(slots: usize, left: [usize; 2], right: [usize; 2]) -> Result<Program, CircuitError> {
    let mut b = Builder::traced("m", slots)?;
    let (x, y) = (b.push(Op::Input("x".into()))?, b.push(Op::Input("y".into()))?);
    // Row by row on the left, column by column on the right.
    let a = Matrix { value: x, shape: left, strides: [left[1], 1] };
    let c = Matrix { value: y, shape: right, strides: [1, right[0]] };
    let out = matrix_product(&mut b, &a, &c)?;
    b.output("out", out)?;
    Ok(b.finish()?)
}

#[test]
fn products_of_encrypted_matrices() {
    for (r, c, p, slots) in
        [(4, 4, 4, 16), (4, 4, 4, 64), (2, 3, 4, 16), (3, 2, 1, 32), (1, 1, 1, 1), (8, 8, 8, 64)]
    {
        let program = product(slots, [r, c], [c, p]).unwrap();
        let cells =
            |rows: usize, columns: usize| (0..rows * columns).map(move |k| (k / columns, k % columns));
        let left = slots_of(slots, cells(r, c).map(|(i, k)| (i * c + k, value(1, i, k))));
        let right = slots_of(slots, cells(c, p).map(|(k, j)| (k + j * c, value(2, k, j))));
        let got = run(&program, [("x", left), ("y", right)]);
        let d = block_side(r, c, p);
        let mut want = vec![0.0; slots];
        for (i, j) in cells(r, p) {
            want[i * d + j] = (0..c).map(|k| value(1, i, k) * value(2, k, j)).sum();
        }
        for (slot, (g, w)) in got.iter().zip(want).enumerate() {
            assert!((g - w).norm() < 1e-11, "{r}×{c}×{p} in {slots}, slot {slot}: {g}, not {w}");
        }
        let simple = manage::simplify(&program).unwrap();
        assert!(manage::depth(&simple) <= 3);
        let is_ct = |v| simple.instr(v).ty.is_ct();
        let both = |op: &Op| matches!(*op, Op::Mul(a, b) if is_ct(a) && is_ct(b));
        assert_eq!(simple.instrs().iter().filter(|i| both(&i.op)).count(), d);
        let rotations = simple.instrs().iter().filter(|i| i.op.kind() == OpKind::Rotate).count();
        assert!(rotations <= 4 * d + 4 * d.isqrt() + 4, "{rotations} rotations for blocks of {d}");
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    assert_eq!(product(16, [2, 3], [2, 3]).unwrap_err(), CircuitError::Inner { left: 3, right: 2 });
    assert!(matches!(product(8, [3, 3], [3, 3]), Err(CircuitError::MatrixShape { .. })));
}

fn convolved(x: &Grid, k: &Kernel, at: [usize; 3]) -> f64 {
    let [_, channels, kh, kw] = k.shape;
    let mut sum = 0.0;
    for c in 0..channels {
        for u in 0..kh {
            for v in 0..kw {
                let row = (at[1] * k.stride + u) as i64 - k.padding as i64;
                let column = (at[2] * k.stride + v) as i64 - k.padding as i64;
                if (0..x.shape[1] as i64).contains(&row) && (0..x.shape[2] as i64).contains(&column) {
                    let weight = k.weights[((at[0] * channels + c) * kh + u) * kw + v];
                    sum += weight * value(c + 3, row as usize, column as usize);
                }
            }
        }
    }
    sum
}

#[test]
fn convolutions() {
    for (channels, outputs, stride, padding) in [(1, 1, 1, 0), (2, 3, 1, 1), (3, 1, 2, 1), (1, 2, 3, 0)] {
        let x = Grid { shape: [channels, 6, 5], strides: [32, 5, 1] };
        let shape = [outputs, channels, 3, 3];
        let weights = (0..shape.iter().product()).map(|n: usize| (n as f64 * 0.71).cos()).collect();
        let k = Kernel { weights, shape, stride, padding };
        let (map, y) = convolution(128, &x, &k).unwrap();
        assert!(map.len() <= (channels + outputs - 1) * 9, "{} diagonals", map.len());
        let mut b = Builder::traced("c", 128).unwrap();
        let input = b.push(Op::Input("x".into())).unwrap();
        let out = apply(&mut b, input, &map, Keys::Fast).unwrap();
        b.output("out", out).unwrap();
        let cells = (0..channels * 30).map(|n| (n / 30, n / 5 % 6, n % 5));
        let image = slots_of(128, cells.map(|(c, i, j)| (c * 32 + i * 5 + j, value(c + 3, i, j))));
        let got = run(&b.finish().unwrap(), [("x", image), ("unused", Vec::new())]);
        for o in 0..y.shape[0] {
            for i in 0..y.shape[1] {
                for j in 0..y.shape[2] {
                    let slot = o * y.strides[0] + i * y.strides[1] + j * y.strides[2];
                    let want = convolved(&x, &k, [o, i, j]);
                    assert!((got[slot] - want).norm() < 1e-11, "({o}, {i}, {j}): {}, not {want}", got[slot]);
                }
            }
        }
    }
}

#[test]
fn wrong_convolutions_are_named() {
    let x = Grid { shape: [2, 4, 4], strides: [16, 4, 1] };
    let message = |shape: [usize; 4], stride| {
        let k = Kernel { weights: vec![1.0; shape.iter().product()], shape, stride, padding: 0 };
        convolution(32, &x, &k).unwrap_err().to_string()
    };
    let wrong = "this convolution is not possible: ";
    assert_eq!(message([1, 3, 2, 2], 1), format!("{wrong}the kernel takes 3 channel(s), the image has 2"));
    assert_eq!(message([1, 2, 5, 2], 1), format!("{wrong}a 5×2 kernel with stride 1 and padding 0 on 4×4"));
    assert_eq!(message([3, 2, 2, 2], 1), format!("{wrong}3 channels need 43 slots, a ciphertext has 32"));
}
