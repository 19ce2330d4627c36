//! Sections, and programs in parts by them: what each part is, and the bits of all parts together.
//! (Every lowered program of these tests runs in parts too: `support::run`.)

use std::sync::Arc;

use crate::support::{execute, primes};
use ringmill_machine::{Compact, Machine, MachineError, Offload, Reference, compact::CompactLiteral};
use ringmill_program::limb::random::inputs;
use ringmill_program::limb::split::To;
use ringmill_program::limb::{InputClass, LimbProgram, SectionKind, SplitError, SwitchEnd, parse, split};
use ringmill_program::lower::{Operation, OperationWriter, Rotation};
use ringmill_program::schedule::{Memory, schedule};

const LOG_N: u32 = 10;

/// Two products with rescales, one merged and one not, and two rotations that share digits.
fn program() -> LimbProgram {
    let (q, p) = (primes(LOG_N, 40, 0, 4), primes(LOG_N, 41, 0, 2));
    let mut w = OperationWriter::new("several", LOG_N, (&q, &p), 2).unwrap();
    for operation in [Operation::MultiplyRescale, Operation::Add, Operation::Rescale] {
        w.append(operation).unwrap();
    }
    let [c0, c1] = ["c0", "c1"].map(|name| w.input(name));
    let key = w.key("turn").unwrap();
    let hoisted = w.low.hoist(&c1, &key).unwrap();
    for galois in [5, 25] {
        let rotation = Rotation { galois, key: &key, rescale: false };
        let turned = w.low.rotate_hoisted(&hoisted, &c0, rotation).unwrap();
        w.output(&format!("turned{galois}"), &turned);
    }
    w.finish().unwrap()
}

fn kinds(program: &LimbProgram) -> Vec<String> {
    program.sections().iter().map(|s| s.kind.to_string()).collect()
}

#[test]
fn sections_are_the_operations_and_read_back() {
    let program = program();
    assert_eq!(
        kinds(&program),
        [
            "tensor 4",
            "key_switch hybrid 4+2/2 rescale",
            "rescale 4",
            "rescale 4",
            "raise hybrid 4+2/2",
            "key_switch hybrid 4+2/2 divide hoisted galois 5",
            "key_switch hybrid 4+2/2 divide hoisted galois 25",
        ]
    );
    let again = parse(&program.to_string()).unwrap();
    assert!(again == program && again.sections() == program.sections());
    // Nothing is dead here; where something is, a section keeps what stays of it.
    assert!(program.without_dead() == program);
    // The tensor product reads both ciphertexts; d_2 is read by two steps of the key switch.
    let tensor = program.borders(program.sections()[0].range());
    assert_eq!((tensor.inputs.len(), tensor.outputs.len()), (16, 12));
    let switch = program.borders(program.sections()[1].range());
    let keys = switch.inputs.iter().filter(|o| o.value().is_none()).count();
    // Both parts of two digits over six primes; what it gives is stored behind it.
    assert_eq!((keys, switch.inputs.len(), switch.outputs.len()), (24, 24 + 12, 6));
    assert!(schedule(&program, Memory::Least).unwrap().sections().is_empty());
}

#[test]
fn parts_are_those_that_the_engine_serves_and_the_rest() {
    let program = program();
    let switches = |kind: &SectionKind| matches!(kind, SectionKind::KeySwitch { hoisted: false, .. });
    let found = split(&program, switches).unwrap();
    let served: Vec<bool> = found.parts.iter().map(|part| part.served.is_some()).collect();
    assert_eq!(served, [false, true, false]);
    // d_0, d_1, d_2 go in, the product comes out.
    assert_eq!(found.between, 12 + 6);
    let engine = &found.parts[1].program;
    assert_eq!(engine.inputs().iter().filter(|g| g.class == InputClass::Key).count(), 4);
    assert_eq!(engine.moduli().len(), 6);
    let stored = |to: &To| matches!(to, To::Output(_));
    let outputs: usize =
        found.parts.iter().map(|part| part.outputs.iter().filter(|to| stored(to)).count()).sum();
    assert_eq!(outputs, program.output_types().len());
    // An engine of one shape only.
    let other = |kind: &SectionKind| matches!(kind, SectionKind::KeySwitch { end: SwitchEnd::Rescale { .. }, shape, .. } if shape.limbs == 3);
    assert_eq!(split(&program, other).unwrap().parts.len(), 1);
    let scheduled = schedule(&program, Memory::Least).unwrap();
    assert_eq!(split(&scheduled, switches), Err(SplitError::NoSections { program: "several".into() }));
}

/// An engine that is a compact core, a host that is the interpreter: the bits of one machine.
#[test]
fn a_host_and_an_engine_give_the_bits_of_one_machine() {
    let program = program();
    let words = inputs(&program, 2);
    let bound: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
    let want = execute(&Reference, &program, &bound);
    let engine: Arc<dyn Machine> = Arc::new(Compact::emulated(CompactLiteral::roomy().build().unwrap()));
    let host: Arc<dyn Machine> = Arc::new(Reference);
    for (what, serves) in [
        ("key switches", (|kind| matches!(kind, SectionKind::KeySwitch { .. })) as fn(&SectionKind) -> bool),
        ("all", |_| true),
        ("rescales", |kind| matches!(kind, SectionKind::Rescale { .. })),
        ("none", |_| false),
    ] {
        let both = Offload::new(host.clone(), engine.clone(), Arc::new(serves));
        both.accepts(&program).unwrap();
        assert!(execute(&both, &program, &bound) == want, "{what}");
    }
    // What the engine cannot run is refused with its own reason, before anything is prepared.
    let small = CompactLiteral { moduli: 4, ..CompactLiteral::roomy() }.build().unwrap();
    let both = Offload::new(host, Arc::new(Compact::emulated(small)), Arc::new(|_| true));
    let refused = both.accepts(&program).unwrap_err();
    assert!(matches!(refused, MachineError::Compact(_)), "{refused}");
}
