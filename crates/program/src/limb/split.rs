//! A program in parts: those that a machine of fixed function serves, and the rest for a host.
//!
//! # Pass: split
//!
//! - Purpose: a machine of fixed function runs the operations that it serves, and a host the rest.
//! - Requires: a verified limb program with sections, before it is scheduled.
//! - Guarantees: verified programs that, run one after the other, give the bits of the whole. No quotient of a base conversion goes
//!   from one to another; a program where one would is refused.
//! - Example, for an engine that rescales:
//!
//! ```text
//! limb example : 2^4 {
//!   modulus q0 = 1073741441
//!   modulus q1 = 1073740609
//!   input data a : eval q0 q1
//!   output y : eval q0
//!   %0 = add a.0, a.0 : q0 eval
//! section rescale 2
//!   %1 = intt a.1 : q1 coeff
//!   %2 = lift %1 : q0 coeff
//!   %3 = ntt %2 : q0 eval
//!   %4 = sub_mul_const %0, %3, 461772375 : q0 eval
//! end
//!   store %4 -> y.0
//! }
//! ```

use std::collections::HashMap;

use ringmill_errors::StructuredError;

use super::build::LimbBuilder;
use super::program::{LimbProgram, Node};
use super::section::{Lives, Section, SectionKind};
use super::types::{InputClass, InputId, LimbType, ModulusId, Operand, OutputId, Source, ValueId};
use super::verify::VerifyError;

/// A program as a row of parts. Run one after the other, they give what the program gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// How many limbs go from one part to another.
    pub between: usize,
}

impl Split {
    /// The program as one part, for the host.
    pub fn whole(program: &LimbProgram) -> Self {
        let inputs = (0..program.input_types().len() as u32).map(|i| From::Input(InputId(i))).collect();
        let outputs = (0..program.output_types().len() as u32).map(|i| To::Output(OutputId(i))).collect();
        let part = Part { program: program.clone(), served: None, inputs, outputs };
        Self { parts: vec![part], between: 0 }
    }
}

/// Instructions that one machine runs, as a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The program.
    pub program: LimbProgram,
    /// The operation, if the engine runs it.
    pub served: Option<SectionKind>,
    /// What each of its input limbs is.
    pub inputs: Vec<From>,
    /// What each of its output limbs is.
    pub outputs: Vec<To>,
}

/// Where an input limb of a part comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum From {
    /// An input limb of the whole program.
    Input(InputId),
    /// A limb between parts, by its number.
    Between(usize),
}

/// Where an output limb of a part goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum To {
    /// An output limb of the whole program.
    Output(OutputId),
    /// A limb between parts, by its number.
    Between(usize),
}

/// Why a program cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum SplitError {
    #[error(
        "program {program} has no sections: it is scheduled, or was read from a text without them; split it before scheduling"
    )]
    NoSections { program: String },
    #[error(
        "the quotient %{value} of a base conversion would go from one part of program {program} to another; let one section hold \
         the whole conversion"
    )]
    Quotient { program: String, value: u32 },
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

/// The parts of a program if an engine runs the sections that it `serves`, and a host everything else.
///
/// # Errors
/// [`SplitError`].
pub fn split(program: &LimbProgram, serves: impl Fn(&SectionKind) -> bool) -> Result<Split, SplitError> {
    if program.sections().is_empty() {
        return Err(SplitError::NoSections { program: program.name().to_owned() });
    }
    let served: Vec<&Section> = program.sections().iter().filter(|s| serves(&s.kind)).collect();
    // A name that no input of the program begins with.
    let mut stem = "limb".to_owned();
    while program.inputs().iter().any(|g| g.name.starts_with(&stem)) {
        stem.push('_');
    }
    let lives = Lives::of(program);
    let mut splitter = Splitter { program, lives, stem, between: HashMap::new(), parts: Vec::new() };
    let mut at = 0;
    for section in served {
        splitter.part(at..section.first as usize, None)?;
        splitter.part(section.range(), Some(section.kind))?;
        at = section.end as usize;
    }
    splitter.part(at..program.len(), None)?;
    Ok(Split { parts: splitter.parts, between: splitter.between.len() })
}

struct Splitter<'p> {
    program: &'p LimbProgram,
    lives: Lives<'p>,
    /// What names of limbs between parts begin with.
    stem: String,
    /// The number of each value that goes from one part to another.
    between: HashMap<ValueId, usize>,
    parts: Vec<Part>,
}

