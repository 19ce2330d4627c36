//! Writes a program from the normal forms of its values.

use std::collections::{BTreeMap, HashMap};

use num_complex::Complex64;
use ringmill_program::he::{Builder, Constant, HeError, Like, Op, Program, Rule, Value, is_free_factor};

use super::Rules;
use super::form::{Affine, Factor, Forms, Id, Node};
use super::polynomial::{Finder, Powers, trim};
use crate::CircuitError;
use crate::linear::{self, Diagonals, Keys};
use crate::polynomial::{Basis, Polynomial, evaluate};

/// The least degree of a polynomial that is evaluated as one: below it sums of products are as good.
const DEGREE: usize = 3;

/// Rotations of one node, each times a vector, that are a linear map.
const MAP: usize = 4;

/// The program from its forms; `None` if it cannot be written.
pub(super) fn write(p: &Program, forms: &Forms, rules: Rules, magnitude: f64) -> Option<Program> {
    written(p, forms, rules, magnitude).ok()
}

fn written(p: &Program, forms: &Forms, rules: Rules, magnitude: f64) -> Result<Program, HeError> {
    let mut b = Builder::traced(p.name(), p.slots())?;
    for table in p.tables() {
        b.table(&table.name, table.numbers.clone())?;
    }
    let mut w = Writer {
        p,
        forms,
        rules,
        magnitude,
        b,
        finder: Finder::new(forms),
        uses: uses(forms),
        written: HashMap::new(),
        plain: HashMap::new(),
        depths: Vec::new(),
    };
    // Inputs are part of the signature, whether they are read or not.
    for (v, instr) in p.values() {
        match (&instr.op, &forms.of[v.index()]) {
            (Op::Input(_), Some(form)) => w.affine(form).map(drop)?,
            (Op::Plain(_), _) => w.plain(v).map(drop)?,
            _ => {}
        }
    }
    for out in p.outputs() {
        let Some(form) = &forms.of[out.value.index()] else { continue };
        w.at(out.value);
        let value = w.affine(form)?;
        w.b.source(out.source.clone());
        w.b.output(&out.name, value)?;
    }
    w.b.finish()
}

/// How often each node is read by sums, products and what is kept.
fn uses(forms: &Forms) -> HashMap<Id, usize> {
    let mut uses = HashMap::new();
    let mut read = |id: Id| *uses.entry(id).or_insert(0) += 1;
    for node in &forms.nodes {
        match node {
            Node::Kept(_, ids) | Node::Product(ids) => ids.iter().copied().for_each(&mut read),
            Node::Turned(id, _) | Node::Sum(id, ..) => read(*id),
            Node::Sums(at) => forms.sums[*at].terms.keys().copied().for_each(&mut read),
        }
    }
    uses
}

struct Writer<'a> {
    p: &'a Program,
    forms: &'a Forms,
    rules: Rules,
    magnitude: f64,
    b: Builder,
    finder: Finder<'a>,
    uses: HashMap<Id, usize>,
    written: HashMap<Id, Value>,
    /// Constants and run-time plaintexts of the old program in the new one.
    plain: HashMap<Value, Value>,
    /// The depth at which each new value rests.
    depths: Vec<u32>,
}

