//! The free choices of the scheduler: drawn at random, changed one by one.

use ringmill_program::limb::random::Random;

use super::super::lower::graph::NodeId;
use super::facts::Facts;

/// The choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tuning {
    /// Eighths of a pass. Passes that start at most this long after the soonest one count as equally soon.
    pub(super) tolerance: u64,
    /// Nodes ahead, within which an inner product is about to need its accumulator.
    pub(super) soon: u32,
    /// A lane that will be idle within this number of passes is served first.
    pub(super) starving: u64,
    /// Passes before the start of its reader at which an operand that waits in a bank is made.
    pub(super) lead: u64,
    /// Whether an inner product whose operands stand in banks begins at once, though its result will have to wait.
    pub(super) eager: bool,
    /// Whether a conversion begins before all its sources are known.
    pub(super) early: Early,
    /// Whether what is to be transformed goes through memory if no bank is free.
    pub(super) through: bool,
    /// The passes that must still read a value before it is loaded from memory into a bank for them; 0:
    /// never.
    pub(super) fetch: u32,
    /// How many unfinished nodes are looked at.
    pub(super) window: u32,
    /// How many places each alike part of the program moves back against the one before.
    pub(super) spread: i32,
    /// How many places nodes come forward for each transform between them and the end.
    pub(super) urgency: u32,
    /// How far nodes move in the order of preference, at most.
    pub(super) noise: u32,
    /// From what the moves are drawn.
    pub(super) seed: u64,
    /// Of the transforms of each equal part, in their order, the sixteenths at the beginning and at the end
    /// that run on both lanes at once.
    pub(super) ganged: [u32; 2],
    /// The same at the beginning of the first part and at the end of the last one.
    pub(super) edges: [u32; 2],
    /// Nodes of which something else holds.
    pub(super) exceptions: Vec<Exception>,
    /// Moves of nodes in the order of preference, with the number of places.
    pub(super) moves: Vec<(Place, i32)>,
}

/// When a conversion begins whose sources are not all known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Early {
    /// When they are.
    #[default]
    Not,
    /// As soon as an accumulator is free that no inner product wants.
    Accumulator,
    /// As soon as any bank is free.
    Anywhere,
}

/// A node, by a part of all there are in 2^32. Where a program has several alike parts, it stands for those at its place in
/// all of them, or in one, again by a part of all in 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    part: u32,
    only: Option<u32>,
}

impl Place {
    fn any(random: &mut Random) -> Self {
        let part = random.word() as u32;
        Self { part, only: (random.below(8) == 0).then(|| random.word() as u32) }
    }

    /// Of a list of nodes of the first part, those at this place, or those `next` places after it.
    fn nodes<'f>(&self, facts: &'f Facts<'_>, list: &[NodeId], next: u8) -> &'f [NodeId] {
        let scaled = |count: usize, part: u32| ((count as u64 * u64::from(part)) >> 32) as usize;
        let Some(&id) = list.get(scaled(list.len(), self.part) + usize::from(next)) else { return &[] };
        let twins = &facts.twins[id as usize][..];
        self.only.map_or(twins, |part| {
            let at = scaled(twins.len(), part);
            &twins[at..=at]
        })
    }
}

/// What differs for one node from the choices for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exception {
    /// A transform is ganged or not, and so are up to a number of transforms after it.
    Gang(Place, u8),
    /// When a conversion begins.
    Early(Place, Early),
    /// The opposite of `through`.
    Through(Place),
}

/// The choices for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Choice {
    pub(super) ganged: bool,
    pub(super) early: Early,
    pub(super) through: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            tolerance: 1,
            soon: 64,
            starving: 2,
            lead: 4,
            eager: true,
            early: Early::Not,
            through: false,
            fetch: 0,
            window: 96,
            spread: 0,
            urgency: 0,
            noise: 0,
            seed: 0,
            ganged: [0; 2],
            edges: [0; 2],
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
const EARLY: [Early; 3] = [Early::Not, Early::Accumulator, Early::Anywhere];
const FETCH: [u64; 6] = [0, 0, 0, 2, 3, 4];
const WINDOW: [u64; 4] = [24, 48, 96, 96];
const SPREAD: [i32; 8] = [0, 0, 0, -16, -32, -64, 32, 1000];
/// Sixteenths: programs that fill both lanes gang nothing, a single key switch everything.
const GANGED: [[u32; 2]; 10] =
    [[0, 0], [0, 0], [0, 0], [0, 0], [16, 0], [16, 0], [1, 1], [0, 2], [2, 4], [4, 8]];
const EDGES: [[u32; 2]; 6] = [[0, 0], [0, 0], [1, 1], [0, 2], [2, 4], [4, 8]];
/// Places that a single node moves at most.
const REACH: u64 = 48;

fn of(random: &mut Random, choices: &[u64]) -> u64 {
    choices[random.below(choices.len() as u64) as usize]
}

impl Tuning {
    /// What is tried for every program, besides the rules as they are, where the memory brings a row a cycle or is slower.
    pub(super) fn rules(slow: bool) -> Vec<Self> {
        let rule = |early, through, fetch| Self { early, through, fetch, ..Self::default() };
        if slow {
            vec![
                rule(Early::Accumulator, false, 2),
                rule(Early::Anywhere, true, 2),
                rule(Early::Not, false, 3),
            ]
        } else {
            vec![rule(Early::Accumulator, true, 0)]
        }
    }

