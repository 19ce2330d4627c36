//! Encoding, decoding, text, and what is refused.

use ringmill_program::limb::random::Random;

use super::super::*;

/// A random instruction that the core takes.
fn any(random: &mut Random) -> Instruction {
    loop {
        let op = Op::ALL[random.below(Op::ALL.len() as u64) as usize];
        let mut bank = || (random.below(2) == 1).then(|| Bank::new(random.below(8) as usize)).flatten();
        let (a, c, d) = (bank(), bank(), bank());
        let mut i = Instruction { a, c, d, ..Instruction::new(op) };
        i.modulus = random.below(16) as u8;
        i.source = random.below(16) as u8;
        i.store = (random.below(2) == 1).then(|| random.word() as u32);
        i.s = (random.below(2) == 1)
            .then(|| Stream { address: random.word() as u32, after: random.word() as u16 });
        i.shift = random.below(64) as u8;
        i.swap = random.below(2) == 1;
        i.k0 = random.word();
        if random.below(4) == 0 {
            i.permute = Some(random.below(1 << 18) as u32 | 1);
        } else {
            i.k1 = random.word();
        }
        if i.check(16).is_ok() {
            return i;
        }
    }
}

#[test]
fn every_instruction_survives_its_bytes() {
    let mut random = Random(7);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..20_000 {
        let i = any(&mut random);
        seen.insert(i.op as u8);
        assert_eq!(Instruction::decode(i.encode(), 16), Ok(i), "{i}");
    }
    assert_eq!(seen.len(), Op::ALL.len());
}

#[test]
fn fields_lie_where_the_registers_expect_them() {
    let bank = |i| Bank::new(i);
    let mac = Instruction {
        modulus: 5,
        a: bank(3),
        c: bank(4),
        d: bank(5),
        store: Some(0x1234),
        s: Some(Stream { address: 0xabcd, after: 0x77 }),
        permute: Some(25),
        ..Instruction::new(Op::Mac)
    };
    let w0 = 0x17 | 5 << 8 | (0b1_011) << 18 | (0b1_100) << 22 | (0b1_101) << 26 | 3 << 30 | 0x1234 << 32;
    assert_eq!(mac.encode(), [w0, 0xabcd | 0x77 << 32 | 1 << 54, 0, 25]);
    assert_eq!(mac.to_string(), "mac b5, m[0x1234] = b4 + b3 ^25 m[0xabcd after 119] : 5");
}

#[test]
fn what_the_core_would_stop_at_is_refused_with_its_reason() {
    use IllegalInstruction as I;
    let bank = |i| Bank::new(i);
    let decode = |words| Instruction::decode(words, 16).unwrap_err();
    assert_eq!(decode([0x7f, 0, 0, 0]), I::Opcode(0x7f));
    assert_eq!(decode([0, 1 << 60, 0, 0]), I::Reserved);
    assert_eq!(decode([16 << 8, 0, 0, 0]), I::Modulus(16));
    let transform = Instruction { a: bank(4), ..Instruction::new(Op::Ntt) };
    assert_eq!(decode(transform.encode()), I::Bank(4));
    // Banks 1 and 3 are the pair 7; beside banks of other pairs it stands as any bank.
    let copy = |a, d| Instruction { a: bank(a), d: bank(d), ..Instruction::new(Op::Copy) }.encode();
    assert_eq!([copy(1, 7), copy(7, 3), copy(2, 6)].map(decode), [I::Split(7), I::Split(7), I::Split(6)]);
    for (a, d) in [(7, 7), (7, 6), (7, 0), (2, 7), (4, 6)] {
        assert!(Instruction::decode(copy(a, d), 16).is_ok(), "b{a} to b{d}");
    }
    let nothing = Instruction { a: bank(0), ..Instruction::new(Op::Copy) };
    assert_eq!(decode(nothing.encode()), I::Operands("copy"));
    let turned = Instruction { a: bank(0), permute: Some(5), ..Instruction::new(Op::Ntt) };
    assert_eq!(decode(turned.encode()), I::Operands("ntt"));
    let swapped = Instruction { swap: true, d: bank(1), ..nothing };
    assert_eq!(decode(swapped.encode()), I::Operands("copy"));
    let own = Instruction { a: bank(0), d: bank(0), permute: Some(5), ..Instruction::new(Op::Copy) };
    assert_eq!(decode(own.encode()), I::Permutation);
    let even = Instruction { a: bank(0), d: bank(1), permute: Some(4), ..Instruction::new(Op::Copy) };
    assert_eq!(decode(even.encode()), I::Permutation);
}

#[test]
fn parameters_that_cannot_be_built_are_named() {
    let default = CompactLiteral::roomy();
    let message = |literal: CompactLiteral| literal.build().unwrap_err().to_string();
    assert_eq!(
        message(CompactLiteral { word_bits: 48, ..default }),
        "no compact core has word_bits = 48; it can be 32, 36, 52, 54 or 60"
    );
    assert_eq!(
        message(CompactLiteral { butterflies: 3, ..default }),
        "no compact core has butterflies = 3; it can be 1, 2, 4, 8 or 16"
    );
    let narrow = CompactLiteral { word_bits: 36, ..default }.build().unwrap();
    let q = ringmill_ring::Modulus::new((1 << 53) + (13 << 27) + 1).unwrap();
    assert!(matches!(narrow.check_modulus(q), Err(CompactError::ModulusClass { .. })));
    assert_eq!(narrow.check_degree(16), Err(CompactError::Degree { log_n: 16, min: 10, max: 15 }));
}
