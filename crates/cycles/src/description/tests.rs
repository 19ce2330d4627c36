//! Descriptions: those that come with the program, a complete one, bases, and what is refused.

use std::fs;

use super::*;

/// A small machine with every table.
const WHOLE: &str = r#"
[machine]
name = "small"
title = "A small machine"
word_bits = 60
ghz = 0.5
mode = "parallel"
clusters = 2
technology = "28 nm"
source = "a test"
sources = { ghz = "assumed: half a gigahertz" }

[unit.ntt]
count = 2
rows = "n/64"
first = 40
last = "n/64 + 50"
width = 64
reads = 128
writes = 64
accumulators = 1
together = 3
buffers = 2
cluster = "each"
source = "a test"

[unit.ewe]
rows = "n*terms/64"
first = 4
last = "n*terms/64 + 4"
width = 64
source = "a test"

[runs]
ntt = "ntt"
intt = "ntt"
lift = { with = "ntt", else = "ewe" }
add = "ewe"
dot = "ewe"
neg = "none"

[memory.limbs]
bytes = 1000000
banks = 4
bytes_per_cycle = 2048
holds = ["value", "data", "plain"]
source = "a test"

[memory.keys]
bytes = 500000
holds = ["key"]
source = "a test"

[offchip.ddr]
bytes_per_cycle = 12.5
latency = 100
beat = 64
pack = "word"
queue = 8
source = "a test"

[keys]
seeded = true
expand = "ewe"
source = "a test"

[network]
cycles = 3
source = "a test"

[area]
node = "28 nm"
ntt = 1.5
limbs = 2
rest = 0.5
source = "a test"

[energy]
node = "28 nm"
ntt = 10
keys = 0.5
ddr = 40
watts = 0.1
source = "a test"
"#;

fn read(text: &str) -> Result<Description, String> {
    Description::from_toml("small.toml", text).map_err(|e| e.to_string())
}

/// The machine with one text in place of another that occurs in it.
fn with(old: &str, new: &str) -> String {
    assert!(WHOLE.contains(old), "{old}");
    WHOLE.replacen(old, new, 1)
}

