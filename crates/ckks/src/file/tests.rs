use num_bigint::BigInt;
use proptest::prelude::*;
use ringmill_ring::{Domain, GaloisElement, Poly};

use super::*;
use crate::ciphertext::Meta;
use crate::keys::{GaloisKeys, KeyGenerator, KeyLayout, SecretKey};
use crate::params::{Level, NamedSet, ParamsLiteral, PrimeSpec};
use crate::scale::Scale;
use crate::testing::{coefficients, message, plaintext, randomness};

pub(super) fn params() -> Params {
    Params::new(&ParamsLiteral::from_bits(10, &[30, 24], &[31], 2).insecure()).unwrap()
}

fn other_params() -> Params {
    Params::new(&ParamsLiteral::from_bits(10, &[30, 25], &[31], 2).insecure()).unwrap()
}

/// Every kind of object of one context, drawn from a fixed seed.
pub(super) struct All {
    pub(super) params: Params,
    pub(super) secret: SecretKey,
    pub(super) public: PublicKey,
    relin: RelinKey,
    pub(super) evaluation: EvaluationKeys,
    plain: Plaintext,
    pub(super) cipher: Ciphertext,
    seeded: SeededCiphertext,
    /// A key with a form beside its base one.
    more: RelinKey,
}

impl All {
    fn form(&self) -> &KeyForm {
        self.more.0.forms().nth(1).unwrap()
    }
}

pub(super) fn all(params: &Params) -> All {
    let mut g = KeyGenerator::with_randomness(params, randomness(21));
    let secret = g.secret_key().unwrap();
    let public = g.public_key(&secret).unwrap();
    let encapsulation = g.encapsulation_key(&secret).unwrap();
    let evaluation = g.evaluation_keys(&secret, &[1, -1], true).unwrap();
    let evaluation = evaluation.with_encapsulation(encapsulation).unwrap();
    let scale = Scale::pow2(44).div(&Scale::modulus(params.q_moduli()[1]));
    let plain = plaintext(params, &message(params.n(), 20, 1), Level::new(1), scale);
    let mut r = randomness(22);
    let (cipher, seeded) =
        (public.encrypt(&plain, &mut r).unwrap(), secret.encrypt_seeded(&plain, &mut r).unwrap());
    let relin = evaluation.relin().unwrap().clone();
    let (mut more, layout) = (relin.clone(), KeyLayout { limbs: 1, special: 2, alpha: 1 });
    g.extend_relin_key(&secret, &mut more, layout).unwrap();
    All { params: params.clone(), secret, public, relin, evaluation, plain, cipher, seeded, more }
}

/// One file of every kind.
pub(super) fn files(a: &All) -> Vec<(Kind, Vec<u8>)> {
    let (mut params, mut secret) = (Vec::new(), Vec::new());
    write_params(&a.params, &mut params).unwrap();
    write_secret_key(&a.secret, &mut secret).unwrap();
    vec![
        (Kind::Params, params),
        (Kind::SecretKey, secret),
        (Kind::PublicKey, a.public.to_bytes().unwrap()),
        (Kind::RelinKey, a.relin.to_bytes().unwrap()),
        (Kind::EvaluationKeys, a.evaluation.to_bytes().unwrap()),
        (Kind::Plaintext, a.plain.to_bytes().unwrap()),
        (Kind::Ciphertext, a.cipher.to_bytes().unwrap()),
        (Kind::SeededCiphertext, a.seeded.to_bytes().unwrap()),
        (Kind::KeyForm, a.form().to_bytes().unwrap()),
    ]
}

/// Reads bytes as `kind` and writes again what they hold.
pub(super) fn through(kind: Kind, params: &Params, bytes: &[u8]) -> Result<Vec<u8>, FileError> {
    fn object<T: Stored>(params: &Params, bytes: &[u8]) -> Result<Vec<u8>, FileError> {
        T::from_bytes(params, bytes)?.to_bytes()
    }
    let mut out = Vec::new();
    match kind {
        Kind::Params => write_params(&params_from_bytes(bytes)?, &mut out)?,
        Kind::SecretKey => write_secret_key(&secret_key_from_bytes(params, bytes)?, &mut out)?,
        Kind::PublicKey => out = object::<PublicKey>(params, bytes)?,
        Kind::RelinKey => out = object::<RelinKey>(params, bytes)?,
        Kind::EvaluationKeys => out = object::<EvaluationKeys>(params, bytes)?,
        Kind::Plaintext => out = object::<Plaintext>(params, bytes)?,
        Kind::Ciphertext => out = object::<Ciphertext>(params, bytes)?,
        Kind::SeededCiphertext => out = object::<SeededCiphertext>(params, bytes)?,
        Kind::KeyForm => out = object::<KeyForm>(params, bytes)?,
    }
    Ok(out)
}

