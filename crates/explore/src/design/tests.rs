use ringmill_errors::StructuredError;

use super::*;

const MACHINE: &str = "compact:word=54,butterflies=4,log_n=13,moduli=3,multiplier=prf-fiko,bus=512,memory=4294967296,latency=40,\
                       beat=1,policy=throughput,effort=2000";

/// The sample as version 2 wrote it.
const VERSION_2: &str = include_str!("version-2.json");

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
            levels: Vec::new(),
        },
        machine: MACHINE.into(),
        hardware: serde_json::from_str(
            r#"{"family": "xcup", "tile": "dsp48e2", "lut_unit": "none", "banks": "block"}"#,
        )
        .unwrap(),
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
            per_second: None,
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
    let text = sample().to_json().replace("\"schema\": 3", "\"schema\": 7");
    let error = Design::from_json(&text).unwrap_err();
    assert_eq!(error.code(), "Schema");
    assert!(error.to_string().contains("schema 7"), "{error}");
    let none = Design::from_json("{}").unwrap_err();
    assert!(none.to_string().contains("schema none"), "{none}");
}

#[test]
fn a_design_of_version_2_is_read_as_what_it_says() {
    let design = Design::from_json(VERSION_2).unwrap();
    assert_eq!(Design { ringmill: sample().ringmill, ..design }, sample());
}

/// A file that an exploration of version 2 wrote.
#[test]
fn an_explored_design_of_version_2_is_read() {
    let text = include_str!("../../tests/golden/design-2.json");
    let design = Design::from_json(text).unwrap();
    assert_eq!(
        design.machine,
        "compact:word=36,butterflies=4,log_n=12,moduli=16,multiplier=montgomery,bus=512,memory=2147483648,latency=37,beat=1,\
         policy=throughput,effort=2000"
    );
    // All else is as it was, word for word.
    let (mut before, mut now): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(text).unwrap(), serde_json::from_str(&design.to_json()).unwrap());
    let mut fields = design.fields().unwrap();
    // What those of before did not say.
    assert_eq!(fields.remove("lut_unit"), Some("none".into()));
    let hardware = before["hardware"].as_object_mut().unwrap();
    assert_eq!(hardware.remove("lanes"), Some(2.into()));
    assert_eq!(hardware, &fields);
    for value in [&mut before, &mut now] {
        let all = value.as_object_mut().unwrap();
        all.retain(|name, _| !["schema", "machine", "hardware"].contains(&name.as_str()));
    }
    assert_eq!(before, now);
}

/// A block identifies the family, whatever the device's name is. Without one, the name of a stored device
/// does.
#[test]
fn a_design_of_version_1_is_read_with_the_family_of_its_blocks_or_device() {
    let of = |device: &str, tile: &str, resource: &str| {
        let text =
            VERSION_2.replace("\"schema\": 2", "\"schema\": 1").replace("    \"family\": \"xcup\",\n", "");
        assert!(!text.contains("family"), "{text}");
        let text = text.replace("\"zcu102\"", &format!("\"{device}\"")).replace("dsp48e2", tile);
        Design::from_json(&text.replace("\"uram\"", &format!("\"{resource}\"")))
    };
    for (device, tile, resource, family) in [
        ("zcu102", "dsp48e2", "uram", "xcup"),
        ("artix7-100t", "lut", "bram36", "xc7"),
        ("mine", "dsp48e1", "bram36", "xc7"),
        ("mine", "lut", "bram36", "xcup"),
        ("zcu102", "dsp48e1", "bram36", "xc7"),
        ("zcu102", "lut", "ebr", "ecp5"),
        ("mine", "lut", "area_um2", "asic45"),
    ] {
        let design = of(device, tile, resource).unwrap();
        assert_eq!(
            (design.schema, &design.hardware["family"]),
            (SCHEMA, &family.into()),
            "{device} {tile} {resource}"
        );
    }
}

fn refused(text: &str, from: &str, to: &str, says: &str) {
    assert!(text.contains(from), "{from}");
    let error = Design::from_json(&text.replace(from, to)).unwrap_err();
    assert!(error.to_string().contains(says), "{from} -> {to}: {error}");
}

#[test]
fn what_is_wrong_in_a_design_is_named() {
    let design = sample().to_json();
    let tile = "tile is dsp48e2, which xc7 has not; it has lut, dsp48e1";
    for (from, to, says) in [
        ("multiplier=prf-fiko", "multiplier=prf-fikko", "multiplier=\"prf-fikko\""),
        ("butterflies=4", "butterflies=3", "butterflies=3"),
        ("word=54", "wordbits=54", "wordbits"),
        ("policy=throughput", "policy=latency", "low-latency"),
        ("prf-fiko-54", "prf-54", "class of primes"),
        ("compact:", "compacd:", "no target \"compacd\" (did you mean \"compact\"?)"),
        ("\"family\": \"xcup\"", "\"family\": \"xc7\"", tile),
        ("\"family\": \"xcup\",", "", "family"),
        ("\"family\": \"xcup\",", "\"family\": \"xcup\", \"lanes\": 2,", "lanes"),
    ] {
        refused(&design, from, to, says);
    }
    for (from, to, says) in [
        ("prf-fiko\"", "prf-fikko\"", "did you mean \"prf-fiko\"?"),
        ("\"butterflies\": 4", "\"butterflies\": 3", "butterflies"),
        ("\"word_bits\": 54", "\"wordbits\": 54", "wordbits"),
        ("\"policy\": \"throughput\"", "\"policy\": \"latency\"", "low-latency"),
        ("\"lanes\": 2", "\"lanes\": 3", "lanes is 3"),
        ("\"family\": \"xcup\"", "\"family\": \"xc7\"", tile),
        ("\"family\": \"xcup\",", "", "family"),
    ] {
        refused(VERSION_2, from, to, says);
    }
}

#[test]
fn classes_of_primes_have_names() {
    for class in [
        PrimeClass::Any,
        PrimeClass::OneMod(27),
        PrimeClass::Sparse(54),
        PrimeClass::PrfFiko(36),
        PrimeClass::FewOnes(54),
        PrimeClass::Ntt15(48),
    ] {
        assert_eq!(class.to_string().parse::<PrimeClass>().unwrap(), class);
    }
}
