//! What the scheduler knows while it writes: where every node is, what still reads it, and when units are free.

use super::super::isa::Bank;
use super::super::lower::graph::{Kind, NodeId, Term};
use super::clock::Clock;
use super::facts::Facts;
use super::frame::Frame;
use super::layout::Layout;
use super::tuning::{Choice, Early, Tuning};

/// A limb in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryCopy {
    /// In units of 64 bytes.
    pub(super) address: u32,
    /// The number of the store that wrote it, from 1; 0 for an input.
    pub(super) store: u64,
    /// The cycle from which it can be streamed.
    pub(super) available: u64,
    /// Whether the place is the scheduler's, to be used again.
    pub(super) scratch: bool,
}

/// How far a node has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing computed.
    Waiting,
    /// A sum with some of its terms, in `bank` or in `copy`.
    Partial,
    /// Computed.
    Done,
}

/// One node.
#[derive(Debug, Clone)]
pub(super) struct NodeState {
    pub(super) phase: Phase,
    /// Terms of a sum that are not in it yet.
    pub(super) left: Vec<Term>,
    pub(super) bank: Option<Bank>,
    pub(super) copy: Option<MemoryCopy>,
    /// Passes and transforms that will read it.
    pub(super) reads: u32,
    /// Of these: products that read it from memory.
    pub(super) streams: u32,
    /// Of these: transforms.
    pub(super) transforms: u32,
    /// Outputs that it still has to be stored to.
    pub(super) outputs: Vec<u32>,
}

impl NodeState {
    /// Whether what a pass completes goes to memory on its way: outputs, operands from memory, what is transformed and read
    /// otherwise too, and what more passes read than a bank can be kept for.
    pub(super) fn is_stored(&self, offset: u64) -> bool {
        let others = self.reads > 1 || !self.outputs.is_empty();
        let kept = self.bank_reads() > 2 || (offset != 0 && self.bank_reads() > 1);
        !self.outputs.is_empty() || self.streams > 0 || (self.transforms > 0 && others) || kept
    }

    /// Whether something still needs the value.
    pub(super) fn alive(&self) -> bool {
        self.reads > 0 || !self.outputs.is_empty()
    }

    /// Reads by passes that can take it from a bank.
    pub(super) fn bank_reads(&self) -> u32 {
        self.reads - self.streams - self.transforms
    }
}

/// What a bank holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Empty,
    Whole(NodeId),
    Partial(NodeId),
}

/// One bank.
#[derive(Debug, Clone, Copy)]
pub(super) struct BankState {
    pub(super) content: Content,
    /// The cycle from which the arithmetic unit can read the content, or write over it.
    pub(super) ready: u64,
    /// The cycle from which another unit can use it, or a permuting read.
    pub(super) drained: u64,
}

/// The whole state.
#[derive(Debug)]
pub(super) struct State<'g> {
    pub(super) facts: &'g Facts<'g>,
    pub(super) nodes: Vec<NodeState>,
    /// Operands of each node that are still to be computed; those that are recomputed when they are read do not count.
    unknown: Vec<u32>,
    /// The place of each node in the order of preference.
    pub(super) order: Vec<u32>,
    pub(super) banks: [BankState; Bank::COUNT],
    pub(super) clock: Clock,
    pub(super) layout: Layout,
    choices: Vec<Choice>,
    /// Sums of products in order: they take the accumulators one after the other.
    sums: Vec<NodeId>,
    /// The first of them that may not have begun.
    first_sum: usize,
    pub(super) tuning: Tuning,
    /// Transforms that have not begun.
    pub(super) transforms: u64,
    /// Stores written so far.
    pub(super) stores: u64,
    /// When outputs were stored, all added up.
    pub(super) output_time: u64,
    /// The address of the last of them.
    pub(super) last_address: u32,
    /// Whether banks are freed by force: only the first node with all it needs proceeds, and it may take any
    /// bank.
    pub(super) exclusive: bool,
    /// What follows from the rest, for choosing the next pass.
    pub(super) frame: Frame,
}

impl<'g> State<'g> {
    pub(super) fn new(facts: &'g Facts<'g>, clock: Clock, layout: Layout, tuning: Tuning) -> Self {
        let order = tuning.order(facts);
        let mut sums = facts.inner_products.clone();
        sums.sort_by_key(|&id| order[id as usize]);
        let empty = BankState { content: Content::Empty, ready: 0, drained: 0 };
        let mut state = Self {
            facts,
            nodes: facts.nodes.clone(),
            unknown: facts.unknown.clone(),
            order,
            banks: [empty; Bank::COUNT],
            clock,
            layout,
            choices: tuning.choices(facts),
            sums,
            first_sum: 0,
            tuning,
            transforms: facts.transforms.len() as u64,
            stores: 0,
            output_time: 0,
            last_address: 0,
            exclusive: false,
            frame: Frame::default(),
        };
        state.place_inputs();
        state
    }

