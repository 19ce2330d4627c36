//! The registry and the texts of machines.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::parameter::{Allowed, Value};
use crate::spec::SpecError;

fn entries() -> Vec<&'static Entry> {
    MACHINES.to_vec()
}

fn parse(text: &str) -> Result<MachineSpec, SpecError> {
    MachineSpec::parse_in(&entries(), text)
}

#[test]
fn the_page_in_docs_is_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/machines.md");
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert_eq!(found, page(), "run with RINGMILL_BLESS=1 to rewrite docs/machines.md");
}

#[test]
fn names_are_plain_and_each_stands_once() {
    let plain = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let mut machines = HashSet::new();
    for entry in entries() {
        assert!(plain(entry.name) && machines.insert(entry.name), "{}", entry.name);
        let mut options = HashSet::new();
        for setting in entry.options {
            let p = setting.parameter;
            assert!(plain(p.name) && options.insert(p.name), "{} {}", entry.name, p.name);
            let preset = p.default.map(Value::from);
            assert!(preset.is_none_or(|value| p.allowed.check(&value).is_ok()), "{} {}", entry.name, p.name);
            assert!(!setting.left_out().is_empty(), "{} {}", entry.name, p.name);
        }
        assert!(entry.options.iter().filter(|s| s.unnamed).count() <= 1);
        assert!(entry.options.iter().filter(|s| matches!(s.left_out, LeftOut::Built(_))).count() <= 1);
    }
}

/// Every machine opens with all options left out.
#[test]
fn every_row_opens_its_machine() {
    for entry in MACHINES {
        let opened = MachineSpec::new(entry).open();
        assert!(opened.is_ok(), "{}: {:?}", entry.name, opened.err());
    }
}

/// A value that a parameter may have.
fn value_of(allowed: Allowed) -> BoxedStrategy<Value> {
    match allowed {
        Allowed::Range(least, most) => (least..=most).prop_map(Value::Whole).boxed(),
        Allowed::Numbers(all) => prop::sample::select(all).prop_map(|n| Value::Whole(n.into())).boxed(),
        Allowed::Names(all) => prop::sample::select(all).prop_map(Value::from).boxed(),
        Allowed::HostPort => {
            "([a-z0-9.-]{1,12}|\\[[0-9a-f:]{2,12}\\]):[1-9][0-9]{0,3}".prop_map(Value::Text).boxed()
        }
        Allowed::Path => "[ -~\\t\\nÀ-ÿ]{1,20}|[\"\\\\, =:]{1,8}".prop_map(Value::Text).boxed(),
    }
}

/// A machine with some of its options.
fn spec() -> impl Strategy<Value = MachineSpec> {
    prop::sample::select(entries()).prop_flat_map(|entry| {
        let each: Vec<_> = entry
            .options
            .iter()
            .map(|s| {
                prop::option::of(value_of(s.parameter.allowed)).prop_map(|value| (s.parameter.name, value))
            })
            .collect();
        each.prop_shuffle().prop_map(move |given| {
            given.into_iter().fold(MachineSpec::new(entry), |spec, (option, value)| match value {
                Some(value) => spec.with(option, value).unwrap(),
                None => spec,
            })
        })
    })
}

proptest! {
    /// What is printed reads back as the same machine, whatever the order in which options were given.
    #[test]
    fn a_machine_reads_back_from_its_text(spec in spec()) {
        let text = spec.to_string();
        let read = parse(&text).unwrap();
        prop_assert_eq!(&read, &spec, "{}", text);
        prop_assert_eq!(read.to_string(), text);
    }

    /// No text panics; one that is read is printed in its one form.
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        refused_or_read(&text)?;
    }

    /// The same near valid texts: pieces of them in any order.
    #[test]
    fn texts_that_are_nearly_right_are_read_or_refused(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "cpu", "compact", "file", ":", ",", "=", "\"", "\\", " ", "threads", "word", "path", "4", "54", "-1", "x",
                "99999999999999999999", "multiplier", "barrett", "é",
            ]),
            0..12,
        )
    ) {
        refused_or_read(&pieces.concat())?;
    }
}

