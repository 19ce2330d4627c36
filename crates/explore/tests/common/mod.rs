//! The nine kernels of coxHE's Table II as traced programs: `tests/kernels`, compared with the tracer by
//! `python/tests/test_explore.py`.

use ringmill_explore::design::KernelSource;
use ringmill_explore::target::compact::CompactCores;
use ringmill_explore::{Constraints, Device, Kernel, Request, Space, Stop};

pub(crate) fn source(letter: char) -> KernelSource {
    let path = format!("{}/tests/kernels/{letter}.he", env!("CARGO_MANIFEST_DIR"));
    KernelSource {
        name: format!("coxhe-{letter}"),
        variant: String::new(),
        program: std::fs::read_to_string(path).unwrap(),
        signature: serde_json::Value::Null,
        magnitude: 1.0,
        bound: f64::MAX,
        real: true,
    }
}

pub(crate) fn kernel(letter: char) -> Kernel {
    Kernel::new(source(letter)).unwrap()
}

pub(crate) fn request(letter: char, device: &str) -> Request {
    Request {
        kernels: vec![kernel(letter)],
        target: &CompactCores,
        device: Device::named(device).unwrap(),
        constraints: Constraints { max_error: 1e-4, ..Constraints::default() },
        space: Space::default(),
        seconds: 5.0,
        seed: 1,
        stop: Stop::default(),
    }
}
