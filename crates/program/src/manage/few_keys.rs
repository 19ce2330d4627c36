//! Rewrites rotations so that they take few keys, each rotation as a walk of steps that have one.
//!
//! # Pass: take few rotation keys
//!
//! - Purpose: a program takes no more rotation keys than its client sends, or the keys that there are already.
//! - Requires: a managed program, and a number of keys from which every distance can be walked.
//! - Guarantees: a verified program with the same inputs and outputs, whose rotations have keys; slots are the same up to the
//!   error of the further key switches. Where the keys cannot do, it is refused by its number of keys.
//! - Example, with two keys:
//!
//! ```text
//! he @example traced slots 16
//! %x = input "x"
//! %a = rotate %x, 1
//! %b = rotate %x, 4
//! %c = rotate %x, 5
//! %d = add %a, %b
//! %e = add %d, %c
//! output "y", %e
//! end
//! ```
//!
//! rot(a, Σ s_i) = rot(… rot(a, s_1) …, s_n). Values hold S slots with period S, so distances count modulo S. What is just raised has
//! no period yet and is turned by multiples of S: distances of S and more are walked as they are, by steps that go up.
//!
//! Which steps: from all distances of the program and the powers of two, those go that are missed least, until few enough are
//! left. A walk takes the greatest step that does not go beyond its end; walks of one operand share their beginnings. Or there are
//! keys already: then a shortest walk is taken, which may go round.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::he::{HeError, Instr, Like, Op, Output, Program, Rule, Value};

/// Most rotations that a program is given for want of keys: at ten milliseconds each they take minutes.
const MOST_ROTATIONS: usize = 1 << 14;

/// Time of a further rotation of an operand that is decomposed already, over that of a first one: of about 2(ℓ + K) transforms
/// beside the (β + 2)(ℓ + K) of a decomposition.
const HOISTED: f64 = 0.4;

/// Of the steps in excess, one in this number is removed before all are examined again.
const PACE: usize = 8;

/// Distances at which one operand is needed, and how many operands there are of that kind.
type Wanted = BTreeMap<Vec<i64>, usize>;

/// The program with rotations by `most` distances at most. As it is where it has no more.
///
/// # Errors
/// [`Rule::RotationKeys`] where that takes more than [`MOST_ROTATIONS`], with the least number that does not.
pub(super) fn few_keys(p: &Program, most: usize) -> Result<Program, HeError> {
    let mut operands: BTreeMap<Value, BTreeSet<i64>> = BTreeMap::new();
    for (_, instr) in p.values() {
        if let Op::Rotate { a, k, .. } = instr.op {
            operands.entry(a).or_default().insert(k);
        }
    }
    let distances: BTreeSet<i64> = operands.values().flatten().copied().collect();
    if distances.len() <= most {
        return Ok(p.clone());
    }
    let operands: Vec<BTreeSet<i64>> = operands.into_values().collect();
    let slots = p.slots() as i64;
    match choose(&operands, slots, most) {
        Some((signs, steps)) => Ok(rewrite(p, |k| {
            let mut rest = signs.name(k, slots);
            let step = || {
                let step = next(rest, &steps)?;
                rest -= step;
                Some(step)
            };
            std::iter::from_fn(step).collect()
        })),
        None => {
            let least = (most + 1..distances.len()).find(|&n| choose(&operands, slots, n).is_some());
            Err(Rule::RotationKeys { most, least: least.unwrap_or(distances.len()) }.into())
        }
    }
}

/// The program by rotations that have a key, at these distances, where as many of them as keys of all powers of two would take at
/// most lead to where it turns a value. Others stay as they are.
pub(super) fn at_hand(p: &Program, keys: &BTreeSet<i64>) -> Program {
    let rotates = |instr: &Instr| if let Op::Rotate { k, .. } = instr.op { Some(k) } else { None };
    if p.instrs().iter().filter_map(rotates).all(|k| keys.contains(&k)) {
        return p.clone();
    }
    let slots = p.slots() as i64;
    let last = last_steps(keys, slots);
    rewrite(p, |k| {
        let mut walk = Vec::new();
        let mut at = k;
        while let Some(&step) = last.get(&at) {
            walk.push(step);
            at = (at - step).rem_euclid(slots);
        }
        walk.reverse();
        if walk.is_empty() { vec![k] } else { walk }
    })
}

/// For each distance that a walk of log2 S steps at most reaches, the last step of a shortest one.
fn last_steps(keys: &BTreeSet<i64>, slots: i64) -> HashMap<i64, i64> {
    let mut last = HashMap::new();
    let mut reached = vec![0];
    for _ in 0..slots.ilog2().max(1) {
        let mut next = Vec::new();
        for at in reached {
            for &step in keys.range(1..slots) {
                let to = (at + step) % slots;
                if to != 0 && !last.contains_key(&to) {
                    last.insert(to, step);
                    next.push(to);
                }
            }
        }
        reached = next;
    }
    last
}

/// Which name of a distance modulo S is walked.
#[derive(Debug, Clone, Copy)]
enum Signs {
    /// The shorter way.
    Both,
    /// Up, from 0 to S.
    Up,
    /// Down, from 0 to −S.
    Down,
}

impl Signs {
    fn name(self, k: i64, slots: i64) -> i64 {
        match self {
            _ if k >= slots => k,
            Self::Both if 2 * k > slots => k - slots,
            Self::Down => k - slots,
            _ => k,
        }
    }
}

