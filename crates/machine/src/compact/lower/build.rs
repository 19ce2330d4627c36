//! From the instructions of a limb program to nodes.
//!
//! Sums are flattened: an inner product, a conversion, and what is added to either are one sum, whatever the order in
//! which its terms become known. Automorphisms are not nodes but a way to read one, wherever a bank can be read.

use std::collections::HashMap;

use ringmill_program::limb::{InputClass, Instruction, LimbProgram, Opcode, Operand, Source, ValueId};
use ringmill_program::schedule::lifetime::Readers;
use ringmill_program::schedule::order::sink;
use ringmill_ring::Modulus;

use super::graph::{Graph, Kind, NodeId, Term, Use};
use crate::compact::table::power_of_two;
use crate::compact::{CompactConfig, CompactError};

/// Fraction bits of the sum that gives a quotient, and bits of each y that enter it.
const QUOTIENT_BITS: u32 = 28;
const QUOTIENT_SOURCE_BITS: u32 = 14;

/// The nodes of a program.
///
/// # Errors
/// What the core cannot compute.
pub(crate) fn build(config: &CompactConfig, program: &LimbProgram) -> Result<Graph, CompactError> {
    let written: Vec<u32> = (0..program.len() as u32).collect();
    let mut b = Builder {
        config,
        program,
        graph: Graph::default(),
        value: vec![Use::plain(0); program.values()],
        readers: Readers::of(program).counts(),
        current: 0,
        inputs: HashMap::new(),
        scaled: HashMap::new(),
        permuted: HashMap::new(),
        quotients: HashMap::new(),
    };
    for i in sink(program, &written) {
        b.instruction(i as usize)?;
    }
    super::fold::fold(&mut b.graph, &program.moduli().iter().map(|m| m.modulus).collect::<Vec<_>>());
    b.graph.sweep();
    Ok(b.graph)
}

struct Builder<'a> {
    config: &'a CompactConfig,
    program: &'a LimbProgram,
    graph: Graph,
    /// The node of each value so far.
    value: Vec<Use>,
    /// How many instructions read each value.
    readers: Vec<u32>,
    /// The instruction at hand.
    current: usize,
    /// Nodes of input limbs, plain and times 2^R.
    inputs: HashMap<(u32, bool), NodeId>,
    /// Nodes times a constant that serve as operand A of products.
    scaled: HashMap<(NodeId, u64), NodeId>,
    /// Nodes under an automorphism, where it had to be computed.
    permuted: HashMap<Use, NodeId>,
    /// The sums of quotients, whose upper bits a conversion takes by itself.
    quotients: HashMap<NodeId, NodeId>,
}

