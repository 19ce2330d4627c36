//! A managed HE program as one limb program: a walk over its instructions.
//!
//! # Pass: lower to limbs
//!
//! - Purpose: operations on ciphertexts become operations on residue polynomials, each algorithm written once for all machines.
//! - Requires: a verified managed program, and a method for every key switch: digits for hybrid switching, or a layout of KLSS.
//! - Guarantees: a verified limb program whose outputs decrypt to those of the managed program. Sums and rescales are merged
//!   into the divisions of key switches where that is exact; operations are sections, so that an engine can take those it serves.
//! - Example:
//!
//! ```text
//! he @example managed slots 8
//! chain log_n 4 scale 2^20 q [1073741441, 1073740609] p [2147483489] alpha 1
//! %0 = input "x" : ct[2](level 1, scale 2^20)
//! %1 = rescale %0 : ct[2](level 0, scale 2^20*1073740609^-1)
//! output "y", %1
//! end
//! ```

mod declare;
mod operands;
mod over_t;
mod turns;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::compact;
use super::extended::{Extended, Facts};
use super::galois::{Hoisted, Turn};
use super::growth::{Level, Levels};
use super::interface::{InputSource, KeyId, Lowered, Names, OutputSource, identifier};
use super::key_switch::End;
use super::over_t::OverT;
use super::scalar::{residue, scaled_integer};
use super::sums::{Factor, Sums};
use super::turns::Turns;
use super::uses::{galois, hoist_group, key_of, limbs, merged, needed, part_suffixes, reach, switches, uses};
use super::{EncapsulationInputs, KeyInputs, Library, LowerError, Lowering, Method, Poly, Switch};
use crate::he::{Chain, Instr, Op, Program, Type, Value};
use crate::limb::{Domain, InputClass, ModulusId, OutputId};
use ringmill_ckks::KeyLayout;
use ringmill_ckks::keys::Direction;
use ringmill_ring::Modulus;

/// Lowers a managed program. Instructions that no output needs are left out; a rescale that is the only use of a
/// key switch is merged into it; key switches of one hoisting group share their digits. Limbs that a drop forgets are
/// not computed in the first place. Keys are switched by the hybrid method with the layout that serves every level.
///
/// # Errors
/// [`LowerError::NotManaged`], or what a chain or a level does not allow.
pub fn lower(he: &Program) -> Result<Lowered, LowerError> {
    let base = he.chain().map(Chain::base_layout);
    lower_by(he, &|_| Method::Hybrid(base.unwrap_or(KeyLayout { limbs: 0, special: 0, alpha: 0 })))
}

/// As [`lower`], with a method chosen for each key switch.
///
/// # Errors
/// As [`lower`]; [`LowerError::Layout`], [`LowerError::Limbs`] for a layout that cannot serve its key switch.
pub fn lower_by(he: &Program, method: &dyn Fn(&Switch) -> Method) -> Result<Lowered, LowerError> {
    lower_compact(he, method, compact::ABOVE)
}

/// As [`lower_by`]; constant vectors come as one limb each, where they can, if all of them would take more than `above`
/// bytes. Sums of rotations times such constants are then divided by P once.
///
/// # Errors
/// As [`lower_by`].
pub fn lower_compact(
    he: &Program,
    method: &dyn Fn(&Switch) -> Method,
    above: u64,
) -> Result<Lowered, LowerError> {
    let Some(chain) = he.chain() else {
        return Err(LowerError::NotManaged { program: he.name().to_owned() });
    };
    let moduli = |values: &[u64]| values.iter().map(|&q| Modulus::new(q)).collect::<Result<Vec<_>, _>>();
    let needed = needed(he);
    // Only moduli that the program can touch: a machine makes tables for each.
    let (limbs, switches) = reach(he, chain, &needed);
    let (q, p) = (moduli(chain.q())?, moduli(if switches { chain.p() } else { &[] })?);
    let mut lowering = Lowering::new(identifier(he.name()), chain.log_n(), &q[..limbs], &p, chain.alpha())?;
    lowering.basis.goes_on(&q[limbs..]);
    lowering.basis.levelled(chain.levels());
    let mut walk = Walk::new(he, chain, lowering, needed, above);
    walk.choose(method);
    walk.extend();
    walk.declare()?;
    for (v, _) in he.values() {
        if walk.needed[v.index()] && !walk.sums.is_inside(v) && !walk.turns.is_inside(v) {
            walk.instruction(v)?;
            walk.store(v);
        }
    }
    let Walk { low, inputs, outputs, methods, .. } = walk;
    Ok(Lowered { program: low.finish()?.without_dead(), inputs, outputs, methods })
}

