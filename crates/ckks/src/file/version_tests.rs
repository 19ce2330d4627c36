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
        let told = inspect(&bytes[..]).unwrap().identity;
        assert_eq!(told, has_owner(kind).then_some(identity), "{kind}");
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
    let read =
        |name| Ciphertext::from_bytes(&a.params, &renamed(a.cipher.to_bytes().unwrap(), name)).unwrap();
    let error = a.secret.decrypt(&read([0xab; 8])).unwrap_err();
    assert!(error.to_string().contains("under secret key abababababababab, and"), "{error}");
    assert_eq!(a.secret.decrypt(&read([0; 8])).unwrap(), a.secret.decrypt(&a.cipher).unwrap());
}

/// Nothing else changed: what older versions wrote is today's object without a name.
#[test]
fn files_without_a_name_are_read_and_go_with_all() {
    let a = all(&params());
    for (kind, bytes) in files(&a).into_iter().filter(|(kind, _)| has_owner(*kind)) {
        let version = if matches!(kind, Kind::EvaluationKeys | Kind::KeyForm) { 2 } else { 1 };
        let old = of_version(version, bytes.clone());
        assert_eq!(old.len() + 8, bytes.len());
        let told = inspect(&old[..]).unwrap();
        assert_eq!((told.kind, told.version, told.identity), (kind, version.into(), None));
        assert_eq!(through(kind, &a.params, &old).unwrap(), renamed(bytes, [0; 8]), "{kind}");
    }
    let bytes = of_version(1, a.cipher.to_bytes().unwrap());
    let old = Ciphertext::from_bytes(&a.params, &bytes).unwrap();
    assert_eq!(a.secret.decrypt(&old).unwrap(), a.secret.decrypt(&a.cipher).unwrap());
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
        let newest = if has_owner(kind) { 3 } else { 1 };
        let bytes = of_version(newest + 1, bytes);
        let newer = through(kind, &a.params, &bytes).unwrap_err();
        assert!(
            matches!(newer, FileError::Version { found, .. } if found == u16::from(newest) + 1),
            "{newer}"
        );
        let zero = through(kind, &a.params, &of_version(0, bytes)).unwrap_err();
        assert!(matches!(zero, FileError::Version { found: 0, newest: 3 }), "{zero}");
    }
}
