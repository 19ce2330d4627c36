//! Keys that stay as they are in their file are the keys that expanding them gives, and damage is found as early.

use std::path::Path;

use super::*;
use crate::keys::{GaloisKeys, KeyForm, KeyGenerator, KeyLayout, KeyMemory, KlssLayout, SwitchKey};
use crate::params::ParamsLiteral;
use crate::testing::randomness;

const KEPT: [KeyMemory; 2] = [KeyMemory::Seeded, KeyMemory::Mapped];

fn params() -> Params {
    Params::new(&ParamsLiteral::from_bits(10, &[45, 36, 36], &[50], 3).insecure()).unwrap()
}

fn keys(params: &Params, encapsulation: bool) -> EvaluationKeys {
    let mut g = KeyGenerator::with_randomness(params, randomness(33));
    let secret = g.secret_key().unwrap();
    let keys = g.evaluation_keys(&secret, &[1, -3], true).unwrap();
    let key = g.encapsulation_key(&secret).unwrap();
    if encapsulation { keys.with_encapsulation(key).unwrap() } else { keys }
}

/// Every limb of both parts of every key.
fn limbs(keys: &EvaluationKeys) -> Vec<Vec<u64>> {
    let relin = keys.relin().ok().map(|key| &key.0);
    let all = relin.into_iter().chain(keys.galois().iter().map(|(_, key)| key));
    let of = |key: &SwitchKey| -> Vec<Vec<u64>> {
        let (dnum, limbs) = (key.params().dnum(), key.params().key_limbs());
        let limb = |j, i| [key.b(j, i).into_owned(), key.a(j, i).into_owned()];
        (0..dnum).flat_map(|j| (0..limbs).flat_map(move |i| limb(j, i))).collect()
    };
    all.flat_map(of).collect()
}

#[test]
fn kept_keys_are_the_expanded_ones() {
    let (params, folder) = (params(), tempfile::tempdir().unwrap());
    let path = folder.path().join("evaluation.keys");
    let full = keys(&params, true);
    let few = GaloisKeys::new(&params);
    for keys in [keys(&params, false), EvaluationKeys::new(None, few).unwrap(), full.clone()] {
        keys.save(&path).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert_eq!(EvaluationKeys::load_in(&params, &path, KeyMemory::Expanded).unwrap(), keys);
        for kept in KEPT.map(|memory| EvaluationKeys::load_in(&params, &path, memory).unwrap()) {
            assert_eq!(kept, keys);
            assert_eq!(limbs(&kept), limbs(&keys));
            assert_eq!(kept.to_bytes().unwrap(), file, "half a key writes the file that it was read from");
        }
        assert_eq!(keys.seeded(), keys);
        assert_eq!((limbs(&keys.seeded()), keys.seeded().to_bytes().unwrap()), (limbs(&keys), file));
    }
    // 40 bits of 128 a pair, or of 104 if keys are dense; the encapsulation key is always expanded.
    let own = full.encapsulation().unwrap().bytes();
    let [seeded, mapped] = KEPT.map(|memory| EvaluationKeys::load_in(&params, &path, memory).unwrap());
    assert_eq!((mapped.bytes(), seeded.bytes()), (own, full.seeded().bytes()));
    let base = KeyForm::expanded_bytes(&params, KeyLayout::base(&params)).unwrap();
    let words = 16 * params.dnum() * params.key_limbs() * params.n();
    assert_eq!(full.bytes() - own, (1 + full.galois().len()) * base);
    assert!(3 * (seeded.bytes() - own) < (1 + full.galois().len()) * words);
    assert!(64 * base <= 65 * words && 16 * base > 13 * words, "{base} bytes for {words} of words");
    let layout = KeyLayout::base(&params);
    let klss = KlssLayout::new(10, (params.q_moduli(), params.p_moduli()), layout, 2, 60).unwrap();
    let derived = |keys: &EvaluationKeys| {
        keys.relin().unwrap().0.klss(&klss).unwrap().limb(1, 1, 0, 1).to_words(params.n()).into_owned()
    };
    assert_eq!(derived(&mapped), derived(&full));
}