struct Walk<'a> {
    he: &'a Program,
    chain: &'a Chain,
    low: Lowering,
    /// Whether an output depends on the value.
    needed: Vec<bool>,
    /// How often each value is used.
    uses: Vec<u32>,
    /// The rescale into which each key switch is merged.
    merged: HashMap<Value, Value>,
    hoisted: HashMap<(Option<u32>, usize), HoistGroup>,
    /// Methods in use, and for each key switch the index of its own.
    methods: Vec<Method>,
    method_of: HashMap<Value, usize>,
    keys: HashMap<(KeyId, usize), KeyInputs>,
    encapsulation: Option<EncapsulationInputs>,
    /// Constants that come as one limb, and after how many slots they repeat.
    compact: HashMap<Value, usize>,
    sums: Sums,
    extended: Extended,
    turns: Turns,
    /// By limbs, the key of a rotation by KLSS where values stay modulo T; and these values.
    keys_over_t: HashMap<usize, (KeyId, usize)>,
    kept: HashMap<Value, [OverT; 2]>,
    /// P times the polynomials of values that are added to extended ones, limbs of q_0 … alone.
    promoted: HashMap<Value, [Poly; 2]>,
    /// The polynomials of each value so far.
    parts: Vec<Vec<Poly>>,
    inputs: Vec<InputSource>,
    outputs: Vec<OutputSource>,
    /// Limbs to store into, per value.
    stores: HashMap<Value, Vec<Vec<Vec<OutputId>>>>,
}

/// Key switches that share the digits of their operand.
#[derive(Debug, Default)]
struct HoistGroup {
    /// Members still to be lowered.
    members: usize,
    /// The digits, from the first member to the last.
    raised: Option<Hoisted>,
}

impl<'a> Walk<'a> {
    fn new(he: &'a Program, chain: &'a Chain, low: Lowering, needed: Vec<bool>, above: u64) -> Self {
        let uses = uses(he, &needed);
        let (merged, sums) = (merged(he, &needed, &uses), Sums::of(he, &needed, &uses));
        let compact = compact::constants(he, chain, &low, above);
        Self {
            he,
            chain,
            low,
            parts: vec![Vec::new(); needed.len()],
            needed,
            uses,
            merged,
            hoisted: HashMap::new(),
            methods: Vec::new(),
            method_of: HashMap::new(),
            keys: HashMap::new(),
            encapsulation: None,
            compact,
            extended: Extended::default(),
            turns: Turns::default(),
            keys_over_t: HashMap::new(),
            kept: HashMap::new(),
            promoted: HashMap::new(),
            sums,
            inputs: Vec::new(),
            outputs: Vec::new(),
            stores: HashMap::new(),
        }
    }

    /// Decides which values stay multiplied by P.
    fn extend(&mut self) {
        let special = self.low.basis.p().len();
        let levels = self.levels_of_klss(special);
        let divides = |v: Value| {
            let (Some(&method), level) = (self.method_of.get(&v), levels.get(&self.limbs(v))) else {
                return false;
            };
            match (&self.methods[method], level) {
                (Method::Hybrid(layout), None) => layout.special == special,
                (Method::Klss(_), Some(level)) => level.method == method,
                _ => false,
            }
        };
        let shares = |v: Value| {
            let (op, method) = (&self.he.instr(v).op, self.method_of.get(&v));
            let group = method.and_then(|&m| self.hoisted.get(&(Some(hoist_group(op)?), m)));
            group.is_some_and(|group| group.members > 1)
        };
        self.extended = Extended::of(&Facts {
            he: self.he,
            chain: self.chain,
            needed: &self.needed,
            uses: &self.uses,
            divides: &divides,
            klss: &levels,
            shares: &shares,
            merged: &|v| self.merged.contains_key(&v),
            compact: &self.compact,
            n: 1 << self.chain.log_n(),
            special,
        });
        self.turns = Turns::of(self.he, &self.needed, &self.uses, &self.extended, &self.sums, &shares);
        let switches = self.method_of.iter().filter_map(|(&v, &method)| {
            let (key, _) = self.key_of(&self.he.instr(v).op)?;
            let over_t = key != KeyId::Relin && self.extended.method_over_t(self.limbs(v)) == Some(method);
            over_t.then(|| (self.limbs(v), (key, method)))
        });
        self.keys_over_t = switches.collect();
    }

