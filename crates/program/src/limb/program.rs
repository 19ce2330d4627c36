//! The limb program as stored: flat vectors, 24 bytes an instruction and 4 an operand.

use ringmill_ring::Modulus;

use super::op::{Immediate, Opcode, Shape};
use super::section::Section;
use super::types::{
    BufferId, Domain, InputClass, InputId, LimbType, ModulusId, Operand, OutputId, Source, ValueId,
};

/// A modulus and its name in text, `q3` or `p0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModulus {
    /// The name.
    pub name: String,
    /// The modulus.
    pub modulus: Modulus,
}

/// Input limbs under one name, usually those of one polynomial; limb i of group `a0` is `a0.i` in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputGroup {
    /// The name.
    pub name: String,
    /// What the limbs belong to.
    pub class: InputClass,
    /// The domain of all its limbs.
    pub domain: Domain,
    /// The modulus of each limb.
    pub moduli: Vec<ModulusId>,
    /// log2 of the distance between coefficients that may differ from zero: a promise of the caller that
    /// binds the limbs. Zero promises nothing; limbs in the evaluation domain have zero.
    pub log_stride: u32,
    /// The number of its first limb among all input limbs.
    pub first: InputId,
}

impl InputGroup {
    /// Limb i of the group. `i` must be below the number of its limbs.
    pub fn limb(&self, i: usize) -> InputId {
        debug_assert!(i < self.moduli.len());
        InputId(self.first.0 + i as u32)
    }

    /// Whether it is the uniform half of a key, which a seed expands to. The halves of a digit are called `…_b0` and `…_a0`.
    pub fn is_uniform_half(&self) -> bool {
        let last = self.name.rsplit('_').next().unwrap_or_default();
        let numbered = |digit: &str| digit.starts_with(|c: char| c.is_ascii_digit());
        self.class == InputClass::Key && last.strip_prefix('a').is_some_and(numbered)
    }
}

/// Output limbs under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputGroup {
    /// The name.
    pub name: String,
    /// The domain of all its limbs.
    pub domain: Domain,
    /// The modulus of each limb.
    pub moduli: Vec<ModulusId>,
    /// The number of its first limb among all output limbs.
    pub first: OutputId,
}

/// A label on a run of instructions, from `first` to the next region's `first` or the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// What these instructions do, such as `tensor` or `mod_up.1`.
    pub label: String,
    /// Index of the first instruction.
    pub first: u32,
}

/// Which buffer holds which value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// How many buffers of N words the program needs.
    pub buffers: u32,
    /// The buffer of each value.
    pub buffer_of: Vec<BufferId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// Value defined, or output stored to.
    pub(crate) dst: u32,
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) op: Opcode,
    pub(crate) immediate: u64,
}

/// One instruction as a machine reads it. Types of results come from [`LimbProgram::value_type`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are named as in OpSpec::TABLE, which states the meaning.
pub enum Instruction<'a> {
    Load { dst: ValueId, input: InputId },
    Store { output: OutputId, src: Operand },
    Ntt { dst: ValueId, src: Operand },
    Intt { dst: ValueId, src: Operand },
    Add { dst: ValueId, a: Operand, b: Operand },
    Sub { dst: ValueId, a: Operand, b: Operand },
    Neg { dst: ValueId, a: Operand },
    Mul { dst: ValueId, a: Operand, b: Operand },
    Mac { dst: ValueId, acc: Operand, a: Operand, b: Operand },
    MulConst { dst: ValueId, a: Operand, constant: u64 },
    AddConst { dst: ValueId, a: Operand, constant: u64 },
    SubMulConst { dst: ValueId, a: Operand, b: Operand, constant: u64 },
    Lift { dst: ValueId, src: Operand },
    Quotient { dst: ValueId, sources: &'a [Operand] },
    Convert { dst: ValueId, sources: &'a [Operand], quotient: Option<Operand> },
    Dot { dst: ValueId, a: &'a [Operand], b: &'a [Operand] },
    Automorphism { dst: ValueId, src: Operand, galois: u64 },
}

/// A limb program that obeys the invariants of [`mod@super::verify`]: there is no other way to hold one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimbProgram {
    pub(crate) name: String,
    pub(crate) log_n: u32,
    pub(crate) moduli: Vec<NamedModulus>,
    pub(crate) inputs: Vec<InputGroup>,
    pub(crate) input_types: Vec<LimbType>,
    pub(crate) outputs: Vec<OutputGroup>,
    pub(crate) output_types: Vec<LimbType>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) value_types: Vec<LimbType>,
    pub(crate) regions: Vec<Region>,
    pub(crate) sections: Vec<Section>,
    pub(crate) allocation: Option<Allocation>,
}

impl LimbProgram {
    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// log2 of the ring degree.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// N, the words of a limb.
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// The moduli of all limbs.
    pub fn moduli(&self) -> &[NamedModulus] {
        &self.moduli
    }

    /// A modulus of the table. `id` must come from this program.
    #[inline]
    pub fn modulus(&self, id: ModulusId) -> Modulus {
        self.moduli[id.index()].modulus
    }

    /// The input groups in order; their limbs in that order are what a machine is given.
    pub fn inputs(&self) -> &[InputGroup] {
        &self.inputs
    }

    /// The type of each input limb.
    pub fn input_types(&self) -> &[LimbType] {
        &self.input_types
    }

    /// The output groups in order; their limbs in that order are what a machine fills.
    pub fn outputs(&self) -> &[OutputGroup] {
        &self.outputs
    }

