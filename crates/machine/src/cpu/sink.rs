//! Products and sums of inputs that are computed where they are read: they take no buffer until then.

use ringmill_program::limb::{Domain, Opcode, ValueId};

use super::flow::Flow;

/// Instructions that one value delays at most, itself included: a task can have three such operands.
const MOST: usize = 8;

/// For each value, whether it waits for the only instruction that reads it.
pub(super) fn sink(flow: &Flow<'_>) -> Vec<bool> {
    let program = flow.program;
    let mut readers: Vec<(usize, Option<usize>)> = vec![(0, None); program.values()];
    for i in flow.instructions() {
        for v in flow.values(i) {
            readers[v.index()] = (readers[v.index()].0 + 1, Some(i));
        }
    }
    // How many instructions wait with each value; 0: it does not.
    let mut waiting = vec![0; program.values()];
    for i in flow.instructions() {
        let Some(v) = program.defined(i) else { continue };
        let (count, reader) = readers[v.index()];
        let word_by_word = |i: usize| is_word_by_word(program.opcode(i));
        // The middle term of a product of two ciphertexts.
        let short_dot = |i: usize| program.opcode(i) == Opcode::Dot && program.operands(i).len() <= 4;
        let mut operands = flow.values(i);
        let waits = count == 1
            && flow.home(v).is_none()
            && program.value_type(v).domain() == Domain::Eval
            && (word_by_word(i) || short_dot(i))
            && reader.is_some_and(|reader| word_by_word(reader) && program.defined(reader).is_some())
            && operands.all(|operand: ValueId| waiting[operand.index()] > 0);
        let size = 1 + flow.values(i).map(|operand| waiting[operand.index()]).sum::<usize>();
        waiting[v.index()] = if waits && size <= MOST { size } else { 0 };
    }
    waiting.into_iter().map(|size| size > 0).collect()
}

/// Operations that read and write the same word of limbs of one modulus.
fn is_word_by_word(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::Add
            | Opcode::Sub
            | Opcode::Neg
            | Opcode::Mul
            | Opcode::Mac
            | Opcode::MulConst
            | Opcode::AddConst
            | Opcode::SubMulConst
    )
}
