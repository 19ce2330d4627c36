//! The costs of this computer: measured by `ringmill calibrate`, or shipped.

use std::path::{Path, PathBuf};

use ringmill_program::cost::CostTable;

use crate::MachineError;

/// Where `ringmill calibrate` writes and [`costs`] reads: the file that `RINGMILL_COSTS` names, else
/// `ringmill/costs.txt` in the user's cache; none if there is no home.
pub fn costs_path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = set("RINGMILL_COSTS") {
        return Some(path);
    }
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("ringmill").join("costs.txt"))
}

/// The costs of one core of this computer: measured ones where there are any.
///
/// # Errors
/// [`MachineError::Costs`] for a file that is there but cannot be read or is none; delete it or calibrate again.
pub fn costs() -> Result<CostTable, MachineError> {
    costs_path().filter(|path| path.exists()).map_or_else(|| Ok(CostTable::shipped()), |path| read(&path))
}

/// The costs of a file that `ringmill calibrate` wrote.
///
/// # Errors
/// [`MachineError::Costs`] for one that cannot be read or is none.
pub fn read(path: &Path) -> Result<CostTable, MachineError> {
    let wrong = |why: String| MachineError::Costs { path: path.display().to_string(), why };
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    CostTable::parse(&text).map_err(|e| wrong(e.to_string()))
}
