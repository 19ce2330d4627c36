//! What a machine is to do: instructions on limbs, without their data.

mod kind;
mod program;
#[cfg(test)]
mod tests;

pub use kind::{Class, Kind};

use crate::error::GraphError;

/// A number that stands for a limb: an input or the result of an instruction.
pub type Value = u32;

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Products of the sum that it computes; 1 of what is no sum.
    pub(crate) terms: u32,
    /// Limbs that it reads, those read twice counted twice.
    pub(crate) reads: u32,
    /// Its operands among all, each once.
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) result: Value,
}

/// What is known of a limb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limb {
    pub(crate) class: Class,
    pub(crate) bits: u8,
    /// Whether it follows from plaintexts alone.
    pub(crate) plain: bool,
}

/// Instructions in an order in which each reads what stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    name: String,
    log_n: u32,
    pub(crate) nodes: Vec<Node>,
    pub(crate) operands: Vec<Value>,
    pub(crate) limbs: Vec<Limb>,
    /// Limbs that leave as results, once each time.
    pub(crate) results: Vec<Value>,
    /// Labels, each with the first instruction that carries it.
    pub(crate) regions: Vec<(String, u32)>,
}

impl Graph {
    /// log2 of the greatest ring degree: products of figures stay within 64 bits.
    pub const LOG_N_MAX: u32 = 24;

    /// The most limbs that an instruction reads.
    pub const OPERANDS_MAX: usize = 1 << 16;

    /// No instruction yet, over rings of degree 2^`log_n`.
    ///
    /// # Errors
    /// [`GraphError::Degree`].
    pub fn new(name: impl Into<String>, log_n: u32) -> Result<Self, GraphError> {
        if log_n > Self::LOG_N_MAX {
            return Err(GraphError::Degree { log_n, most: Self::LOG_N_MAX });
        }
        Ok(Self {
            name: name.into(),
            log_n,
            nodes: Vec::new(),
            operands: Vec::new(),
            limbs: Vec::new(),
            results: Vec::new(),
            regions: Vec::new(),
        })
    }

    /// The name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// log2 of the ring degree.
    pub const fn log_n(&self) -> u32 {
        self.log_n
    }

    /// N, the words of a limb.
    pub const fn n(&self) -> u64 {
        1 << self.log_n
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// An input limb of a modulus of `bits` bits.
    pub fn input(&mut self, class: Class, bits: u8) -> Value {
        self.limb(Limb { class, bits, plain: class == Class::Plain })
    }

    fn limb(&mut self, limb: Limb) -> Value {
        self.limbs.push(limb);
        // A limb takes memory here: 2^32 of them do not fit.
        self.limbs.len() as Value - 1
    }

    /// Appends an instruction of `terms` terms, whose result has `bits` bits.
    ///
    /// # Errors
    /// [`GraphError::Undefined`], [`GraphError::Operands`].
    pub fn push(
        &mut self,
        kind: Kind,
        operands: &[Value],
        bits: u8,
        terms: u32,
    ) -> Result<Value, GraphError> {
        let instruction = self.nodes.len();
        if let Some(&value) = operands.iter().find(|&&v| v as usize >= self.limbs.len()) {
            return Err(GraphError::Undefined { instruction, value });
        }
        if operands.len() > Self::OPERANDS_MAX {
            let most = Self::OPERANDS_MAX;
            return Err(GraphError::Operands { instruction, operands: operands.len(), most });
        }
        let first = self.operands.len();
        for &value in operands {
            if !self.operands[first..].contains(&value) {
                self.operands.push(value);
            }
        }
        let plain = !operands.is_empty() && operands.iter().all(|&v| self.limbs[v as usize].plain);
        let result = self.limb(Limb { class: Class::Value, bits, plain });
        self.nodes.push(Node {
            kind,
            terms,
            reads: operands.len() as u32,
            first: first as u32,
            len: (self.operands.len() - first) as u32,
            result,
        });
        Ok(result)
    }

    /// Says that a limb is a result of the program.
    ///
    /// # Errors
    /// [`GraphError::Undefined`].
    pub fn result(&mut self, value: Value) -> Result<(), GraphError> {
        if value as usize >= self.limbs.len() {
            return Err(GraphError::Undefined { instruction: self.nodes.len(), value });
        }
        self.results.push(value);
        Ok(())
    }

    /// How often limbs leave as results.
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// What a limb belongs to.
    pub fn class(&self, value: Value) -> Option<Class> {
        self.limbs.get(value as usize).map(|limb| limb.class)
    }

    /// What is appended from here on carries this label.
    pub fn region(&mut self, label: impl Into<String>) {
        let first = self.nodes.len() as u32;
        if self.regions.last().is_some_and(|last| last.1 == first) {
            self.regions.pop();
        }
        self.regions.push((label.into(), first));
    }

    /// The place of an instruction's label among all; none where no label stands before it.
    pub(crate) fn region_of(&self, node: u32) -> Option<usize> {
        self.regions.partition_point(|r| r.1 <= node).checked_sub(1)
    }

    /// What an instruction reads, each limb once.
    pub(crate) fn reads(&self, node: &Node) -> &[Value] {
        &self.operands[node.first as usize..(node.first + node.len) as usize]
    }
}
