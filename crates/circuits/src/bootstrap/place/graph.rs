//! Which values depend on which, and whether a choice of values to bootstrap leaves every product a level.

use ringmill_program::he::{Op, Program, Value};

use super::Budget;

/// The ciphertexts of a traced program that some output depends on, by the index of their value.
pub(super) struct Graph {
    /// In the order of the program.
    pub(super) order: Vec<usize>,
    /// None for inputs and results of bootstrappings that were asked for: those are fresh.
    pub(super) operands: Vec<Vec<usize>>,
    /// But for bootstrappings that were asked for.
    pub(super) users: Vec<Vec<usize>>,
    /// Levels that it costs.
    pub(super) cost: Vec<u32>,
    /// Operands of bootstrappings that were asked for.
    pub(super) asked: Vec<bool>,
    /// Whether it may be bootstrapped.
    pub(super) may: Vec<bool>,
    pub(super) budget: Budget,
}

/// A choice, and which operands of which values are taken bootstrapped.
pub(super) struct Uses {
    pub(super) bootstrapped: Vec<Vec<usize>>,
    /// Depth of every value before it is bootstrapped.
    pub(super) depths: Vec<u32>,
}

impl Uses {
    /// The values that are bootstrapped.
    pub(super) fn chosen(&self) -> Vec<bool> {
        let mut chosen = vec![false; self.depths.len()];
        self.bootstrapped.iter().flatten().for_each(|&a| chosen[a] = true);
        chosen
    }
}

impl Graph {
    pub(super) fn of(p: &Program, budget: Budget, may: impl Fn(Value) -> bool) -> Self {
        let n = p.instrs().len();
        let mut live = vec![false; n];
        p.outputs().iter().for_each(|out| live[out.value.index()] = true);
        for (v, instr) in p.values().rev().filter(|(_, i)| i.ty.is_ct()) {
            if live[v.index()] {
                instr.op.operands().as_slice().iter().for_each(|a| live[a.index()] = true);
            }
        }
        let mut g = Self {
            order: Vec::new(),
            operands: vec![Vec::new(); n],
            users: vec![Vec::new(); n],
            cost: vec![0; n],
            asked: vec![false; n],
            may: vec![false; n],
            budget,
        };
        for (v, instr) in p.values().filter(|(v, i)| i.ty.is_ct() && live[v.index()]) {
            let i = v.index();
            g.order.push(i);
            if let Op::Bootstrap { a, .. } = instr.op {
                g.asked[a.index()] = true;
                continue;
            }
            if let Op::Lookup { a, ref table } = instr.op {
                g.asked[a.index()] = true;
                g.cost[i] = table.depth();
                continue;
            }
            g.cost[i] = u32::from(costs(p, &instr.op));
            for a in instr.op.operands().as_slice().iter().filter(|a| p.instr(**a).ty.is_ct()) {
                if !g.operands[i].contains(&a.index()) {
                    g.operands[i].push(a.index());
                    g.users[a.index()].push(i);
                }
            }
            g.may[i] = !g.operands[i].is_empty() && may(v);
        }
        g
    }

    /// Whether it has all levels already: an input, or bootstrapped because that was asked for.
    pub(super) fn is_fresh(&self, v: usize) -> bool {
        self.operands[v].is_empty()
    }

    /// The greatest depth of a value.
    pub(super) fn most(&self, chosen: &[bool], v: usize) -> u32 {
        if chosen[v] || self.asked[v] { self.budget.between } else { self.budget.last }
    }

    /// Products from each value to the end of the program; to a bootstrapping that was asked for there are as many more as the last
    /// stretch may be longer.
    pub(super) fn heights(&self) -> Vec<u32> {
        let mut heights = vec![0; self.cost.len()];
        for &v in self.order.iter().rev() {
            let below = self.users[v].iter().map(|&u| heights[u] + self.cost[u]).max().unwrap_or(0);
            let asked = if self.asked[v] { self.budget.last - self.budget.between } else { 0 };
            heights[v] = below.max(asked);
        }
        heights
    }

    /// As late as possible: the operands of the first product on each path that has no level left, unless what follows is so short
    /// that the last stretch holds it.
    pub(super) fn late(&self) -> Vec<bool> {
        let heights = self.heights();
        let mut chosen = vec![false; self.cost.len()];
        let mut depths = vec![0; self.cost.len()];
        for &v in &self.order {
            for &a in self.operands[v].iter().filter(|_| self.cost[v] > 0) {
                let runs_out = depths[a] >= self.budget.between;
                chosen[a] |= runs_out && depths[a] + 1 + heights[v] > self.budget.last;
            }
            let depth = |&a: &usize| if chosen[a] { 0 } else { depths[a] };
            depths[v] = self.operands[v].iter().map(depth).max().unwrap_or(0) + self.cost[v];
        }
        chosen
    }

    /// Who takes bootstrapped operands, of a choice that leaves no value too deep: who could not go without, given
    /// those before it. Values that nobody takes bootstrapped fall out of the choice.
    pub(super) fn uses(&self, chosen: &[bool]) -> Uses {
        let n = chosen.len();
        let mut allowed = vec![u32::MAX; n];
        for &v in self.order.iter().rev() {
            let below = self.users[v].iter().filter(|_| !chosen[v]).map(|&u| allowed[u] - self.cost[u]);
            allowed[v] = below.fold(self.most(chosen, v), u32::min);
        }
        let mut uses = Uses { bootstrapped: vec![Vec::new(); n], depths: vec![0; n] };
        for &v in &self.order {
            let mut depth = 0;
            for &a in &self.operands[v] {
                if chosen[a] && uses.depths[a] + self.cost[v] > allowed[v] {
                    uses.bootstrapped[v].push(a);
                } else {
                    depth = depth.max(uses.depths[a]);
                }
            }
            uses.depths[v] = depth + self.cost[v];
        }
        uses
    }
}

/// Whether a product costs a level.
fn costs(p: &Program, op: &Op) -> bool {
    let free = |v: Value| matches!(&p.instr(v).op, Op::Const(c) if c.is_free());
    match *op {
        Op::Square(_) => true,
        Op::Mul(a, b) => !free(a) && !free(b),
        _ => false,
    }
}