    fn place_inputs(&mut self) {
        for (id, node) in self.facts.graph.nodes.iter().enumerate() {
            if let Kind::Input { input, scaled } = node.kind {
                let address = self.layout.input(input, scaled);
                let available = self.clock.first_read();
                let copy = MemoryCopy { address, store: 0, available, scratch: false };
                self.nodes[id].copy = Some(copy);
                self.nodes[id].phase = Phase::Done;
            }
        }
    }

    pub(super) fn kind(&self, id: NodeId) -> &'g Kind {
        self.facts.graph.kind(id)
    }

    pub(super) fn node(&self, id: NodeId) -> &NodeState {
        &self.nodes[id as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut NodeState {
        &mut self.nodes[id as usize]
    }

    /// What a bank holds; of a pair, as far as both of its banks hold the same limb.
    pub(super) fn bank(&self, bank: Bank) -> BankState {
        let both = |a: BankState, b: BankState| BankState {
            content: if a.content == b.content { a.content } else { Content::Empty },
            ready: a.ready.max(b.ready),
            drained: a.drained.max(b.drained),
        };
        let empty = BankState { content: Content::Empty, ready: 0, drained: 0 };
        bank.parts().map(|b| self.banks[b.index()]).reduce(both).unwrap_or(empty)
    }

    pub(super) fn set_content(&mut self, bank: Bank, content: Content) {
        bank.parts().for_each(|b| self.banks[b.index()].content = content);
    }

    pub(super) fn set_times(&mut self, bank: Bank, ready: u64, drained: u64) {
        for b in bank.parts() {
            let state = &mut self.banks[b.index()];
            (state.ready, state.drained) = (ready, drained);
        }
    }

    /// Whether a transform is to run on both lanes at once.
    pub(super) fn is_ganged(&self, transform: NodeId) -> bool {
        self.choices[transform as usize].ganged
    }

    /// Whether the node is an input times a constant that only serves as an operand. Such a node has no turn
    /// of its own and is never saved: it is read through its constant whenever a node needs it in a bank.
    pub(super) fn recomputable(&self, id: NodeId) -> bool {
        self.facts.recomputable[id as usize]
    }

    /// Whether what a pass completes goes to memory on its way.
    pub(super) fn is_stored(&self, id: NodeId) -> bool {
        self.node(id).is_stored(self.facts.graph.offset(id)) && !self.recomputable(id)
    }

    /// Whether a sum of several terms may begin.
    ///
    /// Inner products take the accumulators in order: products of later keys must not start while earlier
    /// ones wait for their transforms. A conversion waits until all its sources are known, since then it can
    /// be formed in the bank in which it will be transformed, unless it is tried early. Other sums, in
    /// particular those of quotients, may begin early if no inner product needs the bank.
    pub(super) fn has_turn(&self, id: NodeId) -> bool {
        let Kind::Sum(terms) = self.kind(id) else { return true };
        if terms.len() == 1 || self.exclusive {
            return true;
        }
        if self.facts.has_product[id as usize] {
            let free = self.frame.free_accumulators.min(Frame::SUMS);
            return self.frame.waiting[..free].contains(&Some(id));
        }
        if self.all_known(id) {
            return true;
        }
        match self.choice(id).early {
            Early::Anywhere if self.next_transform(id).is_some() => true,
            Early::Not => self.next_transform(id).is_none() && self.space_beside_sums(id),
            _ => self.space_beside_sums(id),
        }
    }

    /// What the plan chooses for a node.
    pub(super) fn choice(&self, id: NodeId) -> Choice {
        self.choices[id as usize]
    }

    /// Whether everything that a node reads has been computed, or is recomputed when it is read.
    pub(super) fn all_known(&self, id: NodeId) -> bool {
        self.unknown[id as usize] == 0
    }

    /// A node has been computed.
    pub(super) fn set_done(&mut self, id: NodeId) {
        self.node_mut(id).phase = Phase::Done;
        if !self.recomputable(id) {
            for &c in &self.facts.consumers[id as usize] {
                self.unknown[c as usize] -= 1;
            }
        }
    }

    /// The cycle from which a node that would hold a bank for its reader should be computed; none while that reader
    /// waits for something that has not begun.
    pub(super) fn wanted_from(&self, id: NodeId) -> Option<u64> {
        let n = self.node(id);
        let occupies = |x: NodeId| self.node(x).bank.is_some() && self.node(x).copy.is_none();
        let frees = self.tuning.eager && self.facts.operands[id as usize].iter().any(|&x| occupies(x));
        if self.exclusive || frees || !n.outputs.is_empty() || n.transforms > 0 || n.streams > 0 {
            return Some(0);
        }
        let lead = self.tuning.lead * self.clock.pass(true);
        let from = |c: NodeId| match self.kind(c) {
            &Kind::SubK { a, b, .. } => {
                let other = if a == id { b } else { a };
                let o = self.node(other);
                let ready = o.bank.map_or(0, |bank| self.bank(bank).ready);
                (o.phase == Phase::Done).then(|| ready.saturating_sub(lead))
            }
            Kind::Sum(_) => (self.node(c).phase == Phase::Partial || self.has_turn(c)).then_some(0),
            _ => Some(0),
        };
        let open = |&&c: &&NodeId| self.node(c).phase != Phase::Done;
        self.facts.consumers[id as usize].iter().filter(open).filter_map(|&c| from(c)).min()
    }

    /// Whether there is an accumulator for `id` that no inner product will want soon.
    pub(super) fn space_beside_sums(&self, id: NodeId) -> bool {
        self.spare_accumulator(self.order[id as usize])
    }

    /// The same for what stands at a place of the order.
    pub(super) fn spare_accumulator(&self, order: u32) -> bool {
        let horizon = order.saturating_add(self.tuning.soon);
        let soon = |s: &&NodeId| self.order[**s as usize] < horizon;
        let wanted = self.frame.waiting.iter().flatten().filter(soon).count();
        self.frame.free_accumulators > wanted
    }

    /// Sums of products that have not begun, in order.
    pub(super) fn waiting_sums(&self) -> impl Iterator<Item = NodeId> + '_ {
        let sums = self.sums[self.first_sum..].iter().copied();
        sums.filter(|&s| self.node(s).phase == Phase::Waiting)
    }

    /// Steps over the sums that have begun.
    pub(super) fn advance_sums(&mut self) {
        while self.sums.get(self.first_sum).is_some_and(|&s| self.node(s).phase != Phase::Waiting) {
            self.first_sum += 1;
        }
    }

    /// The transform that reads the node next, if one does.
    pub(super) fn next_transform(&self, id: NodeId) -> Option<NodeId> {
        if self.node(id).transforms == 0 {
            return None;
        }
        let waiting = |&&t: &&NodeId| self.node(t).phase == Phase::Waiting;
        self.facts.transforms_of[id as usize].iter().find(waiting).copied()
    }

    /// The place in the order of the next reader.
    pub(super) fn next_use(&self, id: NodeId) -> u32 {
        let open = |&&c: &&NodeId| self.node(c).phase != Phase::Done;
        let next =
            self.facts.consumers[id as usize].iter().filter(open).map(|&c| self.order[c as usize]).min();
        next.unwrap_or(u32::MAX)
    }

    /// Whether a value in a bank must still go to memory: outputs, operands from memory, and results of transforms that
    /// will be read more often than the bank can be kept for them.
    pub(super) fn wants_store(&self, id: NodeId) -> bool {
        let n = self.node(id);
        if n.phase != Phase::Done {
            return false;
        }
        // Coefficients are lifted or converted to one modulus after the other, an evaluated digit enters two sums at once.
        let kept = match self.kind(id) {
            Kind::Transform { inverse: true, .. } => 1,
            Kind::Transform { inverse: false, .. } => 2,
            _ => u32::MAX,
        };
        let shared = (n.transforms > 0 && n.reads > 1) || n.reads > kept;
        !n.outputs.is_empty() || (n.copy.is_none() && (n.streams > 0 || shared))
    }

    /// Whether all that the node asks for has been done.
    pub(super) fn finished(&self, id: NodeId) -> bool {
        match self.kind(id) {
            Kind::Gone | Kind::Input { .. } => true,
            _ if self.recomputable(id) => true,
            _ => {
                let n = self.node(id);
                n.phase == Phase::Done && n.outputs.is_empty() && !self.wants_store(id)
            }
        }
    }

    /// Forgets a value that nothing reads any more.
    pub(super) fn release(&mut self, id: NodeId) {
        if self.node(id).alive() {
            return;
        }
        if let Some(bank) = self.node_mut(id).bank.take() {
            self.set_content(bank, Content::Empty);
        }
        // Inputs stay where they are: what was computed from one may have to be computed again.
        if let Some(copy) = self.node_mut(id).copy.take_if(|copy| copy.scratch) {
            self.layout.give_back(copy.address);
        }
    }
}
