//! A program over one record as one over many: every record has a lane.
//!
//! Slot i of record b stands in slot i·B + b. A cyclic rotation of B·S slots by k·B then is the rotation of every record by k, and
//! no operation mixes two records. So each program over S slots has one over B·S slots with as many operations.

use super::{Constant, HeError, MOST_SLOTS, Numbers, Op, Program, Rule, Stage};

impl Numbers {
    /// Every number `lanes` times in a row.
    fn in_lanes(&self, lanes: usize) -> Self {
        fn each<T: Copy>(v: &[T], lanes: usize) -> Vec<T> {
            v.iter().flat_map(|&x| std::iter::repeat_n(x, lanes)).collect()
        }
        match self {
            Self::Real(v) => Self::Real(each(v, lanes)),
            Self::Complex(v) => Self::Complex(each(v, lanes)),
        }
    }
}

impl Program {
    /// The traced program for `lanes` records at once.
    ///
    /// # Errors
    /// [`Rule::Lanes`] unless `lanes` is a power of two and all slots are those of a ring; [`Rule::WrongStage`] of a managed program.
    pub fn in_lanes(mut self, lanes: usize) -> Result<Self, HeError> {
        if lanes == 1 {
            return Ok(self);
        }
        if self.stage != Stage::Traced {
            return Err(Rule::WrongStage { op: "lanes", stage: self.stage.word() }.into());
        }
        let own = self.slots;
        self.slots = together(own, lanes)?;
        // Slots are cyclic: distances are taken modulo their number first, so that no product is too large.
        let apart = |steps: i64| match steps % own as i64 {
            0 => (own * lanes) as i64,
            rest => rest * lanes as i64,
        };
        for table in &mut self.tables {
            table.numbers = table.numbers.in_lanes(lanes);
        }
        for instr in &mut self.instrs {
            match &mut instr.op {
                Op::Rotate { k, .. } => *k = apart(*k),
                Op::Sum { stride, .. } => *stride = apart(*stride),
                Op::Const(Constant::List(numbers)) => *numbers = numbers.in_lanes(lanes).into(),
                _ => {} // slot by slot
            }
        }
        Ok(self)
    }
}

/// The slots of all lanes.
pub(super) fn together(slots: usize, lanes: usize) -> Result<usize, Rule> {
    let all = slots.checked_mul(lanes).filter(|&all| all <= MOST_SLOTS && lanes.is_power_of_two());
    all.ok_or(Rule::Lanes { lanes, slots, most: MOST_SLOTS })
}
