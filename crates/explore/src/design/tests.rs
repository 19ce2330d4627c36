use super::*;
use crate::device::Family;

pub(crate) fn sample() -> Design {
    let exact = |value| Figure::new(value, OriginKind::Exact, "counted");
    Design {
        schema: SCHEMA,
        ringmill: env!("CARGO_PKG_VERSION").into(),
        kernel: KernelSource {
            name: "square".into(),
            variant: String::new(),
            program: "he @square …".into(),
            signature: serde_json::json!({"inputs": {}}),
            magnitude: 1.0,
            bound: 1.0,
            real: true,
        },
        device: "zcu102".into(),
        parameters: Parameters {
            log_n: 13,
            q: vec![0x20_0000_0244_0001, 0x20_0000_0248_0001],
            p: vec![0x20_0000_0344_0001],
            class: PrimeClass::PrfFiko(54),
            dnum: 2,
            secret: SecretKind::Ternary,
            scale_bits: 53,
        },
        hardware: Hardware {
            family: Family::Xcup,
            word_bits: 54,
            butterflies: 4,
            lanes: hardware::LANES,
            multiplier: "prf-fiko".into(),
            tile: Tile::Dsp48e2,
            banks: BankMemory::Block,
            log_n_max: 13,
            moduli: 3,
            bus_bits: 512,
            memory_bytes: 4 << 30,
            memory_latency: 40,
            beat_cycles: 1,
            policy: "throughput".into(),
            effort: 2000,
        },
        predicted: Predicted {
            cycles: exact(159_744.0),
            cycles_bound: exact(150_000.0),
            frequency_mhz: exact(200.0),
            latency_ms: exact(0.8),
            resources: [(Resource::Lut, exact(33_000.0)), (Resource::Uram, exact(0.0))].into(),
            area: exact(2062.5),
            error: exact(1.5e-9),
            security_bits: exact(174.5),
            security_level: Some(128),
            power_w: None,
            energy_mj: None,
            client: Client {
                evaluation_key_bytes: exact(1e6),
                input_bytes: exact(1e5),
                output_bytes: exact(1e5),
                encrypt_ms: None,
                decrypt_ms: None,
            },
        },
    }
}

#[test]
fn a_design_comes_back_from_its_text() {
    let design = sample();
    let text = design.to_json();
    assert_eq!(Design::from_json(&text).unwrap(), design);
    assert_eq!(Design::from_json(&text).unwrap().to_json(), text);
    assert!(design.parameters.params().unwrap().security().category() == Some(128));
}

#[test]
fn another_version_is_refused_by_name() {
    let text = sample().to_json().replace("\"schema\": 2", "\"schema\": 7");
    let error = Design::from_json(&text).unwrap_err();
    assert_eq!(error.code(), "Schema");
    assert!(error.to_string().contains("schema 7"), "{error}");
    let none = Design::from_json("{}").unwrap_err();
    assert!(none.to_string().contains("schema none"), "{none}");
}

/// A block identifies the family, whatever the device's name is. Without one, the name of a stored device
/// does.
#[test]
fn a_design_of_version_1_is_read_with_the_family_of_its_blocks_or_device() {
    let of = |device: &str, tile: &str, resource: &str| {
        let text = sample().to_json().replace("\"schema\": 2", "\"schema\": 1");
        let text =
            text.replace("      \"family\": \"xcup\",\n", "").replace("    \"family\": \"xcup\",\n", "");
        assert!(!text.contains("family"), "{text}");
        let text = text.replace("\"zcu102\"", &format!("\"{device}\"")).replace("dsp48e2", tile);
        Design::from_json(&text.replace("\"uram\"", &format!("\"{resource}\"")))
    };
    for (device, tile, resource, family) in [
        ("zcu102", "dsp48e2", "uram", Family::Xcup),
        ("artix7-100t", "lut", "bram36", Family::Xc7),
        ("mine", "dsp48e1", "bram36", Family::Xc7),
        ("mine", "lut", "bram36", Family::Xcup),
        ("zcu102", "dsp48e1", "bram36", Family::Xc7),
        ("zcu102", "lut", "ebr", Family::Ecp5),
        ("mine", "lut", "area_um2", Family::Asic45),
    ] {
        let design = of(device, tile, resource).unwrap();
        assert_eq!((design.schema, design.hardware.family), (SCHEMA, family), "{device} {tile} {resource}");
    }
}

#[test]
fn what_is_wrong_in_a_design_is_named() {
    let text = sample().to_json();
    for (from, to, says) in [
        ("prf-fiko\"", "prf-fikko\"", "did you mean \"prf-fiko\"?"),
        ("\"butterflies\": 4", "\"butterflies\": 3", "butterflies"),
        ("\"word_bits\": 54", "\"wordbits\": 54", "wordbits"),
        ("\"policy\": \"throughput\"", "\"policy\": \"latency\"", "low-latency"),
        ("prf-fiko-54", "prf-54", "class of primes"),
        ("\"lanes\": 2", "\"lanes\": 3", "lanes is 3"),
        (
            "\"family\": \"xcup\"",
            "\"family\": \"xc7\"",
            "tile is dsp48e2, which xc7 has not; it has lut, dsp48e1",
        ),
        ("\"family\": \"xcup\",", "", "family"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Design::from_json(&text.replace(from, to)).unwrap_err();
        assert!(error.to_string().contains(says), "{from} -> {to}: {error}");
    }
}

#[test]
fn classes_of_primes_have_names() {
    for class in [PrimeClass::Any, PrimeClass::OneMod(27), PrimeClass::Sparse(54), PrimeClass::PrfFiko(36)] {
        assert_eq!(class.to_string().parse::<PrimeClass>().unwrap(), class);
    }
}
