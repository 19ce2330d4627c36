//! KLSS key switching against hybrid key switching with the same key: equal bits, for every shape; its keys are cut by
//! big integers here.

use crate::support::{Limbs, Toy, centred, cut, primes, product, run, times};
use num_bigint::BigInt;
use ringmill_ckks::{KeyLayout, KlssLayout, LayoutError};
use ringmill_program::limb::{Domain, InputClass, LimbProgram, Opcode, Operand};
use ringmill_program::lower::{LowerError, Lowering, Method, Operation, OperationWriter, Rotation};

const LOG_N: u32 = 8;

/// A chain with its key switch: bits of q and of p, limbs, special primes, α, α̃, bits of T.
#[derive(Debug, Clone, Copy)]
struct Shape {
    q: u32,
    p: u32,
    limbs: usize,
    special: usize,
    alpha: usize,
    block: usize,
    t: u32,
}

const SHAPES: [Shape; 8] = [
    Shape { q: 36, p: 36, limbs: 6, special: 2, alpha: 2, block: 2, t: 36 },
    Shape { q: 36, p: 36, limbs: 6, special: 3, alpha: 3, block: 3, t: 51 },
    Shape { q: 36, p: 37, limbs: 8, special: 2, alpha: 2, block: 4, t: 60 },
    Shape { q: 36, p: 36, limbs: 4, special: 4, alpha: 4, block: 3, t: 50 },
    Shape { q: 36, p: 36, limbs: 7, special: 3, alpha: 2, block: 5, t: 60 },
    Shape { q: 49, p: 50, limbs: 5, special: 1, alpha: 1, block: 1, t: 55 },
    Shape { q: 49, p: 50, limbs: 5, special: 1, alpha: 1, block: 6, t: 51 },
    Shape { q: 55, p: 56, limbs: 5, special: 2, alpha: 2, block: 3, t: 60 },
];

impl Shape {
    fn toy(self, seed: u64) -> Toy {
        // The greatest primes are special; equal sizes share one list.
        let p = primes(LOG_N, self.p, 0, self.special);
        let q = primes(LOG_N, self.q, if self.q == self.p { self.special } else { 0 }, self.limbs);
        Toy::new(LOG_N, q, p, self.alpha, seed)
    }

    fn layout(self, toy: &Toy) -> KlssLayout {
        let digits = KeyLayout { limbs: self.limbs, special: self.special, alpha: self.alpha };
        KlssLayout::new(LOG_N, (&toy.q, &toy.p), digits, self.block, self.t).unwrap()
    }
}

fn input(low: &mut Lowering, name: &str, limbs: usize) -> Vec<Operand> {
    let moduli = low.basis.q()[..limbs].to_vec();
    low.builder.input(name, InputClass::Data, Domain::Eval, &moduli)
}

fn names(digits: usize) -> Vec<String> {
    (0..digits).flat_map(|j| [format!("key_b{j}"), format!("key_a{j}")]).collect()
}

/// A rotation, once alone and once hoisted, and a key switch with both addends.
fn program(toy: &Toy, method: &Method, limbs: usize, rescale: bool) -> LimbProgram {
    let writer = OperationWriter::new("switch", LOG_N, (&toy.q, &toy.p), toy.alpha).unwrap();
    let mut writer = writer.by(method.clone()).at(limbs).unwrap();
    let [c0, c1, d] = ["c0", "c1", "d"].map(|name| writer.input(name));
    let key = writer.key("key").unwrap();
    let low = &mut writer.low;
    let switched = low.key_switch(&d, [Some(&c0), Some(&c1)], &key, rescale).unwrap();
    let rotation = Rotation { galois: 5, key: &key, rescale };
    let rotated = low.rotate([&c0, &d], rotation).unwrap();
    let hoisted = low.hoist(&d, &key).unwrap();
    let again = low.rotate_hoisted(&hoisted, &c0, rotation).unwrap();
    writer.output("y", &[switched, rotated, again].concat());
    writer.finish().unwrap()
}

