//! A search from request to outcome.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use ringmill_ring::process::has_shared_threads;
use serde::{Deserialize, Serialize};

use super::candidates::{Cores, cores_key, prune};
use super::engine::Search;
use super::infeasible;
use crate::constraints::Objective;
use crate::design::{Built, Parameters, Predicted};
use crate::space::chains::{Enumerated, Point, enumerate};
use crate::store::Store;
use crate::target::{AnyTarget, Place, Target};
use crate::{Constraints, Device, ExploreError, Kernel, Space, Stop, power};

/// What to explore.
#[derive(Debug, Clone)]
pub struct Request {
    /// The kernel, in each of its packings.
    pub kernels: Vec<Kernel>,
    /// The kind of machines.
    pub target: &'static dyn AnyTarget,
    /// The device.
    pub device: Device,
    /// The constraints.
    pub constraints: Constraints,
    /// The space.
    pub space: Space,
    /// Seconds after which no further program of the front is simulated; the best by the objective is found whatever it takes.
    pub seconds: f64,
    /// The seed of the order in which the front's points are simulated.
    pub seed: u64,
    /// Ends the search before that.
    pub stop: Stop,
}

/// How far a search is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    /// What is being done: parameters, cores, bounds, best, front, plan.
    pub stage: &'static str,
    /// Programs simulated.
    pub done: usize,
    /// Programs that may still have to be.
    pub open: usize,
    /// The least of the objective so far.
    pub best: Option<f64>,
}

/// A design that was found, without the kernel, which all have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which variant of the kernel.
    pub variant: usize,
    /// Encryption parameters.
    pub parameters: Parameters,
    /// The machine.
    #[serde(flatten)]
    pub built: Built,
    /// What is predicted.
    pub predicted: Predicted,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the device.
    pub device: String,
    /// The best by the objective.
    pub best: Found,
    /// The front, the fastest first; cycles of every row are the cycle model's.
    pub front: Vec<Found>,
    /// Whether nothing of the space can beat `best`.
    pub best_proven: bool,
    /// Whether nothing of the space belongs on the front that is not there.
    pub front_proven: bool,
    /// What could be missing from the front if that is not proven.
    pub front_gap: Option<Gap>,
    /// Whether somebody stopped it.
    pub stopped: bool,
    /// Counts.
    pub statistics: Counted,
}

/// What could be missing from a front.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gap {
    /// An upper bound on how many times as fast a missing design is as one of the front that is nowhere else
    /// worse.
    pub faster: f64,
    /// Candidates that were neither simulated nor beaten.
    pub open: usize,
    /// Of these, those that no design of the front equals in area, error and security together.
    pub uncovered: usize,
}

/// Counts of a search. Every point has one fate: `points` is the sum of `too_large`, `inaccurate`, `dominated` and `candidates`,
/// `candidates` that of `exact`, `too_slow`, `cannot_run`, `bounded` and `open`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Counted {
    /// Chains of primes looked at.
    pub chains: usize,
    /// Sets of parameters that run.
    pub parameters: usize,
    /// Of these, those that keep the constraints.
    #[serde(rename = "parameters_wished")]
    pub parameters_kept: usize,
    /// Parameters times cores that serve them.
    pub points: u64,
    /// Points whose core does not fit.
    pub too_large: u64,
    /// Points whose core fits and whose error is above its bound.
    pub inaccurate: u64,
    /// Points that lose to another of like cycles.
    pub dominated: u64,
    /// Points that were left.
    pub candidates: usize,
    /// Of these, those whose cycles were simulated, alone or with others of like cycles, and keep the bound on time.
    pub exact: usize,
    /// Of these, those slower than the constraint, at their lower bound or simulated.
    pub too_slow: usize,
    /// Of these, those whose program finds no plan on the core.
    pub cannot_run: usize,
    /// Of these, those beaten even at their bound.
    pub bounded: usize,
    /// Of these, those still open.
    pub open: usize,
    /// Programs simulated, now or before a resumption.
    pub simulations: usize,
    /// Simulated cycles over the closed form: least, median, greatest.
    pub over_bound: Option<[f64; 3]>,
    /// Seconds it took.
    pub seconds: f64,
}

