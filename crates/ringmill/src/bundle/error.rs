//! What can be wrong with a bundle.

/// Why a bundle was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message names its fields
pub enum BundleError {
    #[error("{action} failed: {source}")]
    Io { action: &'static str, source: std::io::Error },
    #[error("this is not a whole Ringmill bundle: it begins with {found:02x?} instead of 50 4b 03 04")]
    NotABundle { found: [u8; 4] },
    #[error(
        "the bundle ends after {got} bytes, in the middle of its {part}; it was cut short: transfer it again"
    )]
    Truncated { part: &'static str, got: u64 },
    #[error("this bundle holds {found}, but {expected} is wanted; check the order of the files")]
    Kind { found: String, expected: String },
    #[error("the bundle has version {found}, this Ringmill reads 1 to {newest}; create it again")]
    Version { found: String, newest: u16 },
    #[error("the bundle has {found} parts; at most {most} are read")]
    Parts { found: usize, most: usize },
    #[error("part {part:?} of the bundle has {found} bytes; at most {most} are read")]
    Size { part: String, found: u64, most: u64 },
    #[error("the bundle has a part named {part:.80?}, which is too long, repeated, or no name")]
    Name { part: String },
    #[error("part {part:?} of the bundle is damaged: its checksum is another one; transfer the file again")]
    Checksum { part: String },
    #[error("the bundle is damaged: {why}; transfer or create it again")]
    Damaged { why: &'static str },
    #[error("the header of the bundle cannot be read: {source}; transfer or create it again")]
    Header { source: serde_json::Error },
}

impl BundleError {
    pub(super) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// The name of the broken rule, stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "Io",
            Self::NotABundle { .. } => "NotABundle",
            Self::Truncated { .. } => "Truncated",
            Self::Kind { .. } => "WrongKind",
            Self::Version { .. } => "Version",
            Self::Parts { .. } | Self::Size { .. } => "TooLarge",
            Self::Name { .. } | Self::Checksum { .. } | Self::Damaged { .. } | Self::Header { .. } => {
                "Damaged"
            }
        }
    }
}
