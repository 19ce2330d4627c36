//! The numbers of a crypto context.

use super::OpenFheError;
use super::archive::{Archive, Result};

/// How scales are kept from level to level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// FIXEDMANUAL: the caller rescales.
    FixedManual,
    /// FIXEDAUTO.
    FixedAuto,
    /// FLEXIBLEAUTO.
    FlexibleAuto,
    /// FLEXIBLEAUTOEXT: one more prime than levels.
    FlexibleAutoExt,
}

impl Scaling {
    pub(super) fn of(settings: &Settings) -> Result<Self> {
        Ok(match settings.scaling {
            0 => Self::FixedManual,
            1 => Self::FixedAuto,
            2 => Self::FlexibleAuto,
            3 => Self::FlexibleAutoExt,
            found => {
                let why = format!(
                    "scaling technique {found} is not read; FIXEDMANUAL (0) to FLEXIBLEAUTOEXT (3) are"
                );
                return Err(OpenFheError::Unsupported { why });
            }
        })
    }
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident : $kind:ident = $field:literal, $default:expr;)*) => {
        /// The numbers of a crypto context, by OpenFHE's own names; what is not known is kept as it was.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings { $($(#[$doc])* pub $name: $kind,)* }

        impl Default for Settings {
            fn default() -> Self { Self { $($name: $default,)* } }
        }

        impl Settings {
            /// The fields that stand in one row.
            pub(super) fn field<A: Archive>(&mut self, a: &mut A, name: &'static str) -> Result<()> {
                match name {
                    $($field => a.$kind($field, &mut self.$name),)*
                    _ => Ok(()),
                }
            }
        }
    };
}

settings! {
    /// Bits of a fixed scale; the plaintext modulus of other schemes.
    scale_bits: u64 = "m", 40;
    /// Generator of encodings; 0 in CKKS.
    generator: u32 = "g", 0;
    /// Slots.
    batch_size: u32 = "bs", 0;
    /// Standard deviation of errors.
    sigma: f32 = "dp", 3.19;
    /// Assurance measure.
    assurance: f32 = "am", 36.0;
    /// Scale of errors: 1 in CKKS.
    noise_scale: u64 = "ns", 1;
    /// Bits of digits of key switching BV.
    digit_size: u32 = "rw", 0;
    /// Estimate of noise.
    noise_estimate: f64 = "nest", 0.0;
    /// Multiplicative depth.
    depth: u32 = "muld", 1;
    /// Additions that are provided for.
    additions: u32 = "addc", 0;
    /// Key switches that are provided for.
    key_switches: u32 = "kswc", 0;
    /// Hops of proxy re-encryption.
    hops: u32 = "phops", 0;
    /// Greatest power of s in ciphertexts.
    max_relin_degree: u32 = "md", 2;
    /// Distribution of secrets: 0 Gaussian, 1 ternary, 2 sparse ternary.
    secret: u32 = "mo", 1;
    /// Mode of proxy re-encryption.
    pre_mode: u32 = "pmo", 0;
    /// Mode of multiparty computation.
    multiparty: u32 = "mmo", 1;
    /// Mode of execution.
    execution: u32 = "exm", 0;
    /// Mode of decryption noise.
    decryption: u32 = "dnm", 0;
    /// Level of security, by OpenFHE's numbers.
    security: u32 = "slv", 0;
    /// Flooding distribution parameter.
    flooding: f64 = "fdp", 0.0;
    /// Statistical security.
    statistical: f64 = "ss", 30.0;
    /// Queries of adversaries.
    queries: f64 = "aq", 1.0;
    /// Thresholds of parties.
    parties: u32 = "tp", 1;
    /// Key switching: 1 BV, 2 HYBRID.
    key_switching: u32 = "ks", 2;
    /// Scaling technique, see [`Scaling`].
    scaling: u32 = "rs", 0;
    /// Encryption technique.
    encryption: u32 = "encs", 0;
    /// Multiplication technique.
    multiplication: u32 = "muls", 1;
    /// Digits of key switching HYBRID.
    digits: u32 = "dnum", 1;
    /// Bits of special primes.
    special_bits: u32 = "ab", 60;
    /// Bits of extra levels.
    extra_bits: u32 = "eb", 0;
    /// Type of compression.
    compression: u32 = "ccl", 3;
    /// Composite degree: primes a level.
    composite: u32 = "cd", 1;
    /// Word of registers.
    register: u32 = "rws", 64;
    /// Type of ciphertexts.
    data_type: u32 = "cdt", 0;
    /// Features that are enabled.
    features: u32 = "enabled", 11;
    /// Number of the scheme.
    scheme: u32 = "si", 1;
}
