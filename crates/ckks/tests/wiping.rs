//! Decryption and decoding leave nothing of the message in memory that is given back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use num_complex::Complex64;
use ringmill_ckks::{
    Encoder, KeyGenerator, Level, Meta, Noise, Params, ParamsLiteral, Plaintext, Randomness, Scale,
};
use ringmill_ring::sample::SecretSeed;
use ringmill_ring::{Domain, LimbRing, Poly, Pool};

/// The system's allocator, which looks for words of the message in every block that is given back.
struct Watching;

#[global_allocator]
static ALLOCATOR: Watching = Watching;

static ARMED: AtomicBool = AtomicBool::new(false);
static FOUND: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static WORDS: OnceLock<HashSet<u64>> = OnceLock::new();

/// The mantissa of a number in binary64. The decoder holds numbers at other powers of two than those that it gives.
const MANTISSA: u64 = (1 << 52) - 1;

/// Counts the words of the block that are words of the message.
///
/// # Safety
/// The block is allocated with this layout.
unsafe fn look(block: *mut u8, layout: Layout) {
    if !ARMED.load(Ordering::Relaxed) || layout.align() < align_of::<u64>() {
        return;
    }
    let Some(words) = WORDS.get() else { return };
    BLOCKS.fetch_add(1, Ordering::Relaxed);
    for i in 0..layout.size() / size_of::<u64>() {
        // SAFETY: within the block, aligned; words that were never written are read as they are, by a volatile read.
        let word = unsafe { block.cast::<u64>().add(i).read_volatile() };
        if words.contains(&word) || words.contains(&(word & MANTISSA)) {
            FOUND.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises. Zeros, so that what is found was written there.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe {
            look(block, layout);
            System.dealloc(block, layout);
        }
    }
}

/// How many words of the message stay in the blocks that `f` gives back.
fn left_by(f: impl FnOnce()) -> usize {
    FOUND.store(0, Ordering::Relaxed);
    ARMED.store(true, Ordering::Relaxed);
    f();
    ARMED.store(false, Ordering::Relaxed);
    FOUND.load(Ordering::Relaxed)
}

#[test]
fn a_decrypted_message_stays_in_no_memory() {
    const SLOTS: usize = 1024;
    let literal = ParamsLiteral::from_bits(12, &[50, 40, 40], &[51], 3).insecure();
    let params = Params::new(&literal).expect("a valid chain");
    let mut randomness = Randomness::from_seed(SecretSeed::from_bytes([7; 32]));
    let mut generator = KeyGenerator::new(&params).expect("a source of randomness");
    let secret = generator.secret_key().expect("a key");
    let rings: Vec<LimbRing> =
        params.q_moduli().iter().map(|&q| LimbRing::new(12, q).expect("q = 1 mod 2N")).collect();
    let pool = Pool::new(1 << 24);
    let values: Vec<Complex64> =
        (0..SLOTS).map(|i| Complex64::new((i as f64).sin(), (i as f64 * 0.7).cos())).collect();
    let cipher = {
        let encoder = Encoder::new(12).expect("a supported degree");
        let scale = Scale::pow2(40);
        let mut poly = Poly::zeros_in(&pool, params.n(), 3, Domain::Evaluation);
        encoder.encode_into(values.as_slice(), SLOTS, &scale, &rings, &mut poly).expect("valid input");
        let noise = Noise::encoded(1.0, &scale, 3);
        let meta = Meta { level: Level::new(2), scale, slots: SLOTS, noise };
        let plain = Plaintext::from_parts(&params, poly, meta).expect("three limbs");
        secret.encrypt(&plain, &mut randomness).expect("encryption")
    };

    // The words of the message: its residues in both domains, and the numbers that are decoded. Those that could be met by
    // chance, small ones, are left out.
    let message = secret.decrypt(&cipher).expect("decryption");
    let encoder = Encoder::new(12).expect("a supported degree");
    let decoded = encoder.decode(message.poly(), SLOTS, &Scale::pow2(40), &rings).expect("decoding");
    let mut words: HashSet<u64> = message.poly().words().iter().copied().collect();
    for (i, ring) in rings.iter().enumerate() {
        let mut limb = message.poly().limb(i).to_vec();
        ring.inverse(&mut limb).expect("a limb of this ring");
        words.extend(limb);
    }
    words.extend(decoded.iter().flat_map(|z| [z.re, z.im]).map(|x| x.to_bits() & MANTISSA));
    words.retain(|&w| w >> 32 != 0);
    assert!(words.len() > 4 * params.n(), "{}", words.len());
    WORDS.set(words).expect("set once");
    let copy = message.poly().words().to_vec();
    assert!(left_by(|| drop(copy)) > 2 * params.n(), "a copy that is not wiped is found");

    let before = BLOCKS.load(Ordering::Relaxed);
    let left = left_by(|| {
        drop(message);
        let encoder = Encoder::new(12).expect("a supported degree").with_pool(pool.clone());
        let mut out = vec![Complex64::ZERO; SLOTS];
        for _ in 0..2 {
            let message = secret.decrypt(&cipher).expect("decryption");
            encoder.decode_into(message.poly(), &Scale::pow2(40), &rings, &mut out).expect("decoding");
        }
        assert_eq!(out, decoded);
        // The result is the caller's, who wipes it.
        out.fill(Complex64::ZERO);
        drop((encoder, out));
        pool.clear();
    });
    assert!(BLOCKS.load(Ordering::Relaxed) > before + 4, "blocks were looked at");
    assert_eq!(left, 0, "words of the message stay in memory");
}
