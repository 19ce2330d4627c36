//! Damaged texts of limb programs: refused with the line, or still a valid program; never a panic.

use crate::support;
use proptest::prelude::*;
use ringmill_program::limb::random::RandomProgram;
use ringmill_program::limb::{LimbProgram, ParseError, parse, verify};
use ringmill_program::schedule::{Memory, schedule};

fn program(seed: u64, allocate: bool) -> LimbProgram {
    let spec = RandomProgram { log_n: 3, moduli: support::primes(3, 30, 0, 4), instructions: 25, seed };
    let program = spec.generate().unwrap();
    if allocate { schedule(&program, Memory::Least).unwrap() } else { program }
}

/// Cuts, doubles, swaps or replaces a piece of the text.
fn damage(text: &str, kind: u8, at: usize, len: usize, with: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = at % chars.len();
    let end = (at + len % 12).min(chars.len());
    let piece: String = chars[at..end].iter().collect();
    let (before, after): (String, String) = (chars[..at].iter().collect(), chars[end..].iter().collect());
    match kind {
        0 => before + &after,
        1 => before + &piece + &piece + &after,
        2 => before + with + &after,
        3 => before,
        _ => {
            let mut lines: Vec<&str> = text.lines().collect();
            let (i, j) = (at % lines.len(), end % lines.len());
            lines.swap(i, j);
            lines.join("\n")
        }
    }
}

fn line_of(error: &ParseError) -> usize {
    let text = error.to_string();
    text.strip_prefix("line ")
        .and_then(|t| t.split(':').next()?.parse().ok())
        .unwrap_or_else(|| panic!("{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn damaged_text_is_refused_with_its_line_or_still_valid(
        seed in 0u64..40, allocate: bool, kind in 0u8..5, at: usize, len: usize,
        with in "[%a-z0-9_.,:=\\[\\]{}#^ \n-]{0,12}",
    ) {
        let text = damage(&program(seed, allocate).to_string(), kind, at, len, &with);
        match parse(&text) {
            Ok(program) => {
                verify(&program).unwrap();
                prop_assert!(parse(&program.to_string()).as_ref() == Ok(&program), "{}", program);
            }
            Err(e) => prop_assert!((1..=text.lines().count().max(1)).contains(&line_of(&e)), "{}", e),
        }
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        if let Err(e) = parse(&text) {
            prop_assert!(line_of(&e) >= 1);
        }
    }
}
