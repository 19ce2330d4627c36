//! `docs/walk.md` shows texts that the compiler prints: after each marker `<!-- walk: NAME -->` a fenced block.
//! With `RINGMILL_BLESS=1` the blocks are written instead of compared.

use crate::support;
use ringmill_program::he;
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::lower;
use ringmill_program::schedule::{Memory, Statistics, schedule};

/// The product as the eager evaluator writes it, at the top of a chain of four primes.
fn product() -> he::Program {
    let values =
        |bits, count| support::primes(12, bits, 0, count).iter().map(|m| m.value()).collect::<Vec<_>>();
    let (q, p) = ([values(49, 1), values(40, 3)].concat(), values(50, 1));
    let text = format!(
        "he @product managed slots 2048
chain log_n 12 scale 2^40 q {q:?} p {p:?} alpha 1
%a = input \"a\" : ct[2](level 3, scale 2^40)
%b = input \"b\" : ct[2](level 3, scale 2^40)
%d = mul %a, %b : ct[3](level 3, scale 2^80)
%c = relin %d : ct[2](level 3, scale 2^80)
%y = rescale %c : ct[2](level 2, scale 2^80*{}^-1)
output \"y\", %y
end
",
        q[3]
    );
    he::parse(&text).unwrap()
}

/// The lines of the region whose label contains `step`, without the label.
fn region(program: &LimbProgram, step: &str) -> String {
    let text = program.to_string();
    let part =
        text.split("region ").find(|part| part.lines().next().is_some_and(|label| label.ends_with(step)));
    part.unwrap_or_else(|| panic!("no region {step}")).split_once('\n').unwrap().1.to_owned()
}

fn lines(text: &str, range: std::ops::Range<usize>) -> String {
    text.lines().skip(range.start).take(range.len()).map(|line| format!("{line}\n")).collect()
}

/// Each block by name.
fn blocks() -> Vec<(&'static str, String)> {
    let managed = product();
    let program = lower(&managed).unwrap().program;
    let text = program.to_string();
    let scheduled = schedule(&program, Memory::Least).unwrap();
    // From the inner products modulo q0 to the stores of both parts.
    let list = scheduled.to_string();
    let start = list.lines().position(|line| line.contains("dot [%2, ")).unwrap();
    let end = list.lines().position(|line| line.ends_with("-> y_1.0")).unwrap() + 1;
    let [written, least] = [&program, &scheduled].map(|p| Statistics::of(p).peak_live);
    let peaks = format!("{written} limbs live at once as written, {least} in the order found\n");
    vec![
        ("managed", managed.to_string()),
        ("declarations", text.split("region").next().unwrap().to_owned()),
        ("tensor", lines(&region(&program, "tensor"), 0..4)),
        ("digits", region(&program, "digits")),
        ("p0", region(&program, "mod p0")),
        ("q3", region(&program, "mod q3")),
        ("q0", region(&program, "mod q0")),
        ("scheduled", lines(&list, start..end)),
        ("peak", peaks),
        ("cost", Statistics::of(&scheduled).to_string()),
    ]
}

#[test]
fn the_walk_shows_what_the_compiler_prints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/walk.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut current = page.clone();
    for (name, text) in blocks() {
        let marker = format!("<!-- walk: {name} -->\n");
        let (before, after) = current.split_once(&marker).unwrap_or_else(|| panic!("no marker {name}"));
        let rest = match after.strip_prefix("\n```text\n") {
            Some(block) => block.split_once("```\n").unwrap().1,
            None => after,
        };
        current = format!("{before}{marker}\n```text\n{text}```\n{rest}");
    }
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(path, current).unwrap();
        return;
    }
    assert!(page == current, "docs/walk.md is out of date; RINGMILL_BLESS=1 rewrites its blocks");
}
