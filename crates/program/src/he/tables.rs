//! Tables apart from the program that names them: their digests, and the file that holds them.
//!
//! A bootstrapping's text is 332 MB with its numbers and 114 KB with their digests.
//!
//! | bytes | meaning |
//! |---|---|
//! | `RMTABLE`, 1 | what it is, and its version |
//! | 8 | how many tables |
//! | each | digest, kind (0 real, 1 complex), 4 bytes for how many numbers, the numbers as IEEE 754 of 8 bytes |
//!
//! All in little endian. A complex number is its real part and its imaginary one. Digests ascend, so there is one form only. A digest
//! is BLAKE3 over the kind and the numbers as they stand in the file.
//!
//! Both ways are streams. A reader takes memory in proportion to what it has read, and compares every digest.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_errors::StructuredError;

use super::{Constant, MOST_SLOTS, Numbers, Op, Program};

const MAGIC: [u8; 8] = *b"RMTABLE\x01";

/// BLAKE3 of a table: the name by which a program asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // One form only.
        let hash = blake3::Hash::from_hex(text).map_err(|_| ())?;
        if *hash.to_hex() == *text { Ok(Self(*hash.as_bytes())) } else { Err(()) }
    }
}

/// Why a file of tables cannot be read or written.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum TablesError {
    #[error("{source}")]
    Io {
        #[field(display)]
        source: io::Error,
    },
    #[error("this is no file of tables; it begins with `RMTABLE` and the version")]
    Magic,
    #[error("this file of tables has version {version}, and this build reads version 1")]
    Version { version: u8 },
    #[error("the file of tables ends after {whole} whole tables of {count}; it was cut")]
    Cut { whole: u64, count: u64 },
    #[error(
        "table {digest} says that it has {found} numbers of kind {kind}; kinds are 0 and 1, numbers 1 to 65536"
    )]
    Shape { digest: String, kind: u8, found: u32 },
    #[error(
        "table {digest} has other numbers than its digest says, which is that of {found}; write the file anew"
    )]
    Digest { digest: String, found: String },
    #[error("number {index} of table {digest} is not finite")]
    NotFinite { digest: String, index: usize },
    #[error("table {digest} stands behind {before}; digests ascend")]
    Order { digest: String, before: String },
    #[error("there are bytes behind the last table")]
    Behind,
}

/// Tables by their digests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tables {
    numbers: BTreeMap<Digest, Arc<Numbers>>,
}

impl Tables {
    /// All vectors that a program holds, each once.
    pub fn of(program: &Program) -> Self {
        let mut tables = Self::default();
        for table in program.tables() {
            tables.insert(Arc::new(table.numbers.clone()));
        }
        for instr in program.instrs() {
            if let Op::Const(Constant::List(numbers)) = &instr.op {
                tables.insert(Arc::clone(numbers));
            }
        }
        tables
    }

    /// Adds a table.
    pub fn insert(&mut self, numbers: Arc<Numbers>) {
        self.numbers.insert(numbers.digest(), numbers);
    }

    /// The table of a digest.
    pub fn get(&self, digest: &Digest) -> Option<&Arc<Numbers>> {
        self.numbers.get(digest)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is no table.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// What the writer refuses.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&MAGIC)?;
        out.write_all(&(self.numbers.len() as u64).to_le_bytes())?;
        for (digest, numbers) in &self.numbers {
            out.write_all(&digest.0)?;
            out.write_all(&[numbers.kind()])?;
            out.write_all(&(numbers.len() as u32).to_le_bytes())?;
            out.write_all(&numbers.to_bytes())?;
        }
        out.flush()
    }

    /// Reads a file to its end.
    ///
    /// # Errors
    /// What is wrong, with the digest of the table.
    pub fn read(from: impl Read) -> Result<Self, TablesError> {
        let mut from = io::BufReader::new(from);
        let io = |source| TablesError::Io { source };
        let mut magic = [0; 8];
        match from.read_exact(&mut magic) {
            Err(source) if source.kind() != io::ErrorKind::UnexpectedEof => return Err(io(source)),
            Err(_) => return Err(TablesError::Magic),
            Ok(()) if magic[..7] != MAGIC[..7] => return Err(TablesError::Magic),
            Ok(()) if magic != MAGIC => return Err(TablesError::Version { version: magic[7] }),
            Ok(()) => {}
        }
        let (mut tables, mut count) = (Self::default(), 0);
        let mut take = |bytes: &mut [u8], whole, count| {
            from.read_exact(bytes).map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => TablesError::Cut { whole, count },
                _ => io(source),
            })
        };
        let mut head = [0; 8];
        take(&mut head, 0, count)?;
        count = u64::from_le_bytes(head);
        for whole in 0..count {
            let (mut digest, mut kind, mut found) = (Digest([0; 32]), [0], [0; 4]);
            take(&mut digest.0, whole, count)?;
            take(&mut kind, whole, count)?;
            take(&mut found, whole, count)?;
            let (kind, found) = (kind[0], u32::from_le_bytes(found));
            if kind > 1 || found == 0 || found as usize > MOST_SLOTS {
                return Err(TablesError::Shape { digest: digest.to_string(), kind, found });
            }
            if let Some((before, _)) =
                tables.numbers.last_key_value().filter(|(before, _)| **before >= digest)
            {
                return Err(TablesError::Order { digest: digest.to_string(), before: before.to_string() });
            }
            // A length alone takes 1 MiB at most.
            let mut bytes = vec![0; found as usize * 8 * (1 + usize::from(kind))];
            take(&mut bytes, whole, count)?;
            let numbers = Numbers::of_bytes(kind == 1, &bytes);
            let digest_found = numbers.digest();
            if digest_found != digest {
                let [digest, found] = [digest, digest_found].map(|digest| digest.to_string());
                return Err(TablesError::Digest { digest, found });
            }
            if let Some(index) = numbers.first_not_finite() {
                return Err(TablesError::NotFinite { digest: digest.to_string(), index });
            }
            tables.numbers.insert(digest, Arc::new(numbers));
        }
        match from.read(&mut [0]).map_err(io)? {
            0 => Ok(tables),
            _ => Err(TablesError::Behind),
        }
    }
}

impl Numbers {
    /// The name by which programs ask for these numbers.
    pub fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[self.kind()]);
        hasher.update(&self.to_bytes());
        Digest(*hasher.finalize().as_bytes())
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Real(_) => 0,
            Self::Complex(_) => 1,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Real(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::Complex(v) => v.iter().flat_map(|z| [z.re, z.im]).flat_map(f64::to_le_bytes).collect(),
        }
    }

    /// Of a whole number of reals, or of complex numbers.
    fn of_bytes(complex: bool, bytes: &[u8]) -> Self {
        let reals: Vec<f64> = bytes.as_chunks().0.iter().map(|&x| f64::from_le_bytes(x)).collect();
        if !complex {
            return Self::Real(reals);
        }
        Self::Complex(reals.as_chunks().0.iter().map(|&[re, im]| Complex64::new(re, im)).collect())
    }
}
