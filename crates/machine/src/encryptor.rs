//! The simulated encryption engine, in a shared library with the C interface of `rtl/encryptor/sim/rm_encryptor.h`.
//!
//! It is no machine of limb programs: it draws its samples itself, from the seeds of one object. `ringmill::Encryptor` gives it
//! keys, plaintexts and ciphertexts.

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use libloading::Library;
use ringmill_errors::StructuredError;
use ringmill_ring::Modulus;
use ringmill_ring::sample::{SecretSeed, Seed};
use zeroize::{Zeroize, Zeroizing};

/// The limbs of a polynomial, one after the other; wiped when dropped.
pub type Words = Zeroizing<Vec<u64>>;

/// The version of the C interface.
const ABI: u32 = 2;
/// Bytes of a message of the library.
const MESSAGE: usize = 256;

/// Why the engine does not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum EncryptorError {
    #[error("the simulated encryption engine: {reason}")]
    EncryptorLibrary { reason: String },
    #[error("the encryption engine is built for {built}, but {asked} is asked for; build one for it")]
    EncryptorBuild { built: String, asked: String },
    #[error(
        "prime {prime} does not fit a word of {bits} bits of the encryption engine; take parameters with primes of {bits} bits"
    )]
    EncryptorPrime { prime: u64, bits: u32 },
    #[error("{what} has {found} words, but the encryption engine takes {expected}")]
    EncryptorLength { what: &'static str, found: usize, expected: usize },
    #[error("the encryption engine stopped: {reason}")]
    EncryptorStopped { reason: String },
}

/// What an engine is built for.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Built {
    abi: u32,
    /// Limbs of a ciphertext.
    pub limbs: u32,
    /// Bits of limb 0, and of the extra prime.
    pub word: u32,
    /// Bits of the other limbs.
    pub word_rest: u32,
    /// log2 N.
    pub log_n: u32,
    /// 1 with the division by an extra prime, else 0.
    pub extra: u32,
    /// 1 with what SEAL draws, else 0.
    pub seal: u32,
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extra = if self.extra == 1 { "an extra prime" } else { "no extra prime" };
        let seal = if self.seal == 1 { ", for SEAL" } else { "" };
        write!(f, "N = 2^{}, {} limbs and {extra}{seal}", self.log_n, self.limbs)
    }
}

/// What the engine does, by the numbers of `rm_enc_pkg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// Encryption under the public key.
    Public = 0,
    /// Encryption under the secret key, c₀ alone.
    Symmetric = 1,
    /// Decryption.
    Decrypt = 3,
    /// Encryption under the public key, divided by the extra prime.
    Divided = 4,
    /// The same, of what SEAL draws from its seed.
    Seal = 5,
}

impl Mode {
    /// Polynomials of its result.
    pub fn parts(self) -> usize {
        match self {
            Self::Public | Self::Divided | Self::Seal => 2,
            Self::Symmetric | Self::Decrypt => 1,
        }
    }

    /// Whether it divides by an extra prime.
    pub fn divides(self) -> bool {
        matches!(self, Self::Divided | Self::Seal)
    }
}

/// What a job draws from.
#[derive(Clone, Copy)]
pub enum Seeds<'a> {
    /// Samples, and expansions.
    Own(&'a SecretSeed, &'a Seed),
    /// SEAL's generator, for [`Mode::Seal`].
    Seal(&'a [u8; 64]),
}

/// A job. Polynomials are their limbs, one after the other.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// What to do.
    pub mode: Mode,
    /// The primes of the limbs, and the extra one of an engine that has it.
    pub primes: &'a [Modulus],
    /// What is drawn from; `None` for a decryption.
    pub seeds: Option<Seeds<'a>>,
    /// The coefficients of a ternary secret key, for modes that need it.
    pub secret: Option<&'a [i8]>,
    /// Coefficients of the message.
    pub message: Option<&'a [u64]>,
    /// Values of b and a, [`Mode::Divided`] with a limb modulo the extra prime; of c₁ and c₀ in a decryption.
    pub keys: Option<[&'a [u64]; 2]>,
}

#[repr(C)]
struct Raw {
    mode: u32,
    secret_seed: [u32; 16],
    public_seed: [u32; 8],
    q: *const u64,
    psi: *const u64,
    secret: *const i8,
    message: *const u64,
    key: [*const u64; 2],
    part: [*mut u64; 2],
    cycles: u64,
}

struct Functions {
    run: unsafe extern "C" fn(*mut Raw, *mut c_char, usize) -> c_int,
    built: Built,
    _library: Library,
}

/// A library of one engine.
#[derive(Clone)]
pub struct EncryptorLibrary {
    functions: Arc<Functions>,
}

impl fmt::Debug for EncryptorLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncryptorLibrary").field(&self.functions.built).finish()
    }
}

