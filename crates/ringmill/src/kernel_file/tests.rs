//! The oracle is the Python package, which wrote every file of `tests/golden`: kernel, keys, arguments under the secret and the public
//! key, and the results that `Compiled.evaluate` gave.

use std::collections::BTreeMap;

use ringmill_ckks::file::{Stored, inspect_keys};
use ringmill_ckks::{Ciphertext, EvaluationKeys, Library};
use ringmill_program::cost::CostTable;

use super::{Batches, KernelFile, KernelFileError};
use crate::bundle::{Bundle, Json};
use crate::{Evaluator, Input, default_machine};

const KERNEL: &[u8] = include_bytes!("../../tests/golden/kernel");
const KEYS: &[u8] = include_bytes!("../../tests/golden/evaluation.keys");
const RUNS: [(&[u8], &[u8]); 2] = [
    (include_bytes!("../../tests/golden/arguments"), include_bytes!("../../tests/golden/results")),
    (
        include_bytes!("../../tests/golden/arguments-public"),
        include_bytes!("../../tests/golden/results-public"),
    ),
];

fn golden() -> KernelFile {
    KernelFile::read(KERNEL).unwrap()
}

/// The kernel with another fact or part.
fn altered(change: impl FnOnce(&mut Bundle)) -> Result<KernelFile, KernelFileError> {
    let mut bundle = Bundle::read(KERNEL, "kernel").unwrap();
    change(&mut bundle);
    KernelFile::read(&bundle.to_bytes().unwrap()[..])
}

fn stating(name: &str, value: Json) -> Result<KernelFile, KernelFileError> {
    altered(|bundle| {
        bundle.facts.retain(|(n, _)| n != name);
        bundle.facts.push((name.to_owned(), value));
    })
}

#[test]
fn results_are_the_bytes_that_python_writes() {
    let file = golden();
    let keys = EvaluationKeys::from_bytes(file.params(), KEYS).unwrap();
    let kernel = file.kernel(default_machine().unwrap()).unwrap();
    for (arguments, results) in RUNS {
        let arguments = file.arguments(arguments).unwrap();
        assert_eq!((arguments.records, arguments.runs.len()), (None, 1));
        let inputs = arguments.runs[0].iter().map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
        let found = kernel.run(&inputs, &keys).unwrap();
        let found = Batches { records: None, runs: vec![found] };
        assert!(file.results(&found).unwrap().to_bytes().unwrap() == results);
    }
}

#[test]
fn a_kernel_tells_what_it_is() {
    let file = golden();
    assert_eq!((file.name(), file.digest()), ("score", "5b3439995619ff68408d8ccd452c6bd8"));
    let needed = file.keys_needed().unwrap();
    // 5^k modulo 2N = 2048.
    assert_eq!(needed.galois, [(1, 5), (2, 25), (4, 625)].into());
    assert!(needed.relin && !needed.encapsulation);
    let (info, list) = inspect_keys(KEYS).unwrap();
    assert_eq!(info.fingerprint, file.params().fingerprint());
    assert!(list.relin && !list.encapsulation);
    let mut galois = list.galois;
    galois.sort_unstable();
    assert_eq!(galois, [5, 25, 625]);
    let predicted = file.predict(&CostTable::shipped()).unwrap();
    assert!(predicted.seconds > 0.0 && predicted.seconds < 1.0);
    // Four keys of three digits over four primes, two halves each; a residue takes four bytes at least, eight at most.
    let residues = 4 * 3 * 4 * 2 * 1024;
    assert!((4 * residues..=8 * residues).contains(&predicted.key_bytes));
}

/// What a header says of private weights: errors and bounds of results.
fn declared(errors: &[(&str, f64)], bounds: &[(&str, f64)]) -> Json {
    let of = |rows: &[(&str, f64)]| {
        Json::Object(rows.iter().map(|&(name, x)| (name.to_owned(), Json::Float(x))).collect())
    };
    Json::Object(vec![("errors".to_owned(), of(errors)), ("bounds".to_owned(), of(bounds))])
}

