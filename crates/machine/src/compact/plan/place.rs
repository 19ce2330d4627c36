//! Where results go: which bank, whether to memory, and what may be overwritten for them.

use super::super::isa::{Bank, Op};
use super::super::lower::graph::NodeId;
use super::action::{Action, Leaves, Operands, Store, Target};
use super::frame::ALL;
use super::state::{Content, State};
use super::tuning::Early;

/// What a bank is needed for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    /// The place in the order of what wants it.
    order: u32,
    lane: bool,
    accumulator: bool,
    /// Whether it wants pairs instead of single banks.
    pair: bool,
    /// Whether lane banks that sums in progress will need must stay free.
    reserve: bool,
}

impl Demand {
    /// A limb to be transformed.
    pub(super) const fn transform(order: u32, ganged: bool) -> Self {
        Self { order, lane: true, accumulator: false, pair: ganged, reserve: true }
    }

    /// The last pass of a sum that will be transformed.
    const fn sum_to_transform(order: u32, ganged: bool) -> Self {
        Self { order, lane: true, accumulator: false, pair: ganged, reserve: false }
    }

    /// A sum that takes time.
    pub(super) const fn sum(order: u32) -> Self {
        Self { order, lane: false, accumulator: true, pair: false, reserve: true }
    }

    /// What waits in an accumulator for a lane.
    const fn accumulator(order: u32) -> Self {
        Self::sum(order)
    }

    /// An operand that is read soon.
    pub(super) const fn operand(order: u32) -> Self {
        Self { order, lane: true, accumulator: true, pair: false, reserve: true }
    }
}