/// Explores. `progress` receives how far the search is and returns whether to go on; [`Request::stop`] ends
/// what lies between two of its calls too.
///
/// # Errors
/// [`ExploreError::Forked`]; [`ExploreError::Constraint`] for an invalid constraint;
/// [`ExploreError::Infeasible`] with what binds; [`ExploreError::Stopped`] before the first design was found,
/// and what the results file refuses.
pub fn explore(
    request: &Request,
    store: Option<&mut Store>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, ExploreError> {
    request.target.explore(request, store, progress)
}

/// Explores the machines of a target, which the request names.
pub(crate) fn search<T: Target>(
    target: T,
    request: &Request,
    mut store: Option<&mut Store>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, ExploreError> {
    let start = Instant::now();
    if !has_shared_threads() {
        return Err(ExploreError::Forked);
    }
    request.constraints.check()?;
    AnyTarget::check_space(&target, &request.space)?;
    let encryption = target.encryption(&request.space);
    let kernels = request.kernels.iter().map(|kernel| kernel.clone().encrypted(encryption)).collect();
    let request = &Request { kernels, space: target.narrowed(&request.space), ..request.clone() };
    if request.constraints.minimise == Objective::Energy && !power::is_known(target, &request.device) {
        let right = "latency, area, error or security for a device of a family without published energies whose file gives no [power]";
        return Err(ExploreError::Constraint {
            constraint: "minimise",
            value: "energy".into(),
            right: right.into(),
        });
    }
    let Request { kernels, constraints, space, stop, .. } = request;
    if kernels.iter().all(Kernel::bootstraps) {
        return Err(infeasible::bootstraps());
    }
    let mut tell =
        |stage, done, open, best| progress(&Progress { stage, done, open, best }) && !stop.is_stopped();
    let mut begin = |stage| if tell(stage, 0, 0, None) { Ok(()) } else { Err(ExploreError::Stopped) };
    begin("parameters")?;
    let parameters =
        enumerate(&target.classes(space), kernels, space, constraints.security, constraints.table, stop)?;
    begin("cores")?;
    let cores = all_cores(target, request, &parameters)?;
    let keep: Vec<bool> = parameters.points.iter().map(|p| p.error <= constraints.max_error).collect();
    let pruned = prune(target, &parameters.points, &keep, &cores);
    if pruned.candidates.is_empty() {
        return Err(infeasible::explain(target, request, &parameters, &cores));
    }
    begin("bounds")?;
    let mut search = Search::new(target, request, &parameters, &cores, &pruned)?;
    if let Some(store) = &mut store {
        search.known = store.cycles::<T>()?;
        store.write_space(target, &parameters.points, &cores)?;
    }
    search.absorb_known();
    let mut stopped = !search.find_best(&mut store, &mut tell)?;
    let deadline = start + Duration::try_from_secs_f64(request.seconds.max(0.0)).unwrap_or(Duration::MAX / 4);
    if !stopped {
        stopped = !search.find_front(&mut store, deadline, &mut tell)?;
    }
    stopped |= !tell("plan", search.known.len(), 0, None);
    let mut outcome = search.outcome(&pruned, stopped)?;
    outcome.statistics.chains = parameters.chains;
    outcome.statistics.parameters = parameters.points.len();
    outcome.statistics.parameters_kept = keep.iter().filter(|&&k| k).count();
    outcome.statistics.seconds = start.elapsed().as_secs_f64();
    if let Some(store) = store {
        store.write_outcome(target, &outcome)?;
    }
    Ok(outcome)
}

/// The cores for every degree and number of primes that the parameters need.
fn all_cores<T: Target>(
    target: T,
    request: &Request,
    parameters: &Enumerated,
) -> Result<Cores<T>, ExploreError> {
    let keys: BTreeSet<(u32, u32)> =
        parameters.points.iter().map(|p: &Point| cores_key(target, &p.shape)).collect();
    let Request { space, device, constraints, .. } = request;
    let keys: Vec<_> = keys.into_iter().collect();
    keys.into_par_iter()
        .map(|(log_n, primes)| {
            let place = Place { space, device, constraints, log_n, primes };
            Ok(((log_n, primes), target.enumerate(&place)?))
        })
        .collect()
}
