//! `docs/passes.md`, printed from the headers of the passes: purpose, requirements, guarantees, and an example that the pass runs on.
//!
//! A header is a section `# Pass: TITLE` of a module's documentation. `RINGMILL_BLESS=1` writes the page instead of comparing.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ringmill_program::he::{self, Chain, Scale};
use ringmill_program::limb::{self, InputClass, LimbProgram, SectionKind};
use ringmill_program::lower::lower;
use ringmill_program::manage::{Options, manage, remove_dead, simplify};
use ringmill_program::schedule::{Memory, Reach, by_primes, in_order, load_inputs, recompute, schedule};

/// Makes of an example what its pass makes of it.
type Run = fn(&str) -> String;

/// The passes in the order in which a program meets them: source, call, and what runs the example.
const PASSES: [(&str, &str, Run); 12] = [
    ("manage/simplify.rs", "manage::simplify", |text| {
        simplify(&he::parse(text).unwrap()).unwrap().to_string()
    }),
    ("manage/dead.rs", "manage::remove_dead", |text| remove_dead(&he::parse(text).unwrap()).to_string()),
    ("manage/emit.rs", "manage::manage", |text| managed(text, None)),
    ("manage/few_keys.rs", "manage::manage, Options::rotation_keys", |text| managed(text, Some(2))),
    ("manage/hoist.rs", "manage::manage", |text| managed(text, None)),
    ("lower/program.rs", "lower::lower, lower::lower_by", |text| {
        lower(&he::parse(text).unwrap()).unwrap().program.to_string()
    }),
    ("limb/dead.rs", "LimbProgram::without_dead", |text| limb(text).without_dead().to_string()),
    ("limb/split.rs", "limb::split", |text| {
        let split = limb::split(&limb(text), |kind| matches!(kind, SectionKind::Rescale { .. })).unwrap();
        let part = |part: &limb::split::Part| {
            let by = if part.served.is_some() { "engine" } else { "host" };
            format!("# {by}\n{}", part.program)
        };
        split.parts.iter().map(part).collect()
    }),
    ("schedule/recompute.rs", "schedule::recompute", |text| recompute(&limb(text)).to_string()),
    ("schedule/loads.rs", "schedule::load_inputs", |text| {
        load_inputs(&limb(text), &[InputClass::Data]).to_string()
    }),
    ("schedule/by_primes.rs", "schedule::by_primes", |text| {
        let program = limb(text);
        let order: Vec<u32> = (0..program.len() as u32).collect();
        let order = by_primes(&program, &order, 0..program.len(), Reach::Raised).unwrap();
        in_order(&program, &order).to_string()
    }),
    ("schedule/mod.rs", "schedule::schedule", |text| {
        schedule(&limb(text), Memory::Least).unwrap().to_string()
    }),
];

fn limb(text: &str) -> LimbProgram {
    limb::parse(text).unwrap()
}

/// What management makes of a traced program on a small chain, which the page leaves out.
fn managed(text: &str, rotation_keys: Option<usize>) -> String {
    let q = vec![1099511626049, 1073741441, 1073741953, 1073740609];
    let chain = Chain::new(5, Scale::pow2(30), q, vec![1099511627297], 1).unwrap();
    let options = Options { rotation_keys, ..Options::default() };
    let text = manage(&he::parse(text).unwrap(), &chain, &options).unwrap().program.to_string();
    text.lines().filter(|line| !line.starts_with("chain ")).fold(String::new(), |all, line| all + line + "\n")
}

const HEAD: &str = "\
# Passes

After this page you know what each pass of the compiler does, what it needs, and what holds after it.

A program meets the passes in this order. The verifier accepts what goes into each, and what comes out of it; tests call it
after every one. The page is printed from the headers of the passes, and the right sides of its examples by the passes
themselves; a test compares (`RINGMILL_BLESS=1 cargo test -p ringmill-program --test all passes` rewrites it).
[Add a pass](how-to/add-a-pass.md) says how another one is written.

";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The section of a pass in the documentation of a module: its title, and its lines; none of a module that is no pass.
fn header(source: &str) -> Option<(String, Vec<String>)> {
    let docs = source.lines().take_while(|line| line.starts_with("//!"));
    let docs: Vec<&str> = docs.map(|line| line[3..].strip_prefix(' ').unwrap_or("")).collect();
    let start = docs.iter().position(|line| line.starts_with("# Pass: "))?;
    let lines = docs[start + 1..].iter();
    let mut fences = 0;
    // It ends with its example.
    let lines = lines.take_while(|line| {
        let open = fences < 2;
        fences += usize::from(line.starts_with("```"));
        open
    });
    let title = docs[start].trim_start_matches("# Pass: ").to_owned();
    Some((title, lines.map(|line| (*line).to_owned()).collect()))
}

/// What a header says on a subject.
fn said(lines: &[String], subject: &str) -> String {
    let begins = format!("- {subject}");
    let at =
        lines.iter().position(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("no {subject}"));
    let more = lines[at + 1..].iter().take_while(|line| line.starts_with("  "));
    std::iter::once(lines[at].as_str()).chain(more.map(String::as_str)).collect::<Vec<_>>().join("\n")
}

fn section(file: &str, call: &str, run: Run) -> String {
    let source = std::fs::read_to_string(sources().join(file)).unwrap();
    let (title, lines) = header(&source).unwrap_or_else(|| panic!("{file} has no header of a pass"));
    let mut out = format!("## {}{}\n\n", title[..1].to_uppercase(), &title[1..]);
    let _ = writeln!(out, "`{call}` in [`{file}`](../crates/program/src/{file})\n");
    for subject in ["Purpose: ", "Requires: ", "Guarantees: "] {
        let _ = writeln!(
            out,
            "{}",
            said(&lines, subject).replacen(subject, &format!("**{}** ", subject.trim()), 1)
        );
    }
    let example = said(&lines, "Example");
    let example = example.trim_start_matches("- ").trim_end_matches(':');
    let inside = lines.iter().skip_while(|line| !line.starts_with("```")).skip(1);
    let input: String =
        inside.take_while(|line| !line.starts_with("```")).map(|l| l.clone() + "\n").collect();
    let after = run(&input);
    assert_ne!(after, input, "{file}: the example shows nothing");
    let _ = write!(out, "\n{example}:\n\n```text\n{input}```\n\nbecomes\n\n```text\n{after}```\n\n");
    out
}

#[test]
fn the_page_is_what_the_headers_say_and_the_passes_do() {
    let mut page = String::from(HEAD);
    for (file, call, run) in PASSES {
        page.push_str(&section(file, call, run));
    }
    let page = page.trim_end().to_owned() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/passes.md");
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert_eq!(found, page, "run with RINGMILL_BLESS=1 to rewrite docs/passes.md");
}

#[test]
fn every_header_is_on_the_page() {
    let mut found = Vec::new();
    for folder in ["manage", "lower", "limb", "schedule", "he", "cost"] {
        for entry in std::fs::read_dir(sources().join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.extension().is_some_and(|e| e == "rs")
                && header(&std::fs::read_to_string(&entry).unwrap()).is_some()
            {
                found.push(format!("{folder}/{}", entry.file_name().unwrap().to_str().unwrap()));
            }
        }
    }
    let mut listed: Vec<String> = PASSES.iter().map(|(file, ..)| (*file).to_owned()).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}
