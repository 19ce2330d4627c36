//! The depth of every value of a traced program.
//!
//! Depth counts rescales since the inputs. A value is *at rest* at depth t (two parts, rescaled) or *pending* at
//! depth t (a product, perhaps of three parts, that will be at rest at t + 1 once it is resolved).

use crate::he::{Op, Program, Value, is_free_factor};

/// Where a ciphertext stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// Rescales since the inputs.
    pub(super) depth: u32,
    /// Whether relinearisation and rescaling are still to come.
    pub(super) pending: bool,
}

impl Form {
    pub(super) fn rest(depth: u32) -> Self {
        Self { depth, pending: false }
    }

    pub(super) fn pending(depth: u32) -> Self {
        Self { depth, pending: true }
    }

    /// The depth at which it is at rest.
    pub(super) fn rests_at(self) -> u32 {
        self.depth + u32::from(self.pending)
    }

    /// The form of a sum. A value at rest at t or above is lifted to pending at t by a product with 1.
    pub(super) fn join(self, other: Self) -> Self {
        match (self.pending, other.pending) {
            (true, true) => Self::pending(self.depth.max(other.depth)),
            (false, false) => Self::rest(self.depth.max(other.depth)),
            (true, false) if other.depth <= self.depth => self,
            (true, false) => other,
            (false, true) => other.join(self),
        }
    }
}

/// How a product of two values is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Product {
    /// Of two ciphertexts.
    Ciphers,
    /// By a small integer: no depth.
    Integer(f64),
    /// By a real number.
    Scalar(f64),
    /// By a vector or a complex number.
    Vector,
    /// By a + bi in every slot, a and b small integers: no depth.
    Gaussian,
}

impl Product {
    /// Whether it costs no depth.
    fn is_free(self) -> bool {
        matches!(self, Self::Integer(_) | Self::Gaussian)
    }
}

/// Classifies `mul a, b`, a being a ciphertext.
pub(super) fn product(p: &Program, b: Value) -> Product {
    let instr = p.instr(b);
    if instr.ty.is_ct() {
        return Product::Ciphers;
    }
    match &instr.op {
        Op::Const(c) => match c.as_real_scalar() {
            Some(x) if is_free_factor(x) => Product::Integer(x),
            Some(x) => Product::Scalar(x),
            None if c.as_gaussian_integer().is_some() => Product::Gaussian,
            None => Product::Vector,
        },
        _ => Product::Vector,
    }
}

/// The ciphertext first, of the operands of a commutative operation.
pub(super) fn cipher_first(p: &Program, a: Value, b: Value) -> (Value, Value) {
    if p.instr(a).ty.is_ct() { (a, b) } else { (b, a) }
}

/// The form of every ciphertext of a simplified program; a placeholder for plaintexts.
pub(super) struct Levels {
    pub(super) forms: Vec<Form>,
    /// Greatest depth at rest over all outputs.
    pub(super) depth: u32,
    /// The output that has it.
    pub(super) deepest: Option<Value>,
}

impl Levels {
    /// `inputs` is the depth at which inputs rest: zero unless something is raised, above which there is depth then.
    /// `bottom` is the depth of level 0, where operands of a raise rest at the latest.
    pub(super) fn new(p: &Program, inputs: u32, bottom: u32) -> Self {
        let pending = rotated_pending(p);
        let early = forward(p, (&vec![0; p.instrs().len()], &pending), inputs);
        let late = backward(p, (&early, &joined(p, &early, &pending)), bottom);
        let forms = forward(p, (&late, &pending), inputs);
        let rests_at = |v: &Value| forms[v.index()].rests_at();
        let deepest = p.outputs().iter().map(|o| o.value).max_by_key(rests_at);
        let depth = deepest.as_ref().map_or(0, rests_at);
        Self { forms, depth, deepest }
    }
}

