//! The oracle is Python's `zipfile` and `json`: `tests/golden/bundle` was written by them, as was the directory of an archive of
//! 2.4 GB, too large to keep.

use super::archive::{Entry, directory};
use super::json::repr;
use super::{Bundle, BundleError, Json, MAX_ENTRIES, Reader};

const GOLDEN: &[u8] = include_bytes!("../../tests/golden/bundle");
const BEYOND: &[u8] = include_bytes!("../../tests/golden/directory-beyond-2-gb");

fn golden() -> Bundle {
    Bundle::read(GOLDEN, "arguments").unwrap()
}

#[test]
fn what_python_wrote_is_read_and_written_again() {
    let bundle = golden();
    assert_eq!(bundle.version, 2);
    let names: Vec<_> = bundle.parts.iter().map(|(name, data)| (&name[..], data.len())).collect();
    assert_eq!(names, [("x", 0), ("y.0", 768), ("größe", 3)]);
    assert_eq!(bundle.part("größe"), Some(&b"abc"[..]));
    assert_eq!(bundle.fact("kernel").and_then(Json::as_text), Some("größe \"x\"\n\u{1}\u{7f}😀"));
    assert_eq!(bundle.fact("below"), Some(&Json::Float(123456789012345.6)));
    assert_eq!(bundle.to_bytes().unwrap(), GOLDEN);
}

#[test]
fn no_byte_can_be_changed() {
    for at in 0..GOLDEN.len() {
        for mask in [1, 0x20, 0x80, 0xff] {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] ^= mask;
            assert!(Bundle::read(&bytes[..], "arguments").is_err(), "byte {at} ^ {mask:#x} was not noticed");
        }
    }
}

#[test]
fn no_byte_can_be_added_left_out_or_repeated() {
    for at in 0..GOLDEN.len() {
        let cut = Bundle::read(&GOLDEN[..at], "arguments").unwrap_err();
        assert!(matches!(cut, BundleError::Truncated { .. }), "cut at {at}: {cut}");
        let mut without = GOLDEN.to_vec();
        without.remove(at);
        // Of two equal bytes side by side either may go: the rest still lacks one.
        assert!(Bundle::read(&without[..], "arguments").is_err(), "byte {at} left out");
        let mut twice = GOLDEN.to_vec();
        twice.insert(at, GOLDEN[at]);
        assert!(Bundle::read(&twice[..], "arguments").is_err(), "byte {at} repeated");
    }
    let longer = [GOLDEN, b"\0"].concat();
    assert!(matches!(Bundle::read(&longer[..], "arguments"), Err(BundleError::Damaged { .. })));
}

#[test]
fn lengths_that_are_announced_cost_no_memory() {
    // A part of 2 GB is announced, ten bytes of it are there.
    let entry = Entry { name: "header.json".into(), crc: 0, size: 1 << 24, offset: 0 };
    let mut bytes = entry.local();
    bytes.extend([b' '; 10]);
    assert!(matches!(Reader::open(&bytes[..]), Err(BundleError::Truncated { part: "parts", .. })));
    let entry = Entry { size: (1 << 24) + 1, ..entry };
    assert!(matches!(Reader::open(&entry.local()[..]), Err(BundleError::Size { .. })));
}

#[test]
fn other_kinds_and_versions_are_named() {
    let kind = Bundle::read(GOLDEN, "kernel").unwrap_err();
    assert_eq!(
        kind.to_string(),
        "this bundle holds arguments, but kernel is wanted; check the order of the files"
    );
    let newer = Bundle { version: 3, ..golden() }.to_bytes().unwrap();
    assert!(matches!(Bundle::read(&newer[..], "arguments"), Err(BundleError::Version { .. })));
    assert!(matches!(Reader::open(&b"RINGMILL"[..]), Err(BundleError::NotABundle { .. })));
}

#[test]
fn what_would_not_be_read_is_not_written() {
    let parts = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), vec![1])).collect::<Vec<_>>();
    for names in [&["x", "x"][..], &["header.json"], &["a\0b"], &[&"n".repeat(5000)]] {
        let refused = Bundle { parts: parts(names), ..golden() }.to_bytes();
        assert!(matches!(refused, Err(BundleError::Name { .. })), "{names:?}");
    }
    let many = (0..MAX_ENTRIES).map(|k| (k.to_string(), Vec::new())).collect();
    assert!(matches!(Bundle { parts: many, ..golden() }.to_bytes(), Err(BundleError::Parts { .. })));
}

#[test]
fn a_header_that_repeats_or_moves_facts_is_refused() {
    for facts in [&["a", "a"][..], &["format"], &["parts"]] {
        let facts = facts.iter().map(|name| ((*name).to_owned(), Json::Null)).collect();
        let bytes = Bundle { facts, ..golden() }.to_bytes().unwrap();
        assert!(matches!(Bundle::read(&bytes[..], "arguments"), Err(BundleError::Damaged { .. })));
    }
}

#[test]
fn the_directory_of_a_large_archive_is_that_of_python() {
    let zeros = 335_235_439;
    let rows = [
        ("header.json", 2_989_088_500, 180, 0),
        ("a", zeros, 1_200_000_000, 221),
        ("b", zeros, 1_200_000_000, 1_200_000_252),
        ("c", 2_793_719_750, 10, 2_400_000_283),
    ];
    let entries = rows.map(|(name, crc, size, offset)| Entry { name: name.into(), crc, size, offset });
    assert_eq!(directory(&entries, 2_400_000_324), BEYOND);
}

#[test]
fn floats_are_written_as_python_writes_them() {
    // `repr` of CPython 3.11.
    let rows = [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e-4, "0.0001"),
        (9.999e-5, "9.999e-05"),
        (1e15, "1000000000000000.0"),
        (9999999999999998.0, "9999999999999998.0"),
        (1e16, "1e+16"),
        (1.5e22, "1.5e+22"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (123456.789, "123456.789"),
        (f64::INFINITY, "Infinity"),
    ];
    for (x, text) in rows {
        assert_eq!(repr(x), text);
    }
}
