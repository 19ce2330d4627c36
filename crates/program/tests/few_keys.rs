//! Programs with few rotation keys: how many they take, what they mean, what that costs.

use std::collections::{BTreeMap, BTreeSet};

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_program::he::{
    Builder, Chain, HeError, Op, Program, Rule, Scale, Type, Value, evaluate_clear, parse, verify,
};
use ringmill_program::manage::{Managed, Options, manage};

/// Slots of the programs, fewer than the ring has: raised values are turned by multiples of them.
const SLOTS: usize = 256;

fn chain() -> Chain {
    let q = vec![1099511480321, 1073692673, 1073643521, 1073479681];
    Chain::new(13, Scale::pow2(30), q, vec![1099510890497], 2).unwrap()
}

fn managed(p: &Program, rotation_keys: Option<usize>) -> Result<Managed, HeError> {
    manage(p, &chain(), &Options { rotation_keys, ..Options::default() })
}

/// Σ of inputs turned by the distances, as many inputs as there are lists.
fn turned(lists: &[Vec<i64>]) -> Program {
    let mut b = Builder::traced("turned", SLOTS).unwrap();
    let mut total: Option<Value> = None;
    for (i, list) in lists.iter().enumerate() {
        let x = b.push(Op::Input(format!("x{i}"))).unwrap();
        for &k in list {
            let y = b.push(Op::Rotate { a: x, k, hoist: None }).unwrap();
            total = Some(total.map_or(y, |sum| b.push(Op::Add(sum, y)).unwrap()));
        }
    }
    b.output("y", total.unwrap()).unwrap();
    b.finish().unwrap()
}

fn rotations(m: &Managed) -> usize {
    m.program.instrs().iter().filter(|i| matches!(i.op, Op::Rotate { .. })).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_more_keys_are_taken_and_the_meaning_stays(
        lists in prop::collection::vec(prop::collection::vec(-300i64..300, 1..12), 1..4), most in 1usize..8,
    ) {
        let p = turned(&lists);
        let few = managed(&p, Some(most)).unwrap();
        prop_assert!(verify(&few.program).is_ok());
        prop_assert!(few.summary.keys.rotations.len() <= most, "{:?}", few.summary.keys.rotations);
        let inputs = (0..lists.len()).map(|i| {
            let values = (0..SLOTS).map(|slot| Complex64::cis((slot * (i + 2)) as f64)).collect();
            (format!("x{i}"), values)
        }).collect();
        // Every rotation of the sum from the definition.
        let found = &evaluate_clear(&few.program, &inputs).unwrap()["y"];
        for (slot, y) in found.iter().enumerate() {
            let terms = lists.iter().enumerate().flat_map(|(i, list)| list.iter().map(move |k| (i, k)));
            let at = |k: &i64| (slot as i64 + k).rem_euclid(SLOTS as i64) as usize;
            let sum: Complex64 = terms.map(|(i, k)| inputs[&format!("x{i}")][at(k)]).sum();
            prop_assert!((sum - y).norm() < 1e-9);
        }
    }
}