fn results(program: &LimbProgram, data: &[(&str, &Limbs)], key: &[[Limbs; 2]]) -> Vec<Limbs> {
    let names = names(key.len());
    let limbs = names.iter().map(String::as_str).zip(key.iter().flatten());
    let bound: Vec<_> = data.iter().copied().chain(limbs).collect();
    run(program, &bound)
}

#[test]
fn one_key_gives_the_bits_of_hybrid_key_switching_at_every_level() {
    for shape in SHAPES {
        let mut toy = shape.toy(5);
        let layout = shape.layout(&toy);
        let from = toy.random.small(toy.n(), 1);
        let key = toy.switch_key(&from, shape.limbs);
        for limbs in 1..=shape.limbs {
            let moduli = toy.q[..limbs].to_vec();
            let [c0, c1, d] = [0; 3].map(|_| toy.random.uniform(toy.n(), &moduli));
            let data = [("c0", &c0), ("c1", &c1), ("d", &d)];
            let digits = limbs.div_ceil(shape.alpha);
            // At the top a limb of a key stands where a polynomial of fewer limbs has it, special ones last.
            let kept = |poly: &Limbs| [&poly[..limbs], &poly[shape.limbs..]].concat();
            let plain: Vec<_> = key[..digits].iter().map(|[b, a]| [kept(b), kept(a)]).collect();
            let cut = cut(&key[..digits], &layout, &toy, (limbs, layout.t_for(limbs).len()));
            for rescale in [false, true].into_iter().take(limbs) {
                let hybrid = program(&toy, &Method::Hybrid(layout.digits()), limbs, rescale);
                let klss = program(&toy, &Method::Klss(layout.clone()), limbs, rescale);
                let what = format!("{shape:?}, {limbs} limbs, rescale {rescale}");
                let (hybrid, klss) = (results(&hybrid, &data, &plain), results(&klss, &data, &cut));
                assert!(hybrid == klss, "{what}");
                assert!(klss[2..4] == klss[4..6], "hoisted, {what}");
            }
        }
    }
}

#[test]
fn transforms_and_products_are_those_of_the_formula() {
    for shape in SHAPES {
        let toy = shape.toy(1);
        let layout = shape.layout(&toy);
        for l in 1..=shape.limbs {
            let writer = OperationWriter::new("switch", LOG_N, (&toy.q, &toy.p), toy.alpha).unwrap();
            let mut writer = writer.by(Method::Klss(layout.clone())).at(l).unwrap();
            writer.append(Operation::KeySwitch).unwrap();
            let (program, beta) = (&writer.finish().unwrap(), l.div_ceil(shape.alpha));
            let of = |op: Opcode| (0..program.len()).filter(move |&i| program.opcode(i) == op);
            let (t, blocks) = (layout.t_for(l).len(), (shape.special + l).div_ceil(shape.block));
            assert_eq!(of(Opcode::Ntt).count(), t * beta + 2 * l, "{shape:?}, {l}");
            assert_eq!(of(Opcode::Intt).count(), l + 2 * t * blocks, "{shape:?}, {l}");
            let products: usize = of(Opcode::Dot).map(|i| program.operands(i).len() / 2).sum();
            assert_eq!(products, 2 * beta * blocks * t, "{shape:?}, {l}");
            // What is not read is not asked for.
            let keys = program.inputs().iter().filter(|input| input.class == InputClass::Key);
            let limbs: usize = keys.map(|input| input.moduli.len()).sum();
            assert_eq!(limbs, 2 * beta * blocks * t, "{shape:?}, {l}");
        }
    }
}

/// The digits of a polynomial of `limbs` limbs, and the blocks of the whole key that it uses, as products of primes.
fn factors(shape: Shape, toy: &Toy, limbs: usize) -> [Vec<BigInt>; 2] {
    let digits = toy.q[..limbs].chunks(shape.alpha).map(product).collect();
    let order = [&toy.p[..], &toy.q].concat();
    let used = (shape.special + limbs).div_ceil(shape.block);
    [digits, order.chunks(shape.block).take(used).map(product).collect()]
}

