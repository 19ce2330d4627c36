//! Single operations of the scheme as limb programs: for benches, cost calibration, counts of cycles and tests.
//!
//! [`program`] gives one operation. [`OperationWriter`] writes several into one program: they share one key, and inputs and
//! outputs of operation number i end in `_i`. Everything comes from the one lowering, so a key switch here is the key switch
//! of every other program.

use std::fmt;
use std::str::FromStr;

use ringmill_errors::StructuredError;
use ringmill_ring::Modulus;

use super::{KeyInputs, LowerError, Lowering, Method, Poly, Rotation};
use crate::limb::{Domain, InputClass, LimbProgram};

/// An operation on ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Switching one polynomial from one secret to another.
    KeySwitch,
    /// Tensor product and relinearisation.
    Multiply,
    /// The same, divided by P·q_ℓ at once.
    MultiplyRescale,
    /// Sum of two ciphertexts.
    Add,
    /// Division by q_ℓ.
    Rescale,
    /// Rotation of the slots by one.
    Rotate,
    /// Complex conjugation of the slots.
    Conjugate,
    /// Product of two ciphertexts with three parts.
    Tensor,
    /// From three parts to two.
    Relinearise,
    /// The same, divided by P·q_ℓ at once.
    RelineariseRescale,
    /// Product with a plaintext.
    MultiplyPlain,
}

/// There is no operation of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[error("there is no operation {name:?}; there are {known}", known = Operation::ALL.map(Operation::name).join(", "))]
pub struct UnknownOperation {
    /// What was asked for.
    pub name: String,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::KeySwitch,
        Self::Multiply,
        Self::MultiplyRescale,
        Self::Add,
        Self::Rescale,
        Self::Rotate,
        Self::Conjugate,
        Self::Tensor,
        Self::Relinearise,
        Self::RelineariseRescale,
        Self::MultiplyPlain,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeySwitch => "key_switch",
            Self::Multiply => "multiply",
            Self::MultiplyRescale => "multiply_rescale",
            Self::Add => "add",
            Self::Rescale => "rescale",
            Self::Rotate => "rotate",
            Self::Conjugate => "conjugate",
            Self::Tensor => "tensor",
            Self::Relinearise => "relinearise",
            Self::RelineariseRescale => "relinearise_rescale",
            Self::MultiplyPlain => "multiply_plain",
        }
    }

    /// Whether it reads a key-switching key.
    pub const fn switches(self) -> bool {
        !matches!(self, Self::Add | Self::Rescale | Self::Tensor | Self::MultiplyPlain)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|o| o.name() == name);
        found.ok_or_else(|| UnknownOperation { name: name.to_owned() })
    }
}

/// The Galois element that rotates by one slot, for the generator 5.
const ONE_SLOT: u64 = 5;

/// One operation on ciphertexts of all primes of a chain, with digits of `alpha` limbs.
///
/// # Errors
/// [`LowerError`]: what the chain does not allow.
pub fn program(
    operation: Operation,
    log_n: u32,
    (q, p): (&[Modulus], &[Modulus]),
    alpha: usize,
) -> Result<LimbProgram, LowerError> {
    let mut writer = OperationWriter::new(operation.name(), log_n, (q, p), alpha)?;
    writer.append(operation)?;
    writer.finish()
}

/// A limb program of single operations being written. What it has no method for is written through [`Self::low`].
#[derive(Debug, Clone)]
pub struct OperationWriter {
    /// The program so far.
    pub low: Lowering,
    limbs: usize,
    method: Method,
    key: Option<KeyInputs>,
    written: usize,
}

impl OperationWriter {
    /// An empty program over a chain, for ciphertexts of all its primes; keys are switched by the hybrid method with digits of
    /// `alpha` limbs.
    ///
    /// # Errors
    /// [`LowerError::Digits`] if `alpha` is 0.
    pub fn new(
        name: impl Into<String>,
        log_n: u32,
        (q, p): (&[Modulus], &[Modulus]),
        alpha: usize,
    ) -> Result<Self, LowerError> {
        let low = Lowering::new(name, log_n, q, p, alpha)?;
        let method = Method::Hybrid(low.basis.base_layout());
        Ok(Self { low, limbs: q.len(), method, key: None, written: 0 })
    }

    /// Switches keys by another method.
    #[must_use]
    pub fn by(self, method: Method) -> Self {
        Self { method, key: None, ..self }
    }

