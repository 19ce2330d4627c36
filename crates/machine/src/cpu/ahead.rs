//! What the transforms of a task bring into the cache for the steps after them.

use super::plan::{Action, Slot, Src, Step, Task};

/// Limbs that the stages of a transform within blocks ask for without loss. A processor drops what it is asked for faster
/// than memory delivers: a line in a little over two nanoseconds on Zen 4.
const EASY: usize = 4;

/// The part of a transform's time that its stages across blocks take: 5 of 16 at N = 2^16.
const HEAD: (usize, usize) = (5, 16);

/// Lets each transform ask for the block of the next one, and for its share of the blocks that the steps up to the next
/// transforms read from memory: keys above all. Where that is much, the stages across blocks ask for whole limbs. Blocks
/// that are written to memory are asked for alike: a line is read before it is written.
///
/// Steps in front of all transforms, the inner products of hoisted rotations, would find nothing there. Transforms depend
/// on no step of the blocks: they go first.
pub(super) fn ahead(task: &mut Task) {
    let Task { head, blocks: steps, slots, .. } = task;
    next_limb(head, slots);
    let is_transform = |step: &Step| matches!(step.action, Action::ForwardBlocks { .. });
    let leading = steps.iter().position(is_transform).unwrap_or(0);
    if !outside(&steps[..leading], slots).is_empty() {
        steps.sort_by_key(|step| !is_transform(step));
    }
    if !steps.iter().any(is_transform) {
        return next_block(steps, slots);
    }
    let mut begin = 0;
    while begin < steps.len() {
        let end_of = |from: usize, transforms: bool| {
            from + steps[from..].iter().take_while(|step| is_transform(step) == transforms).count()
        };
        let transforms = end_of(begin, true);
        let end = end_of(transforms, false);
        let wanted = outside(&steps[transforms..end], slots);
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

/// Lets the stages of transforms across blocks ask for some of the limbs `wanted`; how many.
fn across_blocks(head: &mut [Step], wanted: &[Src]) -> usize {
    let transforms = |step: &&mut Step| matches!(step.action, Action::ForwardHead(_));
    let heads: Vec<&mut Step> = head.iter_mut().filter(transforms).collect();
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

/// Lets the stages of a transform across blocks prefetch the limb of the next one, if another task has just
/// made that limb for it. Otherwise they read it in eight streams at once, which memory delivers at half the
/// speed of one.
fn next_limb(head: &mut [Step], slots: &[Slot]) {
    let mut next = None;
    for step in head.iter_mut().rev() {
        if !matches!(step.action, Action::ForwardHead(_)) {
            continue;
        }
        step.srcs = step.srcs.iter().copied().chain(next).collect();
        let there = Src::Slot(step.dst);
        let made = step.srcs[0] == there && matches!(slots[step.dst as usize], Slot::Shared(_));
        next = made.then_some(there);
    }
}

/// Lets inverse transforms, where no others stand before them, ask for what all steps need of the next block.
fn next_block(steps: &mut [Step], slots: &[Slot]) {
    let wanted = outside(steps, slots);
    let inverse = |step: &&mut Step| matches!(step.action, Action::InverseBlocks { .. });
    let transforms: Vec<&mut Step> = steps.iter_mut().filter(inverse).collect();
    let mut shares = wanted.chunks(wanted.len().div_ceil(transforms.len().max(1)).max(1));
    for step in transforms {
        let wanted = shares.next().unwrap_or_default().iter();
        // Its own slot asks for itself.
        let wanted = wanted.filter(|&&src| src != Src::Slot(step.dst));
        step.srcs = step.srcs.iter().chain(wanted).copied().collect();
    }
}

/// The operands that come from other tasks and the slots that go to others, each once; inputs in order, as the blocks of a
/// key stand.
fn outside(steps: &[Step], slots: &[Slot]) -> Vec<Src> {
    let mut found = Vec::new();
    let mut add = |src: Src| {
        if !found.contains(&src) {
            found.push(src);
        }
    };
    for step in steps {
        let dst = Some(step.dst);
        // A permutation reads, or writes, another block than this one; an inverse transform asks for its own slot, or works in
        // place; a difference asks for its own operands.
        let (srcs, written) = match step.action {
            Action::Permute(_) => (&step.srcs[..0], [dst, None]),
            Action::Scatter(permutation) => {
                if matches!(slots[step.dst as usize], Slot::Shared(_)) {
                    add(Src::Image { slot: step.dst, permutation });
                }
                (&step.srcs[..], [None; 2])
            }
            Action::InverseBlocks { apart } => (&step.srcs[..usize::from(apart)], [None; 2]),
            Action::ForwardDifference(_) => (&step.srcs[..0], [None; 2]),
            Action::DotPair { second, .. } => (&step.srcs[..], [dst, Some(second)]),
            _ => (&step.srcs[..], [dst, None]),
        };
        srcs.iter().filter(|src| !matches!(src, Src::Slot(_))).for_each(|&src| add(src));
        let shared = |&slot: &u32| matches!(slots[slot as usize], Slot::Shared(_));
        written.into_iter().flatten().filter(shared).for_each(|slot| add(Src::Slot(slot)));
    }
    found.sort_by_key(|src| if let Src::Input(i) = src { *i } else { u32::MAX });
    found
}
