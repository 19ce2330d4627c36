//! Every backend against plain 128-bit arithmetic, one suite, instantiated by macro.

use super::*;
use crate::RingError;

/// Operands at the edges of the intervals that the operations promise to handle, and a few in between.
fn edge_words() -> Vec<u64> {
    let mut words: Vec<u64> = [0, 20, 31, 32, 33, 50, 51, 52, 53, 62, 63]
        .into_iter()
        .flat_map(|s| [(1u64 << s) - 1, 1 << s, (1 << s) + 1])
        .chain([u64::MAX, u64::MAX - 1])
        .collect();
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..29 {
        x = x.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(23) ^ (x >> 7);
        words.push(x);
    }
    words
}

fn lanes_of<L: Lanes>(l: L, v: L::U) -> Vec<u64> {
    let mut out = vec![0; L::WIDTH];
    l.store(&mut out, v);
    out
}

/// Vectors whose lanes differ, so that a lane in the wrong place shows.
fn rotated(words: &[u64], by: usize, width: usize) -> Vec<u64> {
    (0..width).map(|i| words[(by + 7 * i) % words.len()]).collect()
}

struct Words;
impl Kernel for Words {
    type Output = ();
    fn run<L: Lanes>(self, l: L) {
        let words = edge_words();
        for i in 0..words.len() {
            for j in 0..words.len() {
                let (a, b) = (rotated(&words, i, L::WIDTH), rotated(&words, j, L::WIDTH));
                let (va, vb) = (l.load(&a), l.load(&b));
                let check = |name: &str, got: L::U, want: &dyn Fn(u64, u64) -> u64| {
                    let want: Vec<u64> = a.iter().zip(&b).map(|(&a, &b)| want(a, b)).collect();
                    assert_eq!(lanes_of(l, got), want, "{l:?} {name} of {a:x?} and {b:x?}");
                };
                check("add", l.add(va, vb), &u64::wrapping_add);
                check("sub", l.sub(va, vb), &u64::wrapping_sub);
                check("and", l.and(va, vb), &|a, b| a & b);
                check("or", l.or(va, vb), &|a, b| a | b);
                check("xor", l.xor(va, vb), &|a, b| a ^ b);
                check("mul32", l.mul32(va, vb), &|a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff));
                check("mul_lo", l.mul_lo(va, vb), &u64::wrapping_mul);
                let difference = |a: u64, b: u64| a.wrapping_mul(b).wrapping_sub(b.wrapping_mul(b ^ a));
                check("mul_sub_lo", l.mul_sub_lo(va, vb, vb, l.xor(vb, va)), &difference);
                for (lane, high) in lanes_of(l, l.mul_hi(va, vb)).into_iter().enumerate() {
                    let exact = ((a[lane] as u128 * b[lane] as u128) >> 64) as u64;
                    assert!(
                        exact >= high && exact - high <= 2,
                        "{l:?} mul_hi {:x} {:x}: {high:x}",
                        a[lane],
                        b[lane]
                    );
                }
                check("shl", l.shl::<13>(va), &|a, _| a << 13);
                check("shr", l.shr::<52>(va), &|a, _| a >> 52);
                let counts: Vec<u64> = b.iter().map(|b| b % 64).collect();
                check("shr_each", l.shr_each(va, l.load(&counts)), &|a, b| a >> (b % 64));
                check("shr_by", l.shr_by(va, (j % 64) as u32), &|a, _| a >> (j % 64));
                let lane = |i: usize| a[(b[i] % L::WIDTH as u64) as usize];
                let want: Vec<u64> = (0..L::WIDTH).map(lane).collect();
                let from: Vec<u64> = b.iter().map(|b| b % 8).collect();
                assert_eq!(
                    lanes_of(l, l.permute(va, l.load(&from))),
                    want,
                    "{l:?} permute {a:x?} by {from:?}"
                );
                let small = |v: &[u64]| v.iter().map(|x| x >> 1).collect::<Vec<_>>();
                let (sa, sb) = (small(&a), small(&b));
                let (va, vb) = (l.load(&sa), l.load(&sb));
                check("csub", l.csub(va, vb), &|a, b| {
                    let (a, b) = (a >> 1, b >> 1);
                    if a >= b { a - b } else { a }
                });
                check("select_lt", l.select_lt(va, vb, l.splat(3), vb), &|a, b| {
                    if a >> 1 < b >> 1 { 3 } else { b >> 1 }
                });
            }
        }
        let n = L::WIDTH;
        let mut m = [l.splat(0); 8];
        for (i, row) in m.iter_mut().enumerate().take(n) {
            *row = l.load(&(0..n).map(|j| (10 * i + j) as u64).collect::<Vec<_>>());
        }
        l.transpose(&mut m);
        for (i, &row) in m.iter().enumerate().take(n) {
            assert_eq!(
                lanes_of(l, row),
                (0..n).map(|j| (10 * j + i) as u64).collect::<Vec<_>>(),
                "{l:?} transpose"
            );
        }
    }
}

