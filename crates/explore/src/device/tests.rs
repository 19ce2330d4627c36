use super::*;

#[test]
fn stored_devices_are_read_and_written_and_have_names_of_their_own() {
    let all = Device::stored().unwrap();
    let mut names: Vec<_> = all.iter().map(|d| d.name.clone()).collect();
    for device in &all {
        assert_eq!(&Device::named(&device.name).unwrap(), device);
        assert_eq!(&Device::from_toml("back", &device.to_toml()).unwrap(), device);
        assert!(!device.memory.source.is_empty() && !device.clock.source.is_empty());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all.len());
}

#[test]
fn a_typo_is_named_with_the_key_that_was_meant() {
    let text = STORED[0];
    for (from, to, says) in [
        ("[resources]", "[resorces]", "did you mean \"resources\"?"),
        ("lut =", "luts =", "did you mean \"lut\"?"),
        ("latency_ns", "latency_n", "did you mean \"latency_ns\"?"),
        ("family = \"ecp5\"", "family = \"ecp6\"", "ecp6"),
        ("schema = 1", "schema = 2", "schema 2"),
        ("title =", "# title =", "`title` is missing"),
        ("mhz = ", "mhz = -", "clock.mhz"),
        ("ebr =", "bram36 =", "`ebr` in [resources] is missing"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Device::from_toml("mine.toml", &text.replacen(from, to, 1)).unwrap_err();
        assert!(error.to_string().contains(says), "{from} -> {to}: {error}");
    }
    let nan = text.replacen("mhz = ", "mhz = nan #", 1);
    assert!(Device::from_toml("mine.toml", &nan).is_err());
}

/// One port of the compact core has one channel; an engine with ports to all of them has what the data sheets print.
#[test]
fn engines_have_all_channels_where_there_are_some() {
    let rates = ["alveo-u250", "alveo-u280", "zcu102"].map(|name| {
        let device = Device::named(name).unwrap();
        (device.memory.gigabytes_per_second, device.all_channels().0)
    });
    assert_eq!(rates[..2], [(19.2, 76_800.0), (19.2, 460_000.0)]);
    assert_eq!(rates[2].1, 1e3 * rates[2].0);
    let text = Device::named("alveo-u280").unwrap().to_toml();
    let error = Device::from_toml("mine.toml", &text.replace("= 460.0", "= -460.0")).unwrap_err();
    assert!(error.to_string().contains("channels.gigabytes_per_second"), "{error}");
}

#[test]
fn an_unknown_device_is_refused_with_the_nearest_one() {
    let error = Device::named("zcu120").unwrap_err().to_string();
    assert!(error.contains("did you mean \"zcu102\"?"), "{error}");
    assert!(Device::named("missing.toml").unwrap_err().to_string().contains("missing.toml"));
}

#[test]
fn a_slow_memory_spaces_its_beats_and_a_fast_clock_its_answers() {
    let device = Device::named("zcu102").unwrap().at_mhz(200.0);
    assert_eq!(device.clock.kind, OriginKind::User);
    let bytes_per_cycle = device.memory.gigabytes_per_second * 1e9 / 200e6;
    for bus in [64, 128, 256, 512, 1024] {
        let beat = device.beat_cycles(bus);
        assert!(f64::from(bus / 8) / beat as f64 <= bytes_per_cycle, "{bus}");
        assert!(beat == 1 || f64::from(bus / 8) / (beat - 1) as f64 > bytes_per_cycle, "{bus}");
    }
    assert!(device.clone().at_mhz(400.0).latency_cycles() >= device.latency_cycles());
}

#[test]
fn the_resource_that_binds_is_the_one_most_exceeded() {
    let device = Device::named("artix7-35t").unwrap();
    let need = [(Resource::Lut, 25_000.0), (Resource::Bram36, 100.0), (Resource::Dsp, 10.0)].into();
    assert_eq!(device.binding(&need).map(|b| b.0), Some(Resource::Bram36));
    assert_eq!(device.binding(&[(Resource::Lut, 1.0)].into()), None);
}

#[test]
fn a_share_is_that_of_the_resource_that_runs_out_first() {
    // Of 63,400 LUTs, 240 DSP blocks and 135 block memories.
    let device = Device::named("artix7-100t").unwrap();
    let logic =
        device.share(&[(Resource::Lut, 31_700.0), (Resource::Dsp, 0.0), (Resource::Bram36, 27.0)].into());
    assert_eq!((logic.resource, logic.greatest), (Resource::Lut, 0.5));
    assert!((logic.sum - 0.7).abs() < 1e-12);
    let blocks =
        device.share(&[(Resource::Lut, 15_850.0), (Resource::Dsp, 120.0), (Resource::Bram36, 27.0)].into());
    assert_eq!((blocks.resource, blocks.greatest), (Resource::Dsp, 0.5));
    // As full as the other, with less left.
    assert!(logic.compare(&blocks).is_lt());
    // A device that has none of a resource.
    assert_eq!(device.share(&[(Resource::Uram, 1.0)].into()).greatest, f64::INFINITY);
    assert_eq!(device.share(&[(Resource::Uram, 0.0)].into()).greatest, 0.0);
}
