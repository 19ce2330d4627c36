//! The free choices of the scheduler, and a search over them.
//!
//! No rule of a list scheduler is best for every program, and one plan is run often. So several are made (greedy
//! randomised construction: Feo, Resende 1995), the first with the rules as they are, and the one with the least
//! estimated time is taken. The choices follow from fixed seeds: the same program gives the same plan.

use ringmill_program::limb::random::Random;

/// The choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tuning {
    /// Passes that start so many eighths of a pass after the soonest one count as equally soon.
    pub(super) tolerance: u64,
    /// Nodes ahead, within which an inner product is about to need its accumulator.
    pub(super) soon: u32,
    /// A lane that will be idle within so many passes is fed first.
    pub(super) starving: u64,
    /// An operand that waits in a bank is made so many passes before its reader can start.
    pub(super) lead: u64,
    /// Whether an inner product whose operands stand in banks begins at once, though its result will have to wait.
    pub(super) eager: bool,
    /// How many places nodes come forward for each transform between them and the end.
    pub(super) urgency: u32,
    /// How far nodes move in the order of preference, at most.
    pub(super) noise: u32,
    /// From what the moves are drawn.
    pub(super) seed: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { tolerance: 1, soon: 64, starving: 2, lead: 4, eager: true, urgency: 0, noise: 0, seed: 0 }
    }
}

/// The most attempts.
const MOST: usize = 512;

impl Tuning {
    /// The attempts for a graph of so many passes, if so many may be scheduled in all.
    pub(super) fn attempts(passes: usize, effort: usize) -> impl Iterator<Item = Self> {
        let count = (effort / passes.max(1)).clamp(1, MOST);
        let mut random = Random(0x7e4a_11ed);
        std::iter::once(Self::default()).chain((1..count as u64).map(move |seed| {
            let mut of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
            Self {
                tolerance: of(&[0, 1, 2, 4]),
                soon: of(&[16, 32, 64, 96]) as u32,
                starving: of(&[0, 1, 2, 3, 5, 8]),
                lead: of(&[2, 3, 4, 6]),
                eager: of(&[0, 1]) == 1,
                urgency: of(&[0, 0, 4, 8, 16, 32]) as u32,
                noise: of(&[0, 2, 4, 8, 16, 32]) as u32,
                seed,
            }
        }))
    }

    /// Moves nodes in the order of preference; `heights` are the transforms between each of them and the end.
    pub(super) fn disturb(&self, order: &mut [u32], heights: &[u32]) {
        let most = heights.iter().max().copied().unwrap_or(0);
        let mut random = Random(self.seed);
        for (place, &height) in order.iter_mut().zip(heights) {
            *place += (most - height) * self.urgency + random.below(u64::from(self.noise) + 1) as u32;
        }
    }
}
