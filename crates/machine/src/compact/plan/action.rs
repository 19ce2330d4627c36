//! What could be done next: passes of the arithmetic unit with all that they read and write.

use super::super::isa::{Bank, Op};
use super::super::lower::graph::{Kind, NodeId, Term, Use};
use super::place::Demand;
use super::state::{MemoryCopy, Phase, State};

/// What a pass leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// A sum that still lacks terms.
    Partial(NodeId),
    /// A value.
    Whole(NodeId),
    /// A copy of a value, or of a partial sum, in another place.
    Copy(NodeId),
}

/// Where the result goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) bank: Option<Bank>,
    pub(super) store: Option<Store>,
}

/// Where in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    Scratch,
    Output(u32),
}

/// The operands of a pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Operands {
    pub(super) a: Option<Bank>,
    pub(super) c: Option<Bank>,
    pub(super) s: Option<MemoryCopy>,
    pub(super) galois: Option<u32>,
    pub(super) swap: bool,
}

/// A pass, or a transform of what is in its lane already.
#[derive(Debug, Clone)]
pub(super) struct Action {
    /// The node that it works for.
    pub(super) node: NodeId,
    /// None: no pass is needed.
    pub(super) op: Option<Op>,
    pub(super) operands: Operands,
    pub(super) k0: u64,
    /// Subtracted from a product by a constant.
    pub(super) k1: u64,
    pub(super) shift: u8,
    pub(super) source: u8,
    /// The nodes that it reads, each once a read.
    pub(super) reads: [Option<NodeId>; 2],
    /// The term that it adds to a sum.
    pub(super) term: Option<Term>,
    pub(super) leaves: Leaves,
    pub(super) target: Target,
    /// The transform that follows in the bank of the result.
    pub(super) then: Option<NodeId>,
    /// The earliest cycle.
    pub(super) start: u64,
    /// The cycle from which something needs it.
    pub(super) wanted: u64,
}

impl Action {
    pub(super) fn new(node: NodeId, op: Op, leaves: Leaves) -> Self {
        Self {
            node,
            op: Some(op),
            operands: Operands::default(),
            k0: 0,
            k1: 0,
            shift: 0,
            source: 0,
            reads: [None; 2],
            term: None,
            leaves,
            target: Target::default(),
            then: None,
            start: 0,
            wanted: 0,
        }
    }
}

