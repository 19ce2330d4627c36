//! Instructions that need no step of their own: the one instruction that reads their value does their work too.
//!
//! | instruction | read by | becomes |
//! |---|---|---|
//! | `lift` | `ntt` | what the first stage of the transform does to the words that it loads; of an input with few coefficients that matter, what a short transform begins with |
//! | `intt` | `mul_const` | a transform whose last stage multiplies by another constant |
//! | `sub_mul_const`, `mul_const` | `add` | one pass over the operands of both |

use ringmill_program::limb::{Domain, Instruction, Opcode, Source, ValueId};
use ringmill_ring::LimbRing;

use super::flow::Flow;
use super::group::Groups;
use super::shared::Shared;

/// Which values are absorbed by the instruction that reads them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absorb<'a> {
    pub(super) flow: &'a Flow<'a>,
    pub(super) groups: &'a Groups,
    pub(super) shared: &'a Shared,
    pub(super) rings: &'a [LimbRing],
}

impl Absorb<'_> {
    /// The instruction whose steps compute v on the way, if there is one.
    pub(super) fn by(self, v: ValueId) -> Option<usize> {
        let reader = self.only_reader(v)?;
        let w = self.flow.program.defined(reader)?;
        let (from, to) = (self.flow.definer(v), self.flow.program.opcode(reader));
        let absorbed = match (self.flow.program.opcode(from), to) {
            (Opcode::Lift, Opcode::Ntt) => self.short(from).is_some() || self.lifts_on_load(from, w),
            (Opcode::Intt, Opcode::MulConst) => true,
            (Opcode::SubMulConst | Opcode::MulConst, Opcode::Add) => {
                // In the coefficient domain the multiplication may have absorbed a transform itself.
                self.flow.program.value_type(v).domain() == Domain::Eval
                    && self.groups.ready(v) == self.groups.ready(w)
                    && self.first_to_be_added(reader) == Some(v)
            }
            _ => false,
        };
        absorbed.then_some(reader)
    }

    /// log2 of the coefficients that matter in the input limb that instruction i reads, if not all of them do.
    pub(super) fn short(self, i: usize) -> Option<u32> {
        let Some(Source::Input(input)) = self.flow.operands(i).next() else { return None };
        let log_stride = self.flow.program.input_group(input).log_stride;
        (log_stride > 0).then(|| self.flow.program.log_n() - log_stride)
    }

    /// The instruction of the same group that alone reads v.
    fn only_reader(self, v: ValueId) -> Option<usize> {
        let [reader] = self.shared.readers(v) else { return None };
        let w = self.flow.program.defined(*reader)?;
        let alone = !self.shared.leaves(v) && self.groups.of(v) == self.groups.of(w);
        alone.then_some(*reader)
    }

    /// log2 of the points of transform i, if its operand has but few coefficients that matter.
    pub(super) fn short_transform(self, i: usize) -> Option<u32> {
        let lift = self.flow.values(i).find(|&v| self.by(v) == Some(i)).map(|v| self.flow.definer(v));
        self.short(lift.unwrap_or(i))
    }

    /// For each value of another group that a transform alone reads, a conversion above all, its heir: the transform, which
    /// is made where the value stands.
    pub(super) fn heirs(self) -> Vec<Option<ValueId>> {
        let program = self.flow.program;
        let mut heirs = vec![None; program.values()];
        for i in self.flow.instructions().filter(|&i| program.opcode(i) == Opcode::Ntt) {
            let (Some(Source::Value(v)), Some(w)) = (self.flow.operands(i).next(), program.defined(i)) else {
                continue;
            };
            let elsewhere = self.groups.of(v) != self.groups.of(w) && self.shared.readers(v) == [i];
            if elsewhere && self.flow.home(v).is_none() && self.flow.home(w).is_none() {
                heirs[v.index()] = Some(w);
            }
        }
        heirs
    }

    fn lifts_on_load(self, lift: usize, w: ValueId) -> bool {
        let program = self.flow.program;
        let Instruction::Lift { src, .. } = program.instruction(lift) else { return false };
        let (Some(from), Some(to)) = (program.operand_type(src).modulus(), program.value_type(w).modulus())
        else {
            return false;
        };
        self.rings[to.index()].plan().centred_lift(program.modulus(from)).is_some()
    }

    /// The first operand of a sum that is a product by a constant, read by the sum alone.
    fn first_to_be_added(self, add: usize) -> Option<ValueId> {
        self.flow.values(add).find(|&v| {
            let op = self.flow.program.opcode(self.flow.definer(v));
            matches!(op, Opcode::SubMulConst | Opcode::MulConst) && self.only_reader(v) == Some(add)
        })
    }
}