    /// On ciphertexts of fewer limbs, and with keys for as many.
    ///
    /// # Errors
    /// [`LowerError::Limbs`] if the chain does not have them.
    pub fn at(self, limbs: usize) -> Result<Self, LowerError> {
        self.low.basis.check_limbs(limbs)?;
        Ok(Self { limbs, key: None, ..self })
    }

    /// Conversions from several primes without centring ([`Lowering::uncentred`]).
    #[must_use]
    pub fn uncentred(self) -> Self {
        Self { low: self.low.uncentred(), ..self }
    }

    /// Declares a polynomial of a ciphertext.
    pub fn input(&mut self, name: impl Into<String>) -> Poly {
        self.declare(name, InputClass::Data)
    }

    /// Declares an encoded plaintext.
    pub fn plain(&mut self, name: impl Into<String>) -> Poly {
        self.declare(name, InputClass::Plain)
    }

    fn declare(&mut self, name: impl Into<String>, class: InputClass) -> Poly {
        let moduli = self.low.basis.q()[..self.limbs].to_vec();
        self.low.builder.input(name, class, Domain::Eval, &moduli)
    }

    /// Declares a key-switching key: `STEM_b0`, `STEM_a0`, `STEM_b1`, … for its digits.
    ///
    /// # Errors
    /// [`LowerError::NoSpecialPrime`]; [`LowerError::Layout`] if the chain does not allow the method's layout.
    pub fn key(&mut self, stem: &str) -> Result<KeyInputs, LowerError> {
        let digits = self.limbs.div_ceil(self.method.layout().alpha);
        let names: Vec<String> =
            (0..digits).flat_map(|j| [format!("{stem}_b{j}"), format!("{stem}_a{j}")]).collect();
        self.low.key_inputs_for(&self.method, &names, self.limbs)
    }

    /// Stores polynomials in the outputs `STEM_0`, `STEM_1`, …
    pub fn output(&mut self, stem: &str, parts: &[Poly]) {
        for (i, part) in parts.iter().enumerate() {
            self.low.output(format!("{stem}_{i}"), part);
        }
    }

    /// Writes an operation with inputs and outputs of its own, and the key that all operations share.
    ///
    /// # Errors
    /// [`LowerError`]: what the chain or the number of limbs does not allow.
    pub fn append(&mut self, operation: Operation) -> Result<(), LowerError> {
        let key = if operation.switches() { Some(self.shared_key()?) } else { None };
        let parts = self.operate(operation, key)?;
        for (i, part) in parts.iter().enumerate() {
            self.low.output(format!("y{i}_{}", self.written), part);
        }
        self.written += 1;
        Ok(())
    }

    fn shared_key(&mut self) -> Result<KeyInputs, LowerError> {
        if let Some(key) = &self.key {
            return Ok(key.clone());
        }
        let key = self.key("key")?;
        Ok(self.key.insert(key).clone())
    }

    fn inputs<const K: usize>(&mut self, names: [&str; K]) -> [Poly; K] {
        let of = self.written;
        names.map(|name| self.input(format!("{name}_{of}")))
    }

    fn operate(&mut self, operation: Operation, key: Option<KeyInputs>) -> Result<Vec<Poly>, LowerError> {
        use Operation as O;
        let switching = key.ok_or(LowerError::NoSpecialPrime);
        Ok(match operation {
            O::KeySwitch => {
                let [d] = self.inputs(["d"]);
                self.low.key_switch(&d, [None, None], &switching?, false)?.into()
            }
            O::Multiply | O::MultiplyRescale => {
                let [a0, a1, b0, b1] = self.inputs(["a0", "a1", "b0", "b1"]);
                let d = self.low.tensor([&a0, &a1], [&b0, &b1])?;
                self.low
                    .relinearise([&d[0], &d[1], &d[2]], &switching?, operation == O::MultiplyRescale)?
                    .into()
            }
            O::Relinearise | O::RelineariseRescale => {
                let d = self.inputs(["d0", "d1", "d2"]);
                let rescale = operation == O::RelineariseRescale;
                self.low.relinearise([&d[0], &d[1], &d[2]], &switching?, rescale)?.into()
            }
            O::Tensor => {
                let [a0, a1, b0, b1] = self.inputs(["a0", "a1", "b0", "b1"]);
                self.low.tensor([&a0, &a1], [&b0, &b1])?.into()
            }
            O::Add => {
                let [a0, a1, b0, b1] = self.inputs(["a0", "a1", "b0", "b1"]);
                vec![self.low.add(&a0, &b0)?, self.low.add(&a1, &b1)?]
            }
            O::MultiplyPlain => {
                let c = self.inputs(["c0", "c1"]);
                let plain = self.plain(format!("p_{}", self.written));
                vec![self.low.mul(&c[0], &plain)?, self.low.mul(&c[1], &plain)?]
            }
            O::Rescale => {
                let c = self.inputs(["c0", "c1"]);
                vec![self.low.rescale(&c[0])?, self.low.rescale(&c[1])?]
            }
            O::Rotate | O::Conjugate => {
                let c = self.inputs(["c0", "c1"]);
                let minus_one = (2u64 << self.low.builder.log_n()) - 1;
                let galois = if operation == O::Rotate { ONE_SLOT } else { minus_one };
                let rotation = Rotation { galois, key: &switching?, rescale: false };
                self.low.rotate([&c[0], &c[1]], rotation)?.into()
            }
        })
    }