#[test]
fn forms_beside_the_base_one_can_be_half_too() {
    let params = params();
    let mut g = KeyGenerator::with_randomness(&params, randomness(34));
    let secret = g.secret_key().unwrap();
    let mut relin = g.relin_key(&secret).unwrap();
    let layout = KeyLayout { limbs: 2, special: 2, alpha: 2 };
    g.extend_relin_key(&secret, &mut relin, layout).unwrap();
    let half = relin.0.seeded();
    assert_eq!(half.form(layout).unwrap(), relin.0.form(layout).unwrap());
    for (a, b) in half.forms().zip(relin.0.forms()) {
        for row in 0..a.layout().rows() {
            let [x, y] = [a, b].map(|form| form.limb(0, 1, row).to_words(params.n()).into_owned());
            assert_eq!(x, y);
        }
    }
}

/// What loading says of these bytes, which must not depend on where the keys are to be kept.
fn refusal(params: &Params, path: &Path, bytes: &[u8]) -> String {
    std::fs::write(path, bytes).unwrap();
    let expected = EvaluationKeys::load(params, path).unwrap_err().to_string();
    for memory in KEPT {
        assert_eq!(EvaluationKeys::load_in(params, path, memory).unwrap_err().to_string(), expected);
    }
    expected
}

#[test]
fn a_file_that_expanded_keys_refuse_is_refused_as_early_by_kept_ones() {
    let (params, folder) = (params(), tempfile::tempdir().unwrap());
    let path = folder.path().join("evaluation.keys");
    let file = keys(&params, true).to_bytes().unwrap();
    for cut in [0, 5, 40, 200, file.len() / 2, file.len() - 33, file.len() - 1] {
        assert!(refusal(&params, &path, &file[..cut]).contains("it was cut short"), "{cut}");
    }
    let flipped = |at: usize| {
        let mut bytes = file.clone();
        bytes[at] ^= 1;
        bytes
    };
    assert!(refusal(&params, &path, &flipped(file.len() - 1)).contains("checksum"));
    for at in (0..file.len()).step_by(file.len() / 40) {
        assert!(!refusal(&params, &path, &flipped(at)).is_empty());
    }
    assert!(refusal(&params, &path, &[&file[..], &[0]].concat()).contains("goes on after its end"));
    let other = Params::new(&ParamsLiteral::from_bits(10, &[45, 36, 37], &[50], 3).insecure()).unwrap();
    assert!(refusal(&other, &path, &file).contains("belongs to parameters"));
    let relin = keys(&params, false).relin().unwrap().to_bytes().unwrap();
    assert!(refusal(&params, &path, &relin).contains("holds a relinearisation key"));
    for memory in KEPT {
        let missing = EvaluationKeys::load_in(&params, folder.path().join("none"), memory).unwrap_err();
        assert!(matches!(missing, FileError::Io { .. }), "{missing}");
        assert!(matches!(EvaluationKeys::load_in(&params, folder.path(), memory), Err(FileError::Io { .. })));
    }
}

#[test]
fn residues_beyond_their_prime_are_refused_though_the_checksum_is_right() {
    let (params, folder) = (params(), tempfile::tempdir().unwrap());
    let mut file = keys(&params, false).to_bytes().unwrap();
    let end = file.len() - 32;
    file[end - 50..end].fill(255);
    let sum = *blake3::hash(&file[..end]).as_bytes();
    file[end..].copy_from_slice(&sum);
    let error = refusal(&params, &folder.path().join("evaluation.keys"), &file);
    assert!(error.contains("is damaged"), "{error}");
}

/// A sparse file: bytes, then zeros up to a length that no memory holds.
fn with_a_tail(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    std::fs::File::options().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
}

#[test]
fn no_more_is_read_than_the_header_announces() {
    let (params, folder) = (params(), tempfile::tempdir().unwrap());
    let path = folder.path().join("evaluation.keys");
    let keys = keys(&params, true);
    let file = keys.to_bytes().unwrap();
    let relin = keys.relin().unwrap().to_bytes().unwrap();
    let mut damaged = file.clone();
    damaged[file.len() / 2] ^= 1;
    // The whole file, its half, its front, and what is no file of keys at all.
    for bytes in [&file[..], &file[..file.len() / 2], &file[..60], &damaged, &relin, b"RINGMILL", b""] {
        with_a_tail(&path, bytes);
        for memory in [KeyMemory::Expanded, KeyMemory::Seeded, KeyMemory::Mapped] {
            // To read it all would take days, or end the process.
            let refused = EvaluationKeys::load_in(&params, &path, memory).unwrap_err();
            assert_eq!(refused.to_string(), EvaluationKeys::load(&params, &path).unwrap_err().to_string());
        }
    }
    with_a_tail(&path, &file);
    assert!(matches!(EvaluationKeys::load(&params, &path), Err(FileError::Trailing)));
}
