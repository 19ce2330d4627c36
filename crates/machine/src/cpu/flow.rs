//! What is read, defined and stored where, once copies that need not happen are seen through.

use ringmill_program::limb::{InputId, Instruction, LimbProgram, Operand, OutputId, Source, ValueId};

/// A program without its needless copies: a loaded value is read where the caller keeps it, and a stored value is
/// computed where the caller wants it.
#[derive(Debug)]
pub(super) struct Flow<'p> {
    pub(super) program: &'p LimbProgram,
    /// The input that a value is a copy of.
    loaded: Vec<Option<InputId>>,
    /// The output that a value is computed in.
    home: Vec<Option<OutputId>>,
    /// Instructions that do nothing any more.
    skipped: Vec<bool>,
    /// The instruction that defines each value.
    definers: Vec<u32>,
}

impl<'p> Flow<'p> {
    pub(super) fn new(program: &'p LimbProgram) -> Self {
        let mut flow = Self {
            program,
            loaded: vec![None; program.values()],
            home: vec![None; program.values()],
            skipped: vec![false; program.len()],
            definers: vec![0; program.values()],
        };
        for (i, instruction) in program.instructions().enumerate() {
            if let Some(v) = program.defined(i) {
                flow.definers[v.index()] = i as u32;
            }
            match instruction {
                Instruction::Load { dst, input } => {
                    flow.loaded[dst.index()] = Some(input);
                    flow.skipped[i] = true;
                }
                Instruction::Store { output, src } => {
                    if let Source::Value(v) = flow.resolve(src)
                        && flow.home[v.index()].is_none()
                    {
                        flow.home[v.index()] = Some(output);
                        flow.skipped[i] = true;
                    }
                }
                _ => {}
            }
        }
        flow
    }

    fn resolve(&self, operand: Operand) -> Source {
        match operand.source() {
            Source::Value(v) => self.loaded[v.index()].map_or(Source::Value(v), Source::Input),
            input => input,
        }
    }

    /// Instructions that do something, in order.
    pub(super) fn instructions(&self) -> impl Iterator<Item = usize> {
        (0..self.program.len()).filter(|&i| !self.skipped[i])
    }

    /// What instruction `i` reads.
    pub(super) fn operands(&self, i: usize) -> impl Iterator<Item = Source> {
        self.program.operands(i).iter().map(|&o| self.resolve(o))
    }

    /// The values among them.
    pub(super) fn values(&self, i: usize) -> impl Iterator<Item = ValueId> {
        self.operands(i).filter_map(|o| match o {
            Source::Value(v) => Some(v),
            Source::Input(_) => None,
        })
    }

    /// The instruction that defines a value.
    pub(super) fn definer(&self, v: ValueId) -> usize {
        self.definers[v.index()] as usize
    }

    /// The output that a value is computed in.
    pub(super) fn home(&self, v: ValueId) -> Option<OutputId> {
        self.home[v.index()]
    }
}
