//! Where a program bootstraps: asked for by its author, or needed because levels run out.

use std::collections::HashMap;

use ringmill_program::he::{Builder, Constant, HeError, Like, Op, Program, Source, Value, is_free_factor};

use super::Bootstrap;
use crate::CircuitError;

/// A bootstrapping that the compiler placed.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The place in the user's source of the value that is bootstrapped.
    pub of: Option<Source>,
    /// The place of the product that had no level left.
    pub before: Option<Source>,
    /// Products since the inputs or the last bootstrapping.
    pub depth: u32,
}

impl std::fmt::Display for Placed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = |s: &Option<Source>| s.as_ref().map_or("a value".to_owned(), ToString::to_string);
        write!(
            f,
            "{}: bootstrapped at depth {}, because the product of {} has no level left",
            place(&self.of),
            self.depth,
            place(&self.before)
        )
    }
}

/// Copies a traced program, instruction by instruction.
struct Copy<'a> {
    old: &'a Program,
    b: Builder,
    new: Vec<Value>,
}

impl<'a> Copy<'a> {
    fn of(old: &'a Program) -> Result<Self, HeError> {
        let mut b = Builder::traced(old.name(), old.slots())?;
        for table in old.tables() {
            b.table(&table.name, table.numbers.clone())?;
        }
        Ok(Self { old, b, new: Vec::with_capacity(old.instrs().len()) })
    }

    /// What is pushed from here on belongs to the place of `v`.
    fn stand_at(&mut self, v: Value) {
        let instr = self.old.instr(v);
        self.b.region(instr.region.map_or("", |r| &self.old.regions()[r.0 as usize]));
        self.b.source(instr.source.clone());
    }

    fn promise(&mut self, v: Value) -> Result<(), HeError> {
        let (instr, new) = (self.old.instr(v), self.new[v.index()]);
        if let Some(bound) = instr.within {
            self.b.promise(new, bound)?;
        }
        match instr.like {
            Some(Like { value, off }) => self.b.resemble(new, self.new[value.index()], off),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Program, HeError> {
        for out in self.old.outputs() {
            self.b.source(out.source.clone());
            self.b.output(&out.name, self.new[out.value.index()])?;
        }
        self.b.finish()
    }
}

/// The program with a circuit in place of every `bootstrap`, of messages as large as `size` says, or the next power of two.
///
/// # Errors
/// As [`Bootstrap::apply`].
pub fn expand(p: &Program, config: &Bootstrap, size: impl Fn(Value) -> f64) -> Result<Program, CircuitError> {
    let mut copy = Copy::of(p)?;
    for (v, instr) in p.values() {
        copy.stand_at(v);
        let value = match (&instr.op, instr.op.map_operands(|a| copy.new[a.index()])) {
            (&Op::Bootstrap(old), Op::Bootstrap(a)) => config.up_to(size(old)).apply(&mut copy.b, a)?,
            (_, op) => copy.b.push(op)?,
        };
        copy.new.push(value);
        copy.promise(v)?;
    }
    Ok(copy.finish()?)
}

/// Whether a product costs a level.
fn costs(p: &Program, op: &Op) -> bool {
    let free = |v: Value| match &p.instr(v).op {
        Op::Const(c @ (Constant::Real(_) | Constant::Complex(_))) => {
            c.as_real_scalar().is_some_and(is_free_factor) || c.as_gaussian_integer().is_some()
        }
        _ => false,
    };
    match *op {
        Op::Square(_) => true,
        Op::Mul(a, b) => !free(a) && !free(b),
        _ => false,
    }
}

/// The program with a `bootstrap` wherever `levels` levels would not do, as late as possible: on the operands of the first
/// product on each path that has none left. On a chain of products no choice takes fewer. A value is bootstrapped
/// once for all that use it from there on.
///
/// # Errors
/// None for a verified traced program.
pub fn place(p: &Program, levels: u32) -> Result<(Program, Vec<Placed>), CircuitError> {
    let mut copy = Copy::of(p)?;
    let mut depths: Vec<u32> = Vec::with_capacity(p.instrs().len());
    let mut fresh: HashMap<Value, Value> = HashMap::new();
    let mut placed = Vec::new();
    for (v, instr) in p.values() {
        copy.stand_at(v);
        let costs = costs(p, &instr.op);
        if costs {
            for &a in instr.op.operands().as_slice() {
                if p.instr(a).ty.is_ct() && depths[a.index()] >= levels && !fresh.contains_key(&a) {
                    let of = p.instr(a).source.clone();
                    placed.push(Placed { of, before: instr.source.clone(), depth: depths[a.index()] });
                    let bootstrapped = copy.b.push(Op::Bootstrap(copy.new[a.index()]))?;
                    fresh.insert(a, bootstrapped);
                }
            }
        }
        let depth_of = |a: Value| if fresh.contains_key(&a) { 0 } else { depths[a.index()] };
        let below = instr.op.operands().as_slice().iter().map(|&a| depth_of(a)).max().unwrap_or(0);
        depths.push(match instr.op {
            Op::Bootstrap(_) => 0,
            _ => below + u32::from(costs),
        });
        let new = &copy.new;
        let op = instr.op.map_operands(|a| fresh.get(&a).copied().unwrap_or(new[a.index()]));
        let value = copy.b.push(op)?;
        copy.new.push(value);
        copy.promise(v)?;
    }
    Ok((copy.finish()?, placed))
}
