//! How a lowering writes a limb program.

use ringmill_ring::Modulus;

use super::op::Opcode;
use super::program::{InputGroup, LimbProgram, NamedModulus, OutputGroup, Region};
use super::section::{Section, SectionKind};
use super::types::{Domain, InputClass, InputId, LimbType, ModulusId, Operand, OutputId, Source, ValueId};
use super::verify::{VerifyError, verify};

/// Appends instructions to a program. Types of results follow from the operands; nothing is checked until
/// [`Self::finish`], so that a lowering reads as the algorithm and a wrong one is an error, never a panic.
#[derive(Debug, Clone)]
pub struct LimbBuilder {
    pub(super) program: LimbProgram,
    /// How many sections are open; only the outermost is kept.
    open: u32,
}

impl LimbBuilder {
    /// An empty program over Z\[X\]/(X^N + 1), N = 2^`log_n`.
    pub fn new(name: impl Into<String>, log_n: u32) -> Self {
        Self {
            program: LimbProgram {
                name: name.into(),
                log_n,
                moduli: Vec::new(),
                inputs: Vec::new(),
                input_types: Vec::new(),
                outputs: Vec::new(),
                output_types: Vec::new(),
                nodes: Vec::new(),
                operands: Vec::new(),
                value_types: Vec::new(),
                regions: Vec::new(),
                sections: Vec::new(),
                allocation: None,
            },
            open: 0,
        }
    }

    /// Adds a row to the table of moduli.
    pub fn modulus(&mut self, name: impl Into<String>, modulus: Modulus) -> ModulusId {
        let id = ModulusId(self.program.moduli.len() as u16);
        self.program.moduli.push(NamedModulus { name: name.into(), modulus });
        id
    }

    /// Declares input limbs and returns them as operands.
    pub fn input(
        &mut self,
        name: impl Into<String>,
        class: InputClass,
        domain: Domain,
        moduli: &[ModulusId],
    ) -> Vec<Operand> {
        self.sparse_input(name, class, domain, moduli, 0)
    }

    /// As [`Self::input`], of limbs whose coefficients are zero but for every 2^`log_stride`-th, from the first on.
    pub fn sparse_input(
        &mut self,
        name: impl Into<String>,
        class: InputClass,
        domain: Domain,
        moduli: &[ModulusId],
        log_stride: u32,
    ) -> Vec<Operand> {
        let first = self.program.input_types.len() as u32;
        self.program.inputs.push(InputGroup {
            name: name.into(),
            class,
            domain,
            moduli: moduli.to_vec(),
            log_stride,
            first: InputId(first),
        });
        self.program.input_types.extend(moduli.iter().map(|&m| typed(m, domain)));
        (0..moduli.len() as u32).map(|i| InputId(first + i).into()).collect()
    }

    /// Declares output limbs and returns their numbers.
    pub fn output(&mut self, name: impl Into<String>, domain: Domain, moduli: &[ModulusId]) -> Vec<OutputId> {
        let first = self.program.output_types.len() as u32;
        let group =
            OutputGroup { name: name.into(), domain, moduli: moduli.to_vec(), first: OutputId(first) };
        self.program.outputs.push(group);
        self.program.output_types.extend(moduli.iter().map(|&m| typed(m, domain)));
        (0..moduli.len() as u32).map(|i| OutputId(first + i)).collect()
    }

    /// Starts a region: what follows, up to the next one, carries this label.
    pub fn region(&mut self, label: impl Into<String>) {
        let first = self.program.nodes.len() as u32;
        if self.program.regions.last().is_some_and(|last| last.first == first) {
            self.program.regions.pop();
        }
        self.program.regions.push(Region { label: label.into(), first });
    }

    /// Starts a section. One inside of another one is part of that.
    pub fn begin_section(&mut self, kind: SectionKind) {
        let first = self.program.nodes.len() as u32;
        if self.open == 0 {
            self.program.sections.push(Section { kind, first, end: first });
        }
        self.open += 1;
    }

    /// Ends the section that was started last. An empty one is left out.
    pub fn end_section(&mut self) {
        self.open = self.open.saturating_sub(1);
        let end = self.program.nodes.len() as u32;
        match self.program.sections.last_mut().filter(|_| self.open == 0) {
            Some(section) if section.first == end => drop(self.program.sections.pop()),
            Some(section) => section.end = end,
            None => {}
        }
    }

    /// log2 of the ring degree.
    pub fn log_n(&self) -> u32 {
        self.program.log_n
    }

    /// The number of input limbs so far.
    pub fn input_limbs(&self) -> usize {
        self.program.input_types.len()
    }

    /// The label of what is appended now.
    pub fn last_label(&self) -> Option<&str> {
        self.program.regions.last().map(|r| r.label.as_str())
    }

    /// The type of an operand; that of quotients if it is unknown.
    pub fn operand_type(&self, operand: Operand) -> LimbType {
        match operand.source() {
            Source::Value(v) => self.program.value_types.get(v.index()),
            Source::Input(i) => self.program.input_types.get(i.index()),
        }
        .copied()
        .unwrap_or(LimbType::QUOTIENT)
    }