    /// The verified program.
    ///
    /// # Errors
    /// A broken invariant: an operand used wrongly.
    pub fn finish(self) -> Result<LimbProgram, LowerError> {
        self.low.finish()
    }
}

#[cfg(test)]
mod tests {
    use ringmill_ring::primes::of_bits;

    use super::*;
    use crate::limb::{Opcode, parse};

    /// Transforms of `operation` on five limbs, two special primes, digits of two limbs, by the formulas of the lowering.
    fn transforms(operation: Operation) -> usize {
        let (limbs, special, digits) = (5, 2, 3);
        match operation {
            Operation::Add | Operation::Tensor | Operation::MultiplyPlain => 0,
            Operation::Rescale => 2 * limbs,
            _ => (digits + 2) * (limbs + special),
        }
    }

    #[test]
    fn every_operation_is_a_program_of_the_transforms_that_its_formula_counts() {
        let all = of_bits(40, 5, 7, &[]).unwrap();
        for operation in Operation::ALL {
            let p = program(operation, 5, (&all[2..], &all[..2]), 2).unwrap();
            let transform = |&i: &usize| matches!(p.opcode(i), Opcode::Ntt | Opcode::Intt);
            assert_eq!((0..p.len()).filter(transform).count(), transforms(operation), "{operation}");
            assert!(parse(&p.to_string()).unwrap() == p, "{operation}");
            assert_eq!(operation.name().parse(), Ok(operation));
            let key = p.inputs().iter().any(|g| g.class == InputClass::Key);
            assert_eq!(key, operation.switches(), "{operation}");
        }
        let unknown = "mul".parse::<Operation>().unwrap_err().to_string();
        assert!(
            unknown.starts_with("there is no operation \"mul\"; there are key_switch, multiply"),
            "{unknown}"
        );
    }

    #[test]
    fn operations_of_one_program_share_the_key_and_nothing_else() {
        let all = of_bits(40, 5, 4, &[]).unwrap();
        let mut writer = OperationWriter::new("two", 5, (&all[1..], &all[..1]), 1).unwrap().at(2).unwrap();
        [Operation::Rotate, Operation::KeySwitch].iter().for_each(|&o| writer.append(o).unwrap());
        let p = writer.finish().unwrap();
        let names: Vec<&str> = p.inputs().iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["key_b0", "key_a0", "key_b1", "key_a1", "c0_0", "c1_0", "d_1"]);
        assert!(p.outputs().iter().all(|g| g.moduli.len() == 2) && p.outputs().len() == 4);
    }

    #[test]
    fn what_a_chain_does_not_allow_is_named() {
        let all = of_bits(40, 5, 3, &[]).unwrap();
        let of = |operation, q, p, alpha| program(operation, 5, (q, p), alpha).unwrap_err();
        assert_eq!(of(Operation::Rotate, &all[..2], &all[3..], 1), LowerError::NoSpecialPrime);
        assert_eq!(of(Operation::Rescale, &all[..1], &[], 1), LowerError::LevelExhausted);
        assert_eq!(of(Operation::Add, &all[..1], &[], 0), LowerError::Digits { alpha: 0 });
        let writer = OperationWriter::new("t", 5, (&all[..2], &all[2..]), 1).unwrap();
        assert_eq!(writer.at(3).unwrap_err(), LowerError::Limbs { found: 3, max: 2 });
    }
}
