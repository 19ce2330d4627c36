//! What a machine takes for each kind of work, found by running key switches and sums of different shapes on it.
//!
//! Costs of single instructions measured alone say little: transforms run while keys are on their way, and what one task
//! leaves in the cache the next one finds there. So whole key switches are timed, and sums of products, which programs do
//! between them; the rates are those that explain the times best (non-negative least squares on relative errors).

use std::time::Duration;

use cpu_time::ProcessTime;
use ringmill_errors::StructuredError;
use ringmill_program::cost::{Kind, Rates, Work};
use ringmill_program::limb::{InputClass, InputGroup, LimbProgram};
use ringmill_program::lower::{KeyLayout, KlssLayout, LowerError, Method, OperationWriter, Poly, Rotation};
use ringmill_ring::{Buffer, Interleaved, LimbSource, Modulus, primes};

use crate::cpu::stride;
use crate::{Machine, MachineError};

/// Runs of a program in a round, after the first one, which makes memory.
const RUNS: usize = 3;

/// Rounds.
const ROUNDS: usize = 2;

/// Limbs, special primes, limbs a digit, bits of the primes, and for KLSS limbs a block and bits of T.
pub(crate) type Shape = (usize, usize, usize, u32, Option<(usize, u32)>);

/// Between them they have much and little of each kind of work.
const SHAPES: [Shape; 12] = [
    (16, 6, 6, 50, None),
    (24, 4, 4, 50, None),
    (14, 14, 14, 50, None),
    (10, 1, 1, 50, None),
    (16, 2, 2, 50, None),
    (4, 4, 4, 50, None),
    (3, 12, 3, 50, None),
    (12, 1, 1, 50, Some((4, 49))),
    (18, 3, 3, 36, Some((6, 49))),
    (12, 2, 2, 55, None),
    (12, 2, 2, 36, Some((4, 60))),
    (8, 4, 4, 36, Some((2, 60))),
];

/// Limbs and terms of sums of products, and whether each is one instruction a limb: those of linear maps and those of models.
const SUMS: [(usize, usize, bool); 3] = [(6, 12, false), (16, 4, true), (24, 2, false)];

/// A program of the suite, what it is made of, and what it took.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its shape, as text.
    pub name: String,
    /// What it is made of.
    pub work: Work,
    /// The shortest of its runs, in processor time: what else the machine does stays out.
    pub time: Duration,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // Others' messages.
