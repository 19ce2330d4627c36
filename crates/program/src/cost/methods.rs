//! The key-switch method of each number of limbs, and the key forms worth having.
//!
//! Log PQ is fixed: a form of a key divides by primes that the chain has. With few limbs a digit is short and needs few
//! special primes; with some more, the primes that rescaling removed make longer digits possible, and so fewer of
//! them. Both cost a further form of the key. A chain with few special primes has many digits at every level; there
//! KLSS takes fewer transforms.

use std::collections::BTreeMap;

use ringmill_ckks::params::SIGMA;
use ringmill_ckks::{KeyLayout, KlssLayout, LayoutError};
use ringmill_ring::{Modulus, RingError};

use super::table::CostTable;
use super::work::{Kind, Work};
use crate::he::Chain;
use crate::lower::{Method, Switch};

/// A form of a key is worth its memory if it takes this part of the time off all levels together.
const LEAST_GAIN: f64 = 0.004;

/// The methods that the keys at hand allow, and what each takes.
#[derive(Debug, Clone)]
pub struct Methods {
    table: CostTable,
    chain: Chain,
    /// Bits of the longest ciphertext prime.
    bits: u32,
    candidates: Vec<Method>,
    /// Methods of some numbers of limbs, whatever they take.
    fixed: BTreeMap<usize, Method>,
}

impl Methods {
    /// Hybrid key switching with keys of the base layout and of `layouts`; if `klss`, KLSS with each of them too. KLSS
    /// keys are derived from the forms that there are, and take memory beside them.
    ///
    /// # Errors
    /// A layout that the chain does not allow; a chain whose numbers are no moduli.
    pub fn new(
        table: &CostTable,
        chain: &Chain,
        layouts: &[KeyLayout],
        klss: bool,
    ) -> Result<Self, LayoutError> {
        let (q, p) = moduli(chain)?;
        let mut methods = Self::only(table, chain, Method::Hybrid(chain.base_layout()))?;
        for layout in layouts {
            layout.check(&q, &p)?;
            methods.candidates.push(Method::Hybrid(*layout));
        }
        if klss {
            let layouts: Vec<KeyLayout> = methods.candidates.iter().map(Method::layout).collect();
            let klss = layouts.into_iter().filter_map(|layout| methods.best_klss((&q, &p), layout));
            let klss: Vec<Method> = klss.map(Method::Klss).collect();
            methods.candidates.extend(klss);
        }
        Ok(methods)
    }

    /// One method, whatever it takes.
    ///
    /// # Errors
    /// A chain whose numbers are no moduli.
    pub fn only(table: &CostTable, chain: &Chain, method: Method) -> Result<Self, RingError> {
        let bits = moduli(chain)?.0.iter().map(|m| m.bits()).max().unwrap_or_default();
        Ok(Self {
            table: table.clone(),
            chain: chain.clone(),
            bits,
            candidates: vec![method],
            fixed: BTreeMap::new(),
        })
    }

    /// Those of KLSS alone; none if there are none.
    pub fn of_klss(mut self) -> Option<Self> {
        self.candidates.retain(|method| matches!(method, Method::Klss(_)));
        if self.candidates.is_empty() { None } else { Some(self) }
    }

    /// A given method for polynomials of so many limbs, whatever it takes.
    ///
    /// # Errors
    /// [`LayoutError::TooFewLimbs`]; a layout that the chain does not allow.
    pub fn fixing(mut self, limbs: usize, method: Method) -> Result<Self, LayoutError> {
        let (layout, (q, p)) = (method.layout(), moduli(&self.chain)?);
        layout.check(&q, &p)?;
        if layout.limbs < limbs {
            return Err(LayoutError::TooFewLimbs { layout, most: layout.limbs, limbs });
        }
        self.fixed.insert(limbs, method);
        Ok(self)
    }

    /// KLSS with digits of a layout, blocks and T as the costs would have them; none without primes for T.
    ///
    /// # Errors
    /// A layout that the chain does not allow.
    pub fn klss(&self, layout: KeyLayout) -> Result<Option<Method>, LayoutError> {
        let (q, p) = moduli(&self.chain)?;
        layout.check(&q, &p)?;
        Ok(self.best_klss((&q, &p), layout).map(Method::Klss))
    }

