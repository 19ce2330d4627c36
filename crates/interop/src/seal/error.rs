//! What can be wrong with a file of SEAL: what is wrong and what would be right.

use super::ParmsId;
use ringmill_errors::StructuredError;

/// Why a file of SEAL was not read or written.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum SealError {
    /// The system refuses.
    #[error("{action} failed: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system says.
        #[field(display)]
        source: std::io::Error,
    },
    /// No object where one must be.
    #[error(
        "at byte {at} there is no header of SEAL: it begins with 5e a1 10, and these bytes are {found:02x?}; files of SEAL 3 \
         and of other libraries are not read"
    )]
    Magic {
        /// Position in the payload.
        at: u64,
        /// The bytes.
        found: [u8; 16],
    },
    /// A version whose layout is not known.
    #[error("the file is of SEAL {major}.{minor}; versions 4.0 to 4.4 are read: save it with one of these")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// A compression that does not exist.
    #[error(
        "compression {found} does not exist; SEAL has 0 (none), 1 (zlib) and 2 (zstd): the file is damaged"
    )]
    Compression {
        /// The number found.
        found: u8,
    },
    /// Compression within an object.
    #[error("the object at byte {at} is compressed within another one; SEAL compresses the outermost alone")]
    InnerCompression {
        /// Position in the payload.
        at: u64,
    },
    /// A size below that of a header.
    #[error(
        "the object at byte {at} announces {found} bytes, less than its header of 16: the file is damaged"
    )]
    Size {
        /// Position in the payload.
        at: u64,
        /// Size announced.
        found: u64,
    },
    /// An object whose size is not what its contents need.
    #[error(
        "the {what} announces {found} bytes and needs {expected}: it is damaged, of another kind, or of other parameters"
    )]
    Length {
        /// What is read.
        what: &'static str,
        /// Bytes announced, without the header.
        found: u64,
        /// Bytes needed.
        expected: u64,
    },
    /// The file ends early.
    #[error(
        "the file ends in the middle of the {what}; it was cut short, or holds an object of another kind"
    )]
    Truncated {
        /// What is read.
        what: &'static str,
    },
    /// The file goes on.
    #[error("{more} bytes follow the {what}; a file holds one object")]
    Trailing {
        /// What was read.
        what: &'static str,
        /// Bytes that are left.
        more: u64,
    },
    /// A compressed payload that does not decompress.
    #[error("the compressed {what} does not decompress: {why}")]
    Decompress {
        /// What is read.
        what: &'static str,
        /// What the decompressor says.
        why: String,
    },
    /// Another scheme.
    #[error("the parameters are of scheme {found} ({name}); CKKS (2) is what is read here")]
    Scheme {
        /// The number found.
        found: u8,
        /// Its name.
        name: &'static str,
    },
    /// An invalid degree.
    #[error("the degree is {found}; SEAL has powers of two from 2 to 131072")]
    Degree {
        /// The degree found.
        found: u64,
    },
    /// An invalid number of moduli.
    #[error("there are {found} moduli; SEAL has 1 to 64")]
    ModulusCount {
        /// The number found.
        found: u64,
    },
    /// An invalid modulus.
    #[error("modulus {index} is {found}; a modulus of CKKS has 2 to 60 bits and occurs once")]
    Modulus {
        /// Which one.
        index: usize,
        /// Its value.
        found: u64,
    },
    /// A plain modulus in CKKS.
    #[error("the plain modulus is {found}; it is 0 in CKKS: these are parameters of BFV or BGV")]
    PlainModulus {
        /// Its value.
        found: u64,
    },
    /// Parameters of another context.
    #[error(
        "the {what} belongs to other parameters: parms_id {found} is that of no level of these (key level {key}); read it \
         with the parameters that it was made with"
    )]
    OtherParameters {
        /// What is read.
        what: &'static str,
        /// Identity in the file.
        #[field(display)]
        found: ParmsId,
        /// Identity of the key level.
        #[field(display)]
        key: ParmsId,
    },
    /// A level at which such an object cannot stand.
    #[error("the {what} stands at a level of {found} primes; {rule}")]
    Level {
        /// What is read.
        what: &'static str,
        /// Primes of its level.
        found: usize,
        /// Where it may stand.
        rule: &'static str,
    },
    /// A number that does not fit the others.
    #[error("the {what} says {field} {found}, where {expected} is right")]
    Field {
        /// What is read.
        what: &'static str,
        /// Which number.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What it must be.
        expected: String,
    },
    /// An invalid scale.
    #[error("the {what} has scale {found}; a scale is a positive finite number")]
    Scale {
        /// What is read.
        what: &'static str,
        /// Its value.
        found: f64,
    },
    /// A scale that has no exact form.
    #[error(
        "the {what} has scale {found}, which is no power of two and no quotient of one by primes of the chain; say what it is \
         exactly with scale=\"2^80*1099511480321^-1\" or the like"
    )]
    InexactScale {
        /// What is converted.
        what: &'static str,
        /// Its value.
        found: f64,
    },
    /// Coefficients where values are wanted.
    #[error("the {what} is not in NTT form, as objects of BFV are; those of CKKS are in NTT form")]
    NotNtt {
        /// What is read.
        what: &'static str,
    },
    /// A residue that is no residue.
    #[error(
        "the {what} has the word {value} in limb {limb}, where residues are below {modulus}: it is damaged"
    )]
    NotCanonical {
        /// What is read.
        what: &'static str,
        /// Limb.
        limb: usize,
        /// The word.
        value: u64,
        /// The modulus.
        modulus: u64,
    },
    /// A generator that does not exist.
    #[error("the seed is of generator {found}; SEAL has 1 (BLAKE2xb) and 2 (SHAKE256)")]
    Prng {
        /// The number found.
        found: u8,
    },
    /// A seed of another size.
    #[error("the seed has {found} bytes; generators of SEAL take 64: eight words of 64 bits, little-endian")]
    Seed {
        /// Its bytes.
        found: usize,
    },
    /// A secret that is not ternary.
    #[error("the secret key is damaged: {why}")]
    Secret {
        /// What is wrong.
        why: &'static str,
    },
    /// A choice that does not exist.
    #[error("{what} {given:?} is not known; there are {known}")]
    UnknownChoice {
        /// What is chosen.
        what: &'static str,
        /// What was given.
        given: String,
        /// What there is.
        known: &'static str,
    },
    /// A rule of our own types that the object breaks.
    #[error("the {what} cannot be taken over: {source}")]
    Content {
        /// What is converted.
        what: &'static str,
        /// The rule.
        #[field(display)]
        source: ringmill_ckks::CkksError,
    },
    /// Parameters that ours cannot be.
    #[error("these parameters cannot be taken over: {source}")]
    Parameters {
        /// The rule.
        #[field(display)]
        source: ringmill_ckks::ParamsError,
    },
    /// Ours that SEAL's cannot be.
    #[error("SEAL has no such thing: {why}")]
    NotInSeal {
        /// What stands in the way, and what to do.
        why: String,
    },
}
