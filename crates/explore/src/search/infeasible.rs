//! Constraints that cannot be met: which one binds, and the nearest that can.

use std::collections::BTreeMap;

use super::candidates::{Cores, cores_key};
use super::run::Request;
use crate::design::Resource;
use crate::space::chains::{Enumerated, Point, enumerate};
use crate::target::{Core, Place, Target};
use crate::{Constraints, Device, ExploreError};

/// Primes of a chain beside those that rescaling removes: the base, and a special one.
const LEAST_BESIDE: u32 = 2;

fn infeasible(binding: &'static str, why: String, nearest: Option<Constraints>) -> ExploreError {
    ExploreError::Infeasible { binding, why, nearest: nearest.map(Box::new) }
}

/// Where levels run out.
const NO_BOOTSTRAPPING: &str = "bootstrapping, which would bring levels back, is not in the explored space: multiply less deeply, \
                                explore the kernel in parts, or run it on the CPU with parameters that bootstrap \
                                (Params.bootstrapping)";

/// The kernel asks for what no core of the space does.
pub(super) fn bootstraps() -> ExploreError {
    infeasible("kernel", format!("it asks to be bootstrapped, and {NO_BOOTSTRAPPING}"), None)
}

/// Two digits, rounded up: a bound that can be met.
fn up(x: f64) -> f64 {
    let step = 10f64.powf(x.log10().floor() - 1.0);
    (x / step).ceil() * step
}

/// Why no candidate is left.
pub(super) fn explain<T: Target>(
    target: T,
    request: &Request,
    found: &Enumerated,
    cores: &Cores<T>,
) -> ExploreError {
    let constraints = &request.constraints;
    if found.points.is_empty() {
        return no_parameters(target, request);
    }
    let fits = |p: &&Point| smallest(target, p, cores).is_some_and(|c| c.binding.is_none());
    let accurate = |p: &&Point| p.error <= constraints.max_error;
    if found.points.iter().any(|p| accurate(&p)) && found.points.iter().any(|p| fits(&p)) {
        // Each constraint can be met by itself, but not all together.
        return least_error(constraints, found.points.iter().filter(fits), "on this device ");
    }
    if !found.points.iter().any(|p| fits(&p)) {
        return too_small(target, request, found, cores);
    }
    least_error(constraints, found.points.iter(), "")
}

fn least_error<'p>(
    constraints: &Constraints,
    points: impl Iterator<Item = &'p Point>,
    place: &str,
) -> ExploreError {
    let Some(best) = points.min_by(|a, b| a.error.total_cmp(&b.error)) else {
        return infeasible("error", "no parameters are left".into(), None);
    };
    let why = format!(
        "an error of {:e} is out of reach {place}at {} bits of security; the least is {:.1e}, at N = 2^{} and scale 2^{}",
        constraints.max_error,
        constraints.security,
        up(best.error),
        best.parameters.log_n,
        best.parameters.scale_bits
    );
    infeasible("error", why, Some(Constraints { max_error: up(best.error), ..constraints.clone() }))
}

/// The core that serves the parameters and exceeds the device least: by the share of what it exceeds.
fn smallest<'c, T: Target>(target: T, p: &Point, cores: &'c Cores<T>) -> Option<&'c Core<T>> {
    let share = |c: &Core<T>| c.binding.map_or(0.0, |(_, need, have)| need / have.max(f64::MIN_POSITIVE));
    let all = cores.get(&cores_key(target, &p.shape))?;
    let serving = all.iter().filter(|c| target.serves(c, p.parameters.class, p.widest));
    serving.min_by(|a, b| share(a).total_cmp(&share(b)))
}

fn too_small<T: Target>(target: T, request: &Request, found: &Enumerated, cores: &Cores<T>) -> ExploreError {
    let device = &request.device;
    let over = found.points.iter().filter_map(|p| smallest(target, p, cores)?.binding.map(|b| (b, p)));
    let share = |b: &(Resource, f64, f64)| b.1 / b.2.max(f64::MIN_POSITIVE);
    let Some(((resource, need, have), p)) = over.min_by(|a, b| share(&a.0).total_cmp(&share(&b.0))) else {
        return infeasible("device", format!("no core serves the kernel on {}", device.name), None);
    };
    let larger = match first_that_fits(target, request, p) {
        Some(name) => format!("the smallest stored device that holds one is {name}"),
        None => "no stored device holds one".into(),
    };
    let why = format!(
        "{} is too small for any core at N = 2^{}: the smallest takes {:.0} {}, there are {:.0}; {larger}",
        device.name,
        p.parameters.log_n,
        need.ceil(),
        resource.name(),
        have.floor()
    );
    infeasible("device", why, None)
}

