//! All that is predicted of a design, with origins.

use ringmill_ckks::noise::FAILURE;
use ringmill_machine::compact::Counters;

use crate::Kernel;
use crate::design::{Client, Figure, Hardware, OriginKind, Predicted, Resource};
use crate::model::power::{Work, millijoules, watts};
use crate::model::{logic, memory};
use crate::search::Request;
use crate::space::chains::Point;
use crate::space::cores::Core;

/// Cycles of a run.
#[derive(Debug, Clone, Copy)]
pub struct Cycles {
    /// By the cycle model.
    pub counters: Counters,
    /// By the closed form.
    pub bound: u64,
}

/// Everything that is predicted of parameters on a core.
pub fn predicted(
    request: &Request,
    kernel: &Kernel,
    point: &Point,
    core: &Core,
    hardware: &Hardware,
    cycles: Cycles,
) -> Predicted {
    let device = &request.device;
    let milliseconds = cycles.counters.cycles as f64 / (device.clock.mhz * 1e3);
    let exact = |value: u64, source: &str| Figure::new(value as f64, OriginKind::Exact, source);
    let work = Work::of(hardware, cycles.counters);
    let table = request.constraints.table;
    let clock = device.frequency();
    let [keys, inputs, outputs] = point.bytes;
    Predicted {
        cycles: Figure::new(
            cycles.counters.cycles as f64,
            OriginKind::Model,
            "cycle model, which equals the RTL; inputs and keys in memory",
        ),
        cycles_bound: Figure::new(cycles.bound as f64, OriginKind::Model, "closed form, a lower bound"),
        latency_ms: Figure::new(
            milliseconds,
            clock.origin.kind,
            format!("cycles of the cycle model at {} MHz: {}", clock.value, clock.origin.source),
        ),
        frequency_mhz: clock,
        resources: resources(core),
        area: area(request, core),
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
        energy_mj: millijoules(device, milliseconds, &work),
        client: Client {
            evaluation_key_bytes: exact(keys, "8 bytes a word, as the core reads them"),
            input_bytes: exact(inputs, "8 bytes a word, as the core reads them"),
            output_bytes: exact(outputs, "8 bytes a word, as the core writes them"),
            encrypt_ms: None,
            decrypt_ms: None,
        },
    }
}

fn resources(core: &Core) -> std::collections::BTreeMap<Resource, Figure> {
    let logic = core.shape().origin();
    let figure = |(&resource, &amount): (&Resource, &f64)| {
        let figure = match resource {
            Resource::Bram36 | Resource::Ebr | Resource::Uram => {
                Figure::new(amount, OriginKind::Exact, "memories of the core over the shapes of a block")
            }
            Resource::AreaUm2 => {
                Figure::new(amount, logic.kind, format!("{}; memory: {}", logic.source, memory::SRAM_SOURCE))
            }
            _ => Figure { value: amount, origin: logic.clone() },
        };
        (resource, figure)
    };
    core.needs.iter().map(figure).collect()
}

fn area(request: &Request, core: &Core) -> Figure {
    let held = logic::fitted(request.device.family, Resource::Lut).and_then(|f| f.held_out_worst);
    let error =
        held.map_or_else(String::new, |h| format!(", LUTs within {:.0}% on held-out rows", 100.0 * h));
    let what = "LUT/16 + FF/8 + 102.4 DSP + 56 BRAM (CASA), or square micrometres";
    Figure::new(core.area, OriginKind::Model, format!("{what}{error}"))
}