impl State<'_> {
    /// The target of a pass, and the transform that follows; `None` if no bank is free.
    pub(super) fn place(&self, action: &Action) -> Option<(Target, Option<NodeId>)> {
        match action.leaves {
            Leaves::Copy(_) => None,
            Leaves::Partial(id) => self.place_partial(id, action).map(|bank| (to_bank(bank), None)),
            Leaves::Whole(id) => self.place_whole(id, action),
        }
    }

    fn place_partial(&self, id: NodeId, action: &Action) -> Option<Bank> {
        if let Some(acc) = action.operands.c {
            return Some(acc);
        }
        let order = self.order[id as usize];
        let anywhere = self.choice(id).early == Early::Anywhere || self.all_known(id);
        let transform = self.next_transform(id).filter(|_| anywhere && !self.has_product(id));
        if let Some(t) = transform {
            let lane = self.choose(Demand::transform(order, self.is_ganged(t)), &action.operands);
            return lane.or_else(|| {
                let space = self.space_beside_sums(id);
                space.then(|| self.choose(Demand::sum(order), &action.operands)).flatten()
            });
        }
        self.choose(Demand::sum(order), &action.operands)
    }

    fn place_whole(&self, id: NodeId, action: &Action) -> Option<(Target, Option<NodeId>)> {
        let n = self.node(id);
        // Of a difference, C is an operand like any other.
        let acc = action.operands.c.filter(|&c| self.bank(c).content == Content::Partial(id));
        let order = self.order[id as usize];
        let transform = self.next_transform(id);
        let must_store = self.is_stored(id);
        let scratch = || n.outputs.first().map_or(Store::Scratch, |&o| Store::Output(o));
        let store = must_store.then(scratch);
        if let Some(t) = transform {
            let own = acc.filter(|c| c.in_lanes());
            let demand = if acc.is_some() || matches!(action.op, Some(Op::Mul)) {
                Demand::sum_to_transform(order, self.is_ganged(t))
            } else {
                Demand::transform(order, self.is_ganged(t))
            };
            let bank = own.or_else(|| self.choose(demand, &action.operands));
            if let Some(bank) = bank {
                return Some((Target { bank: Some(bank), store }, transform));
            }
            // It can wait in an accumulator and be copied later.
            let acc = match acc {
                Some(c) => Some(c).filter(|_| self.exclusive || !self.has_product(id)),
                None if self.has_product(id) && self.space_beside_sums(id) => {
                    self.choose(Demand::accumulator(order), &action.operands)
                }
                None => None,
            };
            if let Some(bank) = acc {
                return Some((Target { bank: Some(bank), store }, None));
            }
            let target = Target { bank: None, store: store.or(Some(scratch())) };
            return self.choice(id).through.then_some((target, None));
        }
        if n.bank_reads() == 0 {
            return Some((Target { bank: None, store: store.or(Some(scratch())) }, None));
        }
        let bank = acc.or_else(|| self.choose(Demand::operand(order), &action.operands));
        match (bank, store) {
            (None, None) => None,
            (bank, store) => Some((Target { bank, store }, None)),
        }
    }

    /// The best bank for a demand: of the lanes the one that is idle first; an empty bank before one whose
    /// content is also in memory.
    pub(super) fn choose(&self, demand: Demand, operands: &Operands) -> Option<Bank> {
        let open = self.vacancies(demand.order, operands);
        let alike = if demand.pair { Bank::COUNT..Bank::CODES } else { 0..Bank::IN_LANES };
        let free_in_lanes = open[alike].iter().filter(|&&lost| lost != ALL).count();
        let blocked =
            demand.reserve && !self.exclusive && free_in_lanes <= self.held_lane_banks(demand.order);
        // Where a pair is wanted, single banks serve if nothing else is left.
        let kind = |b: Bank| b.is_pair() == demand.pair || (self.exclusive && demand.pair);
        let allowed = |b: Bank| {
            if b.in_lanes() {
                !blocked && kind(b) && (demand.lane || self.exclusive)
            } else {
                demand.accumulator
            }
        };
        let cost = |&(bank, lost): &(Bank, u32)| {
            // An operand goes where it disturbs least: into an accumulator nobody uses, or the busier lane.
            let place = match (demand.accumulator, self.frame.free[bank.index()]) {
                (true, None) if demand.lane && (self.frame.summing || self.exclusive) => u64::MAX,
                (_, None) => 0,
                (true, Some(free)) => u64::MAX / 2 - free,
                (false, Some(free)) => free,
            };
            (bank.is_pair() != demand.pair, place, lost, bank.index())
        };
        let open = (0..Bank::CODES).filter_map(Bank::new).zip(open);
        open.filter(|&(b, lost)| lost != ALL && allowed(b)).min_by_key(cost).map(|(b, _)| b)
    }

    fn has_product(&self, id: NodeId) -> bool {
        self.facts.has_product[id as usize]
    }

    /// Lane banks that sums in accumulators, of smaller order, need for their transforms; the last one of them takes
    /// the bank of its operand.
    fn held_lane_banks(&self, order: u32) -> usize {
        let sums = self.frame.to_transform.iter().flatten().filter(|&&place| place < order).count();
        sums.saturating_sub(1)
    }

    /// What is lost by writing over each bank and pair, [`ALL`] where it must not be.
    fn vacancies(&self, order: u32, operands: &Operands) -> [u32; Bank::CODES] {
        let held = &self.frame.held;
        let mut open = [ALL; Bank::CODES];
        for (lost, h) in open.iter_mut().zip(held) {
            *lost = if h.next > order || self.exclusive { h.lost } else { ALL };
        }
        for pair in Bank::COUNT..Bank::CODES {
            let first = pair - Bank::COUNT;
            open[pair] = open[first].max(open[first + Bank::PER_LANE]);
        }
        for operand in [operands.a, operands.c].into_iter().flatten() {
            for bank in (0..Bank::CODES).filter_map(Bank::new).filter(|b| b.overlaps(operand)) {
                open[bank.index()] = ALL;
            }
        }
        // A pass can write over what it reads, unless it reads it in another order.
        for operand in [operands.a, operands.c].into_iter().flatten() {
            if operands.galois.is_some() && operands.a == Some(operand) {
                continue;
            }
            let lost = operand.parts().map(|part| {
                let h = held[part.index()];
                match h.last {
                    true => 0,
                    false if h.next > order || self.exclusive || h.in_memory => h.lost,
                    false => ALL,
                }
            });
            let beside =
                [operands.a, operands.c].into_iter().flatten().any(|o| o != operand && o.overlaps(operand));
            open[operand.index()] = if beside { ALL } else { lost.max().unwrap_or(ALL) };
        }
        open
    }
}

const fn to_bank(bank: Bank) -> Target {
    Target { bank: Some(bank), store: None }
}