/// Earliest forms, except that products are not computed before depth `late`.
fn forward(p: &Program, (late, pending): (&[u32], &[bool]), inputs: u32) -> Vec<Form> {
    let mut forms = vec![Form::rest(inputs); p.instrs().len()];
    let resolved = resolved_anyway(p, pending);
    for (v, instr) in p.values().filter(|(_, i)| i.ty.is_ct()) {
        // A value that someone resolves is added, negated and so on at rest: its resolution is then shared.
        let at = |v: Value| match resolved[v.index()] {
            true => Form::rest(forms[v.index()].rests_at()),
            false => forms[v.index()],
        };
        forms[v.index()] = match instr.op {
            Op::Add(a, b) | Op::Sub(a, b) => {
                let (a, b) = cipher_first(p, a, b);
                if p.instr(b).ty.is_ct() { at(a).join(at(b)) } else { at(a) }
            }
            Op::Mul(a, b) => {
                let (a, b) = cipher_first(p, a, b);
                match product(p, b) {
                    Product::Ciphers => {
                        Form::pending(at(a).rests_at().max(at(b).rests_at()).max(late[v.index()]))
                    }
                    Product::Integer(_) | Product::Gaussian => at(a),
                    Product::Scalar(_) | Product::Vector => {
                        Form::pending(at(a).rests_at().max(late[v.index()]))
                    }
                }
            }
            Op::Square(a) => Form::pending(at(a).rests_at().max(late[v.index()])),
            Op::Rotate { a, .. } | Op::Conj { a, .. } if pending[v.index()] => at(a),
            Op::Rotate { a, .. } | Op::Conj { a, .. } | Op::Sum { a, .. } => Form::rest(at(a).rests_at()),
            Op::Neg(a) => at(a),
            Op::Raise { .. } => Form::rest(0),
            Op::Lookup { ref table, .. } => Form::rest(inputs + table.depth()),
            _ => Form::rest(inputs),
        };
    }
    forms
}

/// For each product of ciphertexts the depth at which the sum is pending that alone reads it, if that is greater than its own and
/// the product is better computed there. Then its operands are lowered, a rescale at most, and its relinearisation is that of the
/// sum.
fn joined(p: &Program, early: &[Form], pending: &[bool]) -> Vec<u32> {
    let (resolved, uses) = (resolved_anyway(p, pending), p.use_counts());
    // Sums of products with plaintexts: they can be computed at any depth.
    let mut plain = vec![false; uses.len()];
    for (v, instr) in p.values().filter(|(_, i)| i.ty.is_ct()) {
        plain[v.index()] = match instr.op {
            Op::Mul(a, b) => !matches!(product(p, cipher_first(p, a, b).1), Product::Ciphers),
            Op::Add(a, b) | Op::Sub(a, b) => {
                [a, b].iter().all(|x| plain[x.index()] || !p.instr(*x).ty.is_ct())
            }
            _ => false,
        };
    }
    let mut at: Vec<u32> = vec![u32::MAX; uses.len()];
    let mut found = vec![0; uses.len()];
    for (v, instr) in p.values().rev().filter(|(_, i)| i.ty.is_ct()) {
        let own = early[v.index()];
        let depth = match at[v.index()] {
            u32::MAX => own.depth,
            at => at.max(own.depth),
        };
        let additive = match instr.op {
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) => true,
            Op::Mul(a, b) => product(p, cipher_first(p, a, b).1).is_free(),
            _ => false,
        };
        let alone = own.pending && !resolved[v.index()];
        for a in instr.op.operands().as_slice() {
            // What is resolved stays where it is, and what is read by anything else.
            at[a.index()] = match additive && own.pending {
                true => at[a.index()].min(if alone { depth } else { own.depth }),
                false => 0,
            };
        }
        let dear =
            |x: &Value| early[x.index()].rests_at() < depth && !(plain[x.index()] && uses[x.index()] == 1);
        let rescales = match instr.op {
            Op::Mul(a, b) if p.instr(a).ty.is_ct() && p.instr(b).ty.is_ct() => {
                [a, b].iter().filter(|x| dear(x)).count()
            }
            Op::Square(_) => 1,
            _ => continue,
        };
        if alone && depth > own.depth && rescales <= 1 {
            found[v.index()] = depth;
        }
    }
    found
}

