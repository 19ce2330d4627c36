//! Schedules held to what a machine can do, by a check that knows no heap and no queue: it sorts what happened by time.

use proptest::prelude::*;

use super::*;
use crate::bounds::Bounds;
use crate::description::Description;
use crate::graph::{Graph, Kind};
use crate::order::{Order, Uses, order};
use crate::plan::FREE;

/// Limbs of 1,024 words of 32 bits on two units, some of keys made from seeds.
fn machine(limbs: u64, count: u64, seeded: bool, together: u32) -> Description {
    let text = format!(
        "[machine]\nname = \"small\"\nword_bits = 32\nghz = 1\nsource = \"test\"\n\
         [unit.ntt]\ncount = {count}\nrows = 64\nfirst = 200\nlast = 264\nwidth = 16\nsource = \"test\"\n\
         [unit.ewe]\nrows = \"32*terms\"\nfirst = 16\nlast = \"32*terms + 16\"\nwidth = 32\ntogether = {together}\nsource = \"test\"\n\
         [runs]\nntt = \"ntt\"\nintt = \"ntt\"\nadd = \"ewe\"\ndot = \"ewe\"\nneg = \"none\"\n\
         lift = {{ with = \"ntt\", else = \"ewe\" }}\nscale = {{ with = \"intt\", else = \"ewe\" }}\n\
         [memory.limbs]\nbytes = {}\nsource = \"test\"\n\
         [offchip.hbm]\nbytes_per_cycle = 33.3\nlatency = 10\nbeat = 64\nsource = \"test\"\n\
         [keys]\nseeded = {seeded}\nexpand = \"ewe\"\nsource = \"test\"\n",
        limbs * 4096
    );
    Description::from_toml("small", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn graph() -> impl Strategy<Value = Graph> {
    let kinds = vec![Kind::Ntt, Kind::Intt, Kind::Add, Kind::DotKey, Kind::Neg, Kind::Lift, Kind::Scale];
    let one =
        (prop::sample::select(kinds), prop::array::uniform2(any::<prop::sample::Index>()), any::<bool>());
    prop::collection::vec(one, 1..80).prop_map(|all| {
        let mut graph = Graph::new("random", 10).unwrap();
        for class in [Class::Data, Class::Key, Class::SeededKey, Class::Plain] {
            graph.input(class, 30);
        }
        for (kind, reads, result) in all {
            let place = |i: &prop::sample::Index| i.index(graph.limbs.len()) as Value;
            let count = if matches!(kind, Kind::Add | Kind::DotKey) { 2 } else { 1 };
            let operands: Vec<Value> = reads[..count].iter().map(place).collect();
            let value = graph.push(kind, &operands, 32, if kind == Kind::DotKey { 2 } else { 1 }).unwrap();
            if result {
                graph.result(value).unwrap();
            }
        }
        graph
    })
}

/// Whether intervals of time overlap.
fn overlap(mut spans: Vec<(u64, u64)>) -> bool {
    spans.sort_unstable();
    spans.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

/// When a limb comes, at the earliest, and when it has left memory for good or for a while.
fn presence(plan: &Plan<'_>, s: &Schedule, value: Value) -> Vec<(u64, bool)> {
    let mut all: Vec<(u64, bool)> = Vec::new();
    for (op, issue) in plan.ops.iter().zip(&s.issues).filter(|(op, _)| op.result == value) {
        let chained = issue.start + u64::from(op.head);
        all.push((chained.min(issue.done), true));
    }
    for t in s.transfers.iter().filter(|t| t.value == value) {
        match t.flow {
            Flow::Spill => all.push((t.start, false)),
            Flow::Result => {}
            _ => all.push((t.there, true)),
        }
    }
    all.sort_unstable();
    all
}

fn check(plan: &Plan<'_>, s: &Schedule, options: &Options) {
    let (ops, issues) = (&plan.ops, &s.issues);
    for (u, &count) in plan.instances.iter().enumerate() {
        for instance in 0..count {
            let own = |(op, issue): (&crate::plan::Op, &Issue)| {
                (usize::from(op.unit) == u && issue.instance == instance).then_some((issue.start, issue.end))
            };
            let mut spans: Vec<_> = ops.iter().zip(issues).filter_map(own).collect();
            if count == 1 {
                let made = s.transfers.iter().filter(|t| t.flow == Flow::Expanded && usize::from(t.by) == u);
                spans.extend(made.map(|t| (t.start, t.end)));
            }
            assert!(!overlap(spans), "unit {u}.{instance} does two things at once");
        }
    }
    // Sums of the same words that follow each other take the cycles of at least as many passes as they need.
    for (u, unit) in plan.machine.units.iter().enumerate().filter(|(u, _)| plan.instances[*u] == 1) {
        let words = |op: &crate::plan::Op| -> Vec<Value> {
            let class = |v: &Value| plan.graph.class(*v).unwrap();
            let key = |v: &Value| matches!(class(v), Class::Key | Class::SeededKey);
            plan.reads(op).iter().copied().filter(|v| op.kind == Kind::DotKey && !key(v)).collect()
        };
        let own = ops.iter().zip(issues).filter(|(op, _)| usize::from(op.unit) == u);
        let mut own: Vec<_> = own.map(|(op, issue)| (issue.start, issue.end, words(op), op.rows)).collect();
        own.sort_unstable();
        for run in own.chunk_by(|a, b| a.2 == b.2 && !a.2.is_empty()) {
            let held: u64 = run.iter().map(|r| r.1 - r.0).sum();
            let passes = (run.len() as u64).div_ceil(unit.together.into());
            assert!(held >= passes * u64::from(run[0].3), "{run:?} in {held} cycles");
        }
    }
    // A channel moves whole beats one after the other: 33.3 bytes a cycle, and at most a cycle of rounding each.
    let passed = s.transfers.iter().filter(|t| t.flow != Flow::Expanded);
    let moved: u64 = passed.map(|t| plan.homes[t.value as usize].bytes).sum();
    assert!(s.moving[0] * 1000 / plan.ticks[0].cycle <= s.cycles * 1000 + 1000);
    assert_eq!(s.moving[0], moved * plan.ticks[0].byte);
    for t in s.transfers.iter().filter(|t| t.flow != Flow::Expanded) {
        let least = plan.transfer_ticks(plan.homes[t.value as usize]) / plan.ticks[0].cycle;
        assert!(t.end - t.start >= least && t.there >= t.end && t.end <= s.cycles);
    }
    for (op, issue) in ops.iter().zip(issues) {
        assert!(
            issue.end >= issue.start + u64::from(issue.rows)
                && issue.done >= issue.end
                && issue.done <= s.cycles
        );
        for &value in plan.reads(op) {
            let there = presence(plan, s, value);
            let came = there.iter().any(|&(at, in_memory)| in_memory && at <= issue.start);
            assert!(came, "limb {value} is read at {} and comes at {there:?}", issue.start);
            if !options.chaining || op.unit == FREE {
                let maker = ops.iter().position(|o| o.result == value);
                let fetched = s
                    .transfers
                    .iter()
                    .any(|t| t.value == value && t.flow == Flow::Fill && t.there <= issue.start);
                assert!(maker.is_none_or(|m| issues[m].done <= issue.start) || fetched);
            }
        }
    }
    // What is read again after it went has been written before, and has come back.
    for t in s.transfers.iter().filter(|t| t.flow == Flow::Fill) {
        let written =
            s.transfers.iter().any(|w| w.value == t.value && w.flow == Flow::Spill && w.end <= t.start);
        assert!(written, "limb {} comes back and was never written", t.value);
    }
    if options.write_results {
        for &value in &plan.graph.results {
            let out = |t: &&Transfer| t.value == value && matches!(t.flow, Flow::Result | Flow::Spill);
            let made = ops.iter().any(|op| op.result == value);
            assert!(!made || s.transfers.iter().any(|t| out(&t)), "result {value} is not written");
        }
    }
}

proptest! {
    #[test]
    fn schedules_are_what_a_machine_can_do(
        graph in graph(), limbs in 3u64..20, count in 1u64..3, seeded in any::<bool>(), chaining in any::<bool>(),
        write_results in any::<bool>(), together in 1u32..4, window in prop::sample::select(vec![None, Some(4), Some(64)]),
    ) {
        let small = machine(limbs, count, seeded, together);
        let plan = Plan::new(&small, &graph).unwrap();
        let by = window.map_or(Order::Program, Order::window);
        let uses = Uses::of(&plan);
        let seq = uses.gather(&plan, order(&plan, &uses, by));
        let mut sorted = seq.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..plan.ops.len() as u32).collect::<Vec<_>>());
        let options = Options { chaining, write_results, ..Options::default() };
        let s = replay(&plan, &seq, &options, u64::MAX).unwrap();
        check(&plan, &s, &options);
        prop_assert!(s.resident[0] <= limbs);
        prop_assert!(Bounds::of(&plan, &options).most() <= s.cycles);
        // A limit that is met changes nothing, one that is not gives the run up.
        prop_assert!(replay(&plan, &seq, &options, s.cycles) == Some(s.clone()));
        prop_assert!(s.cycles == 0 || replay(&plan, &seq, &options, s.cycles - 1).is_none());
    }
}
