//! The key-switch method of each number of limbs, and the key forms worth having.
//!
//! Log PQ is fixed: a form of a key divides by primes that the chain has. With few limbs a digit is short and needs few
//! special primes; with some more, the primes that rescaling removed make longer digits possible, and so fewer of
//! them. Both cost a further form of the key. A chain with few special primes has many digits at every level; there
//! KLSS takes fewer transforms, and with fewer limbs blocks of another length may be best: a further key as KLSS reads it.

use std::collections::BTreeMap;

use ringmill_ckks::params::SIGMA;
use ringmill_ckks::{KeyLayout, KlssLayout, LayoutError};
use ringmill_ring::{Modulus, RingError};

use super::suited::Plan;
use super::table::{Auxiliary, CostTable};
use super::work::Work;
use crate::he::Chain;
use crate::lower::{Method, Switch};

/// A form of a key, or a block length of KLSS, is worth its memory if it takes this part of the time off all levels together.
const LEAST_GAIN: f64 = 0.004;

/// The longest blocks that are looked at; the best are shorter.
const LONGEST_BLOCK: usize = 24;

/// Which methods there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Allowed {
    /// Hybrid key switching alone.
    Hybrid,
    /// KLSS alone: none at all where there are no primes for it.
    Klss,
    /// Both.
    Any,
}

/// The methods that the keys at hand allow, and what each takes.
#[derive(Debug, Clone)]
pub struct Methods {
    table: CostTable,
    chain: Chain,
    /// Bits of the longest ciphertext prime.
    bits: u32,
    candidates: Vec<Method>,
    /// Those of KLSS that there would be without hybrid key switching; none where they are the candidates.
    alone: Vec<Method>,
    /// Which of them a key switch takes.
    plan: Plan,
    /// Methods of some numbers of limbs, whatever they take.
    fixed: BTreeMap<usize, Method>,
}

