//! The descriptions that come with the program, and files.

use std::path::Path;

use super::table::{hint, shown};
use crate::error::DescriptionError;

/// Names and texts.
pub(super) const ALL: [(&str, &str); 7] = [
    ("taiyi", include_str!("../../machines/taiyi.toml")),
    ("taiyi-serial", include_str!("../../machines/taiyi-serial.toml")),
    ("taiyi-60", include_str!("../../machines/taiyi-60.toml")),
    ("taiyi-small", include_str!("../../machines/taiyi-small.toml")),
    ("sharp", include_str!("../../machines/sharp.toml")),
    ("ark", include_str!("../../machines/ark.toml")),
    ("craterlake", include_str!("../../machines/craterlake.toml")),
];

/// Bytes of the longest description: no machine needs more, and a slip in a path does not fill memory.
const LONGEST: u64 = 1 << 20;

/// The text of a name.
pub(super) fn text(name: &str) -> Result<&'static str, DescriptionError> {
    let names = || ALL.iter().map(|(name, _)| *name);
    let found = ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| DescriptionError::Unknown {
        name: shown(name).into(),
        hint: hint(name, names()).into(),
        known: names().collect::<Vec<_>>().join(", ").into(),
    })
}

/// The text of a file.
pub(super) fn file(path: &Path, shown: &str) -> Result<String, DescriptionError> {
    let unreadable = |why: String| DescriptionError::Unreadable { file: shown.into(), why: why.into() };
    let facts = std::fs::metadata(path).map_err(|e| unreadable(e.to_string()))?;
    if !facts.is_file() || facts.len() > LONGEST {
        return Err(unreadable(format!("it is no file of at most {LONGEST} bytes")));
    }
    std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))
}