struct Floats;
impl Kernel for Floats {
    type Output = ();
    fn run<L: Lanes>(self, l: L) {
        let m = (1u64 << 52) as f64;
        let list = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            m - 0.5,
            1.5 * m,
            -m + 1.0,
            1.0 / m,
            0.1,
            -1.0 / 3.0,
            1.125e15 + 0.125,
            7e14,
        ];
        let bits: Vec<u64> = list.iter().map(|x: &f64| x.to_bits()).collect();
        for i in 0..list.len() {
            for j in 0..list.len() {
                for k in 0..list.len() {
                    let [a, b, c] = [i, j, k].map(|i| rotated(&bits, i, L::WIDTH));
                    let [va, vb, vc] = [&a, &b, &c].map(|x| l.as_f(l.load(x)));
                    let check = |name: &str, got: L::F, want: &dyn Fn(f64, f64, f64) -> f64| {
                        let f = f64::from_bits;
                        let want: Vec<u64> =
                            (0..L::WIDTH).map(|i| want(f(a[i]), f(b[i]), f(c[i])).to_bits()).collect();
                        assert_eq!(lanes_of(l, l.as_u(got)), want, "{l:?} {name} of {a:x?}, {b:x?}, {c:x?}");
                    };
                    check("fadd", l.fadd(va, vb), &|a, b, _| a + b);
                    check("fsub", l.fsub(va, vb), &|a, b, _| a - b);
                    check("fmul", l.fmul(va, vb), &|a, b, _| a * b);
                    check("fma", l.fma(va, vb, vc), &f64::mul_add);
                    check("fms", l.fms(va, vb, vc), &|a, b, c| a.mul_add(b, -c));
                    check("fnma", l.fnma(va, vb, vc), &|a, b, c| (-a).mul_add(b, c));
                    check("select_sign", l.select_sign(va, vb, vc), &|a, b, c| {
                        if a.is_sign_negative() { b } else { c }
                    });
                }
            }
        }
        assert_eq!(lanes_of(l, l.as_u(l.fsplat(0.1))), vec![0.1f64.to_bits(); L::WIDTH]);
    }
}

/// True if the 52-bit products were there to be checked.
struct Products52;
impl Kernel for Products52 {
    type Output = bool;
    fn run<L: Lanes>(self, _: L) -> bool {
        false
    }
    fn run52<L: Lanes + Madd52Lanes>(self, l: L) -> bool {
        let words = edge_words();
        let mask = (1u128 << 52) - 1;
        for i in 0..words.len() {
            for j in 0..words.len() {
                let [a, b, c] = [i, j, i + j].map(|i| rotated(&words, i, L::WIDTH));
                let [va, vb, vc] = [&a, &b, &c].map(|x| l.load(x));
                let product = |i: usize| (a[i] as u128 & mask) * (b[i] as u128 & mask);
                let lo: Vec<u64> =
                    (0..L::WIDTH).map(|i| c[i].wrapping_add((product(i) & mask) as u64)).collect();
                let hi: Vec<u64> =
                    (0..L::WIDTH).map(|i| c[i].wrapping_add((product(i) >> 52) as u64)).collect();
                assert_eq!(lanes_of(l, l.madd52_lo(vc, va, vb)), lo, "{l:?} lo of {a:x?}, {b:x?}, {c:x?}");
                assert_eq!(lanes_of(l, l.madd52_hi(vc, va, vb)), hi, "{l:?} hi of {a:x?}, {b:x?}, {c:x?}");
                let both = |i: usize| (u128::from(a[i]) << 64 | u128::from(b[i])) << 12 >> 64;
                let shifted: Vec<u64> = (0..L::WIDTH).map(|i| both(i) as u64).collect();
                assert_eq!(lanes_of(l, l.shl_in::<12>(va, vb)), shifted, "{l:?} shl_in of {a:x?}, {b:x?}");
                let table: Vec<u64> = a.iter().chain(&b).copied().collect();
                let found: Vec<u64> = c.iter().map(|&c| table[c as usize % table.len()]).collect();
                assert_eq!(lanes_of(l, l.lookup([va, vb], vc)), found, "{l:?} entries {c:x?} of {table:x?}");
            }
        }
        true
    }
}

