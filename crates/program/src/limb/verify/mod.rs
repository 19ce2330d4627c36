//! The invariants of a limb program.
//!
//! 1. log2 N lies in 1..=17; moduli are distinct, ≡ 1 mod 2N, and so are their names distinct.
//! 2. Inputs and outputs have distinct names, known moduli, and are not quotients.
//! 3. Each instruction has the operands its row of [`OpSpec::TABLE`] asks for, and a canonical constant.
//! 4. A value is defined exactly once, before its first use; every number below the count is defined.
//! 5. Moduli and domains of operands and result agree with the row.
//! 6. Sources of a base conversion are 2 to 64 limbs of different moduli, other than the result's;
//!    a quotient is used with the same sources it was computed from.
//! 7. Every output limb is stored exactly once, with its type.
//! 8. Regions begin in order, within the program; a label is one line of text without `#`. Sections
//!    have instructions and do not overlap.
//! 9. Secret and sampled inputs have limbs of different moduli; samples are in the domain of their distribution. No output
//!    follows from private inputs alone: the secret key, ternary and Gaussian samples.
//! 10. After allocation: a buffer that is read still holds the value meant; a result shares the buffer of an
//!     operand only where the row allows it, and then of operand 0 alone.
//!
//! Not checked: that constants are the right ones (the factor (S/s_i)^−1 before a conversion), that every value
//! is used, that the program computes what its name says.

mod declarations;
mod secrecy;
mod violation;

pub use violation::{VerifyError, Violation};

use super::op::{Immediate, OpSpec, Shape};
use super::program::LimbProgram;
use super::types::{BufferId, Domain, LimbType, ModulusId, Operand, OutputId, Source, ValueId};
use declarations::{declarations, known};

/// Checks every invariant of this module.
///
/// # Errors
/// The first one broken, with the instruction.
pub fn verify(program: &LimbProgram) -> Result<(), VerifyError> {
    declarations(program).map_err(|violation| VerifyError { at: None, violation })?;
    let mut state = State::new(program);
    for i in 0..program.len() {
        state.instruction(i).map_err(|violation| VerifyError { at: Some(i), violation })?;
    }
    state.end().map_err(|violation| VerifyError { at: None, violation })?;
    secrecy::secrecy(program)
}

/// What the walk through the instructions remembers.
struct State<'a> {
    p: &'a LimbProgram,
    /// The instruction that defined each value.
    defined_at: Vec<u32>,
    stored: Vec<bool>,
    /// The value in each buffer.
    holds: Vec<u32>,
    /// Moduli seen among the sources of the current instruction.
    moduli: Vec<ModulusId>,
}

const NONE: u32 = u32::MAX;

impl<'a> State<'a> {
    fn new(p: &'a LimbProgram) -> Self {
        Self {
            p,
            defined_at: vec![NONE; p.values()],
            stored: vec![false; p.output_types.len()],
            holds: vec![NONE; p.allocation.as_ref().map_or(0, |a| a.buffers as usize)],
            moduli: Vec::new(),
        }
    }

    fn instruction(&mut self, i: usize) -> Result<(), Violation> {
        let spec = self.p.opcode(i).spec();
        for &o in self.p.operands(i) {
            self.readable(o)?;
        }
        self.count(i, spec)?;
        let expected = self.types(i, spec)?;
        self.constant(i, spec, expected)?;
        match self.p.defined(i) {
            Some(v) => self.define(i, spec, v, expected),
            None => self.store(OutputId(self.p.nodes[i].dst), expected),
        }
    }

    fn readable(&self, o: Operand) -> Result<(), Violation> {
        match o.source() {
            Source::Input(input) if input.index() >= self.p.input_types.len() => {
                Err(Violation::UnknownInput { number: input.index(), count: self.p.input_types.len() })
            }
            Source::Input(_) => Ok(()),
            Source::Value(v) => {
                if self.defined_at.get(v.index()).is_none_or(|&at| at == NONE) {
                    return Err(Violation::UseBeforeDefinition { value: v.0 });
                }
                let Some(a) = &self.p.allocation else { return Ok(()) };
                let buffer = a.buffer_of[v.index()];
                let holds = self.holds[buffer.index()];
                if holds == v.0 {
                    Ok(())
                } else {
                    Err(Violation::Overwritten { value: v.0, buffer: buffer.0, holds })
                }
            }
        }
    }

