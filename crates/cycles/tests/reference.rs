//! The same schedules as the reference model, an independent implementation of the two passes in Python: cycles, bytes of each kind
//! and spills within 0.5 %. The model has no banks, buffers or chaining, keeps results on chip, and counts fractions of cycles.

use std::collections::HashMap;

use crate::common::{He, Lanes, Method, Style};
use ringmill_cycles::{Flow, Graph, Options, Order, Outcome, Settings, simulate};

/// Deviation that is allowed, as a fraction.
const ALLOWED: f64 = 0.005;

/// What a row of the tables says.
struct Row<'t> {
    key: Vec<&'t str>,
    instructions: f64,
    cycles: f64,
    /// Data, plaintexts, keys, spills and fills.
    bytes: [f64; 5],
    spills: f64,
}

fn rows(text: &str, keys: usize) -> Vec<Row<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let numbers: Vec<f64> = fields[keys..].iter().map(|f| f.parse().unwrap()).collect();
            let [instructions, cycles, bytes @ .., spills] = &numbers[..] else { panic!("{line}") };
            Row {
                key: fields[..keys].to_vec(),
                instructions: *instructions,
                cycles: *cycles,
                bytes: bytes.try_into().unwrap(),
                spills: *spills,
            }
        })
        .collect()
}

fn settings(order: Order) -> Settings {
    let options =
        Options { chaining: false, banks: false, buffers: false, write_results: false, ..Options::default() };
    Settings { options, orders: vec![order], spans: false }
}

/// The figures of a row, each with its name.
fn compare(outcome: &Outcome, row: &Row<'_>) -> Vec<(&'static str, f64, f64)> {
    let of = |flow| outcome.bytes(flow) as f64;
    let found = [
        of(Flow::Data),
        of(Flow::Plain),
        of(Flow::Key) + of(Flow::SeededKey),
        of(Flow::Spill),
        of(Flow::Fill),
    ];
    let spills = outcome.flows.iter().find(|f| f.flow == Flow::Spill).unwrap().limbs as f64;
    let names = ["data", "plain", "key", "spill", "fill"];
    let mut all = vec![("cycles", outcome.cycles as f64, row.cycles), ("spills", spills, row.spills)];
    all.extend(names.into_iter().zip(found.into_iter().zip(row.bytes)).map(|(name, (a, b))| (name, a, b)));
    all.push(("instructions", outcome.instructions as f64, row.instructions));
    all
}

/// A difference of a limb or two is none: the model's cycles are fractions, so that a tie may be decided the other way.
fn is_near(name: &str, found: f64, expected: f64) -> bool {
    let slack = match name {
        "cycles" | "instructions" => 0.0,
        "spills" => 2.0,
        _ => 2.0 * 65536.0 * 60.0 / 8.0,
    };
    (found - expected).abs() <= (ALLOWED * expected).max(slack)
}

fn made(name: &str) -> Graph {
    let three = Method::Hybrid(3);
    let bootstrap = |style| {
        let (he, out) = He::bootstrap(16, 14, 3, &[2, 2], three, style);
        he.finish(&out)
    };
    match name {
        "hybrid" => {
            let mut he = He::new(16, 19, 4);
            let c = he.poly(20, ringmill_cycles::Class::Data);
            let out = he.switch(&c, "k", Method::Hybrid(4));
            he.finish(&out)
        }
        "rotations" => {
            let mut he = He::new(16, 9, 2);
            let x = he.ciphertext(10);
            let y = he.rotate(&x, "k", Method::Hybrid(2));
            let z = he.rotate(&y, "k", Method::Hybrid(2));
            he.finish(&z)
        }
        "klss" => {
            let mut he = He::new(16, 11, 2);
            let c = he.poly(12, ringmill_cycles::Class::Data);
            let out = he.switch(&c, "k", Method::Klss(2, 3));
            he.finish(&out)
        }
        "bootstrap bsgs" => bootstrap(Style::BabyGiant),
        "bootstrap double" => bootstrap(Style::Double),
        "bootstrap minkey" => bootstrap(Style::OneKey),
        other => panic!("{other}"),
    }
}

