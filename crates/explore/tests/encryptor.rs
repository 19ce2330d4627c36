//! Encryption engines as a target: figures of docs/papers/nguyen.md and rtl/encryptor/README.md, and cycles by hand.

use crate::common;
use std::collections::BTreeMap;

use ringmill_errors::StructuredError;
use ringmill_explore::design::{OriginKind, Resource, SecretKind};
use ringmill_explore::target::encryptor::{Encryptors, Engine};
use ringmill_explore::target::{AnyTarget, Core, Place, named};
use ringmill_explore::{
    Constraints, Design, Device, ExploreError, Objective, Outcome, Request, Space, Store, Target, explore,
};
use rusqlite::Connection;

fn space(modes: &[&str]) -> Space {
    let narrow =
        Space { level_bits: vec![48], scale_offsets: vec![0], ..Space::of(Target::row(&Encryptors)) };
    narrow.with_names("modes", modes)
}

/// A kernel of this many encrypted arguments.
const KERNEL: char = 'h';
const ARGUMENTS: u64 = 2;

fn request(device: &str, modes: &[&str]) -> Request {
    Request {
        target: named("encryptor").unwrap(),
        constraints: Constraints { max_error: 1e-3, ..Constraints::default() },
        space: space(modes),
        ..common::request(KERNEL, device)
    }
}

fn found(request: &Request) -> Outcome {
    explore(request, None, &mut |_| true).unwrap()
}

fn refused(request: &Request) -> ExploreError {
    explore(request, None, &mut |_| true).unwrap_err()
}

fn cores(mode: &str, device: &Device, log_n: u32, limbs: u32) -> Vec<Core<Encryptors>> {
    let (space, constraints) = (space(&[mode]), Constraints::default());
    let place = Place { space: &space, device, constraints: &constraints, log_n, primes: limbs };
    Encryptors.enumerate(&place).unwrap()
}

/// Four limbs of 60, 48, 48 and 48 bits, at N = 2^14.
fn of_the_paper(mode: &str) -> Core<Encryptors> {
    let all = cores(mode, &Device::named("alveo-u250").unwrap(), 14, 4);
    all.into_iter().find(|core| core.machine.rest == 48).unwrap()
}

fn needs(lut: f64, ff: f64, dsp: f64, bram36: f64) -> BTreeMap<Resource, f64> {
    let all = [(Resource::Lut, lut), (Resource::Ff, ff), (Resource::Dsp, dsp), (Resource::Bram36, bram36)];
    BTreeMap::from(all)
}

#[test]
fn the_papers_engines_take_what_the_page_says() {
    assert_eq!(of_the_paper("divided").needs, needs(595_390.0, 598_115.0, 1680.0, 447.0));
    assert_eq!(of_the_paper("undivided").needs, needs(389_270.0, 412_255.0, 1176.0, 309.0));
    assert_eq!(of_the_paper("symmetric").needs, needs(458_374.0, 471_667.0, 1272.0, 309.0));
}

#[test]
fn a_limb_more_takes_a_limb_more_and_never_less_than_one() {
    let device = Device::named("alveo-u250").unwrap();
    let luts = |limbs| cores("divided", &device, 14, limbs).remove(0).needs[&Resource::Lut];
    let steps: Vec<f64> = (1..8).map(|limbs| luts(limbs + 1) - luts(limbs)).collect();
    // A limb of 48 bits, by the table of the page; above four limbs the top grows as well, by a quarter of its 472.
    assert!(steps[..3].iter().all(|&step| step == 260_016.0 / 3.0), "{steps:?}");
    assert!(steps[3..].iter().all(|&step| (step - 260_016.0 / 3.0 - 118.0).abs() <= 1.0), "{steps:?}");
}

