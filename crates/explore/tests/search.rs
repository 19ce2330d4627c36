//! The search against brute force, and what must not change its result.

use crate::common;
use ringmill_errors::StructuredError;
use ringmill_explore::design::SecretKind;
use ringmill_explore::search::front::{Costs, front};
use ringmill_explore::search::run::Found;
use ringmill_explore::space::chains::{self, Point};
use ringmill_explore::target::compact::{CompactCores, QUICK, exact};
use ringmill_explore::target::{AnyTarget, Core, Place};
use ringmill_explore::{
    Constraints, Device, ExploreError, Kernel, Objective, Request, Space, Stop, Target, explore,
};
use ringmill_machine::compact::Policy;

/// A space small enough to simulate whole.
fn small(letter: char) -> Request {
    Request {
        space: Space {
            log_n: vec![12],
            level_bits: vec![28, 33],
            scale_offsets: vec![0, 1],
            special_extra: vec![1, 4],
            secrets: vec![SecretKind::Ternary],
            ..Space::default()
        }
        .with_numbers("words", &[36, 52])
        .with_numbers("butterflies", &[8, 16])
        .with_names("multipliers", &["word-montgomery", "montgomery"])
        .with_numbers("buses", &[256, 512]),
        seconds: 1e6,
        ..common::request(letter, "zcu102")
    }
}

fn costs(f: &Found) -> Costs {
    let p = &f.predicted;
    [p.latency_ms.value, p.area.value, p.error.value, -p.security_bits.value]
}

/// Every set of parameters of the space.
fn sets(request: &Request) -> Vec<Point> {
    let Request { kernels, constraints, space, .. } = request;
    let classes = CompactCores.classes(space);
    let stop = Stop::default();
    chains::enumerate(&classes, kernels, space, constraints.security, constraints.table, &stop)
        .unwrap()
        .points
}

/// Every core of the space, with the smallest table of moduli.
fn cores(request: &Request, log_n: u32) -> Vec<Core<CompactCores>> {
    let Request { space, device, constraints, .. } = request;
    CompactCores.enumerate(&Place { space, device, constraints, log_n, primes: 16 }).unwrap()
}

/// Every point of the space, simulated one by one with its own primes.
fn brute(request: &Request) -> Vec<Costs> {
    let Request { kernels, device, constraints, .. } = request;
    let mut all = Vec::new();
    for p in sets(request) {
        if p.error > constraints.max_error {
            continue;
        }
        let program = kernels[p.shape.variant].instantiate(&p.parameters.params().unwrap()).unwrap();
        let program = program.lower().unwrap();
        for core in cores(request, p.shape.log_n) {
            if core.binding.is_some() || !CompactCores.serves(&core, p.parameters.class, p.widest) {
                continue;
            }
            let config = &core.machine.config;
            let cycles = exact::cycles(&program, config, Policy::Throughput, QUICK).unwrap().cycles;
            let ms = cycles as f64 / (device.clock.mhz * 1e3);
            let part = |(&r, &need): (&_, &f64)| need / device.amount(r);
            let area = core.needs.iter().filter(|need| *need.1 > 0.0).map(part).fold(0.0, f64::max);
            all.push([ms, area, p.error, -p.security_bits]);
        }
    }
    all
}

#[test]
fn the_front_is_that_of_brute_force() {
    let request = small('d');
    let outcome = explore(&request, None, &mut |_| true).unwrap();
    assert!(outcome.front_proven && outcome.best_proven && !outcome.stopped);
    let all = brute(&request);
    let mut expected: Vec<Costs> = front(&all).into_iter().map(|i| all[i]).collect();
    let mut found: Vec<Costs> = outcome.front.iter().map(costs).collect();
    for list in [&mut expected, &mut found] {
        list.sort_by(|a, b| a.partial_cmp(b).unwrap());
    }
    assert_eq!(found, expected);
    assert_eq!(outcome.statistics.candidates, outcome.statistics.exact + outcome.statistics.bounded);
    // The bound never exceeds what was simulated, or the proof would be none.
    assert!(outcome.statistics.over_bound.unwrap()[0] >= 1.0);
}

