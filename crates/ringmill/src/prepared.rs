//! A lowered program on a machine, with the plan that binds its limbs.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_ckks::keys::Direction;
use ringmill_ckks::{
    Ciphertext, CkksError, EncapsulationKey, GaloisKeys, KeyForm, KeyIdentity, KlssKey, Level, Params,
    RelinKey, SwitchKey,
};
use ringmill_machine::{Executable, Watch};
use ringmill_program::he::{Op, Program, Type, Value};
use ringmill_program::lower::{InputSource, KeyId, Lowered, Method, lower_by};
use ringmill_ring::{Domain, GaloisElement, LimbSource, Poly, Pool};

use crate::{Error, Evaluator};

/// What an input group reads.
#[derive(Debug, Clone, Copy)]
enum Source {
    Cipher { index: usize, part: usize, limbs: usize },
    Plain { index: usize, limbs: usize },
    Key { key: Keyed, method: usize, digit: usize, part: usize, limbs: usize, primes: usize },
    Encapsulation { direction: Direction, part: u8, limbs: usize },
}

/// Which of the keys of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keyed {
    Relin,
    Galois(GaloisElement),
}

/// The keys that a call passes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keys<'a> {
    pub(crate) relin: Option<&'a RelinKey>,
    pub(crate) galois: Option<&'a GaloisKeys>,
    pub(crate) encapsulation: Option<&'a EncapsulationKey>,
}

/// The operands of a call: ciphertexts in the order of the program's inputs, plaintexts in that of its `plain` and
/// `const` instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub(crate) ciphers: &'a [&'a Ciphertext],
    pub(crate) plains: &'a [&'a Poly],
    pub(crate) keys: Keys<'a>,
}

impl Operands<'_> {
    /// The one secret key that all of them belong to, as far as it is known: that of what they give.
    pub(crate) fn identity(&self) -> Result<Option<KeyIdentity>, CkksError> {
        let names =
            if self.ciphers.len() == 2 { ["left ciphertext", "right ciphertext"] } else { ["ciphertext"; 2] };
        let ciphers = names.into_iter().zip(self.ciphers).map(|(name, cipher)| (name, cipher.identity()));
        let Keys { relin, galois, encapsulation } = self.keys;
        KeyIdentity::common(ciphers.chain([
            ("relinearisation key", relin.and_then(|key| key.0.identity())),
            ("Galois keys", galois.and_then(GaloisKeys::identity)),
            ("encapsulation key", encapsulation.and_then(EncapsulationKey::identity)),
        ]))
    }
}

/// A program ready to run.
pub(crate) struct Prepared {
    executable: Box<dyn Executable>,
    sources: Vec<Source>,
    /// Constants that are given as one limb.
    compact: HashSet<Value>,
    /// The methods of key switching that sources name, and each key that one of KLSS reads, with its method.
    methods: Vec<Method>,
    derived: Vec<(Keyed, usize)>,
    /// Parts and limbs of each output.
    outputs: Vec<(usize, usize)>,
    spare: Mutex<Vec<Lists>>,
    /// The empty set: it says best which key is missing.
    no_keys: GaloisKeys,
}

/// Lists of slices that keep their memory between runs.
#[derive(Default)]
struct Lists {
    inputs: Vec<LimbSource<'static>>,
    outputs: Vec<&'static mut [u64]>,
}

/// The empty list of another lifetime in the same memory: collecting in place allocates nothing.
fn recycle<'b>(mut list: Vec<LimbSource<'_>>) -> Vec<LimbSource<'b>> {
    list.clear();
    list.into_iter().map(|_| LimbSource::Words(&[])).collect()
}

