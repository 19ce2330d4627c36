//! What a program asks of a core, whatever the schedule: for bounds that no schedule goes below.
//!
//! Tasks are the nodes that the scheduler works on, without constants, moduli and banks. A plan also moves
//! limbs when banks are short and makes roots; these are not tasks. An input times a constant that only
//! serves as an operand is an input here: a pass brings it into a bank, as it does a plain one.

use ringmill_program::limb::LimbProgram;

use super::lower::build::build;
use super::lower::graph::{Graph, Kind, NodeId, Term, Use};
use super::plan::memory_use;
use super::{CompactConfig, CompactError};

/// One pass through the arithmetic unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Pass {
    /// The tasks whose results it reads.
    pub reads: [Option<u32>; 2],
    /// The task whose result comes from memory and from nowhere else.
    pub streams: Option<u32>,
    /// Whether what it reads must stand in a bank.
    pub from_bank: bool,
    /// Whether a bank is read in another order than it was written in, so that it must be complete.
    pub permuted: bool,
}

/// What a task is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TaskKind {
    /// Nothing: it went into others.
    None,
    /// A limb that is in memory from the start.
    Input,
    /// Passes in any order; the result is there after the last.
    Passes(Vec<Pass>),
    /// The transform of another task's result.
    Transform(u32),
}

/// Something to be done; tasks are numbered so that none reads a later one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    /// What it is.
    pub kind: TaskKind,
    /// Limbs of the program's output that are its result.
    pub outputs: u32,
    /// Whether the pass that completes it stores it; never of a transform.
    pub stored: bool,
}

/// All tasks of a program.
///
/// # Errors
/// What the core cannot compute.
pub fn tasks(config: &CompactConfig, program: &LimbProgram) -> Result<Vec<Task>, CompactError> {
    let graph = build(config, program)?;
    let memory = memory_use(config, program, &graph);
    let (order, place) = in_order(&graph);
    Ok(order.into_iter().map(|id| task(&graph, id as usize, memory[id as usize], &place)).collect())
}

/// The nodes so that operands come first, and the place of each: nearly their numbers.
fn in_order(graph: &Graph) -> (Vec<NodeId>, Vec<u32>) {
    let count = graph.nodes.len();
    let (mut order, mut place) = (Vec::with_capacity(count), vec![u32::MAX; count]);
    for root in 0..count as NodeId {
        let mut open = vec![root];
        while let Some(&id) = open.last() {
            if place[id as usize] != u32::MAX {
                open.pop();
                continue;
            }
            let waiting = open.len();
            let operands = graph.kind(id).operands();
            open.extend(operands.iter().map(|u| u.node).filter(|&x| place[x as usize] == u32::MAX));
            if open.len() == waiting {
                open.pop();
                place[id as usize] = order.len() as u32;
                order.push(id);
            }
        }
    }
    (order, place)
}

fn task(graph: &Graph, id: usize, (stored, recomputed): (bool, bool), place: &[u32]) -> Task {
    let node = &graph.nodes[id];
    let at = |x: NodeId| place[x as usize];
    let one = |reads: [Option<u32>; 2]| TaskKind::Passes(vec![Pass { reads, ..Pass::default() }]);
    let pass = |term: Term| {
        let read = |x: Use, streams: Option<NodeId>| Pass {
            reads: [Some(at(x.node)), None],
            streams: streams.map(at),
            from_bank: streams.is_some() || !x.is_plain(),
            permuted: !x.is_plain(),
        };
        match term {
            Term::Product { a, s } => read(a, Some(s)),
            Term::Scaled { x, .. } | Term::Plus(x) | Term::Minus(x) => read(x, None),
        }
    };
    let kind = match &node.kind {
        Kind::Gone => TaskKind::None,
        Kind::Input { .. } => TaskKind::Input,
        Kind::Sum(_) if recomputed => TaskKind::Input,
        Kind::Sum(terms) => TaskKind::Passes(terms.iter().map(|&t| pass(t)).collect()),
        &Kind::Lift { x, .. } | &Kind::AddK { x, .. } | &Kind::ShrK { x, .. } => one([Some(at(x)), None]),
        &Kind::SubK { a, b, .. } => one([Some(at(a)), Some(at(b))]),
        &Kind::Transform { x, .. } => TaskKind::Transform(at(x)),
    };
    let stored = stored && matches!(kind, TaskKind::Passes(_));
    Task { kind, outputs: node.outputs.len() as u32, stored }
}
