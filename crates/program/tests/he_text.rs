//! Every `tests/he/*.rml` file: a program, and what is expected of it.
//!
//! A line that ends in `#! MESSAGE` must be refused there, with MESSAGE within the error's text; the rest of the
//! file is then not read. A file without such a line must parse, print and parse back to the same program; text
//! after a line `---- prints` is what it prints.

use std::path::PathBuf;

use ringmill_program::he::{Vectors, evaluate_clear, parse, verify};

fn files() -> Vec<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/he");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

/// A file may hold several programs, each under a line `==== title`.
fn cases() -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut parts = text.split("==== ");
        parts.next();
        for part in parts {
            let (title, body) = part.split_once('\n').unwrap();
            cases.push((format!("{file}: {title}"), body.to_string()));
        }
    }
    cases
}

#[test]
fn files_say_what_happens() {
    let cases = cases();
    assert!(cases.len() >= 40, "only {} cases", cases.len());
    for (title, body) in cases {
        let (text, prints) = match body.split_once("---- prints\n") {
            Some((text, prints)) => (text, Some(prints.trim_end())),
            None => (body.as_str(), None),
        };
        let wanted = text.lines().enumerate().find_map(|(i, l)| Some((i as u32 + 1, l.split_once("#! ")?.1)));
        match (parse(text), wanted) {
            (Ok(program), None) => {
                verify(&program).unwrap_or_else(|e| panic!("{title}: parsed but {e}"));
                let printed = program.to_string();
                assert_eq!(parse(&printed).as_ref(), Ok(&program), "{title}");
                if let Some(prints) = prints {
                    assert_eq!(printed.trim_end(), prints, "{title}");
                }
            }
            (Ok(_), Some((line, message))) => panic!("{title}: line {line} was accepted; wanted '{message}'"),
            (Err(e), None) => panic!("{title}: {e}"),
            (Err(e), Some((line, message))) => {
                assert!(e.to_string().contains(message.trim()), "{title}: got '{e}', wanted '{message}'");
                assert_eq!(e.line, Some(line), "{title}: '{e}' stands on the wrong line");
            }
        }
    }
}

#[test]
fn an_input_that_is_missing_is_named() {
    let text = "he @f traced slots 4\n%0 = input \"x\"\noutput \"y\", %0\nend\n";
    let e = evaluate_clear(&parse(text).unwrap(), &Vectors::new()).unwrap_err();
    assert!(e.to_string().contains("input \"x\" is missing; give its slots under that name"), "{e}");
}
