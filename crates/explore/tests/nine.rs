//! The nine kernels over the whole space.

use crate::common;
use ringmill_explore::explore;

/// `cargo test --release -p ringmill-explore --test all nine -- --ignored --nocapture`
#[test]
#[ignore = "long: make test-full"]
fn a_hundred_thousand_points_for_each_of_the_nine_kernels() {
    for letter in 'a'..='i' {
        let request = common::request(letter, "zcu102");
        let outcome = explore(&request, None, &mut |_| true).unwrap();
        let (s, b) = (&outcome.statistics, &outcome.best);
        println!(
            "{letter}: {:.1} s, {} chains, {} parameters, {} kept, {} points, {} too large, {} dominated, {} candidates, {} \
             exact, {} bounded, {} open, {} simulations, over bound {:?}",
            s.seconds,
            s.chains,
            s.parameters,
            s.parameters_kept,
            s.points,
            s.too_large,
            s.dominated,
            s.candidates,
            s.exact,
            s.bounded,
            s.open,
            s.simulations,
            s.over_bound
        );
        println!(
            "   best {:.4} ms at N = 2^{} {:?} dnum {} scale {} {:?}, on {} area {:.1} % error {:.2e} {:.0} bits; \
             front {} proven {} {}",
            b.predicted.latency_ms.value,
            b.parameters.log_n,
            b.parameters.bits(),
            b.parameters.dnum,
            b.parameters.scale_bits,
            b.parameters.class,
            b.built.machine,
            100.0 * b.predicted.area.value,
            b.predicted.error.value,
            b.predicted.security_bits.value,
            outcome.front.len(),
            outcome.best_proven,
            outcome.front_proven
        );
        assert!(s.points >= 100_000, "{letter}: {} points", s.points);
        assert!(outcome.best_proven, "{letter}");
        assert!(
            s.over_bound.is_none_or(|over| over[0] >= 1.0),
            "{letter}: the bound is none: {:?}",
            s.over_bound
        );
        assert!(b.predicted.error.value <= 1e-4 && b.predicted.security_level >= Some(128));
    }
}
