//! Who reads each value, and how many limbs live at once.

use crate::limb::{LimbProgram, Opcode, Operand, ValueId};

/// The instructions that read each value, each once however often it names the value.
#[derive(Debug, Clone)]
pub struct Readers {
    /// Where the readers of value v begin in `list`; one more entry than values.
    first: Vec<u32>,
    list: Vec<u32>,
}

impl Readers {
    /// Collects the readers of all values in two passes.
    pub fn of(program: &LimbProgram) -> Self {
        let mut first = vec![0u32; program.values() + 1];
        for i in 0..program.len() {
            distinct_values(program.operands(i), |v| first[v.index() + 1] += 1);
        }
        for v in 1..first.len() {
            first[v] += first[v - 1];
        }
        let mut next = first.clone();
        let mut list = vec![0; first.last().map_or(0, |&n| n as usize)];
        for i in 0..program.len() {
            distinct_values(program.operands(i), |v| {
                list[next[v.index()] as usize] = i as u32;
                next[v.index()] += 1;
            });
        }
        Self { first, list }
    }

    /// The instructions that read a value, in the order of the program.
    pub fn of_value(&self, v: ValueId) -> &[u32] {
        &self.list[self.first[v.index()] as usize..self.first[v.index() + 1] as usize]
    }

    /// How many instructions read each value.
    pub fn counts(&self) -> Vec<u32> {
        self.first.windows(2).map(|w| w[1] - w[0]).collect()
    }
}

/// Calls `f` for each value among the operands, once.
pub fn distinct_values(operands: &[Operand], mut f: impl FnMut(ValueId)) {
    for (i, o) in operands.iter().enumerate() {
        // Lists are short but for wide inner products; those name each value once, so the scan is what it costs.
        if let Some(v) = o.value().filter(|_| !operands[..i].contains(o)) {
            f(v);
        }
    }
}

/// The operand whose buffer the result of instruction `i` may take, if that operand dies there: operand 0 by the table,
/// or operand 1 of a sum or product, which can be written first.
pub(super) fn reusable(program: &LimbProgram, i: usize, dies: impl Fn(ValueId) -> bool) -> Option<usize> {
    let (op, operands) = (program.opcode(i), program.operands(i));
    if !op.spec().in_place {
        return None;
    }
    let commutes = matches!(op, Opcode::Add | Opcode::Mul);
    (0..=usize::from(commutes)).find(|&k| {
        let once = operands.iter().filter(|&&o| o == operands[k]).count() == 1;
        once && operands[k].value().is_some_and(&dies)
    })
}

/// The greatest number of values that need a buffer at the same time, for an order of the instructions.
pub fn peak(program: &LimbProgram, readers: &Readers, order: &[u32]) -> u32 {
    let mut remaining = readers.counts();
    let (mut live, mut peak) = (0u32, 0);
    for &i in order {
        let i = i as usize;
        let reuse = reusable(program, i, |v| remaining[v.index()] == 1);
        if let Some(dst) = program.defined(i) {
            peak = peak.max(live + u32::from(reuse.is_none()));
            live += u32::from(remaining[dst.index()] > 0);
        }
        distinct_values(program.operands(i), |v| {
            remaining[v.index()] -= 1;
            live -= u32::from(remaining[v.index()] == 0);
        });
    }
    peak
}
