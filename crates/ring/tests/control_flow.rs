//! Samplers, transforms and pointwise arithmetic run through the same instructions whatever the secret values are.
//!
//! A child process runs each of them on several secrets, and this one steps through it an instruction at a time. What is
//! compared is the code as compiled, on every instruction set of this processor. Addresses of data are not seen.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use nix::libc::c_ulonglong;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use ringmill_ring::sample::{SecretRng, SecretSeed};
use ringmill_ring::{Isa, LimbRing, primes};

/// The addresses of the instructions that `f` runs through.
fn trace(f: impl FnOnce()) -> Vec<c_ulonglong> {
    // SAFETY: the child calls `f`, which takes no lock that another thread may hold, and leaves without destructors.
    match unsafe { fork() }.expect("a second process") {
        ForkResult::Child => {
            let run = || {
                ptrace::traceme()?;
                raise(Signal::SIGSTOP)?;
                f();
                raise(Signal::SIGSTOP)
            };
            let code = i32::from(run().is_err());
            // SAFETY: ends the process.
            unsafe { nix::libc::_exit(code) }
        }
        ForkResult::Parent { child } => {
            let stopped = waitpid(child, None).expect("the child stops");
            assert_eq!(stopped, WaitStatus::Stopped(child, Signal::SIGSTOP), "the child can be traced");
            let mut addresses = Vec::new();
            loop {
                ptrace::step(child, None).expect("a step");
                match waitpid(child, None).expect("the child stops") {
                    WaitStatus::Stopped(_, Signal::SIGTRAP) => {
                        addresses.push(ptrace::getregs(child).expect("registers").rip);
                    }
                    WaitStatus::Stopped(_, Signal::SIGSTOP) => break,
                    other => panic!("the child {other:?}"),
                }
            }
            ptrace::kill(child).expect("the child ends");
            waitpid(child, None).expect("the child ends");
            addresses
        }
    }
}

/// Asserts that all runs go through the same instructions, `least` or more.
fn same<F: FnMut()>(what: &str, least: usize, mut runs: impl Iterator<Item = F>) {
    let first = trace(runs.next().expect("a first run"));
    assert!(first.len() >= least, "{what}: {} instructions", first.len());
    for (i, run) in runs.enumerate() {
        let other = trace(run);
        let at = first.iter().zip(&other).take_while(|(a, b)| a == b).count();
        assert!(first == other, "{what}: run {} leaves the path of the first after {at} instructions", i + 1);
    }
}

fn seed(byte: u8) -> SecretSeed {
    SecretSeed::from_bytes([byte; 32])
}

/// A sampler's first call detects the instruction set, so it runs once before it is traced.
fn samples(byte: u8, out: &mut [i8], draw: impl Fn(&mut SecretRng, &mut [i8])) {
    draw(&mut SecretRng::new(&seed(byte), 0), out);
}

#[test]
fn the_path_shows_a_branch() {
    let powers = |exponent: u32| {
        move || {
            std::hint::black_box((0..exponent).fold(3u64, |x, _| std::hint::black_box(x.wrapping_mul(x))));
        }
    };
    assert_ne!(trace(powers(3)), trace(powers(4)));
    assert_eq!(trace(powers(4)), trace(powers(4)));
}

#[test]
fn gaussian_samples_take_one_path() {
    let draw = |byte| {
        let mut out = [0; 100];
        let mut run = move || samples(byte, &mut out, |rng, out| rng.gaussian(out));
        run();
        run
    };
    same("gaussian", 1000, (0..4).map(draw));
}

#[test]
fn ternary_samples_of_a_weight_take_one_path() {
    let draw = |byte| {
        let mut out = [0; 64];
        let mut run = move || {
            samples(byte, &mut out, |rng, out| rng.ternary_of_weight(20, out).expect("20 of 64"));
        };
        run();
        run
    };
    same("of weight 20", 1000, (0..5).map(draw));
}

#[test]
fn uniform_ternary_samples_take_the_path_of_what_is_rejected() {
    const BYTES: usize = 8;
    // Bytes from 243 are rejected: seeds whose first bytes have none of them differ in what is accepted alone.
    let accepts_all = |byte: &u8| {
        let mut bytes = [0; BYTES];
        ChaCha20Rng::from_seed([*byte; 32]).fill_bytes(&mut bytes);
        bytes.iter().all(|&b| b < 243)
    };
    let draw = |byte| {
        let mut out = [0; 5 * BYTES];
        let mut run = move || samples(byte, &mut out, SecretRng::ternary);
        run();
        run
    };
    same("ternary", 200, (0..30).filter(accepts_all).take(5).map(draw));
}

/// Nothing is allocated on the way: the state of the heap would change the path.
fn all_operations(ring: &LimbRing, a: &mut [u64], b: &[u64], sum: &mut [u64]) {
    let mut run = || {
        ring.mac(sum, a, b)?;
        ring.forward(a)?;
        ring.mul_assign(a, b)?;
        ring.inverse(a)?;
        ring.add_assign(a, sum)?;
        ring.sub_assign(a, b)?;
        ring.neg_assign(a)?;
        ring.mul_scalar_assign(a, 7)
    };
    run().expect("limbs of this ring");
    std::hint::black_box(a);
}

#[test]
fn arithmetic_takes_one_path() {
    const LOG_N: u32 = 5;
    // Both kernels that the processor may have: words up to 50 bits and up to 62.
    for bits in [40, 60] {
        let q = primes::of_bits(bits, LOG_N, 1, &[]).expect("a prime")[0];
        for isa in [Isa::Scalar, Isa::Avx2, Isa::Avx512, Isa::Ifma] {
            let Ok(ring) = LimbRing::with_isa(LOG_N, q, isa) else { continue };
            // Zeros, the greatest residues, small secrets, and random ones.
            let values = |kind: u8| -> Vec<u64> {
                let mut random = ChaCha20Rng::from_seed([kind; 32]);
                let word = |random: &mut ChaCha20Rng| match kind {
                    0 => 0,
                    1 => q.value() - 1,
                    2 => [0, 1, q.value() - 1][(random.next_u64() % 3) as usize],
                    _ => random.next_u64() % q.value(),
                };
                (0..ring.n()).map(|_| word(&mut random)).collect()
            };
            let draw = |kind| {
                let (mut a, b, mut sum) = (values(kind), values(4), values(5));
                all_operations(&ring, &mut a.clone(), &b, &mut sum.clone());
                let ring = &ring;
                move || all_operations(ring, &mut a, &b, &mut sum)
            };
            same(&format!("{bits} bits on {isa:?}"), 500, (0..3).map(draw));
        }
    }
}