impl Methods {
    /// Those of `allowed` with keys of the base layout and of `layouts`. KLSS keys are derived from these forms and take memory
    /// beside them: each is among the methods if it takes a worthwhile part off the time of all levels.
    ///
    /// # Errors
    /// A layout that the chain does not allow; a chain whose numbers are no moduli.
    pub fn new(
        table: &CostTable,
        chain: &Chain,
        layouts: &[KeyLayout],
        allowed: Allowed,
    ) -> Result<Self, LayoutError> {
        let (q, p) = moduli(chain)?;
        let mut methods = Self::only(table, chain, Method::Hybrid(chain.base_layout()))?;
        for layout in layouts {
            layout.check(&q, &p)?;
            methods.candidates.push(Method::Hybrid(*layout));
        }
        // A chain without special primes switches no keys.
        if allowed != Allowed::Hybrid && !p.is_empty() {
            let layouts: Vec<KeyLayout> = methods.candidates.iter().map(Method::layout).collect();
            let levels = chain.base_layout().limbs;
            let hybrid = (1..=levels).map(|limbs| methods.least(limbs)).collect();
            let beside = (allowed == Allowed::Any).then_some(hybrid);
            let klss = methods.useful_klss(&layouts, levels, beside)?;
            methods.candidates.extend(klss.into_iter().map(Method::Klss));
            if allowed == Allowed::Any {
                methods.alone =
                    methods.useful_klss(&layouts, levels, None)?.into_iter().map(Method::Klss).collect();
            }
        }
        if allowed == Allowed::Klss {
            methods.candidates.retain(|method| matches!(method, Method::Klss(_)));
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
            alone: Vec::new(),
            plan: Plan::default(),
            fixed: BTreeMap::new(),
        })
    }

    /// Fixes the method for polynomials of `limbs` limbs, whatever its cost.
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

    /// KLSS with digits of a layout for polynomials of `limbs` limbs: in blocks of a given length, or the best of those that
    /// would be among the methods if there were no others. None without primes for T.
    ///
    /// # Errors
    /// A layout that the chain does not allow, or that serves fewer limbs; a block longer than the layout.
    pub fn klss(
        &self,
        layout: KeyLayout,
        limbs: usize,
        block: Option<usize>,
    ) -> Result<Option<Method>, LayoutError> {
        if layout.limbs < limbs {
            return Err(LayoutError::TooFewLimbs { layout, most: layout.limbs, limbs });
        }
        if let Some(block) = block {
            // One key, whatever the level.
            let whole = |method: &Method| self.times(method, layout.limbs).iter().sum::<f64>();
            let methods = self.klss_in_blocks(layout, block)?.into_iter().map(Method::Klss);
            return Ok(methods.min_by(|a, b| whole(a).total_cmp(&whole(b))));
        }
        let candidates = self.useful_klss(&[layout], layout.limbs, None)?;
        let methods = candidates.into_iter().map(Method::Klss).filter(|m| m.layout().limbs >= limbs);
        let time = |method: &Method| self.nanoseconds(method, limbs, 1);
        Ok(methods.min_by(|a, b| time(a).total_cmp(&time(b))))
    }

    /// KLSS with digits of the layouts for up to `levels` limbs, in the lengths of blocks that take a worthwhile part off all
    /// levels together, each for no more limbs than it is the best for. What there is beside it takes the times `beside`;
    /// where there is nothing, one length serves every level.
    fn useful_klss(
        &self,
        layouts: &[KeyLayout],
        levels: usize,
        beside: Option<Times>,
    ) -> Result<Vec<KlssLayout>, LayoutError> {
        let mut candidates: Vec<(KlssLayout, Times)> = Vec::new();
        for &layout in layouts {
            for block in 1..=(layout.limbs + layout.special).min(LONGEST_BLOCK) {
                for klss in self.klss_in_blocks(layout, block)? {
                    let times = self.times(&Method::Klss(klss.clone()), levels);
                    candidates.push((klss, times));
                }
            }
        }
        let mut found = Vec::new();
        let whole = |times: &Times| times.iter().sum::<f64>();
        let best = beside.or_else(|| {
            let (klss, times) = candidates.iter().min_by(|a, b| whole(&a.1).total_cmp(&whole(&b.1)))?;
            found.push(klss.clone());
            Some(times.clone())
        });
        let Some(best) = best else { return Ok(found) };
        let (q, p) = moduli(&self.chain)?;
        for (klss, limbs) in most_useful(&candidates, best, usize::MAX) {
            let digits = KeyLayout { limbs, ..klss.digits() };
            let (block, bits) = (klss.block().min(limbs + digits.special), klss.t()[0].bits());
            found.push(KlssLayout::new(self.chain.log_n(), (&q, &p), digits, block, bits)?);
        }
        Ok(found)
    }

    /// KLSS in blocks of one length, for primes of T that suit the machine's transforms. Empty if there are
    /// too few primes, or more than fit the machine's table.
    fn klss_in_blocks(&self, layout: KeyLayout, block: usize) -> Result<Vec<KlssLayout>, LayoutError> {
        let (q, p) = moduli(&self.chain)?;
        let Auxiliary { bits, moduli } = self.table.auxiliary();
        let room = moduli.saturating_sub(q.len() + p.len());
        let of = |&bits: &u32| match KlssLayout::new(self.chain.log_n(), (&q, &p), layout, block, bits) {
            Err(LayoutError::Ring(_)) => Ok(None),
            klss => klss.map(|klss| Some(klss).filter(|klss| klss.t().len() <= room)),
        };
        let found = bits.iter().map(of);
        Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The methods of KLSS that there are, or would be alone.
    pub(super) fn of_klss(&self) -> impl Iterator<Item = &KlssLayout> {
        self.candidates.iter().chain(&self.alone).filter_map(|method| match method {
            Method::Klss(layout) => Some(layout),
            Method::Hybrid(_) | Method::Of(..) => None,
        })
    }

    /// Bits of the longest ciphertext prime.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// The plan by which they are chosen.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The costs that they are chosen by.
    pub fn costs(&self) -> &CostTable {
        &self.table
    }

    /// The chain that the methods are for.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The method that is fixed for the switch's number of limbs, or takes the least time of those that the plan for the
    /// program allows ([`suited`](Self::suited)).
    pub fn choose(&self, switch: &Switch) -> Option<&Method> {
        if let Some(method) = self.fixed.get(&switch.limbs).or_else(|| self.plan.names(switch)) {
            return Some(method);
        }
        let klss = (self.plan == Plan::Kind(Allowed::Klss)).then_some(&self.alone).into_iter().flatten();
        let all = self.candidates.iter().filter(|m| self.plan.allows(m)).chain(klss);
        // Perhaps none of the kind has keys for these limbs: any other then.
        self.quickest(all, switch).or_else(|| self.quickest(self.candidates.iter(), switch))
    }

    /// The method of the least time among those that serve.
    fn quickest<'a>(&self, of: impl Iterator<Item = &'a Method>, switch: &Switch) -> Option<&'a Method> {
        let time = |m: &&Method| self.nanoseconds(m, switch.limbs, switch.hoisted);
        let serving = of.filter(|m| m.layout().limbs >= switch.limbs);
        serving.min_by(|a, b| time(a).total_cmp(&time(b)))
    }

    /// The same methods by another plan.
    pub(super) fn by(&self, plan: Plan) -> Self {
        Self { plan, ..self.clone() }
    }

    /// The time of the cheapest candidate for `limbs` limbs.
    fn least(&self, limbs: usize) -> f64 {
        let serves = |m: &&Method| m.layout().limbs >= limbs;
        let times = self.candidates.iter().filter(serves).map(|m| self.nanoseconds(m, limbs, 1));
        times.fold(f64::INFINITY, f64::min)
    }

    /// What a method takes for 1, 2, … limbs.
    fn times(&self, method: &Method, levels: usize) -> Times {
        let most = method.layout().limbs;
        let time = |limbs| if limbs <= most { self.nanoseconds(method, limbs, 1) } else { f64::INFINITY };
        (1..=levels).map(time).collect()
    }

    /// Every method there is.
    pub fn candidates(&self) -> &[Method] {
        &self.candidates
    }

    /// Nanoseconds of one key switch of `limbs` limbs, one of `hoisted` that share digits, without what is added.
    pub fn nanoseconds(&self, method: &Method, limbs: usize, hoisted: usize) -> f64 {
        let (whole, hoisted) = (Work::of_switch(method, limbs, self.bits), hoisted.max(1));
        // The digits are raised once.
        let raising = Work::of_raising(method, limbs, self.bits);
        self.table.nanoseconds(&whole.sharing(&raising, hoisted), self.chain.log_n()) / hoisted as f64
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
    let methods = Methods::new(table, chain, &[], Allowed::Hybrid)?;
    let times = |layout: KeyLayout| methods.times(&Method::Hybrid(layout), base.limbs);
    let candidates: Vec<(KeyLayout, Times)> =
        candidates(&q, &p, base, chain.log_n()).into_iter().map(|layout| (layout, times(layout))).collect();
    let found = most_useful(&candidates, times(base), count);
    // A form need not have limbs that it is never used with.
    Ok(found.into_iter().map(|(layout, limbs)| KeyLayout { limbs, ..layout }).collect())
}