fn first_that_fits<T: Target>(target: T, request: &Request, p: &Point) -> Option<String> {
    let (log_n, primes) = cores_key(target, &p.shape);
    let Request { space, constraints, .. } = request;
    let fits = |device: &Device| {
        let all = target.enumerate(&Place { space, device, constraints, log_n, primes });
        let serves = |c: &Core<T>| c.binding.is_none() && target.serves(c, p.parameters.class, p.widest);
        all.is_ok_and(|all| all.iter().any(serves))
    };
    Device::stored().ok()?.into_iter().find(fits).map(|d| d.name)
}

fn no_parameters<T: Target>(target: T, request: &Request) -> ExploreError {
    let Request { kernels, constraints, space, stop, .. } = request;
    let depth = kernels.iter().map(crate::Kernel::depth).min().unwrap_or(0);
    let row = target.row();
    if depth + LEAST_BESIDE > row.primes {
        let why = format!(
            "at depth {depth} a chain has more than the {} primes that a core holds; {NO_BOOTSTRAPPING}",
            row.primes
        );
        return infeasible("kernel", why, None);
    }
    let any = match enumerate(&target.classes(space), kernels, space, 0, constraints.table, stop) {
        Ok(any) => any,
        Err(stopped) => return stopped,
    };
    let slots = kernels.iter().map(|k| k.program().slots()).min().unwrap_or(0);
    let largest = space.log_n.iter().max().copied().unwrap_or(0);
    let Some(best) = any.points.iter().max_by(|a, b| a.security_bits.total_cmp(&b.security_bits)) else {
        let why = if slots > 1 << (largest - 1) {
            format!(
                "the kernel needs {slots} slots; N = 2^{largest}, the largest of the space, has {}",
                1u64 << (largest - 1)
            )
        } else {
            let refusals: BTreeMap<_, _> = [
                ("classes of primes run out", any.no_primes),
                ("values could wrap around", any.no_headroom),
                ("scales drift", any.refused),
            ]
            .into();
            let most = refusals.iter().max_by_key(|r| r.1).map_or("", |r| r.0);
            format!("of {} chains at depth {depth} none runs: mostly, {most}", any.chains)
        };
        return infeasible("kernel", why, None);
    };
    let level = [256, 192, 128].into_iter().find(|&l| any.points.iter().any(|p| p.security_level >= l));
    let remedy = match level {
        Some(_) => String::new(),
        None if largest < row.log_n[1] => {
            format!("; cores go up to N = 2^{}, which the space leaves out", row.log_n[1])
        }
        None => format!("; {NO_BOOTSTRAPPING}"),
    };
    let why = format!(
        "at depth {depth} with {slots} slots no parameters up to N = 2^{largest} have {} bits of security by the {}; the most is \
         about {:.0} bits{remedy}",
        constraints.security,
        constraints.table,
        best.security_bits.floor().min(f64::from(constraints.security.saturating_sub(1)))
    );
    let nearest = level.map(|security| Constraints { security, ..constraints.clone() });
    infeasible("security", why, nearest)
}

/// All candidates are slower than the bound.
pub(super) fn too_slow(request: &Request, fastest: f64) -> ExploreError {
    let constraints = &request.constraints;
    let why = format!(
        "{} ms are out of reach on {} at {} MHz; the least is {fastest:.3} ms, by the plan of a long search",
        constraints.max_latency_ms.unwrap_or(0.0),
        request.device.name,
        request.device.clock.mhz
    );
    infeasible("latency", why, Some(Constraints { max_latency_ms: Some(up(fastest)), ..constraints.clone() }))
}

/// Candidates fit, but the core cannot run their programs.
pub(super) fn cannot_run<T: Target>(target: T, request: &Request) -> ExploreError {
    let (binding, why) = target.runs_nothing(&request.device);
    infeasible(binding, why, None)
}