impl Builder<'_> {
    fn modulus(&self, id: u8) -> Modulus {
        self.program.moduli()[usize::from(id)].modulus
    }

    fn input(&mut self, input: u32, scaled: bool, modulus: u8) -> NodeId {
        let graph = &mut self.graph;
        *self
            .inputs
            .entry((input, scaled))
            .or_insert_with(|| graph.push(Kind::Input { input, scaled }, modulus))
    }

    fn operand(&mut self, operand: Operand) -> Use {
        match operand.source() {
            Source::Value(v) => self.value[v.index()],
            Source::Input(i) => {
                let modulus = self.program.operand_type(operand).modulus().map_or(0, |m| m.0 as u8);
                Use::plain(self.input(i.0, false, modulus))
            }
        }
    }

    /// The operand as a node that can be read from memory or transformed.
    fn node(&mut self, operand: Operand) -> NodeId {
        let u = self.operand(operand);
        self.settle(u)
    }

    fn settle(&mut self, u: Use) -> NodeId {
        if u.is_plain() {
            return u.node;
        }
        let modulus = self.graph.modulus(u.node);
        let graph = &mut self.graph;
        *self.permuted.entry(u).or_insert_with(|| graph.push(Kind::Sum(vec![Term::Plus(u)]), modulus))
    }

    /// Whether the limb is a key or a plaintext, which the driver can store times 2^R.
    fn constant_input(&self, operand: Operand) -> Option<u32> {
        let Source::Input(i) = operand.source() else { return None };
        (self.program.input_group(i).class != InputClass::Data).then_some(i.0)
    }

    /// The terms of an operand: its own, if it is a sum that this instruction alone reads, once.
    fn terms(&mut self, operand: Operand) -> Vec<Term> {
        let u = self.operand(operand);
        let named = self.program.operands(self.current).iter().filter(|&&o| o == operand).count();
        let once = named == 1 && operand.value().is_some_and(|v| self.readers[v.index()] == 1);
        let node = &mut self.graph.nodes[u.node as usize];
        if once
            && u.is_plain()
            && let Kind::Sum(terms) = &mut node.kind
        {
            let terms = std::mem::take(terms);
            node.kind = Kind::Gone;
            return terms;
        }
        vec![Term::Plus(u)]
    }

    /// The terms of a sum without products that this instruction alone reads, which is gone then.
    fn own_terms(&mut self, operand: Operand) -> Option<Vec<Term>> {
        let whole = self.operand(operand);
        let is_sum = matches!(self.graph.kind(whole.node), Kind::Sum(_));
        let terms = self.terms(operand);
        let own = is_sum && matches!(self.graph.kind(whole.node), Kind::Gone);
        if own && terms.iter().any(|t| matches!(t, Term::Product { .. })) {
            self.graph.nodes[whole.node as usize].kind = Kind::Sum(terms);
            return None;
        }
        own.then_some(terms)
    }

    /// The node `u` times `k`, as operand A of products.
    fn times(&mut self, u: Use, k: u64) -> Use {
        let modulus = self.graph.modulus(u.node);
        let graph = &mut self.graph;
        let scaled = Kind::Sum(vec![Term::Scaled { x: Use::plain(u.node), k, shift: 0 }]);
        let node = *self.scaled.entry((u.node, k)).or_insert_with(|| graph.push(scaled, modulus));
        Use { node, galois: u.galois }
    }

    /// a·b as one pass: a key or plaintext limb, which memory holds times 2^R, is the operand from memory; of two other
    /// limbs the first is multiplied by 2^R where it enters its bank.
    fn product(&mut self, a: Operand, b: Operand, modulus: u8) -> Term {
        for (x, constant) in [(a, b), (b, a)] {
            if let Some(input) = self.constant_input(constant) {
                let s = self.input(input, true, modulus);
                return Term::Product { a: self.operand(x), s };
            }
        }
        let (mut a, mut b) = (self.operand(a), self.operand(b));
        let two_r = power_of_two(self.modulus(modulus), self.config.factor_bits());
        let swap = !b.is_plain() || self.scaled.contains_key(&(b.node, two_r));
        if swap && a.is_plain() && !self.scaled.contains_key(&(a.node, two_r)) {
            (a, b) = (b, a);
        }
        let s = self.settle(b);
        Term::Product { a: self.times(a, two_r), s }
    }

    /// A term times a constant; none if that takes another pass.
    fn scale(&mut self, term: Term, c: u64, modulus: u8) -> Option<Term> {
        let q = self.modulus(modulus);
        Some(match term {
            Term::Plus(x) => Term::Scaled { x, k: c, shift: 0 },
            Term::Minus(x) => Term::Scaled { x, k: q.neg(c), shift: 0 },
            Term::Scaled { x, k, shift } => Term::Scaled { x, k: q.mul(k, c), shift },
            Term::Product { a, s } => {
                let (base, k) = super::fold::scaled_base(&self.graph, a.node)?;
                Term::Product { a: self.times(Use { node: base, galois: a.galois }, q.mul(k, c)), s }
            }
        })
    }

    fn mul_const(&mut self, a: Operand, c: u64, modulus: u8) -> Kind {
        let before = self.operand(a);
        let terms = self.terms(a);
        let scaled: Option<Vec<Term>> = terms.iter().map(|&t| self.scale(t, c, modulus)).collect();
        if let Some(terms) = scaled {
            return Kind::Sum(terms);
        }
        self.graph.nodes[before.node as usize].kind = Kind::Sum(terms);
        Kind::Sum(vec![Term::Scaled { x: before, k: c, shift: 0 }])
    }

    fn sum(&mut self, a: Operand, b: Operand, minus: bool, modulus: u8) -> Kind {
        let mut terms = self.terms(a);
        let whole = self.operand(b);
        let added = self.terms(b);
        let products = added.iter().any(|t| matches!(t, Term::Product { .. }));
        if minus && products {
            self.graph.nodes[whole.node as usize].kind = Kind::Sum(added);
            terms.push(Term::Minus(whole));
            return Kind::Sum(terms);
        }
        let q = self.modulus(modulus);
        terms.extend(added.into_iter().map(|t| match t {
            _ if !minus => t,
            Term::Plus(x) => Term::Minus(x),
            Term::Minus(x) => Term::Plus(x),
            Term::Scaled { x, k, shift } => Term::Scaled { x, k: q.neg(k), shift },
            Term::Product { .. } => t,
        }));
        Kind::Sum(terms)
    }

    fn instruction(&mut self, i: usize) -> Result<(), CompactError> {
        use Instruction as I;
        self.current = i;
        let program = self.program;
        let modulus = |v: ValueId| program.value_type(v).modulus().map_or(0, |m| m.0 as u8);
        let (dst, kind) = match program.instruction(i) {
            I::Load { dst, input } => {
                let node = self.input(input.0, false, modulus(dst));
                self.value[dst.index()] = Use::plain(node);
                return Ok(());
            }
            I::Store { output, src } => {
                self.store(src, output.0);
                return Ok(());
            }
            I::Automorphism { dst, src, galois } => {
                let mask = (2 << program.log_n()) - 1;
                let turn = |u: Use| Use { galois: ((u64::from(u.galois) * galois) & mask) as u32, ..u };
                let Some(terms) = self.own_terms(src) else {
                    self.value[dst.index()] = turn(self.operand(src));
                    return Ok(());
                };
                // A sum of its own: its terms are read so, and it need not be copied where it is stored.
                (dst, Kind::Sum(terms.into_iter().map(|term| term.read(turn)).collect()))
            }
            I::Quotient { dst, sources } => {
                let node = self.quotient(sources)?;
                self.value[dst.index()] = Use::plain(node);
                return Ok(());
            }
            I::Ntt { dst, src } | I::Intt { dst, src } => {
                let inverse = program.opcode(i) == Opcode::Intt;
                (dst, Kind::Transform { x: self.node(src), inverse })
            }
            I::Add { dst, a, b } => (dst, self.sum(a, b, false, modulus(dst))),
            I::Sub { dst, a, b } => (dst, self.sum(a, b, true, modulus(dst))),
            I::Neg { dst, a } => {
                let minus_one = self.modulus(modulus(dst)).value() - 1;
                (dst, self.mul_const(a, minus_one, modulus(dst)))
            }
            I::Mul { dst, a, b } => (dst, Kind::Sum(vec![self.product(a, b, modulus(dst))])),
            I::Mac { dst, acc, a, b } => {
                let mut terms = self.terms(acc);
                terms.push(self.product(a, b, modulus(dst)));
                (dst, Kind::Sum(terms))
            }
            I::MulConst { dst, a, constant } => (dst, self.mul_const(a, constant, modulus(dst))),
            I::AddConst { dst, a, constant } => (dst, Kind::AddK { x: self.node(a), k: constant }),
            I::SubMulConst { dst, a, b, constant } => {
                (dst, Kind::SubK { a: self.node(a), b: self.node(b), k: constant })
            }
            I::Lift { dst, src } => {
                let x = self.node(src);
                (dst, Kind::Lift { x, source: self.graph.modulus(x), k: 1 })
            }
            I::Convert { dst, sources, quotient } => {
                (dst, Kind::Sum(self.convert(sources, quotient, modulus(dst))))
            }
            I::Dot { dst, a, b } => {
                let m = modulus(dst);
                (dst, Kind::Sum(a.iter().zip(b).map(|(&a, &b)| self.product(a, b, m)).collect()))
            }
        };
        let node = self.graph.push(kind, modulus(dst));
        self.value[dst.index()] = Use::plain(node);
        Ok(())
    }

    fn store(&mut self, src: Operand, output: u32) {
        let u = self.operand(src);
        let from_memory = matches!(self.graph.kind(u.node), Kind::Input { .. });
        let node = if from_memory || !u.is_plain() {
            let modulus = self.graph.modulus(u.node);
            self.graph.push(Kind::Sum(vec![Term::Plus(u)]), modulus)
        } else {
            u.node
        };
        self.graph.nodes[node as usize].outputs.push(output);
    }

    /// v = (2^27 + Σ (y_i >> h_i)·R_i) >> 28: a sum modulo a modulus that it never reaches, and a shift, which the
    /// products of a conversion do on their way.
    fn quotient(&mut self, sources: &[Operand]) -> Result<NodeId, CompactError> {
        let moduli = self.program.moduli();
        let half = 1 << (QUOTIENT_BITS - 1);
        let bound = ((sources.len() as u64) << QUOTIENT_BITS) + half;
        let greatest = (0..moduli.len()).max_by_key(|&i| moduli[i].modulus.value()).unwrap_or(0);
        if moduli.get(greatest).is_none_or(|m| m.modulus.value() <= bound) {
            return Err(CompactError::QuotientModulus { sources: sources.len() });
        }
        let mut terms = Vec::new();
        for &y in sources {
            let s = self.program.operand_type(y).modulus().map(|m| self.program.modulus(m));
            let (bits, s) = s.map_or((1, 1), |s| (s.bits(), s.value()));
            let shift = bits.saturating_sub(QUOTIENT_SOURCE_BITS);
            let k = ((1u128 << (QUOTIENT_BITS + shift)) / u128::from(s)) as u64;
            terms.push(Term::Scaled { x: Use::plain(self.node(y)), k, shift: shift as u8 });
        }
        let x = self.graph.push(Kind::Sum(terms), greatest as u8);
        self.graph.nodes[x as usize].offset = half;
        let v = self.graph.push(Kind::ShrK { x, k: 0, shift: QUOTIENT_BITS as u8 }, greatest as u8);
        self.quotients.insert(v, x);
        Ok(v)
    }

    /// Σ y_i·(S/s_i) − v·S: any word is an operand of a product, so that y_i needs no reduction modulo q.
    fn convert(&mut self, sources: &[Operand], v: Option<Operand>, modulus: u8) -> Vec<Term> {
        let q = self.modulus(modulus);
        let source_of = |&y: &Operand| self.program.operand_type(y).modulus();
        let residues: Vec<u64> = sources
            .iter()
            .map(|y| source_of(y).map_or(1, |m| q.reduce(self.program.modulus(m).value())))
            .collect();
        let product = |skip: usize| {
            let others = residues.iter().enumerate().filter(|&(i, _)| i != skip);
            others.fold(1, |p, (_, &s)| q.mul(p, s))
        };
        let factors: Vec<u64> = (0..sources.len()).map(product).collect();
        let minus_whole = q.neg(product(sources.len()));
        let mut terms: Vec<Term> = sources
            .iter()
            .zip(factors)
            .map(|(&y, k)| Term::Scaled { x: Use::plain(self.node(y)), k, shift: 0 })
            .collect();
        if let Some(v) = v {
            let v = self.node(v);
            let sum = self.quotients.get(&v).copied();
            let shift = if sum.is_some() { QUOTIENT_BITS as u8 } else { 0 };
            terms.push(Term::Scaled { x: Use::plain(sum.unwrap_or(v)), k: minus_whole, shift });
        }
        terms
    }
}
