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
    /// The transforms of each node.
    pub(super) transforms_of: Vec<Vec<NodeId>>,
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
        Self {
            graph,
            moduli,
            nodes,
            unknown,
            order: order(graph, &consumers),
            heights: heights(graph, &consumers),
            recomputable,
            inner_products: ids.clone().filter(|&id| several(id) && has_product[id as usize]).collect(),
            transforms: ids.filter(|&id| is_transform(id)).collect(),
            transforms_of: consumers.iter().map(transforms_of).collect(),
            has_product,
            operands,
            consumers,
        }
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
