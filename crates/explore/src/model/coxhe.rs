//! The models of coxHE (Han et al.), Eq. 3–8 and 10–11, as printed: for reproduction beside ours, never for a choice.

/// Degrees of parallelism of coxHE's modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Butterflies of a transform module, `Pintra`.
    pub transform: u64,
    /// Numbers packed on a word.
    pub packnum: u64,
    /// AXI ports of a module.
    pub portnum: u64,
}

impl Parallelism {
    /// Eq. 5: what a module of sequential data reaches; at least 1.
    pub const fn module(&self) -> u64 {
        let p = self.packnum * self.portnum / 4;
        if p == 0 { 1 } else { p }
    }
}

/// How often each operation occurs: α, β, γ, λ of Eq. 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// Key switches.
    pub key_switches: u64,
    /// Rescales.
    pub rescales: u64,
    /// Multiplications.
    pub multiplications: u64,
    /// Additions.
    pub additions: u64,
}

/// Eq. 3: cycles of a transform.
pub const fn transform(log_n: u32, p: Parallelism) -> u64 {
    log_n as u64 * ((1 << log_n) / 2 / p.transform)
}

/// Eq. 4: cycles of a module that walks over its data.
pub const fn module(log_n: u32, p: Parallelism) -> u64 {
    (1 << log_n) / p.module()
}

/// Eq. 6: cycles of a key switch over k moduli, with the slowest of the modules that run side by side.
pub fn key_switch(log_n: u32, moduli: u64, p: Parallelism) -> u64 {
    transform(log_n, p) + transform(log_n, p).max(module(log_n, p)) * (moduli + 4)
}

/// Eq. 7: cycles of a rescale.
pub const fn rescale(log_n: u32, p: Parallelism) -> u64 {
    2 * transform(log_n, p) + module(log_n, p)
}

/// Eq. 8: cycles of a kernel; a multiplication and an addition take two polynomials of every modulus.
pub fn kernel(log_n: u32, moduli: u64, p: Parallelism, n: Operations) -> u64 {
    let pointwise = 2 * moduli * module(log_n, p);
    n.key_switches * key_switch(log_n, moduli, p)
        + n.rescales * rescale(log_n, p)
        + (n.multiplications + n.additions) * pointwise
}

/// Eq. 10: the drift of the scale at one prime for a scale of 2^bits, |1 − q/2^bits|.
pub fn drift(q: u64, bits: u32) -> f64 {
    (1.0 - q as f64 / f64::from(bits).exp2()).abs()
}

/// Eq. 11: drifts of the primes that are rescaled away, first the last one, doubled for each level that follows.
pub fn error(drifts: &[f64]) -> f64 {
    let d = drifts.len() as i32;
    drifts.iter().zip(1..).map(|(e, k)| e * f64::from(d - k).exp2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Parallelism = Parallelism { transform: 16, packnum: 2, portnum: 2 };

    #[test]
    fn a_key_switch_waits_for_its_slowest_module() {
        // The slowest module walks over N numbers one by one.
        assert_eq!(key_switch(13, 4, P), 13 * 256 + 8 * 8192);
        // Where transforms are the slowest: k + 5 of them.
        let fast = Parallelism { transform: 16, packnum: 16, portnum: 4 };
        assert_eq!(key_switch(13, 4, fast), 9 * transform(13, fast));
        assert_eq!(transform(13, P), 13 * 256);
    }

    /// The errors that Table III prints: 1 − q/2^b for the greatest b-bit prime ≡ 1 mod 2N.
    #[test]
    fn table_three_prints_drifts() {
        use ringmill_ring::primes::of_bits;
        for (log_n, bits, printed) in [(12, 25, 4.88e-4), (13, 33, 9.54e-6), (13, 43, 1.86e-8)] {
            let q = of_bits(bits, log_n, 1, &[]).unwrap()[0].value();
            let ours = error(&[drift(q, bits)]);
            assert!((ours / printed - 1.0).abs() < 0.01, "N = 2^{log_n}, {bits} bits: {ours:e}");
        }
    }

    #[test]
    fn drifts_double_with_each_level_that_follows() {
        assert_eq!(error(&[1.0, 1.0, 1.0]), 4.0 + 2.0 + 1.0);
        assert_eq!(error(&[]), 0.0);
    }
}
