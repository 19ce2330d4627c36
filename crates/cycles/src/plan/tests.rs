//! Instructions that are part of others or pass together, and what ports delay.

use super::*;
use crate::description::Description;
use crate::simulate::{Settings, simulate};

fn machine(unit: &str) -> Description {
    let text = format!(
        "[machine]\nname = \"small\"\nword_bits = 32\nghz = 1\nsource = \"test\"\n\
         [unit.ntt]\nrows = 64\nfirst = 200\nlast = 264\nwidth = 16\n{unit}\nsource = \"test\"\n\
         [runs]\nntt = \"ntt\"\nintt = \"ntt\"\nadd = \"ntt\"\nlift = {{ with = \"ntt\", else = \"ntt\" }}\n\
         scale = {{ with = \"intt\", else = \"ntt\" }}\n\
         [memory.limbs]\nbytes = 1000000\nsource = \"test\"\n[offchip.hbm]\nbytes_per_cycle = 33.3\nsource = \"test\"\n"
    );
    Description::from_toml("small", &text).unwrap_or_else(|e| panic!("{e}"))
}

/// An array in which a word meets two factors: sums of two terms take 128 rows, and one reduction writes 16 words a cycle.
fn array(mode: &str) -> Description {
    let text = format!(
        "[machine]\nname = \"array\"\nword_bits = 32\nghz = 1\nmode = \"{mode}\"\nsource = \"test\"\n\
         [unit.mac]\nrows = \"n*terms/16\"\nfirst = \"n*terms/16\"\nlast = \"n*terms/16 + 8\"\nwidth = 32\ntogether = 2\n\
         writes = 16\nsource = \"test\"\n\
         [runs]\nlift = \"none\"\ndot = \"mac\"\nquotient = \"mac\"\nconvert = \"mac\"\n\
         [memory.limbs]\nbytes = 1000000\nsource = \"test\"\n[offchip.hbm]\nbytes_per_cycle = 1000000000\nsource = \"test\"\n"
    );
    Description::from_toml("array", &text).unwrap_or_else(|e| panic!("{e}"))
}

/// The kinds of the instructions of a plan with what each reads and makes.
fn reported(graph: &Graph) -> Vec<(Kind, Vec<Value>, Value)> {
    let machine = machine("");
    let plan = Plan::new(&machine, graph).unwrap();
    plan.ops.iter().map(|op| (op.kind, plan.reads(op).to_vec(), op.result)).collect()
}

#[test]
fn a_scaling_joins_the_transform_before_it_and_a_lift_the_ones_behind_it() {
    let mut g = Graph::new("joined", 10).unwrap();
    let x = g.input(Class::Data, 32);
    let a = g.push(Kind::Intt, &[x], 32, 1).unwrap();
    let b = g.push(Kind::Scale, &[a], 32, 1).unwrap();
    let c = g.push(Kind::Lift, &[b], 32, 1).unwrap();
    let d = g.push(Kind::Ntt, &[c], 32, 1).unwrap();
    let e = g.push(Kind::Ntt, &[c], 32, 1).unwrap();
    assert_eq!(reported(&g), [(Kind::Intt, vec![x], b), (Kind::Ntt, vec![b], d), (Kind::Ntt, vec![b], e)]);
}

#[test]
fn what_something_else_reads_is_no_part_of_another_instruction() {
    // The transform is scaled twice; the lift is read by a sum as well; a lift is a result.
    let mut g = Graph::new("apart", 10).unwrap();
    let x = g.input(Class::Data, 32);
    let a = g.push(Kind::Intt, &[x], 32, 1).unwrap();
    let b = g.push(Kind::Scale, &[a], 32, 1).unwrap();
    let c = g.push(Kind::Scale, &[a], 32, 1).unwrap();
    let d = g.push(Kind::Lift, &[b], 32, 1).unwrap();
    let e = g.push(Kind::Ntt, &[d], 32, 1).unwrap();
    let f = g.push(Kind::Add, &[d, e], 32, 1).unwrap();
    let h = g.push(Kind::Lift, &[c], 32, 1).unwrap();
    let i = g.push(Kind::Ntt, &[h], 32, 1).unwrap();
    g.result(h).unwrap();
    let all = [
        (Kind::Intt, vec![x], a),
        (Kind::Scale, vec![a], b),
        (Kind::Scale, vec![a], c),
        (Kind::Lift, vec![b], d),
        (Kind::Ntt, vec![d], e),
        (Kind::Add, vec![d, e], f),
        (Kind::Lift, vec![c], h),
        (Kind::Ntt, vec![h], i),
    ];
    assert_eq!(reported(&g), all);
}