impl State<'_> {
    /// Whether an action computes something for its node, and does not merely move what it needs.
    pub(super) fn computes(action: &Action) -> bool {
        action.then.is_some()
            || matches!(action.leaves, Leaves::Whole(id) | Leaves::Partial(id) if id == action.node)
    }

    /// What can be done for a node; nothing if it waits for others or for a bank.
    pub(super) fn actions(&self, id: NodeId, out: &mut Vec<Action>) {
        if self.wants_store(id) {
            out.extend(self.spill(id));
        }
        if self.node(id).phase == Phase::Done {
            return;
        }
        match self.kind(id) {
            Kind::Gone | Kind::Input { .. } => {}
            Kind::Sum(_) => self.sum(id, out),
            &Kind::Lift { x, source, k } => {
                let action = Action { k0: k, source, ..Action::new(id, Op::Lift, Leaves::Whole(id)) };
                self.unary(action, x, out);
            }
            &Kind::AddK { x, k } => {
                self.unary(Action { k0: k, ..Action::new(id, Op::AddK, Leaves::Whole(id)) }, x, out);
            }
            &Kind::ShrK { x, k, shift } => {
                self.unary(Action { k0: k, shift, ..Action::new(id, Op::ShrK, Leaves::Whole(id)) }, x, out);
            }
            &Kind::SubK { a, b, k } => self.difference(id, a, b, k, out),
            &Kind::Transform { x, .. } => self.transform(id, x, out),
        }
    }

    /// Copies a value, or a partial sum, to memory: to an output if it is one.
    pub(super) fn spill(&self, id: NodeId) -> Option<Action> {
        let n = self.node(id);
        let output = n.outputs.first().filter(|_| n.phase == Phase::Done);
        let store = output.map_or(Store::Scratch, |&o| Store::Output(o));
        let mut action = Action::new(id, Op::Copy, Leaves::Copy(id));
        action.operands.a = n.bank;
        action.operands.s = n.copy.filter(|_| n.bank.is_none());
        action.target.store = Some(store);
        action.start = self.earliest(&action);
        (action.operands.a.is_some() || action.operands.s.is_some()).then_some(action)
    }

    /// Where a plain operand can be read: its bank if it has one, otherwise memory.
    fn located(&self, x: NodeId) -> Option<(Option<Bank>, Option<MemoryCopy>)> {
        let n = self.node(x);
        if n.phase != Phase::Done {
            return None;
        }
        match (n.bank, n.copy) {
            (Some(bank), Some(copy)) if self.bank(bank).ready > copy.available.max(self.clock.arithmetic) => {
                Some((None, Some(copy)))
            }
            (Some(bank), _) => Some((Some(bank), None)),
            (None, Some(copy)) => Some((None, Some(copy))),
            (None, None) => None,
        }
    }

    fn unary(&self, mut action: Action, x: NodeId, out: &mut Vec<Action>) {
        let Some((a, s)) = self.located(x) else { return };
        action.operands.a = a;
        action.operands.s = s;
        action.reads = [Some(x), None];
        self.finish(action, out);
    }

    /// Completes an action whose operands are set: its target and the earliest start.
    fn finish(&self, mut action: Action, out: &mut Vec<Action>) {
        let Some((target, then)) = self.place(&action) else { return };
        action.target = target;
        action.then = then;
        action.start = self.earliest(&action);
        out.push(action);
    }

    fn earliest(&self, action: &Action) -> u64 {
        let o = &action.operands;
        let mut start = 0;
        if let Some(a) = o.a {
            let bank = self.bank(a);
            start = start.max(if o.galois.is_some() { bank.drained } else { bank.ready });
        }
        if let Some(c) = o.c {
            start = start.max(self.bank(c).ready);
        }
        if let Some(s) = o.s {
            start = start.max(s.available);
        }
        if let Some(d) = action.target.bank.filter(|&d| Some(d) != o.a && Some(d) != o.c) {
            start = start.max(self.bank(d).ready);
        }
        start
    }

    fn difference(&self, id: NodeId, a: NodeId, b: NodeId, k: u64, out: &mut Vec<Action>) {
        let (Some(at_a), Some(at_b)) = (self.located(a), self.located(b)) else { return };
        let mut action = Action { k0: k, ..Action::new(id, Op::SubK, Leaves::Whole(id)) };
        action.reads = [Some(a), Some(b)];
        match (at_a, at_b) {
            _ if a == b => match (self.node(a).bank, self.node(a).copy) {
                (Some(bank), Some(copy)) => (action.operands.a, action.operands.s) = (Some(bank), Some(copy)),
                (Some(_), None) => return out.extend(self.spill(a)),
                _ => return self.load(a, id, out),
            },
            ((Some(a), _), (Some(b), _)) => (action.operands.a, action.operands.c) = (Some(a), Some(b)),
            ((Some(a), _), (None, s)) => (action.operands.a, action.operands.s) = (Some(a), s),
            ((None, s), (Some(b), _)) => {
                (action.operands.a, action.operands.s) = (Some(b), s);
                action.operands.swap = true;
            }
            ((None, _), (None, _)) => return self.load(a, id, out),
        }
        self.finish(action, out);
    }

    /// Whether the operand of a term, but that from memory, is there or can be brought.
    fn can_read(&self, term: Term) -> bool {
        let (x, from_bank) = match term {
            Term::Product { a, .. } => (a, true),
            Term::Scaled { x, .. } | Term::Plus(x) | Term::Minus(x) => (x, !x.is_plain()),
        };
        let n = self.node(x.node);
        let there = n.phase == Phase::Done && (!from_bank || n.bank.is_some());
        there || (from_bank && self.can_load(x.node))
    }

    /// Whether a value could be brought from memory into a bank.
    fn can_load(&self, x: NodeId) -> bool {
        let n = self.node(x);
        n.bank.is_none() && ((n.copy.is_some() && n.phase == Phase::Done) || self.recomputable(x))
    }

    /// Brings a value from memory into a bank because `reader` can take it from there only.
    fn load(&self, x: NodeId, reader: NodeId, out: &mut Vec<Action>) {
        let n = self.node(x);
        if n.bank.is_some() {
            return;
        }
        let mut action = Action::new(reader, Op::Copy, Leaves::Copy(x));
        match (n.copy, n.left.first()) {
            (Some(copy), _) if n.phase == Phase::Done => action.operands.s = Some(copy),
            (_, Some(&Term::Scaled { x: base, k, .. })) if self.recomputable(x) => {
                action.op = Some(Op::MulK);
                action.operands.s = self.node(base.node).copy;
                action.k0 = k;
                action.reads = [Some(base.node), None];
                action.leaves = Leaves::Whole(x);
            }
            _ => return,
        }
        let demand = Demand::operand(self.order[reader as usize]);
        let Some(bank) = self.choose(demand, &action.operands) else { return };
        action.target.bank = Some(bank);
        action.start = self.earliest(&action);
        out.push(action);
    }

    fn transform(&self, id: NodeId, x: NodeId, out: &mut Vec<Action>) {
        let n = self.node(x);
        if n.phase != Phase::Done {
            return;
        }
        let spare = n.outputs.is_empty() && (n.reads == 1 || n.copy.is_some());
        if let Some(bank) = n.bank.filter(|b| b.in_lanes() && spare) {
            let mut action = Action::new(id, Op::Copy, Leaves::Whole(x));
            action.op = None;
            action.operands.a = Some(bank);
            action.target.bank = Some(bank);
            action.then = Some(id);
            out.push(action);
            return;
        }
        let Some((a, s)) = self.located(x) else { return };
        let mut action = Action::new(id, Op::Copy, Leaves::Copy(x));
        (action.operands.a, action.operands.s) = (a, s);
        let demand = Demand::transform(self.order[id as usize], self.is_ganged(id));
        let Some(bank) = self.choose(demand, &action.operands) else { return };
        action.target.bank = Some(bank);
        action.then = Some(id);
        action.start = self.earliest(&action);
        out.push(action);
    }

    fn sum(&self, id: NodeId, out: &mut Vec<Action>) {
        let n = self.node(id);
        let resume = n.phase == Phase::Partial && n.bank.is_none();
        if let Some(copy) = n.copy.filter(|_| resume) {
            let mut action = Action::new(id, Op::Copy, Leaves::Copy(id));
            action.operands.s = Some(copy);
            let demand = Demand::sum(self.order[id as usize]);
            if let Some(bank) = self.choose(demand, &action.operands) {
                action.target.bank = Some(bank);
                action.start = copy.available.max(self.bank(bank).ready);
                out.push(action);
            }
            return;
        }
        let mut from = 0;
        if n.phase == Phase::Waiting {
            if !self.has_turn(id) {
                return;
            }
            if self.all_known(id) {
                let Some(wanted) = self.wanted_from(id) else { return };
                from = wanted;
            }
        }
        let before = out.len();
        let now = self.clock.arithmetic;
        for (at, &term) in n.left.iter().enumerate() {
            if self.can_read(term) && !n.left[..at].contains(&term) {
                self.term(id, term, out);
                // Nothing is earlier than what can be computed now.
                if out[before..].last().is_some_and(|a| a.start <= now && Self::computes(a)) {
                    break;
                }
            }
        }
        // One action a sum is enough: the earliest. If few banks are free, a load must not evict what was
        // just loaded.
        let key = |&i: &usize| {
            let start = out[i].start.max(now);
            (self.exclusive && !Self::computes(&out[i]), start, !Self::computes(&out[i]), i)
        };
        if let Some(best) = (before..out.len()).min_by_key(key) {
            out.swap(before, best);
            out.truncate(before + 1);
            out[before].wanted = from;
        }
    }

    fn term(&self, id: NodeId, term: Term, out: &mut Vec<Action>) {
        let acc = self.node(id).bank.filter(|_| self.node(id).phase == Phase::Partial);
        let last = self.node(id).left.len() == 1;
        let leaves = if last { Leaves::Whole(id) } else { Leaves::Partial(id) };
        let mut action = Action { term: Some(term), ..Action::new(id, Op::Copy, leaves) };
        action.operands.c = acc;
        match term {
            Term::Product { a, s } => {
                let (Some(copy), true) = (self.node(s).copy, self.node(s).phase == Phase::Done) else {
                    return;
                };
                let Some(bank) = self.node(a.node).bank.filter(|_| self.node(a.node).phase == Phase::Done)
                else {
                    let space =
                        || self.choose(Demand::sum(self.order[id as usize]), &action.operands).is_some();
                    if self.can_load(a.node) && (acc.is_some() || space()) {
                        self.load(a.node, id, out);
                    }
                    return;
                };
                action.op = Some(if acc.is_some() { Op::Mac } else { Op::Mul });
                (action.operands.a, action.operands.s) = (Some(bank), Some(copy));
                action.operands.galois = (!a.is_plain()).then_some(a.galois);
                action.reads = [Some(a.node), Some(s)];
            }
            Term::Scaled { x, k, shift } => {
                if !self.operand(&mut action, x, id, out) {
                    return;
                }
                (action.k0, action.shift) = (k, shift);
                action.op = Some(if acc.is_some() { Op::MacK } else { Op::MulK });
                let offset = self.facts.graph.offset(id);
                if acc.is_none() && offset != 0 {
                    action.k1 = self.facts.moduli[usize::from(self.facts.graph.modulus(id))].value() - offset;
                }
            }
            Term::Plus(x) | Term::Minus(x) => {
                if !self.operand(&mut action, x, id, out) {
                    return;
                }
                let minus = matches!(term, Term::Minus(_));
                action.op = Some(match (acc, minus) {
                    (None, false) => Op::Copy,
                    (None, true) => Op::MulK,
                    (Some(_), false) => Op::Add,
                    (Some(_), true) => Op::Sub,
                });
                action.k0 = self.facts.moduli[usize::from(self.facts.graph.modulus(id))].value() - 1;
                // X is the operand, Y the sum so far; the difference is wanted the other way round.
                action.operands.swap = minus && acc.is_some();
            }
        }
        self.finish(action, out);
    }

    /// Sets the one operand of a term; if it must come into a bank first, that is the action.
    fn operand(&self, action: &mut Action, x: Use, reader: NodeId, out: &mut Vec<Action>) -> bool {
        action.reads = [Some(x.node), None];
        if x.is_plain() {
            let Some((a, s)) = self.located(x.node) else { return false };
            let wanted = self.tuning.fetch > 0 && self.node(x.node).bank_reads() >= self.tuning.fetch;
            if wanted && self.node(x.node).bank.is_none() && !self.exclusive {
                let before = out.len();
                self.load(x.node, reader, out);
                if out.len() > before {
                    return false;
                }
            }
            (action.operands.a, action.operands.s) = (a, s);
            return true;
        }
        let n = self.node(x.node);
        match n.bank.filter(|_| n.phase == Phase::Done) {
            Some(bank) => {
                action.operands.a = Some(bank);
                action.operands.galois = Some(x.galois);
                true
            }
            None => {
                self.load(x.node, reader, out);
                false
            }
        }
    }
}
