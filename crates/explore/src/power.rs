//! Power and energy: counted operation by operation where the target knows them, else of a device by its file.

use crate::design::Figure;
use crate::device::Device;
use crate::target::{Core, Run, Target};

/// Whether anything is known of the energy of a run.
pub fn is_known<T: Target>(target: T, device: &Device) -> bool {
    device.power.is_some() || is_counted(target, device)
}

/// Whether it is counted operation by operation, so that the least time need not take the least energy.
pub fn is_counted<T: Target>(target: T, device: &Device) -> bool {
    target.counts_energy(device)
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
    if is_counted(target, device) {
        return target.energy(device, core, run);
    }
    let p = device.power.as_ref()?;
    let source = format!("power times time; {}", p.source);
    Some(Figure::new(p.watts * milliseconds, p.kind, source))
}
