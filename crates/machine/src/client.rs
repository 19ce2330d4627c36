//! Programs with secret and sampled inputs: which machines take them, and where the samples come from.
//!
//! A machine of a server never sees a secret key, so it refuses such a program by the name of the input. A machine of a client
//! says so: [`Machine::is_client`]. Samples are drawn from two seeds of one run: small polynomials one after the other, in the
//! order of their inputs, from the secret seed; uniform limbs from the public one. The order and the samplers are those of
//! `ckks`, so that the same seeds give the same ciphertext.

use std::fmt;

use ringmill_program::limb::{Distribution, InputClass, LimbProgram};
use ringmill_ring::sample::{SecretRng, SecretSeed, Seed, small_to_residues, uniform};
use zeroize::Zeroizing;

use crate::parameter::{Allowed, Parameter, Preset};
use crate::registry::Setting;
use crate::spec::MachineSpec;
use crate::{Bindings, Machine, MachineError};

/// The role of a machine that can have either.
pub static ROLE: Parameter = Parameter {
    name: "role",
    field: "role",
    rtl: None,
    allowed: Allowed::Names(&[SERVER, CLIENT]),
    default: Some(Preset::Name(SERVER)),
    unit: "",
    about: "a client takes secret and sampled inputs too: encryption, decryption, keys",
};

const SERVER: &str = "server";
const CLIENT: &str = "client";

/// The role as an option.
pub(crate) const SETTING: Setting = Setting::default(&ROLE);

/// Whether a machine is asked for as one of a client.
pub(crate) fn asked(spec: &MachineSpec) -> bool {
    spec.text(ROLE.name) == Some(CLIENT)
}

/// Refuses a program with secret or sampled inputs on a machine that is not a client's.
///
/// # Errors
/// [`MachineError::ClientOnly`], naming the first such input.
pub fn check<M: Machine + ?Sized>(machine: &M, program: &LimbProgram) -> Result<(), MachineError> {
    match program.client_input() {
        Some(group) if !machine.is_client() => Err(MachineError::ClientOnly {
            machine: machine.name().to_owned(),
            program: program.name().to_owned(),
            input: group.name.clone(),
            class: group.class.name(),
        }),
        _ => Ok(()),
    }
}

/// What the samples of one run are drawn from. No two runs may have the same: two encryptions from one seed reveal the
/// difference of their messages.
#[derive(Debug, Clone, Copy)]
pub struct SampleSeeds<'s> {
    /// Of the small polynomials.
    pub secret: &'s SecretSeed,
    /// Of the uniform ones, which everyone may know.
    pub public: &'s Seed,
}

/// The limbs of a program's sampled inputs, drawn once; wiped when dropped.
pub struct Samples {
    /// The name and the limbs of each input.
    inputs: Vec<(String, Vec<Zeroizing<Vec<u64>>>)>,
}

impl Samples {
    /// Draws all of them.
    ///
    /// # Errors
    /// [`MachineError::Unsampled`] for a distribution that is not drawn here.
    pub fn draw(program: &LimbProgram, seeds: SampleSeeds<'_>) -> Result<Self, MachineError> {
        let mut rng = SecretRng::new(seeds.secret, 0);
        let mut inputs = Vec::new();
        for group in program.inputs() {
            let InputClass::Sampled(distribution) = group.class else { continue };
            let moduli = group.moduli.iter().map(|&m| program.modulus(m));
            let mut small = Zeroizing::new(vec![0i8; program.n()]);
            match distribution {
                Distribution::Ternary => rng.ternary(&mut small),
                Distribution::Gaussian => rng.gaussian(&mut small),
                Distribution::Uniform(_) => {}
                _ => {
                    let (input, distribution) = (group.name.clone(), distribution.name());
                    return Err(MachineError::Unsampled { input, distribution });
                }
            }
            let mut limbs = Vec::with_capacity(group.moduli.len());
            for (i, q) in (0..).zip(moduli) {
                let mut limb = Zeroizing::new(vec![0; program.n()]);
                match distribution {
                    Distribution::Uniform(of) => uniform(seeds.public, of.label(), i, q, &mut limb),
                    _ => small_to_residues(&small, q, &mut limb)?,
                }
                limbs.push(limb);
            }
            inputs.push((group.name.clone(), limbs));
        }
        Ok(Self { inputs })
    }

    /// Binds all of them.
    ///
    /// # Errors
    /// As [`Bindings::bind`], if the bindings are of another program.
    pub fn bind<'d>(&'d self, bindings: &mut Bindings<'_, 'd>) -> Result<(), MachineError> {
        for (name, limbs) in &self.inputs {
            bindings.bind(name, limbs)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.inputs.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Samples").field("inputs", &names).finish_non_exhaustive()
    }
}
