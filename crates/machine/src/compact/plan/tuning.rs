//! The free choices of the scheduler, and a search over them.
//!
//! No rule of a list scheduler is best for every program, and one plan is run often. So several are made, the first with
//! the rules as they are: at first with choices drawn at random (greedy randomised construction: Feo, Resende 1995), then
//! with single choices of the best ones changed (local search). The draws follow from a fixed seed: the same program gives
//! the same plan.

use ringmill_program::limb::random::Random;

use super::facts::Facts;

/// The choices.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Whether a conversion begins in an accumulator before all its sources are known.
    pub(super) early: bool,
    /// How many places nodes come forward for each transform between them and the end.
    pub(super) urgency: u32,
    /// How far nodes move in the order of preference, at most.
    pub(super) noise: u32,
    /// From what the moves are drawn.
    pub(super) seed: u64,
    /// Of all transforms, in the order of the program, so many sixteenths at the beginning and at the end run on both
    /// lanes at once.
    pub(super) ganged: [u32; 2],
    /// Transforms, by a part of all in 2^32, of which the opposite holds.
    pub(super) exceptions: Vec<u32>,
    /// Moves of single nodes, by a part of all nodes in 2^32 and places.
    pub(super) moves: Vec<(u32, i32)>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            tolerance: 1,
            soon: 64,
            starving: 2,
            lead: 4,
            eager: true,
            early: false,
            urgency: 0,
            noise: 0,
            seed: 0,
            ganged: [0; 2],
            exceptions: Vec::new(),
            moves: Vec::new(),
        }
    }
}

/// The choices that are drawn as one, each as often as it stands here.
const TOLERANCE: [u64; 4] = [0, 1, 2, 4];
const SOON: [u64; 4] = [16, 32, 64, 96];
const STARVING: [u64; 6] = [0, 1, 2, 3, 5, 8];
const LEAD: [u64; 4] = [2, 3, 4, 6];
const URGENCY: [u64; 6] = [0, 0, 4, 8, 16, 32];
const NOISE: [u64; 6] = [0, 2, 4, 8, 16, 32];
/// Sixteenths: programs that fill both lanes gang nothing, a single key switch everything.
const GANGED: [[u32; 2]; 10] =
    [[0, 0], [0, 0], [0, 0], [0, 0], [16, 0], [16, 0], [1, 1], [0, 2], [2, 4], [4, 8]];
/// Places that a single node moves at most.
const REACH: u64 = 48;

fn of(random: &mut Random, choices: &[u64]) -> u64 {
    choices[random.below(choices.len() as u64) as usize]
}

impl Tuning {
    /// Drawn at random.
    pub(super) fn any(random: &mut Random) -> Self {
        Self {
            tolerance: of(random, &TOLERANCE),
            soon: of(random, &SOON) as u32,
            starving: of(random, &STARVING),
            lead: of(random, &LEAD),
            eager: random.below(2) == 1,
            early: random.below(2) == 1,
            urgency: of(random, &URGENCY) as u32,
            noise: of(random, &NOISE) as u32,
            seed: random.word(),
            ganged: GANGED[random.below(GANGED.len() as u64) as usize],
            exceptions: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// The same with one choice changed, or a few nodes moved.
    pub(super) fn neighbour(&self, random: &mut Random) -> Self {
        let mut next = self.clone();
        match random.below(20) {
            0 => next.tolerance = of(random, &TOLERANCE),
            1 => next.soon = of(random, &SOON) as u32,
            2 => next.starving = of(random, &STARVING),
            3 => next.lead = of(random, &LEAD),
            4 => next.eager = !self.eager,
            5 => next.early = !self.early,
            6 => next.urgency = of(random, &URGENCY) as u32,
            7 if !self.moves.is_empty() => {
                next.moves.swap_remove(random.below(self.moves.len() as u64) as usize);
            }
            8 => next.ganged[random.below(2) as usize] = random.below(17) as u32,
            9 if !self.exceptions.is_empty() => {
                next.exceptions.swap_remove(random.below(self.exceptions.len() as u64) as usize);
            }
            10..13 => next.exceptions.push(random.word() as u32),
            _ => {
                for _ in 0..=random.below(3) {
                    let places = random.below(2 * REACH + 1) as i32 - REACH as i32;
                    next.moves.push((random.word() as u32, places));
                }
            }
        }
        next
    }

    /// Whether any transform may be ganged.
    pub(super) fn gangs(&self) -> bool {
        self.ganged != [0; 2] || !self.exceptions.is_empty()
    }

    /// Which nodes are transforms that run on both lanes at once.
    pub(super) fn ganged(&self, facts: &Facts<'_>) -> Vec<bool> {
        let transforms = &facts.transforms;
        let count = transforms.len();
        let [first, last] = self.ganged.map(|part| count * part as usize / 16);
        let mut ganged = vec![false; facts.nodes.len()];
        for (at, &id) in transforms.iter().enumerate() {
            ganged[id as usize] = at < first || at + last >= count;
        }
        for &part in self.exceptions.iter().filter(|_| count > 0) {
            let id = transforms[((count as u64 * u64::from(part)) >> 32) as usize];
            ganged[id as usize] = !ganged[id as usize];
        }
        ganged
    }

    /// Moves nodes in the order of preference; `heights` are the transforms between each of them and the end.
    pub(super) fn disturb(&self, order: &mut [u32], heights: &[u32]) {
        let most = heights.iter().max().copied().unwrap_or(0);
        let mut random = Random(self.seed);
        for (place, &height) in order.iter_mut().zip(heights) {
            *place += (most - height) * self.urgency + random.below(u64::from(self.noise) + 1) as u32;
        }
        for &(part, places) in &self.moves {
            let node = (order.len() as u64 * u64::from(part)) >> 32;
            order[node as usize] = order[node as usize].saturating_add_signed(places);
        }
    }
}