impl Splitter<'_> {
    fn part(&mut self, range: std::ops::Range<usize>, served: Option<SectionKind>) -> Result<(), SplitError> {
        if range.is_empty() {
            return Ok(());
        }
        let whole = self.program;
        let borders = self.lives.borders(range.clone());
        for &value in &borders.outputs {
            if whole.value_type(value).modulus().is_none() {
                return Err(SplitError::Quotient { program: whole.name().to_owned(), value: value.0 });
            }
            let number = self.between.len();
            self.between.entry(value).or_insert(number);
        }
        let name = format!("{}_{}", whole.name(), self.parts.len());
        let mut writer = Writer::new(whole, name);
        let (inputs, mut places) = self.inputs(&mut writer, &borders.inputs);
        let mut outputs = Vec::new();
        for i in range {
            let node = whole.nodes[i];
            let operands: Vec<Operand> =
                whole.operands(i).iter().map(|o| places.get(o).copied().unwrap_or(*o)).collect();
            match whole.defined(i) {
                Some(v) => {
                    let value = writer.define(&node, operands, whole.value_type(v));
                    places.insert(v.into(), value);
                }
                None => {
                    let output = OutputId(node.dst);
                    let (group, limb) = whole.output_name(output);
                    writer.store(
                        format!("{group}_{limb}"),
                        whole.output_types()[output.index()],
                        operands[0],
                    );
                    outputs.push(To::Output(output));
                }
            }
        }
        for &value in &borders.outputs {
            let number = self.between[&value];
            writer.store(format!("{}{number}", self.stem), whole.value_type(value), places[&value.into()]);
            outputs.push(To::Between(number));
        }
        let program = writer.builder.finish()?;
        self.parts.push(Part { program, served, inputs, outputs });
        Ok(())
    }

    /// Declares inputs: those of the whole program by groups with the limbs that are read, then limbs between parts.
    fn inputs(&self, writer: &mut Writer<'_>, read: &[Operand]) -> (Vec<From>, HashMap<Operand, Operand>) {
        let whole = self.program;
        let (mut inputs, mut places) = (Vec::new(), HashMap::new());
        let mut limbs: Vec<InputId> = read
            .iter()
            .filter_map(|o| match o.source() {
                Source::Input(i) => Some(i),
                Source::Value(_) => None,
            })
            .collect();
        limbs.sort_unstable();
        for limbs in limbs.chunk_by(|a, b| whole.input_group(*a).first == whole.input_group(*b).first) {
            let group = whole.input_group(limbs[0]);
            let moduli: Vec<ModulusId> = limbs
                .iter()
                .map(|limb| writer.modulus(group.moduli[(limb.0 - group.first.0) as usize]))
                .collect();
            let declared = writer.builder.sparse_input(
                group.name.clone(),
                group.class,
                group.domain,
                &moduli,
                group.log_stride,
            );
            inputs.extend(limbs.iter().map(|&limb| From::Input(limb)));
            places.extend(limbs.iter().map(|&limb| Operand::from(limb)).zip(declared));
        }
        for value in read.iter().filter_map(|o| o.value()) {
            let number = self.between[&value];
            let ty = writer.ty(whole.value_type(value));
            let moduli: Vec<ModulusId> = ty.modulus().into_iter().collect();
            let name = format!("{}{number}", self.stem);
            let declared = writer.builder.input(name, InputClass::Data, ty.domain(), &moduli);
            inputs.push(From::Between(number));
            places.extend(std::iter::once(Operand::from(value)).zip(declared));
        }
        (inputs, places)
    }
}

/// A part being written. Its table holds the moduli that it uses.
struct Writer<'p> {
    whole: &'p LimbProgram,
    builder: LimbBuilder,
    moduli: HashMap<ModulusId, ModulusId>,
}

impl<'p> Writer<'p> {
    fn new(whole: &'p LimbProgram, name: String) -> Self {
        Self { whole, builder: LimbBuilder::new(name, whole.log_n()), moduli: HashMap::new() }
    }

    fn modulus(&mut self, of: ModulusId) -> ModulusId {
        let (whole, builder) = (self.whole, &mut self.builder);
        *self.moduli.entry(of).or_insert_with(|| {
            let named = &whole.moduli()[of.index()];
            builder.modulus(named.name.clone(), named.modulus)
        })
    }

    fn ty(&mut self, of: LimbType) -> LimbType {
        match of.modulus() {
            Some(m) => LimbType::coeff(self.modulus(m)).in_domain(of.domain()),
            None => of,
        }
    }

    fn define(&mut self, node: &Node, operands: Vec<Operand>, ty: LimbType) -> Operand {
        let ty = self.ty(ty);
        let dst = self.builder.program.value_types.len() as u32;
        self.builder.push(node.op, dst, operands, node.immediate);
        self.builder.program.value_types.push(ty);
        ValueId(dst).into()
    }

    fn store(&mut self, name: String, ty: LimbType, value: Operand) {
        let ty = self.ty(ty);
        let moduli: Vec<ModulusId> = ty.modulus().into_iter().collect();
        for output in self.builder.output(name, ty.domain(), &moduli) {
            self.builder.store(output, value);
        }
    }
}
