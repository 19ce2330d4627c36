//! Files on disk: atomic writes, whole-file reads.

use std::fs::File;
use std::io::{ErrorKind, Read};
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

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Old {
    /// The new one takes its place.
    Replaced,
    /// It stays, and the new one is refused; of two that are written at once, one is.
    Kept,
}

/// Writes to a temporary file beside `path` and moves it there when it is complete and on disk.
///
/// Unbuffered: objects are written in pieces of a limb, and no buffer keeps a secret.
pub(super) fn save<E: From<FileError>>(
    path: &Path,
    privacy: Privacy,
    old: Old,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
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
    let moved = match old {
        Old::Replaced => file.persist(path),
        Old::Kept => file.persist_noclobber(path),
    };
    match moved {
        Ok(_) => Ok(()),
        Err(e) if old == Old::Kept && e.error.kind() == ErrorKind::AlreadyExists => {
            Err(FileError::Exists { path: path.to_owned() }.into())
        }
        Err(e) => Err(FileError::io(action())(e.error).into()),
    }
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
