//! Places of bootstrappings: counts against exhaustive search and known optima, depths by a checker of their own.

use crate::common::Rng;
use ringmill_circuits::bootstrap::{Bootstrap, Budget, Placed, expand, place};
use ringmill_program::he::{Builder, Constant, Op, OpKind, Program, Source, Value};
use ringmill_program::manage::simplify;

const SLOTS: usize = 16;

/// A ciphertext by its operands: none, an input; one, a double or a square; two, a sum or a product.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    operands: Vec<usize>,
    product: bool,
    /// The product of one operand and a number of its own.
    scaled: bool,
}

fn node(product: bool, operands: &[usize]) -> Node {
    Node { operands: operands.to_vec(), product, scaled: false }
}

fn scaled(operand: usize) -> Node {
    Node { operands: vec![operand], product: true, scaled: true }
}

/// What the operands of a node amount to: factors in a row are one, of the first's operand.
fn operands(nodes: &[Node], i: usize) -> &[usize] {
    let mut at = i;
    while nodes[at].scaled && nodes[nodes[at].operands[0]].scaled {
        at = nodes[at].operands[0];
    }
    &nodes[at].operands
}

/// The program with these values, those that nothing uses being its outputs.
fn program(nodes: &[Node]) -> Program {
    let mut b = Builder::traced("t", SLOTS).unwrap();
    let mut values: Vec<Value> = Vec::new();
    let mut used = vec![false; nodes.len()];
    for (i, n) in nodes.iter().enumerate() {
        n.operands.iter().for_each(|&a| used[a] = true);
        let at = |k: usize| values[n.operands[k]];
        b.source(Some(Source { file: "t.py".into(), line: i as u32 + 1 }));
        let op = match (n.operands.len(), n.product) {
            (0, _) => Op::Input(format!("x{i}")),
            (1, false) => Op::Add(at(0), at(0)),
            (1, true) if n.scaled => {
                let c = b.push(Op::Const(Constant::Real((i as f64).sin()))).unwrap();
                Op::Mul(at(0), c)
            }
            (1, true) => Op::Square(at(0)),
            (_, false) => Op::Add(at(0), at(1)),
            (_, true) => Op::Mul(at(0), at(1)),
        };
        values.push(b.push(op).unwrap());
    }
    for (i, value) in values.iter().enumerate().filter(|(i, _)| !used[*i]) {
        b.output(&format!("y{i}"), *value).unwrap();
    }
    b.finish().unwrap()
}

/// How many bootstrappings a placed program has, if every product and every bootstrapping has its levels.
fn count(p: &Program, budget: Budget) -> usize {
    let mut depths = Vec::new();
    let mut count = 0;
    for instr in p.instrs() {
        let below = instr.op.operands().as_slice().iter().map(|a| depths[a.index()]).max().unwrap_or(0);
        depths.push(match instr.op {
            Op::Bootstrap { .. } => {
                assert!(below <= budget.between, "bootstrapped at depth {below}, {budget:?}\n{p}");
                count += 1;
                0
            }
            Op::Mul(..) | Op::Square(_) => below + 1,
            _ => below,
        });
    }
    assert!(depths.iter().all(|&d| d <= budget.last), "{budget:?}\n{p}");
    count
}

fn placed(nodes: &[Node], budget: Budget) -> (usize, Vec<Placed>) {
    placed_in(&program(nodes), budget)
}

fn placed_in(p: &Program, budget: Budget) -> (usize, Vec<Placed>) {
    let (with, places) = place(p, budget, |_| true).unwrap();
    let found = count(&with, budget);
    assert_eq!(found, places.len());
    let kept = with.instrs().iter().filter(|i| i.op.kind() != OpKind::Bootstrap);
    assert!(kept.map(|i| i.op.kind()).eq(p.instrs().iter().map(|i| i.op.kind())), "other operations");
    (found, places)
}

/// The fewest, by trying every set of values.
fn fewest(nodes: &[Node], budget: Budget) -> usize {
    let fits = |set: u32| {
        let mut depths: Vec<u32> = Vec::new();
        nodes.iter().enumerate().all(|(i, n)| {
            let depth = |&a: &usize| if set >> a & 1 == 1 { 0 } else { depths[a] };
            let depth = operands(nodes, i).iter().map(depth).max().unwrap_or(0) + u32::from(n.product);
            depths.push(depth);
            depth <= if set >> i & 1 == 1 { budget.between } else { budget.last }
        })
    };
    let sets = (0..1u32 << nodes.len()).filter(|&set| fits(set));
    sets.map(|set| set.count_ones() as usize).min().unwrap()
}

