//! The order of passes, their banks, and what goes to memory when: a list scheduler that follows estimated times.
//!
//! All traffic passes through the arithmetic unit, so the scheduler decides, pass by pass, what it does next. A limb
//! that enters a bank of a lane to be transformed is followed by its transform at once; the units then run side by
//! side, held in order by the tickets of the banks. Among the passes that can start soonest it takes, first, those that
//! feed a lane about to run dry, then those that empty banks of lanes, then the order of the limb program.
//!
//! Banks are a cache: a value that memory holds too can be written over, one that was read from memory through a
//! constant is read again. If nothing can proceed, a bank is spilled for the first unfinished node, so that every
//! program ends.

mod action;
mod clock;
mod facts;
mod frame;
pub(crate) mod layout;
mod perform;
mod place;
mod search;
mod state;
mod tuning;

use ringmill_program::limb::LimbProgram;

use super::isa::{ADDRESS_UNIT, Bank, INSTRUCTION_BYTES, Instruction, Op};
use super::lower::graph::{Graph, Kind, NodeId};
use super::model::Span;
use super::table::power_of_two;
use super::{CompactConfig, CompactError};
use action::{Action, Leaves};
use clock::Clock;
use facts::Facts;
pub use layout::InputSlot;
use layout::Layout;
pub(crate) use search::{Search, plan};
use state::{Content, Phase, State};
use tuning::Tuning;

/// Instructions with all that a driver must know to run them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The instructions, END last.
    pub instructions: Vec<Instruction>,
    /// Where the input limbs go.
    pub inputs: Vec<InputSlot>,
    /// Where the output limbs come out, in bytes.
    pub outputs: Vec<u64>,
    /// Where the instructions go, in bytes.
    pub program: u64,
    /// Bytes of memory needed.
    pub bytes: u64,
    /// Cycles by the scheduler's own estimate.
    pub estimate: u64,
    /// When the outputs are in memory by the same, in cycles from the start, all added up.
    pub output_estimate: u64,
}

/// Passes that only move limbs, for each that computes: far above what any program took, so that a loop of the
/// scheduler is an error and not a hang.
const MOVES_A_PASS: usize = 16;

/// Moves in a row after which only the first unfinished node may go on.
const MOVES_IN_A_ROW: usize = 8;

/// Operands that a pass may have to load first.
const LOADS_A_PASS: usize = 2;

impl Plan {
    /// When each output is in memory, in cycles from the start, by the spans of the instructions; not in their order.
    pub fn output_ends(&self, spans: &[Span]) -> Vec<u64> {
        let is_output = |i: &Instruction| {
            i.store.is_some_and(|address| self.outputs.contains(&(u64::from(address) * ADDRESS_UNIT)))
        };
        let stores = self.instructions.iter().zip(spans).filter(|(i, _)| is_output(i));
        stores.map(|(_, span)| span.end).collect()
    }
}

/// For each node whether a plan stores it in the pass that completes it, and whether it is read from memory again whenever
/// it is wanted.
pub(crate) fn memory_use(config: &CompactConfig, program: &LimbProgram, graph: &Graph) -> Vec<(bool, bool)> {
    let (clock, layout) = (Clock::new(config, program.log_n()), Layout::new(program.log_n(), 0));
    let facts = Facts::new(graph, Vec::new());
    let state = State::new(&facts, clock, layout, Tuning::default());
    (0..graph.nodes.len() as NodeId).map(|id| (state.is_stored(id), state.recomputable(id))).collect()
}

/// A plan; given up as soon as it cannot end by `limit`.
fn attempt(
    config: &CompactConfig,
    program: &LimbProgram,
    facts: &Facts<'_>,
    tuning: &Tuning,
    limit: u64,
) -> Result<Plan, CompactError> {
    let factors: Vec<u64> = facts.moduli.iter().map(|&q| power_of_two(q, config.factor_bits())).collect();
    let clock = Clock::new(config, program.log_n());
    let layout = Layout::new(program.log_n(), program.output_types().len());
    let mut state = State::new(facts, clock, layout, tuning.clone());
    let mut instructions = Vec::new();
    let mut queue = Queue::new(&state);
    let mut actions = Vec::new();
    let mut moves = 0;
    let most = facts.graph.passes() * MOVES_A_PASS;
    while let Some(head) = queue.head(&state) {
        if instructions.len() > most || state.clock.least_end(state.transforms) > limit {
            return Err(CompactError::Unschedulable { node: head });
        }
        actions.clear();
        state.look();
        queue.actions(&state, head, &mut actions);
        let selected = select(&state, &actions);
        let action = match (selected, state.exclusive) {
            (Some(action), false) => action,
            (None, false) => {
                (state.exclusive, moves) = (true, 0);
                continue;
            }
            // Loads overwrite each other: more free banks are needed.
            (Some(action), true) if State::computes(&action) || moves < LOADS_A_PASS => action,
            (selected, true) => {
                force(&state, head).or(selected).ok_or(CompactError::Unschedulable { node: head })?
            }
        };
        if State::computes(&action) {
            (state.exclusive, moves) = (false, 0);
        } else {
            moves += 1;
            // Moves that only undo each other: let the first node have its way.
            if moves > MOVES_IN_A_ROW && !state.exclusive {
                (state.exclusive, moves) = (true, 0);
            }
        }
        state.advance_sums();
        state.perform(&action, &factors, &mut instructions);
    }
    make_first_roots(&mut instructions);
    instructions.push(Instruction::new(Op::End));
    let estimates = (state.clock.end(), state.output_time);
    finish(config, state.layout, instructions, estimates)
}