/// Every point has one fate, and those before the search are counted one by one here.
#[test]
fn the_counts_add_up() {
    let base = small('d');
    let fastest = explore(&Request { seconds: 0.0, ..base.clone() }, None, &mut |_| true).unwrap();
    let slow = Some(1.3 * fastest.best.predicted.latency_ms.value);
    for (max_error, max_latency_ms, board, seconds) in [
        (1e-2, None, "zcu102", 1e6),
        (5e-6, None, "zcu102", 0.0),
        (1e-2, slow, "zcu102", 1e6),
        (5e-6, slow, "zcu102", 0.0),
        (1e-2, None, "artix7-200t", 0.0),
    ] {
        let constraints = Constraints { max_error, max_latency_ms, ..base.constraints.clone() };
        let device = Device::named(board).unwrap();
        let request = Request { constraints, device, seconds, ..base.clone() };
        let s = explore(&request, None, &mut |_| true).unwrap().statistics;
        let (mut points, mut too_large, mut inaccurate) = (0, 0, 0);
        for p in sets(&request) {
            for core in cores(&request, p.shape.log_n) {
                if CompactCores.serves(&core, p.parameters.class, p.widest) {
                    points += 1;
                    too_large += u64::from(core.binding.is_some());
                    inaccurate += u64::from(core.binding.is_none() && p.error > max_error);
                }
            }
        }
        assert_eq!((s.points, s.too_large, s.inaccurate), (points, too_large, inaccurate));
        assert_eq!(s.points, s.too_large + s.inaccurate + s.dominated + s.candidates as u64, "{s:?}");
        assert_eq!(s.candidates, s.exact + s.too_slow + s.cannot_run + s.bounded + s.open, "{s:?}");
        assert!(s.inaccurate > 0 || max_error > 5e-6);
        assert_eq!(s.too_slow > 0, max_latency_ms.is_some());
        assert!(s.exact > 0 && (board == "zcu102" || s.too_large > 0));
    }
}

#[test]
fn each_objective_finds_its_least() {
    let request = small('d');
    let all = brute(&request);
    for (objective, at) in
        [(Objective::Latency, 0), (Objective::Area, 1), (Objective::Error, 2), (Objective::Security, 3)]
    {
        let constraints = Constraints { minimise: objective, ..request.constraints.clone() };
        let outcome =
            explore(&Request { constraints, seconds: 0.0, ..request.clone() }, None, &mut |_| true).unwrap();
        let least = all.iter().map(|c| c[at]).fold(f64::INFINITY, f64::min);
        let found = costs(&outcome.best)[at];
        assert!(outcome.best_proven, "{objective:?}");
        // The chosen one is planned longer, and so may be faster than all.
        assert!(if at == 0 { found <= least } else { found == least }, "{objective:?}: {found} {least}");
    }
}

#[test]
fn threads_and_repetition_change_nothing() {
    let request = Request { seconds: 0.0, ..small('d') };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut outcome = pool.install(|| explore(&request, None, &mut |_| true)).unwrap();
        outcome.statistics.seconds = 0.0;
        outcome
    };
    let one = on(1);
    assert_eq!(one, on(3));
    assert_eq!(one, on(1));
}

#[test]
fn a_bound_for_time_is_kept_or_refused_with_the_nearest() {
    let request = small('d');
    let fastest = explore(&Request { seconds: 0.0, ..request.clone() }, None, &mut |_| true).unwrap();
    let least = fastest.front.iter().map(|f| f.predicted.latency_ms.value).fold(f64::INFINITY, f64::min);
    let ask = |ms: f64, minimise| {
        let constraints = Constraints { max_latency_ms: Some(ms), minimise, ..request.constraints.clone() };
        explore(&Request { constraints, seconds: 0.0, ..request.clone() }, None, &mut |_| true)
    };
    let small = ask(least * 1.2, Objective::Area).unwrap();
    assert!(small.best.predicted.latency_ms.value <= least * 1.2);
    let Err(ExploreError::Infeasible { binding: "latency", nearest: Some(nearest), .. }) =
        ask(least / 10.0, Objective::Latency)
    else {
        panic!("a tenth of the least is no latency");
    };
    assert!(ask(nearest.max_latency_ms.unwrap(), Objective::Latency).is_ok());
}

