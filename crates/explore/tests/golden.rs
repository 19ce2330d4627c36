//! What was chosen before: the search, the models and the machines may be arranged anew, and the designs stay.
//!
//! `tests/golden/designs.txt` holds the best design and the front of each request, every figure in full. A change of a model
//! rewrites it with `RINGMILL_BLESS=1 cargo test -p ringmill-explore --test all golden`.

use crate::common;
use std::fmt::Write as _;

use ringmill_explore::search::run::Found;
use ringmill_explore::target::compact::{CompactCores, Machine};
use ringmill_explore::{Constraints, Device, Objective, Request, Space, Target, explore};
use ringmill_machine::MachineSpec;

/// Kernel, device, objective, bits of levels, and butterflies.
type Asked = (char, &'static str, Objective, &'static [u32], &'static [u32]);

const REQUESTS: [Asked; 4] = [
    ('d', "zcu102", Objective::Latency, &[28, 33], &[8, 16]),
    ('d', "ecp5-85", Objective::Area, &[28], &[1, 2]),
    ('d', "asic45", Objective::Energy, &[28], &[4, 8]),
    ('d', "alveo-u280", Objective::Security, &[30], &[16]),
];

fn line(out: &mut String, kind: &str, found: &Found) {
    let (x, p) = (&found.parameters, &found.predicted);
    let _ = write!(
        out,
        "{kind} q {:x?} p {:x?} {} dnum {} {:?} scale {}",
        x.q, x.p, x.class, x.dnum, x.secret, x.scale_bits
    );
    let spec = MachineSpec::parse(&found.built.machine).unwrap();
    let Machine { config, policy, effort, synthesis } = CompactCores.read(&spec, &found.built).unwrap();
    let c = config.literal();
    let _ = write!(
        out,
        " | {:?} W {} Nbf {} {} {:?} {:?} {:?} N {} moduli {} bus {} memory {} latency {} beat {} {} effort {effort}",
        synthesis.family,
        c.word_bits,
        c.butterflies,
        c.multiplier.name(),
        synthesis.tile,
        synthesis.lut_unit,
        synthesis.banks,
        c.log_n_max,
        c.moduli,
        c.bus_bits,
        c.memory_bytes,
        c.timing.latency,
        c.timing.beat_cycles,
        policy.name()
    );
    let figures =
        [&p.cycles, &p.cycles_bound, &p.frequency_mhz, &p.latency_ms, &p.area, &p.error, &p.security_bits];
    for figure in figures.into_iter().chain(p.resources.values()).chain(&p.power_w).chain(&p.energy_mj) {
        let _ = write!(out, " {:e} ({:?}: {})", figure.value, figure.origin.kind, figure.origin.source);
    }
    let client =
        [&p.client.evaluation_key_bytes, &p.client.input_bytes, &p.client.output_bytes].map(|f| f.value);
    let _ = writeln!(out, " client {client:?}");
}

#[test]
fn designs_are_those_of_before() {
    let mut text = String::new();
    for (letter, device, minimise, level_bits, butterflies) in REQUESTS {
        let request = Request {
            device: Device::named(device).unwrap(),
            constraints: Constraints { max_error: 1e-3, minimise, ..Constraints::default() },
            space: Space { log_n: vec![12], level_bits: level_bits.to_vec(), ..Space::default() }
                .with_numbers("words", &[36, 54])
                .with_numbers("butterflies", butterflies)
                .with_numbers("buses", &[256, 512]),
            seconds: 0.0,
            ..common::request(letter, device)
        };
        let outcome = explore(&request, None, &mut |_| true).unwrap();
        let mut counts = outcome.statistics.clone();
        counts.seconds = 0.0;
        let _ = writeln!(
            text,
            "{letter} on {device}, least {minimise:?}: {counts:?} {} {}",
            outcome.best_proven, outcome.front_proven
        );
        line(&mut text, "best", &outcome.best);
        // Of a long front a digest, which a difference changes as well.
        let mut front = String::new();
        outcome.front.iter().for_each(|found| line(&mut front, "front", found));
        outcome.front.iter().take(3).for_each(|found| line(&mut text, "front", found));
        let _ =
            writeln!(text, "front of {}: {}\n", outcome.front.len(), blake3::hash(front.as_bytes()).to_hex());
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/designs.txt");
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(file, &text).unwrap();
    }
    let stored = std::fs::read_to_string(file).unwrap();
    for (now, before) in text.lines().zip(stored.lines()) {
        assert_eq!(now, before);
    }
    assert_eq!(text, stored);
}
