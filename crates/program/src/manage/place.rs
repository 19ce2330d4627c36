//! Where a program stands on its chain: the level of depth zero, that of the inputs, and the scale of every depth.
//!
//! Without a raise, depth counts from the inputs and Δ_{t+1} = Δ_t²/q. With one, depth counts from the top of the chain,
//! where what is raised comes out; inputs rest somewhere below and operands of a raise at level 0, so that one schedule
//! serves however many rounds. There a depth at which no two ciphertexts are multiplied may be left at any scale,
//! and is left at the one that suits the next prime.

use ringmill_ckks::params::DRIFT_MAX;

use super::levels::{Levels, Product, cipher_first, product};
use super::{Options, emit::least_output_level};
use crate::he::{Chain, HeError, Level, Op, Program, Rule, Scale, Value};

/// Exact scales have exponents that double with every product: after more products in a row they exceed 64
/// bits.
const DEPTH_MAX: u32 = 56;

/// The same in a chain whose primes differ in size, from that of the prime.
const RAISED_DRIFT_MAX: f64 = 12.0;

/// A program on its chain.
pub(super) struct Place {
    pub(super) levels: Levels,
    /// The level of depth zero.
    pub(super) start: Level,
    /// The level of encrypted inputs.
    pub(super) input: Level,
    /// Their depth and scale.
    pub(super) depth: u32,
    pub(super) input_scale: Scale,
    /// The scale at rest of every depth.
    pub(super) scales: Vec<Scale>,
}

/// Places a simplified program.
pub(super) fn place(p: &Program, chain: &Chain, options: &Options) -> Result<Place, HeError> {
    match raised_bits(p)? {
        None => flat(p, chain, options),
        Some(bits) => raised(p, chain, options, bits),
    }
}

/// log2 of q_0 over the scale of all raises; `None` without any.
fn raised_bits(p: &Program) -> Result<Option<u32>, HeError> {
    let mut known = None;
    for instr in p.instrs() {
        let Op::Raise { bits, .. } = instr.op else { continue };
        match known {
            Some(other) if other != bits => {
                return Err(HeError::new(Rule::RaiseBits { bits, other }).at(None, instr.source.as_ref()));
            }
            _ => known = Some(bits),
        }
    }
    Ok(known)
}

fn blame(p: &Program, v: Option<Value>, rule: Rule) -> HeError {
    HeError::new(rule).at(None, v.and_then(|v| p.instr(v).source.as_ref()))
}

/// Where outputs end if nobody says how large they are.
fn least_floor(chain: &Chain, scale: &Scale) -> Level {
    least_output_level(chain, scale, 1.0).unwrap_or(chain.top())
}

fn flat(p: &Program, chain: &Chain, options: &Options) -> Result<Place, HeError> {
    let levels = Levels::new(p, 0, u32::MAX);
    let scale = options.input_scale.clone().unwrap_or_else(|| chain.scale().clone());
    let floor = options.output_level.unwrap_or_else(|| least_floor(chain, &scale));
    let most = options.input_level.unwrap_or(chain.top());
    let available = most.get().min(chain.top().get()).saturating_sub(floor.get());
    if levels.depth > available || most > chain.top() {
        let rule = too_deep(levels.depth, available, most, floor, chain);
        return Err(blame(p, levels.deepest, rule));
    }
    if levels.depth > DEPTH_MAX {
        let what = "exact scales cover no more levels; refresh the value in between".into();
        let rule = Rule::Depth { needed: levels.depth, available: DEPTH_MAX, what };
        return Err(blame(p, levels.deepest, rule));
    }
    let start = if options.low { Level::new(floor.get() + levels.depth) } else { most };
    let scales = schedule(chain, &scale, start, levels.depth).map_err(|r| blame(p, levels.deepest, r))?;
    let input = options.input_level.unwrap_or(start);
    Ok(Place { levels, start, input, depth: 0, input_scale: scale, scales })
}

fn too_deep(needed: u32, available: u32, input: Level, floor: Level, chain: &Chain) -> Rule {
    let (top, missing) = (chain.top(), needed.saturating_sub(available));
    let higher = match input.get() + missing {
        level if level <= top.get() => format!("give inputs at level {level} or above, "),
        _ => String::new(),
    };
    let what = format!(
        "inputs at level {input} of a chain up to level {top}, outputs at level {floor} or above; \
         {higher}take parameters with {missing} more level(s), or multiply less deeply"
    );
    Rule::Depth { needed, available, what }
}

/// Δ_0 … Δ_depth with Δ_{t+1} = Δ_t²/q_{start − t}.
fn schedule(chain: &Chain, first: &Scale, start: Level, depth: u32) -> Result<Vec<Scale>, Rule> {
    let mut scales = vec![first.clone()];
    for t in 0..depth {
        let level = Level::new(start.get() - t);
        let last = &scales[t as usize];
        let Some(q) = chain.level_scale(level) else { break };
        let next = last.mul(last).div(q);
        let drift = next.log2() - first.log2();
        if drift.abs() > DRIFT_MAX {
            return Err(Rule::ScaleDrift { drift, level, scale: first.to_text() });
        }
        scales.push(next);
    }
    Ok(scales)
}