macro_rules! suite {
    ($($name:ident: $isa:expr, $has52:expr;)+) => { $(
        #[test]
        fn $name() {
            let Ok(backend) = Backend::new($isa) else {
                eprintln!("skipped: this CPU lacks {}", $isa);
                return;
            };
            assert_eq!(backend.isa(), $isa);
            backend.run(Words);
            backend.run(Floats);
            assert_eq!(backend.run(Products52), $has52);
        }
    )+ };
}
suite! {
    scalar: Isa::Scalar, false;
    emulated4: Isa::Emulated4, false;
    emulated8: Isa::Emulated8, true;
    neon: Isa::Neon, false;
    avx2: Isa::Avx2, false;
    avx512: Isa::Avx512, false;
    ifma: Isa::Ifma, true;
}

#[test]
fn the_override_is_obeyed_or_refused() {
    let choose = |name: &str| Isa::choose(Some(name.as_ref()), Isa::is_available);
    for isa in Isa::ALL {
        assert_eq!(isa.name().parse(), Ok(isa));
        match choose(isa.name()) {
            Ok(chosen) => assert_eq!(chosen, isa),
            Err(e) => {
                assert!(!isa.is_available());
                assert!(matches!(e, RingError::IsaUnavailable { isa: named, .. } if named == isa), "{e}");
            }
        }
    }
    let unknown = choose("sse9").unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "RINGMILL_ISA names no instruction set: sse9; take one of scalar, emulated4, emulated8, neon, avx2, avx512, ifma"
    );
    let best = Isa::choose(None, Isa::is_available).unwrap();
    assert!(best.is_available() && !best.is_emulated());
    assert_eq!(choose(""), Ok(best), "an empty variable is no override");
}

/// On every machine, as those that tests run on may execute everything.
#[test]
fn a_cpu_that_lacks_instructions_reports_what_it_has() {
    fn with_avx2(isa: Isa) -> bool {
        !matches!(isa, Isa::Neon | Isa::Avx512 | Isa::Ifma)
    }
    fn with_none(isa: Isa) -> bool {
        with_avx2(isa) && isa != Isa::Avx2
    }
    assert_eq!(Isa::choose(None, with_avx2), Ok(Isa::Avx2));
    assert_eq!(Isa::choose(None, with_none), Ok(Isa::Scalar));
    assert_eq!(Isa::choose(Some("emulated8".as_ref()), with_none), Ok(Isa::Emulated8));
    assert_eq!(
        Isa::choose(Some("ifma".as_ref()), with_avx2).unwrap_err().to_string(),
        "this CPU does not execute ifma; it executes scalar, emulated4, emulated8, avx2 (RINGMILL_ISA overrides the choice)"
    );
}

#[cfg(unix)]
#[test]
fn an_override_that_is_no_text_is_refused() {
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"avx2\xff");
    let unknown = Isa::choose(Some(name), Isa::is_available).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "RINGMILL_ISA names no instruction set: avx2\u{fffd}; take one of scalar, emulated4, emulated8, neon, avx2, avx512, ifma"
    );
}
