//! Normal forms: sums of multiples of things that are no sums.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_program::he::{Constant, Numbers, Op, Program, Value, is_free_factor};

use super::Rules;

/// A node: what is equal has one number.
pub(super) type Id = usize;

/// Terms of a sum; more of them stay together.
const TERMS: usize = 256;

/// Numbers that are computed for all coefficients together: some 100 MB.
const NUMBERS: usize = 1 << 23;

/// The largest whole number that takes the place of a factor: values grow by it.
const MULTIPLE: f64 = 1024.0;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A value that stays as it is, its operands apart.
    Kept(Value, Vec<Id>),
    /// A rotation to the left.
    Turned(Id, i64),
    /// A sum over slots.
    Sum(Id, usize, i64),
    /// A product of ciphertexts, two or more, in order.
    Product(Vec<Id>),
    /// A sum, by its place in the list of sums.
    Sums(usize),
}

/// A factor of a term: one number, or one for each slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Factor {
    Number(f64),
    Vector(Arc<Numbers>),
}

impl Factor {
    pub(super) fn is_free(&self) -> bool {
        matches!(self, Self::Number(c) if is_free_factor(*c))
    }

    fn is_zero(&self) -> bool {
        matches!(self, Self::Number(0.0))
    }

    fn times(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(Self::Number(a * b)).filter(Self::is_finite),
            (Self::Vector(v), Self::Number(c)) | (Self::Number(c), Self::Vector(v)) => match c {
                1.0 => Some(Self::Vector(v.clone())),
                _ => Self::vector(v.len(), |i| v.get(i).unwrap_or_default() * c),
            },
            (Self::Vector(a), Self::Vector(b)) => {
                Self::vector(a.len(), |i| a.get(i).unwrap_or_default() * b.get(i).unwrap_or_default())
            }
        }
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(Self::Number(a + b)).filter(Self::is_finite),
            (Self::Vector(v), other) | (other, Self::Vector(v)) => {
                Self::vector(v.len(), |i| v.get(i).unwrap_or_default() + other.at(i))
            }
        }
    }

    fn at(&self, i: usize) -> Complex64 {
        match self {
            Self::Number(c) => Complex64::new(*c, 0.0),
            Self::Vector(v) => v.get(i).unwrap_or_default(),
        }
    }

    fn turned(&self, k: i64) -> Option<Self> {
        match self {
            Self::Number(c) => Some(Self::Number(*c)),
            Self::Vector(v) => {
                let slots = v.len();
                let k = k.rem_euclid(slots as i64) as usize;
                Self::vector(slots, |i| v.get((i + k) % slots).unwrap_or_default())
            }
        }
    }

    fn vector(slots: usize, at: impl Fn(usize) -> Complex64) -> Option<Self> {
        let numbers: Vec<Complex64> = (0..slots).map(at).collect();
        let numbers = match numbers.iter().all(|z| z.im == 0.0) {
            true => Numbers::Real(numbers.iter().map(|z| z.re).collect()),
            false => Numbers::Complex(numbers),
        };
        Some(Self::Vector(numbers.into())).filter(Self::is_finite)
    }

    fn is_finite(&self) -> bool {
        match self {
            Self::Number(c) => c.is_finite(),
            Self::Vector(v) => v.first_not_finite().is_none(),
        }
    }

    fn numbers(&self) -> usize {
        match self {
            Self::Number(_) => 0,
            Self::Vector(v) => v.len(),
        }
    }
}

/// Σ factor·node + constant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Affine {
    pub(super) terms: BTreeMap<Id, Factor>,
    /// Zero where nothing is added.
    pub(super) constant: Factor,
}

impl Affine {
    fn node(id: Id) -> Self {
        Self { terms: BTreeMap::from([(id, Factor::Number(1.0))]), constant: Factor::Number(0.0) }
    }

    /// The node that this is once.
    pub(super) fn alone(&self) -> Option<Id> {
        match self.multiple()? {
            (id, 1.0) => Some(id),
            _ => None,
        }
    }

    /// The node of which this is a multiple by one number.
    fn multiple(&self) -> Option<(Id, f64)> {
        match self.terms.iter().next() {
            Some((&id, Factor::Number(c))) if self.terms.len() == 1 && self.constant.is_zero() => {
                Some((id, *c))
            }
            _ => None,
        }
    }

    /// Whether it takes no level.
    fn is_free(&self) -> bool {
        self.terms.values().all(Factor::is_free)
    }

    fn times(&self, c: &Factor) -> Option<Self> {
        let terms = self.terms.iter().map(|(&id, f)| Some((id, f.times(c)?)));
        Some(Self { terms: terms.collect::<Option<_>>()?, constant: self.constant.times(c)? })
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (id, f) in &other.terms {
            let f = match sum.terms.get(id) {
                Some(own) => own.plus(f)?,
                None => f.clone(),
            };
            // Numbers that cancel are left out. Vectors stay, whatever they hold: the program is public, they may not be.
            if f.is_zero() {
                sum.terms.remove(id)
            } else {
                sum.terms.insert(*id, f)
            };
        }
        sum.constant = sum.constant.plus(&other.constant)?;
        Some(sum)
    }
}

