//! Constants behind a transform move in front of it, where they cost nothing.
//!
//! Before a base conversion every limb is multiplied by a constant, x_i·(S/s_i)^−1, right after its inverse transform,
//! when the transform units have nothing else to do. A transform is linear: the constant goes into what the limb is
//! made of. A limb read from memory is multiplied as it enters its bank. A sum takes the constant in its own
//! constants. An inner product takes it in its first operands, if these enter no other sums, and so in the
//! constants of their own lifts or conversions. Both ways give equal integers modulo q, hence the same bits.

use std::collections::HashMap;

use ringmill_ring::Modulus;

use super::graph::{Graph, Kind, NodeId, Term, Use};

/// y = c·T(w): the node y, its transform, what is transformed, and c.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    y: NodeId,
    t: NodeId,
    w: NodeId,
    c: u64,
}

/// (x, k) if the node is x·k for a plain x of the same modulus and nothing else: not the residue of a limb modulo another prime.
pub(crate) fn scaled_base(graph: &Graph, node: NodeId) -> Option<(NodeId, u64)> {
    match graph.kind(node) {
        Kind::Sum(terms) => match terms[..] {
            [Term::Scaled { x, k, shift: 0 }]
                if x.is_plain() && graph.modulus(x.node) == graph.modulus(node) =>
            {
                Some((x.node, k))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Moves every constant that can move. `moduli` are those of the program.
pub(crate) fn fold(graph: &mut Graph, moduli: &[Modulus]) {
    let readers = graph.readers();
    let mut candidates: Vec<Candidate> =
        (0..graph.nodes.len() as NodeId).filter_map(|y| candidate(graph, &readers, y)).collect();
    let sums = product_sums(graph);
    loop {
        let accepted: HashMap<NodeId, u64> = candidates.iter().map(|c| (c.w, c.c)).collect();
        let f = Folder { graph, readers: &readers, sums: &sums, accepted: &accepted };
        let keep: Vec<Candidate> = candidates.iter().copied().filter(|c| f.scalable(c)).collect();
        let settled = keep.len() == candidates.len();
        candidates = keep;
        if settled {
            break;
        }
    }
    apply(graph, moduli, &candidates);
}

fn candidate(graph: &Graph, readers: &[u32], y: NodeId) -> Option<Candidate> {
    let (t, c) = scaled_base(graph, y)?;
    let &Kind::Transform { x: w, .. } = graph.kind(t) else { return None };
    let alone = readers[t as usize] == 1 && graph.nodes[t as usize].outputs.is_empty();
    alone.then_some(Candidate { y, t, w, c })
}

/// The sums in which each node is operand A of a product.
fn product_sums(graph: &Graph) -> HashMap<NodeId, Vec<NodeId>> {
    let mut sums: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for (id, node) in graph.nodes.iter().enumerate() {
        let Kind::Sum(terms) = &node.kind else { continue };
        for term in terms {
            if let Term::Product { a, .. } = term {
                sums.entry(a.node).or_default().push(id as NodeId);
            }
        }
    }
    sums
}

struct Folder<'a> {
    graph: &'a Graph,
    readers: &'a [u32],
    sums: &'a HashMap<NodeId, Vec<NodeId>>,
    /// The constant of each candidate's w.
    accepted: &'a HashMap<NodeId, u64>,
}

impl Folder<'_> {
    fn alone(&self, id: NodeId) -> bool {
        self.readers[id as usize] == 1 && self.graph.nodes[id as usize].outputs.is_empty()
    }

    fn scalable(&self, c: &Candidate) -> bool {
        match self.graph.kind(c.w) {
            Kind::Input { .. } => true,
            Kind::Lift { .. } | Kind::SubK { .. } => self.alone(c.w),
            Kind::Sum(terms) => {
                let fixed = !self.may_become_a_transform(c.w);
                fixed && self.alone(c.w) && terms.iter().all(|&t| self.term(t, c.c))
            }
            _ => false,
        }
    }

    fn term(&self, term: Term, c: u64) -> bool {
        let Term::Product { a, .. } = term else { return true };
        match self.graph.kind(a.node) {
            &Kind::Transform { x, .. } => self.upstream(a.node, x, c),
            // One pass brings it into a bank, times 1 or times c.
            Kind::Input { .. } => true,
            _ => scaled_base(self.graph, a.node).is_some() && !self.may_become_a_transform(a.node),
        }
    }

    /// Whether a node may lose its own constant to what it transforms, so that it has none left to scale.
    fn may_become_a_transform(&self, id: NodeId) -> bool {
        candidate(self.graph, self.readers, id).is_some()
    }

    /// Whether the transform `u` of `x` can be scaled by `c` at its source: all that reads it is scaled alike.
    fn upstream(&self, u: NodeId, x: NodeId, c: u64) -> bool {
        let sums = self.sums.get(&u).map_or(&[][..], Vec::as_slice);
        let all = sums.len() == self.readers[u as usize] as usize
            && self.graph.nodes[u as usize].outputs.is_empty()
            && sums.iter().all(|sum| self.accepted.get(sum) == Some(&c));
        let source = match self.graph.kind(x) {
            Kind::Lift { .. } => true,
            Kind::Sum(terms) => {
                terms.iter().all(|t| !matches!(t, Term::Product { .. })) && !self.may_become_a_transform(x)
            }
            _ => false,
        };
        all && source && self.alone(x)
    }
}

fn apply(graph: &mut Graph, moduli: &[Modulus], candidates: &[Candidate]) {
    let mut loads: HashMap<(NodeId, u64), NodeId> = HashMap::new();
    let mut scaled: HashMap<NodeId, ()> = HashMap::new();
    for &Candidate { y, t, w, c } in candidates {
        let modulus = graph.modulus(w);
        let q = moduli[usize::from(modulus)];
        // The node numbers are an order: what y is made of must stay in front of it, so t becomes the scaled source of
        // a limb from memory, and y its transform.
        let Kind::Transform { inverse, .. } = *graph.kind(t) else { continue };
        let source = if matches!(graph.kind(w), Kind::Input { .. }) {
            graph.nodes[t as usize].kind = load(w, c);
            t
        } else {
            scale_operands(graph, w, c, q, &mut loads, &mut scaled);
            scale(graph, w, c, q);
            graph.nodes[t as usize].kind = Kind::Gone;
            w
        };
        graph.nodes[y as usize].kind = Kind::Transform { x: source, inverse };
    }
}

fn load(x: NodeId, k: u64) -> Kind {
    Kind::Sum(vec![Term::Scaled { x: Use::plain(x), k, shift: 0 }])
}

/// Multiplies the operands A of the products of `w` by `c`.
fn scale_operands(
    graph: &mut Graph,
    w: NodeId,
    c: u64,
    q: Modulus,
    loads: &mut HashMap<(NodeId, u64), NodeId>,
    scaled: &mut HashMap<NodeId, ()>,
) {
    let Kind::Sum(mut terms) = graph.kind(w).clone() else { return };
    for term in &mut terms {
        let Term::Product { a, .. } = term else { continue };
        if let &Kind::Transform { x, .. } = graph.kind(a.node) {
            if scaled.insert(a.node, ()).is_none() {
                scale(graph, x, c, q);
            }
            continue;
        }
        let (base, k) = scaled_base(graph, a.node).unwrap_or((a.node, 1));
        let k = q.mul(k, c);
        let modulus = graph.modulus(base);
        a.node = *loads.entry((base, k)).or_insert_with(|| graph.push(load(base, k), modulus));
    }
    graph.nodes[w as usize].kind = Kind::Sum(terms);
}

/// Multiplies the constants of a node by `c`; its products have been dealt with.
fn scale(graph: &mut Graph, id: NodeId, c: u64, q: Modulus) {
    match &mut graph.nodes[id as usize].kind {
        Kind::Lift { k, .. } | Kind::SubK { k, .. } => *k = q.mul(*k, c),
        Kind::Sum(terms) => {
            for term in terms {
                *term = match *term {
                    Term::Plus(x) => Term::Scaled { x, k: c, shift: 0 },
                    Term::Minus(x) => Term::Scaled { x, k: q.neg(c), shift: 0 },
                    Term::Scaled { x, k, shift } => Term::Scaled { x, k: q.mul(k, c), shift },
                    product => product,
                };
            }
        }
        _ => {}
    }
}
