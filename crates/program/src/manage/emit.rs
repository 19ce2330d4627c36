//! Writes the managed program.
//!
//! # Pass: manage levels and scales
//!
//! - Purpose: every value gets its level and exact scale, and the relinearisations, rescales, level drops and corrections of
//!   scale that make its operations legal.
//! - Requires: a traced program that is simplified, and a chain with at least as many levels as the program is deep.
//! - Guarantees: a verified managed program with the same inputs and outputs, whose slots are those of the traced program up to
//!   the error of CKKS. Sums of products are relinearised and rescaled once. All values at rest at one depth have one scale.
//! - Example:
//!
//! ```text
//! he @example traced slots 8
//! %x = input "x"
//! %y = input "y"
//! %a = mul %x, %y
//! %b = square %x
//! %c = add %a, %b
//! output "z", %c
//! end
//! ```

use std::collections::BTreeSet;

use ringmill_ckks::Generator;

use super::dead::remove_dead;
use super::few_keys::{at_hand, few_keys};
use super::levels::{Form, Levels, Product, cipher_first, product};
use super::numbering::Numbering;
use super::place::{Place, place};
use super::written_out::written_out;
use super::{Managed, Summary, hoist, simplify};
use crate::he::{Builder, Chain, HeError, Level, Like, Op, Program, Rule, Scale, Type, Value, verify};

/// Choices of [`manage`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Level of the ciphertexts given as inputs; if `None`, the level at which the computation starts.
    pub input_level: Option<Level>,
    /// Their scale; the chain's if `None`.
    pub input_scale: Option<Scale>,
    /// Least level of outputs. If `None`, the least whose modulus exceeds the scale by two bits.
    pub output_level: Option<Level>,
    /// Compute at the lowest levels that the depth allows: inputs from above are dropped first. Otherwise at the
    /// level of the inputs, or the chain's top.
    pub low: bool,
    /// The most rotation keys that the program may use; one a distance if `None`. Fewer keys cost more
    /// rotations.
    pub rotation_keys: Option<usize>,
    /// Distances at which there are rotation keys already: rotations at others are made of these where few lead there.
    pub at_hand: Option<BTreeSet<i64>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            input_level: None,
            input_scale: None,
            output_level: None,
            low: true,
            rotation_keys: None,
            at_hand: None,
        }
    }
}

/// Manages a traced program for a chain. See the head of [`super`] for what is done.
///
/// # Errors
/// [`Rule::Depth`] if the chain has too few levels, [`Rule::ScaleDrift`] if its primes lie too far from the scale,
/// both with the place in the user's source, [`Rule::RotationKeys`] for too few keys.
pub fn manage(traced: &Program, chain: &Chain, options: &Options) -> Result<Managed, HeError> {
    let p = match (simplify(traced)?, chain.generator()) {
        (p, Generator::Five) => p,
        (p, Generator::Three) => written_out(&p)?,
    };
    let Place { levels, start, input, depth, input_scale, scales } = place(&p, chain, options)?;
    let b = Builder::managed(p.name(), p.slots(), chain.clone())?;
    let inputs = (input, depth, input_scale);
    let mut e = Emitter { p: &p, b, seen: Numbering::default(), start, inputs, scales, done: Vec::new() };
    e.run(&levels)?;
    let mut program = remove_dead(&e.b.finish()?);
    if let Some(most) = options.rotation_keys {
        program = few_keys(&program, most)?;
    }
    if let Some(keys) = &options.at_hand {
        program = at_hand(&program, keys);
    }
    hoist::mark(&mut program);
    verify(&program)?;
    let summary = Summary::new(&program, chain, levels.depth, input, start);
    Ok(Managed { program, summary })
}

/// The least level whose modulus holds values up to `size` at a scale: with a sign, and with a tenth of a bit for their error and
/// for scales that drift. Values below 1 are given two bits as those of 1 are; `None` if no level holds them.
pub fn least_output_level(chain: &Chain, scale: &Scale, size: f64) -> Option<Level> {
    let wanted = scale.log2() + (size.log2() + 1.1).max(2.0);
    let bits = |level: &Level| chain.q_at(*level).iter().map(|&q| (q as f64).log2()).sum::<f64>();
    (0..=chain.top().get()).map(Level::new).find(|level| bits(level) >= wanted)
}

/// A ciphertext of the traced program, in the managed one.
struct Done {
    value: Value,
    form: Form,
    /// The same at rest, once someone asked.
    rest: Option<Value>,
}

struct Emitter<'a> {
    p: &'a Program,
    b: Builder,
    seen: Numbering,
    start: Level,
    /// Level, depth and scale of encrypted inputs.
    inputs: (Level, u32, Scale),
    scales: Vec<Scale>,
    done: Vec<Option<Done>>,
}

