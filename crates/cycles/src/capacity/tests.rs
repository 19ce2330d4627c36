//! Traffic beside a slow count that knows no heap: it looks through all limbs on chip at every step.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::graph::Value;

/// What [`slow`] found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    bytes: BTreeMap<Flow, u64>,
    spills: u64,
}

fn slow(graph: &Graph, limbs: usize, seeded: bool, by_cost: bool) -> Found {
    let size = |v: Value| graph.n() * u64::from(graph.limbs[v as usize].bits) / 8;
    let next = |v: Value, k: usize| {
        let later = graph.nodes.iter().enumerate().skip(k + 1);
        later.filter(|(_, node)| graph.reads(node).contains(&v)).map(|(at, _)| at).next()
    };
    let (mut here, mut written): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut touched: BTreeMap<Value, usize> = BTreeMap::new();
    let mut found = Found::default();
    for (k, node) in graph.nodes.iter().enumerate() {
        let reads = graph.reads(node);
        let absent: Vec<Value> = reads.iter().copied().filter(|v| !here.contains(v)).collect();
        for v in absent.into_iter().chain([node.result]) {
            if here.len() == limbs {
                let copied = |x: Value| graph.limbs[x as usize].class != Class::Value || written.contains(&x);
                let far = |x: Value| {
                    let at = next(x, k).unwrap();
                    match by_cost {
                        true if seeded && graph.limbs[x as usize].class == Class::SeededKey => usize::MAX,
                        // The distance is that at the last touch.
                        true if copied(x) => at + (at - touched[&x]),
                        _ => at,
                    }
                };
                let may = here.iter().copied().filter(|x| !reads.contains(x));
                let victim = may.max_by_key(|&x| (far(x), std::cmp::Reverse(x))).unwrap();
                here.retain(|&x| x != victim);
                if !copied(victim) {
                    written.push(victim);
                    *found.bytes.entry(Flow::Spill).or_default() += size(victim);
                    found.spills += 1;
                }
            }
            here.push(v);
            if v != node.result {
                let class = graph.limbs[v as usize].class;
                let flow = if seeded && class == Class::SeededKey { Flow::Expanded } else { Flow::of(class) };
                *found.bytes.entry(flow).or_default() += size(v);
            }
        }
        for &v in reads.iter().chain([&node.result]) {
            touched.insert(v, k);
            if next(v, k).is_none() {
                here.retain(|&x| x != v);
                if graph.results.contains(&v)
                    && graph.limbs[v as usize].class == Class::Value
                    && !written.contains(&v)
                {
                    *found.bytes.entry(Flow::Result).or_default() += size(v);
                }
            }
        }
    }
    found
}

fn graph() -> impl Strategy<Value = Graph> {
    let one = (prop::collection::vec(any::<prop::sample::Index>(), 1..4), 20u8..60, any::<bool>());
    prop::collection::vec(one, 1..60).prop_map(|all| {
        let mut graph = Graph::new("random", 6).unwrap();
        for class in [Class::Data, Class::Key, Class::SeededKey, Class::Plain] {
            graph.input(class, 30);
        }
        for (at, (reads, bits, result)) in all.into_iter().enumerate() {
            if at % 7 == 3 {
                graph.region(format!("part {}", at / 14));
            }
            let operands: Vec<Value> = reads.iter().map(|i| i.index(graph.limbs.len()) as Value).collect();
            let value = graph.push(Kind::Dot, &operands, bits, 1).unwrap();
            if result {
                graph.result(value).unwrap();
            }
        }
        graph
    })
}

proptest! {
    #[test]
    fn traffic_is_what_a_slow_count_finds(
        graph in graph(), limbs in 4usize..12, seeded in any::<bool>(), by_cost in any::<bool>(),
    ) {
        let chip = Chip::new(&graph, Capacity::Limbs(limbs as u64), seeded).unwrap();
        let chip = if by_cost { chip.by_cost() } else { chip };
        let traffic = chip.traffic(&graph, None).unwrap();
        let expected = slow(&graph, limbs, seeded, by_cost);
        for flow in Flow::ALL {
            let expected = expected.bytes.get(&flow).copied().unwrap_or(0);
            prop_assert_eq!(traffic.bytes(flow), expected, "{:?}", flow);
        }
        let spills = traffic.flows.iter().find(|f| f.flow == Flow::Spill).unwrap().limbs;
        prop_assert_eq!(spills, expected.spills);
        // Regions are parts of the whole, each label once.
        for (at, flow) in Flow::ALL.into_iter().enumerate() {
            prop_assert_eq!(traffic.regions.iter().map(|r| r.bytes[at]).sum::<u64>(), traffic.bytes(flow));
        }
        prop_assert_eq!(traffic.regions.iter().map(|r| r.instructions).sum::<u64>(), graph.len() as u64);
        prop_assert_eq!(traffic.regions.iter().map(|r| r.peak).max(), Some(traffic.live.0));
        let labels: std::collections::HashSet<&str> = traffic.regions.iter().map(|r| &*r.label).collect();
        prop_assert_eq!(labels.len(), traffic.regions.len());
    }
}

