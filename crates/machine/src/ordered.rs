//! A machine that is given its programs in the order that suits a chip of some capacity.
//!
//! The program that it runs is one that [`choose`] found: the same inputs and outputs, the same bits.

use std::sync::Arc;

use ringmill_cycles::capacity::{Choice, choose};
use ringmill_cycles::{Capacity, CapacityError};
use ringmill_program::cost::CostTable;
use ringmill_program::limb::LimbProgram;
use ringmill_ring::Pool;

use crate::{Executable, Machine, MachineError, Timing};

/// Another machine, and the capacity that its programs are put in order for.
pub struct Ordered {
    machine: Arc<dyn Machine>,
    capacity: Capacity,
    seeded: bool,
}

impl Ordered {
    /// `machine` with programs for a chip of this capacity; `seeded` if uniform halves of keys are made on the chip.
    pub fn new(machine: Arc<dyn Machine>, capacity: Capacity, seeded: bool) -> Self {
        Self { machine, capacity, seeded }
    }

    fn choice(&self, program: &LimbProgram) -> Result<Choice, MachineError> {
        let refused = |e: CapacityError| MachineError::Capacity(Box::new(e));
        choose(program, self.capacity, self.seeded).map_err(refused)
    }
}

impl Machine for Ordered {
    fn name(&self) -> &str {
        self.machine.name()
    }

    fn memory(&self) -> Option<&Pool> {
        self.machine.memory()
    }

    fn costs(&self) -> Result<CostTable, MachineError> {
        self.machine.costs()
    }

    fn is_client(&self) -> bool {
        self.machine.is_client()
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        self.machine.accepts(program)
    }

    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        self.machine.estimate(&self.choice(program)?.program)
    }

    fn computes_here(&self) -> bool {
        self.machine.computes_here()
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        self.machine.prepare(&self.choice(program)?.program)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use ringmill_program::limb::parse;

    use super::*;
    use crate::{Cpu, Reference};

    /// Rotations that are there as a whole before a sum of every prime reads them: 6 primes, 4 rotations.
    fn map() -> LimbProgram {
        let q = ringmill_ring::primes::of_bits(30, 4, 6, &[]).unwrap();
        let mut text = String::from("limb map : 2^4 {\n");
        q.iter().enumerate().for_each(|(i, q)| writeln!(text, "  modulus q{i} = {}", q.value()).unwrap());
        let names = "q0 q1 q2 q3 q4 q5";
        writeln!(text, "  input data x : eval {names}\n  input key k : eval {names}").unwrap();
        writeln!(text, "  output y : eval {names}").unwrap();
        for r in 0..4 {
            writeln!(text, "region %{r} rotate").unwrap();
            for i in 0..6 {
                let v = 6 * r + i;
                writeln!(text, "  %{v} = add_const x.{i}, {r} : q{i} eval").unwrap();
            }
        }
        writeln!(text, "region %4 add").unwrap();
        for i in 0..6 {
            let read: Vec<String> = (0..4).map(|r| format!("%{}", 6 * r + i)).collect();
            let keys = format!("k.{i}, k.{i}, k.{i}, k.{i}");
            let v = 24 + i;
            writeln!(text, "  %{v} = dot [{}], [{keys}] : q{i} eval", read.join(", ")).unwrap();
            writeln!(text, "  store %{v} -> y.{i}").unwrap();
        }
        parse(&(text + "}\n")).unwrap()
    }

    #[test]
    fn another_order_gives_the_same_bits() {
        let program = map();
        let limbs: Vec<Vec<u64>> =
            (0..12).map(|limb| (0..16).map(|k| 1_000_003 * (limb + 1) + 77 * k * k).collect()).collect();
        let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
        let run = |machine: &dyn Machine| {
            let mut out = vec![vec![0; 16]; 6];
            let mut places: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
            let executable = machine.prepare(&program).unwrap();
            executable.run(&limbs, &mut places).unwrap();
            (executable.program().to_string(), out)
        };
        let (written, expected) = run(&Reference);
        for machine in [Arc::new(Reference) as Arc<dyn Machine>, Arc::new(Cpu::new().unwrap())] {
            let small = Ordered::new(machine.clone(), Capacity::Limbs(14), true);
            let (ordered, found) = run(&small);
            assert_eq!(found, expected);
            assert_ne!(ordered, written);
            // Where all fits the program stays as it is.
            assert_eq!(run(&Ordered::new(machine, Capacity::Limbs(100), true)).0, written);
        }
        let choice = choose(&program, Capacity::Limbs(14), true).unwrap();
        assert!(choice.taken().by_primes && choice.taken().spilled == 0, "{:?}", choice.candidates);
        assert!(choice.candidates[0].spilled > 0);
        // Nine limbs are what a dot of four products reads and writes, keys of one limb once.
        let small = Ordered::new(Arc::new(Reference), Capacity::Limbs(3), true);
        let refused = small.prepare(&program).err().unwrap().to_string();
        assert!(refused.contains("give at least 6 limbs"), "{refused}");
    }
}
