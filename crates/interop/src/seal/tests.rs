//! Round trips of every kind, and bytes that are not what a writer writes. What SEAL itself writes and reads is tested from
//! Python, beside its own wheels (`python/tests/test_interop_seal.py`).

use std::fmt::Debug;

use ringmill_ring::primes::{Side, nearest};
use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use super::header::HEADER;
use super::*;

const LOG_N: u32 = 6;
const N: usize = 1 << LOG_N;

fn parameters() -> EncryptionParameters {
    let primes = nearest(1 << 40, LOG_N, 3, Side::Below, &[]).unwrap();
    EncryptionParameters::ckks(N as u64, primes.iter().map(|q| q.value()).collect()).unwrap()
}

/// Words that look uniform, below their moduli.
fn poly(parameters: &EncryptionParameters, limbs: usize, seed: u64) -> Poly {
    let mut state = seed | 1;
    let mut poly = Poly::zeros(N, limbs, Domain::Evaluation);
    for (limb, q) in poly.limbs_mut().zip(parameters.moduli()) {
        for word in limb {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *word = (state >> 8) % q;
        }
    }
    poly
}

fn key(parameters: &EncryptionParameters, seed: u64, kind: Option<PrngKind>) -> PublicKey {
    let limbs = parameters.moduli().len();
    let mut polys = vec![poly(parameters, limbs, seed), poly(parameters, limbs, seed + 1)];
    let seed = kind.map(|kind| SeedWithKind { kind, seed: [seed as u8; 64] });
    if let Some(SeedWithKind { kind, seed }) = &seed {
        polys[1] = prng::expand(*kind, seed, N, parameters.moduli());
    }
    PublicKey(Ciphertext { polys, scale: 1.0, seed })
}

fn cipher(parameters: &EncryptionParameters) -> Ciphertext {
    let polys = (0..3).map(|i| poly(parameters, 2, i)).collect();
    Ciphertext { polys, scale: 2f64.powi(40), seed: None }
}

fn keys(parameters: &EncryptionParameters) -> KSwitchKeys {
    let row = |at: u64, kind| (0..2).map(|j| key(parameters, at + j, kind)).collect();
    let keys =
        [(1, row(1, None)), (7, row(9, Some(PrngKind::Blake2xb))), (N - 1, row(5, Some(PrngKind::Shake256)))];
    KSwitchKeys { rows: N, keys: keys.into() }
}

fn styles() -> impl Iterator<Item = Style> {
    let compressions = [Compression::None, Compression::Zlib, Compression::Zstd];
    (0..=4)
        .zip(compressions.into_iter().cycle())
        .map(|(minor, compression)| Style { version: Version::new(minor).unwrap(), compression })
}

fn comes_back<T: Object + PartialEq + Debug>(object: &T, context: &T::Context) {
    for style in styles() {
        let bytes = object.to_bytes(context, style).unwrap();
        let size = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
        assert_eq!((bytes[3], bytes[4], size), (4, style.version.minor(), bytes.len() as u64));
        assert_eq!(&T::from_bytes(context, &bytes).unwrap(), object, "{style:?}");
        let mut longer = bytes.clone();
        longer.push(0);
        let refused = T::from_bytes(context, &longer).unwrap_err();
        assert!(matches!(refused, SealError::Trailing { more: 1, .. }), "{refused}");
    }
}

#[test]
fn every_kind_comes_back() {
    let p = parameters();
    comes_back(&p, &());
    comes_back(&cipher(&p), &p);
    comes_back(&Plaintext { poly: poly(&p, 2, 3), scale: 1e9 }, &p);
    comes_back(&key(&p, 3, None), &p);
    comes_back(&key(&p, 3, Some(PrngKind::Blake2xb)), &p);
    comes_back(&keys(&p), &p);
    let secret = SecretKey::new(Zeroizing::new((0..N as i8).map(|i| i % 3 - 1).collect())).unwrap();
    for style in styles() {
        let bytes = secret.to_bytes(&p, style).unwrap();
        let read = SecretKey::from_bytes(&p, &bytes).unwrap();
        assert_eq!(read.expose_coefficients(), secret.expose_coefficients());
    }
}