#[test]
fn a_capacity_below_that_of_one_instruction_is_refused_with_the_least() {
    let mut graph = Graph::new("sum", 10).unwrap();
    let limbs: Vec<Value> = (0..5).map(|_| graph.input(Class::Data, 40)).collect();
    let sum = graph.push(Kind::Dot, &limbs, 40, 5).unwrap();
    graph.result(sum).unwrap();
    let refused = Chip::new(&graph, Capacity::Limbs(5), true).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a capacity of 5 limbs is too small for program sum: a `dot` reads and writes 6 at once; give at least 6 limbs, 30720 bytes"
    );
    // Five limbs of 40 bits and a byte less than the sixth.
    assert!(Chip::new(&graph, Capacity::Bytes(30719), true).is_err());
    let traffic = Chip::new(&graph, Capacity::Bytes(30720), true).unwrap().traffic(&graph, None).unwrap();
    assert_eq!((traffic.capacity, traffic.least, traffic.off_chip()), (6, 6, 6 * 5120));
}

/// A map of some sums of some rotations, operation by operation: each rotation is there as a whole before the sums read it.
fn map(primes: usize, rotations: usize, sums: usize) -> String {
    use std::fmt::Write as _;

    let q = ringmill_ring::primes::of_bits(30, 4, primes, &[]).unwrap();
    let names: Vec<String> = (0..primes).map(|i| format!("q{i}")).collect();
    let names = names.join(" ");
    let mut text = String::from("limb map : 2^4 {\n");
    q.iter().enumerate().for_each(|(i, q)| writeln!(text, "  modulus q{i} = {}", q.value()).unwrap());
    writeln!(
        text,
        "  input data x : eval {names}\n  input key k_b0 : eval {names}\n  output y : eval {names}"
    )
    .unwrap();
    let mut next = 0..;
    let mut rotated = vec![Vec::new(); rotations];
    for (r, of) in rotated.iter_mut().enumerate() {
        writeln!(text, "region %{r} rotate").unwrap();
        for i in 0..primes {
            let v = next.next().unwrap();
            writeln!(text, "  %{v} = dot [x.{i}], [k_b0.{i}] : q{i} eval").unwrap();
            of.push(v);
        }
    }
    writeln!(text, "region %{rotations} add").unwrap();
    let mut all = vec![Vec::new(); sums];
    for (s, of) in all.iter_mut().enumerate() {
        for i in 0..primes {
            let v = next.next().unwrap();
            let read: Vec<String> = rotated.iter().map(|r| format!("%{}", r[i])).collect();
            let turned: Vec<String> = (0..rotations).map(|r| read[(r + s) % rotations].clone()).collect();
            writeln!(text, "  %{v} = dot [{}], [{}] : q{i} eval", read.join(", "), turned.join(", "))
                .unwrap();
            of.push(v);
        }
    }
    writeln!(text, "region %{} add", rotations + 1).unwrap();
    for (i, (a, b)) in all[0].iter().zip(&all[sums - 1]).enumerate() {
        let v = next.next().unwrap();
        writeln!(text, "  %{v} = mul %{a}, %{b} : q{i} eval\n  store %{v} -> y.{i}").unwrap();
    }
    text + "}\n"
}

#[test]
fn a_map_goes_prime_by_prime_where_its_rotations_do_not_fit() {
    let program = ringmill_program::limb::parse(&map(6, 4, 2)).unwrap();
    let graph = Graph::of(&program).unwrap();
    let chip = Chip::new(&graph, Capacity::Limbs(14), true).unwrap();
    let found = chip.reorder(&program, &graph).unwrap();
    let other = Graph::of(&found.program).unwrap();
    let (before, after) = (chip.traffic(&graph, None).unwrap(), chip.traffic(&other, None).unwrap());
    assert_eq!(found.off_chip, (before.off_chip(), after.off_chip()));
    // Inputs come once and results leave once; rotations are 24 limbs where 14 fit.
    assert!(before.bytes(Flow::Spill) > 0);
    assert_eq!(after.bytes(Flow::Spill) + after.bytes(Flow::Fill), 0, "{:?}", after.flows);
    assert_eq!(after.off_chip(), 18 * 60);
    // Where all fits nothing is changed.
    let large = Chip::new(&graph, Capacity::Limbs(100), true).unwrap();
    let same = large.reorder(&program, &graph).unwrap();
    assert_eq!((same.kept, &same.program), (0, &program));
}

proptest! {
    #[test]
    fn a_reordered_program_is_valid_and_moves_no_more(
        seed: u64, moduli in 1usize..5, size in 1usize..150, more in 0u64..12, seeded: bool, by_cost: bool,
    ) {
        let moduli = ringmill_ring::primes::of_bits(30, 4, moduli, &[]).unwrap();
        let random = ringmill_program::limb::random::RandomProgram { log_n: 4, moduli, instructions: size, seed };
        let program = random.generate().unwrap();
        let graph = Graph::of(&program).unwrap();
        let least = Chip::new(&graph, Capacity::Limbs(1 << 20), seeded).unwrap().least;
        let chip = Chip::new(&graph, Capacity::Limbs(least + more), seeded).unwrap();
        let chip = if by_cost { chip.by_cost() } else { chip };
        let found = chip.reorder(&program, &graph).unwrap();
        let other = Graph::of(&found.program).unwrap();
        prop_assert_eq!(found.off_chip.0, chip.traffic(&graph, None).unwrap().off_chip());
        prop_assert_eq!(found.off_chip.1, chip.traffic(&other, None).unwrap().off_chip());
        prop_assert!(found.off_chip.1 <= found.off_chip.0);
        prop_assert_eq!(other.len(), graph.len());
    }
}
