//! Base conversions of the same sources to several primes, made together: a block of the sources is read once for all.
//!
//! A key switch converts each digit to every other prime. One prime at a time, the sources, megabytes of them, come from
//! the third cache each time and take longer than the products.

use ringmill_program::limb::{ModulusId, Opcode, Source};

use super::flow::Flow;

/// Primes converted to at a time: each takes a buffer for every digit, and each time the sources come from memory again.
const TARGETS: usize = 7;

/// The conversions of a program in order, and which have been placed.
#[derive(Debug)]
pub(super) struct Conversions {
    list: Vec<usize>,
    /// All before this one in the list have been placed.
    next: usize,
    placed: Vec<bool>,
}

impl Conversions {
    pub(super) fn new(flow: &Flow<'_>) -> Self {
        let list: Vec<usize> = flow.instructions().filter(|&i| is_conversion(flow, i)).collect();
        Self { placed: vec![false; list.len()], list, next: 0 }
    }

    /// Takes the conversions to the next primes, those that `ready` admits, in sets of equal sources. A set of one gains
    /// nothing and is left out.
    pub(super) fn take(&mut self, flow: &Flow<'_>, ready: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut sets: Vec<(Vec<Source>, Vec<usize>)> = Vec::new();
        let mut targets: Vec<Option<ModulusId>> = Vec::new();
        for at in self.next..self.list.len() {
            let i = self.list[at];
            if self.placed[at] || !ready(i) {
                continue;
            }
            let to = target(flow, i);
            if !targets.contains(&to) {
                if targets.len() == TARGETS {
                    break;
                }
                targets.push(to);
            }
            let sources: Vec<Source> = flow.operands(i).collect();
            match sets.iter_mut().find(|(known, _)| *known == sources) {
                Some((_, set)) => set.push(at),
                None => sets.push((sources, vec![at])),
            }
        }
        let mut taken = Vec::new();
        for (_, set) in sets.into_iter().filter(|(_, set)| set.len() > 1) {
            set.iter().for_each(|&at| self.placed[at] = true);
            taken.push(set.into_iter().map(|at| self.list[at]).collect());
        }
        taken
    }

    /// Whether the next conversion is one to `modulus` that `ready` admits.
    pub(super) fn next_to(
        &self,
        flow: &Flow<'_>,
        modulus: Option<ModulusId>,
        ready: impl Fn(usize) -> bool,
    ) -> bool {
        let next = (self.next..self.list.len()).find(|&at| !self.placed[at]).map(|at| self.list[at]);
        next.is_some_and(|i| target(flow, i) == modulus && ready(i))
    }

    /// Whether conversion `i` has been taken; if not, it counts as taken from now on.
    pub(super) fn taken(&mut self, i: usize) -> bool {
        let Ok(at) = self.list.binary_search(&i) else { return false };
        let taken = std::mem::replace(&mut self.placed[at], true);
        while self.placed.get(self.next) == Some(&true) {
            self.next += 1;
        }
        taken
    }

    /// Whether conversion `i` waits to be placed.
    pub(super) fn open(&self, i: usize) -> bool {
        self.list.binary_search(&i).is_ok_and(|at| !self.placed[at])
    }
}

/// The prime that instruction `i` converts to.
fn target(flow: &Flow<'_>, i: usize) -> Option<ModulusId> {
    flow.program.defined(i).and_then(|v| flow.program.value_type(v).modulus())
}

/// Whether instruction `i` converts from several primes.
pub(super) fn is_conversion(flow: &Flow<'_>, i: usize) -> bool {
    matches!(flow.program.opcode(i), Opcode::Convert | Opcode::ConvertFast)
}
