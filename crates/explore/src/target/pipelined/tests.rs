//! Counts against the stored figures of the engine's builds, resources against synthesised blocks, bounds against runs.

use ringmill_machine::MachineSpec;
use ringmill_machine::compact::Multiplier;
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::{OperationWriter, Rotation};
use ringmill_ring::primes::of_bits;
use serde_json::Value;

use super::machine::{Build, Machine};
use super::parts::{BANK, LIFT, MARKS, RING, TRANSFORM, multipliers, needs, words};
use super::*;
use crate::target::AnyTarget;
use crate::target::named;
use crate::{Constraints, Device};

fn machine(build: Build) -> Machine {
    Machine {
        build,
        log_n: 16,
        word_bits: 60,
        multiplier: Multiplier::WordMontgomery,
        seeded: false,
        clock: 200,
        bandwidth: 19_200,
        latency: 40,
        link: 12_000,
        link_latency: 1000,
    }
}

fn stored(path: &str) -> Value {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Multipliers and megabytes of the paper's study, which `rtl/pipelined/figures.py` writes.
#[test]
fn counts_are_those_of_the_study() {
    let ours = stored("python/ringmill/studies/papers/duong_lee/ours.json");
    let chain = machine(Build::Streams { limbs: 4, lanes: 8 });
    let counted = &ours["streams"]["multipliers"];
    let count = |name: &str| counted[name].as_u64().unwrap();
    assert_eq!(
        multipliers(&chain),
        [count("butterflies") + count("twiddle factors"), count("lifts"), count("sums")]
    );
    let sets = ours["pool"]["sets"].as_array().unwrap();
    for set in sets {
        let [limbs, special, digits] = [0, 1, 2].map(|i| set["set"][i].as_u64().unwrap() as u32);
        let pool = machine(Build::Pool { limbs, special, digits, units: 10, feeds: 3 });
        let bytes = set["ram_bytes"].as_f64().unwrap();
        assert_eq!(words(&pool) as f64 * 7.5, bytes, "{set}");
        let dsp = set["dsp"].as_f64().unwrap();
        assert_eq!(
            needs(&pool, &Device::named("alveo-u250").unwrap()).unwrap()[&Resource::Dsp],
            dsp,
            "{set}"
        );
    }
    assert_eq!(sets.len(), 5);
}

#[test]
fn logic_is_that_of_the_synthesised_blocks() {
    let rows = |file: &str| stored(&format!("rtl/synth/data/{file}.json")).as_array().unwrap().clone();
    let row =
        |file: &str, wanted: &dyn Fn(&Value) -> bool| rows(file).into_iter().find(|r| wanted(r)).unwrap();
    let amounts = |of: &Value| {
        let n = |name: &str| of[name].as_f64().unwrap();
        [n("lut") + n("srl") + n("lutram"), n("ff")]
    };
    let named =
        |top: &'static str| row("pipelined", &move |r| r["top"] == top && r["params"]["Special"] != 1);
    for (top, around) in [("rm_ks_bank", BANK), ("rm_ks_lift", LIFT)] {
        let parts = named(top)["parts"].clone();
        assert_eq!(amounts(&parts["rest"]), [around.lut, around.ff], "{top}");
        assert_eq!(parts["multipliers"].as_f64().unwrap(), around.multipliers);
    }
    assert_eq!(amounts(&named("rm_ks_marks")), MARKS);
    assert_eq!(amounts(&named("rm_ks_ring")), RING);
    let transform = row("streaming_ntt", &|r| r["top"] == "rm_streaming_ntt" && r["params"]["Style"] == 0);
    assert_eq!(amounts(&transform["parts"]["rest"]), [TRANSFORM.lut, TRANSFORM.ff]);
    assert_eq!(transform["parts"]["multipliers"].as_f64().unwrap(), TRANSFORM.multipliers);
    // Its delays and twiddle factors: a chain of one limb has two of it, and the rest in UltraRAM.
    let device = Device::named("alveo-u250").unwrap();
    let one = Machine { log_n: 14, ..machine(Build::Streams { limbs: 1, lanes: 2 }) };
    let (counted, synthesised) =
        (needs(&one, &device).unwrap()[&Resource::Bram36], transform["bram36"].as_f64().unwrap());
    assert!((2.0 * synthesised..2.0 * synthesised + 2.0).contains(&counted), "{counted}");
}

fn program(log_n: u32, limbs: usize, special: usize, alpha: usize) -> LimbProgram {
    let q = of_bits(30, log_n, limbs, &[]).unwrap();
    let p = of_bits(31, log_n, special, &[]).unwrap();
    let mut w = OperationWriter::new("turns", log_n, (&q, &p), alpha).unwrap();
    let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| w.input(name));
    let (relin, turn) = (w.key("relin").unwrap(), w.key("turn").unwrap());
    let d = w.low.tensor([&a0, &a1], [&b0, &b1]).unwrap();
    let product = w.low.relinearise([&d[0], &d[1], &d[2]], &relin, false).unwrap();
    let again =
        w.low.rotate([&product[0], &product[1]], Rotation { galois: 5, key: &turn, rescale: false }).unwrap();
    let other = w.low.rotate([&b0, &b1], Rotation { galois: 25, key: &turn, rescale: false }).unwrap();
    for (name, part) in [("again", &again), ("other", &other)] {
        w.output(name, part);
    }
    w.finish().unwrap()
}

