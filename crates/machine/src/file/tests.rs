//! Described machines as machines of the registry.

use ringmill_cycles::Description;
use ringmill_program::limb::{LimbProgram, parse};

use super::*;
use crate::spec::MachineSpec;

/// A rotation of one digit, without a division: both halves of a key, transforms, a product with a plaintext.
const PROGRAM: &str = "\
limb small : 2^10 {
  modulus q0 = 1152921504606830593
  modulus p0 = 1152921504606748673
  input data x : eval q0
  input key k_b0 : eval q0
  input key k_a0 : eval q0
  input plain w : coeff q0
  output y : eval q0
region raise
  %0 = intt x.0 : q0 coeff
  %1 = ntt %0 : q0 eval
region key
  %2 = dot [%1], [k_b0.0] : q0 eval
  %3 = dot [%1], [k_a0.0] : q0 eval
region product
  %4 = ntt w.0 : q0 eval
  %5 = mac %2, %3, %4 : q0 eval
  store %5 -> y.0
}
";

fn program() -> LimbProgram {
    parse(PROGRAM).unwrap()
}

#[test]
fn every_description_that_comes_with_the_program_is_named_in_the_help() {
    let options = &ENTRY.options[0].parameter;
    for name in Description::shipped() {
        assert!(options.about.contains(name), "{name}");
        let spec = MachineSpec::parse(&format!("file:{name}")).unwrap();
        assert_eq!(spec.open().unwrap().name(), name);
    }
}

#[test]
fn a_described_machine_reports_every_cycle_and_prepares_nothing() {
    let machine = MachineSpec::parse("file:taiyi-60").unwrap().open().unwrap();
    machine.accepts(&program()).unwrap();
    let outcome = machine.estimate(&program()).unwrap().unwrap();
    let cycles = outcome.cycles.unwrap();
    assert_eq!(outcome.parts.iter().map(|p| p.1).sum::<u64>(), cycles);
    assert!(outcome.spans.iter().all(|span| span.start <= span.end && span.end <= cycles));
    let counter = |name: &str| outcome.counters.iter().find(|c| c.0 == name).unwrap().1;
    // The uniform half of the key is made on chip; the other half, the ciphertext and the plaintext come, one limb each.
    assert_eq!(counter("bytes_key"), 1024 * 60 / 8);
    assert_eq!((counter("bytes_data"), counter("bytes_plain")), (counter("bytes_key"), counter("bytes_key")));
    assert_eq!((counter("bytes_expanded"), counter("bytes_seeded_key")), (counter("bytes_key"), 0));
    assert_eq!(counter("bytes_result"), counter("bytes_key"));
    assert!(cycles >= counter("bound_critical_path").max(counter("bound_off_chip")));
    let refused = machine.prepare(&program()).err().unwrap().to_string();
    assert!(refused.contains("it estimates time and computes no data"), "{refused}");
}

#[test]
fn what_a_described_machine_cannot_run_is_refused_by_name() {
    let machine = MachineSpec::parse("file:taiyi").unwrap().open().unwrap();
    for refused in [machine.accepts(&program()), machine.estimate(&program()).map(|_| ())] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("machine taiyi cannot run program small"), "{text}");
        assert!(text.contains("has 60 bits, and words have 36"), "{text}");
    }
    let unknown = MachineSpec::parse("file:tayi").unwrap().open().err().unwrap().to_string();
    assert!(unknown.contains("did you mean \"taiyi\"?"), "{unknown}");
}
