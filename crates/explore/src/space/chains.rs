//! Parameters of the space: every chain that can pass, resolved to primes and evaluated.
//!
//! What is not enumerated loses for sure. A base prime wider than its message and a guard bit only costs security. More
//! special primes than their sum needs at the word's width only cost transforms.

use std::collections::BTreeSet;

use rayon::prelude::*;
use ringmill_ckks::params::SecurityTable;
use ringmill_ckks::{Level, Params, Secret};
use ringmill_program::manage::steady;

use super::Space;
use super::pool::Pool;
use crate::design::{Parameters, PrimeClass, SecretKind};
use crate::kernel::Unfit;
use crate::{ExploreError, Kernel, Stop};

/// Least bits of a prime.
const LEAST_BITS: u32 = 20;
/// Quotients of base conversions are formed modulo the greatest prime, which must exceed sources·2^28.
const QUOTIENT_BITS: u32 = 31;
/// The sign and the guard bit of a message in its base.
const GUARD_BITS: u32 = 2;

/// A chain by sizes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Chain {
    class: PrimeClass,
    log_n: u32,
    secret: SecretKind,
    q: Vec<u32>,
    p: Vec<u32>,
    dnum: usize,
    scale_bits: u32,
}

/// What a limb program's structure depends on, and with it every cycle: nothing of the primes but which is greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// Which variant of the kernel.
    pub variant: usize,
    /// log2 N.
    pub log_n: u32,
    /// Ciphertext primes.
    pub limbs: usize,
    /// Special primes.
    pub special: usize,
    /// Primes a digit.
    pub alpha: usize,
    /// The greatest prime's place among q then p.
    pub greatest: usize,
}

impl Shape {
    /// As text, for files.
    pub fn key(&self) -> String {
        let Self { variant, log_n, limbs, special, alpha, greatest } = self;
        format!("v{variant} n{log_n} l{limbs} k{special} a{alpha} g{greatest}")
    }

    /// From what [`Self::key`] writes.
    pub fn from_key(key: &str) -> Option<Self> {
        let [variant, log_n, limbs, special, alpha, greatest] = super::numbers(key)?;
        Some(Self {
            variant: variant as usize,
            log_n,
            limbs: limbs as usize,
            special: special as usize,
            alpha: alpha as usize,
            greatest: greatest as usize,
        })
    }
}

/// Parameters under which the kernel runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The parameters.
    pub parameters: Parameters,
    /// Structure of the limb program.
    pub shape: Shape,
    /// Error of the worst slot.
    pub error: f64,
    /// Bits of security, interpolated.
    pub security_bits: f64,
    /// 128, 192, 256, or 0.
    pub security_level: u32,
    /// Bits of the widest prime.
    pub widest: u32,
    /// Bytes of evaluation keys, of inputs, of outputs, 8 a word.
    pub bytes: [u64; 3],
}

/// What was enumerated, and what became of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Enumerated {
    /// Parameters that run, in a fixed order.
    pub points: Vec<Point>,
    /// Chains looked at.
    pub chains: usize,
    /// Chains of a class without enough primes.
    pub no_primes: usize,
    /// Chains whose values could wrap around.
    pub no_headroom: usize,
    /// Chains refused for another reason.
    pub refused: usize,
}

/// Every set of parameters of the space with at least `security` bits by the table (0: any), of the classes of primes that its
/// machines serve, each with the bits of the widest.
///
/// # Errors
/// [`ExploreError::Stopped`].
pub fn enumerate(
    classes: &[(PrimeClass, u32)],
    kernels: &[Kernel],
    space: &Space,
    security: u32,
    table: SecurityTable,
    stop: &Stop,
) -> Result<Enumerated, ExploreError> {
    let pool = Pool::default();
    let mut all = Enumerated::default();
    for (variant, kernel) in kernels.iter().enumerate() {
        let chains: Vec<Chain> = chains(classes, kernel, space, security, table).into_iter().collect();
        all.chains += chains.len();
        let found: Result<Vec<Result<Point, Option<Unfit>>>, ExploreError> = chains
            .par_iter()
            .map(|chain| {
                stop.check()?;
                Ok(evaluate(kernel, variant, chain, &pool, table))
            })
            .collect();
        for result in found? {
            match result {
                Ok(point) if point.security_level >= security => all.points.push(point),
                Ok(_) => {}
                Err(None) => all.no_primes += 1,
                Err(Some(Unfit::Headroom)) => all.no_headroom += 1,
                Err(Some(_)) => all.refused += 1,
            }
        }
    }
    Ok(all)
}

fn chains(
    classes: &[(PrimeClass, u32)],
    kernel: &Kernel,
    space: &Space,
    security: u32,
    table: SecurityTable,
) -> BTreeSet<Chain> {
    let mut all = BTreeSet::new();
    let least = kernel.least_log_n();
    for &(class, word) in classes {
        for &log_n in space.log_n.iter().filter(|&&n| n >= least) {
            for &secret in &space.secrets {
                let limit = match security {
                    0 => u32::MAX,
                    bits => table.limit(log_n, Secret::from(secret), bits).unwrap_or(0),
                };
                let mut put = |chain| {
                    all.insert(chain);
                };
                Writer { kernel, space, class, word, log_n, secret, limit }.chains(&mut put);
            }
        }
    }
    all
}

struct Writer<'a> {
    kernel: &'a Kernel,
    space: &'a Space,
    class: PrimeClass,
    word: u32,
    log_n: u32,
    secret: SecretKind,
    /// Most bits of the whole modulus.
    limit: u32,
}

