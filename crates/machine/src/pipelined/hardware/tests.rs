//! Options that are left out, and parameters that no engine serves.

use ringmill_ring::Modulus;
use ringmill_ring::primes::of_bits;

use super::{Hardware, Wanted, hardware};
use crate::pipelined::pool::Set;
use crate::{MachineError, MachineSpec};

fn made(machine: &str, [limbs, special, alpha]: [u32; 3], log_n: u32) -> Result<Hardware, MachineError> {
    let count = (limbs + special) as usize;
    let moduli: Vec<Modulus> = of_bits(50, log_n, count, &[]).unwrap();
    let set = Set { limbs, special, alpha };
    let spec = MachineSpec::parse(machine).unwrap();
    hardware(&spec, Wanted { kernel: "k", log_n, moduli: &moduli, set })
}

#[test]
fn an_engine_is_built_for_what_the_parameters_need() {
    let chain = made("pipelined", [4, 1, 1], 13).unwrap();
    assert_eq!(chain.top, "rm_pipelined_key_switch");
    let of_chain = [("W", 52), ("Kind", 3), ("Limbs", 4), ("LogP", 3), ("LogNMax", 13), ("LogNMin", 10)];
    assert_eq!(chain.parameters, of_chain);
    assert_eq!((chain.factor_bits, chain.aux.len()), (52, 5));
    // One key of two limbs a digit, of five: three digits, the last one cut short; 2 (5 + 2 + 2 + 1) limbs of sums.
    let pool = made("pipelined:units=2,feeds=1,build=pool", [5, 2, 2], 12).unwrap();
    let of_pool = [
        ("W", 52),
        ("Kind", 3),
        ("Limbs", 5),
        ("Special", 2),
        ("Alpha", 2),
        ("Digits", 3),
        ("Units", 2),
        ("Feeds", 1),
        ("Sums", 20),
        ("LogNMax", 12),
        ("LogNMin", 10),
    ];
    assert_eq!((pool.top, &pool.parameters[..]), ("rm_pool_key_switch", &of_pool[..]));
    // Without a word about the build, the pool does what the chain cannot.
    assert_eq!(made("pipelined", [5, 2, 2], 12).unwrap().top, pool.top);
    // The machine that is written out makes the same.
    let text = pool.machine.to_string();
    assert_eq!(made(&text, [5, 2, 2], 12).unwrap(), pool);
}

#[test]
fn what_an_engine_does_not_serve_is_named() {
    for (machine, set, log_n, says) in [
        ("pipelined:build=streams", [4, 2, 2], 12, "give build=pool"),
        ("pipelined:limbs=3", [4, 1, 1], 12, "give limbs=4"),
        ("pipelined:build=pool,special=1,limbs=4", [4, 2, 2], 12, "give special=2"),
        ("pipelined:build=pool,digits=2", [4, 1, 1], 12, "give digits=4"),
        ("pipelined:log_n=11", [4, 1, 1], 12, "N = 2^10 to 2^11"),
        ("pipelined", [4, 1, 1], 9, "N = 2^10 to 2^10"),
        ("pipelined", [16, 1, 1], 12, "give limbs=16"),
        ("pipelined:word=36", [4, 1, 1], 12, "36"),
        ("pipelined:multiplier=word-montgomery,word=60", [4, 1, 1], 12, "word-montgomery"),
    ] {
        let error = made(machine, set, log_n).unwrap_err().to_string();
        assert!(error.contains(says), "{machine}: {error}");
    }
}