#[test]
fn sizes_are_those_of_the_format() {
    let (p, style) = (parameters(), Style::default());
    let len = |bytes: Vec<u8>| bytes.len();
    assert_eq!(len(p.to_bytes(&(), style).unwrap()), 16 + 17 + 4 * 24);
    assert_eq!(len(cipher(&p).to_bytes(&p, style).unwrap()), 113 + 8 * 3 * 2 * N);
    assert_eq!(len(key(&p, 1, None).to_bytes(&p, style).unwrap()), 113 + 8 * 2 * 3 * N);
    assert_eq!(len(key(&p, 1, Some(PrngKind::Shake256)).to_bytes(&p, style).unwrap()), 113 + 8 * 3 * N + 81);
    let secret = SecretKey::new(Zeroizing::new(vec![1; N])).unwrap();
    assert_eq!(len(secret.to_bytes(&p, style).unwrap()), 88 + 8 * 3 * N);
    let relin = KSwitchKeys { rows: 1, keys: [(0, vec![key(&p, 1, None), key(&p, 2, None)])].into() };
    assert_eq!(len(relin.to_bytes(&p, style).unwrap()), 56 + 8 + 2 * (113 + 16 * 3 * N));
}

#[test]
fn identities_are_hashes_of_the_parameters() {
    // By hashlib.blake2b(struct.pack("<5Q", 2, 8192, q0, q1, 0), digest_size=32).
    let p = EncryptionParameters::ckks(8192, vec![1099510890497, 1099511480321]).unwrap();
    assert_eq!(p.key_id(), ParmsId(ID));
    assert_eq!(p.id(2), Some(p.key_id()));
    assert_eq!(p.id(3), None);
}
const ID: [u64; 4] = [0x370e9c101d2d3215, 0x833ac8f192d51e8f, 0xa0db9b946d6efd0c, 0xb27e674a696f596d];