pub enum CalibrateError {
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Ring(#[from] ringmill_ring::RingError),
}

/// The rates of a machine at degree 2^`log_n`, and the samples that they explain. A second or two on a CPU at 2^16.
///
/// # Errors
/// [`CalibrateError`] if the machine cannot run a key switch, or there are too few primes for the degree.
pub fn calibrate(machine: &dyn Machine, log_n: u32) -> Result<(Rates, Vec<Sample>), CalibrateError> {
    let mut suite = suite(log_n)?;
    // The suite as a whole several times: what disturbs a machine comes and goes.
    for _ in 0..ROUNDS {
        for (sample, program) in &mut suite {
            sample.time = sample.time.min(time(machine, program)?);
        }
    }
    let samples: Vec<Sample> = suite.into_iter().map(|(sample, _)| sample).collect();
    Ok((Rates { log_n, rates: fit(&samples, log_n) }, samples))
}

/// All programs, none of them timed yet.
fn suite(log_n: u32) -> Result<Vec<(Sample, LimbProgram)>, CalibrateError> {
    let mut all = Vec::new();
    let mut add = |name, program: LimbProgram| {
        all.push((Sample { name, work: Work::of(&program), time: Duration::MAX }, program));
    };
    for (i, shape) in SHAPES.into_iter().enumerate() {
        // A hoisted pair for a third of the shapes: automorphisms, and raised limbs that come from memory.
        for &rotations in if i % 3 == 0 { &[0, 2][..] } else { &[0] } {
            add(named(shape, rotations), key_switch(log_n, shape, rotations)?);
        }
    }
    for sum @ (limbs, terms, whole) in SUMS {
        let once = if whole { " at once" } else { "" };
        add(format!("{terms} products of {limbs} limbs, added up{once}"), sum_of_products(log_n, sum)?);
    }
    Ok(all)
}

/// The name of a key switch: its form and method as users write them.
fn named((limbs, special, alpha, bits, klss): Shape, rotations: usize) -> String {
    let method = klss.map_or_else(String::new, |(block, t)| format!(", klss~{block}, T of {t} bits"));
    let hoisted = if rotations > 0 { format!(", {rotations} rotations") } else { String::new() };
    format!("{limbs}+{special}/{alpha} of {bits} bits{method}{hoisted}")
}

/// The shortest of some runs.
fn time(machine: &dyn Machine, program: &LimbProgram) -> Result<Duration, CalibrateError> {
    let executable = machine.prepare(program)?;
    let inputs = Inputs::of(program)?;
    let inputs = inputs.limbs();
    let n = program.n();
    let mut out = vec![0; n * program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.chunks_exact_mut(n).collect();
    executable.run_from(&inputs, &mut outputs)?;
    let mut time = Duration::MAX;
    for _ in 0..RUNS {
        let start = ProcessTime::now();
        executable.run_from(&inputs, &mut outputs)?;
        time = time.min(start.elapsed());
    }
    Ok(time)
}

/// A key switch, or rotations that share their digits.
pub(crate) fn key_switch(
    log_n: u32,
    (limbs, special, alpha, bits, klss): Shape,
    rotations: usize,
) -> Result<LimbProgram, CalibrateError> {
    let all = primes::of_bits(bits, log_n, limbs + special, &[])?;
    let (p, q) = all.split_at(special);
    let layout = KeyLayout { limbs, special, alpha };
    let method = match klss {
        None => Method::Hybrid(layout),
        Some((block, t)) => {
            Method::Klss(KlssLayout::new(log_n, (q, p), layout, block, t).map_err(LowerError::from)?)
        }
    };
    let mut writer = OperationWriter::new("calibrate", log_n, (q, p), alpha)?.by(method);
    let [c, d] = ["c", "d"].map(|name| writer.input(name));
    let mut results = Vec::new();
    let mut hoisted = None;
    for r in 0..rotations.max(1) {
        let key = writer.key(&format!("key{r}"))?;
        let low = &mut writer.low;
        if rotations == 0 {
            results.push(low.key_switch(&d, [None, None], &key, false)?);
            continue;
        }
        let raised = match hoisted.take() {
            Some(raised) => raised,
            None => low.hoist(&d, &key)?,
        };
        let rotation = Rotation { galois: 5 + 4 * r as u64, key: &key, rescale: false };
        results.push(low.rotate_hoisted(&raised, &c, rotation)?);
        hoisted = Some(raised);
    }
    writer.output("y", &results.concat());
    Ok(writer.finish()?)
}

/// Ciphertexts times plaintexts, added up, and the square of their sum.
fn sum_of_products(
    log_n: u32,
    (limbs, terms, whole): (usize, usize, bool),
) -> Result<LimbProgram, CalibrateError> {
    let q = primes::of_bits(50, log_n, limbs, &[])?;
    let mut writer = OperationWriter::new("calibrate", log_n, (&q, &[]), 1)?;
    let factors: Vec<_> = (0..terms).map(|i| writer.plain(format!("p{i}"))).collect();
    let parts =
        [0, 1].map(|part| (0..terms).map(|i| writer.input(format!("c{part}_{i}"))).collect::<Vec<_>>());
    let low = &mut writer.low;
    let column = |polys: &[Poly], i: usize| polys.iter().map(|poly| poly[i]).collect::<Vec<_>>();
    let mut sum = |part: &[Poly]| {
        if whole {
            return Ok((0..limbs).map(|i| low.builder.dot(&column(&factors, i), &column(part, i))).collect());
        }
        let mut sum = low.mul(&part[0], &factors[0])?;
        for (c, p) in part.iter().zip(&factors).skip(1) {
            let product = low.mul(c, p)?;
            sum = low.add(&sum, &product)?;
        }
        Ok::<Poly, LowerError>(sum)
    };
    let sums = [sum(&parts[0])?, sum(&parts[1])?];
    let square = low.tensor_square([&sums[0], &sums[1]])?;
    writer.output("y", &square);
    Ok(writer.finish()?)
}

/// The key that an input is a half of: what halves of one key have in their names before `_`.
fn key_of(input: &InputGroup) -> Option<&str> {
    input.name.split('_').next().filter(|_| input.class == InputClass::Key)
}

/// Random words for the inputs of a program. Keys stand as those of ciphertexts do.
struct Inputs {
    keys: Vec<Interleaved>,
    /// All others.
    words: Buffer,
    /// Where each limb stands, in program order.
    places: Vec<Place>,
    n: usize,
}

#[derive(Clone, Copy)]
enum Place {
    Key {
        key: usize,
        group: usize,
        limb: usize,
    },
    /// Its first word.
    Words(usize),
}

impl Inputs {
    fn of(program: &LimbProgram) -> Result<Self, CalibrateError> {
        let n = program.n();
        let mut random = ringmill_program::limb::random::Random(1);
        let mut fill = |q: Modulus, words: &mut [u64]| words.fill_with(|| random.word() % q.value());
        let others = program.inputs().iter().filter(|input| key_of(input).is_none());
        let mut words = Buffer::zeros(stride(n) * others.map(|input| input.moduli.len()).sum::<usize>());
        let (mut keys, mut places, mut free) = (Vec::new(), Vec::new(), 0);
        for halves in program.inputs().chunk_by(|a, b| key_of(a).is_some() && key_of(a) == key_of(b)) {
            let moduli: Vec<Modulus> = halves[0].moduli.iter().map(|&m| program.modulus(m)).collect();
            if key_of(&halves[0]).is_none() {
                for q in moduli {
                    fill(q, &mut words[free..free + n]);
                    places.push(Place::Words(free));
                    free += stride(n);
                }
                continue;
            }
            let mut key = Interleaved::zeros(program.log_n(), moduli.iter().copied(), halves.len())?;
            for limb in 0..halves.len() {
                for (group, &q) in moduli.iter().enumerate() {
                    key.group(group).set(limb, |block| fill(q, block));
                    places.push(Place::Key { key: keys.len(), group, limb });
                }
            }
            keys.push(key);
        }
        Ok(Self { keys, words, places, n })
    }

    fn limbs(&self) -> Vec<LimbSource<'_>> {
        let limb = |&place: &Place| match place {
            Place::Key { key, group, limb } => self.keys[key].limb(group, limb),
            Place::Words(first) => LimbSource::Words(&self.words[first..first + self.n]),
        };
        self.places.iter().map(limb).collect()
    }
}

/// Rates ≥ 0 that explain the samples: least squares of relative errors, one rate at a time until none moves.
///
/// The error is convex in the rates and each step takes its minimum along one of them, so it only falls.
fn fit(samples: &[Sample], log_n: u32) -> [f64; Kind::ALL.len()] {
    let words = f64::from(log_n).exp2();
    let rows: Vec<[f64; Kind::ALL.len()]> = samples
        .iter()
        .map(|sample| {
            let time = (sample.time.as_secs_f64() * 1e9).max(1.0);
            Kind::ALL.map(|kind| {
                let stages = match kind {
                    Kind::Transform | Kind::WideTransform => f64::from(log_n),
                    _ => 1.0,
                };
                sample.work.get(kind) as f64 * stages * words / time
            })
        })
        .collect();
    let mut rates = [0.0; Kind::ALL.len()];
    for _ in 0..20_000 {
        for kind in 0..rates.len() {
            let (mut numerator, mut denominator) = (0.0, 0.0);
            for row in &rows {
                let rest: f64 = 1.0 - row.iter().zip(&rates).map(|(a, r)| a * r).sum::<f64>();
                numerator += row[kind] * (rest + row[kind] * rates[kind]);
                denominator += row[kind] * row[kind];
            }
            if denominator > 0.0 {
                rates[kind] = f64::max(numerator / denominator, 0.0);
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    #[test]
    fn rates_that_made_the_times_are_found_again() {
        let truth = [0.1, 0.2, 0.3, 0.09, 0.35, 0.5, 0.4, 0.8];
        let log_n = 10;
        let table = ringmill_program::cost::CostTable::new("t", vec![Rates { log_n, rates: truth }]).unwrap();
        let mut samples: Vec<Sample> = suite(log_n).unwrap().into_iter().map(|(sample, _)| sample).collect();
        for sample in &mut samples {
            sample.time = Duration::from_secs_f64(table.nanoseconds(&sample.work, log_n) / 1e9);
        }
        for (found, truth) in fit(&samples, log_n).iter().zip(truth) {
            assert!((found / truth - 1.0).abs() < 0.02, "{found} for {truth}");
        }
    }

    #[test]
    fn a_machine_is_calibrated_in_one_call() {
        let (rates, samples) = calibrate(&Cpu::new().unwrap(), 10).unwrap();
        assert!(samples.len() >= SHAPES.len() + SUMS.len());
        assert!(samples.iter().all(|sample| sample.time < Duration::MAX), "each is timed");
        // Which of them a busy machine finds is chance.
        let rates = rates.rates;
        assert!(
            rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0) && rates.iter().any(|&rate| rate > 0.0)
        );
    }
}
