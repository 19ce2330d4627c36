//! Parameters by need: from what a computation wants to the smallest ring that gives it.

use ringmill_ring::Modulus;

use super::levels::MAX_LEVEL_PRIMES;
use super::word::{sizes, split};
use super::{MAX_LOG_N, MAX_PRIMES, MIN_LOG_N, Params, ParamsError, ParamsLiteral, Secret, SecurityTable};

/// Exact binary64 kernels need primes below 2^50; the fastest on CPUs without IFMA and as fast as any with it.
const FAST_BITS: u32 = 50;

/// Widest scale of levels of several primes: what encoding takes.
const WIDEST_SCALE: u32 = 90;

/// Bits by which a scale is widened for primes that are not too few.
const WIDER: u32 = 24;

/// The table by which needs are met.
const TABLE: SecurityTable = SecurityTable::Guidelines2024;

/// What a computation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Rescales in a row: the multiplicative depth.
    pub depth: u32,
    /// log2 of the scale: bits of a slot below the binary point before error, 20 to 59.
    pub scale_bits: u32,
    /// log2 of a bound on the magnitude of results, so that they fit the base prime; 0 for values below 1.
    pub integer_bits: u32,
    /// Slots of a vector; at most N/2.
    pub slots: usize,
    /// 128, 192 or 256 bits, by the security guidelines of 2024.
    pub security: u32,
    /// Distribution of secret keys.
    pub secret: Secret,
    /// The word of a machine, 20 to 60 bits: every prime is below 2^word. Levels then have as many primes as the scale takes, and the scale is
    /// the next one that primes of the word reach. Without it a level is one prime, as wide as the scale.
    pub word: Option<u32>,
}

impl Default for Need {
    /// One multiplication of values up to 16 at 40 bits and 128 bits of security.
    fn default() -> Self {
        Self {
            depth: 1,
            scale_bits: 40,
            integer_bits: 4,
            slots: 1,
            security: 128,
            secret: Secret::Ternary,
            word: None,
        }
    }
}

/// Parameters by need, and the reasons for them.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The parameters.
    pub params: Params,
    /// Why these, for a reader: degree, digits, prime sizes.
    pub rationale: String,
}

/// The ciphertext primes that are wanted.
struct Chain {
    /// Sizes, from q_0 on.
    q: Vec<u32>,
    /// Primes of each level; empty for one each.
    levels: Vec<usize>,
    scale_bits: u32,
}

/// A candidate key-switch shape at one degree.
struct Shape {
    dnum: usize,
    p: Vec<u32>,
    /// Transforms of one key switch at the top level, (dnum + 2)(L + 1 + K).
    transforms: usize,
}

impl Need {
    /// The smallest ring that meets the need, and in it the number of digits with the cheapest key switch.
    ///
    /// # Errors
    /// [`ParamsError::Unmet`] names what stands in the way; [`ParamsError::PrimeBits`] a scale out of range.
    pub fn choose(&self) -> Result<Choice, ParamsError> {
        let unmet = |why: String| ParamsError::Unmet { max_log_n: MAX_LOG_N, why };
        let (min, max) = match self.word {
            None => (20, 59),
            Some(word) if !(Modulus::MIN_BITS..=Modulus::MAX_BITS).contains(&word) => {
                let (min, max) = (Modulus::MIN_BITS, Modulus::MAX_BITS);
                return Err(ParamsError::Word { word, min, max });
            }
            Some(word) => (20, (word * MAX_LEVEL_PRIMES as u32).min(WIDEST_SCALE)),
        };
        if !(min..=max).contains(&self.scale_bits) {
            return Err(ParamsError::PrimeBits { bits: self.scale_bits, min, max });
        }
        if self.slots == 0 {
            return Err(unmet("0 slots hold nothing; ask for one or more".into()));
        }
        let bits = u64::from(self.scale_bits) + u64::from(self.integer_bits) + 2;
        // Primes of the base, and the bits that they hold.
        let (primes, most) = match self.word {
            None => ("two".to_owned(), 2 * Modulus::MAX_BITS),
            Some(word) => (MAX_LEVEL_PRIMES.to_string(), MAX_LEVEL_PRIMES as u32 * word),
        };
        if bits > u64::from(most) {
            return Err(unmet(format!(
                "values of {} integer bits at scale 2^{} need a base of {bits} bits, and {primes} primes hold {most}; \
                 lower integer_bits or the scale",
                self.integer_bits, self.scale_bits,
            )));
        }
        let primes = self.word.map_or(1, |word| self.scale_bits.div_ceil(word)) as usize;
        if (self.depth as usize).saturating_mul(primes) + 3 > MAX_PRIMES {
            let of = if primes == 1 { "" } else { &format!(" of {primes} primes a level") };
            let remedy = if primes == 1 {
                "lower the depth, or bootstrap"
            } else {
                "lower the depth, or take a wider word"
            };
            return Err(unmet(format!(
                "depth {}{of} needs more than {MAX_PRIMES} primes; {remedy}",
                self.depth
            )));
        }
        if self.secret.column_is_missing(self.security) {
            return Err(unmet(format!(
                "no table gives {} bits for {} secrets; ask for 128, 192 or 256 bits and ternary or Gaussian secrets",
                self.security, self.secret
            )));
        }
        let most = 1 << (MAX_LOG_N - 1);
        if self.slots > most {
            return Err(unmet(format!(
                "{} slots are asked for, and the largest ring has {most}",
                self.slots
            )));
        }
        let mut scarce = None;
        for log_n in MIN_LOG_N..=MAX_LOG_N {
            let limit = TABLE.limit(log_n, self.secret, self.security);
            let Some(limit) = limit.filter(|_| (1 << log_n) / 2 >= self.slots) else { continue };
            for chain in self.chains(max, log_n) {
                let chain = match chain {
                    Ok(chain) => chain,
                    Err(why) => {
                        scarce = Some(why);
                        continue;
                    }
                };
                match self.cheapest(log_n, &chain, limit) {
                    Ok((params, shape)) => {
                        let rationale = self.explain(&params, &chain, limit, &shape);
                        return Ok(Choice { params, rationale });
                    }
                    Err(why) => scarce = why,
                }
                // Wider primes help where those of a size are too few, and nothing else.
                if scarce.is_none() {
                    break;
                }
            }
        }
        let bits: u32 = self.levels(self.scale_bits).iter().sum();
        let remedy = "lower the depth, change the scale, or bootstrap";
        Err(unmet(match scarce {
            Some(why) => format!("at N = 2^{MAX_LOG_N}, {why}; {remedy}"),
            None => format!(
                "{} slots, depth {} at scale 2^{} need a modulus of {bits} bits before special primes, beyond what keeps {} \
                 bits of security; {remedy}",
                self.slots, self.depth, self.scale_bits, self.security
            ),
        }))
    }