#[test]
fn every_description_that_comes_with_the_program_is_read_and_says_what_is_assumed() {
    for name in Description::shipped() {
        let d = Description::named(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(d.name, name);
        assert!(d.sources.iter().all(|origin| !origin.source.is_empty()));
        assert!(d.assumed().count() > 0 && d.assumed().count() < d.sources.len());
        assert!(d.area.as_ref().is_none_or(|area| area.total() > 100.0));
    }
    let taiyi = Description::named("taiyi").unwrap();
    // Printed: 151.6 mm², 456 limbs of 36 bits at N = 2^16, 24,576 multiply-accumulators, a limb every 64 cycles.
    assert!((taiyi.area.as_ref().unwrap().total() - 151.6).abs() < 0.1);
    assert_eq!(taiyi.memories[0].bytes * 8, (456 * 36) << 16);
    assert_eq!(taiyi.units.iter().map(|u| u.width).max(), Some(24_576));
    let figures = |unit: &str, terms: u32| {
        let u = taiyi.unit(unit).unwrap();
        [&u.rows, &u.first, &u.last].map(|e| e.of(16).at(terms))
    };
    assert_eq!(figures("ntt", 1)[0], 64);
    // What rtl/taiyi_ntt/README.md derives for a limb in four clusters and ten cycles a multiplier, and rtl/taiyi_prng/README.md.
    assert_eq!(figures("ntt", 1)[1..], [347, 411]);
    assert!(figures("prng", 1)[0] >= 116 && figures("prng", 1)[1] >= 52);
    // A word meets 24 keys, and 12 targets.
    let together = |unit: &str| taiyi.unit(unit).unwrap().together;
    assert_eq!((together("ip"), together("bconv"), together("ewe")), (24, 12, 1));
    assert_eq!(figures("ip", 6)[0], 6 * 64);
    assert_eq!(Description::named("taiyi-serial").unwrap().mode, Mode::Serial);
}

#[test]
fn every_table_is_read() {
    let d = read(WHOLE).unwrap();
    assert_eq!(
        (d.name.as_str(), d.word_bits, d.ghz, d.mode, d.clusters),
        ("small", 60, 0.5, Mode::Parallel, 2)
    );
    assert_eq!((d.technology.as_deref(), d.network), (Some("28 nm"), 3));
    let ntt = d.unit("ntt").unwrap();
    assert_eq!((ntt.count, ntt.width, ntt.reads, ntt.writes), (2, 64, Some(128), Some(64)));
    assert_eq!((ntt.accumulators, ntt.together, ntt.buffers, ntt.in_clusters), (Some(1), 3, 2, true));
    assert_eq!(d.unit("ewe").unwrap().together, 1);
    assert_eq!((ntt.rows.of(10).at(1), ntt.first.of(10).at(1), ntt.last.of(10).at(1)), (16, 40, 66));
    let place = |name: &str| d.units.iter().position(|u| u.name == name).unwrap();
    assert_eq!(d.run_of(Kind::Lift), Some(Run::With(Kind::Ntt, place("ewe"))));
    assert_eq!((d.run_of(Kind::DotKey), d.run_of(Kind::Neg)), (Some(Run::On(place("ewe"))), Some(Run::Free)));
    assert_eq!(d.run_of(Kind::Mul), None);
    let [keys, limbs] = &d.memories[..] else { panic!() };
    assert_eq!((limbs.banks, limbs.bytes_per_cycle, keys.bytes_per_cycle), (4, Some(2048), None));
    assert_eq!(keys.holds, [Class::Key, Class::SeededKey]);
    let ddr = &d.channels[0];
    assert_eq!((ddr.millibytes_per_cycle, ddr.latency, ddr.beat, ddr.queue), (12_500, 100, 64, Some(8)));
    assert_eq!((ddr.pack, ddr.carries.len(), d.expand), (Pack::Word, 5, Some(place("ewe"))));
    let energy = d.energy.as_ref().unwrap();
    assert_eq!(
        (energy.units[place("ntt")], energy.units[place("ewe")], energy.watts),
        (Some(10.0), None, Some(0.1))
    );
    assert_eq!((energy.memories[0], energy.channels[0]), (Some(0.5), Some(40.0)));
    assert_eq!(d.area.as_ref().unwrap().total(), 4.0);
    let assumed: Vec<_> = d.assumed().map(|o| (&*o.table, &*o.field)).collect();
    assert_eq!(assumed, [("machine", "ghz")]);
    assert!(read(&with("seeded = true", "seeded = false")).unwrap().expand.is_none());
}

#[test]
fn a_base_gives_what_a_description_leaves_out_with_its_source() {
    let folder = std::env::temp_dir().join(format!("ringmill-cycles-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("small.toml"), WHOLE).unwrap();
    let path = folder.join("fast.toml");
    let fast = "[machine]\nbase = \"small.toml\"\nname = \"fast\"\nghz = 2\nsource = \"a plan\"\n[unit.ntt]\ncount = 4\nsource = \"a plan\"\n\
                [unit.more]\nrows = 1\nfirst = 1\nlast = 1\nwidth = 1\nsource = \"a plan\"\n[runs]\nneg = \"more\"\n";
    fs::write(&path, fast).unwrap();
    let d = Description::named(path.to_str().unwrap()).unwrap();
    assert_eq!((d.name.as_str(), d.ghz, d.word_bits, d.units.len()), ("fast", 2.0, 60, 3));
    let source = |table: &str, field: &str| {
        d.sources.iter().find(|o| o.table == table && o.field == field).map(|o| o.source.as_str())
    };
    assert_eq!((source("machine", "ghz"), source("machine", "word_bits")), (Some("a plan"), Some("a test")));
    assert_eq!((source("unit.ntt", "count"), source("unit.ntt", "rows")), (Some("a plan"), Some("a test")));
    assert_eq!(d.run_of(Kind::Neg), Some(Run::On(d.units.iter().position(|u| u.name == "more").unwrap())));
    // A new number has no source of the base's.
    fs::write(&path, "[machine]\nbase = \"small.toml\"\nghz = 2\n").unwrap();
    let refused = Description::named(path.to_str().unwrap()).unwrap_err().to_string();
    assert!(refused.contains("[machine]: `ghz` has no source"), "{refused}");
    // A base of a base leaves nothing behind.
    let faster = folder.join("faster.toml");
    fs::write(&path, fast).unwrap();
    fs::write(&faster, "[machine]\nbase = \"fast.toml\"\nghz = 3\nsource = \"a plan\"\n").unwrap();
    assert_eq!(Description::named(faster.to_str().unwrap()).unwrap().ghz, 3.0);
    fs::write(&path, "[machine]\nbase = \"fast.toml\"\n").unwrap();
    let refused = Description::named(path.to_str().unwrap()).unwrap_err().to_string();
    assert!(refused.contains("names a base more than 8 times"), "{refused}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_would_be_right() {
    let cases = [
        (
            "[machine]",
            "[machin]",
            "there is no table [machin] (did you mean \"machine\"?); tables are machine, unit, runs",
        ),
        ("ghz = 0.5\n", "", "[machine]: `sources` names the field \"ghz\", which is not described"),
        (
            "word_bits = 60\n",
            "",
            "[machine]: the field `word_bits` is missing; give a whole number, 8 to 64 bits",
        ),
        (
            "word_bits = 60",
            "word_bits = 65",
            "[machine]: `word_bits` is 65; give a whole number, 8 to 64 bits",
        ),
        (
            "word_bits = 60",
            "word_bits = \"60\"",
            "[machine]: `word_bits` is \"60\"; give a whole number, 8 to 64 bits",
        ),
        ("ghz = 0.5", "ghz = nan", "[machine]: `ghz` is nan; give 0.000001 to 1000 GHz"),
        (
            "mode = \"parallel\"",
            "mode = \"both\"",
            "[machine]: `mode` is \"both\"; give \"parallel\" or \"serial\"",
        ),
        (
            "count = 2",
            "cout = 2",
            "[unit.ntt]: there is no field `cout` (did you mean \"count\"?); fields are count, rows",
        ),
        (
            "rows = \"n/64\"\n",
            "",
            "[unit.ntt]: the field `rows` is missing; give cycles that an instruction holds the unit",
        ),
        (
            "rows = \"n/64\"",
            "rows = \"n/lanes\"",
            "[unit.ntt]: `rows` = \"n/lanes\" is no figure: `lanes` is no name of a figure",
        ),
        ("rows = \"n/64\"", "rows = 0", "[unit.ntt]: `rows` is 0 at N = 2^4 and 1 terms"),
        (
            "last = \"n/64 + 50\"",
            "last = 20",
            "[unit.ntt]: `last` is 20 at N = 2^4 and 1 terms, before `rows` (1) or `first` (40)",
        ),
        ("width = 64\n", "", "[unit.ntt]: the field `width` is missing"),
        ("together = 3", "together = 0", "[unit.ntt]: `together` is 0; give a whole number, 1 to 4096"),
        ("cluster = \"each\"", "cluster = 2", "[unit.ntt]: `cluster` is 2; give \"all\" or \"each\""),
        (
            "cluster = \"each\"\nsource = \"a test\"",
            "cluster = \"each\"",
            "[unit.ntt]: `accumulators` has no source; write source =",
        ),
        ("technology = \"28 nm\"\nsource = \"a test\"", "source = \" \"", "has no source"),
        (
            "sources = { ghz =",
            "sources = { gz =",
            "[machine]: `sources` names the field \"gz\", which is not described; there are clusters, ghz",
        ),
        (
            "ntt = \"ntt\"\nintt",
            "nnt = \"ntt\"\nintt",
            "[runs]: `nnt` names the instruction \"nnt\", which is not described (did you mean",
        ),
        (
            "add = \"ewe\"",
            "add = \"ewee\"",
            "[runs]: `add` names the unit \"ewee\", which is not described (did you mean \"ewe\"?); there are ewe, ntt, none",
        ),
        ("add = \"ewe\"", "add = 3", "[runs]: `add` is 3; give the name of a unit, \"none\", or { with ="),
        (
            "lift = { with = \"ntt\", else = \"ewe\" }",
            "lift = { with = \"ntt\" }",
            "[runs]: `lift` is { with = \"ntt\" }; give",
        ),
        (
            "add = \"ewe\"",
            "add = { with = \"ntt\", else = \"ewe\" }",
            "[runs]: a `add` reads several limbs, so it is part of no other",
        ),
        ("with = \"ntt\"", "with = \"neg\"", "[runs]: `lift` is part of a `neg`, which no unit runs"),
        (
            "holds = [\"key\"]",
            "holds = [\"keys\"]",
            "[memory.keys]: `holds` is \"keys\"; give a list of value, key, plain, data",
        ),
        ("holds = [\"key\"]", "holds = []", "[memory]: none has `key` in `holds`; one of them must"),
        ("holds = [\"key\"]\n", "", "[memory]: keys and limbs have `value` in `holds`; one of them may"),
        ("banks = 4", "banks = 0", "[memory.limbs]: `banks` is 0; give a whole number, 1 to 4096"),
        ("bytes = 1000000", "bytes = -1", "[memory.limbs]: `bytes` is -1; give a whole number"),
        (
            "bytes_per_cycle = 12.5",
            "bytes_per_cycle = 0",
            "[offchip.ddr]: `bytes_per_cycle` is 0; give 0.001 to",
        ),
        (
            "pack = \"word\"",
            "pack = \"limb\"",
            "[offchip.ddr]: `pack` is \"limb\"; give \"prime\" or \"word\"",
        ),
        (
            "expand = \"ewe\"",
            "expand = \"prng\"",
            "[keys]: `expand` names the unit \"prng\", which is not described",
        ),
        ("expand = \"ewe\"\n", "", "[keys]: the field `expand` is missing"),
        (
            "rest = 0.5",
            "nttu = 0.5",
            "[area]: `nttu` names the unit or memory \"nttu\", which is not described (did you mean \"ntt\"?)",
        ),
        ("ddr = 40", "ddr = -40", "[energy]: `ddr` is -40; give 0 to 1000000000 picojoules"),
        ("[unit.ewe]", "[unit.limbs]", "`limbs` is the name of two things"),
        ("[unit.ewe]", "[unit.\"e w\"]", "[unit.e w]: a name has 1 to 32 letters, digits, `_` and `-`"),
        (
            "[network]\ncycles = 3",
            "[network]\ncycles = 3.5",
            "[network]: `cycles` is 3.5; give a whole number",
        ),
        ("[runs]", "[runs", "no TOML"),
        (
            "name = \"small\"",
            "name = \"small\"\nbase = 3",
            "`base` is 3; give the name of a machine that comes with the program",
        ),
        (
            "name = \"small\"",
            "name = \"small\"\nbase = \"tayi\"",
            "no machine \"tayi\" comes with the program (did you mean \"taiyi\"?); there are taiyi, ",
        ),
    ];
    let mut wrong = Vec::new();
    for (old, new, says) in cases {
        let error = read(&with(old, new)).err().unwrap_or_else(|| "nothing".into());
        if !error.contains(says) || !(error.starts_with("small.toml") || error.contains("tayi")) {
            wrong.push(format!("{new}\n  said:     {error}\n  expected: {says}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for table in ["machine", "unit", "runs", "memory", "offchip"] {
        let kept: Vec<_> =
            WHOLE.split("\n[").filter(|part| !part.trim_start_matches('[').starts_with(table)).collect();
        let error = read(&kept.join("\n[")).expect_err(table);
        assert!(error.contains(&format!("the table [{table}] is missing")), "{table}: {error}");
    }
    let none = Description::named("nowhere/none.toml").unwrap_err().to_string();
    assert!(none.starts_with("nowhere/none.toml: the file cannot be read"), "{none}");
    let folder =
        Description::named(&format!("{}/x.toml", env!("CARGO_MANIFEST_DIR"))).unwrap_err().to_string();
    assert!(folder.contains("cannot be read"), "{folder}");
}

proptest::proptest! {
    /// No text panics, and what is left of a description after a cut is read or refused.
    #[test]
    fn any_cut_of_a_description_is_read_or_refused(from in 0usize..1600, long in 0usize..200) {
        let bytes = WHOLE.as_bytes();
        let cut = [&bytes[..from.min(bytes.len())], &bytes[(from + long).min(bytes.len())..]].concat();
        if let Err(error) = read(&String::from_utf8_lossy(&cut)) {
            proptest::prop_assert!(error.contains("small.toml") || error.contains("comes with the program"), "{}", error);
        }
    }
}
