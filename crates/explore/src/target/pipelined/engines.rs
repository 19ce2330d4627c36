//! Every engine for a device, by the axes of the space.

use ringmill_machine::compact::Multiplier;

use super::machine::{Build, Machine};
use super::{MOST, PipelinedEngines, STREAMS, Timing, parts};
use crate::ExploreError;
use crate::device::Family;
use crate::target::{Core, Place};

/// Every engine for limbs of 2^`log_n` words and `primes` moduli, fitting or not, in a fixed order.
///
/// # Errors
/// A device for which no block was synthesised, or whose file has no link to a host.
pub(super) fn enumerate(place: &Place<'_>) -> Result<Vec<Core<PipelinedEngines>>, ExploreError> {
    let Place { space, device, log_n, primes, .. } = *place;
    if device.family != Family::Xcup {
        return Err(ExploreError::Constraint {
            constraint: "device",
            value: device.name.clone(),
            right: "an UltraScale+ device, as alveo-u250, alveo-u280 or zcu102: the engine's blocks are synthesised for these alone".into(),
        });
    }
    let Some(link) = &device.link else {
        return Err(ExploreError::Constraint {
            constraint: "device",
            value: device.name.clone(),
            right: "a device whose file has a [link] to its host: megabytes_per_second, latency_ns, source"
                .into(),
        });
    };
    let mut builds = Vec::new();
    for build in space.names("builds") {
        if build == STREAMS {
            let limbs = primes.saturating_sub(1);
            if (1..=MOST[0]).contains(&limbs) {
                builds.extend(space.numbers("lanes").iter().map(|&lanes| Build::Streams { limbs, lanes }));
            }
            continue;
        }
        for &special in space.numbers("special") {
            let limbs = primes.saturating_sub(special);
            if !(1..=MOST[0]).contains(&limbs) {
                continue;
            }
            // As many limbs a digit as special primes, or one fewer.
            let mut digits = vec![limbs.div_ceil(special)];
            if special > 1 && limbs.div_ceil(special - 1) != digits[0] {
                digits.push(limbs.div_ceil(special - 1));
            }
            for digits in digits {
                for &units in space.numbers("units") {
                    let of = |&feeds: &u32| Build::Pool { limbs, special, digits, units, feeds };
                    builds.extend(space.numbers("feeds").iter().map(of));
                }
            }
        }
    }
    let (bandwidth, latency) = device.all_channels();
    let mut all = Vec::new();
    let multipliers: Vec<Multiplier> =
        space.names("multipliers").iter().filter_map(|name| Multiplier::by_name(name)).collect();
    for build in builds {
        for &word_bits in space.numbers("words") {
            for &multiplier in &multipliers {
                for keys in space.names("keys") {
                    let machine = Machine {
                        build,
                        log_n,
                        word_bits,
                        multiplier,
                        seeded: keys == "seeded",
                        clock: device.clock.mhz.floor().max(1.0) as u32,
                        bandwidth: bandwidth.floor().max(1.0) as u32,
                        latency: latency.min(100_000) as u32,
                        link: link.megabytes_per_second.floor().max(1.0) as u32,
                        link_latency: link.latency_ns.ceil() as u32,
                    };
                    let needs = parts::needs(&machine, device)?;
                    all.push(place.core(machine, word_bits, Timing::of(&machine), needs));
                }
            }
        }
    }
    Ok(all)
}