/// Rotations of sums of products with plaintexts that nothing else reads, themselves added to such sums and nothing else: the
/// giant steps of a linear map. They go before the rescale, of which all of them then take one, with its error.
fn rotated_pending(p: &Program) -> Vec<bool> {
    let uses = p.use_counts();
    // Sums in which some term is such a product, perhaps rotated, and none is a product of ciphertexts.
    let mut sums = vec![false; uses.len()];
    let mut ciphers = vec![false; uses.len()];
    let mut found = vec![false; uses.len()];
    for (v, instr) in p.values().filter(|(_, i)| i.ty.is_ct()) {
        let i = v.index();
        match instr.op {
            Op::Mul(a, b) => match product(p, cipher_first(p, a, b).1) {
                Product::Ciphers => ciphers[i] = true,
                kind if kind.is_free() => {
                    let a = cipher_first(p, a, b).0;
                    (sums[i], ciphers[i]) = (sums[a.index()], ciphers[a.index()]);
                }
                _ => sums[i] = true,
            },
            Op::Square(_) => ciphers[i] = true,
            Op::Add(a, b) | Op::Sub(a, b) => {
                sums[i] = sums[a.index()] || sums[b.index()];
                ciphers[i] = ciphers[a.index()] || ciphers[b.index()];
            }
            Op::Rotate { a, .. } | Op::Conj { a, .. } => {
                found[i] = uses[a.index()] == 1 && sums[a.index()] && !ciphers[a.index()];
                sums[i] = found[i];
            }
            _ => {}
        }
    }
    for out in p.outputs() {
        found[out.value.index()] = false;
    }
    for instr in p.instrs() {
        let rests = match instr.op {
            // The other operand is to be rescaled anyway.
            Op::Add(a, b) | Op::Sub(a, b) => {
                [(a, !sums[b.index()]), (b, !sums[a.index()])].map(|(v, rests)| rests.then_some(v))
            }
            _ => {
                let operands = instr.op.operands();
                operands.as_slice().iter().for_each(|a| found[a.index()] = false);
                continue;
            }
        };
        rests.into_iter().flatten().for_each(|v| found[v.index()] = false);
    }
    found
}

/// Values that some use needs at rest, whatever their form.
fn resolved_anyway(p: &Program, pending: &[bool]) -> Vec<bool> {
    let mut resolved = vec![false; p.instrs().len()];
    for (v, instr) in p.values() {
        let additive = match instr.op {
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) => true,
            Op::Rotate { .. } | Op::Conj { .. } => pending[v.index()],
            Op::Mul(a, b) => {
                let (_, b) = cipher_first(p, a, b);
                product(p, b).is_free()
            }
            _ => false,
        };
        for v in instr.op.operands().as_slice().iter().filter(|_| !additive) {
            resolved[v.index()] = true;
        }
    }
    for out in p.outputs() {
        resolved[out.value.index()] = true;
    }
    resolved
}

