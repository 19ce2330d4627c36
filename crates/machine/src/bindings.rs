//! Inputs bound by group name, and the checks at a machine's door.

use ringmill_program::limb::{InputId, LimbProgram, Operand};
use ringmill_ring::LimbSource;

use crate::MachineError;

/// Collects the input limbs of a program group by group.
#[derive(Debug, Clone)]
pub struct Bindings<'p, 'd> {
    program: &'p LimbProgram,
    limbs: Vec<Option<&'d [u64]>>,
}

impl<'p, 'd> Bindings<'p, 'd> {
    /// Nothing bound yet.
    pub fn new(program: &'p LimbProgram) -> Self {
        Self { program, limbs: vec![None; program.input_types().len()] }
    }

    /// Binds all limbs of one input group.
    ///
    /// # Errors
    /// An unknown name, or another number of limbs or words than the group has.
    pub fn bind<L>(
        &mut self,
        name: &str,
        limbs: impl IntoIterator<Item = &'d L>,
    ) -> Result<&mut Self, MachineError>
    where
        L: AsRef<[u64]> + ?Sized + 'd,
    {
        let Some(group) = self.program.inputs().iter().find(|g| g.name == name) else {
            let (program, name) = (self.program.name().to_owned(), name.to_owned());
            let known: Vec<_> = self.program.inputs().iter().map(|g| format!("`{}`", g.name)).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(MachineError::UnknownGroup { program, what: "input", name, known });
        };
        let limbs: Vec<&[u64]> = limbs.into_iter().map(AsRef::as_ref).collect();
        let (expected, found) = (group.moduli.len(), limbs.len());
        if expected != found {
            return Err(MachineError::GroupCount { what: "input", name: name.to_owned(), expected, found });
        }
        for (i, limb) in limbs.into_iter().enumerate() {
            let id = group.limb(i);
            length("input", || input_name(self.program, id), self.program.n(), limb.len())?;
            self.limbs[id.index()] = Some(limb);
        }
        Ok(self)
    }

    /// The limbs in program order.
    ///
    /// # Errors
    /// [`MachineError::Unbound`], naming the first group not bound.
    pub fn inputs(&self) -> Result<Vec<&'d [u64]>, MachineError> {
        let unbound = |i: usize| {
            let name = self.program.input_group(InputId(i as u32)).name.clone();
            MachineError::Unbound { what: "input", name }
        };
        self.limbs.iter().enumerate().map(|(i, limb)| limb.ok_or_else(|| unbound(i))).collect()
    }

    /// Checks that every word of every limb is below its modulus: one pass over all inputs, for data from outside.
    ///
    /// # Errors
    /// [`MachineError::NotCanonical`], naming the first word that is not.
    pub fn check_canonical(program: &LimbProgram, inputs: &[&[u64]]) -> Result<(), MachineError> {
        check_inputs(program, inputs)?;
        for (i, (limb, ty)) in inputs.iter().zip(program.input_types()).enumerate() {
            let Some(q) = ty.modulus().map(|m| program.modulus(m).value()) else { continue };
            if let Some(word) = limb.iter().position(|&x| x >= q) {
                let limb = input_name(program, InputId(i as u32));
                return Err(MachineError::NotCanonical { limb, word, value: inputs[i][word], q });
            }
        }
        Ok(())
    }
}

/// Checks the number and the lengths of what a machine is given: every [`crate::Executable::run`] starts with this.
///
/// # Errors
/// The first mismatch.
pub fn check_borders<'d, L: Copy + Into<LimbSource<'d>>>(
    program: &LimbProgram,
    inputs: &[L],
    outputs: &[&mut [u64]],
) -> Result<(), MachineError> {
    check_inputs(program, inputs)?;
    count(program, "output", program.output_types().len(), outputs.len())?;
    for (i, limb) in outputs.iter().enumerate() {
        length("output", || format!("number {i}"), program.n(), limb.len())?;
    }
    Ok(())
}

fn check_inputs<'d, L: Copy + Into<LimbSource<'d>>>(
    program: &LimbProgram,
    inputs: &[L],
) -> Result<(), MachineError> {
    count(program, "input", program.input_types().len(), inputs.len())?;
    let n = program.n();
    for (i, &limb) in inputs.iter().enumerate() {
        length("input", || input_name(program, InputId(i as u32)), n, limb.into().len_or(n))?;
    }
    Ok(())
}

fn count(
    program: &LimbProgram,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), MachineError> {
    if expected == found {
        return Ok(());
    }
    Err(MachineError::LimbCount { program: program.name().to_owned(), what, expected, found })
}

fn length(
    what: &'static str,
    limb: impl FnOnce() -> String,
    expected: usize,
    found: usize,
) -> Result<(), MachineError> {
    if expected == found {
        Ok(())
    } else {
        Err(MachineError::LimbLength { what, limb: limb(), expected, found })
    }
}

fn input_name(program: &LimbProgram, id: InputId) -> String {
    program.operand(Operand::from(id)).to_string()
}