/// What is reported is planned longer than what the search compares, and the constraint is checked against
/// what is reported.
#[test]
fn a_bound_that_only_a_longer_plan_keeps_is_kept_by_it() {
    let base = small('g');
    let constraints = Constraints { max_error: 1e-2, ..base.constraints.clone() };
    let request = Request { constraints, seconds: 0.0, ..base };
    let fastest = explore(&request, None, &mut |_| true).unwrap();
    let long = fastest.best.predicted.latency_ms.value;
    let quick = fastest.front.iter().map(|f| f.predicted.latency_ms.value).fold(f64::INFINITY, f64::min);
    assert!(long < quick, "nothing lies between the plans: {long} {quick}");
    let ask = |ms: f64| {
        let constraints = Constraints { max_latency_ms: Some(ms), ..request.constraints.clone() };
        explore(&Request { constraints, ..request.clone() }, None, &mut |_| true)
    };
    for ms in [long, (long + quick) / 2.0] {
        let kept = ask(ms).unwrap();
        assert_eq!(kept.best, fastest.best);
        assert_eq!(kept.front, std::slice::from_ref(&fastest.best));
        assert!(!kept.best_proven);
    }
    let Err(ExploreError::Infeasible { binding: "latency", why, nearest: Some(nearest) }) = ask(long * 0.999)
    else {
        panic!("less than the long plan takes is no latency");
    };
    assert!(why.contains(&format!("{long:.3} ms, by the plan of a long search")), "{why}");
    assert!(ask(nearest.max_latency_ms.unwrap()).is_ok());
}

/// A stop is heard in the middle of everything that takes long, and nothing is begun after it.
#[test]
fn a_stop_ends_each_stage_where_it_is() {
    for last in ["parameters", "cores", "bounds"] {
        for by_answer in [true, false] {
            let request = Request { stop: Stop::default(), ..small('d') };
            let mut stages = Vec::new();
            let error = explore(&request, None, &mut |p| {
                stages.push(p.stage);
                if p.stage == last && !by_answer {
                    request.stop.stop();
                }
                p.stage != last || !by_answer
            })
            .unwrap_err();
            assert!(matches!(error, ExploreError::Stopped), "{error}");
            assert_eq!(stages.last(), Some(&last));
        }
    }
    // Before the first program nothing is known; after it what there is, and no more is simulated.
    let wide = small('d').space.with_numbers("butterflies", &[2, 4, 8, 16]);
    let wide = wide.with_numbers("buses", &[64, 128, 256, 512, 1024]);
    let request = Request { space: wide, ..small('d') };
    let simulated = std::cell::Cell::new(0);
    let outcome = explore(&request, None, &mut |p| {
        if p.done > 0 && !request.stop.is_stopped() {
            simulated.set(p.done);
            request.stop.stop();
        }
        true
    })
    .unwrap();
    assert!(outcome.stopped && !outcome.front_proven);
    assert_eq!(outcome.statistics.simulations, simulated.get());
    assert!(outcome.best.built.machine.ends_with(",effort=1"), "no long plan");
    assert!(matches!(explore(&request, None, &mut |_| true), Err(ExploreError::Stopped)));
}

fn binding(request: &Request) -> (&'static str, String, Option<Constraints>) {
    match explore(request, None, &mut |_| true) {
        Err(ExploreError::Infeasible { binding, why, nearest }) => (binding, why, nearest.map(|w| *w)),
        other => panic!("{:?} is no refusal", other.map(|o| o.best)),
    }
}

#[test]
fn constraints_that_cannot_be_met_name_what_binds_and_the_nearest() {
    let request = Request { seconds: 0.0, ..small('d') };
    let exact = Constraints { max_error: 1e-12, ..request.constraints.clone() };
    let (what, why, nearest) = binding(&Request { constraints: exact, ..request.clone() });
    assert_eq!(what, "error", "{why}");
    assert!(
        explore(&Request { constraints: nearest.unwrap(), ..request.clone() }, None, &mut |_| true).is_ok()
    );

    let safe = Constraints { security: 256, ..request.constraints.clone() };
    let (what, why, nearest) = binding(&Request { constraints: safe, ..request.clone() });
    assert_eq!(what, "security", "{why}");
    assert_eq!(nearest.map(|w| w.security), Some(128));

    let large = Space { log_n: vec![15], ..request.space.clone() };
    let tiny = Device::named("ecp5-25").unwrap();
    let (what, why, _) = binding(&Request { space: large, device: tiny, ..request.clone() });
    assert_eq!(what, "device", "{why}");
    assert!(why.contains("the smallest stored device that holds one is"), "{why}");

    let narrow = Space { log_n: vec![10], ..request.space.clone() };
    let wide = Request { kernels: vec![common::kernel('e')], space: narrow, ..request };
    let (what, why, _) = binding(&wide);
    assert_eq!(what, "kernel", "{why}");
    assert!(why.contains("2048 slots"), "{why}");
}