#[test]
fn the_bound_on_t_is_beta_times_n_times_a_digit_times_a_block_and_the_fewest_primes_are_taken() {
    let mut shorter = 0;
    for shape in SHAPES {
        let toy = shape.toy(1);
        let layout = shape.layout(&toy);
        for limbs in 1..=shape.limbs {
            let [digits, blocks] = factors(shape, &toy, limbs);
            let (d, block) = (digits.iter().max().unwrap(), blocks.iter().max().unwrap());
            let bound = d * block * BigInt::from(digits.len() << LOG_N);
            let t = layout.t_for(limbs);
            assert!(product(t) > bound, "{shape:?}, {limbs} limbs");
            assert!(
                product(&t[..t.len() - 1]) <= bound,
                "{shape:?} takes a prime too many for {limbs} limbs"
            );
            assert_eq!(t, &layout.t()[..t.len()], "a prefix, as the key has it");
        }
        assert_eq!(layout.t_for(shape.limbs), layout.t());
        shorter += usize::from(layout.t_for(1).len() < layout.t().len());
        let t = layout.t();
        let short = t[..t.len() - 1].to_vec();
        let refused = KlssLayout::with_primes(LOG_N, (&toy.q, &toy.p), layout.digits(), shape.block, short);
        assert!(matches!(refused, Err(LayoutError::SmallT { .. } | LayoutError::Ring(_))), "{shape:?}");
    }
    assert!(shorter > SHAPES.len() / 2, "{shorter}");
}

#[test]
fn a_longer_t_holds_longer_sums_and_leaves_single_switches_as_they_are() {
    for shape in SHAPES {
        let toy = shape.toy(1);
        let layout = shape.layout(&toy);
        for margin in [1, 12, 70] {
            let (moduli, of) = ((&toy.q[..], &toy.p[..]), (layout.digits(), shape.block));
            let long = KlssLayout::with_margin(LOG_N, moduli, of, shape.t, margin).unwrap();
            assert!(long.t().starts_with(layout.t()), "{shape:?}");
            for limbs in 1..=shape.limbs {
                assert_eq!(long.t_for(limbs), layout.t_for(limbs), "{shape:?}, {limbs} limbs");
                let [digits, blocks] = factors(shape, &toy, limbs);
                let (d, block) = (digits.iter().max().unwrap(), blocks.iter().max().unwrap());
                let bound = (d * block * BigInt::from(digits.len() << LOG_N)) << margin;
                let count = long.t_grown(limbs, margin).expect("as long as it was made");
                assert!(product(&long.t()[..count]) > bound, "{shape:?}, {limbs} limbs, {margin} bits");
                // Lengths are compared in whole bits, so up to two are lost.
                let fewer = &long.t()[..count - 1];
                assert!(
                    count == long.t_for(limbs).len() || product(fewer) <= (bound << 2u8),
                    "{shape:?}, {limbs}"
                );
            }
            assert_eq!(long.t_grown(shape.limbs, 2000), None);
            assert_eq!(long.t_grown(shape.limbs + 1, 0), None);
        }
    }
}

/// Digits and blocks at the ends of their intervals, with the signs that add everything up in one coefficient.
#[test]
fn the_longest_sums_are_themselves_modulo_the_primes_taken_and_not_modulo_one_prime_less() {
    let mut wrapped = 0;
    for shape in SHAPES {
        let toy = shape.toy(1);
        let layout = shape.layout(&toy);
        for limbs in [1, shape.limbs.div_ceil(2), shape.limbs] {
            let [digits, blocks] = factors(shape, &toy, limbs);
            let half = |x: &BigInt| x / 2u8;
            let mut block = vec![-half(blocks.iter().max().unwrap()); toy.n()];
            block[0] = -block[0].clone();
            let longest = digits.iter().map(|d| times(&vec![half(d); toy.n()], &block)[0].clone());
            let longest: BigInt = longest.sum();
            let t = layout.t_for(limbs);
            let [whole, short] = [product(t), product(&t[..t.len() - 1])];
            let what = format!("{shape:?}, {limbs} limbs");
            assert_eq!(centred(&longest, &whole), longest, "{what}");
            assert!(&longest * 4u8 < whole, "{what}: the factor of two that centring needs");
            // A prime is longer than that factor but where the bound is met by a hair.
            wrapped += usize::from(centred(&longest, &short) != longest);
        }
    }
    assert!(wrapped >= 2 * SHAPES.len(), "{wrapped}");
}

