//! Sealed files against an independent reading of their form, and what is refused of one that was changed.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use super::*;

fn key() -> Key {
    Key::from([7; 32])
}

fn opened(path: &Path) -> File {
    File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

fn bytes(size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    bytes
}

/// Written at once; gives the hash.
fn sealed(path: &Path, plain: &[u8]) -> String {
    let mut sealer = Sealer::begin(opened(path), [3; 32], &key()).unwrap();
    sealer.write_all(plain).unwrap();
    sealer.finish().unwrap();
    let hash = blake3::hash(plain).to_hex().to_string();
    sealer.name(&hash, plain.len() as u64).unwrap();
    hash
}

fn read(path: &Path, hash: Option<&str>) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    Unsealed::open(File::open(path)?, &key(), hash)?.read_to_end(&mut plain)?;
    Ok(plain)
}

const SIZES: [usize; 8] = [0, 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 12_345];

#[test]
fn what_is_sealed_is_read_and_its_length_says_no_more_than_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    for size in SIZES {
        let plain = bytes(size);
        let hash = sealed(&path, &plain);
        assert_eq!(read(&path, Some(&hash)).unwrap(), plain);
        let found = path.metadata().unwrap().len();
        assert_eq!(found, sealed_size(size as u64));
        assert_eq!(found, 112 + size as u64 + 40 * (size.div_ceil(65_536).max(1) as u64));
        if size >= 100 {
            assert!(!fs::read(&path).unwrap().windows(16).any(|window| window == &plain[..16]));
        }
    }
}

/// The form, taken apart by what the module says of it and by no code of it but the derivation of keys.
#[test]
fn the_form_is_the_one_that_is_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let plain = bytes(CHUNK + 10);
    let hash = sealed(&path, &plain);
    let file = fs::read(&path).unwrap();
    assert_eq!(&file[..8], b"RMSEAL\0\x01");
    assert_eq!(file[8..40], [3; 32]);
    assert_eq!(file[40..72], blake3::Hash::from_hex(&hash).unwrap().as_bytes()[..]);
    assert_eq!(file[72..80], (CHUNK as u64 + 10).to_le_bytes());
    let derived = |purpose: &[u8]| *blake3::keyed_hash(&[7; 32], purpose).as_bytes();
    assert_eq!(file[80..112], blake3::keyed_hash(&derived(b"header\0"), &file[..80]).as_bytes()[..]);
    let cipher = XChaCha20Poly1305::new(&derived(b"chunks\0").into());
    let (first, second) = file[112..].split_at(65_536 + 40);
    for (chunk, about, expected) in [
        (first, [0, 0, 0, 0, 0, 0, 0, 0, 0], &plain[..CHUNK]),
        (second, [1, 0, 0, 0, 0, 0, 0, 0, 1], &plain[CHUNK..]),
    ] {
        let nonce = XNonce::try_from(&chunk[..24]).unwrap();
        let opened = cipher.decrypt(&nonce, Payload { msg: &chunk[24..], aad: &about }).unwrap();
        assert_eq!(opened, expected);
    }
}

#[test]
fn pieces_between_which_the_process_ends_make_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let plain = bytes(3 * CHUNK + 77);
    let cuts = [0, 5, 5, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 9, 3 * CHUNK, plain.len()];
    drop(Sealer::begin(opened(&path), [9; 32], &key()).unwrap());
    for cut in cuts.windows(2) {
        let mut sealer = Sealer::resume(opened(&path), &key()).unwrap();
        assert_eq!(sealer.size(), cut[0] as u64);
        assert_eq!(sealer.head(12).unwrap(), plain[..cut[0].min(12)]);
        // More is written than stays.
        sealer.write_all(&plain[cut[0]..]).unwrap();
        sealer.keep().unwrap();
        sealer.cut(cut[1] as u64).unwrap();
        assert_eq!(sealer.size(), cut[1] as u64);
    }
    // Nothing says yet that it is complete.
    assert!(read(&path, None).is_err());
    let sealer = Sealer::resume(opened(&path), &key()).unwrap();
    sealer.finish().unwrap();
    assert_eq!(read(&path, None).unwrap(), plain);
    // It was, and the process ended: it still goes on.
    assert_eq!(Sealer::resume(opened(&path), &key()).unwrap().size(), plain.len() as u64);
    assert_eq!(path.metadata().unwrap().len(), sealed_size(plain.len() as u64));
}

#[test]
fn a_chunk_that_was_half_written_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut sealer = Sealer::begin(opened(&path), [9; 32], &key()).unwrap();
    sealer.write_all(&bytes(2 * CHUNK + 500)).unwrap();
    sealer.keep().unwrap();
    let whole = path.metadata().unwrap().len();
    for (size, left) in
        [(whole - 1, 2 * CHUNK), (whole - 520, 2 * CHUNK), (place(2) - 1, CHUNK), (HEADER as u64, 0)]
    {
        File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
        assert_eq!(Sealer::resume(opened(&path), &key()).unwrap().size(), left as u64, "{size}");
    }
}

#[test]
fn nothing_can_be_changed_moved_added_or_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let plain = bytes(2 * CHUNK + 50);
    let hash = sealed(&path, &plain);
    let right = fs::read(&path).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let error = read(&path, Some(&hash)).expect_err(what);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{what}");
    };
    let near = |at: usize| at < HEADER || (at - HEADER) % SEALED < 30 || at + 60 > right.len();
    for at in (0..right.len()).filter(|at| near(*at) || at % 4099 == 0) {
        let mut edited = right.clone();
        edited[at] ^= 4;
        // The letters in front are looked at before a key is chosen.
        refused(&edited, &format!("byte {at}"));
    }
    for end in [0, 50, HEADER, HEADER + 10, HEADER + SEALED, HEADER + 2 * SEALED, right.len() - 1] {
        refused(&right[..end], &format!("cut to {end}"));
        fs::write(&path, &right[..end]).unwrap();
        assert!(read(&path, None).is_err(), "cut to {end}, without a name");
    }
    let (header, body) = right.split_at(HEADER);
    let (first, rest) = body.split_at(SEALED);
    let (second, third) = rest.split_at(SEALED);
    refused(&[header, second, first, third].concat(), "chunks in another order");
    refused(&[header, first, first, third].concat(), "a chunk twice");
    refused(&[header, first, second, third, third].concat(), "a chunk more");
    refused(&[header, first, third].concat(), "a chunk less");
    refused(&[&right[..], b"x"].concat(), "a byte more");
    // Another file of the same key, whole and right, is not this object.
    let other = sealed(&path, b"other bytes");
    assert_eq!(read(&path, Some(&other)).unwrap(), b"other bytes");
    assert!(read(&path, Some(&hash)).is_err());
    assert!(Unsealed::open(File::open(&path).unwrap(), &Key::from([8; 32]), Some(&other)).is_err());
}

#[test]
fn keys_are_shown_to_workers_alone() {
    let key = Key::from([0xa5; 32]);
    assert_eq!(format!("{key:?}"), "Key");
    let told = serde_json::to_string(&key).unwrap();
    assert_eq!(told, format!("\"{}\"", "a5".repeat(32)));
    assert_eq!(serde_json::from_str::<Key>(&told).unwrap().bytes(), key.bytes());
    assert!(serde_json::from_str::<Key>("\"a5\"").is_err());
}