/// Lets each transform unit, after its last transform, make the roots that its first one needs. A second run
/// of the program does not wait for them.
fn make_first_roots(instructions: &mut Vec<Instruction>) {
    for lane in 0..Bank::IN_LANES / Bank::PER_LANE {
        let reaches = |bank: Bank| bank.parts().any(|b| b.lane() == Some(lane));
        let mine = |i: &Instruction| i.op.is_transform() && i.a.is_some_and(reaches);
        let (first, last) = (instructions.iter().position(mine), instructions.iter().rposition(mine));
        if let (Some(first), Some(last)) = (first, last) {
            let Instruction { modulus, a, .. } = instructions[first];
            let a = a.and_then(|bank| bank.parts().find(|b| b.lane() == Some(lane)));
            instructions.insert(last + 1, Instruction { modulus, a, ..Instruction::new(Op::Roots) });
        }
    }
}

fn finish(
    config: &CompactConfig,
    layout: Layout,
    instructions: Vec<Instruction>,
    (estimate, output_estimate): (u64, u64),
) -> Result<Plan, CompactError> {
    let program = layout.bytes();
    let bytes = (program + INSTRUCTION_BYTES * instructions.len() as u64).next_multiple_of(4096);
    let available = config.memory_bytes().min(ADDRESS_UNIT << 32);
    if bytes > available {
        return Err(CompactError::Memory { needed: bytes, available });
    }
    let (inputs, outputs) = (layout.input_slots(), layout.output_addresses());
    Ok(Plan { instructions, inputs, outputs, program, bytes, estimate, output_estimate })
}

/// The unfinished nodes in order of preference.
struct Queue(Vec<NodeId>);

impl Queue {
    fn new(state: &State<'_>) -> Self {
        let computed = |&id: &NodeId| {
            !state.recomputable(id) && !matches!(state.kind(id), Kind::Gone | Kind::Input { .. })
        };
        let mut nodes: Vec<NodeId> = (0..state.nodes.len() as NodeId).filter(computed).collect();
        nodes.sort_by_key(|&id| (state.order[id as usize], id));
        Self(nodes)
    }

    /// The first unfinished node, or the first that has all it needs where it has to be forced.
    fn head(&mut self, state: &State<'_>) -> Option<NodeId> {
        let (mut kept, mut seen) = (0, 0);
        let window = state.tuning.window as usize;
        while kept < window && seen < self.0.len() {
            if !state.finished(self.0[seen]) {
                self.0[kept] = self.0[seen];
                kept += 1;
            }
            seen += 1;
        }
        self.0.drain(kept..seen);
        let open = |&&id: &&NodeId| state.exclusive && !state.finished(id) && state.all_known(id);
        self.0.iter().find(open).or(self.0.first()).copied()
    }

    fn actions(&self, state: &State<'_>, head: NodeId, out: &mut Vec<Action>) {
        if state.exclusive {
            return state.actions(head, out);
        }
        for &id in self.0.iter().take(state.tuning.window as usize) {
            state.actions(id, out);
        }
    }
}

/// The action to do next.
fn select(state: &State<'_>, actions: &[Action]) -> Option<Action> {
    let now = state.clock.arithmetic;
    let start = |a: &Action| a.start.max(a.wanted).max(now);
    let soonest = actions.iter().map(start).min()?;
    let tolerance = state.clock.rows * state.tuning.tolerance / 8;
    let ready = actions.iter().filter(|a| a.op.is_none() || start(a) <= soonest + tolerance);
    ready.min_by_key(|a| (rank(state, a), state.order[a.node as usize])).cloned()
}

/// 0 for what costs nothing, 1 for what feeds a lane that runs dry, 2 for what empties a bank of a lane, 3 for the rest.
fn rank(state: &State<'_>, action: &Action) -> u32 {
    if action.op.is_none() {
        return 0;
    }
    let feeds = action.target.bank.and_then(|bank| state.clock.free(bank)).filter(|_| {
        let partial = matches!(action.leaves, Leaves::Partial(id) if state.next_transform(id).is_some());
        partial || action.then.is_some()
    });
    let start = action.start.max(action.wanted).max(state.clock.arithmetic);
    if feeds.is_some_and(|free| free <= start + state.tuning.starving * state.clock.rows) {
        return 1;
    }
    if frees_lane(state, action) { 2 } else { 3 }
}

/// Whether an action empties a bank of a lane, or makes its content safe to write over.
fn frees_lane(state: &State<'_>, action: &Action) -> bool {
    let Some(a) = action.operands.a.filter(|a| a.in_lanes()) else { return false };
    let Content::Whole(id) = state.bank(a).content else { return false };
    let spill = action.leaves == Leaves::Copy(id) && action.target.bank.is_none();
    spill || (state.node(id).reads <= 2 && action.target.bank != Some(a) && action.then.is_none())
}

/// A spill of the value that is needed last, to free a bank for the first node.
fn force(state: &State<'_>, head: NodeId) -> Option<Action> {
    let operands = &state.facts.operands[head as usize];
    let victim = |b: Bank| match state.bank(b).content {
        Content::Empty => None,
        Content::Partial(id) if id == head => None,
        Content::Partial(id) => Some((state.next_use(id).min(state.order[id as usize]), id)),
        Content::Whole(id) => {
            let saved = state.node(id).copy.is_some() || state.recomputable(id);
            (!saved && !operands.contains(&id)).then(|| (state.next_use(id), id))
        }
    };
    let spare = Bank::all().filter_map(victim).max();
    // Only operands are left: they can be read from memory as well.
    let own = || {
        let dirty = |&&id: &&NodeId| {
            let n = state.node(id);
            n.phase == Phase::Done && n.bank.is_some() && n.copy.is_none()
        };
        operands.iter().find(dirty).map(|&id| (0, id))
    };
    spare.or_else(own).and_then(|(_, id)| state.spill(id))
}
