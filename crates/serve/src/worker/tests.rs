//! Runs and checks in this process, by the files that the Python package wrote for the tests of `ringmill`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ringmill::bundle::Bundle;
use ringmill::ckks::file::KeyPieces;
use serde_json::json;

use super::check::check;
use super::evaluate::{Prepared, join};
use super::protocol::{Answer, Part, Run, Share};
use crate::blobs::{Sealing, Source};
use crate::sealed::{Key, Sealer};
use crate::store::jobs::Class;
use crate::store::objects::Kind;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ringmill/tests/golden").join(name)
}

fn run(arguments: &str, key_memory: u64, out: PathBuf) -> Run {
    let [program, keys, arguments] =
        ["kernel", "evaluation.keys", arguments].map(|name| Source::plain(golden(name)));
    Run { program, keys: vec![keys], arguments, out, sealing: None, threads: 1, key_memory, share: None }
}

#[test]
fn runs_give_the_bytes_that_python_gave_wherever_keys_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut prepared = Prepared::default();
    for (arguments, results) in [("arguments", "results"), ("arguments-public", "results-public")] {
        // In memory, and left in their file.
        for key_memory in [u64::MAX, 0] {
            let out = folder.path().join(format!("{arguments}-{key_memory}"));
            let answer = prepared.run(&run(arguments, key_memory, out.clone()), |_| ());
            let Ok(Answer::Done { hash, size, .. }) = answer else { panic!("{answer:?}") };
            let expected = std::fs::read(golden(results)).unwrap();
            assert!(std::fs::read(out).unwrap() == expected);
            assert_eq!((hash, size), (blake3::hash(&expected).to_hex().to_string(), expected.len() as u64));
        }
        prepared = Prepared::default();
    }
}

/// A sealed copy of a golden file.
fn sealed(name: &str, to: PathBuf, key: &Key) -> Source {
    sealed_file(&golden(name), to, key)
}

fn sealed_file(from: &Path, to: PathBuf, key: &Key) -> Source {
    let file = std::fs::File::options().read(true).write(true).create_new(true).open(&to).unwrap();
    let bytes = std::fs::read(from).unwrap();
    let mut sealer = Sealer::begin(file, [1; 32], key).unwrap();
    sealer.write_all(&bytes).unwrap();
    sealer.finish().unwrap();
    let hash = blake3::hash(&bytes).to_hex().to_string();
    sealer.name(&hash, bytes.len() as u64).unwrap();
    Source { path: to, key: Some(key.clone()), hash: Some(hash) }
}

#[test]
fn sealed_files_give_the_same_bytes_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let key = Key::random().unwrap();
    let [program, keys, arguments] =
        ["kernel", "evaluation.keys", "arguments"].map(|name| sealed(name, folder.path().join(name), &key));
    assert!(
        matches!(check(&keys), Ok(Answer::Known { kind: Kind::Keys, hash, .. }) if Some(&hash) == keys.hash.as_ref())
    );
    let expected = std::fs::read(golden("results")).unwrap();
    for key_memory in [u64::MAX, 0] {
        let out = folder.path().join(format!("out-{key_memory}"));
        let sealing = Some(Sealing { salt: [2; 32], key: key.clone() });
        let run = Run {
            program: program.clone(),
            keys: vec![keys.clone()],
            arguments: arguments.clone(),
            sealing,
            ..run("arguments", key_memory, out.clone())
        };
        let answer = Prepared::default().run(&run, |_| ());
        let Ok(Answer::Done { hash, size, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((&hash[..], size), (blake3::hash(&expected).to_hex().as_str(), expected.len() as u64));
        let mut plain = Vec::new();
        let written = Source { path: out, key: Some(key.clone()), hash: Some(hash) };
        written.open().unwrap().read_to_end(&mut plain).unwrap();
        assert!(plain == expected);
    }
    // One file in the place of another is refused, whatever it holds.
    let swapped = Source { path: arguments.path, ..keys };
    assert!(swapped.open().is_err());
}

#[test]
fn keys_of_several_files_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(golden("evaluation.keys")).unwrap();
    let pieces = KeyPieces::find(&whole[..], None).unwrap();
    let (key, expected) = (Key::random().unwrap(), std::fs::read(golden("results")).unwrap());
    let (mut plain, mut closed) = (Vec::new(), Vec::new());
    for index in 0..pieces.len() {
        let path = folder.path().join(format!("key-{index}"));
        pieces.write(index, std::io::Cursor::new(&whole), std::fs::File::create(&path).unwrap()).unwrap();
        plain.push(Source::plain(path.clone()));
        closed.push(sealed_file(&path, folder.path().join(format!("sealed-{index}")), &key));
    }
    assert_eq!(plain.len(), 4);
    let mut prepared = Prepared::default();
    for (name, keys) in [("plain", plain.clone()), ("sealed", closed)] {
        for key_memory in [u64::MAX, 0] {
            let out = folder.path().join(format!("{name}-{key_memory}"));
            let run = Run { keys: keys.clone(), ..run("arguments", key_memory, out.clone()) };
            assert!(matches!(prepared.run(&run, |_| ()), Ok(Answer::Done { .. })));
            assert!(std::fs::read(out).unwrap() == expected);
        }
    }
    let less = Run { keys: plain[1..].to_vec(), ..run("arguments", 0, folder.path().join("less")) };
    let failure = prepared.run(&less, |_| ()).unwrap_err();
    assert_eq!((failure.class, &failure.code[..]), (Class::User, "KeysMissing"), "{failure:?}");
}