/// The operands of the first product on each path that has no level left, the last stretch as long as the others.
fn by_lowest_depth(nodes: &[Node], between: u32) -> usize {
    let mut depths: Vec<u32> = Vec::new();
    let mut fresh = vec![false; nodes.len()];
    for (i, n) in nodes.iter().enumerate() {
        let operands = operands(nodes, i);
        for &a in operands.iter().filter(|_| n.product) {
            fresh[a] |= depths[a] >= between;
        }
        let depth = |&a: &usize| if fresh[a] { 0 } else { depths[a] };
        depths.push(operands.iter().map(depth).max().unwrap_or(0) + u32::from(n.product));
    }
    fresh.iter().filter(|&&f| f).count()
}

/// x to the power of length + 1.
fn chain(length: usize) -> Vec<Node> {
    let mut nodes = vec![node(false, &[])];
    (0..length).for_each(|i| nodes.push(node(true, &[i, 0])));
    nodes
}

/// Adds `count` squares in a row, and returns the last.
fn squares(nodes: &mut Vec<Node>, mut at: usize, length: usize) -> usize {
    for _ in 0..length {
        nodes.push(node(true, &[at]));
        at = nodes.len() - 1;
    }
    at
}

#[test]
fn chains_are_bootstrapped_as_often_as_their_length_says() {
    for between in 1..6 {
        for last in between..between + 4 {
            for length in 1..40 {
                let wanted = (length as u32).saturating_sub(last).div_ceil(between);
                let budget = Budget { between, last };
                assert_eq!(placed(&chain(length), budget).0 as u32, wanted, "{length} products, {budget:?}");
            }
        }
    }
}

#[test]
fn one_bootstrapping_serves_what_branches_off_and_what_runs_together() {
    let budget = Budget { between: 9, last: 11 };
    // Eight products, then eight branches of six.
    let mut nodes = chain(8);
    for _ in 0..8 {
        squares(&mut nodes, 8, 6);
    }
    assert_eq!(placed(&nodes, budget).0, 1);
    assert_eq!(by_lowest_depth(&nodes, 9), 8);
    // Eight branches of seven products, added up, then eight more.
    let mut nodes = vec![node(false, &[])];
    let ends: Vec<usize> = (0..8).map(|_| squares(&mut nodes, 0, 7)).collect();
    let mut sum = ends[0];
    for &end in &ends[1..] {
        nodes.push(node(false, &[sum, end]));
        sum = nodes.len() - 1;
    }
    squares(&mut nodes, sum, 8);
    assert_eq!(placed(&nodes, budget).0, 1);
    // Wide, narrow, wide, five times: one at every waist.
    let mut nodes = vec![node(false, &[])];
    let mut at = 0;
    for _ in 0..5 {
        let ends: Vec<usize> = (0..6).map(|_| squares(&mut nodes, at, 8)).collect();
        at = ends[0];
        for &end in &ends[1..] {
            nodes.push(node(false, &[at, end]));
            at = nodes.len() - 1;
        }
    }
    assert_eq!(placed(&nodes, Budget { between: 9, last: 9 }).0, 4);
    // A value that is kept for later costs nothing if it was never low.
    let mut nodes = chain(2);
    let end = squares(&mut nodes, 2, 20);
    nodes.push(node(true, &[end, 2]));
    assert_eq!(placed(&nodes, budget).0, 2);
}

/// Adds `count` sums, products and products by numbers of random values, some of these twice in a row, to
/// `inputs` inputs. No two are the same.
fn random(rng: &mut Rng, size: usize, inputs: usize) -> Vec<Node> {
    let mut nodes = vec![node(false, &[]); inputs];
    while nodes.len() < size {
        let recent = |rng: &mut Rng| nodes.len() - 1 - rng.below(nodes.len().min(4));
        let (a, b) = (recent(rng), recent(rng));
        let new = match rng.below(12) {
            0 | 1 => scaled(a),
            2 if nodes.len() + 2 <= size => {
                nodes.push(scaled(a));
                scaled(nodes.len() - 1)
            }
            kind => {
                let both = [a.min(b), a.max(b)];
                node(kind < 9, &both[usize::from(a == b)..])
            }
        };
        if new.scaled || !nodes.contains(&new) {
            nodes.push(new);
        }
    }
    nodes
}

