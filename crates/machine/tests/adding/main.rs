//! A machine is added by a folder and one row of the registry: all that is printed, read and opened follows from the row.

mod toy;

use ringmill_machine::registry::{Entry, MACHINES, help_of, page_of};
use ringmill_machine::{Machine, MachineSpec, Reference};
use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_ring::primes::of_bits;

/// The registry with one row more.
fn machines() -> Vec<&'static Entry> {
    MACHINES.into_iter().chain([&toy::ENTRY]).collect()
}

fn program(instructions: usize) -> LimbProgram {
    let moduli = of_bits(40, 6, 4, &[]).unwrap();
    RandomProgram { log_n: 6, moduli, instructions, seed: 3 }.generate().unwrap()
}

#[test]
fn texts_help_and_the_page_know_a_machine_by_its_row() {
    let spec = MachineSpec::parse_in(&machines(), "toy:pace=7").unwrap();
    assert_eq!(spec.to_string(), "toy:pace=7");
    let unknown = MachineSpec::parse_in(&machines(), "tiny").unwrap_err().to_string();
    assert!(
        unknown
            .ends_with("machines are cpu, reference, compact, verilator, board, pipelined, taiyi, file, toy"),
        "{unknown}"
    );
    let wrong = MachineSpec::parse_in(&machines(), "toy:pace=0").unwrap_err().to_string();
    assert_eq!(wrong, "machine toy cannot have pace=0; give 1 to 1000");
    assert!(help_of(&machines()).ends_with(
        "toy        an example of a machine\n  pace         what an instruction takes: 1 to 1000\n"
    ));
    let row = "| `toy` | an example of a machine | all of at most 1,000 instructions | cycles, by a model of each | scalar arithmetic |";
    let page = page_of(&machines());
    assert!(page.contains(row), "{page}");
    assert!(page.ends_with("| `pace` | 1 to 1000 | cycles | 10 | what an instruction takes |\n"), "{page}");
}

#[test]
fn it_estimates_refuses_and_runs() {
    let machine = MachineSpec::parse_in(&machines(), "toy:pace=7").unwrap().open().unwrap();
    let program = program(60);
    let timing = MachineSpec::parse_in(&machines(), "toy:pace=7").unwrap().estimate(&program).unwrap();
    assert_eq!(timing.cycles, Some(7 * program.len() as u64));
    let long = self::program(1200);
    let refused = machine.accepts(&long).unwrap_err();
    assert_eq!(machine.prepare(&long).map(|_| ()), Err(refused));
    let words = inputs(&program, 1);
    let run = |machine: &dyn Machine| {
        let bound: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        let mut out = vec![vec![0; program.n()]; program.output_types().len()];
        let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        machine.prepare(&program).unwrap().run(&bound, &mut outputs).unwrap();
        out
    };
    assert_eq!(run(&*machine), run(&Reference));
}
