//! Programs of a size that real work has: every pass in time and memory that grow with the instructions.

use crate::support;
use ringmill_program::he::{self, Level, Scale};
use ringmill_program::limb::{parse, verify};
use ringmill_program::lower::lower;
use ringmill_program::schedule::{Memory, Statistics, schedule};

/// `rotations` hoisted rotations of a ciphertext of `limbs` limbs, each times a plaintext, summed up.
fn matrix_text(rotations: usize, limbs: usize, alpha: usize) -> String {
    use std::fmt::Write as _;
    const LOG_N: u32 = 10;
    let list = |bits, count| -> String {
        support::primes(LOG_N, bits, 0, count)
            .iter()
            .map(|m| m.value().to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = format!(
        "he @matrix managed slots 512\nchain log_n {LOG_N} scale 2^40 q [{}] p [{}] alpha {alpha}\n",
        list(50, limbs),
        list(51, alpha)
    );
    let level = Level::new(limbs as u32 - 1);
    let ct = |scale: Scale| format!("ct[2](level {level}, scale {})", scale.to_text());
    let (one, two) = (Scale::pow2(40), Scale::pow2(80));
    writeln!(text, "%x = input \"x\" : {}", ct(one.clone())).unwrap();
    for k in 1..=rotations {
        writeln!(text, "%r{k} = rotate %x, {k} hoist 0 : {}", ct(one.clone())).unwrap();
        writeln!(text, "%m{k} = plain \"m{k}\" : pt(level {level}, scale 2^40)").unwrap();
        writeln!(text, "%p{k} = mul_plain %r{k}, %m{k} : {}", ct(two.clone())).unwrap();
        let sum = if k == 1 { "%p1".to_owned() } else { format!("%s{k}") };
        if k > 1 {
            let last = if k == 2 { "%p1".to_owned() } else { format!("%s{}", k - 1) };
            writeln!(text, "{sum} = add {last}, %p{k} : {}", ct(two.clone())).unwrap();
        }
    }
    writeln!(text, "output \"y\", %s{rotations}\nend").unwrap();
    text
}

fn compile(rotations: usize, limbs: usize, alpha: usize) {
    let mut time = std::time::Instant::now();
    let mut lap = |what: &str| {
        println!("{what:<10} {:>8.1} ms", time.elapsed().as_secs_f64() * 1e3);
        time = std::time::Instant::now();
    };
    let he = he::parse(&matrix_text(rotations, limbs, alpha)).unwrap();
    lap("he parse");
    let program = lower(&he).unwrap().program;
    lap("lower");
    println!("{} instructions, {} values", program.len(), program.values());
    verify(&program).unwrap();
    lap("verify");
    let text = program.to_string();
    lap("print");
    assert!(parse(&text).unwrap() == program);
    lap("parse");
    println!("{} MB of text", text.len() / 1_000_000);
    let scheduled = schedule(&program, Memory::Least).unwrap();
    lap("schedule");
    verify(&scheduled).unwrap();
    let (written, least) = (Statistics::of(&program), Statistics::of(&scheduled));
    lap("statistics");
    println!("{} limbs live as written, {} at least", written.peak_live, least.peak_live);
    assert!(least.peak_live < written.peak_live);
}

#[test]
fn a_matrix_of_thirty_diagonals() {
    compile(30, 8, 2);
}

#[test]
#[ignore = "long: make test-full"]
fn a_matrix_of_five_hundred_diagonals_at_28_limbs() {
    compile(500, 28, 7);
}