#[test]
fn ports_hold_a_unit_for_as_long_as_they_read_and_write() {
    let mut g = Graph::new("ports", 10).unwrap();
    let (x, y) = (g.input(Class::Data, 32), g.input(Class::Data, 32));
    g.push(Kind::Add, &[x, y], 32, 1).unwrap();
    g.push(Kind::Ntt, &[x], 32, 1).unwrap();
    let rows = |unit: &str| {
        let machine = machine(unit);
        Plan::new(&machine, &g).unwrap().ops.iter().map(|op| (op.rows, op.tail)).collect::<Vec<_>>()
    };
    assert_eq!(rows(""), [(64, 264), (64, 264)]);
    // 2,048 words at 16 a cycle are 128 rows; the last one is 64 late.
    assert_eq!(rows("reads = 16"), [(128, 328), (64, 264)]);
    assert_eq!(rows("writes = 8"), [(128, 328), (128, 328)]);
}

#[test]
fn what_reads_the_same_words_passes_together() {
    let machine = array("parallel");
    let mut g = Graph::new("together", 10).unwrap();
    let (x, y) = (g.input(Class::Data, 32), g.input(Class::Data, 32));
    let keys: Vec<_> = (0..8).map(|i| g.input([Class::Key, Class::SeededKey][i % 2], 32)).collect();
    let plain = g.input(Class::Plain, 32);
    let lifted = g.push(Kind::Lift, &[plain], 32, 1).unwrap();
    for pair in keys.chunks(2) {
        g.push(Kind::DotKey, &[x, pair[0], y, pair[1]], 32, 2).unwrap();
    }
    // Other words; fewer of them; plaintexts, whether they came or were made; two ciphertexts; a quotient and what it is for.
    g.push(Kind::DotKey, &[y, keys[0]], 32, 1).unwrap();
    g.push(Kind::DotPlain, &[x, plain], 32, 1).unwrap();
    g.push(Kind::DotPlain, &[x, lifted], 32, 1).unwrap();
    g.push(Kind::Dot, &[x, y], 32, 1).unwrap();
    let quotient = g.push(Kind::Quotient, &[x, y], 14, 2).unwrap();
    g.push(Kind::Convert, &[x, y, quotient], 32, 2).unwrap();
    let plan = Plan::new(&machine, &g).unwrap();
    let of: Vec<_> = plan.ops.iter().map(|op| (op.kind, op.together)).collect();
    let dot = |together| (Kind::DotKey, together);
    let expected = [
        (Kind::Lift, 1),
        dot(2),
        dot(2),
        dot(2),
        dot(2),
        dot(1),
        (Kind::DotPlain, 2),
        (Kind::DotPlain, 2),
        (Kind::Dot, 1),
        (Kind::Quotient, 2),
        (Kind::Convert, 2),
    ];
    assert_eq!(of, expected);
    let words: Vec<_> = plan.ops[1..5].iter().map(|op| op.words).collect();
    assert!(words.iter().all(|&w| w == words[0] && w != NONE) && plan.ops[5].words != words[0]);
    // 128 rows alone, half of them in a pass of two; no fewer than the port writes a result in.
    assert_eq!([1, 2, 9].map(|many| plan.ops[1].shared(many)), [128, 64, 64]);
}

#[test]
fn a_pass_takes_the_cycles_of_one_and_the_rest_the_cycles_of_another() {
    // Three sums of the same two words: one pass of two and one of one, 128 rows each, and 8 cycles to the last result.
    let mut g = Graph::new("passes", 10).unwrap();
    let (x, y) = (g.input(Class::Data, 32), g.input(Class::Data, 32));
    let keys: Vec<_> = (0..6).map(|_| g.input(Class::Key, 32)).collect();
    let results: Vec<_> =
        keys.chunks(2).map(|k| g.push(Kind::DotKey, &[x, k[0], y, k[1]], 32, 2).unwrap()).collect();
    g.result(results[0]).unwrap();
    for (mode, cycles) in [("parallel", 128 + 128 + 8), ("serial", 64 + 136 + 136)] {
        let outcome = simulate(&array(mode), &g, &Settings::default()).unwrap();
        // The limbs come, one cycle each at most, and a result goes.
        let moving = outcome.cycles - cycles;
        assert!(moving <= 10, "{mode}: {} cycles", outcome.cycles);
        let mac = &outcome.units[0];
        assert_eq!((mac.used, mac.busy), (3 * 2048, 256));
        assert!(outcome.bounds.most() <= outcome.cycles);
    }
}

#[test]
fn a_transfer_is_exact_and_whole_beats() {
    let machine = machine("");
    let mut g = Graph::new("ticks", 10).unwrap();
    g.input(Class::Data, 29);
    let plan = Plan::new(&machine, &g).unwrap();
    // 33.3 bytes a cycle: 333 ticks a cycle, 10 a byte; 1,024 words of 29 bits are 3,712 bytes.
    assert_eq!((plan.ticks[0], plan.homes[0].bytes), (Ticks { cycle: 333, byte: 10 }, 3712));
    assert_eq!(plan.transfer_ticks(plan.homes[0]), 37_120);
    assert_eq!(plan.slots, [244]);
}