    /// The parameters with the cheapest key switch among those of a ring whose primes keep the security; of none, why primes
    /// could not be had, if that was it.
    fn cheapest(
        &self,
        log_n: u32,
        chain: &Chain,
        limit: u32,
    ) -> Result<(Params, Shape), Option<ParamsError>> {
        let log_q: u32 = chain.q.iter().sum();
        let mut scarce = None;
        for shape in shapes(&chain.q, self.word.map(|word| (word, chain))) {
            if log_q + shape.p.iter().sum::<u32>() > limit {
                continue;
            }
            match self.build(log_n, chain, &shape) {
                Ok(params) if params.keeps(TABLE, self.security) => return Ok((params, shape)),
                Ok(_) => {}
                Err(why) => scarce = Some(why),
            }
        }
        Err(scarce)
    }

    /// Chains to be tried, the narrowest scale first: with words, wider ones too, up to `max` bits.
    fn chains(&self, max: u32, log_n: u32) -> impl Iterator<Item = Result<Chain, ParamsError>> + '_ {
        let last = if self.word.is_some() { max.min(self.scale_bits + WIDER) } else { self.scale_bits };
        (self.scale_bits..=last).map(move |scale_bits| self.chain(scale_bits, log_n))
    }

    /// Bits of each level: the base, then the scale for each rescale.
    fn levels(&self, scale_bits: u32) -> Vec<u32> {
        // One bit for the sign, and one to spare unless it is the one that crosses the bound of the fast kernels.
        let tight = scale_bits + self.integer_bits + 1;
        let base = if tight == FAST_BITS { tight } else { tight + 1 }.max(20);
        std::iter::once(base).chain(std::iter::repeat_n(scale_bits, self.depth as usize)).collect()
    }

    /// Sizes of the ciphertext primes: the base as one or two primes, then one prime a rescale; with words, as many as each takes.
    fn chain(&self, scale_bits: u32, log_n: u32) -> Result<Chain, ParamsError> {
        let mut q = self.levels(scale_bits);
        if let Some(word) = self.word {
            // The base may be wider than it has to be.
            q[0] = q[0].max(Modulus::MIN_BITS * q[0].div_ceil(word));
            let sizes = sizes(&q, word, log_n)?;
            return Ok(Chain { levels: sizes.iter().map(Vec::len).collect(), q: sizes.concat(), scale_bits });
        }
        // A base wider than the widest prime: two primes that are never rescaled away.
        if q[0] > Modulus::MAX_BITS {
            q.splice(..1, [q[0].div_ceil(2), q[0] / 2]);
        }
        Ok(Chain { q, levels: Vec::new(), scale_bits })
    }

    fn build(&self, log_n: u32, chain: &Chain, shape: &Shape) -> Result<Params, ParamsError> {
        let literal = ParamsLiteral {
            secret: self.secret,
            scale_bits: chain.scale_bits,
            levels: chain.levels.clone(),
            ..ParamsLiteral::from_bits(log_n, &chain.q, &shape.p, shape.dnum)
        };
        match self.word {
            Some(word) => {
                let params = Params::within(word, &literal)?;
                params.check_drift(params.max_level())?;
                Ok(params)
            }
            None => Params::new(&literal),
        }
    }

    fn explain(&self, params: &Params, chain: &Chain, limit: u32, shape: &Shape) -> String {
        let widest = chain.q.iter().chain(&shape.p).max().copied().unwrap_or(0);
        let width = if let Some(word) = self.word {
            let (base, rest) = (chain.levels[0], chain.levels[1..].iter().max().copied());
            let primes = |count| if count == 1 { "one prime".into() } else { format!("{count} primes") };
            let levels = match rest.unwrap_or(base) {
                count if count == base => primes(count),
                count => format!("{}, and level 0 {}", primes(count), primes(base)),
            };
            let wider = if chain.scale_bits == self.scale_bits {
                String::new()
            } else {
                format!(
                    "; the scale is wider than 2^{}, since narrower primes are too few at this degree",
                    self.scale_bits
                )
            };
            format!("no prime is wider than {word} bits, so a level has {levels}{wider}")
        } else if widest <= FAST_BITS {
            "all primes are below 2^50, where the CPU's kernels are fastest".to_owned()
        } else if chain.scale_bits > FAST_BITS {
            format!("primes exceed 2^50 because a scale of 2^{} needs them", chain.scale_bits)
        } else {
            format!(
                "the rescaling primes are below 2^50, where the CPU's kernels are fastest; the widest has {widest} \
                 bits, to hold {} integer bits beside the scale",
                self.integer_bits
            )
        };
        let slots = if self.slots > 1 { format!("{} slots and ", self.slots) } else { String::new() };
        format!(
            "N = 2^{} is the least degree with {slots}log PQ = {} ≤ {limit} ({} bits, {}); depth {} at \
             scale 2^{}; dnum {} with {} special primes has the cheapest key switch that fits ({} transforms); {width}",
            params.log_n(),
            params.security().modulus.beside(limit),
            self.security,
            TABLE,
            self.depth,
            chain.scale_bits,
            shape.dnum,
            shape.p.len(),
            shape.transforms,
        )
    }
}

