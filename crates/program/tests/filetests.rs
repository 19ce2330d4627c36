//! Runs every file under `tests/filetests`. A file holds cases:
//!
//! ```text
//! ==== COMMAND title
//! input
//! ----
//! expected output
//! ```
//!
//! Commands: `print` reads a limb program and prints it (or the error, with its line); the line after `====`
//! is line 1. `lower` reads a managed HE program and prints its limb program. `schedule N` reads a limb program, loads
//! data and plaintext limbs and schedules for N buffers (`schedule least`: for as few as can be). With `RINGMILL_BLESS=1` the output is written instead of compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ringmill_program::lower::lower;
use ringmill_program::schedule::{Memory, load_inputs, schedule};
use ringmill_program::{he, limb};

fn run(command: &str, argument: &str, input: &str) -> String {
    match command {
        "schedule" => match limb::parse(input) {
            Ok(program) => {
                let program = load_inputs(&program, &[limb::InputClass::Data, limb::InputClass::Plain]);
                let memory = argument.parse().map_or(Memory::Least, Memory::Buffers);
                schedule(&program, memory).map_or_else(|e| format!("error: {e}\n"), |p| round_trip(&p))
            }
            Err(e) => format!("error: {e}\n"),
        },
        "print" => match limb::parse(input) {
            Ok(program) => round_trip(&program),
            Err(e) => format!("error: {e}\n"),
        },
        "lower" => match he::parse(input).map_err(|e| e.to_string()) {
            Ok(program) => match lower(&program) {
                Ok(lowered) => round_trip(&lowered.program),
                Err(e) => format!("error: {e}\n"),
            },
            Err(e) => format!("error: {e}\n"),
        },
        _ => format!("error: unknown command `{command}`\n"),
    }
}

/// The program's text, which must read back to the same program.
fn round_trip(program: &limb::LimbProgram) -> String {
    let text = program.to_string();
    match limb::parse(&text) {
        Ok(again) => assert!(again == *program, "the text reads back to another program:\n{text}"),
        Err(e) => panic!("the text does not read back: {e}\n{text}"),
    }
    text
}

struct Case<'a> {
    title: &'a str,
    input: &'a str,
    expected: &'a str,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let blocks =
        text.strip_prefix("==== ").unwrap_or_else(|| panic!("a file begins with `==== COMMAND title`"));
    blocks
        .split("\n==== ")
        .map(|block| {
            let (title, rest) = block.split_once('\n').unwrap_or((block, ""));
            let (input, expected) = rest.split_once("----\n").unwrap_or((rest, ""));
            Case { title, input, expected: expected.trim_end_matches('\n') }
        })
        .collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rml") {
            found.push(entry);
        }
    }
}

#[test]
fn every_file_says_what_the_compiler_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    paths.sort();
    assert!(!paths.is_empty());
    let (bless, mut wrong) = (std::env::var_os("RINGMILL_BLESS").is_some(), Vec::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut blessed = String::new();
        for case in cases(&text) {
            let mut words = case.title.split_whitespace();
            let (command, argument) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let found = run(command, argument, case.input);
            let found = found.trim_end_matches('\n');
            writeln!(blessed, "==== {}\n{}\n----\n{found}\n", case.title, case.input.trim_end_matches('\n'))
                .unwrap();
            if found != case.expected {
                wrong.push(format!(
                    "{}: {}\nexpected:\n{}\nfound:\n{found}",
                    path.display(),
                    case.title,
                    case.expected
                ));
            }
        }
        if bless {
            std::fs::write(&path, blessed.trim_end_matches('\n').to_owned() + "\n").unwrap();
        }
    }
    assert!(bless || wrong.is_empty(), "{}\n(RINGMILL_BLESS=1 rewrites the files)", wrong.join("\n\n"));
}