#[test]
fn results_of_private_weights_state_what_is_declared() {
    let (plain, keys) = (golden(), EvaluationKeys::from_bytes(golden().params(), KEYS).unwrap());
    let names: Vec<_> = plain.plan().managed.program.outputs().iter().map(|o| o.name.clone()).collect();
    let all = |x| names.iter().map(|name| (&name[..], x)).collect::<Vec<_>>();
    let file = stating("declared", declared(&all(-3.0), &all(1e6))).unwrap();
    let name = &names[0];
    let arguments = file.arguments(RUNS[0].0).unwrap();
    let inputs = arguments.runs[0].iter().map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
    let kernel = file.kernel(default_machine().unwrap()).unwrap();
    let found = kernel.run(&inputs, &keys).unwrap();
    let stated = |file: &KernelFile| {
        let bytes = file.results(&Batches { records: None, runs: vec![found.clone()] }).unwrap();
        let cipher = Ciphertext::from_bytes(file.params(), bytes.part(name).unwrap()).unwrap();
        (cipher.noise().magnitude(), cipher.meta().error_log2())
    };
    // Steps of eight bits of the bound, of four of an error beyond the promised one.
    assert_eq!(stated(&file), (24f64.exp2(), 0.0));
    assert!(stated(&plain).0 < 24f64.exp2());
    assert!(stated(&plain).1 < 0.0);
}

#[test]
fn a_result_that_everybody_decrypts_is_refused() {
    let (file, keys) = (golden(), EvaluationKeys::from_bytes(golden().params(), KEYS).unwrap());
    let arguments = file.arguments(RUNS[0].0).unwrap();
    let inputs = arguments.runs[0].iter().map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
    let mut found = file.kernel(default_machine().unwrap()).unwrap().run(&inputs, &keys).unwrap();
    let batches = |found: &BTreeMap<_, _>| Batches { records: None, runs: vec![found.clone()] };
    assert!(file.results(&batches(&found)).is_ok());
    let evaluator = Evaluator::new(file.params()).unwrap();
    let (name, result) = found.pop_first().unwrap();
    found.insert(name.clone(), evaluator.sub(&result, &result).unwrap());
    let refused = file.results(&batches(&found)).unwrap_err();
    assert!(matches!(&refused, KernelFileError::Transparent { part } if *part == name), "{refused}");
}

#[test]
fn a_kernel_of_a_library_computes_its_residues() {
    let run = |file: &KernelFile| {
        let keys = EvaluationKeys::from_bytes(file.params(), KEYS).unwrap();
        let kernel = file.kernel(default_machine().unwrap()).unwrap();
        let arguments = file.arguments(RUNS[0].0).unwrap();
        let inputs = arguments.runs[0].iter().map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
        let (_, found) = kernel.run(&inputs, &keys).unwrap().pop_first().unwrap();
        (kernel.evaluator().library(), found.polys().to_vec())
    };
    let (none, own) = run(&golden());
    assert_eq!(none, None);
    for library in Library::ALL {
        let file = stating("switching", library.name().into()).unwrap();
        assert!(file.predict(&CostTable::shipped()).unwrap().seconds > 0.0);
        let (found, polys) = run(&file);
        assert_eq!(found, Some(library));
        assert!(polys != own, "{library}");
    }
}

#[test]
fn other_facts_are_refused() {
    let damaged = [
        ("magnitude", Json::Float(0.0)),
        ("magnitude", Json::Float(1e300)),
        ("bound", Json::Float(0.5)),
        ("bound", Json::Whole(1)),
        ("switching", Json::Whole(1)),
        ("output_level", Json::Whole(100)),
        ("rotation_keys", Json::Whole(-1)),
        ("precision", Json::Bool(true)),
        ("precision", Json::Whole(65)),
        ("declared", Json::Whole(1)),
        ("declared", declared(&[("out", -20.0)], &[("out", 2.0)])),
        ("declared", declared(&[("out.0", 2000.0)], &[("out.0", 2.0)])),
        ("declared", declared(&[("out.0", -20.0)], &[("out.0", 0.0)])),
        ("declared", declared(&[("out.0", -20.0), ("more", 1.0)], &[("out.0", 2.0)])),
    ];
    for (name, value) in damaged {
        let refused = stating(name, value.clone()).unwrap_err();
        assert!(matches!(refused, KernelFileError::Damaged { .. }), "{name} {value}: {refused}");
    }
    let switching = stating("switching", "auto".into()).unwrap_err();
    assert!(switching.to_string().contains("switching=\"hybrid\""), "{switching}");
    let program = stating("program", "0".repeat(32)[..].into()).unwrap_err();
    assert!(matches!(program, KernelFileError::OtherProgram { what: "kernel file", .. }));
}

