//! Which task is next: those in order of their numbers whose predecessors are done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::plan::Plan;

/// Tasks that are ready, and how many predecessors the others wait for. Reused from run to run.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: BinaryHeap<Reverse<u32>>,
    waits: Vec<u32>,
    unfinished: usize,
    failed: bool,
}

impl Queue {
    /// Before a run.
    pub(super) fn reset(&self, plan: &Plan) {
        let mut state = self.lock();
        state.waits.clear();
        state.waits.extend_from_slice(&plan.waits);
        state.ready.clear();
        state.ready.reserve(plan.tasks.len());
        state
            .ready
            .extend((0..plan.tasks.len() as u32).filter(|&t| plan.waits[t as usize] == 0).map(Reverse));
        state.unfinished = plan.tasks.len();
        state.failed = false;
    }

    /// The next task; none when all are done or one failed. Waits while others may still make tasks ready.
    pub(super) fn next(&self) -> Option<u32> {
        let mut state = self.lock();
        loop {
            if state.failed || state.unfinished == 0 {
                return None;
            }
            if let Some(Reverse(task)) = state.ready.pop() {
                return Some(task);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A task is done, or has failed.
    pub(super) fn finish(&self, plan: &Plan, task: u32, failed: bool) {
        let mut state = self.lock();
        let state = &mut *state;
        state.unfinished -= 1;
        state.failed |= failed;
        for &next in &plan.successors[task as usize] {
            let waits = &mut state.waits[next as usize];
            *waits -= 1;
            if *waits == 0 {
                state.ready.push(Reverse(next));
            }
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Kernels run outside the lock, and what runs inside cannot panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