impl EncryptorLibrary {
    /// Loads a library made by `ringmill.encryptor` in Python.
    ///
    /// # Errors
    /// [`EncryptorError::EncryptorLibrary`] for a file that is not one.
    pub fn load(path: &Path) -> Result<Self, EncryptorError> {
        let refused = |e: libloading::Error| EncryptorError::EncryptorLibrary { reason: e.to_string() };
        // SAFETY: loading runs the constructors of a library that our own build made from rtl/encryptor; it has none that touch
        // this process. A caller who names another file asks for that file's code to be run.
        let library = unsafe { Library::new(path) }.map_err(refused)?;
        let mut built = Built::default();
        // SAFETY: the signatures are those of rm_encryptor.h, whose version is checked below; `built` is its struct.
        let run = unsafe {
            let describe: unsafe extern "C" fn(*mut Built) =
                *library.get(b"rm_encryptor_parameters_of\0").map_err(refused)?;
            describe(&mut built);
            *library.get(b"rm_encryptor_run\0").map_err(refused)?
        };
        if built.abi != ABI {
            let reason = format!("its interface has version {}, this driver speaks {ABI}", built.abi);
            return Err(EncryptorError::EncryptorLibrary { reason });
        }
        Ok(Self { functions: Arc::new(Functions { run, built, _library: library }) })
    }

    /// What it is built for.
    pub fn built(&self) -> Built {
        self.functions.built
    }

    /// Runs a job from power-on; the parts of its result, and the cycles from the job to their last words.
    ///
    /// # Errors
    /// [`EncryptorError::EncryptorPrime`], [`EncryptorError::EncryptorLength`]; [`EncryptorError::EncryptorBuild`] for other
    /// numbers of primes; [`EncryptorError::EncryptorStopped`] if the engine refuses what it is given.
    pub fn run(&self, job: &Job<'_>) -> Result<(Vec<Words>, u64), EncryptorError> {
        let built = self.built();
        let (n, limbs) = (1usize << built.log_n, built.limbs as usize);
        let primes = limbs + built.extra as usize;
        if job.primes.len() != primes
            || (job.mode.divides() && built.extra == 0)
            || (job.mode == Mode::Seal && built.seal == 0)
        {
            let of = if job.mode == Mode::Seal { " for SEAL" } else { "" };
            let asked = format!("a job with {} primes{of}", job.primes.len());
            return Err(EncryptorError::EncryptorBuild { built: built.to_string(), asked });
        }
        for (i, q) in job.primes.iter().enumerate() {
            let bits = if i == 0 || i == limbs { built.word } else { built.word_rest };
            if q.value() >> bits != 0 {
                return Err(EncryptorError::EncryptorPrime { prime: q.value(), bits });
            }
        }
        let keyed = n * (limbs + usize::from(job.mode.divides()));
        let takes_message = job.mode != Mode::Decrypt;
        length(
            "the message",
            job.message.map_or(0, <[u64]>::len),
            if takes_message { n * limbs } else { 0 },
        )?;
        let takes_secret = matches!(job.mode, Mode::Symmetric | Mode::Decrypt);
        length("the secret key", job.secret.map_or(0, <[i8]>::len), if takes_secret { n } else { 0 })?;
        let takes_keys = job.mode != Mode::Symmetric;
        for key in job.keys.map_or([&[][..]; 2], |keys| keys) {
            length("a key", key.len(), if takes_keys { keyed } else { 0 })?;
        }
        let q: Vec<u64> = job.primes.iter().map(|q| q.value()).collect();
        let psi: Result<Vec<u64>, _> = job.primes.iter().map(|q| q.psi(built.log_n)).collect();
        let psi = psi.map_err(|e| EncryptorError::EncryptorStopped { reason: e.to_string() })?;
        let mut parts: Vec<Words> = (0..job.mode.parts()).map(|_| vec![0; n * limbs].into()).collect();
        let mut raw = Raw {
            mode: job.mode as u32,
            secret_seed: [0; 16],
            public_seed: [0; 8],
            q: q.as_ptr(),
            psi: psi.as_ptr(),
            secret: job.secret.map_or(ptr::null(), <[i8]>::as_ptr),
            message: job.message.map_or(ptr::null(), <[u64]>::as_ptr),
            key: job.keys.map_or([ptr::null(); 2], |keys| keys.map(<[u64]>::as_ptr)),
            part: [ptr::null_mut(); 2],
            cycles: 0,
        };
        match job.seeds {
            Some(Seeds::Own(secret, public)) => {
                words(secret.expose(), &mut raw.secret_seed);
                words(public.as_bytes(), &mut raw.public_seed);
            }
            Some(Seeds::Seal(seed)) => words(seed, &mut raw.secret_seed),
            None => {}
        }
        for (to, part) in raw.part.iter_mut().zip(&mut parts) {
            *to = part.as_mut_ptr();
        }
        let mut message = [0 as c_char; MESSAGE];
        // SAFETY: every pointer is null where the mode reads nothing, else of the length that rm_encryptor.h states, as checked
        // above; all outlive the call, which keeps none of them.
        let code = unsafe { (self.functions.run)(&mut raw, message.as_mut_ptr(), MESSAGE) };
        raw.secret_seed.zeroize();
        if code != 0 {
            // SAFETY: the library ends its message within the buffer.
            let reason = unsafe { CStr::from_ptr(message.as_ptr()) }.to_string_lossy().into_owned();
            return Err(EncryptorError::EncryptorStopped { reason });
        }
        Ok((parts, raw.cycles))
    }
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), EncryptorError> {
    if found == expected { Ok(()) } else { Err(EncryptorError::EncryptorLength { what, found, expected }) }
}

fn words(bytes: &[u8], out: &mut [u32]) {
    for (word, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
}