    /// The method of KLSS of most rotations for each number of limbs at which none is hybrid with the chain's special primes.
    fn levels_of_klss(&self, special: usize) -> Levels<'_> {
        let mut levels: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
        let mut hybrid = HashSet::new();
        for (&v, &method) in &self.method_of {
            match &self.methods[method] {
                _ if matches!(self.he.instr(v).op, Op::Relin(_)) => {}
                Method::Klss(_) => *levels.entry(self.limbs(v)).or_default().entry(method).or_default() += 1,
                Method::Hybrid(layout) if layout.special == special => {
                    hybrid.insert(self.limbs(v));
                }
                Method::Hybrid(_) | Method::Of(..) => {}
            }
        }
        let most = |(limbs, by): (usize, BTreeMap<usize, usize>)| {
            let (&method, _) = by.iter().rev().max_by_key(|(_, count)| **count)?;
            let Method::Klss(layout) = &self.methods[method] else { return None };
            Some((limbs, Level { method, layout }))
        };
        levels.into_iter().filter(|(limbs, _)| !hybrid.contains(limbs)).filter_map(most).collect()
    }

    /// A method for every key switch. Those that share digits by name can do so if their methods are the same.
    fn choose(&mut self, method: &dyn Fn(&Switch) -> Method) {
        for (v, switch) in switches(self.he, self.chain, &self.needed, &self.merged) {
            let chosen = method(&switch);
            let index = self.methods.iter().position(|m| *m == chosen).unwrap_or_else(|| {
                self.methods.push(chosen);
                self.methods.len() - 1
            });
            self.method_of.insert(v, index);
            let group = hoist_group(&self.he.instr(v).op);
            // SEAL's rotations share no digits.
            if group.is_some() && self.methods[index].library() != Some(Library::Seal) {
                self.hoisted.entry((group, index)).or_default().members += 1;
            }
        }
    }

    /// The limbs a value has.
    fn limbs(&self, v: Value) -> usize {
        limbs(self.chain, &self.he.instr(v).ty)
    }

    /// The key that an instruction needs, and the operand it switches.
    fn key_of(&self, op: &Op) -> Option<(KeyId, Value)> {
        key_of(self.chain, op)
    }

    fn raise(&mut self, a: Value) -> Result<Vec<Poly>, LowerError> {
        if let Some(library) = self.methods.iter().find_map(Method::library) {
            return Err(LowerError::Raise { library });
        }
        let c = self.two(a);
        let key = self.encapsulation.clone().ok_or(LowerError::NoSpecialPrime)?;
        Ok(self.low.mod_raise([&c[0], &c[1]], &key)?.into())
    }

    fn instruction(&mut self, v: Value) -> Result<(), LowerError> {
        let instr = self.he.instr(v);
        if !self.parts[v.index()].is_empty() || self.kept.contains_key(&v) {
            return Ok(()); // An input, a rescale computed together with its key switch, a sum together with another.
        }
        let word = instr.op.kind().word();
        self.low.scope(format!("{} {word}", self.he.value_name(v)).replace(['#', '\n', '\r'], "_"));
        self.low.region("");
        if self.instruction_over_t(v)? {
            return Ok(());
        }
        if self.sums.terms(v).is_some() {
            return self.sums_of_products(v);
        }
        let parts = match &instr.op {
            Op::Input(_)
            | Op::Plain(_)
            | Op::Const(_)
            | Op::Sum { .. }
            | Op::Bootstrap { .. }
            | Op::Lookup { .. } => {
                return Err(LowerError::NotManaged { program: self.he.name().to_owned() });
            }
            &Op::Add(a, b) | &Op::Sub(a, b) => {
                let minus = matches!(instr.op, Op::Sub(..));
                match self.extended.is_undivided(v) {
                    true => self.sum_extended(v, [a, b], minus)?,
                    false => self.sum(a, b, minus)?,
                }
            }
            &Op::AddPlain(a, b) => self.sum(a, b, false)?,
            &Op::SubPlain(a, b) => self.sum(a, b, true)?,
            &Op::MulPlain(a, b) => {
                let plain = match self.compact.contains_key(&b) {
                    true => {
                        let moduli = self.moduli(v);
                        self.low.expanded(self.parts[b.index()][0][0], &moduli)
                    }
                    false => self.part(b, 0),
                };
                self.each(a, |low, poly| low.mul(poly, &plain))?
            }
            &Op::Neg(a) => self.each(a, |low, poly| Ok(low.neg(poly)))?,
            &Op::AddScalar(a, c) => self.add_scalar(a, c)?,
            Op::MulScalar { a, c, scale } => {
                let integer = scaled_integer(*c, scale)?;
                let moduli = self.moduli(v);
                self.each(*a, |low, poly| {
                    Ok(low.mul_integer(poly, &moduli, |low, m| residue_in(low, &integer, m)))
                })?
            }
            &Op::Mul(a, b) => {
                let (a, b) = (self.two(a), self.two(b));
                self.low.tensor([&a[0], &a[1]], [&b[0], &b[1]])?.into()
            }
            &Op::Square(a) => {
                let a = self.two(a);
                self.low.tensor_square([&a[0], &a[1]])?.into()
            }
            &Op::Rescale(a) if self.extended.is(a) => self.each(a, |low, poly| low.reduced(poly, true))?,
            &Op::Rescale(a) => self.each(a, Lowering::rescale)?,
            &Op::Drop(a, level) => {
                let limbs = self.chain.limbs(level);
                self.each(a, |_, poly| Ok(poly[..limbs.min(poly.len())].to_vec()))?
            }
            &Op::Raise { a, .. } => self.raise(a)?,
            Op::Relin(_) | Op::Rotate { .. } | Op::Conj { .. } => return self.key_switch(v),
        };
        self.parts[v.index()] = parts;
        Ok(())
    }

    /// The key switch `v`, with the rescale that is merged into it.
    fn key_switch(&mut self, v: Value) -> Result<(), LowerError> {
        let op = &self.he.instr(v).op;
        let Some((id, a)) = self.key_of(op) else { return Ok(()) };
        let rescale = self.merged.get(&v).copied();
        let method = self.method_of.get(&v).copied().unwrap_or_default();
        let end = match self.extended.is(v) {
            true => End::Extended,
            false => End::of(rescale.is_some()),
        };
        let parts = match galois(self.chain, op) {
            None => {
                let (d, key) = ([0, 1, 2].map(|part| self.part(a, part)), &self.keys[&(id, method)]);
                self.low.relinearise([&d[0], &d[1], &d[2]], key, rescale.is_some())?
            }
            Some(galois) => {
                let raised = self.shared_digits(v)?;
                let c1 = if raised.is_none() { self.switched(a)? } else { Vec::new() };
                let (c0, turn) = (self.part(a, 0), Turn { galois, key: &self.keys[&(id, method)], end });
                match raised {
                    Some(raised) => self.low.turn_hoisted(&raised, &c0, turn)?,
                    None => self.low.turn([&c0, &c1], turn)?,
                }
            }
        };
        if let Some(rescale) = rescale {
            self.parts[rescale.index()] = parts.to_vec();
        }
        self.parts[v.index()] = parts.into();
        Ok(())
    }

    /// Stores the value's limbs into the outputs that ask for it, right where they are computed.
    fn store(&mut self, v: Value) {
        if self.merged.contains_key(&v) {
            return;
        }
        let Some(all) = self.stores.remove(&v) else { return };
        self.low.scope(format!("{} store", self.he.value_name(v)));
        self.low.region("");
        for stores in all {
            for (limbs, outputs) in self.parts[v.index()].iter().zip(stores) {
                for (&limb, output) in limbs.iter().zip(outputs) {
                    self.low.builder.store(output, limb);
                }
            }
        }
    }
}

fn residue_in(low: &Lowering, integer: &num_bigint::BigInt, m: ModulusId) -> u64 {
    residue(integer, low.basis.modulus(m))
}
