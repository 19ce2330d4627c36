//! Files on disk: atomic writes, whole-file reads.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::FileError;

/// Who may read a new file.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Privacy {
    /// As the system's mask says.
    Public,
    /// Its owner alone.
    Owner,
}

/// Writes to a temporary file beside `path` and moves it there when it is complete and on disk.
///
/// Unbuffered: objects are written in pieces of a limb, and no buffer keeps a secret.
pub(super) fn save(
    path: &Path,
    privacy: Privacy,
    write: impl FnOnce(&mut File) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let action = || format!("writing {}", path.display());
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ringmill-");
    #[cfg(unix)]
    if privacy == Privacy::Public {
        use std::os::unix::fs::PermissionsExt;
        // The mask applies; without this, temporary files are the owner's alone.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(FileError::io(action()))?;
    write(file.as_file_mut())?;
    file.as_file().sync_all().map_err(FileError::io(action()))?;
    file.persist(path).map_err(|e| FileError::io(action())(e.error))?;
    Ok(())
}

/// Reads one object from a file that holds nothing else.
pub(super) fn load<T>(
    path: &Path,
    read: impl FnOnce(&mut File) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let action = || format!("reading {}", path.display());
    let mut file = File::open(path).map_err(FileError::io(action()))?;
    let object = read(&mut file)?;
    match file.read(&mut [0]).map_err(FileError::io(action()))? {
        0 => Ok(object),
        _ => Err(FileError::Trailing),
    }
}