impl Secret {
    fn column_is_missing(self, category: u32) -> bool {
        TABLE.limit(MAX_LOG_N, self, category).is_none()
    }
}

/// Shapes of the key switch, those of fewest transforms first.
///
/// One bit above the largest digit: sizes are nominal, the primes a little beside them. Those without that bit come last, for
/// rings where nothing else fits.
fn shapes(q: &[u32], word: Option<(u32, &Chain)>) -> Vec<Shape> {
    let shape = |dnum: usize, spare: u32| {
        let alpha = q.len().div_ceil(dnum);
        let digit = q.chunks(alpha).map(|d| d.iter().sum::<u32>()).max()? + spare;
        let p = match word {
            Some((word, chain)) => special_within(digit, word, alpha, chain),
            None => special(digit, q, spare),
        };
        let transforms = (dnum + 2) * (q.len() + p.len());
        (q.len().div_ceil(alpha) == dnum).then_some(Shape { dnum, p, transforms })
    };
    let mut all = Vec::new();
    for spare in [1, 0] {
        let mut some: Vec<Shape> = (1..=q.len()).filter_map(|dnum| shape(dnum, spare)).collect();
        some.sort_by_key(|s| (s.transforms, s.dnum));
        all.extend(some);
    }
    all
}

/// Special primes of at least `digit` bits in all, as few as primes below 2^50 allow (or the widest of the chain). They have 30 bits or
/// more, where a digit has a bit to spare: hardware converts from several primes modulo one above 2^29.8.
fn special(digit: u32, q: &[u32], spare: u32) -> Vec<u32> {
    let widest = q.iter().max().copied().unwrap_or(0).clamp(FAST_BITS, 60);
    // Prefer primes that stay below 2^50, unless that costs another prime.
    let (fast, wide) = (digit.div_ceil(FAST_BITS), digit.div_ceil(widest));
    let count = if q.iter().all(|&b| b <= FAST_BITS) { fast } else { wide }.max(1);
    let (each, wider) = (digit / count, digit % count);
    let least = if spare > 0 { 30 } else { 20 };
    (0..count).map(|i| (each + u32::from(i < wider)).max(least)).collect()
}

/// The same of primes within a word, as few as it allows. The first holds the sums of conversions on hardware where the word does: n
/// primes are converted by way of a sum up to n·2^28, modulo some prime of the program.
fn special_within(digit: u32, word: u32, alpha: usize, chain: &Chain) -> Vec<u32> {
    let mut p = split(digit, word);
    let sources = alpha.max(p.len() + chain.levels.last().copied().unwrap_or(1));
    let sums = ((sources as f64).log2() + 28.2).ceil() as u32;
    p[0] = p[0].max(sums.min(word));
    p
}
