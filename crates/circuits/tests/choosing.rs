//! Chains for bootstrapping, over the whole space of needs: what is chosen passes all that is checked when its keys are drawn,
//! and refusals say nothing that their own numbers deny. Moduli are multiplied out again as big integers.

use crate::common::Rng;
use num_bigint::BigUint;
use ringmill_circuits::CircuitError;
use ringmill_circuits::bootstrap::{Bootstrap, Need};
use ringmill_ckks::params::{SecurityTable, keeps_encapsulation};
use ringmill_ckks::{Level, Params, ParamsError};

/// log2 N; the greatest log2 PQ of 128 bits with ternary secrets (eprint 2024/463, table 5.2); the greatest log2 q_0·p_0 of
/// `docs/algorithms/bootstrapping.md`.
const LIMITS: [(u32, u32, u32); 3] = [(15, 868, 105), (16, 1747, 121), (17, 3523, 121)];

fn any(rng: &mut Rng) -> Result<(Need, u32), CircuitError> {
    let iterations = 1 + rng.below(2) as u32;
    // A third of them where they just fit N = 2^15.
    let tight = rng.below(3) == 0;
    let bits = 12 + rng.below(if iterations == 1 { 13 } else { 25 }) as u32;
    let bits = if tight { 18 + rng.below(7) as u32 } else { bits };
    let log_n = if tight { 15 } else { [10, 13, 15, 15, 15, 16, 16, 17][rng.below(8)] };
    let most = if tight { 2 } else { [8, 8, 40][rng.below(3)] };
    let need = Need {
        levels: rng.below(most) as u32,
        slots: 4 << rng.below(log_n as usize - 2),
        log_n,
        transforms: [None, None, Some(1 + rng.below(6))][rng.below(3)],
        arcsine: [None, None, Some(true), Some(false)][rng.below(4)],
        // Of some: what is drawn of the others stays.
        word: (bits % 5 == 3).then_some(30 + 7 * bits % 31),
        ..Need::default()
    };
    let mut need = need.iterated(bits, iterations)?;
    if rng.below(3) == 0 {
        need = need.at_scale(20 + rng.below(36) as u32);
    }
    if rng.below(3) == 0 {
        need.wide_bits = 46 + rng.below(13) as u32;
    }
    Ok((need, iterations))
}

fn check(need: &Need, params: &Params) {
    let what = || format!("{need:?}: {params}");
    let (log_n, limit, sparse) =
        *LIMITS.iter().find(|row| row.0 == params.log_n()).unwrap_or_else(|| panic!("{}", what()));
    let within = |product: BigUint, limit: u32| product <= BigUint::from(1u8) << limit;
    assert!(log_n >= need.log_n && params.slots() >= need.slots && !params.is_insecure(), "{}", what());
    assert!(
        within(params.key_moduli().map(|q| BigUint::from(q.value())).product(), limit),
        "PQ is above 2^{limit}: {}",
        what()
    );
    let (base, p0) = (params.q_at(Level::ZERO), &params.p_moduli()[0]);
    let q0: BigUint = base.iter().map(|q| BigUint::from(q.value())).product();
    assert!(within(q0 * p0.value(), sparse), "q_0·p_0 is above 2^{sparse}: {}", what());
    // What errors on the way to the ephemeral secret are divided by: q_0, or what the constants of the maps need.
    assert!(p0.bits() + 1 >= base[0].bits().min(need.wide_bits - 4).min(50), "{}", what());
    if let Some(word) = need.word {
        assert!(params.key_moduli().all(|q| q.value() < 1 << word), "{}", what());
    }
    assert!(params.may_encapsulate(), "{}", what());
    let claim = params.security().claim().unwrap();
    assert_eq!(
        (claim.table, claim.category >= Some(128)),
        (SecurityTable::Guidelines2024, true),
        "{}",
        what()
    );
    assert_eq!(&Params::new(params.literal()).unwrap(), params);
}

/// Whether q_0·p_0 would be too large, had p_0 been chosen for the maps alone.
fn is_narrowed(need: &Need, params: &Params, config: &Bootstrap) -> bool {
    let arrangement = (Some(config.to_slots), Some(config.arcsine));
    let free = Need { insecure: true, log_n: params.log_n(), ..need.clone() };
    let free = Need { transforms: arrangement.0, arcsine: arrangement.1, ..free };
    let free = free.in_arrangement(config.iterations).unwrap().0;
    !keeps_encapsulation(free.log_n(), free.encapsulation())
}

fn sweep(seed: u64, count: usize) {
    let mut rng = Rng(seed);
    let (mut met, mut narrowed) = (0, 0);
    for _ in 0..count {
        let Ok((need, iterations)) = any(&mut rng) else { continue };
        match need.in_arrangement(iterations) {
            Ok((params, config)) => {
                met += 1;
                check(&need, &params);
                narrowed += usize::from(need.word.is_none() && is_narrowed(&need, &params, &config));
                let (found, levels) =
                    Bootstrap::laid_out(&params).unwrap_or_else(|| panic!("{need:?}: {params}"));
                assert!(levels >= need.levels, "{need:?}: {params}");
                assert_eq!((found.to_slots, found.arcsine), (config.to_slots, config.arcsine), "{need:?}");
            }
            Err(CircuitError::Params(ParamsError::Unmet { max_log_n, why })) => {
                assert_eq!(max_log_n, 17);
                assert!(why.contains("ask for fewer levels"), "{why}");
            }
            Err(
                CircuitError::Wide { .. }
                | CircuitError::NeedScale { .. }
                | CircuitError::Transforms { .. }
                | CircuitError::Arcsine { .. },
            ) => {}
            Err(e) => panic!("{need:?}: {e}"),
        }
    }
    println!("{met} of {count} needs are met, {narrowed} with a narrower p_0");
    assert!(met > count / 4 && met < count && narrowed > 0);
}

#[test]
fn chains_pass_what_is_checked_when_keys_are_drawn() {
    sweep(1, 150);
}

#[test]
#[ignore = "long: make test-full"]
fn chains_pass_what_is_checked_when_keys_are_drawn_everywhere() {
    sweep(2, 20_000);
}

#[test]
fn an_insecure_need_names_the_ring_that_it_asks_for() {
    // There are not that many primes at 2^16, and other degrees are not tried.
    let need = Need { levels: 60, slots: 4, log_n: 16, insecure: true, scale_bits: 20, ..Need::default() };
    let refused = need.in_arrangement(1).unwrap_err();
    assert!(matches!(refused, CircuitError::Params(ParamsError::Unmet { max_log_n: 16, .. })), "{refused}");
}