/// x squared `times` times, bootstrapped after some of them.
fn squared(times: usize, bootstrapped: &[usize]) -> Kernel {
    let mut text = String::from("he @deep traced slots 8\n%0 = input \"x\"\n");
    let mut value = 0;
    for i in 0..times {
        for word in std::iter::once("square").chain(bootstrapped.contains(&i).then_some("bootstrap")) {
            text.push_str(&format!("%{} = {word} %{value}\n", value + 1));
            value += 1;
        }
    }
    text.push_str(&format!("output \"out\", %{value}\nend\n"));
    let source = ringmill_explore::design::KernelSource { program: text, ..common::source('d') };
    Kernel::new(source).unwrap()
}

#[test]
fn a_kernel_deeper_than_any_chain_is_refused_as_none_bootstraps() {
    let none = "bootstrapping, which would bring levels back, is not in the explored space";
    let request = |kernel: Kernel, log_n: Vec<u32>| {
        let level_bits = vec![30];
        Request {
            kernels: vec![kernel],
            space: Space { log_n, level_bits, ..small('d').space },
            ..small('d')
        }
    };
    for (kernel, says) in [
        (squared(40, &[]), "at depth 40 a chain has more than the 32 primes"),
        (squared(4, &[1]), "it asks to be bootstrapped"),
    ] {
        let (what, why, nearest) = binding(&request(kernel, vec![12]));
        assert_eq!((what, nearest), ("kernel", None), "{why}");
        assert!(why.contains(says) && why.contains(none), "{why}");
    }
    // Fourteen levels of 58 bits, a base and a special prime at N = 2^15, which holds 881 bits.
    let deep = request(squared(14, &[]), vec![15]);
    let space = Space { level_bits: vec![58], ..deep.space.clone() }.with_numbers("words", &[60]);
    let (what, why, _) = binding(&Request { space, ..deep });
    assert_eq!(what, "security", "{why}");
    assert!(why.contains("at depth 14") && why.contains(none), "{why}");
    // Where the space leaves larger rings out, these come first.
    let (what, why, _) = binding(&request(squared(4, &[]), vec![12]));
    assert_eq!(what, "security", "{why}");
    assert!(why.contains("cores go up to N = 2^15") && !why.contains(none), "{why}");
    // A variant that does not bootstrap is explored.
    let both = Request { kernels: vec![squared(2, &[0]), squared(1, &[])], seconds: 0.0, ..small('d') };
    assert_eq!(explore(&both, None, &mut |_| true).unwrap().best.variant, 1);
}

#[test]
fn constraints_that_are_no_numbers_are_refused() {
    let base = small('d');
    let bad = [
        Constraints { max_error: f64::NAN, ..Constraints::default() },
        Constraints { max_error: -1.0, ..Constraints::default() },
        Constraints { security: 100, ..Constraints::default() },
        Constraints { max_latency_ms: Some(f64::INFINITY), ..Constraints::default() },
        Constraints { utilisation: 1.5, ..Constraints::default() },
    ];
    for constraints in bad {
        let error =
            explore(&Request { constraints: constraints.clone(), ..base.clone() }, None, &mut |_| true)
                .unwrap_err();
        assert_eq!(error.code(), "Constraint", "{constraints:?}: {error}");
    }
    let empty = Space::default().with_numbers("words", &[]);
    let error = explore(&Request { space: empty, ..base }, None, &mut |_| true).unwrap_err();
    assert_eq!(error.code(), "Constraint");
    // Primes longer than every word; those of PRF-FIKO have their own length.
    let long = |name: &str| {
        let space = Space { level_bits: vec![40, 45], ..Space::default() };
        let space = space.with_numbers("words", &[36]).with_names("multipliers", &[name]);
        AnyTarget::check_space(&CompactCores, &space)
    };
    assert_eq!(
        long("montgomery").unwrap_err().to_string(),
        "level_bits is [40, 45] for words of [36] bits; it must be at most the bits of a word"
    );
    long("prf-fiko").unwrap();
}
