//! What files say of their secret key, and what is read of versions that did not say it.

use super::tests::{All, all, files, params, repair, through};
use super::*;
use crate::keys::GaloisKeys;

/// Where the identity stands: after magic, version, kind and fingerprint.
const AT: usize = 8 + 2 + 2 + 32;

/// Whether files of the kind belong to a secret key.
fn has_owner(kind: Kind) -> bool {
    !matches!(kind, Kind::Params | Kind::Plaintext)
}

/// The version in which a kind is written.
fn newest(kind: Kind) -> u8 {
    match kind {
        Kind::Params => 2,
        Kind::Plaintext | Kind::Ciphertext | Kind::SeededCiphertext => 4,
        Kind::PublicKey => 7,
        _ => 3,
    }
}

/// A file of today as an older version wrote it.
fn of_version(version: u8, mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes[8] >= 3 && version < 3 {
        bytes.drain(AT..AT + 8);
    }
    bytes[8] = version;
    repair(&mut bytes);
    bytes
}

fn renamed(mut bytes: Vec<u8>, identity: [u8; 8]) -> Vec<u8> {
    bytes[AT..AT + 8].copy_from_slice(&identity);
    repair(&mut bytes);
    bytes
}

#[test]
fn every_file_of_a_secret_key_says_whose_it_is() {
    let a = all(&params());
    let identity = a.secret.identity().unwrap();
    for (kind, bytes) in files(&a) {
        let outcome = inspect(&bytes[..]).unwrap().identity;
        assert_eq!(outcome, has_owner(kind).then_some(identity), "{kind}");
        if has_owner(kind) {
            assert_eq!(bytes[AT..AT + 8], *identity.as_bytes(), "{kind}");
        }
    }
}

/// A name is what the file says: it is read, written again, and held to that of other keys.
#[test]
fn a_name_is_taken_as_it_stands() {
    let a = all(&params());
    for (kind, bytes) in files(&a).into_iter().filter(|(kind, _)| has_owner(*kind)) {
        for name in [[0xab; 8], [0; 8]] {
            let bytes = renamed(bytes.clone(), name);
            assert_eq!(through(kind, &a.params, &bytes).unwrap(), bytes, "{kind}");
            assert_eq!(inspect(&bytes[..]).unwrap().identity, KeyIdentity::from_bytes(name), "{kind}");
        }
    }
    let cipher = Ciphertext::from_bytes(&a.params, &a.cipher.to_bytes().unwrap()).unwrap();
    let read = |name| Ciphertext::from_bytes(&a.params, &renamed(cipher.to_bytes().unwrap(), name)).unwrap();
    let error = a.secret.decrypt(&read([0xab; 8])).unwrap_err();
    assert!(error.to_string().contains("under secret key abababababababab, and"), "{error}");
    assert_eq!(a.secret.decrypt(&read([0; 8])).unwrap(), a.secret.decrypt(&cipher).unwrap());
}

/// Nothing else changed in files of keys: what older versions wrote is today's object without a name. Ciphertexts of older
/// versions have another header: `tests/golden.rs` reads them.
#[test]
fn files_without_a_name_are_read_and_go_with_all() {
    let a = all(&params());
    let keys = |kind: &Kind| has_owner(*kind) && newest(*kind) == 3;
    let undivided = (Kind::PublicKey, a.public.undivided().to_bytes().unwrap());
    for (kind, bytes) in files(&a).into_iter().filter(|(kind, _)| keys(kind)).chain([undivided]) {
        let version = if matches!(kind, Kind::EvaluationKeys | Kind::KeyForm) { 2 } else { 1 };
        let old = of_version(version, bytes.clone());
        assert_eq!(old.len() + 8, bytes.len());
        let outcome = inspect(&old[..]).unwrap();
        assert_eq!((outcome.kind, outcome.version, outcome.identity), (kind, version.into(), None));
        assert_eq!(through(kind, &a.params, &old).unwrap(), renamed(bytes, [0; 8]), "{kind}");
    }
}

#[test]
fn keys_of_the_first_version_are_read_unless_they_turn() {
    let a: All = all(&params());
    let of = |wanted| files(&a).into_iter().find(|(kind, _)| *kind == wanted).unwrap().1;
    for kind in [Kind::EvaluationKeys, Kind::KeyForm] {
        let error = through(kind, &a.params, &of_version(1, of(kind))).unwrap_err().to_string();
        assert!(
            error.contains("has format version 1; since version 2") && error.contains("again"),
            "{error}"
        );
    }
    // The keys of bootstrapping and of products are what they were.
    let relin = a.evaluation.relin().unwrap().clone();
    let still = EvaluationKeys::new(Some(relin), GaloisKeys::new(&a.params)).unwrap();
    let still = still.with_encapsulation(a.evaluation.encapsulation().unwrap().clone()).unwrap();
    let bytes = still.to_bytes().unwrap();
    let read = EvaluationKeys::from_bytes(&a.params, &of_version(1, bytes.clone())).unwrap();
    assert_eq!(read.identity(), None);
    assert_eq!(read.to_bytes().unwrap(), renamed(bytes, [0; 8]));
}

#[test]
fn versions_newer_than_that_of_the_kind_are_refused() {
    let a = all(&params());
    for (kind, bytes) in files(&a) {
        let newest = newest(kind);
        let bytes = of_version(newest + 1, bytes);
        let newer = through(kind, &a.params, &bytes).unwrap_err();
        assert!(
            matches!(newer, FileError::Version { found, .. } if found == u16::from(newest) + 1),
            "{newer}"
        );
        let zero = through(kind, &a.params, &of_version(0, bytes)).unwrap_err();
        assert!(matches!(zero, FileError::Version { found: 0, newest: VERSION }), "{zero}");
    }
}
