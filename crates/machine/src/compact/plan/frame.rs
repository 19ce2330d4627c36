//! What the choice of one pass asks again and again, read from the state once.

use super::super::isa::Bank;
use super::super::lower::graph::NodeId;
use super::state::{Content, State};

/// The accumulators.
const FIRST_ACCUMULATOR: usize = Bank::IN_LANES;

/// What is lost with a bank, if nothing at all may be: it holds a sum in progress or what is nowhere else.
pub(super) const ALL: u32 = u32::MAX;

/// What it costs to replace the content of a bank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    /// The place in the order of the next reader of a value; beyond all of them for a value that is not read
    /// again.
    pub(super) next: u32,
    /// How much is lost: nothing for an empty bank, less for a value that is wanted later, [`ALL`].
    pub(super) lost: u32,
    /// Whether a value is in memory too.
    pub(super) in_memory: bool,
    /// Whether one pass reads it yet and nothing else asks for it.
    pub(super) last: bool,
}

/// What follows from the state between two passes.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) held: [Held; Bank::COUNT],
    /// When all lanes that reach a bank, or pair, are free.
    pub(super) free: [Option<u64>; Bank::CODES],
    /// Accumulators without a sum in progress.
    pub(super) free_accumulators: usize,
    /// Whether an accumulator holds a sum in progress.
    pub(super) summing: bool,
    /// The places of the sums in accumulators that will be transformed.
    pub(super) to_transform: [Option<u32>; Frame::SUMS],
    /// The next sums of products.
    pub(super) waiting: [Option<NodeId>; Frame::SUMS],
}

impl Frame {
    /// As many sums as there are accumulators.
    pub(super) const SUMS: usize = Bank::COUNT - Bank::IN_LANES;
}

impl State<'_> {
    /// Reads the state anew.
    pub(super) fn look(&mut self) {
        let mut frame = Frame::default();
        let accumulators = &self.banks[FIRST_ACCUMULATOR..];
        let partial = |content: Content| matches!(content, Content::Partial(_));
        frame.free_accumulators = accumulators.iter().filter(|b| !partial(b.content)).count();
        frame.summing = frame.free_accumulators < accumulators.len();
        for (place, b) in frame.to_transform.iter_mut().zip(accumulators) {
            if let Content::Partial(id) = b.content {
                *place = self.next_transform(id).map(|_| self.order[id as usize]);
            }
        }
        for (place, sum) in frame.waiting.iter_mut().zip(self.waiting_sums()) {
            *place = Some(sum);
        }
        for (held, b) in frame.held.iter_mut().zip(&self.banks) {
            *held = self.held(b.content);
        }
        for bank in Bank::all().chain(Bank::pairs()) {
            frame.free[bank.index()] = self.clock.free(bank);
        }
        self.frame = frame;
    }

    fn held(&self, content: Content) -> Held {
        let space = |lost| Held { next: u32::MAX, lost, in_memory: false, last: false };
        let id = match content {
            Content::Empty => return space(0),
            Content::Partial(_) => return space(ALL),
            Content::Whole(id) => id,
        };
        let (n, next) = (self.node(id), self.next_use(id));
        // In memory too, or to be computed again, and no output waits for it.
        let saved = n.outputs.is_empty() && (n.copy.is_some() || self.recomputable(id));
        Held {
            next,
            lost: if saved { (u32::MAX - next).clamp(1, ALL - 1) } else { ALL },
            in_memory: n.copy.is_some(),
            last: n.reads == 1 && n.outputs.is_empty(),
        }
    }
}
