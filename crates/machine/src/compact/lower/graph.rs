//! The nodes that the scheduler works on: what passes through the arithmetic unit and the transform units, without
//! banks, addresses or order.
//!
//! Constants are residues without the multiplier's factor; it is applied where instructions are written.

/// A node.
pub(crate) type NodeId = u32;

/// A node, read through an automorphism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Use {
    pub(crate) node: NodeId,
    /// The Galois element; 1 is none.
    pub(crate) galois: u32,
}

impl Use {
    pub(crate) const fn plain(node: NodeId) -> Self {
        Self { node, galois: 1 }
    }

    pub(crate) const fn is_plain(self) -> bool {
        self.galois == 1
    }
}

/// One addend of a sum; every term is one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term {
    /// mm(a, s): `a` from a bank, `s` from memory; one of them carries 2^R.
    Product { a: Use, s: NodeId },
    /// (x >> shift)·k.
    Scaled { x: Use, k: u64, shift: u8 },
    /// x.
    Plus(Use),
    /// −x.
    Minus(Use),
}

impl Term {
    /// What it reads, the operand from memory last.
    pub(crate) fn operands(self) -> [Option<Use>; 2] {
        match self {
            Self::Product { a, s } => [Some(a), Some(Use::plain(s))],
            Self::Scaled { x, .. } | Self::Plus(x) | Self::Minus(x) => [Some(x), None],
        }
    }

    /// The term with its operand from a bank read in another way.
    pub(crate) fn read(self, how: impl Fn(Use) -> Use) -> Self {
        match self {
            Self::Product { a, s } => Self::Product { a: how(a), s },
            Self::Scaled { x, k, shift } => Self::Scaled { x: how(x), k, shift },
            Self::Plus(x) => Self::Plus(how(x)),
            Self::Minus(x) => Self::Minus(how(x)),
        }
    }
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A limb that the driver puts into memory, times 2^R if `scaled`.
    Input { input: u32, scaled: bool },
    /// The sum of its terms.
    Sum(Vec<Term>),
    /// The centred residue of a limb modulo `source`, times k.
    Lift { x: NodeId, source: u8, k: u64 },
    /// x + k.
    AddK { x: NodeId, k: u64 },
    /// (a − b)·k.
    SubK { a: NodeId, b: NodeId, k: u64 },
    /// (x + k) >> shift on integers.
    ShrK { x: NodeId, k: u64, shift: u8 },
    /// The transform of x.
    Transform { x: NodeId, inverse: bool },
    /// Inlined into another node.
    Gone,
}

impl Kind {
    /// Every node read, as often as a pass reads it.
    pub(crate) fn operands(&self) -> Vec<Use> {
        match self {
            Self::Input { .. } | Self::Gone => Vec::new(),
            Self::Sum(terms) => terms.iter().flat_map(|t| t.operands()).flatten().collect(),
            Self::Lift { x, .. }
            | Self::AddK { x, .. }
            | Self::ShrK { x, .. }
            | Self::Transform { x, .. } => {
                vec![Use::plain(*x)]
            }
            Self::SubK { a, b, .. } => vec![Use::plain(*a), Use::plain(*b)],
        }
    }
}

/// A node with its modulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Index of the modulus table; of a quotient, that of the modulus under which its sum is formed.
    pub(crate) modulus: u8,
    /// Added to a sum, which then has scaled terms only.
    pub(crate) offset: u64,
    /// The output limbs that it is stored to.
    pub(crate) outputs: Vec<u32>,
}

/// All nodes; operands come before what reads them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

impl Graph {
    pub(crate) fn push(&mut self, kind: Kind, modulus: u8) -> NodeId {
        self.nodes.push(Node { kind, modulus, offset: 0, outputs: Vec::new() });
        (self.nodes.len() - 1) as NodeId
    }

    pub(crate) fn kind(&self, id: NodeId) -> &Kind {
        &self.nodes[id as usize].kind
    }

    pub(crate) fn offset(&self, id: NodeId) -> u64 {
        self.nodes[id as usize].offset
    }

    pub(crate) fn modulus(&self, id: NodeId) -> u8 {
        self.nodes[id as usize].modulus
    }

    /// Passes and transforms, if nothing had to be moved; at least one.
    pub(crate) fn passes(&self) -> usize {
        let passes = |node: &Node| match &node.kind {
            Kind::Input { .. } | Kind::Gone => 0,
            Kind::Sum(terms) => terms.len(),
            _ => 1,
        };
        self.nodes.iter().map(passes).sum::<usize>() + 1
    }

    /// How many passes read each node.
    pub(crate) fn readers(&self) -> Vec<u32> {
        let mut count = vec![0; self.nodes.len()];
        for node in &self.nodes {
            for u in node.kind.operands() {
                count[u.node as usize] += 1;
            }
        }
        count
    }

    /// Removes what nothing reads or stores.
    pub(crate) fn sweep(&mut self) {
        let mut count = self.readers();
        for id in (0..self.nodes.len()).rev() {
            if count[id] == 0 && self.nodes[id].outputs.is_empty() {
                let kind = std::mem::replace(&mut self.nodes[id].kind, Kind::Gone);
                kind.operands().iter().for_each(|u| count[u.node as usize] -= 1);
            }
        }
    }
}
