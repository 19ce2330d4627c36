//! Parameters by need: from what a computation wants to the smallest ring that gives it.

use ringmill_ring::Modulus;

use super::{MAX_LOG_N, MAX_PRIMES, MIN_LOG_N, Params, ParamsError, ParamsLiteral, Secret, SecurityTable};

/// Exact binary64 kernels need primes below 2^50; the fastest on CPUs without IFMA and as fast as any with it.
const FAST_BITS: u32 = 50;

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
}

impl Default for Need {
    /// One multiplication of values up to 16 at 40 bits and 128 bits of security.
    fn default() -> Self {
        Self { depth: 1, scale_bits: 40, integer_bits: 4, slots: 1, security: 128, secret: Secret::Ternary }
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
        let (min, max) = (20, 59);
        if !(min..=max).contains(&self.scale_bits) {
            return Err(ParamsError::PrimeBits { bits: self.scale_bits, min, max });
        }
        if self.slots == 0 {
            return Err(unmet("0 slots hold nothing; ask for one or more".into()));
        }
        let bits = u64::from(self.scale_bits) + u64::from(self.integer_bits) + 2;
        if bits > u64::from(2 * Modulus::MAX_BITS) {
            return Err(unmet(format!(
                "values of {} integer bits at scale 2^{} need a base of {bits} bits, and two primes hold {}; lower \
                 integer_bits or the scale",
                self.integer_bits,
                self.scale_bits,
                2 * Modulus::MAX_BITS
            )));
        }
        if self.depth as usize + 3 > MAX_PRIMES {
            return Err(unmet(format!("depth {} needs more than {MAX_PRIMES} primes", self.depth)));
        }
        if self.secret.column_is_missing(self.security) {
            return Err(unmet(format!(
                "no table gives {} bits for {} secrets; ask for 128, 192 or 256 bits and ternary or Gaussian secrets",
                self.security, self.secret
            )));
        }
        let q = self.chain();
        for log_n in MIN_LOG_N..=MAX_LOG_N {
            let limit = SecurityTable::Guidelines2024.limit(log_n, self.secret, self.security);
            let Some(limit) = limit.filter(|_| (1 << log_n) / 2 >= self.slots) else { continue };
            if let Some(shape) = cheapest(&q, limit)
                && let Ok(params) = self.build(log_n, &q, &shape)
            {
                let rationale = self.explain(&params, &q, limit, &shape);
                return Ok(Choice { params, rationale });
            }
        }
        let bits: u32 = q.iter().sum();
        Err(unmet(format!(
            "{} slots, depth {} at scale 2^{} need a modulus of {bits} bits before special primes, and as many primes of \
             these widths as there are levels; lower the depth, change the scale, or bootstrap",
            self.slots, self.depth, self.scale_bits
        )))
    }

    /// Sizes of the ciphertext primes: the base as one or two primes, then one prime a rescale.
    fn chain(&self) -> Vec<u32> {
        // One bit for the sign, and one to spare unless it is the one that crosses the bound of the fast kernels.
        let tight = self.scale_bits + self.integer_bits + 1;
        let base = if tight == FAST_BITS { tight } else { tight + 1 }.max(20);
        let mut q = match base {
            b if b <= Modulus::MAX_BITS => vec![b],
            // A base wider than the widest prime: two primes that are never rescaled away.
            b => vec![b.div_ceil(2), b / 2],
        };
        q.extend(std::iter::repeat_n(self.scale_bits, self.depth as usize));
        q
    }

    fn build(&self, log_n: u32, q: &[u32], shape: &Shape) -> Result<Params, ParamsError> {
        let literal = ParamsLiteral {
            secret: self.secret,
            scale_bits: self.scale_bits,
            ..ParamsLiteral::from_bits(log_n, q, &shape.p, shape.dnum)
        };
        let params = Params::new(&literal)?;
        match params.security().category() {
            Some(c) if c >= self.security => Ok(params),
            _ => Err(ParamsError::Unmet { max_log_n: log_n, why: "security".into() }),
        }
    }

    fn explain(&self, params: &Params, q: &[u32], limit: u32, shape: &Shape) -> String {
        let widest = q.iter().chain(&shape.p).max().copied().unwrap_or(0);
        let width = if widest <= FAST_BITS {
            "all primes are below 2^50, where the CPU's kernels are fastest".to_owned()
        } else if self.scale_bits > FAST_BITS {
            format!("primes exceed 2^50 because a scale of 2^{} needs them", self.scale_bits)
        } else {
            format!(
                "the rescaling primes are below 2^50, where the CPU's kernels are fastest; the widest has {widest} \
                 bits, to hold {} integer bits beside the scale",
                self.integer_bits
            )
        };
        let slots = if self.slots > 1 { format!("{} slots and ", self.slots) } else { String::new() };
        format!(
            "N = 2^{} is the least degree with {slots}log PQ = {:.0} ≤ {limit} ({} bits, {}); depth {} at \
             scale 2^{}; dnum {} with {} special primes has the cheapest key switch that fits ({} transforms); {width}",
            params.log_n(),
            params.security().log_pq,
            self.security,
            SecurityTable::Guidelines2024,
            self.depth,
            self.scale_bits,
            shape.dnum,
            shape.p.len(),
            shape.transforms,
        )
    }
}

impl Secret {
    fn column_is_missing(self, category: u32) -> bool {
        SecurityTable::Guidelines2024.limit(MAX_LOG_N, self, category).is_none()
    }
}

/// The shape with the fewest transforms whose modulus fits in `limit` bits.
fn cheapest(q: &[u32], limit: u32) -> Option<Shape> {
    let log_q: u32 = q.iter().sum();
    let shapes = (1..=q.len()).filter_map(|dnum| {
        let alpha = q.len().div_ceil(dnum);
        // One bit above the largest digit: sizes are nominal, the primes a little beside them.
        let digit = q.chunks(alpha).map(|d| d.iter().sum::<u32>()).max()? + 1;
        let p = special(digit, q);
        let fits = q.len().div_ceil(alpha) == dnum && log_q + p.iter().sum::<u32>() <= limit;
        let transforms = (dnum + 2) * (q.len() + p.len());
        fits.then_some(Shape { dnum, p, transforms })
    });
    shapes.min_by_key(|s| (s.transforms, s.dnum))
}

/// Special primes of at least `digit` bits in all, as few as primes below 2^50 allow (or the widest of the chain).
fn special(digit: u32, q: &[u32]) -> Vec<u32> {
    let widest = q.iter().max().copied().unwrap_or(0).clamp(FAST_BITS, 60);
    // Prefer primes that stay below 2^50, unless that costs another prime.
    let (fast, wide) = (digit.div_ceil(FAST_BITS), digit.div_ceil(widest));
    let count = if q.iter().all(|&b| b <= FAST_BITS) { fast } else { wide }.max(1);
    let (each, wider) = (digit / count, digit % count);
    (0..count).map(|i| (each + u32::from(i < wider)).max(20)).collect()
}
