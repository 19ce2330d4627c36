//! Every `tests/manage/*.rml` file: a traced program, and after `---- managed` what management makes of it.
//!
//! A file holds several cases, each under `==== title`; the chain is [`chain`]. Instead of a program, the expectation
//! may be `error: MESSAGE`. With `RINGMILL_BLESS=1` expectations are written instead of compared.

use std::fmt::Write as _;
use std::path::PathBuf;

use ringmill_program::he::{Chain, Level, Scale, parse};
use ringmill_program::manage::{Options, manage};

/// Five levels of 30-bit primes above a 40-bit base, N = 32.
fn chain() -> Chain {
    let q = vec![1099511626049, 1073741441, 1073741953, 1073740609, 1073742209, 1073739649];
    Chain::new(5, Scale::pow2(30), q, vec![1099511627297], 1).unwrap()
}

fn run(input: &str, top: bool) -> String {
    let program = match parse(input) {
        Ok(program) => program,
        Err(e) => return format!("error: {e}\n"),
    };
    // A title that says "from the top" gives inputs at level 5.
    let options = Options { input_level: top.then_some(Level::new(5)), ..Options::default() };
    match manage(&program, &chain(), &options) {
        Ok(managed) => {
            let text = managed.program.to_string();
            assert_eq!(parse(&text).as_ref(), Ok(&managed.program), "{text}");
            // The chain is the same in every case.
            let body: Vec<&str> = text.lines().filter(|l| !l.starts_with("chain ")).collect();
            let s = &managed.summary;
            format!("# depth {}, keys: {}, hoisted {}\n{}\n", s.depth, s.keys, s.hoisted, body.join("\n"))
        }
        Err(e) => format!("error: {e}\n"),
    }
}

#[test]
fn files_say_what_management_makes() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/manage");
    let bless = std::env::var_os("RINGMILL_BLESS").is_some();
    let mut count = 0;
    for path in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut blessed = String::new();
        for case in text.split("==== ").skip(1) {
            let (title, body) = case.split_once('\n').unwrap();
            let (input, expected) = body.split_once("---- managed\n").unwrap_or((body, ""));
            let got = run(input, title.contains("from the top"));
            write!(blessed, "==== {title}\n{input}---- managed\n{got}").unwrap();
            count += 1;
            if !bless {
                assert_eq!(got.trim_end(), expected.trim_end(), "{}: {title}", path.display());
            }
        }
        if bless {
            std::fs::write(&path, blessed).unwrap();
        }
    }
    assert!(count >= 12, "only {count} cases");
}
