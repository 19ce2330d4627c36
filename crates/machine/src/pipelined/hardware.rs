//! The engine as hardware for a kernel's parameters: what its top module is built with, and constants that its host writes.

use ringmill_ring::Modulus;

use super::entry::{built, for_set};
use super::pool::Set;
use super::{Build, LOG_N_MIN};
use crate::MachineError;
use crate::compact::table::aux;
use crate::spec::MachineSpec;

/// A kernel's parameters.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Whose they are, for messages.
    pub kernel: &'a str,
    /// log2 N.
    pub log_n: u32,
    /// Primes of the limbs, then the special ones.
    pub moduli: &'a [Modulus],
    /// Limbs, special primes, limbs a digit.
    pub set: Set,
}

/// A build of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// The machine, with every size that it is built for.
    pub machine: MachineSpec,
    /// The module.
    pub top: &'static str,
    /// Its parameters; of a pool the depth of its table is missing, which the longest timetable says.
    pub parameters: Vec<(&'static str, u32)>,
    /// Cycles of a product.
    pub multiplier: u64,
    /// R: a product comes out times 2^-R.
    pub factor_bits: u32,
    /// What the multiplier takes beside each prime.
    pub aux: Vec<u64>,
}

/// The engine of a machine for parameters. What the machine's options leave out is what these need.
///
/// # Errors
/// Options that exclude each other; parameters that the engine does not serve, with the option that is too small.
pub fn hardware(spec: &MachineSpec, wanted: Wanted<'_>) -> Result<Hardware, MachineError> {
    let Wanted { kernel, log_n, moduli, set } = wanted;
    let bits = moduli.iter().map(|q| u64::BITS - q.value().leading_zeros()).max().unwrap_or(0);
    let machine = for_set(spec, log_n, set, bits)?;
    let built = built(&machine)?;
    let refused =
        |reason| MachineError::Unsupported { machine: super::NAME.into(), program: kernel.into(), reason };
    built.check_degree(log_n).map_err(refused)?;
    built.fits(set).map_err(refused)?;
    moduli.iter().try_for_each(|&q| built.products.check_modulus(q)).map_err(|e| refused(e.to_string()))?;
    let mut parameters =
        vec![("W", built.products.word_bits()), ("Kind", built.products.multiplier().code())];
    let top = match built.build {
        Build::Streams { limbs, log_p } => {
            if set.special != 1 || set.alpha != 1 || set.limbs > limbs {
                return Err(refused(format!(
                    "the chain serves one special prime, a digit a limb and up to {limbs} limbs, and the parameters have {} \
                     special primes, {} limbs a digit and {} limbs; give {}",
                    set.special,
                    set.alpha,
                    set.limbs,
                    if set.limbs > limbs { format!("limbs={}", set.limbs) } else { "build=pool".into() }
                )));
            }
            parameters.extend([("Limbs", limbs), ("LogP", log_p)]);
            "rm_pipelined_key_switch"
        }
        Build::Pool { most, digits, units, feeds } => {
            parameters.extend([
                ("Limbs", most.limbs),
                ("Special", most.special),
                ("Alpha", most.alpha),
                ("Digits", digits),
                ("Units", units),
                ("Feeds", feeds),
                ("Sums", most.sums()),
            ]);
            "rm_pool_key_switch"
        }
    };
    parameters.extend([("LogNMax", built.log_n_max), ("LogNMin", LOG_N_MIN)]);
    Ok(Hardware {
        machine,
        top,
        parameters,
        multiplier: built.multiplier(),
        factor_bits: built.products.factor_bits(),
        aux: moduli.iter().map(|q| aux(&built.products, q.value())).collect(),
    })
}

#[cfg(test)]
mod tests;
