//! The declaration of a core's parameters against the top module, and what is printed from it against its files.

use std::path::PathBuf;

use super::super::parameters::{DECLARED, PARAMETERS, print};
use super::super::*;
use crate::parameter::{Allowed, Value};

fn root() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect()
}

/// `parameter int unsigned NAME = VALUE` of a module, in order.
fn of_module(text: &str) -> Vec<(String, String)> {
    let head = text.split_once("\n#(").unwrap().1.split_once("\n) (").unwrap().0;
    let each = head
        .split(',')
        .map(|line| line.split_once("parameter int unsigned").unwrap().1.split_once('=').unwrap());
    each.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// `localparam int unsigned NAME = VALUE` of a package.
fn of_package(text: &str, name: &str) -> u32 {
    let line = text
        .lines()
        .find(|line| line.contains("localparam int unsigned") && line.contains(&format!(" {name} ")));
    let value = line.unwrap_or_else(|| panic!("{name}")).split_once('=').unwrap().1;
    value.split_once(';').unwrap().0.trim().parse().unwrap()
}

/// What `rm_modmul_pkg` calls the multipliers and the tiles, `rm_lut_unit_pkg` the units.
const CONSTANTS: [(&str, &str); 13] = [
    ("word-montgomery", "KindP2"),
    ("sparse-word-montgomery", "KindP2Sparse"),
    ("prf-fiko", "KindPrf"),
    ("montgomery", "KindMontgomery"),
    ("barrett", "KindBarrett"),
    ("ntt", "KindNtt"),
    ("lut", "TileLut"),
    ("ecp5", "TileEcp5"),
    ("dsp48e1", "TileDsp48e1"),
    ("dsp48e2", "TileDsp48e2"),
    ("none", "LutUnitNone"),
    ("transforms", "LutUnitTransforms"),
    ("arithmetic", "LutUnitArithmetic"),
];

fn constant(name: &str) -> &'static str {
    CONSTANTS.iter().find(|(ours, _)| *ours == name).unwrap().1
}

#[test]
fn the_top_module_has_these_parameters_with_these_defaults() {
    let text = std::fs::read_to_string(root().join("rtl/core/src/rm_compact_core.sv")).unwrap();
    let packages = ["modmul/src/rm_modmul_pkg.sv", "core/src/rm_lut_unit_pkg.sv"];
    let package =
        packages.map(|file| std::fs::read_to_string(root().join("rtl").join(file)).unwrap()).concat();
    let declared = DECLARED.iter().filter_map(|p| p.rtl.zip(p.default)).map(|(rtl, default)| {
        let value = match Value::from(default) {
            Value::Whole(n) => n.to_string(),
            Value::Text(name) => {
                let unit = constant(&name).starts_with("LutUnit");
                format!("{}::{}", if unit { "rm_lut_unit_pkg" } else { "rm_modmul_pkg" }, constant(&name))
            }
        };
        (rtl.to_owned(), value)
    });
    let mut found = of_module(&text);
    let least = found.iter().position(|(name, _)| name == "LOGN_MIN").unwrap();
    assert_eq!(found.remove(least).1, CompactLiteral::LOG_N_MIN.to_string());
    assert_eq!(found, declared.collect::<Vec<_>>());
    for kind in Multiplier::ALL {
        assert_eq!(of_package(&package, constant(kind.name())), kind.code(), "{}", kind.name());
    }
    for p in DECLARED.iter().filter(|p| p.rtl.is_some()) {
        let Allowed::Names(all) = p.allowed else { continue };
        for (name, number) in all.iter().zip(0..) {
            assert_eq!(of_package(&package, constant(name)), number, "{name}");
        }
    }
}

/// The simulator's struct has a field for each of the hardware's parameters.
#[test]
fn a_simulated_core_says_all_that_it_was_built_for() {
    let built = PARAMETERS.iter().filter(|p| p.parameter.rtl.is_some()).count();
    assert_eq!((built, print::c_header().matches("  X(").count()), (simulated::BUILT, simulated::BUILT));
}

#[test]
fn what_is_printed_is_what_the_files_hold() {
    let files = [
        ("rtl/core/parameters.json", print::table()),
        ("rtl/sim/src/rm_core_parameters.h", print::c_header()),
        ("python/ringmill/project/parameters.py", print::python()),
    ];
    for (name, text) in files {
        let path = root().join(name);
        if std::env::var_os("RINGMILL_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, text, "run with RINGMILL_BLESS=1 to rewrite {name}");
    }
}

/// The table of a page stands between two marks.
#[test]
fn the_page_on_the_hardware_has_the_table() {
    let path = root().join("docs/hardware.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- parameters -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- /parameters -->\n").unwrap();
    let wanted = format!("{before}<!-- parameters -->\n{}<!-- /parameters -->\n{after}", print::page());
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        wanted,
        "run with RINGMILL_BLESS=1 to rewrite docs/hardware.md"
    );
}

/// Every parameter is reached by its name: what is set is what is there, and changes nothing else.
#[test]
fn parameters_are_set_one_by_one() {
    let default = CompactLiteral::default();
    for p in PARAMETERS {
        let other = match p.parameter.allowed {
            Allowed::Names(all) => Value::from(all[0]),
            allowed => allowed.most().unwrap().into(),
        };
        let mut changed = default;
        (p.set)(&mut changed, &other);
        assert_eq!((p.get)(&changed), other, "{}", p.parameter.name);
        assert_ne!(changed, default, "{}", p.parameter.name);
        (p.set)(&mut changed, &(p.get)(&default));
        assert_eq!(changed, default, "{}", p.parameter.name);
    }
}
