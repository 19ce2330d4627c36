//! What a traced program costs.

use ringmill_program::he::{HeError, Op, Program};
use ringmill_program::manage;

/// Levels, key switches and products of a traced program, as management will count them. Ordered by what weighs most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Rescales in a row, at most.
    pub depth: u32,
    /// Relinearisations, rotations and conjugations.
    pub key_switches: usize,
    /// Different distances of rotations: a key each.
    pub rotations: usize,
    /// Products that take a level.
    pub products: usize,
    /// Operations of any kind.
    pub operations: usize,
}

impl Cost {
    /// The cost of a program once it is simplified.
    ///
    /// # Errors
    /// None for a verified traced program.
    pub fn of(traced: &Program) -> Result<Self, HeError> {
        Ok(Self::of_simple(&manage::simplify(traced)?))
    }

    /// The cost of a program as [`manage::simplify`] leaves it.
    pub(super) fn of_simple(p: &Program) -> Self {
        let mut distances = std::collections::BTreeSet::new();
        let mut products = 0;
        for instr in p.instrs() {
            match instr.op {
                Op::Rotate { k, .. } => {
                    distances.insert(k);
                }
                Op::Mul(a, b) => {
                    let free = [a, b].iter().any(|v| matches!(&p.instr(*v).op, Op::Const(c) if c.is_free()));
                    products += usize::from(!free);
                }
                Op::Square(_) => products += 1,
                _ => {}
            }
        }
        Self {
            depth: manage::depth(p),
            key_switches: manage::key_switches(p),
            rotations: distances.len(),
            products,
            operations: p.instrs().len(),
        }
    }

    /// Whether nothing that weighs is more than that of the other.
    pub(super) fn no_dearer_than(&self, other: &Self) -> bool {
        self.depth <= other.depth
            && self.key_switches <= other.key_switches
            && self.rotations <= other.rotations
            // A level less is worth some products with plaintexts: they are then computed with fewer limbs each.
            && (self.products <= other.products
                || self.depth < other.depth && self.products <= 2 * other.products + 8)
    }
}