impl Writer<'_> {
    /// What follows belongs to the place of this value of the old program.
    fn at(&mut self, v: Value) {
        let instr = self.p.instr(v);
        self.b.region(instr.region.map_or("", |r| &self.p.regions()[r.0 as usize]));
        self.b.source(instr.source.clone());
    }

    fn push(&mut self, op: Op) -> Result<Value, HeError> {
        let value = self.b.push(op)?;
        self.measure();
        Ok(value)
    }

    /// Depths of the values that were added.
    fn measure(&mut self) {
        let p = self.b.program();
        for instr in &p.instrs()[self.depths.len()..] {
            let of = |v: Value| self.depths[v.index()];
            let operands = instr.op.operands();
            let deepest = operands.as_slice().iter().map(|v| of(*v)).max().unwrap_or(0);
            let product = match instr.op {
                Op::Mul(a, b) => {
                    ![a, b].iter().any(|v| matches!(&p.instr(*v).op, Op::Const(c) if c.is_free()))
                }
                Op::Square(_) => true,
                _ => false,
            };
            let depth = match instr.op {
                Op::Raise { .. } | Op::Bootstrap { .. } => 0,
                Op::Lookup { ref table, .. } => table.depth(),
                _ => deepest + u32::from(product),
            };
            self.depths.push(depth);
        }
    }

    fn number(&mut self, c: f64) -> Result<Value, HeError> {
        self.push(Op::Const(Constant::Real(c)))
    }

    fn factor(&mut self, f: &Factor) -> Result<Value, HeError> {
        match f {
            Factor::Number(c) => self.number(*c),
            Factor::Vector(numbers) => self.push(Op::Const(Constant::List(numbers.clone()))),
        }
    }

    /// A constant or a run-time plaintext as it is.
    fn plain(&mut self, v: Value) -> Result<Value, HeError> {
        if let Some(&known) = self.plain.get(&v) {
            return Ok(known);
        }
        let op = self.p.instr(v).op.clone();
        let operands: Vec<Value> = op.operands().as_slice().to_vec();
        let new = operands.iter().map(|a| self.plain(*a)).collect::<Result<Vec<_>, _>>()?;
        let mut new = new.into_iter();
        let op = op.map_operands(|a| new.next().unwrap_or(a));
        let value = self.push(op)?;
        self.plain.insert(v, value);
        Ok(value)
    }

    fn node(&mut self, id: Id) -> Result<Value, HeError> {
        if let Some(&known) = self.written.get(&id) {
            return Ok(known);
        }
        let forms = self.forms;
        let value = match &forms.nodes[id] {
            Node::Kept(v, ids) => self.kept(*v, ids)?,
            Node::Turned(a, k) => {
                let a = self.node(*a)?;
                self.placed(id);
                self.push(Op::Rotate { a, k: *k, hoist: None })?
            }
            Node::Sum(a, count, stride) => {
                let a = self.node(*a)?;
                self.placed(id);
                self.push(Op::Sum { a, count: *count, stride: *stride })?
            }
            Node::Product(factors) => {
                let powers = self.finder.of(id);
                match self.evaluated(Some(id), &powers)? {
                    Some(value) => value,
                    None => self.product(factors, None)?,
                }
            }
            Node::Sums(at) => self.affine(&forms.sums[*at])?,
        };
        if let Some(&bound) = forms.within.get(&id) {
            self.b.promise(value, bound)?;
        }
        self.written.insert(id, value);
        Ok(value)
    }

    /// What follows belongs to the place of this node.
    fn placed(&mut self, id: Id) {
        if let Some(&v) = self.forms.value.get(&id) {
            self.at(v);
        }
    }

    fn kept(&mut self, v: Value, ids: &[Id]) -> Result<Value, HeError> {
        let instr = self.p.instr(v);
        let mut ids = ids.iter();
        let mut new = Vec::new();
        for a in instr.op.operands().as_slice() {
            new.push(match self.forms.of[a.index()] {
                Some(_) => self.node(*ids.next().ok_or_else(lost)?)?,
                None => self.plain(*a)?,
            });
        }
        let like = ids.next().map(|&id| self.node(id)).transpose()?;
        self.at(v);
        let mut new = new.into_iter();
        let value = self.push(instr.op.map_operands(|a| new.next().unwrap_or(a)))?;
        if let (Some(like), Some(of)) = (instr.like, like)
            && of < value
        {
            self.b.resemble(value, Like { value: of, ..like })?;
        }
        Ok(value)
    }

    /// A node, or a part of a sum, by a circuit for its polynomial, if that suits.
    fn evaluated(&mut self, id: Option<Id>, powers: &Powers) -> Result<Option<Value>, HeError> {
        let terms = powers.c.iter().filter(|&&c| c != 0.0).count();
        if !self.rules.polynomials || Some(powers.base) == id || powers.degree() < DEGREE || terms < 2 {
            return Ok(None);
        }
        let bound = match &self.forms.nodes[powers.base] {
            _ if let Some(bound) = self.forms.within.get(&powers.base) => *bound,
            Node::Kept(v, _) if matches!(self.p.instr(*v).op, Op::Input(_)) => self.magnitude,
            _ => 1.0,
        };
        if !powers.is_tame(bound) {
            return Ok(None);
        }
        let x = self.node(powers.base)?;
        let Ok(polynomial) = Polynomial::new(Basis::Monomial, &powers.c) else { return Ok(None) };
        if let Some(id) = id {
            self.placed(id);
        }
        let value = evaluate(&mut self.b, x, &polynomial);
        self.measure();
        match value {
            Ok(value) => Ok(Some(value)),
            Err(CircuitError::Program(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The product of nodes and a number in the least depth: of all parts the two of least depth are multiplied first.
    fn product(&mut self, factors: &[Id], c: Option<f64>) -> Result<Value, HeError> {
        let mut parts = factors.iter().map(|&id| self.node(id)).collect::<Result<Vec<_>, _>>()?;
        if let Some(c) = c {
            parts.push(self.number(c)?);
        }
        let mut pairs: HashMap<[Value; 2], Value> = HashMap::new();
        while parts.len() > 1 {
            // Equal parts stand beside each other, so that powers are shared.
            parts.sort_by_key(|v| std::cmp::Reverse((self.depths[v.index()], *v)));
            let (a, b) = (parts.remove(parts.len() - 1), parts.remove(parts.len() - 1));
            let product = match pairs.get(&[a, b]) {
                Some(&known) => known,
                None => self.push(if a == b { Op::Square(a) } else { Op::Mul(a, b) })?,
            };
            pairs.insert([a, b], product);
            parts.push(product);
        }
        Ok(parts[0])
    }

    fn affine(&mut self, a: &Affine) -> Result<Value, HeError> {
        if let Some(id) = a.alone() {
            return self.node(id);
        }
        let mut constant = a.constant.clone();
        let mut sum: Option<Value> = None;
        let mut rest: BTreeMap<Id, &Factor> = a.terms.iter().map(|(&id, f)| (id, f)).collect();
        if self.rules.polynomials {
            for (base, powers) in self.polynomials(a) {
                let mut c = powers.c.to_vec();
                // The constant is that of the first polynomial.
                if let Factor::Number(number) = constant {
                    c[0] += number;
                }
                let of = |s: &mut Self, id: Id| s.finder.of(id).base == base;
                let powers = Powers { base, c: c.into() };
                let Some(value) = self.evaluated(None, &powers)? else { continue };
                rest.retain(|&id, f| !(matches!(f, Factor::Number(_)) && of(self, id)));
                if matches!(constant, Factor::Number(_)) {
                    constant = Factor::Number(0.0);
                }
                sum = Some(self.plus(sum, value, false)?);
            }
        }
        // Terms of one size are added first: one product for all.
        let mut sizes: BTreeMap<u64, Vec<(Id, bool)>> = BTreeMap::new();
        let mut vectors = Vec::new();
        for (id, f) in rest {
            match f {
                Factor::Number(c) => {
                    sizes.entry(c.abs().to_bits()).or_default().push((id, c.is_sign_negative()));
                }
                Factor::Vector(_) => vectors.push((id, f)),
            }
        }
        for (size, mut terms) in sizes {
            let c = f64::from_bits(size);
            // A part without a sign first: the others are added to it or subtracted.
            terms.sort_by_key(|&(id, negative)| (negative, id));
            let all_negative = terms[0].1;
            let value = match (&self.forms.nodes[terms[0].0], &terms[..]) {
                (Node::Product(factors), &[(id, _)]) if self.folds(id, c) => {
                    self.product(factors, Some(c))?
                }
                _ => {
                    let mut part = None;
                    for &(id, negative) in &terms {
                        let node = self.node(id)?;
                        part = Some(self.plus(part, node, negative != all_negative)?);
                    }
                    let part = part.ok_or_else(lost)?;
                    if c == 1.0 { part } else { self.times(part, &Factor::Number(c))? }
                }
            };
            sum = Some(match sum {
                None if all_negative => self.push(Op::Neg(value))?,
                _ => self.plus(sum, value, all_negative)?,
            });
        }
        for (base, map) in self.maps(&mut vectors) {
            let x = self.node(base)?;
            let value = linear::apply(&mut self.b, x, &map, Keys::Fast);
            self.measure();
            let value = match value {
                Err(CircuitError::Program(error)) => return Err(error),
                value => value.map_err(|_| lost())?,
            };
            sum = Some(self.plus(sum, value, false)?);
        }
        for (id, f) in vectors {
            let node = self.node(id)?;
            let value = self.times(node, f)?;
            sum = Some(self.plus(sum, value, false)?);
        }
        let sum = sum.ok_or_else(lost)?;
        match &constant {
            Factor::Number(0.0) => Ok(sum),
            f => {
                let c = self.factor(f)?;
                self.push(Op::Add(sum, c))
            }
        }
    }

    /// Takes those terms out that are rotations of one node, each times a vector: linear maps, which are planned anew.
    fn maps(&mut self, vectors: &mut Vec<(Id, &Factor)>) -> Vec<(Id, Diagonals)> {
        let forms = self.forms;
        let turned = |id: Id| match forms.nodes[id] {
            Node::Turned(base, k) if !forms.within.contains_key(&id) => (base, k as usize),
            _ => (id, 0),
        };
        let mut bases: BTreeMap<Id, BTreeMap<usize, Vec<Complex64>>> = BTreeMap::new();
        for &(id, f) in vectors.iter() {
            let (Factor::Vector(numbers), (base, k)) = (f, turned(id)) else { continue };
            bases.entry(base).or_default().insert(k, numbers.to_complex());
        }
        bases.retain(|_, diagonals| diagonals.len() >= MAP);
        vectors.retain(|(id, _)| !bases.contains_key(&turned(*id).0));
        let slots = self.p.slots();
        let map = |(base, diagonals)| Some((base, Diagonals::from_shifts(slots, diagonals).ok()?));
        bases.into_iter().filter_map(map).collect()
    }

    /// Whether a number goes into the product with its factors: nobody else reads the product, and the number takes a level.
    fn folds(&mut self, id: Id, c: f64) -> bool {
        let powers = self.finder.of(id);
        let alone = self.uses.get(&id).is_none_or(|&n| n <= 1);
        self.rules.products
            && alone
            && !is_free_factor(c)
            && !self.written.contains_key(&id)
            && (powers.base == id || powers.c.iter().filter(|&&c| c != 0.0).count() < 2)
    }

    /// The parts of a sum that are polynomials of one node, of a degree that is worth it.
    fn polynomials(&mut self, a: &Affine) -> Vec<(Id, Powers)> {
        let mut found: BTreeMap<Id, Vec<f64>> = BTreeMap::new();
        for (&id, f) in &a.terms {
            let Factor::Number(factor) = f else { continue };
            let powers = self.finder.of(id);
            powers.add_to(found.entry(powers.base).or_default(), *factor);
        }
        found.values_mut().for_each(trim);
        found
            .into_iter()
            .filter(|(_, c)| c.len() > DEGREE)
            .map(|(base, c)| (base, Powers { base, c: c.into() }))
            .collect()
    }

    fn plus(&mut self, sum: Option<Value>, value: Value, negative: bool) -> Result<Value, HeError> {
        match sum {
            None => Ok(value),
            Some(sum) => self.push(if negative { Op::Sub(sum, value) } else { Op::Add(sum, value) }),
        }
    }

    fn times(&mut self, value: Value, f: &Factor) -> Result<Value, HeError> {
        let c = self.factor(f)?;
        self.push(Op::Mul(value, c))
    }
}

/// A form without terms: not of a ciphertext.
fn lost() -> HeError {
    Rule::NoOutput.into()
}
