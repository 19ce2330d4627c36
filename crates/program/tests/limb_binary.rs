//! The compact form: it reads back what was written, and takes no byte of anything else for granted.

use proptest::prelude::*;

use ringmill_program::he;
use ringmill_program::limb::random::RandomProgram;
use ringmill_program::limb::{BinaryError, LimbProgram, parse, verify};
use ringmill_program::lower::lower;
use ringmill_program::schedule::{Memory, schedule};
use ringmill_ring::primes::of_bits;

fn random(seed: u64, moduli: usize, instructions: usize) -> LimbProgram {
    let moduli = of_bits(40, 4, moduli, &[]).unwrap();
    RandomProgram { log_n: 4, moduli, instructions, seed }.generate().unwrap()
}

fn written(program: &LimbProgram) -> Vec<u8> {
    let mut bytes = Vec::new();
    program.write_binary(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<LimbProgram, BinaryError> {
    LimbProgram::read_binary(bytes)
}

proptest! {
    #[test]
    fn a_program_is_read_back(seed: u64, moduli in 1usize..6, size in 0usize..150) {
        let program = random(seed, moduli, size);
        for program in [&program, &schedule(&program, Memory::Least).unwrap()] {
            let bytes = written(program);
            prop_assert_eq!(&read(&bytes).unwrap(), program);
            // The text form of what was read is that of what was written.
            prop_assert_eq!(read(&bytes).unwrap().to_string(), program.to_string());
            prop_assert_eq!(written(&read(&bytes).unwrap()), bytes);
        }
    }

    #[test]
    fn whatever_changes_is_refused_or_another_valid_program(
        seed: u64, size in 1usize..60, at: prop::sample::Index, to: u8, cut: prop::sample::Index,
    ) {
        let bytes = written(&random(seed, 3, size));
        let at = at.index(bytes.len());
        let mut other = bytes.clone();
        other[at] = to;
        if let Ok(program) = read(&other) {
            verify(&program).unwrap();
            prop_assert_eq!(&read(&written(&program)).unwrap(), &program);
        }
        // A program ends with its last byte.
        let cut = cut.index(bytes.len());
        prop_assert!(read(&bytes[..cut]).is_err());
        let mut more = bytes;
        more.push(to);
        let refused = read(&more);
        let behind = matches!(refused, Err(BinaryError::Malformed { what: "there are bytes behind the end", .. }));
        prop_assert!(behind);
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
        let after_the_head = [b"RMLIMB\0\x01".as_slice(), &bytes].concat();
        prop_assert!(read(&after_the_head).is_err());
    }
}

#[test]
fn regions_and_sections_are_kept() {
    let text = "he @example managed slots 8
chain log_n 4 scale 2^20 q [1073741441, 1073740609] p [2147483489] alpha 1
%0 = input \"x\" : ct[2](level 1, scale 2^20)
%1 = rotate %0, 1 : ct[2](level 1, scale 2^20)
%2 = rescale %1 : ct[2](level 0, scale 2^20*1073740609^-1)
output \"y\", %2
end
";
    let program = lower(&he::parse(text).unwrap()).unwrap().program;
    assert!(!program.regions().is_empty() && !program.sections().is_empty());
    let bytes = written(&program);
    assert_eq!(read(&bytes).unwrap(), program);
    assert!(4 * bytes.len() < 3 * program.to_string().len(), "{} bytes", bytes.len());
}

#[test]
fn what_is_wrong_is_named() {
    let program = parse(
        "limb one : 2^4 {\n  modulus q0 = 1073741441\n  input data a : eval q0\n  output y : eval q0\n  store a.0 -> y.0\n}\n",
    );
    let bytes = written(&program.unwrap());
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert_eq!(
        message(b"limb one : 2^4 {"),
        "this is no limb program in the compact form; it begins with `RMLIMB` and the version"
    );
    let mut newer = bytes.clone();
    newer[7] = 2;
    assert_eq!(
        message(&newer),
        "this limb program has version 2 of the compact form, and this build reads version 1"
    );
    let end = bytes.len() - 1;
    assert_eq!(
        message(&bytes[..end]),
        format!("byte {end}: the program ends before its end; the file was cut")
    );
    // A length of which nothing follows takes no memory.
    let long = [b"RMLIMB\0\x01".as_slice(), &[0xff, 0xff, 0xff, 0x1f]].concat();
    assert_eq!(message(&long), "byte 12: the program ends before its end; the file was cut");
    let longer = [b"RMLIMB\0\x01".as_slice(), &[0xff, 0xff, 0xff, 0xff, 0xff, 0x1f]].concat();
    assert_eq!(message(&longer), "byte 14: a text is longer than 2^26 bytes");
}