/// What a key switch of 1, 2, … limbs takes.
type Times = Vec<f64>;

/// Up to `count` candidates that take a worthwhile part off the times of all levels, the most useful first, each with the
/// most limbs for which it is the best so far.
fn most_useful<T: Clone>(candidates: &[(T, Times)], mut best: Times, count: usize) -> Vec<(T, usize)> {
    let (whole, mut found) = (best.iter().sum::<f64>(), Vec::new());
    while found.len() < count {
        let with = |times: &Times| best.iter().zip(times).map(|(a, b)| a.min(*b)).sum::<f64>();
        let next = candidates.iter().min_by(|a, b| with(&a.1).total_cmp(&with(&b.1)));
        let Some((candidate, times)) = next else { break };
        if with(times) > best.iter().sum::<f64>() - LEAST_GAIN * whole {
            break;
        }
        let last = best.iter().zip(times).rposition(|(a, b)| b < a).unwrap_or(0);
        found.push((candidate.clone(), last + 1));
        best.iter_mut().zip(times).for_each(|(a, b)| *a = a.min(*b));
    }
    found
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

/// The primes of a chain.
pub(super) fn moduli(chain: &Chain) -> Result<(Vec<Modulus>, Vec<Modulus>), RingError> {
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
        let methods = Methods::new(&table, &chain, &layouts, Allowed::Any).unwrap();
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
        let methods = Methods::new(&table, &many, &[], Allowed::Any).unwrap();
        assert!(matches!(methods.choose(&switch(28)), Some(Method::Klss(_))));
        let few = chain(NamedSet::V50);
        let methods = Methods::new(&table, &few, &[], Allowed::Any).unwrap();
        assert!(matches!(methods.choose(&switch(28)), Some(Method::Hybrid(_))));
    }

    #[test]
    fn a_fixed_method_is_taken_at_its_level_alone() {
        let (chain, table) = (chain(NamedSet::V50), CostTable::shipped());
        let methods = Methods::new(&table, &chain, &[], Allowed::Hybrid).unwrap();
        let form = KeyLayout { limbs: 20, special: 10, alpha: 10 };
        let klss = methods.klss(form, 20, None).unwrap().unwrap();
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
        assert!(methods.klss(KeyLayout { limbs: 28, special: 7, alpha: 9 }, 28, None).is_err());
    }

    #[test]
    fn lengths_of_blocks_are_chosen_by_level_and_each_is_worth_its_key() {
        let (chain, table) = (chain(NamedSet::V50Single), CostTable::shipped());
        let base = chain.base_layout();
        let methods = Methods::new(&table, &chain, &[], Allowed::Klss).unwrap();
        let of = |method: &Method| match method {
            Method::Klss(klss) => klss.block(),
            Method::Hybrid(_) | Method::Of(..) => 0,
        };
        let mut blocks: Vec<usize> = methods.candidates().iter().map(of).collect();
        blocks.sort_unstable();
        assert!(blocks.windows(2).all(|pair| pair[0] < pair[1]) && (2..=4).contains(&blocks.len()));
        // One length for all levels, every length that there is, and those chosen.
        let sum = |time: &dyn Fn(usize) -> f64| (1..=base.limbs).map(time).sum::<f64>();
        let in_blocks = |block, limbs| methods.klss(base, limbs, Some(block)).unwrap().unwrap();
        let time = |block, limbs| methods.nanoseconds(&in_blocks(block, limbs), limbs, 1);
        let one = (1..=12).map(|block| sum(&|limbs| time(block, limbs))).fold(f64::INFINITY, f64::min);
        let least = |limbs| (1..=12).map(|block| time(block, limbs)).fold(f64::INFINITY, f64::min);
        let every = sum(&least);
        let chosen = sum(&|limbs| methods.nanoseconds(methods.choose(&switch(limbs)).unwrap(), limbs, 1));
        assert!(every <= chosen && chosen < (1.0 - LEAST_GAIN) * one, "{every} {chosen} {one}");
        assert!(chosen < 1.02 * every, "{every} {chosen}");
        // Named, it is that one.
        assert_eq!(of(&in_blocks(5, 28)), 5);
        assert!(blocks.contains(&of(&methods.klss(base, 28, None).unwrap().unwrap())));
        assert!(matches!(methods.klss(base, 28, Some(30)), Err(LayoutError::Block { block: 30, max: 29 })));
    }

    #[test]
    fn a_machine_takes_klss_with_the_primes_that_it_has() {
        let (chain, base) = (chain(NamedSet::V50Single), chain(NamedSet::V50Single).base_layout());
        let of = |bits: &[u32], moduli| {
            let table = CostTable::shipped().with_auxiliary(Auxiliary { bits: bits.to_vec(), moduli });
            Methods::new(&table, &chain, &[], Allowed::Any).unwrap()
        };
        let primes = |method: &Method| match method {
            Method::Klss(klss) => klss.t().to_vec(),
            Method::Hybrid(_) | Method::Of(..) => Vec::new(),
        };
        for method in of(&[54], 36).candidates() {
            let t = primes(method);
            assert!(t.len() <= 36 - 29 && t.iter().all(|t| t.bits() == 54), "{method:?}");
        }
        let short = of(&[54], 31);
        assert_eq!(short.klss(base, 28, Some(8)).unwrap(), None);
        assert!(short.klss(base, 28, Some(1)).unwrap().is_none(), "three primes are the fewest");
        for none in [of(&[], usize::MAX), of(&[54], 0)] {
            assert_eq!(none.klss(base, 28, None).unwrap(), None);
            assert_eq!(none.candidates(), [Method::Hybrid(base)]);
        }
    }

    #[test]
    fn nothing_serves_more_limbs_than_the_chain_has() {
        let (chain, table) = (chain(NamedSet::II), CostTable::shipped());
        let methods = Methods::new(&table, &chain, &[], Allowed::Hybrid).unwrap();
        assert_eq!(methods.choose(&switch(5)), None);
    }
}