/// For each product with a plaintext, the greatest depth that delays nothing: one above where its result must rest. For each of
/// two ciphertexts that of `joined`.
fn backward(p: &Program, (early, joined): (&[Form], &[u32]), bottom: u32) -> Vec<u32> {
    let mut late = vec![0; early.len()];
    // The depth at which a value must be at rest, at the latest.
    let mut need = vec![u32::MAX; early.len()];
    let lower = |need: &mut Vec<u32>, v: Value, d: u32| need[v.index()] = need[v.index()].min(d);
    for out in p.outputs() {
        lower(&mut need, out.value, early[out.value.index()].rests_at());
    }
    for (v, instr) in p.values().rev().filter(|(_, i)| i.ty.is_ct()) {
        let (own, form) = (need[v.index()], early[v.index()]);
        if own == u32::MAX {
            continue;
        }
        match instr.op {
            Op::Add(a, b) | Op::Sub(a, b) => {
                lower(&mut need, a, own);
                lower(&mut need, b, own);
            }
            Op::Neg(a) => lower(&mut need, a, own),
            Op::Mul(a, b) => {
                let (a, b) = cipher_first(p, a, b);
                match product(p, b) {
                    Product::Ciphers => {
                        late[v.index()] = joined[v.index()];
                        let depth = form.depth.max(late[v.index()]);
                        lower(&mut need, a, depth);
                        lower(&mut need, b, depth);
                    }
                    Product::Integer(_) | Product::Gaussian => lower(&mut need, a, own),
                    Product::Scalar(_) | Product::Vector => {
                        late[v.index()] = own.saturating_sub(1).max(form.depth);
                        lower(&mut need, a, late[v.index()]);
                    }
                }
            }
            Op::Square(a) => {
                late[v.index()] = joined[v.index()];
                lower(&mut need, a, form.depth.max(late[v.index()]));
            }
            Op::Raise { a, .. } => lower(&mut need, a, bottom),
            Op::Rotate { a, .. } | Op::Conj { a, .. } if form.pending => lower(&mut need, a, own),
            Op::Rotate { a, .. } | Op::Conj { a, .. } | Op::Sum { a, .. } => lower(&mut need, a, form.depth),
            _ => {}
        }
    }
    late
}

/// Multiplicative depth: the rescales in a row that [`super::manage`] will insert, to an output or to a value that is
/// bootstrapped, whichever are more.
///
/// Of a program as [`super::simplify`] leaves it; of another it is an upper bound, because simplification joins factors.
pub fn depth(p: &Program) -> u32 {
    let levels = Levels::new(p, 0, u32::MAX);
    let ends = p.instrs().iter().filter_map(|i| match i.op {
        Op::Bootstrap { a, .. } | Op::Lookup { a, .. } => Some(levels.forms[a.index()].rests_at()),
        _ => None,
    });
    ends.fold(levels.depth, u32::max)
}

/// Relinearisations, rotations and conjugations that [`super::manage`] will make of a program as [`super::simplify`] leaves it, on
/// a chain that holds it: sums of products of ciphertexts are relinearised once.
pub fn key_switches(p: &Program) -> usize {
    let levels = Levels::new(p, 0, u32::MAX);
    let forms = &levels.forms;
    let resolved = resolved_anyway(p, &rotated_pending(p));
    // Values of three parts: pending sums with a product of ciphertexts in them.
    let mut three = vec![false; forms.len()];
    let mut joined = vec![false; forms.len()];
    let mut switches = 0;
    for (v, instr) in p.values().filter(|(_, i)| i.ty.is_ct()) {
        three[v.index()] = match instr.op {
            Op::Mul(a, b) => match product(p, cipher_first(p, a, b).1) {
                Product::Ciphers => true,
                kind => kind.is_free() && three[cipher_first(p, a, b).0.index()],
            },
            Op::Square(_) => true,
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) => {
                let operands = instr.op.operands();
                let operands = operands.as_slice().iter().filter(|a| p.instr(**a).ty.is_ct());
                for a in operands.clone().filter(|a| forms[a.index()] != forms[v.index()]) {
                    joined[a.index()] = true;
                }
                forms[v.index()].pending
                    && operands.clone().any(|a| {
                        three[a.index()] && !resolved[a.index()] && forms[a.index()] == forms[v.index()]
                    })
            }
            _ => false,
        };
        switches += usize::from(matches!(instr.op, Op::Rotate { .. } | Op::Conj { .. }));
    }
    switches + (0..forms.len()).filter(|&i| three[i] && (resolved[i] || joined[i])).count()
}