/// Inputs rest at the lowest level from which every operand of a raise reaches level 0 and every output level 1 or above.
fn raised(p: &Program, chain: &Chain, options: &Options, bits: u32) -> Result<Place, HeError> {
    let top = chain.top().get();
    let scale = options.input_scale.clone().unwrap_or_else(|| chain.scale().clone());
    let floor = options.output_level.unwrap_or_else(|| least_floor(chain, &scale)).get().max(1);
    let highest = highest_of_scale(chain, &scale);
    let tried = match options.input_level {
        Some(level) => level.get()..=level.get(),
        None => floor.min(highest)..=highest,
    };
    let mut last = None;
    for input in tried {
        let levels = Levels::new(p, top - input.min(top), top);
        match beyond(p, &levels, top, floor) {
            None => {
                let depth = top - input;
                let scales = raised_schedule(p, chain, &levels, bits, (depth, &scale))?;
                let (start, input) = (chain.top(), Level::new(input));
                // Where products end at that depth too, inputs take their scale.
                let own = options.input_scale.clone();
                let input_scale = own.unwrap_or_else(|| scales[depth as usize].clone());
                return Ok(Place { levels, start, input, depth, input_scale, scales });
            }
            found => last = found.map(|(v, needed)| (v, needed.max(top + 1), input)),
        }
    }
    let (v, needed, input) = last.unwrap_or((Value(0), 1, highest));
    let what = format!(
        "inputs at level {input} of a chain up to level {top}, of which bootstrapping takes the upper ones; \
         bootstrap again on the way, or take parameters with more levels"
    );
    Err(blame(p, Some(v), Rule::Depth { needed, available: top, what }))
}

/// The first value that would have to rest deeper than the chain allows, and that depth.
fn beyond(p: &Program, levels: &Levels, top: u32, floor: u32) -> Option<(Value, u32)> {
    let rests_at = |v: Value| levels.forms[v.index()].rests_at();
    let is_product = |v: Value| is_cipher_product(p, v);
    for (v, instr) in p.values().filter(|(_, i)| i.ty.is_ct()) {
        // Level 1 to level 0 is a change of scale: products of ciphertexts end at level 1.
        let most = if is_product(v) { top - 1 } else { top };
        if rests_at(v) > most {
            return Some((v, rests_at(v)));
        }
        if let Op::Raise { a, .. } = instr.op
            && rests_at(a) > top
        {
            return Some((a, rests_at(a)));
        }
    }
    p.outputs().iter().map(|o| o.value).find(|&v| rests_at(v) > top - floor).map(|v| (v, rests_at(v)))
}

fn is_cipher_product(p: &Program, v: Value) -> bool {
    match p.instr(v).op {
        Op::Square(_) => true,
        Op::Mul(a, b) => product(p, cipher_first(p, a, b).1) == Product::Ciphers,
        _ => false,
    }
}

/// The highest level from which all primes down to q_1 are near the scale.
fn highest_of_scale(chain: &Chain, scale: &Scale) -> u32 {
    let near = |q: &Scale| (q.log2() - scale.log2()).abs() <= DRIFT_MAX;
    let levels = (1..=chain.top().get()).map(Level::new);
    levels.take_while(|&l| chain.level_scale(l).is_some_and(near)).last().map_or(1, Level::get)
}

/// The scale at a depth where any is allowed. From it the following products of ciphertexts, Δ²/q at a time,
/// end at the scale of inputs or, above them, at the size of the next prime.
fn resting_scale(chain: &Chain, scale: &Scale, forced: &[Option<Value>], (at, depth): (u32, u32)) -> Scale {
    let top = chain.top().get();
    let bits = |t: u32| chain.level_scale(Level::new(top - t)).map_or(scale.log2(), |q| q.log2());
    let end = (at..top).find(|&t| forced[t as usize].is_none()).unwrap_or(top);
    let near = |x: f64| (x - scale.log2()).abs() <= DRIFT_MAX;
    let last = if end >= depth || near(bits(end)) { scale.log2() } else { bits(end) };
    let ideal = (at..end).rev().fold(last, |x, t| (x + bits(t)) / 2.0);
    // Every product doubles by how many bits its operands miss the ideal.
    let drift = (ideal - scale.log2()).abs() * f64::from(end - at).exp2();
    if drift <= DRIFT_MAX { scale.clone() } else { Scale::pow2(ideal.round() as i64) }
}

/// The scale at every depth from the top of the chain to level 0.
fn raised_schedule(
    p: &Program,
    chain: &Chain,
    levels: &Levels,
    bits: u32,
    (depth, scale): (u32, &Scale),
) -> Result<Vec<Scale>, HeError> {
    let top = chain.top().get();
    let mut forced = vec![None; top as usize + 1];
    for (v, _) in p.values().filter(|&(v, _)| is_cipher_product(p, v)) {
        let at = &mut forced[levels.forms[v.index()].depth as usize];
        *at = at.or(Some(v));
    }
    let copies = i64::from((chain.slots() / p.slots()).trailing_zeros());
    let mut scales = vec![chain.raise_scale(bits).mul(&Scale::pow2(copies))];
    for t in 0..top {
        let level = Level::new(top - t);
        let below = Level::new(top - t - 1);
        let (last, Some(q)) = (&scales[t as usize], chain.level_scale(level)) else { break };
        let suits = match chain.level_scale(below) {
            _ if below == Level::ZERO => chain.raise_scale(bits),
            _ if t + 1 == depth => scale.clone(),
            _ => resting_scale(chain, scale, &forced, (t + 1, depth)),
        };
        let next = match forced[t as usize] {
            Some(v) => {
                let next = last.mul(last).div(q);
                let drift = next.log2() - suits.log2();
                if drift.abs() > RAISED_DRIFT_MAX {
                    let scale = suits.to_text();
                    return Err(blame(p, Some(v), Rule::ScaleDrift { drift, level, scale }));
                }
                next
            }
            None => suits,
        };
        scales.push(next);
    }
    Ok(scales)
}