    /// The chain that the methods are for.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The method that is fixed for so many limbs, or takes the least time.
    pub fn choose(&self, switch: &Switch) -> Option<&Method> {
        if let Some(method) = self.fixed.get(&switch.limbs) {
            return Some(method);
        }
        let serves = |m: &&Method| m.layout().limbs >= switch.limbs;
        let time = |m: &&Method| self.nanoseconds(m, switch.limbs, switch.hoisted);
        self.candidates.iter().filter(serves).min_by(|a, b| time(a).total_cmp(&time(b)))
    }

    /// Every method there is.
    pub fn candidates(&self) -> &[Method] {
        &self.candidates
    }

    /// Nanoseconds of one key switch of `limbs` limbs, one of `hoisted` that share digits, without what is added.
    pub fn nanoseconds(&self, method: &Method, limbs: usize, hoisted: usize) -> f64 {
        let of = |work| self.table.nanoseconds(&work, self.chain.log_n());
        let whole = of(Work::of_switch(method, limbs, self.bits));
        if hoisted < 2 {
            return whole;
        }
        // The digits are raised once.
        let raising = of(Work::of_raising(method, limbs, self.bits));
        whole - raising * (hoisted - 1) as f64 / hoisted as f64
    }

    /// The block length that is best at the top of a layout, for primes that the machine's transforms like.
    fn best_klss(&self, chain: (&[Modulus], &[Modulus]), layout: KeyLayout) -> Option<KlssLayout> {
        let longest = (layout.limbs + layout.special).min(24);
        (1..=longest)
            .flat_map(|block| [Kind::NARROW_BITS, Modulus::MAX_BITS].map(|bits| (block, bits)))
            .filter_map(|(block, bits)| KlssLayout::new(self.chain.log_n(), chain, layout, block, bits).ok())
            .map(|klss| (self.nanoseconds(&Method::Klss(klss.clone()), layout.limbs, 1), klss))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, klss)| klss)
    }
}

/// Up to `count` layouts beside the base one, the most useful first, by the time of one key switch at each level. None
/// of them adds more than a bit to the error.
///
/// # Errors
/// As [`Methods::new`].
pub fn worthwhile(table: &CostTable, chain: &Chain, count: usize) -> Result<Vec<KeyLayout>, LayoutError> {
    let (q, p) = moduli(chain)?;
    let base = chain.base_layout();
    let methods = Methods::new(table, chain, &[], false)?;
    let times = |layout: KeyLayout| -> Vec<f64> {
        let method = Method::Hybrid(layout);
        let time = |limbs| {
            if limbs <= layout.limbs { methods.nanoseconds(&method, limbs, 1) } else { f64::INFINITY }
        };
        (1..=base.limbs).map(time).collect()
    };
    let candidates: Vec<(KeyLayout, Vec<f64>)> =
        candidates(&q, &p, base, chain.log_n()).into_iter().map(|layout| (layout, times(layout))).collect();
    let mut best = times(base);
    let (whole, mut found) = (best.iter().sum::<f64>(), Vec::new());
    while found.len() < count {
        let with = |times: &[f64]| best.iter().zip(times).map(|(a, b)| a.min(*b)).sum::<f64>();
        let next = candidates.iter().min_by(|a, b| with(&a.1).total_cmp(&with(&b.1)));
        let Some((layout, times)) = next else { break };
        if with(times) > best.iter().sum::<f64>() - LEAST_GAIN * whole {
            break;
        }
        // A form need not have limbs that it is never used with.
        let last = best.iter().zip(times).rposition(|(a, b)| b < a).unwrap_or(0);
        found.push(KeyLayout { limbs: last + 1, ..*layout });
        best.iter_mut().zip(times).for_each(|(a, b)| *a = a.min(*b));
    }
    Ok(found)
}

/// Layouts that the chain allows at an error within a bit of the base one's.
fn candidates(q: &[Modulus], p: &[Modulus], base: KeyLayout, log_n: u32) -> Vec<KeyLayout> {
    let mut found = Vec::new();
    for special in 1..q.len() + p.len() {
        let limbs = q.len().min(q.len() + p.len() - special);
        for alpha in [special, special.saturating_sub(1)] {
            let layout = KeyLayout { limbs, special, alpha };
            let fits =
                |limbs| variance(layout, q, p, limbs, log_n) <= 4.0 * variance(base, q, p, limbs, log_n);
            if layout != base && layout.check(q, p).is_ok() && (1..=limbs).all(fits) {
                found.push(layout);
            }
        }
    }
    found
}