#[test]
fn no_run_goes_below_its_bound() {
    let mut runs = 0;
    for log_n in [10, 12] {
        for (limbs, special, alpha) in [(3, 1, 1), (4, 2, 2), (5, 2, 2)] {
            let program = program(log_n, limbs, special, alpha);
            let demand = Demand::of(&program).unwrap();
            let (limbs, special) = (limbs as u32, special as u32);
            let mut builds: Vec<Build> = [2, 8, 32].map(|lanes| Build::Streams { limbs, lanes }).to_vec();
            for (units, feeds) in [(2, 1), (5, 2), (10, 3)] {
                builds.push(Build::Pool {
                    limbs,
                    special,
                    digits: limbs.div_ceil(alpha as u32),
                    units,
                    feeds,
                });
            }
            for build in builds {
                for (seeded, bandwidth, link) in
                    [(false, 400, 12_000), (true, 19_200, 200), (false, 460_000, 100_000)]
                {
                    let multiplier = Multiplier::Montgomery;
                    let m = Machine { log_n, multiplier, seeded, bandwidth, link, ..machine(build) };
                    let found = m.spec().unwrap().open().unwrap().estimate(&program).unwrap().unwrap();
                    assert!(
                        demand.cycles(&m) <= found.cycles.unwrap(),
                        "{} {:?}",
                        m.spec().unwrap(),
                        found.counters
                    );
                    runs += 1;
                }
            }
        }
    }
    assert_eq!(runs, 2 * 3 * 6 * 3);
}

#[test]
fn a_design_says_its_machine_and_keys_read_back() {
    for build in [
        Build::Streams { limbs: 4, lanes: 8 },
        Build::Pool { limbs: 6, special: 2, digits: 3, units: 10, feeds: 3 },
    ] {
        let m = machine(build);
        let built = PipelinedEngines.write(&m, Plan::Long);
        let spec: MachineSpec = built.machine.parse().unwrap();
        assert_eq!(PipelinedEngines.read(&spec, &built).unwrap(), m);
        let timing = Timing::of(&m);
        assert_eq!(Timing::from_key(&timing.key()), Some(timing));
    }
    let wrong = |text: &str| {
        let built = Built { machine: text.into(), hardware: serde_json::Map::new() };
        PipelinedEngines.read(&text.parse().unwrap(), &built).unwrap_err().to_string()
    };
    assert!(wrong("pipelined").contains("does not say its limbs; give limbs="));
    let full = PipelinedEngines.write(&machine(Build::Streams { limbs: 4, lanes: 8 }), Plan::Long).machine;
    assert!(wrong(&format!("{full},units=3")).contains("give it with build=pool alone"));
    let mut hardware = serde_json::Map::new();
    hardware.insert("tile".into(), "lut".into());
    let built = Built { machine: full, hardware };
    let refused = AnyTarget::check_machine(&PipelinedEngines, &built).unwrap_err().to_string();
    assert!(refused.contains("has no tile"), "{refused}");
}

fn place(
    device: &Device,
    narrow: impl Fn(Space) -> Space,
) -> Result<Vec<Core<PipelinedEngines>>, ExploreError> {
    let space = narrow(Space::of(&ROW));
    let constraints = Constraints::default();
    PipelinedEngines.enumerate(&Place {
        space: &space,
        device,
        constraints: &constraints,
        log_n: 16,
        primes: 5,
    })
}

/// Counted by hand from the axes: a chain for each number of lanes; of a pool one or two numbers of digits for each number of special
/// primes, 5 − K limbs.
#[test]
fn every_engine_of_the_space_is_there_once() {
    let device = Device::named("alveo-u250").unwrap();
    let all = place(&device, |space| space).unwrap();
    let pools: usize = [(4, 1), (3, 2), (2, 3), (1, 4)]
        .iter()
        .map(|&(limbs, special): &(u32, u32)| {
            let mut digits: Vec<u32> =
                [special, special - 1].iter().filter(|&&a| a > 0).map(|&a| limbs.div_ceil(a)).collect();
            digits.dedup();
            digits.len()
        })
        .sum();
    assert_eq!(all.len(), (5 + pools * 4 * 3) * 3 * 3 * 2);
    for (i, core) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other.machine != core.machine));
        core.machine.spec().unwrap().open().unwrap();
    }
    // What is too large says what binds.
    let small = Device::named("zcu102").unwrap();
    let cores = place(&small, |space| space.with_names("builds", &["streams"])).unwrap();
    assert!(cores.iter().all(|core| core.binding.is_some_and(|(_, need, have)| need > have)));
    // More lanes take more logic, wider words more of everything.
    let wide = |lanes, word_bits| {
        needs(&Machine { word_bits, ..machine(Build::Streams { limbs: 4, lanes }) }, &device).unwrap()
    };
    for resource in [Resource::Lut, Resource::Ff, Resource::Dsp] {
        assert!(wide(2, 60)[&resource] < wide(8, 60)[&resource]);
    }
    assert!(wide(8, 36).iter().all(|(resource, amount)| wide(8, 60)[resource] >= *amount));
}

#[test]
fn devices_without_blocks_or_link_are_refused() {
    let refused = |name: &str| place(&Device::named(name).unwrap(), |space| space).unwrap_err().to_string();
    assert!(refused("kintex7-325t").contains("synthesised for these alone"));
    assert!(refused("zcu104").contains("[link]"));
    assert!(named("pipelinedd").unwrap_err().to_string().contains("pipelined"));
    let clock = PipelinedEngines.clock(&Device::named("alveo-u250").unwrap());
    assert!(clock.origin.kind == OriginKind::Assumed && clock.origin.source.contains("routed"));
    assert_eq!(
        PipelinedEngines.clock(&Device::named("alveo-u250").unwrap().at_mhz(200.0)).origin.kind,
        OriginKind::User
    );
}
