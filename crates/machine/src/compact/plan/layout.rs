//! Where limbs lie in memory: inputs, outputs, spilled values, instructions, each aligned to its own size or to a page.

use std::borrow::Cow;
use std::collections::HashMap;

use ringmill_program::limb::{InputId, LimbProgram, Operand};

use super::super::isa::ADDRESS_UNIT;
use super::super::table::power_of_two;

/// An input limb in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputSlot {
    /// The input limb.
    pub input: u32,
    /// Whether it is stored times 2^R.
    pub scaled: bool,
    /// Its address in bytes.
    pub address: u64,
}

impl InputSlot {
    /// A limb of a program's input as it lies in memory: some are stored times 2^R.
    pub fn stored<'l>(&self, program: &LimbProgram, factor_bits: u32, limb: &'l [u64]) -> Cow<'l, [u64]> {
        let modulus = program.operand_type(Operand::from(InputId(self.input))).modulus();
        match modulus.map(|m| program.modulus(m)) {
            Some(q) if self.scaled => {
                let factor = power_of_two(q, factor_bits);
                limb.iter().map(|&x| q.mul(x, factor)).collect()
            }
            _ => limb.into(),
        }
    }
}

/// The layout as it grows.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Address units of a limb.
    limb: u32,
    next: u64,
    inputs: HashMap<(u32, bool), u32>,
    outputs: Vec<u32>,
    free: Vec<u32>,
}

impl Layout {
    pub(super) fn new(log_n: u32, outputs: usize) -> Self {
        let limb = ((8u64 << log_n) / ADDRESS_UNIT) as u32;
        let mut layout =
            Self { limb, next: 0, inputs: HashMap::new(), outputs: Vec::new(), free: Vec::new() };
        layout.outputs = (0..outputs).map(|_| layout.place()).collect();
        layout
    }

    /// A new limb. Addresses past 2^32 units wrap here and are refused when the size is checked.
    fn place(&mut self) -> u32 {
        let address = self.next as u32;
        self.next += u64::from(self.limb);
        address
    }

    pub(super) fn input(&mut self, input: u32, scaled: bool) -> u32 {
        if let Some(&address) = self.inputs.get(&(input, scaled)) {
            return address;
        }
        let address = self.place();
        self.inputs.insert((input, scaled), address);
        address
    }

    pub(super) fn output(&self, output: u32) -> u32 {
        self.outputs[output as usize]
    }

    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.place())
    }

    pub(super) fn give_back(&mut self, address: u32) {
        self.free.push(address);
    }

    /// Bytes of all limbs; instructions follow.
    pub(super) fn bytes(&self) -> u64 {
        self.next * ADDRESS_UNIT
    }

    pub(super) fn input_slots(&self) -> Vec<InputSlot> {
        let slot = |(&(input, scaled), &address): (&(u32, bool), &u32)| InputSlot {
            input,
            scaled,
            address: u64::from(address) * ADDRESS_UNIT,
        };
        let mut slots: Vec<InputSlot> = self.inputs.iter().map(slot).collect();
        slots.sort_by_key(|s| s.address);
        slots
    }

    pub(super) fn output_addresses(&self) -> Vec<u64> {
        self.outputs.iter().map(|&address| u64::from(address) * ADDRESS_UNIT).collect()
    }
}