/// At the top such a T would do on the larger ring; it is too short for fewer limbs.
#[test]
fn a_prefix_that_is_too_short_is_refused_with_its_limbs() {
    let mut below = 0;
    for (shape, bits) in SHAPES.into_iter().flat_map(|shape| (40..=60).map(move |bits| (shape, bits))) {
        let toy = shape.toy(1);
        let digits = KeyLayout { limbs: shape.limbs, special: shape.special, alpha: shape.alpha };
        let layout = KlssLayout::new(LOG_N, (&toy.q, &toy.p), digits, shape.block, bits).unwrap();
        layout.check(LOG_N, (&toy.q, &toy.p)).unwrap();
        match layout.check(LOG_N + 3, (&toy.q, &toy.p)) {
            Ok(()) => {}
            Err(LayoutError::SmallT { limbs, needed, found }) => {
                assert!(found <= needed && needed < found + 3.0);
                below += usize::from(limbs < shape.limbs);
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(below > 0);
}

#[test]
fn layouts_of_another_chain_and_foreign_digits_are_refused() {
    let shape = SHAPES[0];
    let toy = shape.toy(1);
    let layout = shape.layout(&toy);
    // The same layout on a ring sixteen times as large: its T would be four bits short.
    let q = primes(LOG_N + 4, 36, 2, 6);
    let p = primes(LOG_N + 4, 36, 0, 2);
    let mut low = Lowering::new("t", LOG_N + 4, &q, &p, 2).unwrap();
    let tight = KlssLayout::new(LOG_N, (&toy.q, &toy.p), layout.digits(), 2, 31).unwrap();
    let refused = low.key_inputs_for(&Method::Klss(tight), &names(3), 6).unwrap_err();
    assert!(matches!(refused, LowerError::Layout(LayoutError::SmallT { .. })), "{refused}");

    let mut low = Lowering::new("t", LOG_N, &toy.q, &toy.p, 2).unwrap();
    let (c, d) = (input(&mut low, "c", 6), input(&mut low, "d", 6));
    let klss = low.key_inputs_for(&Method::Klss(layout.clone()), &names(3), 6).unwrap();
    let hybrid: Vec<String> = names(3).iter().map(|name| format!("{name}_h")).collect();
    let hybrid = low.key_inputs_for(&Method::Hybrid(layout.digits()), &hybrid, 6).unwrap();
    let hoisted = low.hoist(&d, &klss).unwrap();
    let rotation = Rotation { galois: 5, key: &hybrid, rescale: false };
    let refused = low.rotate_hoisted(&hoisted, &c, rotation).unwrap_err();
    assert!(refused.to_string().contains("raised for another method"), "{refused}");
}

#[test]
fn methods_with_primes_of_their_own_stand_in_one_program() {
    let shape = SHAPES[1];
    let toy = shape.toy(1);
    let digits = KeyLayout { limbs: shape.limbs, special: shape.special, alpha: shape.alpha };
    let mut low = Lowering::new("both", LOG_N, &toy.q, &toy.p, toy.alpha).unwrap();
    let d = input(&mut low, "d", 6);
    let mut primes = Vec::new();
    // The last two share theirs.
    for (i, (block, bits)) in [(3, 51), (3, 60), (2, 60)].into_iter().enumerate() {
        let layout = KlssLayout::new(LOG_N, (&toy.q, &toy.p), digits, block, bits).unwrap();
        primes.extend_from_slice(layout.t());
        let names: Vec<String> = names(2).iter().map(|name| format!("{name}_{i}")).collect();
        let key = low.key_inputs_for(&Method::Klss(layout), &names, 6).unwrap();
        let y = low.key_switch(&d, [None, None], &key, false).unwrap();
        low.output(format!("y{i}"), &y[0]);
    }
    primes.sort_unstable_by_key(|t| t.value());
    primes.dedup();
    assert_eq!(low.finish().unwrap().moduli().len(), 9 + primes.len());
}