/// Variance of a key switch's error with a uniform ternary secret: `docs/algorithms/error.md`.
fn variance(layout: KeyLayout, q: &[Modulus], p: &[Modulus], limbs: usize, log_n: u32) -> f64 {
    let log2 = |moduli: &[Modulus]| moduli.iter().map(|m| (m.value() as f64).log2()).sum::<f64>();
    let (n, log_p) = (f64::from(log_n).exp2(), log2(&layout.special_primes(q, p)));
    let digits: f64 = layout.digits(limbs).map(|digit| (2.0 * (log2(&q[digit]) - log_p)).exp2()).sum();
    n * SIGMA * SIGMA * digits / 12.0 + (1.0 + n * 2.0 / 3.0) / 12.0
}

fn moduli(chain: &Chain) -> Result<(Vec<Modulus>, Vec<Modulus>), RingError> {
    let all = |values: &[u64]| values.iter().map(|&q| Modulus::new(q)).collect::<Result<Vec<_>, _>>();
    Ok((all(chain.q())?, all(chain.p())?))
}

#[cfg(test)]
mod tests {
    use ringmill_ckks::{NamedSet, Params};

    use super::*;
    use crate::lower::KeyId;

    fn chain(set: NamedSet) -> Chain {
        Chain::from(&Params::named(set).unwrap())
    }

    fn switch(limbs: usize) -> Switch {
        Switch { key: KeyId::Relin, limbs, hoisted: 1, rescale: false }
    }

    #[test]
    fn what_is_chosen_is_the_cheapest_at_every_level_and_never_dearer_than_one_method() {
        let (chain, table) = (chain(NamedSet::V50), CostTable::shipped());
        let layouts = worthwhile(&table, &chain, 4).unwrap();
        assert!(!layouts.is_empty() && layouts.len() <= 4);
        let methods = Methods::new(&table, &chain, &layouts, true).unwrap();
        let (mut mix, mut fixed) = (0.0, 0.0);
        for limbs in 1..=28 {
            let chosen = methods.choose(&switch(limbs)).unwrap();
            let time = methods.nanoseconds(chosen, limbs, 1);
            for other in methods.candidates().iter().filter(|m| m.layout().limbs >= limbs) {
                assert!(time <= methods.nanoseconds(other, limbs, 1));
            }
            mix += time;
            fixed += methods.nanoseconds(&Method::Hybrid(chain.base_layout()), limbs, 1);
        }
        assert!(mix < fixed);
    }

    #[test]
    fn klss_is_for_chains_of_many_digits() {
        let table = CostTable::shipped();
        let many = chain(NamedSet::V50Single);
        let methods = Methods::new(&table, &many, &[], true).unwrap();
        assert!(matches!(methods.choose(&switch(28)), Some(Method::Klss(_))));
        let few = chain(NamedSet::V50);
        let methods = Methods::new(&table, &few, &[], true).unwrap();
        assert!(matches!(methods.choose(&switch(28)), Some(Method::Hybrid(_))));
    }

    #[test]
    fn a_fixed_method_is_taken_at_its_level_alone() {
        let (chain, table) = (chain(NamedSet::V50), CostTable::shipped());
        let methods = Methods::new(&table, &chain, &[], false).unwrap();
        let form = KeyLayout { limbs: 20, special: 10, alpha: 10 };
        let klss = methods.klss(form).unwrap().unwrap();
        let fixed =
            methods.clone().fixing(12, Method::Hybrid(form)).unwrap().fixing(20, klss.clone()).unwrap();
        assert_eq!(fixed.choose(&switch(12)), Some(&Method::Hybrid(form)));
        assert_eq!(fixed.choose(&switch(20)), Some(&klss));
        assert_eq!(fixed.choose(&switch(13)), methods.choose(&switch(13)));
        let refused = methods.clone().fixing(21, klss).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the key form 20+10/10 serves polynomials of up to 20 limbs, not of 21"
        );
        assert!(methods.klss(KeyLayout { limbs: 28, special: 7, alpha: 9 }).is_err());
        assert!(methods.of_klss().is_none());
    }

    #[test]
    fn nothing_serves_more_limbs_than_the_chain_has() {
        let (chain, table) = (chain(NamedSet::II), CostTable::shipped());
        let methods = Methods::new(&table, &chain, &[], false).unwrap();
        assert_eq!(methods.choose(&switch(5)), None);
    }
}
