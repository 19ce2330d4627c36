//! Input limbs that are made as a task reads them: halves of keys, from packed bits or a seed.
//!
//! A step within blocks finds the words of its block in the first caches, because they were made just before
//! it. Words of an expanded key go through memory; these do not. Dense limbs are expanded to words too,
//! except for inner products that read them in packed form.

use ringmill_ring::{LimbReader, LimbRing, LimbSource};

use super::plan::{Action, Src, Step, Task};
use super::run::dense_from;

/// Those of a task.
#[derive(Default)]
pub(super) struct Made<'a> {
    /// By ascending input.
    limbs: Vec<Limb<'a>>,
}

struct Limb<'a> {
    input: u32,
    reader: LimbReader<'a>,
    /// One block, or all words for a step that does not go block by block.
    words: Vec<u64>,
    whole: bool,
    /// How many words of the limb were made.
    reached: usize,
    n: usize,
}

impl<'a> Made<'a> {
    /// Those that `task` reads, none of them made yet.
    pub(super) fn of(task: &Task, ring: &LimbRing, inputs: &[LimbSource<'a>], block: usize) -> Self {
        let mut limbs: Vec<Limb<'a>> = Vec::new();
        let n = ring.n();
        let whole = task.head.iter().chain(&task.tail).map(|step| (step, true));
        for (step, whole) in whole.chain(task.blocks.iter().map(|step| (step, by_limb(&step.action)))) {
            let words = if whole { n } else { block };
            let as_made = dense_from(step, ring, inputs, words).unwrap_or(usize::MAX);
            for &src in read(step).iter().take(as_made) {
                let Src::Input(input) = src else { continue };
                let source = inputs[input as usize];
                if source.together(0, words).is_none() {
                    let reader = source.reader();
                    limbs.push(Limb { input, reader, words: Vec::new(), whole, reached: 0, n });
                }
            }
        }
        // The first of equal ones is kept: one that is whole, if any is.
        limbs.sort_by_key(|limb| (limb.input, !limb.whole));
        limbs.dedup_by_key(|limb| limb.input);
        Self { limbs }
    }

    fn find(&self, input: u32) -> Option<usize> {
        self.limbs.binary_search_by_key(&input, |limb| limb.input).ok()
    }

    /// Makes what a step reads of the block `first` .. `end`.
    pub(super) fn reach(&mut self, step: &Step, first: usize, end: usize) {
        if self.limbs.is_empty() {
            return;
        }
        for &src in read(step) {
            let Src::Input(input) = src else { continue };
            let Some(at) = self.find(input) else { continue };
            let limb = &mut self.limbs[at];
            if limb.reached < end {
                let words = if limb.whole { limb.n } else { end - first };
                limb.words.resize(words, 0);
                limb.reader.fill(&mut limb.words);
                limb.reached = if limb.whole { limb.n } else { end };
            }
        }
    }

    /// Words `first` .. `first + words` of an input, which [`Self::reach`] made.
    pub(super) fn words(&self, input: u32, first: usize, words: usize) -> &[u64] {
        let Some(at) = self.find(input) else { unreachable!("a step reads what was made in front of it") };
        let limb = &self.limbs[at];
        if limb.whole { &limb.words[first..first + words] } else { &limb.words[..words] }
    }
}

/// Whether a step within blocks reads beyond its block.
fn by_limb(action: &Action) -> bool {
    matches!(action, Action::Permute(_) | Action::Repeat(_) | Action::Short(_))
}

/// The operands that a step reads; others it asks for, for steps after it.
fn read(step: &Step) -> &[Src] {
    match step.action {
        Action::ForwardHead(_) => &step.srcs[..step.srcs.len().min(1)],
        Action::ForwardBlocks { .. } => &[],
        Action::InverseBlocks { apart } => &step.srcs[..usize::from(apart)],
        _ => &step.srcs,
    }
}
