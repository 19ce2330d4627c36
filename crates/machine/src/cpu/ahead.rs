//! What the transforms of a task bring into the cache for the steps after them.

use super::plan::{Action, Src, Step, Task};

/// Limbs that the stages of a transform within blocks ask for without loss. A processor drops what it is asked for faster
/// than memory delivers: a line in a little over two nanoseconds on Zen 4.
const EASY: usize = 4;

/// The part of a transform's time that its stages across blocks take: 5 of 16 at N = 2^16.
const HEAD: (usize, usize) = (5, 16);

/// Lets each transform ask for the block of the next one, and for its share of the blocks that the steps up to the next
/// transforms read from memory: keys above all. Where that is much, the stages across blocks ask for whole limbs.
///
/// Steps in front of all transforms, the inner products of hoisted rotations, would find nothing there. Transforms depend
/// on no step of the blocks: they go first.
pub(super) fn ahead(task: &mut Task) {
    let Task { head, blocks: steps, .. } = task;
    let is_transform = |step: &Step| matches!(step.action, Action::ForwardBlocks);
    let leading = steps.iter().position(is_transform).unwrap_or(0);
    if !outside(&steps[..leading]).is_empty() {
        steps.sort_by_key(|step| !is_transform(step));
    }
    let mut begin = 0;
    while begin < steps.len() {
        let end_of = |from: usize, transforms: bool| {
            from + steps[from..].iter().take_while(|step| is_transform(step) == transforms).count()
        };
        let transforms = end_of(begin, true);
        let end = end_of(transforms, false);
        let wanted = outside(&steps[transforms..end]);
        if transforms > begin {
            let many = begin == 0 && wanted.len() > EASY * transforms;
            let early = if many { across_blocks(head, &wanted) } else { 0 };
            let wanted = &wanted[early..];
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

/// Lets the stages across blocks of the transforms that read their operand from elsewhere ask for some of the limbs
/// `wanted`; how many.
fn across_blocks(head: &mut [Step], wanted: &[Src]) -> usize {
    let reads = |step: &&mut Step| matches!(step.action, Action::ForwardHead(_)) && !step.srcs.is_empty();
    let heads: Vec<&mut Step> = head.iter_mut().filter(reads).collect();
    if heads.is_empty() {
        return 0;
    }
    let early = wanted.len() * HEAD.0 / HEAD.1;
    let mut shares = wanted[..early].chunks(early.div_ceil(heads.len()).max(1));
    for step in heads {
        let share = shares.next().unwrap_or_default();
        step.srcs = step.srcs.iter().chain(share).copied().collect();
    }
    early
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
