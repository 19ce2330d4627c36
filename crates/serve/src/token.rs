//! Tokens: who calls, and what they may do.
//!
//! A token is 256 random bits. What is kept is its BLAKE3, keyed with a key of the server that stands in a file beside the database:
//! who reads the database alone can neither use tokens nor test guesses.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use crate::error::ServeError;

const PREFIX: &str = "rms_";

/// The file of the key, in the folder of a service.
pub(crate) const KEY: &str = "token.key";

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// To store and delete objects.
    Upload,
    /// To start and cancel jobs.
    Run,
    /// To fetch objects and see jobs.
    Read,
    /// To make and revoke tokens of the tenant, and to see metrics.
    Admin,
}

impl Scope {
    pub(crate) const ALL: [Self; 4] = [Self::Upload, Self::Run, Self::Read, Self::Admin];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Run => "run",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) tenant: i64,
    /// Name of the token, which is no secret.
    pub(crate) token: String,
    pub(crate) scopes: Vec<Scope>,
}

impl Caller {
    pub(crate) fn need(&self, scope: Scope) -> Result<(), ServeError> {
        match self.scopes.contains(&scope) {
            true => Ok(()),
            false => Err(ServeError::Scope { scope: scope.name() }),
        }
    }
}

/// The key under which hashes of tokens are kept.
#[derive(Clone)]
pub(crate) struct TokenKey([u8; 32]);

impl TokenKey {
    /// The key of a folder; made on first use.
    pub(crate) fn open(dir: &Path) -> Result<Self, ServeError> {
        let path = dir.join(KEY);
        match fs::read(&path) {
            Ok(bytes) => {
                let short =
                    |_| ServeError::Start("token.key has not 32 bytes; restore it from a backup".into());
                Ok(Self(bytes.try_into().map_err(short)?))
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let key = random()?;
                let mut options = fs::OpenOptions::new();
                let file = options.write(true).create_new(true).mode(0o600).open(&path);
                let written = file.and_then(|mut f| f.write_all(&key).and_then(|()| f.sync_all()));
                written.map_err(ServeError::io("writing token.key"))?;
                Ok(Self(key))
            }
            Err(e) => Err(ServeError::io("reading token.key")(e)),
        }
    }

    /// What shows whether two keys are the same, and nothing else of them.
    pub(crate) fn check(&self) -> String {
        blake3::keyed_hash(&self.0, b"ringmill token.key").to_hex().to_string()
    }

    /// The seed of the key that signs receipts: the same at every node, and lost with this key.
    pub(crate) fn signing_seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(blake3::derive_key("Ringmill service 2026-11-27 Ed25519 key of receipts", &self.0))
    }

    /// What is kept of a token.
    pub(crate) fn hash(&self, token: &str) -> [u8; 32] {
        *blake3::keyed_hash(&self.0, token.as_bytes()).as_bytes()
    }
}

fn random() -> Result<[u8; 32], ServeError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| ServeError::Worker { why: format!("no random bytes: {e}") })?;
    Ok(bytes)
}

/// A new token.
pub(crate) fn generate() -> Result<String, ServeError> {
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random()?)))
}
