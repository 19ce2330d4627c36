//! Key-switch methods by the finished program: no more time than one method alone, by the same costs, maps included.

use std::collections::HashSet;

use crate::common::Rng;
use num_complex::Complex64;
use ringmill_circuits::bootstrap::{Bootstrap, Need};
use ringmill_circuits::linear::{Diagonals, Keys, apply};
use ringmill_ckks::{KeyLayout, NamedSet, Params, ParamsLiteral};
use ringmill_program::cost::{Allowed, CostTable, Kind, Methods, Work, worthwhile};
use ringmill_program::he::{Builder, Chain, Op, Program, Value};
use ringmill_program::limb::{InputClass, LimbProgram, Opcode, Operand, Source};
use ringmill_program::lower::{KlssLayout, Method, Switch, key_switches, lower_by, lower_compact};
use ringmill_program::manage::{Options, manage};

fn managed(slots: usize, params: &Params, body: impl FnOnce(&mut Builder, Value) -> Value) -> Program {
    let mut b = Builder::traced("m", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = body(&mut b, x);
    b.output("y", y).unwrap();
    let options = Options { low: false, ..Options::default() };
    manage(&b.finish().unwrap(), &Chain::from(params), &options).unwrap().program
}

/// A dense matrix of `size` rows.
fn map(b: &mut Builder, x: Value, size: usize) -> Value {
    let mut rng = Rng(5);
    let mut map = Diagonals::new(size);
    for (row, column) in (0..size).flat_map(|row| (0..size).map(move |column| (row, column))) {
        map.add(row, column, Complex64::new(rng.unit(), 0.0)).unwrap();
    }
    apply(b, x, &map, Keys::AtMost(64)).unwrap()
}

/// x^(2^depth) and the sum of its rotations.
fn power(b: &mut Builder, x: Value, depth: usize) -> Value {
    let y = (0..depth).fold(x, |y, _| b.push(Op::Square(y)).unwrap());
    (0..3).fold(y, |y, k| {
        let turned = b.push(Op::Rotate { a: y, k: 1 << k, hoist: None }).unwrap();
        b.push(Op::Add(y, turned)).unwrap()
    })
}

fn programs(params: &Params) -> Vec<(&'static str, Program)> {
    vec![
        ("a map", managed(64, params, |b, x| map(b, x, 64))),
        ("products", managed(64, params, |b, x| power(b, x, 4))),
        (
            "products between maps",
            managed(16, params, |b, x| {
                let y = map(b, x, 16);
                let y = power(b, y, 3);
                map(b, y, 16)
            }),
        ),
    ]
}

/// What a program takes if each of its key switches is done as `method` says: lowered and counted here.
fn time(he: &Program, costs: &CostTable, method: &dyn Fn(&Switch) -> Method) -> f64 {
    let lowered = lower_by(he, method).unwrap().program;
    costs.nanoseconds(&Work::of(&lowered), lowered.log_n())
}

/// Checks a program against every single method; whether it gained by being looked at as a whole.
fn check(name: &str, he: &Program, params: &Params, costs: &CostTable, layouts: &[KeyLayout]) -> bool {
    let (chain, base) = (Chain::from(params), Method::Hybrid(KeyLayout::base(params)));
    let of = |allowed| Methods::new(costs, &chain, layouts, allowed).unwrap();
    let by = |methods: &Methods| time(he, costs, &|s| methods.choose(s).unwrap_or(&base).clone());
    let all = of(Allowed::Any);
    let suited = by(&all.suited(he).unwrap());
    let klss = of(Allowed::Klss);
    let mut others = vec![("each by itself", by(&all)), ("hybrid", by(&of(Allowed::Hybrid)))];
    others.push(("KLSS", by(&klss)));
    let limbs = key_switches(he).into_values().map(|s| s.limbs).max().unwrap();
    let serve = |m: &&Method| m.layout().limbs >= limbs;
    let single = all.candidates().iter().chain(klss.candidates()).filter(serve);
    others.extend(single.map(|method| ("one", time(he, costs, &|_| method.clone()))));
    for (what, other) in &others {
        assert!(suited <= *other, "{name}, {params}: {suited} ns, {what} {other} ns");
    }
    println!(
        "{name}, {} limbs, dnum {}: {suited:.4e} ns, {others:?}",
        params.q_moduli().len(),
        params.dnum()
    );
    suited < others[0].1
}

#[test]
fn the_methods_of_a_program_take_no_more_than_any_single_one() {
    let costs = CostTable::shipped();
    let mut gained = 0;
    for set in [NamedSet::V50Single, NamedSet::V50, NamedSet::III] {
        let params = Params::named(set).unwrap();
        let forms = worthwhile(&costs, &Chain::from(&params), 2).unwrap();
        for (name, he) in programs(&params) {
            gained += usize::from(check(name, &he, &params, &costs, &[]));
            gained += usize::from(check(name, &he, &params, &costs, &forms));
        }
    }
    assert!(gained > 0, "maps of a chain of many digits are cheaper with a common division");
}

/// Transforms of a program whose key switches are divided one by one, by formula: of each group of them the digits once.
fn one_by_one(he: &Program, method: &Method) -> u64 {
    let transforms = |work: Work| work.get(Kind::Transform) + work.get(Kind::WideTransform);
    let of = |switch: &Switch| {
        let raising = transforms(Work::of_raising(method, switch.limbs, 36)) as f64;
        let whole = transforms(Work::of_switch(method, switch.limbs, 36)) as f64;
        // Its part of the digits: the parts of a group add up to one.
        whole - raising + raising / switch.hoisted as f64
    };
    key_switches(he).values().map(of).sum::<f64>().round() as u64
}

/// A dense map, constants of all limbs and of one: by KLSS with a T that holds single key switches, sums of them, and their
/// products with constants.
#[test]
fn a_map_by_klss_is_divided_once() {
    // (Digits, K); transforms of the map by hybrid key switching, by KLSS one by one, and with the three lengths of T.
    for (dnum, special) in [(6, 1), (3, 2)] {
        let literal = ParamsLiteral {
            scale_bits: 36,
            ..ParamsLiteral::from_bits(12, &[46, 36, 36, 36, 36, 36], &vec![47; special], dnum)
        };
        let params = Params::new(&literal.insecure()).unwrap();
        let (he, chain) = (managed(64, &params, |b, x| map(b, x, 64)), Chain::from(&params));
        let (base, moduli) = (KeyLayout::base(&params), (params.q_moduli(), params.p_moduli()));
        let count = |method: &Method, above: u64| {
            transforms(&lower_compact(&he, &|_| method.clone(), above).unwrap().program)
        };
        let hybrid = [u64::MAX, 0].map(|above| count(&Method::Hybrid(base), above));
        let klss = |margin| {
            Method::Klss(KlssLayout::with_margin(chain.log_n(), moduli, (base, 2), 49, margin).unwrap())
        };
        let alone = one_by_one(&he, &klss(0));
        let found = [0, 12, 60].map(|margin| [u64::MAX, 0].map(|above| count(&klss(margin), above)));
        println!("dnum {dnum}: hybrid {hybrid:?}, KLSS one by one {alone}, by length of T {found:?}");
        assert!(found.iter().flatten().all(|&found| found <= alone + 4), "{found:?}, one by one {alone}");
        assert!(found[1][0] < alone && found[2][1] < found[1][0], "{found:?}, one by one {alone}");
    }
}

/// Transforms of a program but for those of constants of one limb, which are short.
fn transforms(program: &LimbProgram) -> u64 {
    let plain = |o: Operand| matches!(o.source(), Source::Input(i) if program.input_group(i).class == InputClass::Plain);
    let mut constants = HashSet::new();
    let mut count = 0;
    for i in 0..program.len() {
        let operand = program.operands(i).first().copied();
        match (program.opcode(i), operand) {
            (Opcode::Lift, Some(x)) if plain(x) => constants.extend(program.defined(i)),
            (Opcode::Intt, _) => count += 1,
            (Opcode::Ntt, Some(x)) => {
                let constant = matches!(x.source(), Source::Value(v) if constants.contains(&v));
                count += u64::from(!constant && !plain(x));
            }
            _ => {}
        }
    }
    count
}

#[test]
fn a_bootstrapping_takes_no_more_than_by_any_single_method() {
    let need = Need { levels: 2, log_n: 11, slots: 256, insecure: true, ..Need::default() };
    let (params, config): (Params, Bootstrap) = need.arranged(12, 1).unwrap();
    let he = managed(256, &params, |b, x| config.apply(b, x).unwrap());
    check("a bootstrapping", &he, &params, &CostTable::shipped(), &[]);
}
