//! Doing an action: the instructions written, and all that changes.

use super::super::isa::{Bank, Instruction, Op, Stream};
use super::super::lower::graph::{Kind, NodeId};
use super::action::{Action, Leaves, Store};
use super::state::{Content, MemoryCopy, Phase, State};

/// A read waits for the store that it needs. It also waits for all but this number of the stores before it,
/// so that the count does not wrap around.
const RECENT_STORES: u64 = 1 << 14;

impl State<'_> {
    /// Does it, appending to the program.
    pub(super) fn perform(&mut self, action: &Action, factors: &[u64], out: &mut Vec<Instruction>) {
        let acc = action.operands.c;
        let mut copy = None;
        if action.op.is_some() {
            let end = self.write(action, factors, out);
            copy = action.target.store.map(|store| self.stored(store, end));
            self.read(action);
            if let Some(bank) = action.target.bank {
                self.vacate(bank, action);
                self.set_times(bank, end, self.clock.drained(end));
            }
        }
        for id in action.reads.into_iter().flatten() {
            self.release(id);
        }
        match action.leaves {
            Leaves::Partial(id) => self.leave_partial(id, action),
            Leaves::Whole(id) => self.leave_whole(id, action, acc, copy),
            Leaves::Copy(id) => self.leave_copy(id, action, copy),
        }
        if let (Some(t), Some(bank)) = (action.then, action.target.bank) {
            self.start_transform(t, bank, out);
        }
        if let Leaves::Whole(id) | Leaves::Copy(id) = action.leaves {
            self.release(id);
        }
    }

    /// Writes the instructions of a pass; its end.
    fn write(&mut self, action: &Action, factors: &[u64], out: &mut Vec<Instruction>) -> u64 {
        let modulus = self.facts.graph.modulus(action.node);
        let q = self.facts.moduli[usize::from(modulus)];
        let op = action.op.unwrap_or(Op::Copy);
        let times = |k: u64| q.mul(q.reduce(k), factors[usize::from(modulus)]);
        let o = &action.operands;
        let s = o.s.map(|copy| Stream { address: copy.address, after: self.after(copy) });
        let target = action.target;
        let store = target.store.map(|store| match store {
            Store::Scratch => self.layout.take(),
            Store::Output(output) => self.layout.output(output),
        });
        self.last_address = store.unwrap_or(0);
        let mut i = Instruction {
            modulus,
            source: action.source,
            a: o.a,
            c: o.c,
            d: target.bank,
            store,
            s,
            shift: action.shift,
            permute: o.galois,
            swap: o.swap,
            ..Instruction::new(op)
        };
        match op {
            Op::MulK | Op::SubK | Op::MacK => (i.k0, i.k1) = (times(action.k0), action.k1),
            Op::AddK | Op::ShrK => i.k0 = action.k0,
            Op::Lift => {
                i.k0 = times(action.k0);
                let p = self.facts.moduli[usize::from(action.source)].value();
                i.k1 = q.mul(q.reduce(p), action.k0);
            }
            _ => {}
        }
        let memory = o.s.is_some() || store.is_some();
        out.push(i);
        self.clock.arithmetic_pass(action.start, memory)
    }

    fn after(&self, copy: MemoryCopy) -> u16 {
        copy.store.max(self.stores.saturating_sub(RECENT_STORES)) as u16
    }

    fn stored(&mut self, store: Store, end: u64) -> MemoryCopy {
        self.stores += 1;
        let available = self.clock.stored(end);
        if matches!(store, Store::Output(_)) {
            self.output_time += available;
        }
        MemoryCopy {
            address: self.last_address,
            store: self.stores,
            available,
            scratch: store == Store::Scratch,
        }
    }

    fn read(&mut self, action: &Action) {
        for (at, id) in action.reads.into_iter().enumerate() {
            let Some(id) = id else { continue };
            let product = matches!(action.op, Some(Op::Mul | Op::Mac));
            let n = self.node_mut(id);
            n.reads -= 1;
            n.streams -= u32::from(product && at == 1);
        }
    }

    /// Frees a bank: what it held is dead, in memory, or can be computed again.
    fn vacate(&mut self, bank: Bank, action: &Action) {
        bank.parts().for_each(|b| self.vacate_one(b, action));
    }

    fn vacate_one(&mut self, bank: Bank, action: &Action) {
        let Content::Whole(id) = self.bank(bank).content else { return };
        if action.leaves == Leaves::Copy(id) && action.then.is_none() {
            return;
        }
        // Of a limb in a pair nothing is left if one half goes.
        self.set_content(self.node(id).bank.unwrap_or(bank), Content::Empty);
        let recompute = self.node(id).alive() && self.node(id).copy.is_none();
        let n = self.node_mut(id);
        n.bank = None;
        if recompute {
            n.phase = Phase::Waiting;
            if let Kind::Sum(terms) = self.kind(id) {
                let operands: Vec<NodeId> =
                    terms.iter().flat_map(|t| t.operands()).flatten().map(|u| u.node).collect();
                self.node_mut(id).left.clone_from(terms);
                operands.into_iter().for_each(|x| self.node_mut(x).reads += 1);
            }
        }
    }

    fn leave_partial(&mut self, id: NodeId, action: &Action) {
        let n = self.node_mut(id);
        n.phase = Phase::Partial;
        n.bank = action.target.bank;
        if let Some(at) = n.left.iter().position(|t| Some(*t) == action.term) {
            n.left.remove(at);
        }
        if let Some(bank) = action.target.bank {
            self.set_content(bank, Content::Partial(id));
        }
    }

    fn leave_whole(&mut self, id: NodeId, action: &Action, acc: Option<Bank>, copy: Option<MemoryCopy>) {
        if let Some(acc) = acc.filter(|&acc| self.bank(acc).content == Content::Partial(id)) {
            self.set_content(acc, Content::Empty);
        }
        if self.node(id).phase != Phase::Done {
            self.set_done(id);
        }
        let n = self.node_mut(id);
        n.left.clear();
        n.bank = action.target.bank;
        if let Some(bank) = action.target.bank {
            self.set_content(bank, Content::Whole(id));
        }
        self.remember(id, action, copy);
    }

    fn leave_copy(&mut self, id: NodeId, action: &Action, copy: Option<MemoryCopy>) {
        if let (Some(bank), None) = (action.target.bank, action.then) {
            let partial = self.node(id).phase == Phase::Partial;
            self.set_content(bank, if partial { Content::Partial(id) } else { Content::Whole(id) });
            self.node_mut(id).bank = Some(bank);
            if let Some(old) = self.node(id).copy.filter(|c| partial && c.scratch) {
                self.layout.give_back(old.address);
                self.node_mut(id).copy = None;
            }
        }
        self.remember(id, action, copy);
        if let (Phase::Partial, Some(_), Some(bank)) = (self.node(id).phase, copy, self.node(id).bank) {
            self.set_content(bank, Content::Empty);
            self.node_mut(id).bank = None;
        }
    }

    fn remember(&mut self, id: NodeId, action: &Action, copy: Option<MemoryCopy>) {
        let Some(copy) = copy else { return };
        let n = self.node_mut(id);
        if let Some(Store::Output(output)) = action.target.store {
            n.outputs.retain(|&o| o != output);
        }
        if n.copy.is_none() {
            n.copy = Some(copy);
        }
    }

    fn start_transform(&mut self, t: NodeId, bank: Bank, out: &mut Vec<Instruction>) {
        let &Kind::Transform { x, inverse } = self.kind(t) else { return };
        let modulus = self.facts.graph.modulus(t);
        let op = if inverse { Op::Intt } else { Op::Ntt };
        out.push(Instruction { modulus, a: Some(bank), ..Instruction::new(op) });
        let drained = self.bank(bank).drained;
        let (passed, end) = self.clock.transform(bank, modulus, drained);
        self.transforms -= 1;
        let source = self.node_mut(x);
        source.reads -= 1;
        source.transforms -= 1;
        if source.bank == Some(bank) {
            source.bank = None;
        }
        self.set_content(bank, Content::Whole(t));
        self.set_times(bank, passed, end);
        self.set_done(t);
        self.node_mut(t).bank = Some(bank);
        self.release(x);
    }
}
