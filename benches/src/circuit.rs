//! Whole circuits through the Rust face: a program compiled once, run on real keys. The result is checked by decryption.

use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill::ckks::params::{NamedSet, Params};
use ringmill::ckks::{KeyGenerator, Randomness};
use ringmill::program::he::{Builder, Op, Program};
use ringmill::program::manage::Options;
use ringmill::{Evaluator, Input, Inputs, Kernel};
use ringmill_circuits::linear::{Keys, matrix_vector, plan_matrix_vector};

use crate::Work;

type Failure = Box<dyn std::error::Error>;

/// `matvecN/SET`: a plaintext matrix N×N times an encrypted vector, all limbs of the set in use.
pub(crate) fn prepare(work: &str) -> Result<Work, String> {
    let (kind, set) = work.split_once('/').ok_or_else(|| format!("{work} names no set"))?;
    let size = kind.strip_prefix("matvec").and_then(|n| n.parse().ok()).ok_or("no circuit")?;
    matvec(size, set).map_err(|error| error.to_string())
}

/// What every side multiplies by.
fn entry(row: usize, column: usize, size: usize) -> f64 {
    (TAU * (row * row + 3 * column) as f64 / size as f64).sin() / size as f64
}

fn program(size: usize) -> Result<Program, Failure> {
    let matrix: Vec<_> = (0..size * size).map(|i| Complex64::from(entry(i / size, i % size, size))).collect();
    let mut builder = Builder::traced("matvec", size)?;
    let x = builder.push(Op::Input("x".into()))?;
    let plan = plan_matrix_vector(&matrix, size, size, true, Keys::Fast)?;
    let y = matrix_vector(&mut builder, x, &plan)?;
    builder.output("y", y)?;
    Ok(builder.finish()?)
}

fn matvec(size: usize, set: &str) -> Result<Work, Failure> {
    let params = Params::named(set.parse::<NamedSet>()?)?;
    let evaluator = Evaluator::new(&params)?;
    let kernel = Kernel::compile(&evaluator, &program(size)?, &Options { low: false, ..Options::default() })?;
    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let rotations: Vec<i64> = kernel.summary().keys.rotations.iter().map(|&k| k as i64).collect();
    let keys = generator.evaluation_keys(&secret, &rotations, false)?;
    let values: Vec<f64> = (0..size).map(|i| (i as f64 * 0.37).cos()).collect();
    let (_, level, scale) = kernel.cipher_inputs().next().ok_or("the program has no input")?;
    let plain = evaluator.encode(values.as_slice(), size, level, scale)?;
    let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;

    let run = move || kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), &keys);
    let found = evaluator.decode(&secret.decrypt(&run()?["y"])?)?;
    for (row, found) in found.iter().enumerate() {
        let expected: f64 = (0..size).map(|column| entry(row, column, size) * values[column]).sum();
        if (found.re - expected).abs() > 1e-5 {
            return Err(format!("row {row} is {found}, not {expected}").into());
        }
    }
    Ok(Box::new(move || drop(run().unwrap_or_else(|error| panic!("ran once, and now: {error}")))))
}