    /// The type of each output limb.
    pub fn output_types(&self) -> &[LimbType] {
        &self.output_types
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of values; [`ValueId`]s are 0..values.
    pub fn values(&self) -> usize {
        self.value_types.len()
    }

    /// The type of a value. `id` must come from this program.
    #[inline]
    pub fn value_type(&self, id: ValueId) -> LimbType {
        self.value_types[id.index()]
    }

    /// The type of an operand. It must come from this program.
    #[inline]
    pub fn operand_type(&self, operand: Operand) -> LimbType {
        match operand.source() {
            Source::Value(v) => self.value_types[v.index()],
            Source::Input(i) => self.input_types[i.index()],
        }
    }

    /// The group an input limb belongs to.
    pub fn input_group(&self, id: InputId) -> &InputGroup {
        let after = self.inputs.partition_point(|g| g.first <= id);
        &self.inputs[after - 1]
    }

    /// The first input group that machines of a client alone take: the secret key or a sample.
    pub fn client_input(&self) -> Option<&InputGroup> {
        self.inputs.iter().find(|g| g.class.is_client_only())
    }

    /// Labels on runs of instructions, in order.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The buffers, once allocated.
    pub fn allocation(&self) -> Option<&Allocation> {
        self.allocation.as_ref()
    }

    /// What instruction `i` does. `i` must be below [`Self::len`].
    #[inline]
    pub fn opcode(&self, i: usize) -> Opcode {
        self.nodes[i].op
    }

    /// What instruction `i` reads, in the order of the table. `i` must be below [`Self::len`].
    #[inline]
    pub fn operands(&self, i: usize) -> &[Operand] {
        let node = &self.nodes[i];
        &self.operands[node.first as usize..(node.first + node.len) as usize]
    }

    /// The value that instruction `i` defines; none for a store. `i` must be below [`Self::len`].
    #[inline]
    pub fn defined(&self, i: usize) -> Option<ValueId> {
        let node = &self.nodes[i];
        (node.op != Opcode::Store).then_some(ValueId(node.dst))
    }

    /// Instruction `i`. It must be below [`Self::len`].
    #[inline]
    pub fn instruction(&self, i: usize) -> Instruction<'_> {
        let (node, o) = (&self.nodes[i], self.operands(i));
        let (dst, constant) = (ValueId(node.dst), node.immediate);
        match node.op {
            Opcode::Load => match o[0].source() {
                Source::Input(input) => Instruction::Load { dst, input },
                Source::Value(_) => unreachable!("the verifier admits no load of a value"),
            },
            Opcode::Store => Instruction::Store { output: OutputId(node.dst), src: o[0] },
            Opcode::Ntt => Instruction::Ntt { dst, src: o[0] },
            Opcode::Intt => Instruction::Intt { dst, src: o[0] },
            Opcode::Add => Instruction::Add { dst, a: o[0], b: o[1] },
            Opcode::Sub => Instruction::Sub { dst, a: o[0], b: o[1] },
            Opcode::Neg => Instruction::Neg { dst, a: o[0] },
            Opcode::Mul => Instruction::Mul { dst, a: o[0], b: o[1] },
            Opcode::Mac => Instruction::Mac { dst, acc: o[0], a: o[1], b: o[2] },
            Opcode::MulConst => Instruction::MulConst { dst, a: o[0], constant },
            Opcode::AddConst => Instruction::AddConst { dst, a: o[0], constant },
            Opcode::SubMulConst => Instruction::SubMulConst { dst, a: o[0], b: o[1], constant },
            Opcode::Lift => Instruction::Lift { dst, src: o[0] },
            Opcode::Quotient => Instruction::Quotient { dst, sources: o },
            Opcode::Convert => {
                let (&quotient, sources) =
                    o.split_last().unwrap_or_else(|| unreachable!("the verifier counts operands"));
                Instruction::Convert { dst, sources, quotient: Some(quotient) }
            }
            Opcode::ConvertFast => Instruction::Convert { dst, sources: o, quotient: None },
            Opcode::Dot => {
                let (a, b) = o.split_at(o.len() / 2);
                Instruction::Dot { dst, a, b }
            }
            Opcode::Automorphism => Instruction::Automorphism { dst, src: o[0], galois: constant },
        }
    }

    /// All instructions in order.
    pub fn instructions(&self) -> impl ExactSizeIterator<Item = Instruction<'_>> {
        (0..self.len()).map(|i| self.instruction(i))
    }

    /// The same borders and values, and no instructions yet.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            nodes: Vec::new(),
            operands: Vec::new(),
            regions: Vec::new(),
            sections: Vec::new(),
            allocation: None,
            ..self.clone()
        }
    }

    pub(crate) fn push_node(
        &mut self,
        op: Opcode,
        dst: u32,
        operands: impl IntoIterator<Item = Operand>,
        immediate: u64,
    ) {
        let first = self.operands.len() as u32;
        self.operands.extend(operands);
        let len = self.operands.len() as u32 - first;
        self.nodes.push(Node { dst, first, len, op, immediate });
    }

    pub(crate) fn immediate(&self, i: usize) -> Option<u64> {
        let node = &self.nodes[i];
        (node.op.spec().immediate != Immediate::None).then_some(node.immediate)
    }

    pub(crate) fn output_name(&self, id: OutputId) -> (&str, u32) {
        let after = self.outputs.partition_point(|g| g.first <= id);
        let group = &self.outputs[after - 1];
        (&group.name, id.0 - group.first.0)
    }

    pub(crate) fn sources_of(&self, i: usize) -> &[Operand] {
        let o = self.operands(i);
        match self.opcode(i).spec().shape {
            Shape::SourcesAndQuotient => &o[..o.len().saturating_sub(1)],
            _ => o,
        }
    }
}