    /// Drawn at random.
    pub(super) fn any(random: &mut Random) -> Self {
        Self {
            tolerance: of(random, &TOLERANCE),
            soon: of(random, &SOON) as u32,
            starving: of(random, &STARVING),
            lead: of(random, &LEAD),
            eager: random.below(2) == 1,
            early: EARLY[random.below(3) as usize],
            through: random.below(2) == 1,
            fetch: of(random, &FETCH) as u32,
            window: of(random, &WINDOW) as u32,
            spread: SPREAD[random.below(SPREAD.len() as u64) as usize],
            urgency: of(random, &URGENCY) as u32,
            noise: of(random, &NOISE) as u32,
            seed: random.word(),
            ganged: GANGED[random.below(GANGED.len() as u64) as usize],
            edges: EDGES[random.below(EDGES.len() as u64) as usize],
            exceptions: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// The same with one choice changed, or a few nodes moved.
    pub(super) fn neighbour(&self, random: &mut Random) -> Self {
        let mut next = self.clone();
        match random.below(26) {
            0 => next.tolerance = of(random, &TOLERANCE),
            1 => next.soon = of(random, &SOON) as u32,
            2 => next.starving = of(random, &STARVING),
            3 => next.lead = of(random, &LEAD),
            4 => next.eager = !self.eager,
            5 => next.early = EARLY[random.below(3) as usize],
            6 => next.urgency = of(random, &URGENCY) as u32,
            7 if !self.moves.is_empty() => {
                next.moves.swap_remove(random.below(self.moves.len() as u64) as usize);
            }
            8 => next.ganged[random.below(2) as usize] = random.below(17) as u32,
            19 => next.edges[random.below(2) as usize] = random.below(17) as u32,
            9 if !self.exceptions.is_empty() => {
                next.exceptions.swap_remove(random.below(self.exceptions.len() as u64) as usize);
            }
            10..13 => {
                let more = random.below(4).saturating_sub(1) as u8;
                next.exceptions.push(Exception::Gang(Place::any(random), more));
            }
            13 => next.exceptions.push(Exception::Early(Place::any(random), EARLY[random.below(3) as usize])),
            14 => next.exceptions.push(Exception::Through(Place::any(random))),
            15 => next.through = !self.through,
            16 => next.window = of(random, &WINDOW) as u32,
            18 => next.fetch = of(random, &FETCH) as u32,
            17 => next.spread = SPREAD[random.below(SPREAD.len() as u64) as usize],
            _ => {
                for _ in 0..=random.below(3) {
                    let places = random.below(2 * REACH + 1) as i32 - REACH as i32;
                    next.moves.push((Place::any(random), places));
                }
            }
        }
        next
    }

    /// The same for alike parts more and less apart.
    pub(super) fn spreads(&self) -> impl Iterator<Item = Self> + '_ {
        [0, -32, 1000].into_iter().map(|spread| Self { spread, ..self.clone() })
    }

    /// What holds for each node.
    pub(super) fn choices(&self, facts: &Facts<'_>) -> Vec<Choice> {
        let common = Choice { ganged: false, early: self.early, through: self.through };
        let mut choices = vec![common; facts.nodes.len()];
        let count = facts.first.transforms.len();
        let [first, last] = self.ganged.map(|part| count * part as usize / 16);
        for (at, &id) in facts.first.transforms.iter().enumerate() {
            for &twin in &facts.twins[id as usize] {
                choices[twin as usize].ganged = at < first || at + last >= count;
            }
        }
        let [first, last] = self.edges.map(|part| count * part as usize / 16);
        let behind = facts.transforms.len() - last;
        for &id in facts.transforms[..first].iter().chain(&facts.transforms[behind..]) {
            choices[id as usize].ganged = true;
        }
        for exception in &self.exceptions {
            match exception {
                Exception::Gang(place, more) => {
                    for id in (0..=*more).flat_map(|next| place.nodes(facts, &facts.first.transforms, next)) {
                        choices[*id as usize].ganged ^= true;
                    }
                }
                Exception::Early(place, early) => {
                    for &id in place.nodes(facts, &facts.first.to_transform, 0) {
                        choices[id as usize].early = *early;
                    }
                }
                Exception::Through(place) => {
                    for &id in place.nodes(facts, &facts.first.to_transform, 0) {
                        choices[id as usize].through ^= true;
                    }
                }
            }
        }
        choices
    }

    /// The order of preference.
    pub(super) fn order(&self, facts: &Facts<'_>) -> Vec<u32> {
        let mut order = facts.order.clone();
        let most = facts.heights.iter().max().copied().unwrap_or(0);
        let mut random = Random(self.seed);
        let noise: Vec<u32> = order.iter().map(|_| random.below(u64::from(self.noise) + 1) as u32).collect();
        for ((place, &height), &(part, at)) in order.iter_mut().zip(&facts.heights).zip(&facts.places) {
            *place += (most - height) * self.urgency + noise[at as usize];
            if part != u32::MAX {
                *place = place.saturating_add_signed(self.spread.saturating_mul(part as i32));
            }
        }
        for (place, places) in &self.moves {
            for &node in place.nodes(facts, &facts.first.computed, 0) {
                let at = &mut order[node as usize];
                *at = at.saturating_add_signed(*places);
            }
        }
        order
    }
}
