//! What a driver refuses before it touches anything else.

use super::super::registers as reg;
use super::super::{CompactError, check_identity};

fn version(major: u32, minor: u32) -> u32 {
    reg::VERSION_MAJOR.put(major) | reg::VERSION_MINOR.put(minor)
}

#[test]
fn a_core_as_new_as_the_driver_or_newer_is_taken() {
    let (major, minor) =
        (reg::VERSION_MAJOR.get(reg::VERSION_VALUE), reg::VERSION_MINOR.get(reg::VERSION_VALUE));
    assert_eq!(check_identity(reg::ID_VALUE, reg::VERSION_VALUE), Ok(()));
    assert_eq!(check_identity(reg::ID_VALUE, version(major, minor + 1)), Ok(()));
}

#[test]
fn a_core_without_the_instructions_of_the_driver_is_refused_by_both_versions() {
    let (needed_major, needed_minor) = (1, reg::VERSION_MINOR.get(reg::VERSION_VALUE));
    assert!(needed_minor > 0, "1.0 has no ROOTS");
    for (major, minor) in [(1, 0), (1, needed_minor - 1), (0, needed_minor), (2, needed_minor)] {
        let error = check_identity(reg::ID_VALUE, version(major, minor)).unwrap_err();
        assert_eq!(error, CompactError::Version { major, minor, needed_major, needed_minor });
        let text = error.to_string();
        assert!(text.contains(&format!("version {major}.{minor} ")), "{text}");
        assert!(text.contains(&format!("needs {needed_major}.{needed_minor} ")), "{text}");
    }
}

#[test]
fn what_is_no_core_is_refused_by_its_name() {
    for id in [0, u32::MAX, reg::ID_VALUE ^ 1] {
        let error = check_identity(id, reg::VERSION_VALUE).unwrap_err();
        assert_eq!(error, CompactError::NotACore { id, expected: reg::ID_VALUE });
    }
}
