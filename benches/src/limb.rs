//! Operations as limb programs run straight on the CPU machine: what remains when the facade, with its checks, caches and
//! error bookkeeping, is taken away. Inputs and keys are random words, so only times are meant here; that the programs
//! compute the right thing is what the tests of the lowering are for.

use ringmill_ckks::params::{NamedSet, Params};
use ringmill_machine::{Cpu, Machine};
use ringmill_program::limb::{Domain, InputClass, LimbProgram, LimbType, ModulusId, Operand};
use ringmill_program::lower::{LowerError, Lowering, Rotation};

use crate::Work;
use crate::aligned::Aligned;

/// The Galois element that rotates by one slot.
const ONE_SLOT: u64 = 5;

/// One operation of one set, on the machine itself.
pub(crate) fn prepare(work: &str) -> Result<Work, String> {
    let (kind, set) = work.split_once('/').ok_or_else(|| format!("{work} names no set"))?;
    let set: NamedSet = set.parse().map_err(|error| format!("{error}"))?;
    let params = Params::named(set).map_err(|error| error.to_string())?;
    let program = program(kind, &params).map_err(|error| error.to_string())?;
    bind(&program.ok_or_else(|| format!("{kind} is no operation of limb programs here"))?)
}

fn program(kind: &str, params: &Params) -> Result<Option<LimbProgram>, LowerError> {
    let mut low = Lowering::new(kind, params.log_n(), params.q_moduli(), params.p_moduli(), params.alpha())?;
    let q = low.basis.q().to_vec();
    let limbs = q.len();
    let names: Vec<String> = (0..params.dnum()).flat_map(|j| [format!("b{j}"), format!("a{j}")]).collect();
    let result = match kind {
        "relin" => {
            let d = [0, 1, 2].map(|i| input(&mut low, &format!("d{i}"), &q));
            let key = low.key_inputs(&names, limbs)?;
            low.relinearise([&d[0], &d[1], &d[2]], &key, false)?.to_vec()
        }
        "rotate" => {
            let c = [0, 1].map(|i| input(&mut low, &format!("c{i}"), &q));
            let key = low.key_inputs(&names, limbs)?;
            low.rotate([&c[0], &c[1]], Rotation { galois: ONE_SLOT, key: &key, rescale: false })?.to_vec()
        }
        "rescale" => {
            let c = [0, 1].map(|i| input(&mut low, &format!("c{i}"), &q));
            vec![low.rescale(&c[0])?, low.rescale(&c[1])?]
        }
        "mul_ct_ct" => {
            let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| input(&mut low, name, &q));
            low.tensor([&a0, &a1], [&b0, &b1])?.to_vec()
        }
        _ => return Ok(None),
    };
    for (i, poly) in result.iter().enumerate() {
        low.output(format!("y{i}"), poly);
    }
    low.finish().map(Some)
}

fn input(low: &mut Lowering, name: &str, moduli: &[ModulusId]) -> Vec<Operand> {
    low.builder.input(name, InputClass::Data, Domain::Eval, moduli)
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
