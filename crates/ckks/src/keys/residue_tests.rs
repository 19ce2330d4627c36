//! Keys from both halves, as other libraries have them: they compute like those with seeds, and have files of their own.

use ringmill_ring::Poly;

use crate::file::{FileError, Stored};
use crate::keys::{EvaluationKeys, GaloisKeys, KeyGenerator, KeyMemory, PublicKey, RelinKey};
use crate::testing::bare;
use crate::{Params, ParamsLiteral};

fn params() -> Params {
    Params::new(&ParamsLiteral::from_bits(10, &[40, 30, 30], &[45], 3).insecure()).unwrap()
}

#[test]
fn files_hold_both_halves_of_keys_without_seeds() {
    let params = params();
    let mut generator = KeyGenerator::new(&params).unwrap();
    let secret = generator.secret_key().unwrap();
    let seeded = generator.evaluation_keys(&secret, &[1, 3], true).unwrap();
    let relin = RelinKey(bare(&seeded.relin().unwrap().0));
    let mut galois = GaloisKeys::new(&params);
    for (element, key) in seeded.galois().iter() {
        galois.insert(element, bare(key)).unwrap();
    }
    let keys = EvaluationKeys::new(Some(relin.clone()), galois).unwrap();
    assert!(secret.made(&keys).unwrap());
    assert!(!keys.relin().unwrap().0.has_seed());
    // Nothing can be left out of memory.
    assert_eq!((keys.seeded(), keys.seeded().bytes()), (keys.clone(), keys.bytes()));
    assert!(seeded.seeded().bytes() < seeded.bytes());

    let (bytes, half) = (keys.to_bytes().unwrap(), seeded.to_bytes().unwrap());
    let front = half.len() - 4 * 3 * packed(&params);
    assert_eq!(bytes.len(), front + 2 * 4 * 3 * packed(&params));
    let again = EvaluationKeys::from_bytes(&params, &bytes).unwrap();
    assert_eq!((&again, again.to_bytes().unwrap()), (&keys, bytes.clone()));
    let single = relin.to_bytes().unwrap();
    assert_eq!(RelinKey::from_bytes(&params, &single).unwrap(), relin);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evaluation.keys");
    keys.save(&path).unwrap();
    for memory in [KeyMemory::Expanded, KeyMemory::Seeded, KeyMemory::Mapped] {
        assert_eq!(EvaluationKeys::load_in(&params, &path, memory).unwrap(), keys);
    }
    // The version between has no files of keys.
    for version in [4, 6] {
        let mut other = bytes.clone();
        other[8] = version;
        let refused = EvaluationKeys::from_bytes(&params, &other).unwrap_err();
        assert!(matches!(refused, FileError::Version { found, newest: 5 } if found == u16::from(version)));
    }
    // A file with halves is none of seeds, and the other way.
    for (mut other, version) in [(bytes, 3), (half, 5)] {
        other[8] = version;
        let refused = EvaluationKeys::from_bytes(&params, &other).unwrap_err();
        assert!(matches!(refused, FileError::PayloadLength { .. }), "{refused}");
    }
}

/// Bytes of one polynomial of a key.
fn packed(params: &Params) -> usize {
    params.key_moduli().map(|q| params.n() * q.bits() as usize / 8).sum()
}

#[test]
fn a_public_key_without_a_seed_encrypts_and_has_a_file() {
    let params = params();
    let mut generator = KeyGenerator::new(&params).unwrap();
    let secret = generator.secret_key().unwrap();
    let [b, a] = generator.public_key_over_key_primes(&secret).unwrap();
    assert_eq!((b.limb_count(), a.limb_count()), (4, 4));
    for limbs in [3, 4] {
        let first = |poly: &Poly| {
            let mut poly = poly.clone();
            poly.truncate(limbs);
            poly
        };
        let key = PublicKey::from_residues(&params, first(&b), first(&a), secret.identity()).unwrap();
        assert_eq!(key.divides(), limbs == 4);
        assert!(secret.made_public(&key).unwrap());
        let bytes = key.to_bytes().unwrap();
        let again = PublicKey::from_bytes(&params, &bytes).unwrap();
        assert_eq!((again.to_bytes().unwrap(), again), (bytes, key));
    }
}