/// The checksum that `bytes` should end with.
pub(super) fn repair(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let sum = *blake3::hash(&bytes[..end]).as_bytes();
    bytes[end..].copy_from_slice(&sum);
}

/// What a file holds of a description: the sums of the prediction.
fn summed(meta: &Meta) -> Meta {
    Meta { noise: meta.noise.summary().noise(), ..meta.clone() }
}

#[test]
fn every_object_round_trips() {
    let a = all(&params());
    for (kind, bytes) in files(&a) {
        assert_eq!(through(kind, &a.params, &bytes).unwrap(), bytes, "{kind}");
        let info = inspect(&bytes[..]).unwrap();
        let version = match kind {
            Kind::Params => 1,
            Kind::Plaintext | Kind::Ciphertext | Kind::SeededCiphertext => 4,
            Kind::PublicKey => 6,
            _ => 3,
        };
        assert_eq!((info.kind, info.fingerprint, info.version), (kind, a.params.fingerprint(), version));
    }
    let read = Ciphertext::from_bytes(&a.params, &a.cipher.to_bytes().unwrap()).unwrap();
    assert_eq!((read.polys(), read.meta()), (a.cipher.polys(), &summed(a.cipher.meta())));
    let read = Plaintext::from_bytes(&a.params, &a.plain.to_bytes().unwrap()).unwrap();
    assert_eq!((read.poly(), read.meta()), (a.plain.poly(), &summed(a.plain.meta())));
    assert_eq!(PublicKey::from_bytes(&a.params, &a.public.to_bytes().unwrap()).unwrap(), a.public);
    let evaluation = EvaluationKeys::from_bytes(&a.params, &a.evaluation.to_bytes().unwrap()).unwrap();
    assert_eq!(evaluation, a.evaluation);
    assert!(KeyForm::from_bytes(&a.params, &a.form().to_bytes().unwrap()).unwrap() == *a.form());
    let bytes = a.seeded.to_bytes().unwrap();
    let read = SeededCiphertext::from_bytes(&a.params, &bytes).unwrap();
    assert_eq!(
        (read.c0(), read.seed(), read.meta()),
        (a.seeded.c0(), a.seeded.seed(), &summed(a.seeded.meta()))
    );
    let empty = EvaluationKeys::new(None, GaloisKeys::new(&a.params)).unwrap();
    assert_eq!(EvaluationKeys::from_bytes(&a.params, &empty.to_bytes().unwrap()).unwrap(), empty);
    for set in NamedSet::ALL {
        let mut bytes = Vec::new();
        let p = Params::named(set).unwrap();
        write_params(&p, &mut bytes).unwrap();
        assert_eq!(read_params(&bytes[..]).unwrap(), p);
    }
}

#[test]
fn half_size_is_half_size() {
    let a = all(&params());
    let (full, half) = (a.cipher.to_bytes().unwrap().len(), a.seeded.to_bytes().unwrap().len());
    assert!(half * 2 < full + 1000, "{half} {full}");
    // Residues take their bits and no more: 31 + 25 bits of moduli just above 2^30 and 2^24, 32 of the special one.
    let bits: usize = a.params.key_moduli().map(|m| m.bits() as usize).sum();
    let key = a.relin.to_bytes().unwrap().len();
    assert!(key.abs_diff(2 * 1024 * bits / 8) < 200, "{key}");
}

#[test]
fn any_prefix_is_truncated_and_any_suffix_trailing() {
    let a = all(&params());
    for (kind, bytes) in files(&a) {
        let step = (bytes.len() / 300).max(1);
        for end in (0..bytes.len()).step_by(step).chain(bytes.len() - 40..bytes.len()) {
            let e = through(kind, &a.params, &bytes[..end]).unwrap_err();
            assert!(matches!(e, FileError::Truncated { got, .. } if got == end as u64), "{kind} {end}: {e}");
            assert!(matches!(inspect(&bytes[..end]), Err(FileError::Truncated { .. })));
        }
    }
    let more = [a.cipher.to_bytes().unwrap(), vec![0]].concat();
    assert!(matches!(Ciphertext::from_bytes(&a.params, &more), Err(FileError::Trailing)));
}