#[test]
fn cycles_are_those_of_the_schedule_where_memory_is_fast() {
    // rtl/encryptor/README.md: interval and cold start of `Divided`.
    for (log_n, interval, cold) in [(13, 4096, 15_504), (14, 8192, 30_317)] {
        let mut asked = request("alveo-u250", &["divided"]);
        asked.space.log_n = vec![log_n];
        // All bytes of an encryption in one cycle.
        asked.device.memory.gigabytes_per_second = 7e5;
        asked.device.memory.latency_ns = 1.0;
        let best = found(&asked).best;
        let cycles = 1 + 1 + cold + (ARGUMENTS - 1) * interval;
        assert!((best.predicted.cycles.value - cycles as f64).abs() <= 4.0, "{:?}", best.predicted.cycles);
        assert_eq!(best.predicted.cycles_bound.value, best.predicted.cycles.value);
        let rate = best.predicted.per_second.unwrap();
        assert!((rate.value - 185e6 / interval as f64).abs() < 1e-6 * rate.value, "{rate:?}");
    }
}

#[test]
fn slow_memory_sets_the_interval() {
    let mut asked = request("alveo-u250", &["divided"]);
    asked.space.log_n = vec![14];
    // 4 bytes a cycle: the message and two halves of the key with a limb more are read, two parts written.
    asked.device.memory.gigabytes_per_second = 4.0 * 0.185;
    asked.device.memory.latency_ns = 1000.0;
    let best = found(&asked).best;
    let limbs = best.parameters.q.len() as u64;
    let word = 8 * (1 << 14) / 4;
    let (read, written) = ((3 * limbs + 2) * word, 2 * limbs * word);
    let cycles = 185 + read + 30_317 + (ARGUMENTS - 1) * read + written - 8192;
    assert_eq!(best.predicted.cycles.value, cycles as f64);
    let rate = best.predicted.per_second.unwrap().value;
    assert!((rate - 185e6 / read as f64).abs() < 1e-9 * rate);
}

#[test]
fn the_clock_is_assumed_unless_the_user_says_it_and_no_power_is_another_machines() {
    let mut asked = request("alveo-u250", &["divided"]);
    let best = found(&asked).best.predicted;
    assert_eq!(best.frequency_mhz.origin.kind, OriginKind::Assumed);
    assert_eq!(best.latency_ms.origin.kind, OriginKind::Assumed);
    assert!(best.power_w.is_none() && best.energy_mj.is_none());
    asked.device = asked.device.at_mhz(250.0);
    assert_eq!(found(&asked).best.predicted.frequency_mhz.origin.kind, OriginKind::User);
    // The file of this board has the power of another design.
    let mut asked = request("zcu102", &["undivided"]);
    assert!(asked.device.power.is_some());
    asked.constraints.minimise = Objective::Energy;
    assert!(matches!(refused(&asked), ExploreError::Constraint { constraint: "minimise", .. }));
}

#[test]
fn the_error_is_that_of_the_mode_with_the_most() {
    let error = |modes: &[&str]| found(&request("alveo-u280", modes)).best.predicted.error;
    let (divided, undivided) = (error(&["divided"]), error(&["undivided"]));
    assert!(divided.value < undivided.value, "{divided:?} {undivided:?}");
    assert_eq!(error(&["divided", "undivided"]).value, undivided.value);
    assert!(
        undivided.origin.source.contains("does not divide")
            && divided.origin.source.ends_with("the public key")
    );
}

#[test]
fn what_does_not_fit_says_so() {
    let small = refused(&request("zcu104", &["divided"]));
    let ExploreError::Infeasible { binding, why, .. } = &small else { panic!("{small}") };
    assert!(*binding == "device" && why.contains("lut, there are 230400"), "{why}");
    let other = refused(&request("artix7-200t", &["divided"]));
    assert!(
        other.to_string().contains("artix7-200t, of the family xc7; it must be one of the family xcup"),
        "{other}"
    );
    let mut large = request("alveo-u250", &["divided"]);
    large.space.log_n = vec![15];
    assert_eq!(refused(&large).to_string(), "log_n is [15]; it must be 10 to 14");
    let lanes = Request { space: space(&["divided"]).with_numbers("lanes", &[16]), ..large.clone() };
    assert_eq!(refused(&lanes).code(), "Constraint");
    let levels = Request { space: Space { level_bits: vec![40], ..space(&["divided"]) }, ..large };
    let gaussian = Request {
        space: Space { secrets: vec![SecretKind::Gaussian], ..space(&["divided"]) },
        ..levels.clone()
    };
    assert_eq!(
        refused(&gaussian).to_string(),
        "secrets is gaussian alone; it must be ternary among them: engines hold secret keys of 0 and ±1"
    );
    assert_eq!(
        refused(&levels).to_string(),
        "level_bits is [40]; it must be one at least of the widths of limbs, [48, 60]"
    );
}

