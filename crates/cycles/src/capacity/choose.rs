//! The program that moves fewest bytes over the edge of a chip, of those with the same bits that are known.
//!
//! Three choices are counted together: whether products of inputs are computed again ([`recompute`]), whether the order goes prime by
//! prime ([`Chip::reorder`]), and which limb goes first. Each combination is a [`Candidate`], so that a report can say why one was
//! taken.

use ringmill_program::limb::LimbProgram;
use ringmill_program::schedule::recompute;

use super::{Capacity, Chip};
use crate::error::CapacityError;
use crate::graph::Graph;
use crate::replay::Flow;

/// What one way to run a program moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Products of inputs are computed once in every region that reads them.
    pub recompute: bool,
    /// Windows of the order go prime by prime.
    pub by_primes: bool,
    /// What is cheap to bring back goes first.
    pub by_cost: bool,
    /// Instructions, loads and stores among them.
    pub instructions: u64,
    /// Bytes over the edge.
    pub off_chip: u64,
    /// Of these, bytes of results that are written and read again.
    pub spilled: u64,
    /// Most results that are still to be read.
    pub peak: u64,
}

/// The program that moves fewest bytes, and all that were counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The program.
    pub program: LimbProgram,
    /// All ways, in the order in which they were counted. The first is the program as written.
    pub candidates: Vec<Candidate>,
    /// Which of them it is: the first that moves fewest bytes.
    pub chosen: usize,
}

impl Choice {
    /// The way that was taken.
    pub fn taken(&self) -> Candidate {
        self.candidates[self.chosen]
    }
}

/// Chooses for a chip of this capacity. The result never moves more than the program as written.
///
/// # Errors
/// [`CapacityError::Least`] with the least capacity that works; [`CapacityError::Refused`] for programs that are larger than what is
/// counted.
pub fn choose(program: &LimbProgram, capacity: Capacity, seeded: bool) -> Result<Choice, CapacityError> {
    let mut choice = Choice { program: program.clone(), candidates: Vec::new(), chosen: 0 };
    let again = recompute(program);
    let same = again.len() == program.len();
    for (repeated, program) in [(false, program), (true, &again)] {
        if repeated && same {
            break;
        }
        let graph = Graph::of(program)?;
        let plain = Chip::new(&graph, capacity, seeded)?;
        let chips = [plain.clone(), plain.by_cost()];
        let mut least = (0, u64::MAX);
        for (at, chip) in chips.iter().enumerate() {
            let candidate = counted(chip, program, &graph, (repeated, false, at == 1))?;
            if candidate.off_chip < least.1 {
                least = (at, candidate.off_chip);
            }
            choice.consider(candidate, program);
        }
        // The search is long: for the better of both alone.
        let chip = &chips[least.0];
        let reordered = chip.reorder(program, &graph)?;
        if reordered.kept > 0 {
            let graph = Graph::of(&reordered.program)?;
            let candidate = counted(chip, &reordered.program, &graph, (repeated, true, least.0 == 1))?;
            choice.consider(candidate, &reordered.program);
        }
    }
    Ok(choice)
}

impl Choice {
    fn consider(&mut self, candidate: Candidate, program: &LimbProgram) {
        let best = self.candidates.get(self.chosen).map_or(u64::MAX, |best| best.off_chip);
        if candidate.off_chip < best {
            (self.chosen, self.program) = (self.candidates.len(), program.clone());
        }
        self.candidates.push(candidate);
    }
}

fn counted(
    chip: &Chip,
    program: &LimbProgram,
    graph: &Graph,
    (recompute, by_primes, by_cost): (bool, bool, bool),
) -> Result<Candidate, CapacityError> {
    let traffic = chip.traffic(graph, None)?;
    Ok(Candidate {
        recompute,
        by_primes,
        by_cost,
        instructions: program.len() as u64,
        off_chip: traffic.off_chip(),
        spilled: traffic.bytes(Flow::Spill) + traffic.bytes(Flow::Fill),
        peak: traffic.live.0,
    })
}