#[test]
fn swapped_files_and_contexts_are_named() {
    let a = all(&params());
    let b = all(&other_params());
    let files = files(&a);
    for (found, bytes) in &files {
        for (expected, _) in &files {
            let result = through(*expected, &a.params, bytes);
            assert_eq!(result.is_ok(), found == expected);
            if let Err(e) = result {
                assert_eq!(
                    e.to_string(),
                    format!(
                        "this file holds a {found}, but a {expected} is wanted here; were two files swapped?"
                    )
                );
            }
        }
        if *found != Kind::Params {
            let e = through(*found, &b.params, bytes).unwrap_err();
            assert!(matches!(e, FileError::Context { .. }), "{e}");
            assert!(e.to_string().contains(&a.params.fingerprint().to_string()), "{e}");
            // Damage beyond what is shown of a fingerprint does not name the same parameters twice.
            let mut damaged = bytes.clone();
            damaged[8 + 2 + 2 + 8] ^= 1;
            let e = through(*found, &a.params, &damaged).unwrap_err();
            assert!(matches!(e, FileError::Fingerprint { .. }), "{e}");
        }
    }
}

#[test]
fn lies_about_lengths_cost_nothing() {
    let a = all(&params());
    let good = a.cipher.to_bytes().unwrap();
    let header_at = 8 + 2 + 2 + 32 + 8;
    let mut long = good.clone();
    long[header_at..header_at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(through(Kind::Ciphertext, &a.params, &long), Err(FileError::HeaderLength { .. })));
    let mut huge = good.clone();
    huge[header_at + 4..header_at + 12].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(through(Kind::Ciphertext, &a.params, &huge), Err(FileError::PayloadLength { .. })));
    assert!(matches!(inspect(&huge[..]), Err(FileError::Truncated { .. })));
    let mut text = good.clone();
    text[..8].copy_from_slice(b"PK\x03\x04....");
    let e = through(Kind::Ciphertext, &a.params, &text).unwrap_err();
    assert!(e.to_string().starts_with("this is not a Ringmill file"), "{e}");
    let mut future = good.clone();
    future[8] = 5;
    let e = through(Kind::Ciphertext, &a.params, &future).unwrap_err();
    assert!(e.to_string().contains("update Ringmill"), "{e}");
}

#[test]
fn a_residue_at_its_prime_is_refused_even_with_a_right_checksum() {
    let a = all(&params());
    let mut bytes = a.cipher.to_bytes().unwrap();
    let payload = inspect(&bytes[..]).unwrap().payload as usize;
    let at = bytes.len() - 32 - payload;
    // The first word of the first limb: all bits set is above any prime of as many bits.
    bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
    assert!(matches!(inspect(&bytes[..]), Err(FileError::Checksum { .. })));
    repair(&mut bytes);
    let e = through(Kind::Ciphertext, &a.params, &bytes).unwrap_err();
    assert!(matches!(e, FileError::Content { .. }), "{e}");
    assert!(e.to_string().contains("is not below its prime"), "{e}");
}

#[test]
fn parameters_by_size_are_not_a_file() {
    let header =
        frame::encode(Kind::Params, &ParamsLiteral::from_bits(10, &[30, 24], &[31], 2).insecure()).unwrap();
    let mut bytes = Vec::new();
    let mut out = Hashed::new(&mut bytes);
    Front::new(Kind::Params, params().fingerprint(), 0, header).write(&mut out).unwrap();
    out.seal().unwrap();
    let e = read_params(&bytes[..]).unwrap_err();
    assert!(e.to_string().contains("not given by value"), "{e}");
    assert!(params().literal().q.iter().all(|s| matches!(s, PrimeSpec::Value(_))));
}

