//! All that is predicted of a design, with origins.

use ringmill_ckks::noise::FAILURE;
use ringmill_program::manage::Encryption;

use crate::design::{Client, Figure, OriginKind, Predicted};
use crate::power::millijoules;
use crate::search::Request;
use crate::space::chains::Point;
use crate::target::{Core, Run, Target};
use crate::{Device, Kernel};

/// Cycles of a run.
#[derive(Debug, Clone)]
pub struct Cycles {
    /// Simulated.
    pub run: Run,
    /// Their bound.
    pub bound: u64,
}

/// The part of the device that a machine takes, by the resource that runs out first.
fn area<T: Target>(device: &Device, core: &Core<T>) -> Figure {
    let share = core.share;
    let need = core.needs.get(&share.resource).copied().unwrap_or(0.0);
    let (name, have) = (share.resource.name(), device.amount(share.resource));
    let said = format!("the resource that runs out first: {need} of {have} {name}");
    Figure::new(share.greatest, OriginKind::Model, said)
}

/// What arguments are encrypted under.
const fn under(encryption: Encryption) -> &'static str {
    match encryption {
        Encryption::Public => "the public key",
        Encryption::Undivided => "a public key that does not divide",
        Encryption::Secret => "the secret key",
    }
}

/// Everything that is predicted of parameters on a core.
pub fn predicted<T: Target>(
    target: T,
    request: &Request,
    kernel: &Kernel,
    point: &Point,
    core: &Core<T>,
    cycles: &Cycles,
) -> Predicted {
    let device = &request.device;
    let milliseconds = cycles.run.cycles as f64 / (device.clock.mhz * 1e3);
    let exact = |value: u64, source: &str| Figure::new(value as f64, OriginKind::Exact, source);
    let row = target.row();
    let table = request.constraints.table;
    let clock = target.clock(device);
    let [keys, inputs, outputs] = point.bytes;
    Predicted {
        cycles: Figure::new(cycles.run.cycles as f64, OriginKind::Model, row.cycles_source),
        cycles_bound: Figure::new(cycles.bound as f64, OriginKind::Model, row.bound_source),
        latency_ms: Figure::new(
            milliseconds,
            clock.origin.kind,
            format!("cycles of the cycle model at {} MHz: {}", clock.value, clock.origin.source),
        ),
        frequency_mhz: clock,
        resources: target.resources(core),
        area: area(device, core),
        error: Figure::new(
            point.error,
            OriginKind::Model,
            format!(
                "noise model: worst slot of the worst output at confidence 1 - 2^{:.0}, inputs up to {} in size under {}",
                FAILURE.log2(),
                kernel.source().magnitude,
                under(kernel.encryption())
            ),
        ),
        security_bits: Figure::new(
            point.security_bits,
            OriginKind::Published,
            format!("{table}, interpolated: for comparison, not a claim"),
        ),
        security_level: (point.security_level > 0).then_some(point.security_level),
        power_w: target.power(device),
        per_second: target.per_second(device, core, &cycles.run),
        energy_mj: millijoules(target, device, milliseconds, core, &cycles.run),
        client: Client {
            evaluation_key_bytes: exact(keys, "8 bytes a word, as the core reads them"),
            input_bytes: exact(inputs, "8 bytes a word, as the core reads them"),
            output_bytes: exact(outputs, "8 bytes a word, as the core writes them"),
            encrypt_ms: None,
            decrypt_ms: None,
        },
    }
}
