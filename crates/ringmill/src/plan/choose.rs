//! Parameters for a program, of those that bootstrap where it has to be.

use ringmill_circuits::bootstrap::{ITERATIONS_MAX, LEAST_BITS, Need, most_bits};
use ringmill_ckks::ParamsError;
use ringmill_ckks::params::MIN_LOG_N;
use ringmill_program::he::{OpKind, Program, Rule};
use ringmill_program::manage::{self, Accuracy, ChooseError, Promise};

use super::{Plan, PlanOptions, asks, place};
use crate::Error;

/// Levels between bootstrappings, at most, of chains that are chosen: as many as `B16` leaves.
const LEVELS_MOST: u32 = 9;

/// The same between bootstrappings that a program asks for: beyond, some more are placed.
const ASKED_MOST: u32 = 24;

/// How much more work a plan may be that bootstraps where it is asked to and nowhere else.
const DEARER: f64 = 1.25;

/// Slots that any arrangement bootstraps.
const SLOTS_LEAST: usize = 4;

/// Most bits that one round of the choice adds.
const STEP_MOST: f64 = 6.0;

/// The security that chains are laid out for.
const SECURITY: u32 = 128;

/// [`Plan::choose`].
pub(super) fn choose(traced: &Program, want: &Accuracy) -> Result<Plan, Error> {
    if asks(traced) {
        return bootstrapped(traced, want, "the program asks for it");
    }
    let chosen = match manage::choose(traced, want) {
        Ok(chosen) => chosen,
        Err(refused) if is_of_depth(&refused) => {
            return bootstrapped(traced, want, &refused.to_string())
                .map_err(|why| Error::NeitherWay { refused: Box::new(refused), why: Box::new(why) });
        }
        Err(refused) => return Err(refused.into()),
    };
    Ok(Plan {
        params: chosen.params,
        managed: chosen.managed,
        promise: promise(want),
        rationale: Some(chosen.rationale),
        bootstraps: Vec::new(),
        rotation_keys: want.rotation_keys,
    })
}

/// Whether fewer levels in a row may be had: chains are too long for their security, or errors and scales that grow from level to
/// level need primes that do not exist.
fn is_of_depth(refused: &ChooseError) -> bool {
    match refused {
        ChooseError::Params { source: ParamsError::Unmet { .. }, .. } => true,
        ChooseError::Params { source: ParamsError::PrimeBits { .. }, depth, .. }
        | ChooseError::Accuracy { depth, .. } => *depth > LEVELS_MOST,
        ChooseError::Program(e) => matches!(*e.rule, Rule::ScaleDrift { .. } | Rule::Depth { .. }),
        _ => false,
    }
}

/// Parameters that bootstrap: the levels of the longest way between bootstrappings that the program asks for, as far as that is
/// the least work.
fn bootstrapped(traced: &Program, want: &Accuracy, why: &str) -> Result<Plan, Error> {
    if want.security > SECURITY {
        return Err(Error::BootstrapSecurity { security: want.security });
    }
    let longest = manage::depth(&manage::simplify(traced)?).max(1);
    let usual = of_levels(traced, want, longest.min(LEVELS_MOST), why);
    if !asks(traced) || !(LEVELS_MOST + 1..=ASKED_MOST).contains(&longest) {
        return usual;
    }
    // A chain as long as the longest way between two that are asked for needs no other; it may be dearer all the same, and what
    // is asked for is worth a little.
    match (usual, of_levels(traced, want, longest, why)) {
        (Ok(usual), Ok(long)) if work(&long) < DEARER * work(&usual) => Ok(long),
        (Ok(usual), _) => Ok(usual),
        (Err(why), long) => long.map_err(|_| why),
    }
}

/// What a plan costs, up to a factor: the transforms of its key switches, each of digits and a result of all limbs.
fn work(plan: &Plan) -> f64 {
    let summary = &plan.managed.summary;
    let switches: usize =
        [OpKind::Relin, OpKind::Rotate, OpKind::Conj].map(|kind| summary.count(kind)).iter().sum();
    let params = &plan.params;
    let limbs = params.key_limbs();
    switches as f64
        * f64::from(params.log_n())
        * f64::from(params.log_n()).exp2()
        * ((params.dnum() + 2) * limbs) as f64
}

/// Parameters with `levels` levels after each bootstrapping, and as many bits as bring the predicted error below what is wanted.
fn of_levels(traced: &Program, want: &Accuracy, levels: u32, why: &str) -> Result<Plan, Error> {
    let slots = traced.slots().max(SLOTS_LEAST);
    let need = Need { levels, slots, log_n: MIN_LOG_N, word: want.word, ..Need::default() };
    // Chains of narrow primes are laid out for one iteration.
    let most = most_bits(if want.word.is_some() { 1 } else { ITERATIONS_MAX });
    let mut next = Some(want.bits.max(LEAST_BITS)).filter(|&bits| bits <= most);
    while let Some(bits) = next {
        let mut plan = arranged(traced, want, &need, bits)?;
        let error = plan.base_errors()?.into_values().fold(f64::NEG_INFINITY, f64::max);
        let lacking = f64::from(want.bits) + error;
        if lacking <= 0.0 {
            plan.rationale = Some(format!(
                "{} bits of accuracy for values up to {} by {} bootstrapping(s) precise to {bits} bits, {levels} level(s) after \
                 each: predicted error 2^{error:.1}. Why bootstrapping: {why}",
                want.bits,
                want.magnitude,
                plan.bootstraps.len(),
            ));
            return Ok(plan);
        }
        let step = (lacking.ceil().min(STEP_MOST) as u32).max(1);
        next = (bits < most).then_some((bits + step).min(most));
    }
    Err(Error::BootstrapAccuracy { bits: want.bits, most, slots })
}

/// The program on a chain whose bootstrappings are precise to `bits` bits.
fn arranged(traced: &Program, want: &Accuracy, need: &Need, bits: u32) -> Result<Plan, Error> {
    let iterations = if bits > most_bits(1) { ITERATIONS_MAX } else { 1 };
    let (params, _) = need.arranged(bits, iterations)?;
    let (promise, rotation_keys) = (promise(want), want.rotation_keys);
    let options = PlanOptions { rotation_keys, ..PlanOptions::default() };
    let (managed, bootstraps) = place::managed(traced, &params, &promise, &options)?;
    Ok(Plan { params, managed, promise, rationale: None, bootstraps, rotation_keys })
}

/// Run-time plaintexts are as large as inputs.
fn promise(want: &Accuracy) -> Promise {
    let inputs = want.inputs.unwrap_or(want.magnitude);
    let Accuracy { magnitude, real, encryption, .. } = *want;
    Promise { inputs, plain: inputs, values: magnitude, real, encryption }
}
