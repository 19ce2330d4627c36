//! Operations as limb programs run straight on the CPU machine: what remains when the facade, with its checks, caches and
//! error bookkeeping, is taken away. Inputs and keys are random words, so only times are meant here; that the programs
//! compute the right thing is what the tests of the lowering are for.

use ringmill_ckks::params::{NamedSet, Params};
use ringmill_machine::{Cpu, Machine};
use ringmill_program::limb::{LimbProgram, LimbType};
use ringmill_program::lower::{LowerError, Operation, single};

use crate::Work;
use crate::aligned::Aligned;

/// One operation of one set, on the machine itself.
pub(crate) fn prepare(work: &str) -> Result<Work, String> {
    let (kind, set) = work.split_once('/').ok_or_else(|| format!("{work} names no set"))?;
    let set: NamedSet = set.parse().map_err(|error| format!("{error}"))?;
    let params = Params::named(set).map_err(|error| error.to_string())?;
    let program = program(kind, &params).map_err(|error| error.to_string())?;
    bind(&program.ok_or_else(|| format!("{kind} is no operation of limb programs here"))?)
}

fn program(kind: &str, params: &Params) -> Result<Option<LimbProgram>, LowerError> {
    let operation = match kind {
        "relin" => Operation::Relinearise,
        "rotate" => Operation::Rotate,
        "rescale" => Operation::Rescale,
        "mul_ct_ct" => Operation::Tensor,
        _ => return Ok(None),
    };
    let chain = (params.q_moduli(), params.p_moduli());
    single::program(operation, params.log_n(), chain, params.alpha()).map(Some)
}

fn bind(program: &LimbProgram) -> Result<Work, String> {
    let machine = Cpu::new().map_err(|error| error.to_string())?;
    let executable = machine.prepare(program).map_err(|error| error.to_string())?;
    // Inputs and outputs are residues; only values inside a program can be quotients.
    let limb = |of: &LimbType| {
        Aligned::residues(program.n(), of.modulus().map_or(1, |id| program.modulus(id).value()))
    };
    let mut inputs: Vec<Aligned> = program.input_types().iter().map(limb).collect();
    let mut outputs: Vec<Aligned> = program.output_types().iter().map(limb).collect();
    let mut run = move || {
        let inputs: Vec<&[u64]> = inputs.iter_mut().map(|limb| &*limb.as_mut()).collect();
        let mut outputs: Vec<&mut [u64]> = outputs.iter_mut().map(Aligned::as_mut).collect();
        executable.run(&inputs, &mut outputs)
    };
    run().map_err(|error| error.to_string())?;
    Ok(Box::new(move || run().unwrap_or_else(|error| panic!("ran once, and now: {error}"))))
}