    fn count(&self, i: usize, spec: &OpSpec) -> Result<(), Violation> {
        let found = self.p.operands(i).len();
        let fits = match spec.shape {
            Shape::Input | Shape::Other => found == 1,
            Shape::Same(count) => found == usize::from(count),
            Shape::Pairs => found > 0 && found.is_multiple_of(2),
            Shape::Sources | Shape::SourcesOnly => found > 0,
            Shape::SourcesAndQuotient => found > 1,
        };
        if !fits {
            return Err(Violation::OperandCount { op: spec.name, found, syntax: spec.syntax });
        }
        if matches!(spec.shape, Shape::Sources | Shape::SourcesOnly | Shape::SourcesAndQuotient) {
            let found = self.p.sources_of(i).len();
            let min = spec.shape.least_sources();
            if !(min..=OpSpec::MAX_SOURCES).contains(&found) {
                return Err(Violation::SourceCount { found, min, max: OpSpec::MAX_SOURCES });
            }
        }
        Ok(())
    }

    /// The type the result must have, given the operands. Declared only for `lift` and conversions, whose target is free.
    fn types(&mut self, i: usize, spec: &OpSpec) -> Result<LimbType, Violation> {
        let p = self.p;
        let (operands, sources) = (p.operands(i), p.sources_of(i));
        let first = p.operand_type(operands[0]);
        for (index, &o) in sources.iter().enumerate() {
            let (found, wanted) = (p.operand_type(o).domain(), spec.from.unwrap_or(first.domain()));
            if found == Domain::Quotient || found != wanted {
                let expected = if wanted == Domain::Quotient { "coeff or eval" } else { wanted.name() };
                return Err(Violation::OperandDomain { op: spec.name, index, found, expected });
            }
        }
        match spec.shape {
            Shape::Input => match operands[0].source() {
                Source::Value(v) => Err(Violation::LoadOfValue { value: v.0 }),
                Source::Input(_) => Ok(first),
            },
            Shape::Same(_) | Shape::Pairs => {
                for (index, &o) in operands.iter().enumerate() {
                    if p.operand_type(o).modulus() != first.modulus() {
                        let (found, expected) = (type_modulus(p, p.operand_type(o)), type_modulus(p, first));
                        return Err(Violation::OperandModulus { op: spec.name, index, found, expected });
                    }
                }
                Ok(spec.to.map_or(first, |domain| first.in_domain(domain)))
            }
            Shape::Sources => self.distinct_sources(spec, sources).map(|()| LimbType::QUOTIENT),
            Shape::Other | Shape::SourcesOnly | Shape::SourcesAndQuotient => self.conversion(i, spec),
        }
    }

    fn distinct_sources(&mut self, spec: &OpSpec, sources: &[Operand]) -> Result<(), Violation> {
        self.moduli.clear();
        for &o in sources {
            let ty = self.p.operand_type(o);
            let Some(m) = ty.modulus() else { continue };
            if self.moduli.contains(&m) {
                return Err(Violation::RepeatedSource { op: spec.name, modulus: type_modulus(self.p, ty) });
            }
            self.moduli.push(m);
        }
        Ok(())
    }

    fn conversion(&mut self, i: usize, spec: &OpSpec) -> Result<LimbType, Violation> {
        let p = self.p;
        let sources = p.sources_of(i);
        self.distinct_sources(spec, sources)?;
        let declared =
            p.defined(i).and_then(|v| p.value_types.get(v.index())).copied().unwrap_or(LimbType::QUOTIENT);
        let Some(to) = declared.modulus() else {
            let (found, expected) = (type_name(p, declared), "a limb of coefficients".to_owned());
            return Err(Violation::ResultType { op: spec.name, found, expected });
        };
        known(p, to)?;
        if self.moduli.contains(&to) {
            return Err(Violation::SameModulus { op: spec.name, modulus: type_modulus(p, declared) });
        }
        if let (Shape::SourcesAndQuotient, Some(&q)) = (spec.shape, p.operands(i).last()) {
            let found = p.operand_type(q).domain();
            let Some(value) = q.value().filter(|_| found == Domain::Quotient) else {
                let index = sources.len();
                return Err(Violation::OperandDomain { op: spec.name, index, found, expected: "quotient" });
            };
            if p.operands(self.defined_at[value.index()] as usize) != sources {
                return Err(Violation::ForeignQuotient { value: value.0 });
            }
        }
        Ok(LimbType::coeff(to))
    }

