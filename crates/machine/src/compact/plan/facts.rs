//! What all attempts at planning a graph share: who reads what, and how often.

use ringmill_ring::Modulus;

use super::super::lower::graph::{Graph, Kind, NodeId, Term};
use super::state::{NodeState, Phase};

/// The graph with what follows from it alone.
#[derive(Debug)]
pub(super) struct Facts<'g> {
    pub(super) graph: &'g Graph,
    pub(super) moduli: Vec<Modulus>,
    /// What each node reads, as often as it does.
    pub(super) operands: Vec<Vec<NodeId>>,
    /// What reads each node.
    pub(super) consumers: Vec<Vec<NodeId>>,
    /// Nodes before anything is done.
    pub(super) nodes: Vec<NodeState>,
    /// Of the operands of each node, those that have to be computed once and for all.
    pub(super) unknown: Vec<u32>,
    /// The place of each node in the limb program.
    pub(super) order: Vec<u32>,
    /// The greatest number of transforms between each node and the end.
    pub(super) heights: Vec<u32>,
    pub(super) recomputable: Vec<bool>,
    /// Whether a node is a sum with products among its terms.
    pub(super) has_product: Vec<bool>,
    /// Sums of several terms with products among them.
    pub(super) inner_products: Vec<NodeId>,
    /// The transforms in the order of the program.
    pub(super) transforms: Vec<NodeId>,
    /// Where the program consists of several alike parts that share inputs only: the same node in each of them.
    pub(super) twins: Vec<Vec<NodeId>>,
    /// The part of each node, and its place there.
    pub(super) places: Vec<(u32, u32)>,
    /// What choices of single nodes are drawn from.
    pub(super) first: FirstPart,
    /// The transforms of each node.
    pub(super) transforms_of: Vec<Vec<NodeId>>,
}

/// Nodes of the first of several alike parts, or of all there is.
#[derive(Debug)]
pub(super) struct FirstPart {
    pub(super) transforms: Vec<NodeId>,
    /// What will be transformed.
    pub(super) to_transform: Vec<NodeId>,
    /// Nodes with a turn of their own.
    pub(super) computed: Vec<NodeId>,
}

impl<'g> Facts<'g> {
    pub(super) fn new(graph: &'g Graph, moduli: Vec<Modulus>) -> Self {
        let count = graph.nodes.len();
        let ids = 0..count as NodeId;
        let list = |id| graph.kind(id).operands().iter().map(|u| u.node).collect();
        let operands: Vec<Vec<NodeId>> = ids.clone().map(list).collect();
        let mut consumers = vec![Vec::new(); count];
        for (id, list) in operands.iter().enumerate() {
            list.iter().for_each(|&x| consumers[x as usize].push(id as NodeId));
        }
        let nodes = nodes(graph, &consumers);
        let factors = product_operands(graph);
        let recomputable: Vec<bool> = (0..count)
            .map(|id| {
                let only = nodes[id].outputs.is_empty() && nodes[id].reads == factors[id];
                only && is_scaled_input(graph, id)
            })
            .collect();
        let computed =
            |x: &&NodeId| !recomputable[**x as usize] && !matches!(graph.kind(**x), Kind::Input { .. });
        let unknown = operands.iter().map(|list| list.iter().filter(computed).count() as u32).collect();
        let is_transform = |id: NodeId| matches!(graph.kind(id), Kind::Transform { .. });
        let transforms_of = |list: &Vec<NodeId>| list.iter().copied().filter(|&c| is_transform(c)).collect();
        let has_product: Vec<bool> = ids.clone().map(|id| has_product(graph, id)).collect();
        let several = |id: NodeId| matches!(graph.kind(id), Kind::Sum(terms) if terms.len() > 1);
        let places = places(graph, &operands);
        let of_first = |f: &dyn Fn(NodeId) -> bool| -> Vec<NodeId> {
            ids.clone().filter(|&id| places[id as usize].0 == 0 && f(id)).collect()
        };
        let no_turn = |id: NodeId| {
            recomputable[id as usize] || matches!(graph.kind(id), Kind::Gone | Kind::Input { .. })
        };
        let first = FirstPart {
            transforms: of_first(&is_transform),
            to_transform: of_first(&|id| nodes[id as usize].transforms > 0),
            computed: of_first(&|id| !no_turn(id)),
        };
        Self {
            graph,
            moduli,
            twins: twins(graph, &places),
            places,
            unknown,
            order: order(graph, &consumers),
            heights: heights(graph, &consumers),
            inner_products: ids.clone().filter(|&id| several(id) && has_product[id as usize]).collect(),
            first,
            transforms: ids.filter(|&id| is_transform(id)).collect(),
            transforms_of: consumers.iter().map(transforms_of).collect(),
            has_product,
            nodes,
            recomputable,
            operands,
            consumers,
        }
    }
}

