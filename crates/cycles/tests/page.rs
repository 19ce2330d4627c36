//! The page about large machines: its example is a description, and its tables name what there is.

use ringmill_cycles::{Class, Description, Graph, Kind, Settings, simulate};

const PAGE: &str = include_str!("../../../docs/large-machines.md");

#[test]
fn the_example_is_a_machine_that_runs_every_kind_of_instruction() {
    let text = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let machine = Description::from_toml("the page", text).unwrap_or_else(|e| panic!("{e}"));
    let mut graph = Graph::new("all kinds", 12).unwrap();
    let (x, key) = (graph.input(Class::Data, 60), graph.input(Class::SeededKey, 60));
    for kind in Kind::ALL {
        let y = graph.push(kind, &[x, key], 60, 2).unwrap();
        graph.result(y).unwrap();
    }
    let outcome = simulate(&machine, &graph, &Settings::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.parts.iter().map(|p| p.1).sum::<u64>(), outcome.cycles);
    assert_eq!(outcome.assumed.len(), 2 + 4, "two latencies, and all of the channel");
}

#[test]
fn every_machine_that_comes_with_the_program_is_named() {
    for name in Description::shipped() {
        assert!(PAGE.contains(&format!("| `{name}` |")), "{name}");
    }
}