#[test]
fn saving_is_atomic_and_private_where_it_must_be() {
    let folder = tempfile::tempdir().unwrap();
    let a = all(&params());
    let path = folder.path().join("cipher");
    a.cipher.save(&path).unwrap();
    assert_eq!(Ciphertext::load(&a.params, &path).unwrap().polys(), a.cipher.polys());
    // A writer that fails half-way leaves the old file and nothing else.
    let half = disk::save(&path, Privacy::Public, Old::Replaced, |f| {
        std::io::Write::write_all(f, b"RING").unwrap();
        Err(FileError::Trailing)
    });
    assert!(half.is_err());
    assert_eq!(Ciphertext::load(&a.params, &path).unwrap().polys(), a.cipher.polys());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let secret = folder.path().join("secret");
    save_secret_key(&a.secret, &secret).unwrap();
    let back = load_secret_key(&a.params, &secret).unwrap();
    assert_eq!(back.expose_coefficients(), a.secret.expose_coefficients());
    // What is there stays: a secret key, half of one, or anything else.
    let before = std::fs::read(&secret).unwrap();
    for kept in [&before[..], &before[..20], b"notes"] {
        std::fs::write(&secret, kept).unwrap();
        let refused = save_secret_key(&a.secret, &secret).unwrap_err();
        assert!(matches!(&refused, FileError::Exists { path } if *path == secret), "{refused}");
        assert_eq!(std::fs::read(&secret).unwrap(), kept);
    }
    replace_secret_key(&a.secret, &secret).unwrap();
    assert_eq!(std::fs::read(&secret).unwrap(), before);
    save_params(&a.params, folder.path().join("params")).unwrap();
    assert_eq!(load_params(folder.path().join("params")).unwrap(), a.params);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |p| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&secret), 0o600);
        assert_ne!(mode(&path) & 0o044, 0, "others may read what is public");
    }
    let e = load_params(folder.path().join("missing")).unwrap_err();
    assert!(e.to_string().contains("missing"), "{e}");
    let e = a.cipher.save(folder.path().join("no/such/folder")).unwrap_err();
    assert!(matches!(e, FileError::Io { .. }), "{e}");
}

#[test]
fn keys_from_files_work() {
    let a = all(&params());
    let evaluation = EvaluationKeys::from_bytes(&a.params, &a.evaluation.to_bytes().unwrap()).unwrap();
    assert!(evaluation.galois().get(GaloisElement::conjugation(10).unwrap()).is_ok());
    let public = PublicKey::from_bytes(&a.params, &a.public.to_bytes().unwrap()).unwrap();
    let cipher = public.encrypt(&a.plain, &mut randomness(5)).unwrap();
    let q = a.params.q_moduli();
    let (got, want) =
        (coefficients(a.secret.decrypt(&cipher).unwrap().poly(), q), coefficients(a.plain.poly(), q));
    assert!(got.iter().zip(&want).all(|(x, y)| (x - y).magnitude() < &num_bigint::BigUint::from(4096u32)));
    assert_ne!(got, want);
    assert!(want.iter().any(|x| x != &BigInt::default()));
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Change {
    Flip(usize, u8),
    Overwrite(usize, Vec<u8>),
    Delete(usize, usize),
    Insert(usize, Vec<u8>),
    Double(usize, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let n = bytes.len().max(1);
        match self {
            Self::Flip(at, bit) if !bytes.is_empty() => bytes[at % n] ^= 1 << (bit % 8),
            Self::Overwrite(at, with) => {
                let at = at % n;
                bytes.iter_mut().skip(at).zip(with).for_each(|(b, w)| *b = *w);
            }
            Self::Delete(at, len) => drop(bytes.drain(at % n..(at % n + len).min(n).min(bytes.len()))),
            Self::Insert(at, with) => drop(bytes.splice(at % n..at % n, with.iter().copied())),
            Self::Double(at, len) => {
                let end = (at % n + len).min(bytes.len());
                bytes.extend_from_within(at % n..end);
            }
            Self::Flip(..) => {}
        }
    }
}

/// Changes anywhere, half of them near the front, where the structure is.
fn change() -> impl Strategy<Value = Change> {
    let at = prop_oneof![0usize..300, any::<usize>()];
    let bytes = || proptest::collection::vec(prop_oneof![Just(0u8), Just(0xff), any::<u8>()], 1..12);
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(a, b)| Change::Flip(a, b)),
        3 => (at.clone(), bytes()).prop_map(|(a, b)| Change::Overwrite(a, b)),
        1 => (at.clone(), 1usize..64).prop_map(|(a, l)| Change::Delete(a, l)),
        1 => (at.clone(), bytes()).prop_map(|(a, b)| Change::Insert(a, b)),
        1 => (at, 1usize..64).prop_map(|(a, l)| Change::Double(a, l)),
    ]
}