impl Emitter<'_> {
    fn run(&mut self, levels: &Levels) -> Result<(), HeError> {
        let p = self.p;
        for table in p.tables() {
            self.b.table(&table.name, table.numbers.clone())?;
        }
        for (v, instr) in p.values() {
            self.stand_at(v);
            let form = levels.forms[v.index()];
            let done = match instr.ty.is_ct() {
                true => Some(Done { value: self.cipher(&instr.op, form)?, form, rest: None }),
                false => None,
            };
            // What is made of the value later, at rest or lifted, has its slots and so its bound.
            if let (Some(done), Some(bound)) = (&done, instr.within) {
                self.b.promise(done.value, bound)?;
            }
            let like = instr
                .like
                .and_then(|like| Some(Like { value: self.done[like.value.index()].as_ref()?.value, ..like }));
            if let (Some(done), Some(like)) = (&done, like)
                && like.value < done.value
            {
                self.b.resemble(done.value, like)?;
            }
            self.done.push(done);
        }
        for out in p.outputs() {
            let value = self.at_rest(out.value)?;
            self.b.source(out.source.clone());
            self.b.output(&out.name, value)?;
        }
        Ok(())
    }

    /// What is pushed from here on belongs to the source place of `v`.
    fn stand_at(&mut self, v: Value) {
        let instr = self.p.instr(v);
        self.b.region(instr.region.map_or("", |r| &self.p.regions()[r.0 as usize]));
        self.b.source(instr.source.clone());
    }

    fn push(&mut self, op: Op) -> Result<Value, HeError> {
        self.seen.push(&mut self.b, op, None)
    }

    fn level(&self, depth: u32) -> Level {
        Level::new(self.start.get() - depth)
    }

    /// The scale of pending values at `depth`: what a rescale brings to that of the next one.
    fn pending_scale(&self, depth: u32) -> Scale {
        let q = self.b.program().chain().and_then(|c| c.level_scale(self.level(depth)));
        match (self.scales.get(depth as usize + 1), q) {
            (Some(next), Some(q)) => next.mul(q),
            _ => self.scales[depth as usize].pow(2),
        }
    }

    fn scale_of(&self, v: Value) -> Scale {
        match self.b.ty(v) {
            Type::Ct(t) => t.scale.clone(),
            Type::Pt(t) => t.scale.clone(),
            _ => Scale::ONE,
        }
    }

    fn form(&self, v: Value) -> Form {
        self.done[v.index()].as_ref().map_or(Form::rest(0), |d| d.form)
    }

    /// The managed value of a traced ciphertext, pending or at rest.
    fn as_is(&self, v: Value) -> Value {
        self.done[v.index()].as_ref().map_or(Value(0), |d| d.value)
    }

    /// The value relinearised and rescaled, at its own depth.
    fn at_rest(&mut self, v: Value) -> Result<Value, HeError> {
        let Some(Done { value, form, rest }) = &self.done[v.index()] else { return Ok(Value(0)) };
        if !form.pending {
            return Ok(*value);
        }
        if let Some(rest) = rest {
            return Ok(*rest);
        }
        let mut value = *value;
        if matches!(self.b.ty(value), Type::Ct(t) if t.parts == 3) {
            value = self.push(Op::Relin(value))?;
        }
        value = self.push(Op::Rescale(value))?;
        if let Some(done) = &mut self.done[v.index()] {
            done.rest = Some(value);
        }
        Ok(value)
    }

    fn dropped(&mut self, value: Value, to: Level) -> Result<Value, HeError> {
        match self.b.ty(value) {
            Type::Ct(t) if t.level > to => self.push(Op::Drop(value, to)),
            _ => Ok(value),
        }
    }

    /// The value pending at `depth`: times 1 at the scale that is missing.
    fn lifted(&mut self, v: Value, depth: u32) -> Result<Value, HeError> {
        if self.form(v) == Form::pending(depth) {
            return Ok(self.as_is(v));
        }
        let rest = self.at_rest(v)?;
        let low = self.dropped(rest, self.level(depth))?;
        let scale = self.pending_scale(depth).div(&self.scale_of(low));
        self.push(Op::MulScalar { a: low, c: 1.0, scale })
    }

    /// The value at rest at `depth`, with the scale of that depth.
    fn lowered(&mut self, v: Value, depth: u32) -> Result<Value, HeError> {
        if self.form(v).rests_at() == depth {
            return self.at_rest(v);
        }
        let lifted = self.lifted(v, depth - 1)?;
        self.push(Op::Rescale(lifted))
    }

    /// The value in the given form.
    fn in_form(&mut self, v: Value, form: Form) -> Result<Value, HeError> {
        if form.pending { self.lifted(v, form.depth) } else { self.lowered(v, form.depth) }
    }

    /// A plaintext operand encoded at a level and scale.
    fn encoded(&mut self, v: Value, level: Level, scale: Scale) -> Result<Value, HeError> {
        let op = self.p.instr(v).op.clone();
        self.seen.push(&mut self.b, op, Some(Type::pt(level, scale)))
    }

    fn cipher(&mut self, op: &Op, form: Form) -> Result<Value, HeError> {
        match *op {
            Op::Input(_) => {
                let (level, depth, scale) = self.inputs.clone();
                let v = self.seen.push(&mut self.b, op.clone(), Some(Type::ct(2, level, scale)))?;
                self.dropped(v, self.level(depth))
            }
            Op::Add(a, b) | Op::Sub(a, b) => self.sum(op, a, b, form),
            Op::Mul(a, b) => self.product(a, b, form),
            Op::Square(a) => {
                let a = self.lowered(a, form.depth)?;
                self.push(Op::Square(a))
            }
            Op::Neg(a) => {
                let a = self.in_form(a, form)?;
                self.push(Op::Neg(a))
            }
            Op::Rotate { a, k, .. } => {
                let a = self.turned(a, form)?;
                self.push(Op::Rotate { a, k, hoist: None })
            }
            Op::Conj { a, .. } => {
                let a = self.turned(a, form)?;
                self.push(Op::Conj { a, hoist: None })
            }
            Op::Raise { a, bits } => self.raise(a, bits),
            _ => Err(Rule::WrongStage { op: op.kind().word(), stage: "simplified" }.into()),
        }
    }

    /// The operand of a rotation that comes out in the given form.
    fn turned(&mut self, a: Value, form: Form) -> Result<Value, HeError> {
        if form.pending { self.in_form(a, form) } else { self.at_rest(a) }
    }

    /// The operand from level 0 to the top, then the sum over the automorphisms that fix the packed slots: it keeps
    /// the message and of the multiples of q_0 those of its own coefficients.
    fn raise(&mut self, a: Value, bits: u32) -> Result<Value, HeError> {
        let a = self.lowered(a, self.start.get())?;
        let mut sum = self.push(Op::Raise { a, bits })?;
        let all = self.b.program().chain().map_or(0, Chain::slots);
        let turns = std::iter::successors(Some(self.p.slots()), |k| Some(2 * k)).take_while(|&k| k < all);
        for k in turns {
            let turned = self.push(Op::Rotate { a: sum, k: k as i64, hoist: None })?;
            sum = self.push(Op::Add(sum, turned))?;
        }
        Ok(sum)
    }

    fn sum(&mut self, op: &Op, a: Value, b: Value, form: Form) -> Result<Value, HeError> {
        let minus = matches!(op, Op::Sub(..));
        let is_ct = |v: Value| self.p.instr(v).ty.is_ct();
        if is_ct(a) && is_ct(b) {
            let (x, y) = (self.in_form(a, form)?, self.in_form(b, form)?);
            return self.push(if minus { Op::Sub(x, y) } else { Op::Add(x, y) });
        }
        // p − a = (−a) + p.
        let swapped = !is_ct(a);
        let (ct, pt) = if swapped { (b, a) } else { (a, b) };
        let mut x = self.in_form(ct, form)?;
        if minus && swapped {
            x = self.push(Op::Neg(x))?;
        }
        let minus = minus && !swapped;
        if let Op::Const(c) = &self.p.instr(pt).op
            && let Some(c) = c.as_real_scalar()
        {
            return self.push(Op::AddScalar(x, if minus { -c } else { c }));
        }
        let Type::Ct(t) = self.b.ty(x).clone() else { return Ok(x) };
        let pt = self.encoded(pt, t.level, t.scale)?;
        self.push(if minus { Op::SubPlain(x, pt) } else { Op::AddPlain(x, pt) })
    }

    fn product(&mut self, a: Value, b: Value, form: Form) -> Result<Value, HeError> {
        let (a, b) = cipher_first(self.p, a, b);
        let kind = product(self.p, b);
        match kind {
            Product::Ciphers => {
                let (x, y) = (self.lowered(a, form.depth)?, self.lowered(b, form.depth)?);
                return self.push(Op::Mul(x, y));
            }
            Product::Integer(c) => {
                let a = self.in_form(a, form)?;
                return self.push(Op::MulScalar { a, c, scale: Scale::ONE });
            }
            Product::Gaussian => {
                let a = self.in_form(a, form)?;
                let pt = self.encoded(b, self.level(form.depth), Scale::ONE)?;
                return self.push(Op::MulPlain(a, pt));
            }
            Product::Scalar(_) | Product::Vector => {}
        }
        let rest = self.at_rest(a)?;
        let level = self.level(form.depth);
        let x = self.dropped(rest, level)?;
        let scale = self.pending_scale(form.depth).div(&self.scale_of(x));
        if let Product::Scalar(c) = kind {
            return self.push(Op::MulScalar { a: x, c, scale });
        }
        let pt = self.encoded(b, level, scale)?;
        self.push(Op::MulPlain(x, pt))
    }
}
