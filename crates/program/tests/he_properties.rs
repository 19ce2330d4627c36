//! Random programs: text round trip, and texts that are damaged never panic.

use std::sync::Arc;

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_program::he::{
    Builder, Constant, Lookup, Numbers, Op, Program, Type, Value, Vectors, evaluate_clear, parse, verify,
};

/// Instruction choices as numbers; each is interpreted so that it fits what stands above it.
fn program(choices: &[(u8, u16, u16, i16)]) -> Program {
    let slots = 4;
    let mut b = Builder::traced("random", slots).unwrap();
    let numbers = Numbers::Real(vec![0.1, -2.0, 1e-300, f64::MAX]);
    let table = b.table("t", numbers).unwrap();
    let mut cts = vec![b.push(Op::Input("x".into())).unwrap()];
    let mut pts = vec![b.push(Op::Const(Constant::Table(table))).unwrap()];
    for (i, &(kind, x, y, k)) in choices.iter().enumerate() {
        let pick = |list: &[Value], at: u16| list[usize::from(at) % list.len()];
        let (a, c, p) = (pick(&cts, x), pick(&cts, y), pick(&pts, y));
        if k % 5 == 0 {
            b.region(&format!("part {}", k % 3));
        }
        let op = match kind % 16 {
            0 => Op::Input(format!("x{i}")),
            1 => Op::Plain(format!("p{i}\n\"é")),
            2 => Op::Const(Constant::Real(f64::from(k) / 7.0)),
            3 => Op::Add(a, c),
            4 => Op::Add(p, a),
            5 => Op::Sub(a, p),
            6 => Op::Mul(a, c),
            7 => Op::Mul(a, p),
            8 => Op::Neg(a),
            9 => Op::Square(a),
            10 => Op::Rotate { a, k: i64::from(k), hoist: None },
            11 => Op::Conj { a, hoist: None },
            12 => Op::Sum { a, count: usize::from(x) % slots + 1, stride: i64::from(k) | 1 },
            13 => Op::Bootstrap { a, iterations: (x % 2 == 0).then_some(u32::from(y)) },
            14 => {
                let entries = vec![f64::from(k), f64::from(x) / 3.0, -0.5];
                let noise = if x % 2 == 0 { 0.0 } else { 0.25 };
                Op::Lookup { a, table: Arc::new(Lookup::new(entries, i64::from(k), noise).unwrap()) }
            }
            _ => Op::Sub(c, a),
        };
        let name = (k % 4 == 0).then(|| format!("v{i}"));
        let v = b.push_full(op, None, name.as_deref()).unwrap();
        if matches!(b.ty(v), Type::TracedCt) { cts.push(v) } else { pts.push(v) }
    }
    b.output("y", *cts.last().unwrap()).unwrap();
    b.finish().unwrap()
}

fn choices() -> impl Strategy<Value = Vec<(u8, u16, u16, i16)>> {
    prop::collection::vec(any::<(u8, u16, u16, i16)>(), 0..40)
}

#[test]
fn a_region_without_instructions_leaves_nothing() {
    let mut b = Builder::traced("regions", 4).unwrap();
    b.region("nothing");
    b.region("something");
    let x = b.push(Op::Input("x".into())).unwrap();
    b.region("nothing more");
    b.output("y", x).unwrap();
    let p = b.finish().unwrap();
    assert_eq!(p.regions(), ["something"]);
    assert_eq!(parse(&p.to_string()), Ok(p));
}

proptest! {
    #[test]
    fn text_round_trip(choices in choices()) {
        let p = program(&choices);
        prop_assert!(verify(&p).is_ok());
        let text = p.to_string();
        let back = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        prop_assert_eq!(back, p);
    }

    /// What each lane gives is what the program gives for that record alone, bit for bit.
    #[test]
    fn lanes_do_what_records_do(choices in choices(), log_lanes in 0u32..4) {
        let p = program(&choices);
        let lanes = 1usize << log_lanes;
        let mut named: Vec<String> = p.inputs().map(|(_, name, _)| name.to_owned()).collect();
        named.extend(p.plains().map(|(_, name, _)| name.to_owned()));
        let records: Vec<Vectors> = (0..lanes).map(|b| {
            let of = |name: &String| {
                let at = |i: usize| Complex64::new((1 + b * 5 + i) as f64, (name.len() * 3 + i * b) as f64);
                (name.clone(), (0..p.slots()).map(at).collect::<Vec<_>>())
            };
            named.iter().map(of).collect()
        }).collect();
        let slots = p.slots() * lanes;
        let mut together = Vectors::new();
        for name in &named {
            let at = |s: usize| records[s % lanes][name][s / lanes];
            together.insert(name.clone(), (0..slots).map(at).collect());
        }
        let text = p.to_string().replacen("slots 4", &format!("slots 4 lanes {lanes}"), 1);
        let wide = parse(&text).unwrap();
        prop_assert_eq!((wide.slots(), verify(&wide).is_ok()), (slots, true));
        let found = evaluate_clear(&wide, &together).unwrap();
        for (b, record) in records.iter().enumerate() {
            for (name, wanted) in evaluate_clear(&p, record).unwrap() {
                for (i, z) in wanted.iter().enumerate() {
                    let got = found[&name][i * lanes + b];
                    let same = |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan());
                    prop_assert!(same(got.re, z.re) && same(got.im, z.im), "{name} {b} {i}: {got} {z}\n{text}");
                }
            }
        }
    }

    #[test]
    fn damaged_text_is_refused_or_still_valid(
        choices in choices(), at in any::<prop::sample::Index>(), len in 0usize..20, new in "[ -~\n%@#\"]{0,6}",
    ) {
        let text = program(&choices).to_string();
        let chars: Vec<char> = text.chars().collect();
        let start = at.index(chars.len());
        let end = (start + len).min(chars.len());
        let mut damaged: String = chars[..start].iter().collect();
        damaged.push_str(&new);
        damaged.extend(&chars[end..]);
        if let Ok(p) = parse(&damaged) {
            prop_assert!(verify(&p).is_ok());
            prop_assert_eq!(parse(&p.to_string()), Ok(p));
        }
    }
}