    fn constant(&self, i: usize, spec: &OpSpec, ty: LimbType) -> Result<(), Violation> {
        let value = self.p.nodes[i].immediate;
        match (spec.immediate, ty.modulus()) {
            (Immediate::Residue, Some(m)) if value >= self.p.modulus(m).value() => {
                Err(Violation::Constant { value, modulus: type_modulus(self.p, ty) })
            }
            (Immediate::Galois, _) if value.is_multiple_of(2) || value >= 2 << self.p.log_n => {
                Err(Violation::Galois { value, two_n: 2 << self.p.log_n })
            }
            _ => Ok(()),
        }
    }

    fn define(&mut self, i: usize, spec: &OpSpec, v: ValueId, expected: LimbType) -> Result<(), Violation> {
        let p = self.p;
        let Some(at) = self.defined_at.get_mut(v.index()) else {
            return Err(Violation::NeverDefined { value: v.0, count: p.values() });
        };
        if *at != NONE {
            return Err(Violation::SecondDefinition { value: v.0 });
        }
        *at = i as u32;
        let found = p.value_type(v);
        if found != expected {
            let (found, expected) = (type_name(p, found), type_name(p, expected));
            return Err(Violation::ResultType { op: spec.name, found, expected });
        }
        let Some(a) = &p.allocation else { return Ok(()) };
        let buffer = a.buffer_of[v.index()];
        self.unshared(i, spec, buffer, &a.buffer_of)?;
        self.holds[buffer.index()] = v.0;
        Ok(())
    }

    fn unshared(
        &self,
        i: usize,
        spec: &OpSpec,
        buffer: BufferId,
        buffer_of: &[BufferId],
    ) -> Result<(), Violation> {
        let allowed = usize::from(spec.in_place);
        let clash = self
            .p
            .operands(i)
            .iter()
            .skip(allowed)
            .position(|o| o.value().is_some_and(|v| buffer_of[v.index()] == buffer));
        match clash {
            Some(index) => {
                Err(Violation::SharedBuffer { op: spec.name, buffer: buffer.0, index: index + allowed })
            }
            None => Ok(()),
        }
    }

    fn store(&mut self, output: OutputId, found: LimbType) -> Result<(), Violation> {
        let p = self.p;
        let Some(&expected) = p.output_types.get(output.index()) else {
            return Err(Violation::UnknownOutput { number: output.index(), count: p.output_types.len() });
        };
        let (name, limb) = p.output_name(output);
        let name = || name.to_owned();
        if found != expected {
            let (expected, found) = (type_name(p, expected), type_name(p, found));
            return Err(Violation::StoreType { name: name(), limb, expected, found });
        }
        if std::mem::replace(&mut self.stored[output.index()], true) {
            return Err(Violation::SecondStore { name: name(), limb });
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Violation> {
        if let Some(value) = self.defined_at.iter().position(|&at| at == NONE) {
            return Err(Violation::NeverDefined { value: value as u32, count: self.p.values() });
        }
        if let Some(output) = self.stored.iter().position(|&done| !done) {
            let (name, limb) = self.p.output_name(OutputId(output as u32));
            return Err(Violation::NeverStored { name: name.to_owned(), limb });
        }
        Ok(())
    }
}

/// The modulus of a type by name.
fn type_modulus(p: &LimbProgram, ty: LimbType) -> String {
    match ty.modulus() {
        Some(m) => p.moduli.get(m.index()).map_or_else(|| format!("number {}", m.0), |m| m.name.clone()),
        None => "none (quotients)".to_owned(),
    }
}

fn type_name(p: &LimbProgram, ty: LimbType) -> String {
    match ty.domain() {
        Domain::Quotient => "quotient".to_owned(),
        domain => format!("{} {domain}", type_modulus(p, ty)),
    }
}