/// Changed files are refused, or, where the checksum was made right again, hold an object that has this one form.
fn mutations(cases: u32) {
    let a = all(&params());
    let files = files(&a);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let accepted = std::cell::Cell::new(0u32);
    let strategy = (0..files.len(), proptest::collection::vec(change(), 1..4), any::<bool>());
    proptest::test_runner::TestRunner::new(config)
        .run(&strategy, |(which, changes, repaired)| {
            let (kind, good) = &files[which];
            let mut bytes = good.clone();
            changes.iter().for_each(|c| c.apply(&mut bytes));
            if repaired && bytes.len() >= 32 {
                repair(&mut bytes);
            }
            if let Ok(again) = through(*kind, &a.params, &bytes) {
                prop_assert!(repaired || bytes == *good, "{kind} was accepted with a wrong checksum");
                prop_assert!(again == bytes, "{kind} was accepted in a second form");
                accepted.set(accepted.get() + 1);
            }
            let _ = inspect(&bytes[..]);
            Ok(())
        })
        .unwrap();
    // The test reaches beyond the checksum: residues changed to other residues are accepted.
    assert!(accepted.get() > cases / 100, "{} of {cases} accepted", accepted.get());
}

#[test]
fn changed_files_never_pass_for_what_they_are_not() {
    mutations(10_000);
}

#[test]
#[ignore = "long: make test-full"]
fn changed_files_never_pass_for_what_they_are_not_in_a_million_cases() {
    mutations(1_000_000);
}

#[test]
fn of_many_secret_keys_for_one_place_one_is_saved_whole_and_the_others_are_refused() {
    let params = other_params();
    let folder = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let path = folder.path().join(format!("secret {round}"));
        let mut g = KeyGenerator::with_randomness(&params, randomness(round));
        let keys: Vec<_> = (0..8).map(|_| g.secret_key().unwrap()).collect();
        let together = std::sync::Barrier::new(keys.len());
        let saved: Vec<bool> = std::thread::scope(|scope| {
            let save = |key| {
                let (together, path) = (&together, &path);
                scope.spawn(move || {
                    together.wait();
                    match save_secret_key(key, path) {
                        Ok(()) => true,
                        Err(FileError::Exists { .. }) => false,
                        Err(e) => panic!("{e}"),
                    }
                })
            };
            let threads: Vec<_> = keys.iter().map(save).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(saved.iter().filter(|&&saved| saved).count(), 1);
        let winner = &keys[saved.iter().position(|&saved| saved).unwrap()];
        let kept = load_secret_key(&params, &path).unwrap();
        assert_eq!(kept.expose_coefficients(), winner.expose_coefficients());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 8);
}

#[test]
fn parameters_with_levels_of_several_primes_are_of_version_8_and_others_are_not() {
    for generator in [crate::Generator::Five, crate::Generator::Three] {
        let single = ParamsLiteral::from_bits(10, &[40, 22, 23, 22, 23], &[50], 5).insecure();
        let literal = ParamsLiteral { generator, ..single.levels(&[1, 2, 2]) };
        let params = Params::new(&literal).unwrap();
        let mut bytes = Vec::new();
        write_params(&params, &mut bytes).unwrap();
        assert_eq!(bytes[8], 8);
        let read = params_from_bytes(&bytes).unwrap();
        assert_eq!((&read, read.levels(), read.generator()), (&params, params.levels(), generator));
        let alone = ParamsLiteral { levels: Vec::new(), ..params.literal().clone() };
        let mut bytes = Vec::new();
        write_params(&Params::new(&alone).unwrap(), &mut bytes).unwrap();
        assert!(bytes[8] < 8);
        // Ciphertexts have the limbs of their level.
        let a = all(&params);
        for level in [0, 1] {
            let dropped = a.cipher.polys().iter().map(|p| {
                let kept = params.limbs(Level::new(level));
                Poly::from_words(p.n(), &p.words()[..kept * p.n()], Domain::Evaluation).unwrap()
            });
            let meta = Meta { level: Level::new(level), ..a.cipher.meta().clone() };
            let cipher = Ciphertext::from_parts(&params, dropped.collect(), meta, None).unwrap();
            let mut bytes = Vec::new();
            cipher.write(&mut bytes).unwrap();
            assert_eq!(Ciphertext::read(&params, &bytes[..]).unwrap().polys(), cipher.polys());
        }
    }
}

#[test]
fn a_file_of_version_8_that_names_one_prime_a_level_is_refused() {
    let literal = params().literal().clone();
    for levels in [vec![], vec![1u32, 1], vec![2, 1], vec![u32::MAX, 1]] {
        let header = frame::encode(Kind::Params, &(&literal, 5u64, &levels)).unwrap();
        let mut bytes = Vec::new();
        let mut out = Hashed::new(&mut bytes);
        let front = Front::new(Kind::Params, params().fingerprint(), 0, header);
        Front { version: 8, ..front }.write(&mut out).unwrap();
        out.seal().unwrap();
        assert!(read_params(&bytes[..]).is_err(), "{levels:?}");
    }
}