/// The fewest steps of keys to every distance modulo S, by enumeration of all sums of that number of steps.
fn reach(keys: &BTreeSet<i64>) -> BTreeMap<i64, usize> {
    let (mut found, mut sums) = (BTreeMap::new(), BTreeSet::from([0]));
    for steps in 1..=SLOTS.ilog2() as usize {
        sums = sums.iter().flat_map(|at| keys.iter().map(move |k| (at + k) % SLOTS as i64)).collect();
        for &at in &sums {
            found.entry(at).or_insert(steps);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn keys_at_hand_are_walked_where_they_lead(
        lists in prop::collection::vec(prop::collection::vec(1i64..256, 1..8), 1..4),
        keys in prop::collection::btree_set(1i64..256, 0..6),
    ) {
        let p = turned(&lists);
        let options = Options { at_hand: Some(keys.clone()), ..Options::default() };
        let found = manage(&p, &chain(), &options).unwrap();
        prop_assert!(verify(&found.program).is_ok());
        let (wanted, reach) = (managed(&p, None).unwrap().summary.keys.rotations, reach(&keys));
        let missing: BTreeSet<usize> =
            wanted.iter().copied().filter(|&k| !reach.contains_key(&(k as i64))).collect();
        let asked: BTreeSet<usize> =
            found.summary.keys.rotations.iter().copied().filter(|&k| !keys.contains(&(k as i64))).collect();
        prop_assert_eq!(asked, missing);
        // No walk is longer than it has to be, and those of one operand share.
        let at_most: usize = lists.iter().map(|list| {
            let distances: BTreeSet<i64> = list.iter().copied().collect();
            distances.iter().map(|k| reach.get(k).copied().unwrap_or(1)).sum::<usize>()
        }).sum();
        prop_assert!(rotations(&found) <= at_most, "{} of {at_most}", rotations(&found));
        let inputs = (0..lists.len()).map(|i| {
            let values = (0..SLOTS).map(|slot| Complex64::cis((slot * (i + 2)) as f64)).collect();
            (format!("x{i}"), values)
        }).collect();
        let (found, plain) = (evaluate_clear(&found.program, &inputs).unwrap(), evaluate_clear(&p, &inputs).unwrap());
        for (y, expected) in found["y"].iter().zip(&plain["y"]) {
            prop_assert!((y - expected).norm() < 1e-9);
        }
    }
}

#[test]
fn enough_keys_change_nothing() {
    let p = turned(&[vec![1, 5, 20], vec![5]]);
    assert_eq!(managed(&p, Some(3)).unwrap(), managed(&p, None).unwrap());
}

/// Baby steps 1 to 15 and giant steps of 16 on two sums: what a dense linear map takes.
#[test]
fn walks_share_their_beginnings() {
    let p = turned(&[(1..16).collect(), vec![16], vec![16]]);
    let all = managed(&p, None).unwrap();
    assert_eq!((all.summary.keys.rotations.len(), rotations(&all)), (16, 17));
    // With two keys each baby step is one step from the one below, with one a giant step takes 16.
    for (most, expected) in [(8, 17), (5, 17), (2, 17), (1, 15 + 2 * 16)] {
        let few = managed(&p, Some(most)).unwrap();
        assert_eq!(rotations(&few), expected, "{most} keys {:?}", few.summary.keys.rotations);
    }
    // The more keys, the more rotations share a decomposition.
    let hoisted = [2, 5, 8, 16].map(|most| managed(&p, Some(most)).unwrap().summary.hoisted);
    assert!(hoisted.is_sorted() && hoisted[0] < hoisted[3], "{hoisted:?}");
}

/// A doubling sum over all slots by three keys: at most three rotations for each of its eight doublings.
#[test]
fn distances_down_and_up_take_few_steps() {
    let p = turned(&(0..8).map(|i| vec![1 << i]).collect::<Vec<_>>());
    let few = managed(&p, Some(3)).unwrap();
    assert!(rotations(&few) <= 24, "{}", rotations(&few));
    let both = managed(&turned(&[vec![1, -1, 2, -2, 3, -3]]), Some(2)).unwrap();
    assert_eq!(rotations(&both), 6);
    assert_eq!(both.summary.keys.rotations, [1, SLOTS - 1].into());
}

#[test]
fn too_few_keys_are_refused_with_the_number_that_is_enough() {
    let refused = |p: &Program, most| match *managed(p, Some(most)).unwrap_err().rule {
        Rule::RotationKeys { most, least } => (most, least),
        rule => panic!("{rule}"),
    };
    assert_eq!(refused(&turned(&[vec![7]]), 0), (0, 1));
    // By steps in one direction alone these would be 255 rotations for each of 100 operands.
    let p = turned(&vec![vec![1, -1]; 100]);
    assert_eq!(refused(&p, 1), (1, 2));
    assert!(managed(&p, Some(2)).is_ok());
}

/// A raised value has no period: the turns by multiples of the slots are walked upwards, whatever the others do.
#[test]
fn turns_of_a_raised_value_are_walked_as_they_are() {
    let text = format!(
        "he @up traced slots {SLOTS}\n%0 = input \"x\"\n%1 = raise %0, 10\n%2 = rotate %1, -3\n%3 = rotate %1, -1\n\
         %4 = add %2, %3\noutput \"y\", %4\nend\n"
    );
    let p = parse(&text).unwrap();
    let (all, few) = (managed(&p, None).unwrap(), managed(&p, Some(3)).unwrap());
    let raised = |m: &Managed| m.program.values().find(|(_, i)| matches!(i.op, Op::Raise { .. })).unwrap().0;
    // How far the value has been turned at each rotation, counted without a modulus.
    let turns = |m: &Managed| {
        let mut from = vec![None; m.program.instrs().len()];
        from[raised(m).index()] = Some(0);
        let mut ends = Vec::new();
        for (v, instr) in m.program.values() {
            match instr.op {
                Op::Rotate { a, k, .. } => from[v.index()] = from[a.index()].map(|at: i64| at + k),
                Op::Add(a, b) if from[a.index()] == Some(0) => ends.extend(from[b.index()]),
                _ => {}
            }
            assert!(matches!(&instr.ty, Type::Ct(_)), "a program of ciphertexts");
        }
        ends
    };
    assert_eq!(turns(&few), turns(&all));
    assert!(few.summary.keys.rotations.len() <= 3 && all.summary.keys.rotations.len() > 3);
}
