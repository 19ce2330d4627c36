//! The graph of a limb program.

use ringmill_program::limb::{Domain, InputClass, InputGroup, LimbProgram, Opcode, Operand, Source};

use super::{Class, Graph, Kind, Value};
use crate::error::GraphError;

/// Bits of a limb of quotients: base conversions have at most 64 sources, and the names of kinds have space for 2^14.
const QUOTIENT_BITS: u8 = 14;

impl Graph {
    /// Of a limb program. Loads are the limbs that they copy; stores say which limbs are results.
    ///
    /// # Errors
    /// [`GraphError`] of a program that is larger than what is simulated.
    pub fn of(program: &LimbProgram) -> Result<Self, GraphError> {
        Reader::new(program)?.read()
    }
}

/// The class of a group's limbs.
fn class_of(group: &InputGroup) -> Class {
    match group.class {
        // Machines of descriptions refuse programs with secret and sampled inputs; counted, these are data.
        InputClass::Data | InputClass::Secret | InputClass::Sampled(_) => Class::Data,
        InputClass::Plain => Class::Plain,
        InputClass::Key if group.is_uniform_half() => Class::SeededKey,
        InputClass::Key => Class::Key,
    }
}

struct Reader<'p> {
    program: &'p LimbProgram,
    graph: Graph,
    inputs: Vec<Value>,
    values: Vec<Value>,
}

impl<'p> Reader<'p> {
    fn new(program: &'p LimbProgram) -> Result<Self, GraphError> {
        let mut graph = Graph::new(program.name(), program.log_n())?;
        let mut inputs = Vec::with_capacity(program.input_types().len());
        for group in program.inputs() {
            for &m in &group.moduli {
                inputs.push(graph.input(class_of(group), program.modulus(m).bits() as u8));
            }
        }
        Ok(Self { program, graph, inputs, values: vec![0; program.values()] })
    }

    fn value(&self, operand: Operand) -> Value {
        match operand.source() {
            Source::Value(v) => self.values[v.index()],
            Source::Input(i) => self.inputs[i.index()],
        }
    }

    fn read(mut self) -> Result<Graph, GraphError> {
        let mut regions = self.program.regions().iter().peekable();
        let mut operands = Vec::new();
        for i in 0..self.program.len() {
            while let Some(region) = regions.next_if(|r| r.first as usize <= i) {
                self.graph.region(&region.label);
            }
            operands.clear();
            operands.extend(self.program.operands(i).iter().map(|&o| self.value(o)));
            let opcode = self.program.opcode(i);
            let Some(defined) = self.program.defined(i) else {
                self.graph.result(operands[0])?;
                continue;
            };
            let value = if opcode == Opcode::Load { operands[0] } else { self.push(i, opcode, &operands)? };
            self.values[defined.index()] = value;
        }
        Ok(self.graph)
    }

    fn push(&mut self, i: usize, opcode: Opcode, operands: &[Value]) -> Result<Value, GraphError> {
        let ty = self.program.defined(i).map(|v| self.program.value_type(v));
        let modulus = ty.and_then(|ty| ty.modulus());
        let bits = modulus.map_or(QUOTIENT_BITS, |m| self.program.modulus(m).bits() as u8);
        let coefficients = ty.is_some_and(|ty| ty.domain() == Domain::Coeff);
        let terms = match opcode {
            Opcode::Quotient | Opcode::ConvertFast => operands.len(),
            Opcode::Convert => operands.len() - 1,
            Opcode::Dot => operands.len() / 2,
            _ => 1,
        };
        self.graph.push(self.kind(opcode, operands, coefficients), operands, bits, terms as u32)
    }

    fn kind(&self, opcode: Opcode, operands: &[Value], coefficients: bool) -> Kind {
        let of = |class| operands.iter().any(|&v| self.graph.limbs[v as usize].class == class);
        let plain = || operands.iter().any(|&v| self.graph.limbs[v as usize].plain);
        match opcode {
            Opcode::Ntt => Kind::Ntt,
            Opcode::Intt => Kind::Intt,
            Opcode::Add => Kind::Add,
            Opcode::Sub => Kind::Sub,
            Opcode::Neg => Kind::Neg,
            Opcode::Mul if plain() => Kind::MulPlain,
            Opcode::Mul => Kind::Mul,
            Opcode::Mac if plain() => Kind::MacPlain,
            Opcode::Mac => Kind::Mac,
            Opcode::MulConst if coefficients => Kind::Scale,
            Opcode::MulConst => Kind::MulConst,
            Opcode::AddConst => Kind::AddConst,
            Opcode::SubMulConst => Kind::SubMulConst,
            Opcode::Lift => Kind::Lift,
            Opcode::Quotient => Kind::Quotient,
            Opcode::Convert => Kind::Convert,
            Opcode::ConvertFast => Kind::ConvertFast,
            Opcode::Dot if of(Class::Key) || of(Class::SeededKey) => Kind::DotKey,
            Opcode::Dot if plain() => Kind::DotPlain,
            Opcode::Dot => Kind::Dot,
            Opcode::Automorphism => Kind::Automorphism,
            Opcode::Load | Opcode::Store => unreachable!("loads and stores are no instructions of a graph"),
        }
    }
}