/// As [`recycle`], for outputs.
fn recycle_mut<'b>(mut list: Vec<&mut [u64]>) -> Vec<&'b mut [u64]> {
    list.clear();
    list.into_iter().map(|_| -> &'b mut [u64] { &mut [] }).collect()
}

impl Prepared {
    /// Lowers a managed program by the methods of an evaluator and prepares it on its machine.
    pub(crate) fn new(p: &Program, evaluator: &Evaluator) -> Result<Self, Error> {
        let (params, machine) = (evaluator.params(), evaluator.machine());
        let lowered = lower_by(p, &|switch| evaluator.method(switch))?;
        let sources = plan(p, &lowered, params)?;
        let outputs = p
            .outputs()
            .iter()
            .map(|o| match &p.instr(o.value).ty {
                Type::Ct(t) => (usize::from(t.parts), params.limbs(t.level)),
                _ => (0, 0),
            })
            .collect();
        let is_compact = |s: &InputSource| match *s {
            InputSource::Plain { value, compact: true } => Some(value),
            _ => None,
        };
        let compact = lowered.inputs.iter().filter_map(is_compact).collect();
        machine.accepts(&lowered.program)?;
        let executable = machine.prepare(&lowered.program)?;
        let (spare, no_keys) = (Mutex::default(), GaloisKeys::new(params));
        let mut derived = Vec::new();
        for source in &sources {
            if let Source::Key { key, method, .. } = *source
                && matches!(lowered.methods[method], Method::Klss(_))
                && !derived.contains(&(key, method))
            {
                derived.push((key, method));
            }
        }
        Ok(Self { executable, sources, compact, methods: lowered.methods, derived, outputs, spare, no_keys })
    }

    /// Whether a constant is given as one limb.
    pub(crate) fn is_compact(&self, v: Value) -> bool {
        self.compact.contains(&v)
    }

    /// The machine's program.
    pub(crate) fn executable(&self) -> &dyn Executable {
        &*self.executable
    }

    fn key<'a>(&'a self, operands: &Operands<'a>, key: Keyed) -> Result<&'a SwitchKey, Error> {
        Ok(match key {
            Keyed::Relin => &operands.keys.relin.ok_or(CkksError::MissingRelinKey)?.0,
            Keyed::Galois(element) => operands.keys.galois.unwrap_or(&self.no_keys).get(element)?,
        })
    }

    /// The error that names all keys that are missing, in place of the one that names the first.
    fn missing(&self, operands: &Operands<'_>, first: Error) -> Error {
        let Error::Ckks(
            CkksError::MissingRelinKey
            | CkksError::MissingEncapsulationKey
            | CkksError::MissingGaloisKey { .. },
        ) = first
        else {
            return first;
        };
        let (mut relin, mut encapsulation, mut elements) = (false, false, BTreeSet::new());
        for source in &self.sources {
            match *source {
                Source::Key { key: Keyed::Relin, .. } => relin = operands.keys.relin.is_none(),
                Source::Key { key: Keyed::Galois(element), .. } => elements.extend([element]),
                Source::Encapsulation { .. } => encapsulation = operands.keys.encapsulation.is_none(),
                Source::Cipher { .. } | Source::Plain { .. } => {}
            }
        }
        let galois = operands.keys.galois.unwrap_or(&self.no_keys);
        galois.missing((relin, encapsulation), elements).map_or(first, Error::Ckks)
    }

    /// The keys as KLSS reads them, for [`Self::bind`].
    pub(crate) fn derive(&self, operands: &Operands<'_>) -> Result<Vec<Arc<KlssKey>>, Error> {
        let klss = self.derived.iter().filter_map(|&(key, method)| match &self.methods[method] {
            Method::Klss(layout) => Some((key, layout)),
            Method::Hybrid(_) | Method::Of(..) => None,
        });
        klss.map(|(key, layout)| Ok(self.key(operands, key)?.klss(layout)?)).collect()
    }

    /// The operands' limbs in the order of the limb program, as [`Executable::run_from`] takes them.
    pub(crate) fn bind<'a>(
        &'a self,
        operands: &Operands<'a>,
        derived: &'a [Arc<KlssKey>],
        mut list: Vec<LimbSource<'a>>,
    ) -> Result<Vec<LimbSource<'a>>, Error> {
        let words = LimbSource::Words;
        for source in &self.sources {
            match *source {
                Source::Cipher { index, part, limbs } => {
                    list.extend(operands.ciphers[index].polys()[part].limbs().take(limbs).map(words));
                }
                Source::Plain { index, limbs } => {
                    list.extend(operands.plains[index].limbs().take(limbs).map(words));
                }
                Source::Key { key, method, digit, part, limbs, primes } => {
                    let switch_key = self.key(operands, key)?;
                    match &self.methods[method] {
                        Method::Hybrid(layout) | Method::Of(_, layout) => {
                            list.extend(form_limbs(switch_key.form(*layout)?, digit, part, limbs));
                        }
                        Method::Klss(layout) => {
                            let at = self.derived.iter().position(|d| *d == (key, method));
                            let klss = at.and_then(|at| derived.get(at)).unwrap_or_else(|| {
                                unreachable!("every key of KLSS is derived before limbs are bound")
                            });
                            let blocks = layout.blocks(limbs);
                            let limb = |k| (0..blocks).map(move |m| klss.limb(digit, part, k, m));
                            list.extend((0..primes).flat_map(limb));
                        }
                    }
                }
                Source::Encapsulation { direction, part, limbs } => {
                    let missing = CkksError::MissingEncapsulationKey;
                    let key = operands.keys.encapsulation.ok_or(missing)?;
                    let poly = if part == 0 { key.b(direction) } else { key.a(direction) };
                    // Of each digit the first ones and the special prime, which is the last.
                    let (all, of_digit) = (poly.limb_count(), direction.limbs_of_digit(key.params()));
                    for digit in (0..all).step_by(of_digit) {
                        let kept = (digit..digit + limbs).chain([digit + of_digit - 1]);
                        list.extend(kept.map(|i| words(poly.limb(i))));
                    }
                }
            }
        }
        Ok(list)
    }

    /// Runs while `watch` may end it; the polynomials of each output come from `pool`.
    pub(crate) fn run(
        &self,
        params: &Params,
        operands: &Operands<'_>,
        pool: &Pool,
        watch: &Watch,
    ) -> Result<Vec<Vec<Poly>>, Error> {
        let lists = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let missing = |first| self.missing(operands, first);
        let derived = self.derive(operands).map_err(missing)?;
        let inputs = self.bind(operands, &derived, recycle(lists.inputs)).map_err(missing)?;
        let n = params.n();
        let new = |limbs| Poly::unspecified_in(pool, n, limbs, Domain::Evaluation);
        let mut results: Vec<Vec<Poly>> =
            self.outputs.iter().map(|&(parts, limbs)| (0..parts).map(|_| new(limbs)).collect()).collect();
        let mut outputs = recycle_mut(lists.outputs);
        outputs.extend(results.iter_mut().flatten().flat_map(Poly::limbs_mut));
        self.executable.run_watched(&inputs, &mut outputs, watch)?;
        let lists = Lists { inputs: recycle(inputs), outputs: recycle_mut(outputs) };
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(lists);
        Ok(results)
    }
}