fn refused_or_read(text: &str) -> Result<(), TestCaseError> {
    match parse(text) {
        Ok(spec) => prop_assert_eq!(parse(&spec.to_string()), Ok(spec)),
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

#[test]
fn texts_are_written_in_several_ways() {
    let one = |texts: &[&str], form: &str| {
        for text in texts {
            assert_eq!(parse(text).unwrap().to_string(), form, "{text}");
        }
    };
    one(&["cpu", " cpu "], "cpu");
    one(&["cpu:threads=4", "cpu: threads = 4 ", "cpu:threads=\"4\"", "cpu:threads=04"], "cpu:threads=4");
    one(
        &["compact:butterflies=8,word=54", "compact:word=54, butterflies=8"],
        "compact:word=54,butterflies=8",
    );
    one(&["file:a b.bin", "file:path=a b.bin", "file:\"a b.bin\""], "file:path=a b.bin");
    one(&["file:\"a=b\"", "file:path=a=b"], "file:path=a=b");
    one(&[r#"file:"a, \"b\" \\""#], r#"file:path="a, \"b\" \\""#);
}

#[test]
fn what_is_wrong_in_a_text_is_named_with_what_would_be_right() {
    for (text, says) in [
        (
            "gpu",
            "machine \"gpu\" does not exist; machines are cpu, reference, compact, verilator, board, pipelined, taiyi, file",
        ),
        (
            "CPU",
            "machine \"CPU\" does not exist; machines are cpu, reference, compact, verilator, board, pipelined, taiyi, file",
        ),
        (
            "",
            "the machine \"\" cannot be read: it has no name; write it as cpu, or with options as compact:butterflies=8,word=54",
        ),
        (":threads=4", "it has no name"),
        ("cpu:", "a value is missing"),
        ("cpu:threads", "machine cpu has no option \"threads\"; it has threads"),
        ("cpu:threads=", "a value is missing"),
        ("cpu:threads=4,", "a value is missing"),
        ("cpu:=4", "an option has no name"),
        ("cpu:butterflies=4", "machine cpu has no option \"butterflies\"; it has threads"),
        ("reference:threads=4", "machine reference has no option \"threads\"; it has role"),
        ("cpu:threads=many", "machine cpu cannot read threads=\"many\"; give 1 to 256"),
        ("cpu:threads=-1", "machine cpu cannot read threads=\"-1\"; give 1 to 256"),
        ("cpu:threads=0", "machine cpu cannot have threads=0; give 1 to 256"),
        ("cpu:threads=99999999999999999999", "cannot have threads=99999999999999999999; give 1 to 256"),
        ("cpu:threads=1,threads=2", "machine cpu is given threads twice; give it once"),
        ("compact:butterflies=3", "machine compact cannot have butterflies=3; give 1, 2, 4, 8 or 16"),
        (
            "compact:multiplier=booth",
            "machine compact cannot read multiplier=\"booth\"; give word-montgomery, sparse-word-montgomery, prf-fiko, \
             montgomery, barrett or ntt",
        ),
        ("file:\"a", "a quote is not closed"),
        ("file:\"a\\n\"", "a backslash in quotes stands before a quote or a backslash alone"),
        ("file:\"a\"b", "a comma is missing behind a quoted value"),
        ("file:a\"b", "a quote stands inside of a value"),
        ("file:a,b", "machine file is given path twice; give it once"),
        ("file:\"\"", "machine file cannot read path=\"\"; give a path"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let long = parse(&"x".repeat(1 << 20)).unwrap_err().to_string();
    assert!(long.len() < 200, "{long}");
}

#[test]
fn options_are_set_by_name_too() {
    let cpu = MachineSpec::named("cpu").unwrap();
    let four = cpu.clone().with("threads", 4u32).unwrap();
    assert_eq!((four.whole("threads"), four.text("threads"), cpu.get("threads")), (Some(4), None, None));
    assert_eq!(four.clone().with("threads", 2u64).unwrap().to_string(), "cpu:threads=2");
    assert_ne!(four, cpu);
    assert_eq!(four, parse("cpu:threads=4").unwrap());
    assert!(matches!(cpu.clone().with("threads", "4"), Err(SpecError::BadValue { .. })));
    assert!(matches!(cpu.clone().with("threads", 257u64), Err(SpecError::OutOfRange { .. })));
    assert!(matches!(cpu.with("lanes", 2u64), Err(SpecError::UnknownOption { .. })));
    assert!(matches!(MachineSpec::named("cpu:threads=4"), Err(SpecError::UnknownMachine { .. })));
}
