//! Whole circuits through the Rust facade: a program compiled once, run on real keys. The result is checked by decryption.

use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill::ckks::params::{NamedSet, Params};
use ringmill::ckks::{Ciphertext, EvaluationKeys, KeyGenerator, Randomness};
use ringmill::program::he::{self, Builder, Op, Program};
use ringmill::program::manage::Options;
use ringmill::{Evaluator, Input, Inputs, Kernel};
use ringmill_circuits::linear::{Keys, matrix_vector, plan_matrix_vector};

use crate::{Failure, Work, evaluator};

/// `matvecN/SET`: a plaintext matrix N×N times an encrypted vector. `hoistN/SET`: the sum of a vector rotated by 1 to N
/// slots, in one program. `hoistNkept/SET`: the N rotated vectors themselves. All limbs of the set are in use.
pub(crate) fn prepare(work: &str) -> Result<Work, String> {
    let bound = match parse(work)? {
        Circuit::Matvec(size, params) => matvec(size, &params),
        Circuit::Hoist(count, params) => hoist(count, &params),
        Circuit::Kept(count, params) => kept(count, &params),
    };
    bound.map_err(|error| error.to_string())
}

/// The rotations of `hoistN/SET` one after the other, each an operation of its own.
pub(crate) fn one_by_one(work: &str) -> Result<Work, String> {
    match parse(work)? {
        Circuit::Hoist(count, params) | Circuit::Kept(count, params) => {
            single(count, &params).map_err(|error| error.to_string())
        }
        Circuit::Matvec(..) => Err(format!("{work} is no list of operations")),
    }
}

enum Circuit {
    Matvec(usize, Params),
    Hoist(usize, Params),
    Kept(usize, Params),
}

fn parse(work: &str) -> Result<Circuit, String> {
    let (kind, set) = work.split_once('/').ok_or_else(|| format!("{work} names no set"))?;
    let params = set.parse::<NamedSet>().and_then(Params::named).map_err(|error| error.to_string())?;
    let kept = kind.strip_suffix("kept");
    let number = |prefix: &str| kept.unwrap_or(kind).strip_prefix(prefix).and_then(|n| n.parse().ok());
    match (number("matvec"), number("hoist"), kept) {
        (Some(size), _, None) => Ok(Circuit::Matvec(size, params)),
        (_, Some(count), Some(_)) => Ok(Circuit::Kept(count, params)),
        (_, Some(count), None) => Ok(Circuit::Hoist(count, params)),
        _ => Err(format!("{kind} is no circuit")),
    }
}

/// What every side multiplies by.
fn entry(row: usize, column: usize, size: usize) -> f64 {
    (TAU * (row * row + 3 * column) as f64 / size as f64).sin() / size as f64
}

fn values(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i as f64 * 0.37).cos()).collect()
}

fn matvec(size: usize, params: &Params) -> Result<Work, Failure> {
    let matrix: Vec<_> = (0..size * size).map(|i| Complex64::from(entry(i / size, i % size, size))).collect();
    let mut builder = Builder::traced("matvec", size)?;
    let x = builder.push(Op::Input("x".into()))?;
    let plan = plan_matrix_vector(&matrix, size, size, true, Keys::Fast)?;
    let y = matrix_vector(&mut builder, x, &plan)?;
    builder.output("y", y)?;
    let x = values(size);
    let expected = |row: usize| x.iter().enumerate().map(|(column, x)| entry(row, column, size) * x).sum();
    bind(&builder.finish()?, params, &x, &expected)
}

fn hoist(count: usize, params: &Params) -> Result<Work, Failure> {
    let slots = params.slots();
    let mut text = format!("he @hoist traced slots {slots}\n%x = input \"x\"\n%s1 = rotate %x, 1\n");
    for k in 2..=count {
        text += &format!("%r{k} = rotate %x, {k}\n%s{k} = add %s{}, %r{k}\n", k - 1);
    }
    text += &format!("output \"y\", %s{count}\nend\n");
    let x = values(slots);
    let expected = |slot: usize| (1..=count).map(|k| x[(slot + k) % slots]).sum();
    bind(&he::parse(&text)?, params, &x, &expected)
}

/// Compiles, makes keys, runs once, and compares with what is expected.
fn bind(
    program: &Program,
    params: &Params,
    values: &[f64],
    expected: &dyn Fn(usize) -> f64,
) -> Result<Work, Failure> {
    let evaluator = evaluator(params)?;
    let options = Options { low: false, output_level: None, ..Options::default() };
    let kernel = Kernel::compile(&evaluator, program, &options)?;
    let mut generator = KeyGenerator::new(params)?;
    let secret = generator.secret_key()?;
    let rotations: Vec<i64> = kernel.summary().keys.rotations.iter().map(|&k| k as i64).collect();
    let keys = generator.evaluation_keys(&secret, &rotations, false)?;
    let (_, level, scale) = kernel.cipher_inputs().next().ok_or("the program has no input")?;
    if level != params.max_level() {
        return Err(format!("the program begins at level {level}").into());
    }
    let plain = evaluator.encode(values, values.len(), level, scale)?;
    let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;

    let run = move || kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), &keys);
    let found = evaluator.decode(&secret.decrypt(&run()?["y"])?)?;
    for (slot, found) in found.iter().enumerate() {
        if (found.re - expected(slot)).abs() > 1e-5 {
            return Err(format!("slot {slot} is {found}, not {}", expected(slot)).into());
        }
    }
    Ok(Box::new(move || drop(run().unwrap_or_else(|error| panic!("ran once, and now: {error}")))))
}

/// A vector, and keys to rotate it by each of `steps`.
fn to_rotate(
    params: &Params,
    evaluator: &Evaluator,
    steps: &[i64],
) -> Result<(Ciphertext, EvaluationKeys), Failure> {
    let mut generator = KeyGenerator::new(params)?;
    let secret = generator.secret_key()?;
    let keys = generator.evaluation_keys(&secret, steps, false)?;
    let x = values(params.slots());
    let plain = evaluator.encode(x.as_slice(), x.len(), params.max_level(), &params.default_scale())?;
    Ok((secret.encrypt(&plain, &mut Randomness::from_os()?)?, keys))
}

fn kept(count: usize, params: &Params) -> Result<Work, Failure> {
    let evaluator = evaluator(params)?;
    let steps: Vec<i64> = (1..=count as i64).collect();
    let (x, keys) = to_rotate(params, &evaluator, &steps)?;
    let run = move || evaluator.rotate_hoisted(&x, &steps, keys.galois());
    drop(run()?);
    Ok(Box::new(move || drop(run().unwrap_or_else(|error| panic!("ran once, and now: {error}")))))
}

fn single(count: usize, params: &Params) -> Result<Work, Failure> {
    let evaluator = evaluator(params)?;
    let steps: Vec<i64> = (1..=count as i64).collect();
    let (x, keys) = to_rotate(params, &evaluator, &steps)?;
    let mut out = x.clone();
    Ok(Box::new(move || {
        for &k in &steps {
            let turned = evaluator.rotate_into(&x, k, keys.galois(), &mut out);
            turned.unwrap_or_else(|error| panic!("a key for every step was made: {error}"));
        }
    }))
}
