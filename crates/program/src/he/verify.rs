//! The verifier.
//!
//! Invariants of every program:
//! 1. `slots` is a power of two, at most N/2 where the chain is known.
//! 2. Operands are defined above their use; operations belong to the program's stage.
//! 3. Operand kinds, levels, scales and parts obey the table of `docs/he-program.md`; the stored type is the
//!    one that the table gives. Levels do not exceed the chain.
//! 4. Constants are finite and have one number a slot; tables referred to exist.
//! 5. Input names differ from each other and from the names of plaintexts; in a traced program plaintext names
//!    differ too; output names differ. Outputs are ciphertexts.
//! 6. There is at least one output.
//! 7. Key switches of one hoisting group share their operand.
//! 8. In a managed program the scale of a ciphertext is below the modulus of its level.
//! 9. A value that is like another one comes after it; both are ciphertexts.
//!
//! Not checked: that the numbers in the slots stay below modulus/scale, and that the chain is secure.

use std::collections::{BTreeMap, BTreeSet};

use super::builder::{check_constant, check_declared};
use super::infer::{Context, infer};
use super::{HeError, Level, Like, MOST_SLOTS, Op, Output, Program, Rule, Stage, Type, Value};

/// Checks every invariant listed at the head of this module.
///
/// # Errors
/// The first violated rule, with the place in the user's source.
pub fn verify(p: &Program) -> Result<(), HeError> {
    let most = p.chain.as_ref().map_or(MOST_SLOTS, |c| 1usize << (c.log_n() - 1));
    if !p.slots.is_power_of_two() || p.slots > most {
        return Err(Rule::Slots { slots: p.slots, limit: format!(" of at most {most}") }.into());
    }
    if (p.stage == Stage::Managed) != p.chain.is_some() {
        return Err(Rule::NoChain.into());
    }
    for (v, instr) in p.values() {
        verify_instr(p, v).map_err(|r| HeError::new(r).at(None, instr.source.as_ref()))?;
    }
    for (i, out) in p.outputs.iter().enumerate() {
        let twice = p.outputs[..i].iter().any(|o| o.name == out.name);
        let checked = if twice { Err(duplicate(&out.name, "output")) } else { check_output_value(p, out) };
        checked.map_err(|r| HeError::new(r).at(None, out.source.as_ref()))?;
    }
    check_finished(p).map_err(|(v, r)| HeError::new(r).at(None, v.and_then(|v| p.instr(v).source.as_ref())))
}

fn verify_instr(p: &Program, v: Value) -> Result<(), Rule> {
    let instr = p.instr(v);
    if !instr.op.kind().allowed_in(p.stage) {
        return Err(Rule::WrongStage { op: instr.op.kind().word(), stage: p.stage.word() });
    }
    if let Some(a) = instr.op.operands().as_slice().iter().find(|a| **a >= v) {
        return Err(Rule::Undefined { value: p.value_name(*a) });
    }
    check_constant(&instr.op, p)?;
    if let Some(like) = instr.like {
        check_like(p, v, like)?;
    }
    let cx = Context {
        slots: p.slots,
        chain: p.chain.as_ref(),
        ty: &|v| &p.instr(v).ty,
        name: &|v| p.value_name(v),
    };
    let declared = (p.stage == Stage::Managed).then_some(&instr.ty);
    let ty = infer(&instr.op, declared, &cx)?;
    check_declared(declared, &ty, p.stage)?;
    if ty == instr.ty { Ok(()) } else { Err(Rule::TypeInTraced) }
}

/// Invariant 9.
pub(super) fn check_like(p: &Program, v: Value, like: Like) -> Result<(), Rule> {
    let Like { value, off, bias, flat } = like;
    let fits = value < v && p.instr(v).ty.is_ct() && p.instr(value).ty.is_ct();
    let bounds = flat.iter().flat_map(|flat| [flat.square, flat.from]).chain([bias]);
    if fits && off > 0.0 && off.is_finite() && bounds.into_iter().all(|b| b >= 0.0 && b.is_finite()) {
        return Ok(());
    }
    let value = if value.index() < p.instrs.len() { p.value_name(value) } else { format!("%{}", value.0) };
    Err(Rule::Like { value, off, bias })
}

fn duplicate(name: &str, what: &'static str) -> Rule {
    Rule::DuplicateName { name: name.into(), what }
}

/// Invariant 5 for one more output.
pub(super) fn check_output(p: &Program, out: &Output) -> Result<(), Rule> {
    if p.outputs.iter().any(|o| o.name == out.name) {
        return Err(duplicate(&out.name, "output"));
    }
    check_output_value(p, out)
}

fn check_output_value(p: &Program, out: &Output) -> Result<(), Rule> {
    let value = || p.value_name(out.value);
    match p.instrs.get(out.value.index()).map(|i| &i.ty) {
        None => Err(Rule::Undefined { value: value() }),
        Some(Type::TracedPt | Type::Pt(_)) => Err(Rule::OutputPlain { value: value() }),
        Some(_) => Ok(()),
    }
}

/// Invariants 5 to 8, with the value to blame.
pub(super) fn check_finished(p: &Program) -> Result<(), (Option<Value>, Rule)> {
    check_names(p)?;
    check_hoists(p)?;
    check_scales(p)?;
    if p.outputs.is_empty() { Err((None, Rule::NoOutput)) } else { Ok(()) }
}

fn check_names(p: &Program) -> Result<(), (Option<Value>, Rule)> {
    let (mut inputs, mut plains) = (BTreeSet::new(), BTreeSet::new());
    for (v, instr) in p.values() {
        let fresh = match &instr.op {
            Op::Input(name) => (!plains.contains(name) && inputs.insert(name), name),
            Op::Plain(name) => {
                let first = plains.insert(name);
                (!inputs.contains(name) && (first || p.stage == Stage::Managed), name)
            }
            _ => continue,
        };
        if !fresh.0 {
            return Err((Some(v), duplicate(fresh.1, "input")));
        }
    }
    Ok(())
}

fn check_hoists(p: &Program) -> Result<(), (Option<Value>, Rule)> {
    let mut groups = BTreeMap::new();
    for (v, instr) in p.values() {
        let (Op::Rotate { a, hoist: Some(group), .. } | Op::Conj { a, hoist: Some(group) }) = instr.op else {
            continue;
        };
        let first = *groups.entry(group).or_insert(a);
        if first != a {
            let (first, second) = (p.value_name(first), p.value_name(a));
            return Err((Some(v), Rule::Hoist { group, first, second }));
        }
    }
    Ok(())
}

fn check_scales(p: &Program) -> Result<(), (Option<Value>, Rule)> {
    let Some(chain) = &p.chain else { return Ok(()) };
    let levels = (0..=chain.top().get()).map(Level::new);
    let bits = |level| chain.q_at(level).iter().map(|&q| (q as f64).log2()).sum();
    let bits: Vec<f64> = levels.map(bits).collect();
    for (v, instr) in p.values() {
        let Type::Ct(t) = &instr.ty else { continue };
        let modulus_bits = bits[t.level.index()];
        if t.scale.log2() >= modulus_bits {
            let (value, scale, level) = (p.value_name(v), t.scale.to_text(), t.level);
            return Err((Some(v), Rule::ScaleOverflow { value, scale, level, modulus_bits }));
        }
    }
    Ok(())
}
