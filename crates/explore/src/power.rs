//! Power and energy: of a device by its file, or counted operation by operation where the target knows them.

use crate::design::Figure;
use crate::device::Device;
use crate::target::{Core, Run, Target};

/// Whether anything is known of the energy of a run.
pub fn is_known<T: Target>(target: T, device: &Device) -> bool {
    device.power.is_some() || is_counted(target, device)
}

/// Whether it is counted operation by operation, so that the least time need not take the least energy.
pub fn is_counted<T: Target>(target: T, device: &Device) -> bool {
    device.power.is_none() && target.counts_energy(device)
}

/// Watts, where a board was measured.
pub fn watts(device: &Device) -> Option<Figure> {
    device.power.as_ref().map(|p| Figure::new(p.watts, p.kind, p.source.clone()))
}

/// Millijoules of a run that takes `milliseconds`; `None` where no power is known.
pub fn millijoules<T: Target>(
    target: T,
    device: &Device,
    milliseconds: f64,
    core: &Core<T>,
    run: &Run,
) -> Option<Figure> {
    if let Some(p) = &device.power {
        let source = format!("power times time; {}", p.source);
        return Some(Figure::new(p.watts * milliseconds, p.kind, source));
    }
    is_counted(target, device).then(|| target.energy(core, run)).flatten()
}