#[test]
fn programs_of_all_shapes_take_what_the_reference_model_says() {
    let mut graphs: HashMap<&str, Graph> = HashMap::new();
    let mut wrong = Vec::new();
    let rows = rows(include_str!("expected/made.tsv"), 3);
    assert!(rows.len() >= 80, "{}", rows.len());
    for row in &rows {
        let [name, limbs, mode] = row.key[..] else { panic!() };
        let graph = graphs.entry(name).or_insert_with(|| made(name));
        let lanes = Lanes {
            word: 36,
            bytes: limbs.parse::<u64>().unwrap() * 65536 * 36 / 8,
            bytes_per_cycle: if mode == "fast" { 8000.0 } else { 1000.0 },
            seeded: matches!(mode, "seeded" | "seeded 512" | "fast"),
            serial: mode == "serial",
            runs: ["ewe", "ewe"],
        };
        let order = Order::window(if mode == "seeded 512" { 512 } else { 64 });
        // The default window of the model's serial mode is none: it is program order.
        let outcome = simulate(&lanes.describe(), graph, &settings(order)).unwrap();
        for (what, found, expected) in compare(&outcome, row) {
            if !is_near(what, found, expected) {
                wrong.push(format!("{name}, {limbs} limbs, {mode}: {what} {found}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program in the form of the reference model: `KIND RESULT MODULUS OPERAND …` a line.
fn stored(text: &str) -> Graph {
    use ringmill_cycles::{Class, Kind};
    let (mut bits, mut inputs, mut values, mut coefficients) =
        (Vec::new(), Vec::new(), HashMap::new(), Vec::new());
    let mut graph = Graph::new("none", 4).unwrap();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "limb" => graph = Graph::new("stored", words[1].parse().unwrap()).unwrap(),
            "mod" => bits.push(words[2].parse::<u8>().unwrap()),
            "#" => graph.region(&line[2..]),
            "in" => {
                let uniform = words[1].rsplit('_').next().unwrap().starts_with('a');
                let class = match (words[2], uniform) {
                    ("key", true) => Class::SeededKey,
                    ("key", false) => Class::Key,
                    ("plain", _) => Class::Plain,
                    _ => Class::Data,
                };
                for m in &words[3..] {
                    inputs.push(graph.input(class, bits[m.parse::<usize>().unwrap()]));
                    coefficients.push(false);
                }
            }
            word => {
                let operand = |o: &&str| match o.strip_prefix('i') {
                    Some(i) => inputs[i.parse::<usize>().unwrap()],
                    None => values[&o[1..].parse::<u32>().unwrap()],
                };
                let operands: Vec<u32> = words[3..].iter().map(operand).collect();
                if word == "store" {
                    graph.result(operands[0]).unwrap();
                    continue;
                }
                let is_key = |&v: &u32| key_limb(&graph, v);
                let (kind, terms) = match word {
                    "dot" if operands.iter().any(is_key) => (Kind::DotKey, operands.len() / 2),
                    "dot" => (Kind::Dot, operands.len() / 2),
                    "mul_const" if coefficients[operands[0] as usize] => (Kind::Scale, 1),
                    "convert" => (Kind::Convert, operands.len() - 1),
                    "convert_fast" | "quotient" => (Kind::named(word).unwrap(), operands.len()),
                    _ => (Kind::named(word).unwrap(), 1),
                };
                let modulus: i64 = words[2].parse().unwrap();
                let long = usize::try_from(modulus).map_or(14, |m| bits[m]);
                let result = graph.push(kind, &operands, long, terms as u32).unwrap();
                coefficients.push(matches!(word, "intt" | "lift" | "convert" | "convert_fast"));
                values.insert(words[1].parse::<u32>().unwrap(), result);
            }
        }
    }
    graph
}

fn key_limb(graph: &Graph, value: u32) -> bool {
    matches!(graph.class(value), Some(ringmill_cycles::Class::Key | ringmill_cycles::Class::SeededKey))
}

/// The limb programs themselves are too large to keep here: `RINGMILL_LIMB_DUMPS` names the folder that has them.
#[test]
#[ignore = "long: make test-full"]
fn stored_bootstrappings_take_what_the_reference_model_says() {
    let Some(folder) = std::env::var_os("RINGMILL_LIMB_DUMPS") else {
        eprintln!("RINGMILL_LIMB_DUMPS names no folder of limb programs: nothing is compared");
        return;
    };
    let mut graphs: HashMap<&str, Graph> = HashMap::new();
    let mut wrong = Vec::new();
    for row in &rows(include_str!("expected/stored.tsv"), 2) {
        let [name, mode] = row.key[..] else { panic!() };
        let graph = graphs.entry(name).or_insert_with(|| {
            let path = std::path::Path::new(&folder).join(format!("{name}.limb"));
            stored(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        });
        let lanes = Lanes {
            word: 55,
            bytes: if mode.contains("256 MiB") { 1 << 28 } else { 134_479_872 },
            bytes_per_cycle: match mode {
                "seeded 2 TB/s" => 2000.0,
                "off-chip free" => 1e9,
                _ => 1000.0,
            },
            seeded: mode.contains("seeded"),
            serial: mode.contains("serial"),
            runs: ["ip", "bconv"],
        };
        let order = Order::window(if mode == "off-chip free" { 512 } else { 64 });
        let outcome = simulate(&lanes.describe(), graph, &settings(order)).unwrap();
        let compared = compare(&outcome, row);
        // Stores are no instructions here.
        let stores = graph.results() as f64;
        for (what, found, expected) in compared {
            let expected = if what == "instructions" { expected - stores } else { expected };
            let deviation = 100.0 * (found - expected) / expected.max(1.0);
            println!("{name:<5} {mode:<16} {what:<12} {found:>14} {expected:>14} {deviation:>7.3} %");
            if !is_near(what, found, expected) {
                wrong.push(format!("{name}, {mode}: {what} {found}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
