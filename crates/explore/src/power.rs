//! Power and energy: counted operation by operation where the target knows them, else of a device by its file.

use crate::design::Figure;
use crate::device::Device;
use crate::target::{Core, Run, Target};

/// Whether anything is known of the energy of a run.
pub fn is_known<T: Target>(target: T, device: &Device) -> bool {
    target.power(device).is_some() || is_counted(target, device)
}

/// Whether it is counted operation by operation, so that the least time need not take the least energy.
pub fn is_counted<T: Target>(target: T, device: &Device) -> bool {
    target.counts_energy(device)
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
    let Figure { value: watts, origin } = target.power(device)?;
    let source = format!("power times time; {}", origin.source);
    Some(Figure::new(watts * milliseconds, origin.kind, source))
}
