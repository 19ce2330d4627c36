//! All that is predicted of a design, with origins.

use ringmill_ckks::noise::FAILURE;

use crate::Kernel;
use crate::design::{Client, Figure, OriginKind, Predicted};
use crate::power::{millijoules, watts};
use crate::search::Request;
use crate::space::chains::Point;
use crate::target::{Core, Run, Target};

/// Cycles of a run.
#[derive(Debug, Clone)]
pub struct Cycles {
    /// Simulated.
    pub run: Run,
    /// Their bound.
    pub bound: u64,
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
        area: target.area(core),
        error: Figure::new(
            point.error,
            OriginKind::Model,
            format!(
                "noise model: worst slot of the worst output at confidence 1 - 2^{:.0}, inputs up to {} in size under the \
                 public key",
                FAILURE.log2(),
                kernel.source().magnitude
            ),
        ),
        security_bits: Figure::new(
            point.security_bits,
            OriginKind::Published,
            format!("{table}, interpolated: for comparison, not a claim"),
        ),
        security_level: (point.security_level > 0).then_some(point.security_level),
        power_w: watts(device),
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