/// The normal forms of a program.
pub(super) struct Forms {
    /// Of every ciphertext of the program, its form.
    pub(super) of: Vec<Option<Affine>>,
    pub(super) nodes: Vec<Node>,
    /// The sums among the nodes.
    pub(super) sums: Vec<Affine>,
    /// The first value of the program that is this node, where there is one: its place in the source is that of the node.
    pub(super) value: HashMap<Id, Value>,
    /// What is promised of a node.
    pub(super) within: HashMap<Id, f64>,
    known: HashMap<Node, Id>,
    /// Sums of the same nodes.
    alike: HashMap<Vec<Id>, Vec<usize>>,
    rules: Rules,
    numbers: usize,
}

impl Forms {
    /// The forms of a traced program; `None` where they would be larger than is reasonable.
    pub(super) fn of(p: &Program, rules: Rules) -> Option<Self> {
        let mut forms = Self {
            of: Vec::with_capacity(p.instrs().len()),
            nodes: Vec::new(),
            sums: Vec::new(),
            value: HashMap::new(),
            within: HashMap::new(),
            known: HashMap::new(),
            alike: HashMap::new(),
            rules,
            numbers: 0,
        };
        for (v, instr) in p.values() {
            let form = if instr.ty.is_ct() { Some(forms.value(p, v)?) } else { None };
            forms.of.push(form);
        }
        Some(forms)
    }

    fn value(&mut self, p: &Program, v: Value) -> Option<Affine> {
        let instr = p.instr(v);
        let form = match instr.like {
            // What is promised holds of this value alone.
            Some(_) => None,
            None => self.ruled(p, v),
        };
        let form = match form {
            Some(form) => form,
            None => {
                let operands = instr.op.operands();
                let like = instr.like.map(|like| like.value);
                let read = operands.as_slice().iter().copied().chain(like);
                let read: Vec<Affine> = read.filter_map(|a| self.of[a.index()].clone()).collect();
                let ids = read.iter().map(|a| self.closed(a)).collect();
                Affine::node(self.node(Node::Kept(v, ids)))
            }
        };
        let id = form.alone();
        if let Some(id) = id {
            self.value.entry(id).or_insert(v);
        }
        let Some(bound) = instr.within else { return Some(form) };
        // A promise belongs to a node of its own.
        let id = self.closed(&form);
        self.value.entry(id).or_insert(v);
        self.within.entry(id).and_modify(|b| *b = b.min(bound)).or_insert(bound);
        Some(Affine::node(id))
    }

    /// The form by the rules; `None` for what stays as it is.
    fn ruled(&mut self, p: &Program, v: Value) -> Option<Affine> {
        let of = |forms: &Self, a: Value| forms.of[a.index()].clone();
        let form = match p.instr(v).op {
            Op::Add(a, b) | Op::Sub(a, b) => {
                let sign = if matches!(p.instr(v).op, Op::Sub(..)) { -1.0 } else { 1.0 };
                let side = |forms: &Self, x: Value| match of(forms, x) {
                    Some(form) => Some(form),
                    None => Some(Affine { terms: BTreeMap::new(), constant: constant(p, x)? }),
                };
                let (a, b) = (side(self, a)?, side(self, b)?);
                a.plus(&b.times(&Factor::Number(sign))?)?
            }
            Op::Neg(a) => of(self, a)?.times(&Factor::Number(-1.0))?,
            Op::Square(a) => self.product(of(self, a)?, of(self, a)?)?,
            Op::Mul(a, b) => match (of(self, a), of(self, b)) {
                (Some(a), Some(b)) => self.product(a, b)?,
                (Some(a), None) => self.scaled(a, &constant(p, b)?)?,
                (None, Some(b)) => self.scaled(b, &constant(p, a)?)?,
                (None, None) => return None,
            },
            Op::Rotate { a, k, .. } => {
                self.turned(of(self, a)?, k.rem_euclid(p.slots() as i64), p.slots())?
            }
            Op::Sum { a, count, stride } => {
                let (a, c) = self.without_scalar(of(self, a)?);
                Affine::node(self.node(Node::Sum(a, count, stride))).times(&Factor::Number(c))?
            }
            _ => return None,
        };
        // A value without a ciphertext in it is not one.
        if form.terms.is_empty() || form.terms.len() > TERMS {
            return None;
        }
        // Vectors that were there before are shared.
        let old = |id: &Id, f: &Factor| {
            let operands = p.instr(v).op.operands();
            operands.as_slice().iter().any(|a| {
                let of = self.of[a.index()].as_ref().and_then(|a| a.terms.get(id));
                matches!((of, f), (Some(Factor::Vector(a)), Factor::Vector(b)) if Arc::ptr_eq(a, b))
            })
        };
        let new = form.terms.iter().filter(|(id, f)| !old(id, f)).map(|(_, f)| f.numbers());
        self.numbers += new.sum::<usize>() + form.constant.numbers();
        if self.numbers > NUMBERS { None } else { Some(form) }
    }

