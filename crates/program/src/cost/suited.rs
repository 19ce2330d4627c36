//! Methods by the finished program: what a linear map saves is known once it is lowered.
//!
//! Each key switch has a least method by itself. But sums of rotations that share a division by P ([`crate::lower`]) take
//! less than their switches one by one. Hybrid key switching has such sums over the special primes of the chain, KLSS if its T
//! is long enough for them. So a few plans are lowered, each with what it saves, and the one whose program takes the least
//! time is taken.

use std::collections::HashSet;

use ringmill_ckks::KlssLayout;

use super::methods::{Allowed, Methods, moduli};
use super::work::Work;
use crate::he::Program;
use crate::lower::{KeyId, LowerError, Method, Switch, key_switches, lower_by};

/// Bits of T for sums of key switches: of four thousand.
const SUMS: u32 = 12;

/// Which of the candidates a key switch takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Plan {
    /// The one of the least time, by itself.
    #[default]
    Each,
    /// The one of the least time that is hybrid, or that is KLSS.
    Kind(Allowed),
    /// This one wherever it serves.
    Only(Method),
    /// This one where digits are shared, elsewhere that of the least time.
    Shared(Method),
    /// This one for every rotation, elsewhere that of the least time.
    Turns(Method),
}

impl Plan {
    /// What it names for a switch; `None` if it leaves the choice to the time.
    pub(super) fn names(&self, switch: &Switch) -> Option<&Method> {
        let method = match self {
            Self::Only(method) => Some(method),
            Self::Shared(method) if switch.hoisted > 1 => Some(method),
            Self::Turns(method) if matches!(switch.key, KeyId::Galois(_)) => Some(method),
            _ => None,
        };
        method.filter(|method| method.layout().limbs >= switch.limbs)
    }

    /// Whether a method may be chosen by its time.
    pub(super) fn allows(&self, method: &Method) -> bool {
        !matches!(
            (self, method),
            (Self::Kind(Allowed::Hybrid), Method::Klss(_)) | (Self::Kind(Allowed::Klss), Method::Hybrid(_))
        )
    }
}

impl Methods {
    /// The same methods, chosen so that the finished program takes the least time: no more than with one method for all of
    /// its key switches, with hybrid ones alone, or with KLSS alone.
    ///
    /// # Errors
    /// What lowering refuses.
    pub fn suited(&self, he: &Program) -> Result<Self, LowerError> {
        let switches: HashSet<Switch> = key_switches(he).into_values().collect();
        let switches: Vec<Switch> = switches.into_iter().collect();
        let mut tried: Vec<Vec<Option<Method>>> = Vec::new();
        let mut plans = Vec::new();
        for plan in self.plans() {
            let methods = self.by(plan);
            let chosen: Vec<_> = switches.iter().map(|s| methods.choose(s).cloned()).collect();
            if !tried.contains(&chosen) {
                tried.push(chosen);
                plans.push(methods);
            }
        }
        if plans.len() < 2 {
            return Ok(self.clone());
        }
        let all: Vec<Switch> = key_switches(he).into_values().collect();
        let mut best: Option<(f64, Self)> = None;
        for methods in plans {
            let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
            // What sums do not save is more than all of another plan.
            if matches!(methods.plan(), Plan::Only(Method::Klss(_)) | Plan::Turns(Method::Klss(_)))
                && all.iter().map(|switch| methods.floor(switch)).sum::<f64>() > least
            {
                continue;
            }
            let time = methods.finished(he)?;
            if time < least {
                best = Some((time, methods));
            }
        }
        Ok(best.map_or_else(|| self.clone(), |(_, methods)| methods))
    }

    /// Nanoseconds of a program that is lowered by these methods.
    ///
    /// # Errors
    /// What lowering refuses.
    pub fn finished(&self, he: &Program) -> Result<f64, LowerError> {
        let base = Method::Hybrid(self.chain().base_layout());
        let lowered = lower_by(he, &|switch| self.choose(switch).unwrap_or(&base).clone())?;
        Ok(self.costs().nanoseconds(&Work::of(&lowered.program), lowered.program.log_n()))
    }

    /// The plans that are compared. A method without a common division takes what its switches take one by one, so of those the
    /// least of a kind is enough.
    fn plans(&self) -> Vec<Plan> {
        let special = self.chain().base_layout().special;
        let divides = |m: &&Method| matches!(m, Method::Hybrid(layout) if layout.special == special);
        let common: Vec<&Method> = self.candidates().iter().filter(divides).collect();
        let mut plans = vec![Plan::Each, Plan::Kind(Allowed::Hybrid), Plan::Kind(Allowed::Klss)];
        for of in [Plan::Only, Plan::Shared, Plan::Turns] {
            plans.extend(common.iter().map(|&method| of(method.clone())));
        }
        for method in self.with_long_t() {
            plans.extend([Plan::Only(method.clone()), Plan::Turns(method)]);
        }
        plans
    }

    /// The methods of KLSS that serve every level: with the shortest T, with one that holds sums of key switches, and with one that
    /// holds products of these with constants.
    fn with_long_t(&self) -> Vec<Method> {
        let (chain, levels) = (self.chain(), self.chain().base_layout().limbs);
        let Ok((q, p)) = moduli(chain) else { return Vec::new() };
        let product = SUMS + chain.scale().log2().ceil().max(0.0) as u32 + chain.log_n() / 2;
        let table = self.costs().auxiliary().moduli.saturating_sub(q.len() + p.len());
        let mut found: Vec<Method> = Vec::new();
        for klss in self.of_klss().filter(|klss| klss.digits().limbs >= levels) {
            let (digits, bits) = (klss.digits(), klss.t()[0].bits());
            // Where there are no more primes, there is no longer T.
            let long = [SUMS, product].into_iter().filter_map(|margin| {
                KlssLayout::with_margin(chain.log_n(), (&q, &p), (digits, klss.block()), bits, margin).ok()
            });
            let long = long.filter(|klss| klss.t().len() <= table);
            for method in std::iter::once(klss.clone()).chain(long).map(Method::Klss) {
                if !found.contains(&method) {
                    found.push(method);
                }
            }
        }
        found
    }

    /// What a key switch takes at least, whatever shares its division: its part of the raised digits, and its products with the
    /// key.
    fn floor(&self, switch: &Switch) -> f64 {
        let Some(method) = self.choose(switch) else { return 0.0 };
        let time = |work: &Work| self.costs().nanoseconds(work, self.chain().log_n());
        let raising = Work::of_raising_alone(method, switch.limbs, self.bits());
        time(&raising) / switch.hoisted.max(1) as f64
            + time(&Work::of_products(method, switch.limbs, self.bits()))
    }
}