impl Writer<'_> {
    fn chains(&self, put: &mut impl FnMut(Chain)) {
        let fixed = self.fixed();
        let sizes = match self.class {
            PrimeClass::Sparse(_) | PrimeClass::PrfFiko(_) => vec![self.word - 1],
            PrimeClass::Ntt15(bits) => self.space.level_bits.iter().copied().filter(|&b| b == bits).collect(),
            _ => self.space.level_bits.clone(),
        };
        let depth = self.kernel.depth();
        for level in sizes.into_iter().filter(|&b| b <= self.word) {
            for &offset in self.space.scale_offsets.iter().filter(|&&o| depth <= 1 || o == 0) {
                let scale = level as i32 + offset;
                let last = if depth == 1 { level as i32 + 2 * offset } else { scale };
                if scale < 1 || last < 1 {
                    continue;
                }
                let base = last as u32 + self.kernel.integer_bits() + GUARD_BITS;
                let mut q = self.split(base, fixed);
                q.extend(std::iter::repeat_n(level, depth as usize));
                self.digits(&q, scale as u32, put);
            }
        }
    }

    /// The size of base primes and special primes of a class that has them at one size.
    fn fixed(&self) -> Option<u32> {
        match self.class {
            PrimeClass::Sparse(_) | PrimeClass::PrfFiko(_) => Some(self.word - 1),
            PrimeClass::Ntt15(_) => Some(self.word),
            _ => None,
        }
    }

    /// Splits `bits` into as few primes of nearly one size as possible.
    fn split(&self, bits: u32, fixed: Option<u32>) -> Vec<u32> {
        let count = bits.div_ceil(fixed.unwrap_or(self.word)).max(1);
        let (each, wider) = (bits / count, bits % count);
        let size = |i| fixed.unwrap_or((each + u32::from(i < wider)).max(LEAST_BITS));
        (0..count).map(size).collect()
    }

    fn digits(&self, q: &[u32], scale_bits: u32, put: &mut impl FnMut(Chain)) {
        let fixed = self.fixed();
        let log_q: u32 = q.iter().sum();
        let widest = q.iter().copied().max().unwrap_or(LEAST_BITS);
        let chain = |p: Vec<u32>, dnum| Chain {
            class: self.class,
            log_n: self.log_n,
            secret: self.secret,
            q: q.to_vec(),
            p,
            dnum,
            scale_bits,
        };
        let fits = |p: &[u32]| log_q + p.iter().sum::<u32>() <= self.limit.saturating_add(1);
        if self.kernel.keys().is_empty() {
            // No key switch reads them, but keys are made modulo PQ all the same.
            if fits(&[widest]) {
                put(chain(vec![widest], q.len()));
            }
            return;
        }
        for alpha in 1..=q.len() {
            let dnum = q.len().div_ceil(alpha);
            if q.len().div_ceil(dnum) != alpha {
                continue;
            }
            let digit = q.chunks(alpha).map(|d| d.iter().sum::<u32>()).max().unwrap_or(0);
            for &extra in &self.space.special_extra {
                // Equal sizes cover each other: the greatest primes of a size are the special ones.
                let wanted = if fixed.is_some() { digit } else { digit + extra };
                let mut p = self.split(wanted, fixed);
                if fixed.is_none() && q.iter().chain(&p).all(|&b| b < QUOTIENT_BITS) {
                    p[0] = QUOTIENT_BITS;
                }
                if fits(&p) {
                    put(chain(p, dnum));
                }
            }
        }
    }
}

fn evaluate(
    kernel: &Kernel,
    variant: usize,
    chain: &Chain,
    pool: &Pool,
    table: SecurityTable,
) -> Result<Point, Option<Unfit>> {
    let (q, p) = pool.chain(chain.class, chain.log_n, &chain.q, &chain.p).ok_or(None)?;
    let mut parameters = Parameters {
        log_n: chain.log_n,
        q,
        p,
        class: chain.class,
        dnum: chain.dnum,
        secret: chain.secret,
        scale_bits: chain.scale_bits,
        levels: Vec::new(),
    };
    let refused = |_| Some(Unfit::Scale);
    let mut params = Params::new(&parameters.literal()).map_err(refused)?;
    if kernel.depth() > 1 {
        let floor = Level::new(params.max_level().get() - kernel.depth());
        params = steady(&params, floor).map_err(refused)?;
        parameters.q = params.q_moduli().iter().map(|m| m.value()).collect();
    }
    let instance = kernel.instantiate(&params).map_err(Some)?;
    let assessment = table.assess(chain.log_n, chain.secret.into(), params.security().modulus);
    let all: Vec<u64> = params.key_moduli().map(|m| m.value()).collect();
    let greatest = (0..all.len()).max_by_key(|&i| all[i]).unwrap_or(0);
    Ok(Point {
        shape: Shape {
            variant,
            log_n: chain.log_n,
            limbs: parameters.q.len(),
            special: parameters.p.len(),
            alpha: params.alpha(),
            greatest,
        },
        error: instance.error,
        security_bits: assessment.map_or(0.0, |a| a.bits),
        security_level: assessment.and_then(|a| a.category).unwrap_or(0),
        widest: all.iter().map(|q| 64 - q.leading_zeros()).max().unwrap_or(0),
        bytes: instance.bytes(),
        parameters,
    })
}