    /// c·a. A sum that takes no level itself stays together: one product instead of many.
    fn scaled(&mut self, a: Affine, c: &Factor) -> Option<Affine> {
        if c.is_zero() {
            return None;
        }
        if c.is_free() || !a.is_free() || a.terms.len() == 1 && a.constant.is_zero() {
            return a.times(c);
        }
        // The constant is added after the product, which takes it in then.
        let constant = a.constant.times(c)?;
        let terms = Affine { constant: Factor::Number(0.0), ..a };
        let id = self.closed(&terms);
        Some(Affine { constant, ..Affine::node(id).times(c)? })
    }

    fn turned(&mut self, a: Affine, k: i64, slots: usize) -> Option<Affine> {
        if k == 0 {
            return Some(a);
        }
        if a.terms.len() > 1 && !self.rules.turned_sums {
            let (id, c) = self.without_scalar(a);
            return Affine::node(self.turned_node(id, k, slots)).times(&Factor::Number(c));
        }
        let mut sum = Affine { terms: BTreeMap::new(), constant: a.constant.turned(k)? };
        for (id, f) in a.terms {
            let turned = Affine::node(self.turned_node(id, k, slots)).times(&f.turned(k)?)?;
            sum = sum.plus(&turned)?;
        }
        Some(sum)
    }

    fn turned_node(&mut self, id: Id, k: i64, slots: usize) -> Id {
        let (inner, k) = match self.nodes[id] {
            Node::Turned(inner, first) if !self.within.contains_key(&id) => {
                (inner, (first + k).rem_euclid(slots as i64))
            }
            _ => (id, k),
        };
        if k == 0 { inner } else { self.node(Node::Turned(inner, k)) }
    }

    fn product(&mut self, a: Affine, b: Affine) -> Option<Affine> {
        let ((a, c), (b, d)) = (self.without_scalar(a), self.without_scalar(b));
        let mut factors: Vec<Id> = Vec::new();
        for id in [a, b] {
            match &self.nodes[id] {
                Node::Product(inner) if self.rules.products && !self.within.contains_key(&id) => {
                    factors.extend(inner);
                }
                _ => factors.push(id),
            }
        }
        if factors.len() > TERMS {
            return None;
        }
        factors.sort_unstable();
        Affine::node(self.node(Node::Product(factors))).times(&Factor::Number(c * d))
    }

    /// A node and a number whose product this is; the number is 1 unless it takes a level.
    fn without_scalar(&mut self, a: Affine) -> (Id, f64) {
        if let Some(multiple) = a.multiple() {
            return multiple;
        }
        let size = |f: &Factor| match f {
            Factor::Number(c) => c.abs(),
            Factor::Vector(_) => f64::INFINITY,
        };
        let c = a.terms.values().map(size).fold(f64::INFINITY, f64::min);
        // x − Σ/n is (n·x − Σ)/n.
        let whole = |f: &Factor| match f {
            Factor::Number(x) => is_free_factor(x / c) && (x / c).abs() <= MULTIPLE && (x / c) * c == *x,
            Factor::Vector(_) => false,
        };
        if c.is_infinite() || is_free_factor(c) || !a.constant.is_zero() || !a.terms.values().all(whole) {
            return (self.closed(&a), 1.0);
        }
        let terms = a.terms.iter().map(|(&id, f)| match f {
            Factor::Number(x) => (id, Factor::Number(x / c)),
            Factor::Vector(v) => (id, Factor::Vector(v.clone())),
        });
        let inner = Affine { terms: terms.collect(), constant: Factor::Number(0.0) };
        (self.closed(&inner), c)
    }

    /// The node of a form.
    fn closed(&mut self, a: &Affine) -> Id {
        if let Some(id) = a.alone() {
            return id;
        }
        let alike = self.alike.entry(a.terms.keys().copied().collect()).or_default();
        let at = match alike.iter().find(|&&at| self.sums[at] == *a) {
            Some(&at) => at,
            None => {
                alike.push(self.sums.len());
                self.sums.push(a.clone());
                self.sums.len() - 1
            }
        };
        self.node(Node::Sums(at))
    }

    fn node(&mut self, node: Node) -> Id {
        let next = self.nodes.len();
        let id = *self.known.entry(node.clone()).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }
}

/// A constant of the program; `None` for what is no constant, or free in a way of its own.
fn constant(p: &Program, v: Value) -> Option<Factor> {
    let Op::Const(c) = &p.instr(v).op else { return None };
    match c {
        Constant::Complex(z) if z.im != 0.0 => None,
        Constant::List(numbers) => Some(Factor::Vector(numbers.clone())),
        Constant::Table(id) => Some(Factor::Vector(p.table(*id)?.numbers.clone().into())),
        scalar => scalar.as_real_scalar().map(Factor::Number),
    }
}
