//! The axes of a space, and the machines that stand on them.

use crate::common;
use std::collections::BTreeSet;

use ringmill_explore::target::compact::CompactCores;
use ringmill_explore::target::{AnyTarget, Core, Place};
use ringmill_explore::{ExploreError, Request, Space, Target};

#[test]
fn axes_of_a_file_are_those_of_the_target() {
    let read = |text: &str| Space::read(Target::row(&CompactCores), serde_json::from_str(text).unwrap());
    let space = read(r#"{"words": [36], "multipliers": ["barrett"], "log_n": [12]}"#).unwrap();
    assert_eq!(
        (space.numbers("words"), space.names("multipliers")),
        (&[36][..], &["barrett".to_owned()][..])
    );
    assert_eq!(space.numbers("buses"), Space::default().numbers("buses"));
    assert_eq!((space.log_n, space.level_bits), (vec![12], Space::default().level_bits));
    for (text, says) in [
        (r#"{"word": [36]}"#, "no axis \"word\" (did you mean \"words\"?); there are log_n, level_bits"),
        (r#"{"words": 36}"#, "axis words: "),
        (r#"{"log_n": ["12"]}"#, "axis log_n: "),
        ("[1]", "axis of the space: "),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    for (text, says) in [
        (r#"{"words": [37]}"#, "words is [37]; it must be 32, 36, 52, 54, 60"),
        (r#"{"words": ["w"]}"#, "words is []; it must be 32, 36, 52, 54, 60"),
        (r#"{"log_n": [16]}"#, "log_n is [16]; it must be 10 to 15"),
        (r#"{"multipliers": ["baret"]}"#, "no multiplier \"baret\" (did you mean \"barrett\"?)"),
        (r#"{"multipliers": []}"#, "multipliers is empty; it must be at least one value"),
        (r#"{"secrets": []}"#, "secrets is empty; it must be at least one value"),
    ] {
        let error = CompactCores.check_space(&read(text).unwrap()).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

fn cores(request: &Request) -> Result<Vec<Core<CompactCores>>, ExploreError> {
    let Request { space, device, constraints, .. } = request;
    CompactCores.enumerate(&Place { space, device, constraints, log_n: 12, primes: 16 })
}

/// A core that waits 64 cycles at most would be predicted faster than the memory is.
#[test]
fn buses_that_the_memory_cannot_feed_are_none() {
    let mut request = common::request('d', "zcu102");
    request.device = request.device.at_mhz(150.0);
    request.device.memory.bus_bits_max = 1024;
    // 1.5 cycles a byte.
    request.device.memory.gigabytes_per_second = 0.1;
    let timing = |core: &Core<CompactCores>| {
        let config = core.machine.config;
        (config.bus_bits(), config.timing().beat_cycles)
    };
    let found: BTreeSet<_> = cores(&request).unwrap().iter().map(timing).collect();
    assert_eq!(Vec::from_iter(found), [(64, 12), (128, 24), (256, 48)]);
    let wide = Request { space: request.space.clone().with_numbers("buses", &[1024]), ..request.clone() };
    assert!(cores(&wide).unwrap_err().to_string().contains("waits 64 cycles for a beat at most"));
    request.device.memory.latency_ns = 1e6;
    assert!(cores(&request).unwrap_err().to_string().contains("waits 100,000 cycles at most"));
    request.device.memory.bus_bits_max = 64;
    request.device.memory.latency_ns = 100.0;
    request.space = request.space.with_numbers("buses", &[512]);
    assert!(
        cores(&request).unwrap_err().to_string().contains("no wider than the device's memory.bus_bits_max")
    );
}