/// Every prefix and many damaged copies: an error or an object, never a panic, and an error for what is cut short.
fn endures<T: Object>(object: &T, context: &T::Context) {
    let mut state = 1u64;
    for compression in [Compression::None, Compression::Zlib, Compression::Zstd] {
        let bytes = object.to_bytes(context, Style { compression, ..Style::default() }).unwrap();
        let cuts = (0..bytes.len()).step_by(if bytes.len() > 1000 { 97 } else { 1 });
        for cut in (0..bytes.len().min(200)).chain(cuts) {
            assert!(T::from_bytes(context, &bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..300 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mut damaged = bytes.clone();
            let at = if at < 200 { at % bytes.len() } else { (state >> 33) as usize % bytes.len() };
            damaged[at] ^= 1 << (state >> 20 & 7);
            if let Err(refused) = T::from_bytes(context, &damaged) {
                assert!(refused.to_string().len() > 20, "{refused:?}");
            }
            damaged[at] = 255;
            let _ = T::from_bytes(context, &damaged);
        }
    }
}

#[test]
fn damaged_files_are_refused_or_read() {
    let p = parameters();
    endures(&p, &());
    endures(&cipher(&p), &p);
    endures(&Plaintext { poly: poly(&p, 1, 3), scale: 1.0 }, &p);
    endures(&key(&p, 3, Some(PrngKind::Shake256)), &p);
    endures(&keys(&p), &p);
    endures(&SecretKey::new(Zeroizing::new(vec![-1; N])).unwrap(), &p);
}

/// Bytes of an uncompressed file with some of them replaced.
fn patched(bytes: &[u8], at: usize, by: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + by.len()].copy_from_slice(by);
    bytes
}

#[test]
fn what_is_wrong_is_named() {
    let p = parameters();
    let bytes = cipher(&p).to_bytes(&p, Style::default()).unwrap();
    let refused = |at: usize, by: &[u8]| Ciphertext::from_bytes(&p, &patched(&bytes, at, by)).unwrap_err();
    let huge = u64::MAX.to_le_bytes();
    assert!(matches!(refused(0, &[0]), SealError::Magic { at: 0, .. }));
    assert!(matches!(refused(3, &[3]), SealError::Version { major: 3, minor: 3 }));
    assert!(matches!(refused(4, &[5]), SealError::Version { major: 4, minor: 5 }));
    assert!(matches!(refused(5, &[3]), SealError::Compression { found: 3 }));
    assert!(matches!(refused(5, &[1]), SealError::Decompress { .. }));
    assert!(matches!(refused(5, &[2]), SealError::Decompress { .. }));
    assert!(matches!(refused(8, &[7, 0]), SealError::Size { found: 7, .. }));
    assert!(matches!(refused(8, &huge), SealError::Length { .. }));
    assert!(matches!(refused(16, &[0; 32]), SealError::OtherParameters { .. }));
    assert!(matches!(refused(48, &[0]), SealError::NotNtt { .. }));
    // Polynomials, degree, primes, scale, factor, words.
    assert!(matches!(refused(49, &huge), SealError::Field { found: u64::MAX, .. }));
    assert!(matches!(refused(57, &huge), SealError::Field { found: u64::MAX, .. }));
    assert!(matches!(refused(65, &[3]), SealError::Field { found: 3, .. }));
    assert!(matches!(refused(73, &f64::NAN.to_le_bytes()), SealError::Scale { .. }));
    assert!(matches!(refused(81, &[2]), SealError::Field { found: 2, .. }));
    assert!(matches!(refused(89 + 5, &[1]), SealError::InnerCompression { at: 73 }));
    assert!(matches!(refused(89 + 8, &huge), SealError::Truncated { .. }));
    assert!(matches!(refused(105, &huge), SealError::Field { found: u64::MAX, .. }));
    assert!(matches!(refused(113, &huge), SealError::NotCanonical { limb: 0, value: u64::MAX, .. }));

    let public = key(&p, 3, None).to_bytes(&p, Style::default()).unwrap();
    let said = Ciphertext::from_bytes(&p, &public).unwrap_err().to_string();
    assert!(said.contains("level of 3 primes") && said.contains("is it a public key?"), "{said}");
    assert!(matches!(PublicKey::from_bytes(&p, &bytes), Err(SealError::Level { found: 2, .. })));
    let seeded = key(&p, 3, Some(PrngKind::Blake2xb)).to_bytes(&p, Style::default()).unwrap();
    let kind = seeded.len() - 65;
    let said = PublicKey::from_bytes(&p, &patched(&seeded, kind, &[3])).unwrap_err().to_string();
    assert_eq!(said, "the seed is of generator 3; SEAL has 1 (BLAKE2xb) and 2 (SHAKE256)");

    let bytes = p.to_bytes(&(), Style::default()).unwrap();
    let refused =
        |at: usize, by: &[u8]| EncryptionParameters::from_bytes(&(), &patched(&bytes, at, by)).unwrap_err();
    assert_eq!(
        refused(16, &[1]).to_string(),
        "the parameters are of scheme 1 (BFV); CKKS (2) is what is read here"
    );
    assert!(matches!(refused(17, &[65]), SealError::Degree { found: 65 }));
    assert!(matches!(refused(25, &huge), SealError::ModulusCount { found: u64::MAX }));
    assert!(matches!(refused(49, &huge), SealError::Modulus { index: 0, found: u64::MAX }));
    assert!(matches!(refused(bytes.len() - 8, &[3]), SealError::PlainModulus { found: 3 }));

    let keys = keys(&p).to_bytes(&p, Style::default()).unwrap();
    let refused = |at: usize, by: &[u8]| KSwitchKeys::from_bytes(&p, &patched(&keys, at, by)).unwrap_err();
    assert!(matches!(refused(48, &huge), SealError::Field { field: "a number of rows of", .. }));
    assert!(matches!(refused(56, &[9]), SealError::Field { field: "a number of digits of", found: 9, .. }));
    let secret = SecretKey::new(Zeroizing::new(vec![1; N])).unwrap().to_bytes(&p, Style::default()).unwrap();
    let second = 88 + 8 * N;
    let changed = patched(&secret, second, &(secret[second] ^ 1).to_le_bytes());
    assert!(matches!(SecretKey::from_bytes(&p, &changed), Err(SealError::Secret { .. })));
}

/// A compressed file whose payload goes on beyond what its contents need.
#[test]
fn a_payload_that_goes_on_is_not_decompressed() {
    let p = parameters();
    let plain = p.to_bytes(&(), Style::default()).unwrap();
    let mut payload = plain[HEADER as usize..].to_vec();
    payload.resize(1 << 24, 0);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, &payload).unwrap();
    let packed = encoder.finish().unwrap();
    let mut bytes = plain[..HEADER as usize].to_vec();
    bytes[5] = 1;
    bytes[8..].copy_from_slice(&(HEADER + packed.len() as u64).to_le_bytes());
    bytes.extend(packed);
    assert!(matches!(EncryptionParameters::from_bytes(&(), &bytes), Err(SealError::Trailing { .. })));
}