impl Facts<'_> {
    /// How many alike parts there are.
    pub(super) fn parts(&self) -> usize {
        self.first.computed.first().map_or(1, |&id| self.twins[id as usize].len())
    }

    /// The graph of the first `count` parts.
    pub(super) fn graph_of_parts(&self, count: u32) -> Graph {
        let mut graph = self.graph.clone();
        for (node, &(part, _)) in graph.nodes.iter_mut().zip(&self.places) {
            if part != u32::MAX && part >= count {
                (node.kind, node.outputs) = (Kind::Gone, Vec::new());
            }
        }
        graph
    }
}

fn nodes(graph: &Graph, consumers: &[Vec<NodeId>]) -> Vec<NodeState> {
    let mut nodes: Vec<NodeState> = graph.nodes.iter().map(initial).collect();
    for (node, readers) in nodes.iter_mut().zip(consumers) {
        node.reads = readers.len() as u32;
    }
    for node in &graph.nodes {
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
    nodes
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

fn has_product(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.kind(id), Kind::Sum(terms) if terms.iter().any(|t| matches!(t, Term::Product { .. })))
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
fn is_scaled_input(graph: &Graph, id: usize) -> bool {
    let Kind::Sum(terms) = &graph.nodes[id].kind else { return false };
    let [Term::Scaled { x, shift: 0, .. }] = terms[..] else { return false };
    x.is_plain() && matches!(graph.kind(x.node), Kind::Input { .. })
}

/// The greatest number of transforms between each node and the end.
fn heights(graph: &Graph, consumers: &[Vec<NodeId>]) -> Vec<u32> {
    let mut heights = vec![0; consumers.len()];
    // Scaled copies of inputs may stand behind their readers: a second walk settles them.
    for id in (0..consumers.len()).rev().chain((0..consumers.len()).rev()) {
        let above = consumers[id].iter().map(|&c| heights[c as usize]).max().unwrap_or(0);
        heights[id] = above + u32::from(matches!(graph.nodes[id].kind, Kind::Transform { .. }));
    }
    heights
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

/// The part of each node, connected otherwise than by inputs, and its place there. All is one part unless all are alike.
fn places(graph: &Graph, operands: &[Vec<NodeId>]) -> Vec<(u32, u32)> {
    let counts = |id: NodeId| !matches!(graph.kind(id), Kind::Input { .. } | Kind::Gone);
    // The least node of each part stands for it: to be found by following the links.
    let mut links: Vec<u32> = (0..operands.len() as u32).collect();
    let find = |links: &[u32], mut id: u32| {
        while links[id as usize] != id {
            id = links[id as usize];
        }
        id
    };
    for (id, list) in operands.iter().enumerate() {
        for &x in list.iter().filter(|&&x| counts(x)) {
            let (a, b) = (find(&links, id as u32), find(&links, x));
            links[a.max(b) as usize] = a.min(b);
        }
    }
    let mut parts: Vec<(u32, Vec<NodeId>)> = Vec::new();
    for id in (0..operands.len() as NodeId).filter(|&id| counts(id)) {
        let part = find(&links, id);
        match parts.iter_mut().find(|(p, _)| *p == part) {
            Some((_, nodes)) => nodes.push(id),
            None => parts.push((part, vec![id])),
        }
    }
    let look = |id: &NodeId| {
        let node = &graph.nodes[*id as usize];
        (std::mem::discriminant(&node.kind), node.modulus, node.kind.operands().len())
    };
    let alike = |nodes: &[NodeId]| nodes.iter().map(look).eq(parts[0].1.iter().map(look));
    let mut places: Vec<(u32, u32)> = (0..operands.len() as u32).map(|id| (0, id)).collect();
    if parts.len() > 1 && parts.iter().all(|(_, nodes)| alike(nodes)) {
        for (part, (_, nodes)) in parts.iter().enumerate() {
            for (at, &id) in nodes.iter().enumerate() {
                places[id as usize] = (part as u32, at as u32);
            }
        }
        // Inputs stand beside the parts.
        for id in (0..operands.len() as NodeId).filter(|&id| !counts(id)) {
            places[id as usize] = (u32::MAX, id);
        }
    }
    places
}

fn twins(graph: &Graph, places: &[(u32, u32)]) -> Vec<Vec<NodeId>> {
    let mut of = vec![Vec::new(); graph.nodes.len()];
    for (id, &(part, at)) in places.iter().enumerate() {
        if part != u32::MAX {
            of[at as usize].push(id as NodeId);
        }
    }
    let twins = |(id, &(part, at)): (usize, &(u32, u32))| match part {
        u32::MAX => vec![id as NodeId],
        _ => of[at as usize].clone(),
    };
    places.iter().enumerate().map(twins).collect()
}
