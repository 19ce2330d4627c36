//! Files written once and kept: every later version must read them, and this one must still write them.
//!
//! `RINGMILL_BLESS=1 cargo test -p ringmill-ckks --test golden` writes what is drawn today anew; do that for a new format
//! version, or where seeds are meant to give other bits, in a new folder. Version 2 reversed the direction of
//! Galois keys; only files that may hold them have it. Version 3 states the identity of the secret key; files
//! that belong to one have it. Version 4 has the sums of predicted errors in place of their contributions;
//! ciphertexts and plaintexts have it. Version 6 has public keys over one prime more. Files in `v3-purposes` and
//! `v4` were drawn after each purpose got its own stream of a seed; those of `v1` to `v3` are kept as they were
//! written before.

use std::path::PathBuf;

use ringmill_ckks::file::{self, Stored};
use ringmill_ckks::{
    Ciphertext, EvaluationKeys, KeyForm, KeyGenerator, KeyIdentity, KeyLayout, Level, Meta, Noise, Params,
    ParamsLiteral, Plaintext, PublicKey, Randomness, RelinKey, Scale, SecretKey, SeededCiphertext, SwitchKey,
};
use ringmill_ring::sample::SecretSeed;
use ringmill_ring::{Domain, Poly, reference};

/// The files of one version.
fn folder(version: u32) -> PathBuf {
    golden(&format!("v{version}"))
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A file in the version in which its kind is written, as it is drawn today.
fn today(name: &str) -> PathBuf {
    let folder = match name {
        "params" => "v1",
        "dividing-public-key" => "v6",
        "plaintext" | "ciphertext" | "half-size-ciphertext" => "v4",
        _ => "v3-purposes",
    };
    golden(folder).join(name)
}

fn randomness(seed: u8) -> Randomness {
    Randomness::from_seed(SecretSeed::from_bytes([seed; 32]))
}

/// Coefficient i of the message.
fn coefficient(i: usize) -> i64 {
    (i as i64 * i as i64 * 7919) % 100_003 - 50_001
}

fn plaintext(params: &Params) -> Plaintext {
    let mut poly = Poly::zeros(params.n(), 2, Domain::Evaluation);
    for (limb, &q) in poly.limbs_mut().zip(params.q_moduli()) {
        limb.iter_mut().enumerate().for_each(|(i, w)| *w = q.reduce_i64(coefficient(i)));
        reference::forward(limb, q, q.psi(params.log_n()).unwrap());
    }
    let scale = Scale::pow2(40).div(&Scale::modulus(params.q_moduli()[1]));
    let noise = Noise::encoded(4.0, &scale, 3);
    Plaintext::from_parts(params, poly, Meta { level: Level::new(1), scale, slots: 64, noise }).unwrap()
}

struct Objects {
    params: Params,
    secret: SecretKey,
    public: PublicKey,
    relin: RelinKey,
    evaluation: EvaluationKeys,
    /// The Galois key with a form beside its base one.
    turning: SwitchKey,
    plain: Plaintext,
    cipher: Ciphertext,
    seeded: SeededCiphertext,
}

fn draw() -> Objects {
    let params = Params::new(&ParamsLiteral::from_bits(10, &[30, 24], &[31], 2).insecure()).unwrap();
    let mut g = KeyGenerator::with_randomness(&params, randomness(1));
    let secret = g.secret_key().unwrap();
    let public = g.public_key(&secret).unwrap();
    let evaluation = g.evaluation_keys(&secret, &[3], false).unwrap();
    let relin = evaluation.relin().unwrap().clone();
    let plain = plaintext(&params);
    let mut r = randomness(2);
    let cipher = public.undivided().encrypt(&plain, &mut r).unwrap();
    let seeded = secret.encrypt_seeded(&plain, &mut r).unwrap();
    let (element, key) = evaluation.galois().iter().next().unwrap();
    let (mut turning, layout) = (key.clone(), KeyLayout { limbs: 1, special: 2, alpha: 1 });
    g.extend_galois_key(&secret, (element, &mut turning), layout).unwrap();
    Objects { params, secret, public, relin, evaluation, turning, plain, cipher, seeded }
}

fn files(o: &Objects) -> Vec<(&'static str, Vec<u8>)> {
    let (mut params, mut secret) = (Vec::new(), Vec::new());
    file::write_params(&o.params, &mut params).unwrap();
    file::write_secret_key(&o.secret, &mut secret).unwrap();
    vec![
        ("params", params),
        ("secret-key", secret),
        ("public-key", o.public.undivided().to_bytes().unwrap()),
        ("dividing-public-key", o.public.to_bytes().unwrap()),
        ("relin-key", o.relin.to_bytes().unwrap()),
        ("evaluation-keys", o.evaluation.to_bytes().unwrap()),
        ("key-form", o.turning.forms().nth(1).unwrap().to_bytes().unwrap()),
        ("plaintext", o.plain.to_bytes().unwrap()),
        ("ciphertext", o.cipher.to_bytes().unwrap()),
        ("half-size-ciphertext", o.seeded.to_bytes().unwrap()),
    ]
}

/// The part of a ciphertext that may not change: the error model may be refined within a version.
fn residues(file: &[u8]) -> Vec<u8> {
    let payload = file::inspect(file).unwrap().payload as usize;
    file[file.len() - 32 - payload..file.len() - 32].to_vec()
}

#[test]
fn what_is_written_today_is_what_was_written() {
    for (name, bytes) in files(&draw()) {
        let path = today(name);
        if std::env::var_os("RINGMILL_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        let kept = std::fs::read(&path).unwrap();
        if name.ends_with("ciphertext") {
            assert!(residues(&kept) == residues(&bytes), "{name} changed: that needs a new format version");
        } else {
            assert!(kept == bytes, "{name} changed: that needs a new format version");
        }
    }
}

/// What a file of version 1 or 2 was, with the name of the secret key of `draw` and the number of version 3.
fn named(old: &[u8]) -> Vec<u8> {
    // The public seed of the first object of the one stream that there was, by its definition.
    let mut hasher = blake3::Hasher::new_derive_key("ringmill 2026 randomness: public polynomials");
    hasher.update(&[1; 32]).update(&0u64.to_le_bytes());
    let name = hasher.finalize();
    let name = &name.as_bytes()[..8];
    let body = [&old[..8], &3u16.to_le_bytes(), &old[10..44], name, &old[44..old.len() - 32]].concat();
    let sum = *blake3::hash(&body).as_bytes();
    [&body[..], &sum].concat()
}

#[test]
fn the_third_version_is_the_one_before_with_a_name() {
    let before = [
        (1, ["secret-key", "public-key", "relin-key", "ciphertext", "half-size-ciphertext"].as_slice()),
        (2, ["evaluation-keys", "key-form"].as_slice()),
    ];
    for (version, names) in before {
        for name in names {
            let old = named(&std::fs::read(folder(version).join(name)).unwrap());
            let new = std::fs::read(folder(3).join(name)).unwrap();
            if name.ends_with("ciphertext") {
                let front_and_residues = |b: &[u8]| [b[..52].to_vec(), residues(b)].concat();
                assert!(front_and_residues(&new) == front_and_residues(&old), "{name}");
            } else {
                assert!(new == old, "{name}");
            }
        }
    }
}

#[test]
fn what_was_read_is_written_again_byte_by_byte() {
    let params = file::load_params(folder(1).join("params")).unwrap();
    // The header of a file from before version 4 is not written again: it shows more than its sums.
    let versions = |name| [folder(3).join(name), today(name)];
    for (name, path) in
        ["ciphertext", "half-size-ciphertext"].into_iter().flat_map(|n| versions(n).map(|p| (n, p)))
    {
        let kept = std::fs::read(&path).unwrap();
        let again = match name {
            "ciphertext" => Ciphertext::from_bytes(&params, &kept).unwrap().to_bytes().unwrap(),
            _ => SeededCiphertext::from_bytes(&params, &kept).unwrap().to_bytes().unwrap(),
        };
        assert!(residues(&kept) == residues(&again), "{name}");
        assert_eq!(kept == again, path == today(name), "{name}");
        let shown = file::inspect(&again[..]).unwrap();
        assert_eq!((shown.version, shown.identity), (4, file::inspect(&kept[..]).unwrap().identity));
    }
}

#[test]
fn what_was_written_is_read_and_decrypts() {
    let params = file::load_params(folder(1).join("params")).unwrap();
    let named = |path: PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        let identity = KeyIdentity::from_bytes(bytes[44..52].try_into().unwrap());
        assert!(identity.is_some());
        identity
    };
    let (first, now) = (named(folder(3).join("secret-key")), named(today("secret-key")));
    assert_ne!(first, now);
    // Files of old versions know no identity, and go with those of both.
    for (of, turned, ciphers, identity) in [
        (folder(1), folder(2), [folder(1), folder(3)].as_slice(), None),
        (folder(3), folder(3), &[folder(1), folder(3)], first),
        (golden("v3-purposes"), golden("v3-purposes"), &[folder(4)], now),
    ] {
        let file = |name| of.join(name);
        let secret = file::load_secret_key(&params, file("secret-key")).unwrap();
        assert_eq!(PublicKey::load(&params, file("public-key")).unwrap().identity(), identity);
        assert_eq!(RelinKey::load(&params, file("relin-key")).unwrap().0.identity(), identity);
        let evaluation = EvaluationKeys::load(&params, turned.join("evaluation-keys")).unwrap();
        assert_eq!((evaluation.galois().len(), evaluation.relin().is_ok()), (1, true));
        let form = KeyForm::load(&params, turned.join("key-form")).unwrap();
        assert_eq!(
            (secret.identity(), evaluation.identity(), form.identity()),
            (identity, identity, identity)
        );
        assert!(secret.made(&evaluation).unwrap());
        for folder in ciphers {
            let cipher = Ciphertext::load(&params, folder.join("ciphertext")).unwrap();
            let seeded = SeededCiphertext::load(&params, folder.join("half-size-ciphertext")).unwrap();
            decrypts(&secret, [cipher, seeded.expand()]);
        }
    }
    let first = EvaluationKeys::load(&params, folder(1).join("evaluation-keys")).unwrap_err();
    assert!(first.to_string().contains("make the keys again"), "{first}");
    for version in [1, 4] {
        let read = Plaintext::load(&params, folder(version).join("plaintext")).unwrap();
        let written = plaintext(&params);
        assert_eq!(
            (read.poly(), read.scale(), read.slots()),
            (written.poly(), written.scale(), written.slots())
        );
        assert!(read.noise().error(64) >= written.noise().error(64));
    }
}

fn decrypts(secret: &SecretKey, ciphers: [Ciphertext; 2]) {
    let params = secret.params();
    for cipher in ciphers {
        assert_eq!((cipher.level(), cipher.slots()), (Level::new(1), 64));
        assert_eq!(cipher.scale().to_text(), format!("2^40*{}^-1", params.q_moduli()[1].value()));
        let plain = secret.decrypt(&cipher).unwrap();
        // Message and error are far below the first prime, so its limb alone determines them.
        let q = params.q_moduli()[0];
        let mut c = plain.poly().limb(0).to_vec();
        reference::inverse(&mut c, q, q.psi(params.log_n()).unwrap());
        let worst = c.iter().enumerate().map(|(i, &x)| (q.centred(x) - coefficient(i)).abs()).max().unwrap();
        assert!((1..2000).contains(&worst), "{worst}");
    }
}
