//! What the transforms of a task bring into the cache for the steps after them.

use super::plan::{Action, Src, Step};

/// Lets each transform ask for the block of the next one, and for its share of the blocks that the steps up to the next
/// transforms read from memory: keys above all.
pub(super) fn ahead(steps: &mut [Step]) {
    let is_transform = |step: &Step| matches!(step.action, Action::ForwardBlocks);
    let mut begin = 0;
    while begin < steps.len() {
        let end_of = |from: usize, transforms: bool| {
            from + steps[from..].iter().take_while(|step| is_transform(step) == transforms).count()
        };
        let transforms = end_of(begin, true);
        let end = end_of(transforms, false);
        let wanted = outside(&steps[transforms..end]);
        if transforms > begin {
            let share = wanted.len().div_ceil(transforms - begin).max(1);
            let mut shares = wanted.chunks(share);
            for t in begin..transforms {
                let next = (t + 1 < transforms).then(|| Src::Slot(steps[t + 1].dst));
                let wanted = shares.next().unwrap_or_default();
                steps[t].srcs = next.iter().chain(wanted).copied().collect();
            }
        }
        begin = end;
    }
}

/// The operands that come from other tasks, each once.
fn outside(steps: &[Step]) -> Vec<Src> {
    let mut found = Vec::new();
    // A permutation reads all over the limb.
    for step in steps.iter().filter(|step| !matches!(step.action, Action::Permute(_))) {
        for src in step.srcs.iter().filter(|src| !matches!(src, Src::Slot(_))) {
            if !found.contains(src) {
                found.push(*src);
            }
        }
    }
    found
}