#[test]
fn primes_are_those_of_the_multiplier() {
    // rtl/modmul/README.md: q = 2^W - d 2^15 + 1, 0 < d <= 2^9, with W of the limb.
    let outcome = found(&request("alveo-u250", &["divided"]));
    for design in outcome.front.iter().chain([&outcome.best]) {
        let (q, p) = (&design.parameters.q, &design.parameters.p);
        let widths = std::iter::once(60).chain(std::iter::repeat_n(48, q.len() - 1)).chain([60]);
        for (prime, width) in q.iter().chain([&p[0]]).zip(widths) {
            let below = (1u64 << width) + 1 - prime;
            assert!(below.is_multiple_of(1 << 15) && (1..=512).contains(&(below >> 15)), "{prime}");
        }
    }
}

#[test]
fn results_are_stored_in_columns_of_its_own() {
    let asked = request("alveo-u250", &["divided", "undivided"]);
    let path = std::env::temp_dir().join(format!("ringmill-{}-encryptor.sqlite", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let outcome = explore(&asked, Some(&mut Store::open(&path, &asked).unwrap()), &mut |_| true).unwrap();
    let connection = Connection::open(&path).unwrap();
    let number = |sql: &str| connection.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM points") as u64, outcome.statistics.points);
    assert_eq!(number("SELECT count(*) FROM points WHERE lanes <> 2 OR value_order <> 'eval'"), 0);
    assert_eq!(number("SELECT max(encryptions) FROM cycles"), ARGUMENTS as i64);
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}

#[test]
fn a_design_reads_back_and_a_wrong_one_is_refused() {
    let asked = request("alveo-u250", &["divided"]);
    let best = found(&asked).best;
    let machine = &best.built.machine;
    assert!(machine.starts_with("encryptor:mode=divided,lanes=2,order=eval,limbs="), "{machine}");
    let design = Design {
        schema: ringmill_explore::design::SCHEMA,
        ringmill: env!("CARGO_PKG_VERSION").into(),
        kernel: asked.kernels[0].source().clone(),
        device: asked.device.name.clone(),
        parameters: best.parameters,
        machine: machine.clone(),
        hardware: best.built.hardware,
        predicted: best.predicted,
    };
    let text = design.to_json();
    assert_eq!(Design::from_json(&text).unwrap(), design);
    for (from, to, said) in [
        (
            "lanes=2",
            "lanes=8",
            "no encryption engine that is divided with 8 lanes up to N = 2^14 was synthesised",
        ),
        ("order=eval", "order=pipeline", "2 lanes hand out values in the order eval"),
        ("word=60", "word=40", "no limb of 40 bits"),
        ("limbs=", "limbs=9", "give 1 to 32"),
        (
            "\"hardware\": {}",
            "\"hardware\": {\"tile\": \"lut\"}",
            "an encryption engine has no tile to be built with",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let wrong = Design::from_json(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(wrong.contains(said), "{wrong}");
    }
    let nothing = Engine { mode: 0, lanes: 2, limbs: 1, word: 60, rest: 60, log_n_max: 14 };
    assert_eq!(Encryptors.write(&nothing, ringmill_explore::target::Plan::Quick).target(), "encryptor");
    assert_eq!(AnyTarget::row(&Encryptors).name, "encryptor");
}
