//! Where results go: which bank, whether to memory, and what may be overwritten for them.

use super::super::isa::{Bank, Op};
use super::super::lower::graph::{Kind, NodeId, Term};
use super::action::{Action, Leaves, Operands, Store, Target};
use super::state::{Content, State};

/// The accumulators.
const FIRST_ACCUMULATOR: usize = Bank::IN_LANES;

/// What a bank is wanted for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// The place in the order of what wants it.
    order: u32,
    lane: bool,
    accumulator: bool,
    /// Whether it wants pairs instead of single banks.
    pair: bool,
    /// Whether lane banks that sums in progress will need must stay free.
    reserve: bool,
}

impl Wish {
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
    /// The target of a pass, and the transform that follows; none if there is no room.
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
        let transform = self.next_transform(id).filter(|_| self.all_known(id) && !self.has_product(id));
        if let Some(t) = transform {
            let lane = self.choose(Wish::transform(order, self.is_ganged(t)), &action.operands);
            return lane.or_else(|| {
                let room = self.room_beside_sums(id);
                room.then(|| self.choose(Wish::sum(order), &action.operands)).flatten()
            });
        }
        self.choose(Wish::sum(order), &action.operands)
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
            let wish = if acc.is_some() || matches!(action.op, Some(Op::Mul)) {
                Wish::sum_to_transform(order, self.is_ganged(t))
            } else {
                Wish::transform(order, self.is_ganged(t))
            };
            let bank = own.or_else(|| self.choose(wish, &action.operands));
            if let Some(bank) = bank {
                return Some((Target { bank: Some(bank), store }, transform));
            }
            // It can wait in an accumulator and be copied later.
            let acc = match acc {
                Some(c) => Some(c).filter(|_| self.exclusive || !self.has_product(id)),
                None if self.has_product(id) && self.room_beside_sums(id) => {
                    self.choose(Wish::accumulator(order), &action.operands)
                }
                None => None,
            };
            return acc.map(|bank| (Target { bank: Some(bank), store }, None));
        }
        if n.bank_reads() == 0 {
            return Some((Target { bank: None, store: store.or(Some(scratch())) }, None));
        }
        let bank = acc.or_else(|| self.choose(Wish::operand(order), &action.operands));
        match (bank, store) {
            (None, None) => None,
            (bank, store) => Some((Target { bank, store }, None)),
        }
    }

    /// The best bank for a wish: of lanes the one that will be idle first; an empty bank before one whose content
    /// memory holds too.
    pub(super) fn choose(&self, wish: Wish, operands: &Operands) -> Option<Bank> {
        let held = self.held_lane_banks(wish.order);
        // Where a pair is wanted, single banks serve if nothing else is left.
        let kind = |b: &Bank| b.is_pair() == wish.pair || (self.exclusive && wish.pair);
        let allowed = |b: &Bank| {
            if b.in_lanes() { kind(b) && (wish.lane || self.exclusive) } else { wish.accumulator }
        };
        let open: Vec<(Bank, u32)> = Bank::all()
            .chain(Bank::pairs())
            .filter(allowed)
            .filter_map(|b| self.vacancy(b, wish.order, operands).map(|v| (b, v)))
            .collect();
        let free_in_lanes = Bank::all()
            .chain(Bank::pairs())
            .filter(|b| b.in_lanes() && b.is_pair() == wish.pair)
            .filter(|&b| self.vacancy(b, wish.order, operands).is_some())
            .count();
        let blocked = wish.reserve && !self.exclusive && free_in_lanes <= held;
        let cost = |&(bank, vacancy): &(Bank, u32)| {
            let lane = self.clock.free(bank);
            // An operand goes where it disturbs least: into an accumulator nobody uses, or the busier lane.
            let place = match (wish.accumulator, lane) {
                (true, None) if wish.lane && self.accumulators_wanted() => u64::MAX,
                (_, None) => 0,
                (true, Some(free)) => u64::MAX / 2 - free,
                (false, Some(free)) => free,
            };
            (bank.is_pair() != wish.pair, place, vacancy, bank.index())
        };
        open.into_iter().filter(|(b, _)| !(blocked && b.in_lanes())).min_by_key(cost).map(|(b, _)| b)
    }

    fn has_product(&self, id: NodeId) -> bool {
        matches!(self.graph.kind(id), Kind::Sum(terms) if terms.iter().any(|t| matches!(t, Term::Product { .. })))
    }

    /// Whether sums are under way or about to begin.
    fn accumulators_wanted(&self) -> bool {
        (FIRST_ACCUMULATOR..Bank::COUNT).filter_map(Bank::new).any(|b| self.is_partial(b)) || self.exclusive
    }

    /// Lane banks that sums in accumulators, of smaller order, need for their transforms; the last one of them takes
    /// the bank of its operand.
    fn held_lane_banks(&self, order: u32) -> usize {
        let waiting = |b: Bank| match self.bank(b).content {
            Content::Partial(id) => self.next_transform(id).is_some() && self.order[id as usize] < order,
            _ => false,
        };
        let sums = (FIRST_ACCUMULATOR..Bank::COUNT).filter_map(Bank::new).filter(|&b| waiting(b)).count();
        sums.saturating_sub(1)
    }

    /// How little is lost by writing over a bank, 0 for nothing; none if it must not be.
    fn vacancy(&self, bank: Bank, order: u32, operands: &Operands) -> Option<u32> {
        let beside = |o: Bank| o != bank && o.overlaps(bank);
        if operands.a.is_some_and(beside) || operands.c.is_some_and(beside) {
            return None;
        }
        bank.parts()
            .map(|b| self.vacancy_of(b, bank, order, operands))
            .try_fold(0, |most, v| Some(most.max(v?)))
    }

    /// The same for `part` of a bank that is named as a whole.
    fn vacancy_of(&self, part: Bank, bank: Bank, order: u32, operands: &Operands) -> Option<u32> {
        let id = match self.bank(part).content {
            Content::Empty => return Some(0),
            Content::Partial(_) => return None,
            Content::Whole(id) => id,
        };
        let n = self.node(id);
        let operand = operands.a == Some(bank) || operands.c == Some(bank);
        if operand && operands.galois.is_some() && operands.a == Some(bank) {
            return None;
        }
        if operand && n.reads == 1 && n.outputs.is_empty() {
            return Some(0);
        }
        let saved = n.outputs.is_empty() && (n.copy.is_some() || self.recomputable(id));
        let next = self.next_use(id);
        let later = next > order || self.exclusive;
        let later = later || (operand && n.copy.is_some());
        (saved && later).then(|| (u32::MAX - next).max(1))
    }
}

const fn to_bank(bank: Bank) -> Target {
    Target { bank: Some(bank), store: None }
}
