//! Which values of a program are bootstrapped so that no level is missing: as few as are found.
//!
//! Fewest of all is a hard problem. Three choices are made, as late as possible and by cuts through layers counted from either end
//! (`cut.rs`), and each is made smaller value by value (`improve.rs`); the smallest is taken. On chains of
//! products no placement has fewer, nor in small programs where one bootstrapping suffices.

mod choice;
mod cut;
mod flow;
mod graph;
mod improve;

use std::collections::HashMap;

use ringmill_program::he::{Op, Program, Source, Value};

use super::expand::Copy;
use crate::CircuitError;
use choice::Choice;
use graph::Graph;

/// Edges looked at for cuts through one way of counting layers: enough for ten thousands of values.
const WORK: usize = 1 << 23;

/// How many products in a row a chain has levels for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// From inputs or a bootstrapping to a value that is bootstrapped, 1 or more.
    pub between: u32,
    /// From inputs or a bootstrapping to the end of the program; as many as that or more.
    pub last: u32,
}

/// A bootstrapping that the compiler placed.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The place in the user's source of the value that is bootstrapped.
    pub of: Option<Source>,
    /// The place of the first product that would have no level left.
    pub before: Option<Source>,
    /// Products since the inputs or the last bootstrapping.
    pub depth: u32,
}

impl std::fmt::Display for Placed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = |s: &Option<Source>| s.as_ref().map_or("a value".to_owned(), ToString::to_string);
        write!(
            f,
            "{}: bootstrapped at depth {}, because the product of {} has no level left",
            place(&self.of),
            self.depth,
            place(&self.before)
        )
    }
}

/// The program with a `bootstrap` wherever its levels would not do otherwise, of values that `may` be bootstrapped if those do. A
/// value is bootstrapped once, before the first use that could not do with what it was.
///
/// Every product counts: [simplify](ringmill_program::manage::simplify) first, which makes one of those by constants in a row.
///
/// # Errors
/// None for a verified traced program.
pub fn place(
    p: &Program,
    budget: Budget,
    may: impl Fn(Value) -> bool,
) -> Result<(Program, Vec<Placed>), CircuitError> {
    let between = budget.between.max(1);
    let g = Graph::of(p, Budget { between, last: budget.last.max(between) }, may);
    let mut choice = choose(&g);
    let uses = g.uses(choice.chosen());
    let mut copy = Copy::of(p)?;
    let mut fresh: HashMap<usize, Value> = HashMap::new();
    let mut placed = Vec::new();
    for (v, instr) in p.values() {
        copy.stand_at(v);
        let bootstrapped = &uses.bootstrapped[v.index()];
        for &a in bootstrapped {
            if fresh.contains_key(&a) {
                continue;
            }
            let source = |i: usize| p.instrs()[i].source.clone();
            let before = choice.missing_without(a).and_then(source);
            placed.push(Placed { of: source(a), before, depth: uses.depths[a] });
            let value = copy.b.push(Op::Bootstrap { a: copy.new[a], iterations: None })?;
            fresh.insert(a, value);
        }
        let new = |a: Value| match bootstrapped.contains(&a.index()) {
            true => fresh[&a.index()],
            false => copy.new[a.index()],
        };
        let op = instr.op.map_operands(new);
        let value = copy.b.push(op)?;
        copy.new.push(value);
        copy.promise(v)?;
    }
    Ok((copy.finish()?, placed))
}

/// The smallest choice found; among those with values that may not be bootstrapped, the one with the fewest of these.
fn choose(g: &Graph) -> Choice<'_> {
    let none = vec![false; g.cost.len()];
    if let Some(choice) = Choice::new(g, none) {
        return choice;
    }
    let heights = g.heights();
    let deepest = heights.iter().max().copied().unwrap_or(0);
    let from_end: Vec<u32> = heights.iter().map(|height| deepest - height).collect();
    let layers = [layers_from_start(g), from_end];
    let cuts = layers.iter().filter_map(|layer| Choice::new(g, cut::cuts(g, layer, &mut WORK.clone())?));
    let late = Choice::new(g, g.late()).unwrap_or_else(|| {
        unreachable!("what has no level left is bootstrapped, and rests at `between` at most")
    });
    let size = |choice: &Choice<'_>| {
        let firm = choice.list().iter().filter(|&&v| !g.may[v]).count();
        (firm, choice.list().len())
    };
    let mut best: Option<Choice<'_>> = None;
    for mut choice in std::iter::once(late).chain(cuts) {
        choice = Choice::new(g, g.uses(choice.chosen()).chosen()).unwrap_or(choice);
        improve::improve(&mut choice);
        if best.as_ref().is_none_or(|best| size(&choice) < size(best)) {
            best = Some(choice);
        }
    }
    best.unwrap_or_else(|| unreachable!("there is one at least"))
}

/// Products from the inputs, and from the bootstrappings that were asked for.
fn layers_from_start(g: &Graph) -> Vec<u32> {
    let mut layer = vec![0; g.cost.len()];
    for &v in &g.order {
        layer[v] = g.operands[v].iter().map(|&a| layer[a]).max().unwrap_or(0) + g.cost[v];
    }
    layer
}