/// Two shares of one run each, which are the two batches of the golden files.
#[test]
fn shares_are_joined_as_if_one_worker_had_run_all() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("whole");
    let part = |name: &str, runs| Part { path: golden(name), runs };
    let Ok(Answer::Done { hash, size, .. }) = join(&[part("results", 1), part("results-public", 1)], &out, 2)
    else {
        panic!("not joined")
    };
    let bytes = std::fs::read(&out).unwrap();
    assert_eq!((hash, size), (blake3::hash(&bytes).to_hex().to_string(), bytes.len() as u64));
    let read = |path: PathBuf| Bundle::read(&std::fs::read(path).unwrap()[..], "results").unwrap();
    let (whole, first, second) = (read(out.clone()), read(golden("results")), read(golden("results-public")));
    assert_eq!(whole.facts, first.facts);
    let named = |run: usize, parts: &[(String, Vec<u8>)]| -> Vec<_> {
        parts.iter().map(|(name, bytes)| (format!("{run}/{name}"), bytes.clone())).collect()
    };
    assert_eq!(whole.parts, [named(0, &first.parts), named(1, &second.parts)].concat());
    for (parts, runs) in [(vec![part("results", 1)], 2), (vec![part("results", 1), part("results", 1)], 3)] {
        assert_eq!(join(&parts, &out, runs).unwrap_err().code, "Share");
    }
    assert_eq!(join(&[part("none", 1)], &out, 2).unwrap_err().class, Class::Resource);
    // The golden arguments are of one run.
    let share = Some(Share { first: 1, count: 1 });
    let failure = Prepared::default().run(&Run { share, ..run("arguments", 0, out) }, |_| ()).unwrap_err();
    assert_eq!(failure.code, "Share");
}

#[test]
fn files_that_do_not_fit_are_the_users_fault() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let swapped = Run { keys: vec![Source::plain(golden("arguments"))], ..run("arguments", 0, out.clone()) };
    let other = Run { arguments: Source::plain(golden("results")), ..run("arguments", 0, out.clone()) };
    for wrong in [swapped, other] {
        let failure = Prepared::default().run(&wrong, |_| ()).unwrap_err();
        assert_eq!(failure.class, Class::User, "{failure:?}");
    }
    let missing = Run { keys: vec![Source::plain(folder.path().join("none"))], ..run("arguments", 0, out) };
    assert_eq!(Prepared::default().run(&missing, |_| ()).unwrap_err().class, Class::Resource);
}

#[test]
fn files_say_what_they_are() {
    let known = |name| match check(&Source::plain(golden(name))) {
        Ok(Answer::Known { kind, facts, .. }) => (kind, facts),
        other => panic!("{other:?}"),
    };
    let (kind, program) = known("kernel");
    assert_eq!((kind, &program["kernel"], &program["relin"]), (Kind::Program, &json!("score"), &json!(true)));
    assert_eq!(program["galois"], json!({ "1": 5, "2": 25, "4": 625 }));
    let (kind, keys) = known("evaluation.keys");
    assert_eq!((kind, &keys["params"]), (Kind::Keys, &program["params"]));
    let (kind, arguments) = known("arguments");
    assert_eq!((kind, &arguments["program"]), (Kind::Arguments, &program["program"]));
    assert_eq!((&arguments["names"], &arguments["identity"]), (&json!(["x", "y"]), &keys["identity"]));
    assert_eq!(check(&Source::plain(golden("results"))).unwrap_err().code, "WrongKind");
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let checked = |text: &str| {
        std::fs::write(&set, text).unwrap();
        check(&Source::plain(set.clone()))
    };
    let member = "a".repeat(64);
    let Ok(Answer::Known { kind, facts, .. }) =
        checked(&format!(r#"{{"ringmill":"key set","keys":["{member}"]}}"#))
    else {
        panic!("no set")
    };
    assert_eq!((kind, facts), (Kind::KeySet, json!({ "members": [member] })));
    assert_eq!(checked("{}").unwrap_err().code, "KeySet");
    assert_eq!(checked(&format!("{{{}", " ".repeat(1 << 19))).unwrap_err().code, "TooLarge");
}

/// A name of a part is what somebody sent: one of a run that cannot be is admitted for no less time than that.
#[test]
fn arguments_of_impossible_runs_count_as_as_many() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (name, runs) in [("x", 1), ("0/x", 1), ("6/x", 7), ("18446744073709551615/x", u64::MAX), ("-1/x", 1)]
    {
        let mut bundle = Bundle::read(&std::fs::read(golden("arguments")).unwrap()[..], "arguments").unwrap();
        bundle.parts.truncate(1);
        bundle.parts[0].0 = name.to_owned();
        std::fs::write(&path, bundle.to_bytes().unwrap()).unwrap();
        let Ok(Answer::Known { facts, .. }) = check(&Source::plain(path.clone())) else { panic!("{name}") };
        assert_eq!(facts["runs"], json!(runs), "{name}");
    }
}

#[test]
fn no_byte_of_a_file_can_be_changed_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for name in ["kernel", "evaluation.keys", "arguments"] {
        let bytes = std::fs::read(golden(name)).unwrap();
        // Every byte of the small file, and of the others the first, the last, and some between.
        let step = (bytes.len() / 200).max(1);
        let places = (0..bytes.len()).filter(|at| at % step == 0 || *at < 120 || at + 40 > bytes.len());
        for at in places {
            let mut edited = bytes.clone();
            edited[at] ^= 0x10;
            for other in [&edited[..], &bytes[..at]] {
                std::fs::write(&path, other).unwrap();
                let failure = check(&Source::plain(path.clone())).unwrap_err();
                assert_eq!(failure.class, Class::User, "{name}, byte {at}: {failure:?}");
            }
        }
    }
}
