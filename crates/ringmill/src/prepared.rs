//! A lowered program on a machine, with the plan that binds its limbs.

use std::sync::{Mutex, PoisonError};

use ringmill_ckks::{Ciphertext, GaloisKeys, Params, Plaintext, RelinKey, SwitchKey};
use ringmill_machine::{Executable, Machine};
use ringmill_program::he::{Op, Program, Type, Value};
use ringmill_program::lower::{InputSource, KeyId, Lowered, lower};
use ringmill_ring::{Domain, GaloisElement, Poly, Pool};

use crate::Error;

/// What an input group reads.
#[derive(Debug, Clone, Copy)]
enum Source {
    Cipher { index: usize, part: usize, limbs: usize },
    Plain { index: usize, limbs: usize },
    Relin { digit: usize, part: u8, level: usize },
    Galois { element: GaloisElement, digit: usize, part: u8, level: usize },
}

/// The keys that a call passes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keys<'a> {
    pub(crate) relin: Option<&'a RelinKey>,
    pub(crate) galois: Option<&'a GaloisKeys>,
}

/// The operands of a call: ciphertexts in the order of the program's inputs, plaintexts in that of its `plain` and
/// `const` instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub(crate) ciphers: &'a [&'a Ciphertext],
    pub(crate) plains: &'a [&'a Plaintext],
    pub(crate) keys: Keys<'a>,
}

/// A program ready to run.
pub(crate) struct Prepared {
    executable: Box<dyn Executable>,
    sources: Vec<Source>,
    /// Parts and limbs of each output.
    outputs: Vec<(usize, usize)>,
    spare: Mutex<Vec<Lists>>,
    /// The empty set: it says best which key is missing.
    no_keys: GaloisKeys,
}

/// Lists of slices that keep their memory between runs.
#[derive(Default)]
struct Lists {
    inputs: Vec<&'static [u64]>,
    outputs: Vec<&'static mut [u64]>,
}

/// The empty list of another lifetime in the same memory: collecting in place allocates nothing.
fn recycle<'b>(mut list: Vec<&[u64]>) -> Vec<&'b [u64]> {
    list.clear();
    list.into_iter().map(|_| -> &'b [u64] { &[] }).collect()
}

/// As [`recycle`], for outputs.
fn recycle_mut<'b>(mut list: Vec<&mut [u64]>) -> Vec<&'b mut [u64]> {
    list.clear();
    list.into_iter().map(|_| -> &'b mut [u64] { &mut [] }).collect()
}

impl Prepared {
    /// Lowers a managed program and prepares it on a machine.
    pub(crate) fn new(p: &Program, params: &Params, machine: &dyn Machine) -> Result<Self, Error> {
        let lowered = lower(p)?;
        let sources = plan(p, &lowered, params)?;
        let outputs = p
            .outputs()
            .iter()
            .map(|o| match &p.instr(o.value).ty {
                Type::Ct(t) => (usize::from(t.parts), t.level.limbs()),
                _ => (0, 0),
            })
            .collect();
        let executable = machine.prepare(&lowered.program)?;
        Ok(Self { executable, sources, outputs, spare: Mutex::default(), no_keys: GaloisKeys::new(params) })
    }

    /// The machine's program.
    pub(crate) fn executable(&self) -> &dyn Executable {
        &*self.executable
    }

    /// The operands' limbs in the order of the limb program, as [`Executable::run`] takes them.
    pub(crate) fn bind<'a>(
        &'a self,
        operands: &Operands<'a>,
        mut list: Vec<&'a [u64]>,
    ) -> Result<Vec<&'a [u64]>, Error> {
        for source in &self.sources {
            match *source {
                Source::Cipher { index, part, limbs } => {
                    list.extend(operands.ciphers[index].polys()[part].limbs().take(limbs));
                }
                Source::Plain { index, limbs } => {
                    list.extend(operands.plains[index].poly().limbs().take(limbs));
                }
                Source::Relin { digit, part, level } => {
                    let RelinKey(key) =
                        operands.keys.relin.ok_or(ringmill_ckks::CkksError::MissingRelinKey)?;
                    list.extend(key_limbs(key, digit, part, level));
                }
                Source::Galois { element, digit, part, level } => {
                    let key = operands.keys.galois.unwrap_or(&self.no_keys).get(element)?;
                    list.extend(key_limbs(key, digit, part, level));
                }
            }
        }
        Ok(list)
    }

    /// Runs; the polynomials of each output come from `pool`.
    pub(crate) fn run(
        &self,
        params: &Params,
        operands: &Operands<'_>,
        pool: &Pool,
    ) -> Result<Vec<Vec<Poly>>, Error> {
        let lists = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let inputs = self.bind(operands, recycle(lists.inputs))?;
        let n = params.n();
        let new = |limbs| Poly::unspecified_in(pool, n, limbs, Domain::Evaluation);
        let mut results: Vec<Vec<Poly>> =
            self.outputs.iter().map(|&(parts, limbs)| (0..parts).map(|_| new(limbs)).collect()).collect();
        let mut outputs = recycle_mut(lists.outputs);
        outputs.extend(results.iter_mut().flatten().flat_map(Poly::limbs_mut));
        self.executable.run(&inputs, &mut outputs)?;
        let lists = Lists { inputs: recycle(inputs), outputs: recycle_mut(outputs) };
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(lists);
        Ok(results)
    }
}

/// Limbs q_0 … q_level and all special ones of one polynomial of a key.
fn key_limbs(key: &SwitchKey, digit: usize, part: u8, level: usize) -> impl Iterator<Item = &[u64]> {
    let half = if part == 0 { SwitchKey::b } else { SwitchKey::a };
    let (first_special, all) = (key.params().q_moduli().len(), key.params().key_limbs());
    (0..=level).chain(first_special..all).map(move |i| half(key, digit, i))
}

/// What each input group of the limb program reads.
fn plan(p: &Program, lowered: &Lowered, params: &Params) -> Result<Vec<Source>, Error> {
    let ciphers: Vec<Value> = p.inputs().map(|(v, _, _)| v).collect();
    let plains: Vec<Value> =
        p.values().filter(|(_, i)| matches!(i.op, Op::Plain(_) | Op::Const(_))).map(|(v, _)| v).collect();
    let index = |list: &[Value], v: Value| list.iter().position(|&x| x == v).unwrap_or(usize::MAX);
    let limbs = |v: Value| match &p.instr(v).ty {
        Type::Ct(t) => t.level.limbs(),
        Type::Pt(t) => t.level.limbs(),
        _ => 0,
    };
    let source = |s: &InputSource| {
        Ok(match *s {
            InputSource::Ciphertext { value, part } => {
                Source::Cipher { index: index(&ciphers, value), part: usize::from(part), limbs: limbs(value) }
            }
            InputSource::Plain { value } => {
                Source::Plain { index: index(&plains, value), limbs: limbs(value) }
            }
            InputSource::Key { key: KeyId::Relin, digit, part, level } => {
                Source::Relin { digit: digit as usize, part, level: level as usize }
            }
            InputSource::Key { key: KeyId::Galois(g), digit, part, level } => {
                let element = GaloisElement::new(g, params.log_n())?;
                Source::Galois { element, digit: digit as usize, part, level: level as usize }
            }
        })
    };
    lowered.inputs.iter().map(source).collect()
}