/// Signs and steps of least time, if `most` steps reach every distance in a bearable number of rotations.
fn choose(operands: &[BTreeSet<i64>], slots: i64, most: usize) -> Option<(Signs, BTreeSet<i64>)> {
    let with = |signs: Signs| {
        let mut wanted = Wanted::new();
        for distances in operands {
            let mut named: Vec<i64> = distances.iter().map(|&k| signs.name(k, slots)).collect();
            named.sort_unstable();
            *wanted.entry(named).or_default() += 1;
        }
        let steps = thinned(&wanted, most)?;
        Some((time(&wanted, &steps)?, signs, steps))
    };
    let all = [Signs::Both, Signs::Up, Signs::Down].into_iter().filter_map(with);
    all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, signs, steps)| (signs, steps))
}

/// `most` steps at most; the greatest common divisor of all distances, on each side where there are some, is among them and reaches
/// every one.
fn thinned(wanted: &Wanted, most: usize) -> Option<BTreeSet<i64>> {
    let distances: BTreeSet<i64> = wanted.keys().flatten().copied().collect();
    let unit = distances.iter().fold(0, |g, &d| gcd(g, d.abs()));
    let sides = [1, -1].into_iter().filter(|side| distances.iter().any(|d| d.signum() == *side));
    let kept: BTreeSet<i64> = sides.map(|side| side * unit).collect();
    let furthest = distances.iter().map(|d| d.abs()).max().unwrap_or(0);
    let powers = |&first: &i64| {
        std::iter::successors(Some(first), |step| Some(2 * step)).take_while(move |s| s.abs() <= furthest)
    };
    let mut steps: BTreeSet<i64> = distances.iter().copied().chain(kept.iter().flat_map(powers)).collect();
    while steps.len() > most {
        let without = |step: &i64| {
            let mut others = steps.clone();
            others.remove(step);
            time(wanted, &others).unwrap_or(f64::INFINITY)
        };
        let mut missed: Vec<(f64, i64)> =
            steps.difference(&kept).map(|step| (without(step), *step)).collect();
        missed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let goes = (steps.len() - most).div_ceil(PACE);
        if missed.len() < goes {
            return None;
        }
        for (_, step) in &missed[..goes] {
            steps.remove(step);
        }
    }
    Some(steps)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Estimated time of all walks, in rotations; `None` if a distance is not reached, or by too many rotations.
fn time(wanted: &Wanted, steps: &BTreeSet<i64>) -> Option<f64> {
    let (mut time, mut rotations) = (0.0, 0);
    for (distances, &operands) in wanted {
        let (mut reached, mut turned) = (BTreeSet::new(), BTreeSet::new());
        for &distance in distances {
            let mut at = 0;
            while at != distance {
                turned.insert(at);
                at += next(distance - at, steps)?;
                reached.insert(at);
                if rotations + reached.len() * operands > MOST_ROTATIONS {
                    return None;
                }
            }
        }
        rotations += reached.len() * operands;
        time += operands as f64 * (HOISTED * reached.len() as f64 + (1.0 - HOISTED) * turned.len() as f64);
    }
    Some(time)
}

/// The greatest step that does not go beyond the rest of a walk; none at its end.
fn next(rest: i64, steps: &BTreeSet<i64>) -> Option<i64> {
    match rest > 0 {
        true => steps.range(1..=rest).next_back().copied(),
        false => steps.range(rest..0).next().copied(),
    }
}

/// The program with every rotation by k as rotations by the steps of a walk to k modulo S.
fn rewrite(p: &Program, walk: impl Fn(i64) -> Vec<i64>) -> Program {
    let slots = p.slots() as i64;
    let mut instrs: Vec<Instr> = Vec::new();
    let mut new: Vec<Value> = Vec::with_capacity(p.instrs().len());
    let mut reached: HashMap<(Value, i64), Value> = HashMap::new();
    for instr in p.instrs() {
        let mut instr = instr.clone();
        instr.op = instr.op.map_operands(|v| new[v.index()]);
        instr.like = instr.like.map(|like| Like { value: new[like.value.index()], ..like });
        let Op::Rotate { a, k, .. } = instr.op else {
            new.push(Value(instrs.len() as u32));
            instrs.push(instr);
            continue;
        };
        let (mut at, mut value) = (0, a);
        for step in walk(k) {
            at += step;
            // A step down is the step up that ends in the same slot.
            let k = if step < 0 { step + slots } else { step };
            let op = Op::Rotate { a: value, k, hoist: None };
            value = *reached.entry((a, at)).or_insert_with(|| {
                instrs.push(Instr { op, name: None, within: None, like: None, ..instr.clone() });
                Value(instrs.len() as u32 - 1)
            });
        }
        // What was promised of the rotation holds for the end of its walk, another walk's middle perhaps.
        let end = &mut instrs[value.index()];
        end.within = [end.within, instr.within].into_iter().flatten().reduce(f64::min);
        end.like = end.like.or(instr.like.filter(|like| like.value < value));
        new.push(value);
    }
    let outputs = p.outputs().iter().map(|o| Output { value: new[o.value.index()], ..o.clone() }).collect();
    Program { instrs, outputs, ..p.clone() }
}
