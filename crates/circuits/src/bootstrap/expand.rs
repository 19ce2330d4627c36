//! Circuits in place of the bootstrappings of a program.

use ringmill_program::he::{Builder, HeError, Like, Op, Program, Value};

use super::Bootstrap;
use crate::CircuitError;

/// Copies a traced program, instruction by instruction.
pub(super) struct Copy<'a> {
    old: &'a Program,
    pub(super) b: Builder,
    pub(super) new: Vec<Value>,
}

impl<'a> Copy<'a> {
    pub(super) fn of(old: &'a Program) -> Result<Self, HeError> {
        let mut b = Builder::traced(old.name(), old.slots())?;
        for table in old.tables() {
            b.table(&table.name, table.numbers.clone())?;
        }
        Ok(Self { old, b, new: Vec::with_capacity(old.instrs().len()) })
    }

    /// What is pushed from here on belongs to the place of `v`.
    pub(super) fn stand_at(&mut self, v: Value) {
        let instr = self.old.instr(v);
        self.b.region(instr.region.map_or("", |r| &self.old.regions()[r.0 as usize]));
        self.b.source(instr.source.clone());
    }

    pub(super) fn promise(&mut self, v: Value) -> Result<(), HeError> {
        let (instr, new) = (self.old.instr(v), self.new[v.index()]);
        if let Some(bound) = instr.within {
            self.b.promise(new, bound)?;
        }
        match instr.like {
            Some(like) => self.b.resemble(new, Like { value: self.new[like.value.index()], ..like }),
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<Program, HeError> {
        for out in self.old.outputs() {
            self.b.source(out.source.clone());
            self.b.output(&out.name, self.new[out.value.index()])?;
        }
        self.b.finish()
    }
}

/// The program without its bootstrappings: each of them gives the elements that it takes.
///
/// # Errors
/// None for a verified traced program.
pub fn unmarked(p: &Program) -> Result<Program, CircuitError> {
    let mut copy = Copy::of(p)?;
    for (v, instr) in p.values() {
        copy.stand_at(v);
        let value = match instr.op.map_operands(|a| copy.new[a.index()]) {
            Op::Bootstrap { a, .. } => a,
            op => copy.b.push(op)?,
        };
        copy.new.push(value);
        match (&instr.op, instr.within) {
            (Op::Bootstrap { .. }, Some(bound)) => copy.b.promise(value, bound)?,
            (Op::Bootstrap { .. }, None) => {}
            _ => copy.promise(v)?,
        }
    }
    Ok(copy.finish()?)
}

/// The program with a circuit in place of every `bootstrap` and `lookup`, of messages as large as `size` says, or the next power of two.
/// `config` gives the arrangement for the iterations that one asks for; those that ask for none take fewer where messages are too
/// small for all.
///
/// # Errors
/// As [`Bootstrap::apply`].
pub fn expand(
    p: &Program,
    config: impl Fn(Option<u32>) -> Bootstrap,
    size: impl Fn(Value) -> f64,
) -> Result<Program, CircuitError> {
    let mut copy = Copy::of(p)?;
    for (v, instr) in p.values() {
        copy.stand_at(v);
        let value = match (&instr.op, instr.op.map_operands(|a| copy.new[a.index()])) {
            (&Op::Bootstrap { a: old, iterations }, Op::Bootstrap { a, .. }) => {
                let config = config(iterations);
                let bound = size(old);
                let config = if iterations.is_some() { config.up_to(bound) } else { config.suited_to(bound) };
                config.apply(&mut copy.b, a)?
            }
            (_, Op::Lookup { a, table }) => config(None).look_up(&mut copy.b, a, &table)?,
            (_, op) => copy.b.push(op)?,
        };
        copy.new.push(value);
        copy.promise(v)?;
    }
    Ok(copy.finish()?)
}
