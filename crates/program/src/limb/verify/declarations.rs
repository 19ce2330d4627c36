//! The invariants of what stands above the instructions: moduli, inputs, outputs, regions, buffers.

use std::collections::{HashMap, HashSet};

use super::Violation;
use crate::limb::program::LimbProgram;
use crate::limb::types::{Domain, InputClass, ModulusId};

pub(super) fn declarations(p: &LimbProgram) -> Result<(), Violation> {
    const MAX_LOG_N: u32 = 17;
    if !(1..=MAX_LOG_N).contains(&p.log_n) {
        return Err(Violation::Degree { log_n: p.log_n, max: MAX_LOG_N });
    }
    let two_n = 2u64 << p.log_n;
    distinct("program", std::iter::once(&p.name))?;
    distinct("modulus", p.moduli.iter().map(|m| &m.name))?;
    let mut seen = HashMap::new();
    for m in &p.moduli {
        let q = m.modulus.value();
        if q % two_n != 1 {
            return Err(Violation::Modulus { name: m.name.clone(), q, two_n });
        }
        if let Some(first) = seen.insert(q, &m.name) {
            return Err(Violation::DuplicateModulus { q, first: first.clone(), second: m.name.clone() });
        }
    }
    distinct("input", p.inputs.iter().map(|g| &g.name))?;
    distinct("output", p.outputs.iter().map(|g| &g.name))?;
    let inputs = p.inputs.iter().map(|g| ("input", &g.name, g.domain, &g.moduli));
    let outputs = p.outputs.iter().map(|g| ("output", &g.name, g.domain, &g.moduli));
    for (what, name, domain, moduli) in inputs.chain(outputs) {
        if domain == Domain::Quotient {
            return Err(Violation::QuotientAtBorder { what, name: name.clone() });
        }
        for &m in moduli {
            known(p, m)?;
        }
    }
    for g in &p.inputs {
        let most = if g.domain == Domain::Coeff { p.log_n - 1 } else { 0 };
        if g.log_stride > most {
            return Err(Violation::Stride { name: g.name.clone(), log_stride: g.log_stride, most });
        }
    }
    client_inputs(p)?;
    let mut least = 0;
    for r in &p.regions {
        if r.first < least || r.first as usize > p.nodes.len() {
            return Err(Violation::Region { label: r.label.clone(), first: r.first });
        }
        if r.label.is_empty() || r.label.trim() != r.label || r.label.contains(['#', '\n', '\r']) {
            return Err(Violation::Label { label: r.label.clone() });
        }
        least = r.first;
    }
    let mut least = 0;
    for s in &p.sections {
        if s.first < least || s.end <= s.first || s.end as usize > p.nodes.len() {
            let (kind, first, end) = (s.kind.to_string(), s.first, s.end);
            return Err(Violation::Section { kind, first, end, count: p.nodes.len() });
        }
        least = s.end;
    }
    allocation(p)
}

/// Secret and sampled inputs.
fn client_inputs(p: &LimbProgram) -> Result<(), Violation> {
    for g in p.inputs.iter().filter(|g| g.class.is_client_only()) {
        let (name, class) = (g.name.clone(), g.class.name());
        if g.log_stride > 0 {
            return Err(Violation::SampleStride { name, class, log_stride: g.log_stride });
        }
        if let InputClass::Sampled(distribution) = g.class
            && distribution.domain() != g.domain
        {
            let (found, expected) = (g.domain, distribution.domain());
            return Err(Violation::SampleDomain { name, class, found, expected });
        }
        let mut seen = HashSet::new();
        if let Some(twice) = g.moduli.iter().find(|m| !seen.insert(**m)) {
            let modulus = p.moduli[twice.index()].name.clone();
            return Err(Violation::RepeatedLimb { name, class, modulus });
        }
    }
    Ok(())
}

fn allocation(p: &LimbProgram) -> Result<(), Violation> {
    let Some(a) = &p.allocation else { return Ok(()) };
    if a.buffer_of.len() != p.values() {
        return Err(Violation::AllocationLength { found: a.buffer_of.len(), count: p.values() });
    }
    match a.buffer_of.iter().find(|b| b.0 >= a.buffers) {
        Some(b) => Err(Violation::UnknownBuffer { buffer: b.0, count: a.buffers }),
        None => Ok(()),
    }
}

fn distinct<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), Violation> {
    let mut seen = HashSet::new();
    for name in names {
        let start = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !start || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(Violation::BadName { name: name.clone() });
        }
        if !seen.insert(name) {
            return Err(Violation::DuplicateName { what, name: name.clone() });
        }
    }
    Ok(())
}

pub(super) fn known(p: &LimbProgram, m: ModulusId) -> Result<(), Violation> {
    if m.index() < p.moduli.len() {
        return Ok(());
    }
    Err(Violation::UnknownModulus { number: m.index(), count: p.moduli.len() })
}