    /// The table of moduli so far.
    pub fn moduli(&self) -> &[NamedModulus] {
        &self.program.moduli
    }

    pub(super) fn push(
        &mut self,
        op: Opcode,
        dst: u32,
        operands: impl IntoIterator<Item = Operand>,
        immediate: u64,
    ) {
        self.program.push_node(op, dst, operands, immediate);
    }

    fn define(
        &mut self,
        op: Opcode,
        ty: LimbType,
        operands: impl IntoIterator<Item = Operand>,
        immediate: u64,
    ) -> Operand {
        let dst = self.program.value_types.len() as u32;
        self.push(op, dst, operands, immediate);
        self.program.value_types.push(ty);
        ValueId(dst).into()
    }

    /// An instruction whose result has the modulus of operand 0, in the domain the table says.
    fn like_first<const K: usize>(&mut self, op: Opcode, operands: [Operand; K], immediate: u64) -> Operand {
        let ty = self.operand_type(operands[0]);
        let ty = op.spec().to.map_or(ty, |domain| ty.in_domain(domain));
        self.define(op, ty, operands, immediate)
    }

    /// Copy of an input limb.
    pub fn load(&mut self, input: Operand) -> Operand {
        self.like_first(Opcode::Load, [input], 0)
    }

    /// Copy into an output limb.
    pub fn store(&mut self, output: OutputId, src: Operand) {
        self.push(Opcode::Store, output.0, [src], 0);
    }

    /// Coefficients to the evaluation domain.
    pub fn ntt(&mut self, src: Operand) -> Operand {
        self.like_first(Opcode::Ntt, [src], 0)
    }

    /// Evaluation domain to coefficients.
    pub fn intt(&mut self, src: Operand) -> Operand {
        self.like_first(Opcode::Intt, [src], 0)
    }

    /// a + b.
    pub fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.like_first(Opcode::Add, [a, b], 0)
    }

    /// a − b.
    pub fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        self.like_first(Opcode::Sub, [a, b], 0)
    }

    /// −a.
    pub fn neg(&mut self, a: Operand) -> Operand {
        self.like_first(Opcode::Neg, [a], 0)
    }

    /// a·b.
    pub fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        self.like_first(Opcode::Mul, [a, b], 0)
    }

    /// acc + a·b.
    pub fn mac(&mut self, acc: Operand, a: Operand, b: Operand) -> Operand {
        self.like_first(Opcode::Mac, [acc, a, b], 0)
    }

    /// a·c for a canonical residue c.
    pub fn mul_const(&mut self, a: Operand, c: u64) -> Operand {
        self.like_first(Opcode::MulConst, [a], c)
    }

    /// a + c for a canonical residue c.
    pub fn add_const(&mut self, a: Operand, c: u64) -> Operand {
        self.like_first(Opcode::AddConst, [a], c)
    }

    /// (a − b)·c for a canonical residue c.
    pub fn sub_mul_const(&mut self, a: Operand, b: Operand, c: u64) -> Operand {
        self.like_first(Opcode::SubMulConst, [a, b], c)
    }

    /// The centred residue of a limb modulo another prime.
    pub fn lift(&mut self, src: Operand, to: ModulusId) -> Operand {
        self.define(Opcode::Lift, LimbType::coeff(to), [src], 0)
    }

    /// The rounded quotients of a base conversion.
    pub fn quotient(&mut self, sources: &[Operand]) -> Operand {
        self.define(Opcode::Quotient, LimbType::QUOTIENT, sources.iter().copied(), 0)
    }

    /// Base conversion, centred by `quotient`.
    pub fn convert(&mut self, sources: &[Operand], quotient: Operand, to: ModulusId) -> Operand {
        let operands = sources.iter().copied().chain([quotient]);
        self.define(Opcode::Convert, LimbType::coeff(to), operands, 0)
    }

    /// Base conversion without quotient: the result may exceed the source product up to the number of sources times. Of one
    /// limb the uncentred residue.
    pub fn convert_fast(&mut self, sources: &[Operand], to: ModulusId) -> Operand {
        self.define(Opcode::ConvertFast, LimbType::coeff(to), sources.iter().copied(), 0)
    }

    /// Σ a_i·b_i.
    pub fn dot(&mut self, a: &[Operand], b: &[Operand]) -> Operand {
        let ty = a.first().map_or(LimbType::QUOTIENT, |&first| self.operand_type(first));
        self.define(Opcode::Dot, ty, a.iter().chain(b).copied(), 0)
    }

    /// The automorphism X → X^galois.
    pub fn automorphism(&mut self, src: Operand, galois: u64) -> Operand {
        self.like_first(Opcode::Automorphism, [src], galois)
    }

    /// The program, once it obeys every invariant of [`mod@super::verify`].
    ///
    /// # Errors
    /// The first invariant broken.
    pub fn finish(self) -> Result<LimbProgram, VerifyError> {
        verify(&self.program)?;
        Ok(self.program)
    }
}

/// A limb type from a declaration; the verifier refuses inputs and outputs of quotients.
fn typed(modulus: ModulusId, domain: Domain) -> LimbType {
    LimbType::coeff(modulus).in_domain(domain)
}
