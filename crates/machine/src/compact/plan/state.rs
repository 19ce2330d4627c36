//! What the scheduler knows while it writes: where every node is, what still reads it, and when units are free.

use ringmill_ring::Modulus;

use super::super::isa::Bank;
use super::super::lower::graph::{Graph, Kind, NodeId, Term};
use super::clock::Clock;
use super::layout::Layout;

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
#[derive(Debug, Clone)]
pub(super) struct State<'g> {
    pub(super) graph: &'g Graph,
    pub(super) nodes: Vec<NodeState>,
    /// What reads each node.
    pub(super) consumers: Vec<Vec<NodeId>>,
    /// The place of each node in the order of preference.
    pub(super) order: Vec<u32>,
    pub(super) banks: [BankState; Bank::COUNT],
    pub(super) clock: Clock,
    pub(super) layout: Layout,
    pub(super) moduli: &'g [Modulus],
    recomputable: Vec<bool>,
    /// Stores written so far.
    pub(super) stores: u64,
    /// The address of the last of them.
    pub(super) last_address: u32,
    /// The node for which room has been made by force: nothing else proceeds, and it may take any bank.
    pub(super) exclusive: Option<NodeId>,
}

impl<'g> State<'g> {
    pub(super) fn new(graph: &'g Graph, moduli: &'g [Modulus], clock: Clock, layout: Layout) -> Self {
        let count = graph.nodes.len();
        let mut consumers = vec![Vec::new(); count];
        let mut nodes: Vec<NodeState> = graph.nodes.iter().map(initial).collect();
        for (id, node) in graph.nodes.iter().enumerate() {
            for u in node.kind.operands() {
                consumers[u.node as usize].push(id as NodeId);
                nodes[u.node as usize].reads += 1;
            }
            match &node.kind {
                Kind::Transform { x, .. } => nodes[*x as usize].transforms += 1,
                Kind::Sum(terms) => {
                    for term in terms {
                        if let Term::Product { s, .. } = term {
                            nodes[*s as usize].streams += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        let order = order(graph, &consumers);
        let factors = product_operands(graph);
        let recomputable = (0..count)
            .map(|id| {
                recomputable(graph, id) && nodes[id].outputs.is_empty() && nodes[id].reads == factors[id]
            })
            .collect();
        let empty = BankState { content: Content::Empty, ready: 0, drained: 0 };
        let mut state = Self {
            graph,
            nodes,
            consumers,
            order,
            banks: [empty; Bank::COUNT],
            clock,
            layout,
            moduli,
            recomputable,
            stores: 0,
            last_address: 0,
            exclusive: None,
        };
        state.place_inputs();
        state
    }

    fn place_inputs(&mut self) {
        for (id, node) in self.graph.nodes.iter().enumerate() {
            if let Kind::Input { input, scaled } = node.kind {
                let address = self.layout.input(input, scaled);
                let available = self.clock.first_read();
                let copy = MemoryCopy { address, store: 0, available, scratch: false };
                self.nodes[id].copy = Some(copy);
                self.nodes[id].phase = Phase::Done;
            }
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &NodeState {
        &self.nodes[id as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut NodeState {
        &mut self.nodes[id as usize]
    }

    pub(super) fn bank(&self, bank: Bank) -> &BankState {
        &self.banks[bank.index()]
    }

    /// Whether the node is an input times a constant that only serves as operand: it has no turn of its own but is
    /// read through its constant whenever something needs it in a bank, and is never saved.
    pub(super) fn recomputable(&self, id: NodeId) -> bool {
        self.recomputable[id as usize]
    }

    /// The transform that reads the node next, if one does.
    pub(super) fn next_transform(&self, id: NodeId) -> Option<NodeId> {
        if self.node(id).transforms == 0 {
            return None;
        }
        let waiting = |&&t: &&NodeId| {
            matches!(self.graph.kind(t), Kind::Transform { .. }) && self.node(t).phase == Phase::Waiting
        };
        self.consumers[id as usize].iter().find(waiting).copied()
    }

    /// The place in the order of the next reader.
    pub(super) fn next_use(&self, id: NodeId) -> u32 {
        let open = |&&c: &&NodeId| self.node(c).phase != Phase::Done;
        let next = self.consumers[id as usize].iter().filter(open).map(|&c| self.order[c as usize]).min();
        next.unwrap_or(u32::MAX)
    }

    /// Whether a value in a bank must still go to memory: outputs, operands from memory, and results of transforms that
    /// will be read more often than the bank can be kept for them.
    pub(super) fn wants_store(&self, id: NodeId) -> bool {
        let n = self.node(id);
        if n.phase != Phase::Done {
            return false;
        }
        let transform = matches!(self.graph.kind(id), Kind::Transform { .. });
        let shared = (n.transforms > 0 && n.reads > 1) || (transform && n.reads > 2);
        !n.outputs.is_empty() || (n.copy.is_none() && (n.streams > 0 || shared))
    }

    /// Whether all that the node asks for has been done.
    pub(super) fn finished(&self, id: NodeId) -> bool {
        match self.graph.kind(id) {
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
            self.banks[bank.index()].content = Content::Empty;
        }
        // Inputs stay where they are: what was computed from one may have to be computed again.
        if let Some(copy) = self.node_mut(id).copy.take_if(|copy| copy.scratch) {
            self.layout.give_back(copy.address);
        }
    }
}

fn initial(node: &super::super::lower::graph::Node) -> NodeState {
    let left = if let Kind::Sum(terms) = &node.kind { terms.clone() } else { Vec::new() };
    let outputs = node.outputs.clone();
    NodeState {
        phase: Phase::Waiting,
        left,
        bank: None,
        copy: None,
        reads: 0,
        streams: 0,
        transforms: 0,
        outputs,
    }
}

/// How often each node is operand A of a product.
fn product_operands(graph: &Graph) -> Vec<u32> {
    let mut count = vec![0; graph.nodes.len()];
    for node in &graph.nodes {
        let Kind::Sum(terms) = &node.kind else { continue };
        for term in terms {
            if let Term::Product { a, .. } = term {
                count[a.node as usize] += 1;
            }
        }
    }
    count
}

/// Whether the node is an input times a constant.
fn recomputable(graph: &Graph, id: usize) -> bool {
    let Kind::Sum(terms) = &graph.nodes[id].kind else { return false };
    let [Term::Scaled { x, shift: 0, .. }] = terms[..] else { return false };
    x.is_plain() && matches!(graph.kind(x.node), Kind::Input { .. })
}

/// Nodes as they were written, but for the scaled copies of inputs, which stand where they are first read.
fn order(graph: &Graph, consumers: &[Vec<NodeId>]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.nodes.len() as u32).collect();
    for id in 0..graph.nodes.len() {
        let Kind::Sum(terms) = &graph.nodes[id].kind else { continue };
        if let ([Term::Scaled { .. }], Some(&first)) = (&terms[..], consumers[id].iter().min()) {
            order[id] = order[id].max(first.min(order[first as usize])).min(first);
        }
    }
    order
}