#[test]
fn a_signature_has_one_form() {
    let signature = Bundle::read(KERNEL, "kernel").unwrap().part("signature").unwrap().to_vec();
    let text = String::from_utf8(signature).unwrap();
    let rows = [
        ("\"slots\": 8", "\"slots\": 7"),
        ("\"slots\": 8", "\"slots\": 8.0"),
        ("\"real\": true", "\"real\": 1"),
        ("\"packing\": \"slots\"", "\"packing\": \"boxes\""),
        ("\"low\": -1.0", "\"low\": 1.0"),
        ("\"low\": -1.0", "\"more\": 1, \"low\": -1.0"),
        ("\"slots\": 8", "\"slots\": 8, \"lanes\": 0"),
        ("\"slots\": 8", "\"slots\": 8, \"lanes\": 3"),
        ("\"slots\": 8", "\"slots\": 8, \"form\": \"set\""),
        ("\"slots\": 8", "\"slots\": 8, \"form\": 1"),
        ("\"slots\": 8", "\"slots\": 8, \"lanes\": 16"),
        ("\"shape\": [8]", "\"shape\": [0]"),
        ("\"version\": 1", "\"version\": 2"),
    ];
    for (from, to) in rows {
        assert!(text.contains(from), "{from} does not occur in {text}");
        let other = text.replacen(from, to, 1);
        let refused = altered(|bundle| {
            let parts = bundle.parts.iter_mut();
            parts
                .filter(|(name, _)| name == "signature")
                .for_each(|(_, data)| *data = other.clone().into_bytes());
        });
        assert!(matches!(refused, Err(KernelFileError::Damaged { .. })), "{to}: {refused:?}");
    }
}

#[test]
fn arguments_of_others_are_refused() {
    let file = golden();
    let mut bundle = Bundle::read(RUNS[0].0, "arguments").unwrap();
    let without = Bundle { parts: bundle.parts[..1].to_vec(), ..bundle.clone() }.to_bytes().unwrap();
    let missing = file.arguments(&without[..]).unwrap_err();
    assert_eq!(missing.to_string(), "the arguments miss y; encrypt all arguments together");
    bundle.facts[1].1 = "0".repeat(32)[..].into();
    let other = file.arguments(&bundle.to_bytes().unwrap()[..]).unwrap_err();
    assert!(matches!(other, KernelFileError::OtherProgram { what: "arguments", .. }));
    let mut counted = Bundle::read(RUNS[0].0, "arguments").unwrap();
    counted.facts.push(("records".to_owned(), Json::Whole(3)));
    let counted = file.arguments(&counted.to_bytes().unwrap()[..]).unwrap_err();
    assert!(matches!(counted, KernelFileError::Records { lanes: 1 }));
    let results = file.arguments(RUNS[0].1).unwrap_err();
    assert_eq!(results.code(), "WrongKind");
}

#[test]
fn damaged_programs_end_in_errors() {
    let bundle = Bundle::read(KERNEL, "kernel").unwrap();
    let program = bundle.part("program").unwrap().to_vec();
    // Every byte replaced and every tail cut: parsed again, never a panic; what parses is another program.
    for at in 0..program.len() {
        let mut replaced = program.clone();
        replaced[at] = if replaced[at] == b'9' { b'8' } else { b'9' };
        for other in [replaced, program[..at].to_vec()] {
            let read = altered(|bundle| {
                let parts = bundle.parts.iter_mut();
                parts.filter(|(name, _)| name == "program").for_each(|(_, data)| *data = other.clone());
            });
            if let Ok(read) = read {
                // The numbers that a program holds are no part of its digest.
                assert_eq!(read.digest(), golden().digest());
            }
        }
    }
}