/// The first `limbs` limbs and all special ones of one polynomial of a key.
fn form_limbs(
    form: &KeyForm,
    digit: usize,
    part: usize,
    limbs: usize,
) -> impl Iterator<Item = LimbSource<'_>> {
    let layout = form.layout();
    let special = layout.limbs..layout.limbs + layout.special;
    (0..limbs).chain(special).map(move |row| form.limb(digit, part, row))
}

/// What each input group of the limb program reads.
fn plan(p: &Program, lowered: &Lowered, params: &Params) -> Result<Vec<Source>, Error> {
    let ciphers: Vec<Value> = p.inputs().map(|(v, _, _)| v).collect();
    let plains: Vec<Value> =
        p.values().filter(|(_, i)| matches!(i.op, Op::Plain(_) | Op::Const(_))).map(|(v, _)| v).collect();
    let index = |list: &[Value], v: Value| list.iter().position(|&x| x == v).unwrap_or(usize::MAX);
    let limbs = |v: Value| match &p.instr(v).ty {
        Type::Ct(t) => params.limbs(t.level),
        Type::Pt(t) => params.limbs(t.level),
        _ => 0,
    };
    let source = |s: &InputSource| {
        Ok(match *s {
            InputSource::Ciphertext { value, part } => {
                Source::Cipher { index: index(&ciphers, value), part: usize::from(part), limbs: limbs(value) }
            }
            InputSource::Plain { value, compact } => {
                let limbs = if compact { 1 } else { limbs(value) };
                Source::Plain { index: index(&plains, value), limbs }
            }
            InputSource::Key { key, method, digit, part, limbs, primes } => Source::Key {
                key: match key {
                    KeyId::Relin => Keyed::Relin,
                    KeyId::Galois(g) => Keyed::Galois(GaloisElement::new(g, params.log_n())?),
                },
                method: method as usize,
                digit: digit as usize,
                part: usize::from(part),
                limbs: limbs as usize,
                primes: primes as usize,
            },
            InputSource::Encapsulation { direction, part } => {
                let limbs = match direction {
                    Direction::Down => params.limbs(Level::ZERO),
                    Direction::Up => params.q_moduli().len(),
                };
                Source::Encapsulation { direction, part, limbs }
            }
        })
    };
    lowered.inputs.iter().map(source).collect()
}