#[test]
fn random_programs_are_bootstrapped_as_rarely_as_exhaustive_search_finds() {
    let mut rng = Rng(7);
    let (mut equal, mut naive, mut optimum, mut total) = (0, 0, 0, 0);
    const ROUNDS: usize = 400;
    for _ in 0..ROUNDS {
        let inputs = 1 + rng.below(2);
        let nodes = random(&mut rng, 13, inputs);
        let between = 1 + rng.below(3) as u32;
        let budget = Budget { between, last: between + rng.below(3) as u32 };
        let (found, least) =
            (placed_in(&simplify(&program(&nodes)).unwrap(), budget).0, fewest(&nodes, budget));
        assert!(least <= found && found <= least + 1, "{found} instead of {least}: {budget:?} {nodes:?}");
        assert!(found <= by_lowest_depth(&nodes, between));
        equal += usize::from(found == least);
        total += found;
        optimum += least;
        naive += by_lowest_depth(&nodes, between);
    }
    println!("{equal} of {ROUNDS} equal; {total} in all, at least {optimum}, by lowest depth {naive}");
    assert!(equal * 100 >= ROUNDS * 99, "{equal} of {ROUNDS}");
}

#[test]
fn large_programs_are_placed_no_worse_than_by_lowest_depth() {
    let mut rng = Rng(11);
    for (size, width) in [(300, 3), (2_000, 20), (12_000, 100)] {
        // Blocks as wide, from random values of the block before, and a skip over each.
        let mut nodes = vec![node(false, &[]); width];
        while nodes.len() < size {
            let start = nodes.len() - width;
            for k in 0..width {
                let (a, b) = (start + rng.below(width), start + k);
                let operands = if a == b { vec![a] } else { vec![a, b] };
                nodes.push(node(rng.below(4) > 0, &operands));
            }
        }
        let budget = Budget { between: 5, last: 7 };
        let (found, lowest) = (placed(&nodes, budget).0, by_lowest_depth(&nodes, 5));
        println!("{size} values: {found}, by lowest depth {lowest}");
        assert!(found <= lowest, "{size} values: {found}, by lowest depth {lowest}");
    }
}

#[test]
fn what_may_not_be_bootstrapped_is_not() {
    let (budget, nodes) = (Budget { between: 3, last: 3 }, chain(9));
    let p = program(&nodes);
    // Only those at depths 3 and 6 would do for two.
    let (with, places) = place(&p, budget, |v| v.0 % 3 != 0).unwrap();
    assert_eq!(count(&with, budget), 3);
    let lines: Vec<u32> = places.iter().map(|p| p.of.as_ref().unwrap().line).collect();
    assert!(lines.iter().all(|line| (line - 1) % 3 != 0), "{lines:?}");
    // Where nothing else is left it is: the circuit says what is wrong.
    let (with, _) = place(&p, budget, |_| false).unwrap();
    assert_eq!(count(&with, budget), 2);
}

#[test]
fn bootstrappings_that_were_asked_for_stay_and_are_reached() {
    let mut b = Builder::traced("t", SLOTS).unwrap();
    let mut y = b.push(Op::Input("x".into())).unwrap();
    for i in 0..10 {
        y = b.push(Op::Square(y)).unwrap();
        if i == 3 {
            y = b.push(Op::Bootstrap { a: y, iterations: None }).unwrap();
        }
    }
    // Neither is an output, so nothing is bootstrapped for it.
    let mut dead = y;
    for _ in 0..10 {
        dead = b.push(Op::Square(dead)).unwrap();
    }
    b.output("y", y).unwrap();
    let p = b.finish().unwrap();
    for (budget, wanted) in [
        (Budget { between: 3, last: 6 }, 1),
        (Budget { between: 3, last: 5 }, 2),
        (Budget { between: 4, last: 6 }, 0),
    ] {
        let (with, places) = place(&p, budget, |_| true).unwrap();
        assert_eq!(places.len(), wanted, "{budget:?}\n{with}");
    }
}

#[test]
fn places_say_what_would_have_no_level_left() {
    let (_, places) = placed(&chain(7), Budget { between: 3, last: 3 });
    let words: Vec<String> = places.iter().map(ToString::to_string).collect();
    let says = |of, before| {
        format!("t.py:{of}: bootstrapped at depth 3, because the product of t.py:{before} has no level left")
    };
    assert_eq!(words, [says(4, 5), says(7, 8)]);
}

#[test]
fn placed_bootstrappings_become_circuits() {
    let p = program(&chain(7));
    let (with, _) = place(&p, Budget { between: 3, last: 3 }, |_| true).unwrap();
    let expanded = expand(&with, |_| Bootstrap::default(), |_| 1.0).unwrap();
    let how_many = |kind| expanded.instrs().iter().filter(|i| i.op.kind() == kind).count();
    assert_eq!((how_many(OpKind::Raise), how_many(OpKind::Bootstrap)), (2, 0));
}
