//! Whole HE programs, lowered and run on the reference machine, against the same operations on the integers that the
//! ciphertexts decrypt to.

use crate::support;
use std::collections::HashMap;

use crate::support::{
    Integers, Limbs, Toy, automorphism, cut, divide_rounded, execute, phase, primes, product, run, times, zip,
};
use num_bigint::BigInt;
use proptest::prelude::*;
use ringmill_machine::{Cpu, Reference};
use ringmill_program::he::{self, Constant, Op, Program, Type, Value};
use ringmill_program::limb::random::inputs;
use ringmill_program::limb::{InputClass, LimbProgram, Opcode};
use ringmill_program::lower::{InputSource, KeyId, KeyLayout, KlssLayout, Lowered, Method, lower_compact};
use ringmill_program::schedule::{Memory, Statistics, schedule};

const LOG_N: u32 = 6;
const SLOTS: usize = 16;

/// What each value decrypts to if no operation adds an error: exact, but for the rounding of a rescale.
fn interpret(he: &Program, inputs: &HashMap<Value, Integers>) -> HashMap<Value, Integers> {
    let chain = he.chain().unwrap();
    let mut v: HashMap<Value, Integers> = HashMap::new();
    let constant = |c: f64, scale: &he::Scale| BigInt::from((c * scale.to_f64()).round() as i64);
    for (value, instr) in he.values() {
        let result = match &instr.op {
            Op::Input(_) | Op::Plain(_) | Op::Const(_) => inputs[&value].clone(),
            Op::Add(a, b) | Op::AddPlain(a, b) => zip(&v[a], &v[b], |a, b| a + b),
            Op::Sub(a, b) | Op::SubPlain(a, b) => zip(&v[a], &v[b], |a, b| a - b),
            Op::Mul(a, b) | Op::MulPlain(a, b) => times(&v[a], &v[b]),
            Op::Square(a) => times(&v[a], &v[a]),
            Op::Neg(a) => v[a].iter().map(|x| -x).collect(),
            Op::Rotate { a, k, .. } => automorphism(&v[a], chain.galois(*k as usize)),
            Op::Conj { a, .. } => automorphism(&v[a], chain.galois_conjugate()),
            Op::AddScalar(a, c) => {
                let Type::Ct(ty) = &instr.ty else { panic!("{instr:?}") };
                let mut x = v[a].clone();
                x[0] += constant(*c, &ty.scale);
                x
            }
            Op::MulScalar { a, c, scale } => v[a].iter().map(|x| x * constant(*c, scale)).collect(),
            Op::Rescale(a) => {
                let Type::Ct(ty) = &he.instr(*a).ty else { panic!("{instr:?}") };
                let primes = &chain.q_at(ty.level)[chain.limbs(ty.level.down().unwrap())..];
                let q: BigInt = primes.iter().map(|&q| BigInt::from(q)).product();
                v[a].iter().map(|x| divide_rounded(x, &q)).collect()
            }
            Op::Relin(a) | Op::Drop(a, _) => v[a].clone(),
            Op::Sum { .. } | Op::Bootstrap { .. } | Op::Lookup { .. } => panic!("not managed"),
            Op::Raise { .. } => panic!("see raise.rs"),
        };
        v.insert(value, result);
    }
    v
}

fn check(body: &str, alpha: usize) {
    check_compact(body, alpha, u64::MAX);
}

/// Encrypts random inputs, runs the lowered program and compares every output with the integers. Constants come as one
/// limb if all of them take more than `above` bytes. Gives the limb program.
fn check_compact(body: &str, alpha: usize, above: u64) -> LimbProgram {
    check_against(body, alpha, above, |_, exact, out| size(&exact[&out]))
}

/// The same, the error of an output held against another size than its own: one made of all exact values.
fn check_against(
    body: &str,
    alpha: usize,
    above: u64,
    size: impl Fn(&Program, &HashMap<Value, Integers>, Value) -> f64,
) -> LimbProgram {
    check_by(body, (alpha, None), &[1; 4], above, size).0
}

/// KLSS instead: primes a block, and bits of T beyond what a key switch takes.
#[derive(Debug, Clone, Copy)]
struct Klss {
    block: usize,
    margin: u32,
}

/// The same by some method; the limbs of the outputs too, which are of the same ciphertexts and keys for every method.
fn check_by(
    body: &str,
    (alpha, klss): (usize, Option<Klss>),
    levels: &[usize],
    above: u64,
    size: impl Fn(&Program, &HashMap<Value, Integers>, Value) -> f64,
) -> (LimbProgram, Vec<Limbs>) {
    // A level of one prime has 40 bits, one of two 50.
    let (mut wide, mut narrow) = (primes(LOG_N, 40, 0, 4).into_iter(), primes(LOG_N, 25, 0, 6).into_iter());
    let mut q = primes(LOG_N, 50, 0, levels[0]);
    for &count in &levels[1..] {
        let own: Vec<_> =
            if count == 1 { wide.by_ref().take(1).collect() } else { narrow.by_ref().take(count).collect() };
        q.extend(own);
    }
    let p = primes(LOG_N, 51, 0, alpha);
    let mut toy = Toy::new(LOG_N, q, p, alpha, 11);
    let list =
        |m: &[ringmill_ring::Modulus]| m.iter().map(|m| m.value().to_string()).collect::<Vec<_>>().join(", ");
    let chain = format!(
        "chain log_n {LOG_N} scale 2^30 q [{}] p [{}] alpha {alpha} levels {levels:?}",
        list(&toy.q),
        list(&toy.p)
    );
    let mut text = format!("he @t managed slots {SLOTS}\n{chain}\n{body}end\n");
    for (i, q) in toy.q.iter().enumerate() {
        text = text.replace(&format!("Q{i}"), &q.value().to_string());
    }
    let he = he::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let base = he.chain().unwrap().base_layout();
    let method = klss.map_or(Method::Hybrid(base), |Klss { block, margin }| {
        Method::Klss(KlssLayout::with_margin(LOG_N, (&toy.q, &toy.p), (base, block), 49, margin).unwrap())
    });
    let lowered = lower_compact(&he, &|_| method.clone(), above).unwrap();

    let (mut integers, mut ciphertexts) = (HashMap::new(), HashMap::new());
    for (value, instr) in
        he.values().filter(|(_, i)| matches!(i.op, Op::Input(_) | Op::Plain(_) | Op::Const(_)))
    {
        let vector = matches!(instr.op, Op::Const(Constant::List(_)));
        // Vectors are no longer than their slots and scales allow: 32 coefficients of 2^28 for slots of one and more.
        let mut m = toy.random.small(toy.n(), if vector { 1 << 27 } else { 1 << 36 });
        if let Op::Const(Constant::List(numbers)) = &instr.op {
            // A polynomial in X^(N/2n) has slots that repeat after n.
            let gap = (1 << LOG_N) / (2 * numbers.period());
            m.iter_mut().enumerate().filter(|(k, _)| k % gap != 0).for_each(|(_, x)| *x = BigInt::ZERO);
        }
        if let Type::Ct(ty) = &instr.ty {
            let c = toy.encrypt(&m, he.chain().unwrap().limbs(ty.level));
            ciphertexts.insert(value, c);
        }
        integers.insert(value, m);
    }
    let limbs = bind(&mut toy, &he, &lowered, &integers, &ciphertexts);
    let names = lowered.program.inputs().iter().map(|g| g.name.as_str());
    let outputs = run(&lowered.program, &names.zip(&limbs).collect::<Vec<_>>());

    let exact = interpret(&he, &integers);
    for (i, out) in he.outputs().iter().enumerate() {
        let parts: Vec<&Limbs> = (0..2u8)
            .map(|part| lowered.outputs.iter().position(|o| o.output == i && o.part == part).unwrap())
            .map(|group| &outputs[group])
            .collect();
        let moduli = &toy.q[..parts[0].len()];
        let found = phase(&[parts[0], parts[1]], &toy.s, moduli);
        let want = &exact[&out.value];
        assert!(support::below(want, &(product(moduli) / 4)), "{}: the test itself overflows", out.name);
        let (max, _) = support::deviation(&found, want);
        let size = size(&he, &exact, out.value);
        // Key switches and roundings err by a few units each; a product after a rescale (to about 2^24) multiplies them
        // by the other factor, which keeps the relative error below 10^−6.
        assert!(
            max < f64::max(4000.0, size / 1e6) && max * 1000.0 < size,
            "{}, alpha {alpha}: error {max} of {size}\n{text}",
            out.name
        );
    }
    (lowered.program, outputs)
}

/// The largest coefficient.
fn size(x: &Integers) -> f64 {
    support::deviation(x, &vec![BigInt::ZERO; x.len()]).0
}

/// The largest coefficient of all ciphertexts, each at the scale of an output: what a sum is made of may be larger than it is.
fn largest(he: &Program, exact: &HashMap<Value, Integers>, out: Value) -> f64 {
    let log2_scale = |v: Value| match &he.instr(v).ty {
        Type::Ct(ty) => Some(ty.scale.log2()),
        _ => None,
    };
    let at = log2_scale(out).unwrap();
    let sizes = exact.iter().filter_map(|(&v, x)| Some(size(x) * (at - log2_scale(v)?).exp2()));
    sizes.fold(0.0, f64::max)
}

/// The limbs of every input group, in the order of the program.
fn bind(
    toy: &mut Toy,
    he: &Program,
    lowered: &Lowered,
    integers: &HashMap<Value, Integers>,
    ciphertexts: &HashMap<Value, [Limbs; 2]>,
) -> Vec<Limbs> {
    let mut keys: HashMap<KeyId, Vec<[Limbs; 2]>> = HashMap::new();
    let (mut limbs, all) = (Vec::new(), toy.q.len());
    for &source in &lowered.inputs {
        limbs.push(match source {
            InputSource::Ciphertext { value, part } => ciphertexts[&value][usize::from(part)].clone(),
            InputSource::Plain { value, compact: true } => {
                let p = BigInt::from(toy.p[0].value());
                let residue = |x: &BigInt| u64::try_from(((x % &p) + &p) % &p).unwrap();
                vec![integers[&value].iter().map(residue).collect()]
            }
            InputSource::Plain { value, .. } => {
                let Type::Pt(ty) = &he.instr(value).ty else { panic!("not a plaintext") };
                support::to_limbs(&integers[&value], &toy.q[..he.chain().unwrap().limbs(ty.level)])
            }
            InputSource::Encapsulation { .. } => panic!("see raise.rs"),
            InputSource::Key { key, method, digit, part, limbs, primes } => {
                let drawn = keys.entry(key).or_insert_with(|| match key {
                    KeyId::Relin => toy.switch_key(&times(&toy.s, &toy.s), all),
                    KeyId::Galois(g) => toy.galois_key(g, all),
                });
                let (limbs, digit, part) = (limbs as usize, digit as usize, usize::from(part));
                match &lowered.methods[method as usize] {
                    Method::Hybrid(_) | Method::Of(..) => {
                        [&drawn[digit][part][..limbs], &drawn[digit][part][all..]].concat()
                    }
                    Method::Klss(layout) => {
                        cut(&drawn[digit..=digit], layout, toy, (limbs, primes as usize))[0][part].clone()
                    }
                }
            }
        });
    }
    limbs
}

#[test]
fn products_sums_and_scalars() {
    for alpha in [1, 2, 4] {
        check(
            "%0 = input \"x\" : ct[2](level 3, scale 2^30)
%1 = input \"z\" : ct[2](level 3, scale 2^30)
%2 = plain \"m\" : pt(level 3, scale 2^30)
%3 = mul %0, %1 : ct[3](level 3, scale 2^60)
%4 = mul_plain %0, %2 : ct[2](level 3, scale 2^60)
%5 = sub %4, %3 : ct[3](level 3, scale 2^60)
%6 = relin %5 : ct[2](level 3, scale 2^60)
%7 = rescale %6 : ct[2](level 2, scale 2^60*Q3^-1)
%8 = square %7 : ct[3](level 2, scale 2^120*Q3^-2)
%9 = relin %8 : ct[2](level 2, scale 2^120*Q3^-2)
%10 = add_scalar %9, -1.5 : ct[2](level 2, scale 2^120*Q3^-2)
%11 = mul_scalar %10, -3.0, scale 1 : ct[2](level 2, scale 2^120*Q3^-2)
%12 = rescale %8 : ct[3](level 1, scale 2^120*Q3^-2*Q2^-1)
%13 = relin %12 : ct[2](level 1, scale 2^120*Q3^-2*Q2^-1)
%14 = drop %0, 1 : ct[2](level 1, scale 2^30)
%15 = neg %14 : ct[2](level 1, scale 2^30)
%16 = sub_plain %0, %2 : ct[2](level 3, scale 2^30)
output \"product\", %7
output \"scalars\", %11
output \"late\", %13
output \"dropped\", %15
output \"difference\", %16
"
            .replace("*Q3^-2*Q2^-1", "*Q2^-1*Q3^-2")
            .as_str(),
            alpha,
        );
    }
}

#[test]
fn rotations_alone_hoisted_and_merged() {
    for alpha in [1, 2, 4] {
        check(
            "%0 = input \"x\" : ct[2](level 2, scale 2^30)
%1 = const 0.5 : pt(level 2, scale 2^30)
%2 = mul_plain %0, %1 : ct[2](level 2, scale 2^60)
%3 = rotate %2, 3 hoist 0 : ct[2](level 2, scale 2^60)
%4 = rescale %3 : ct[2](level 1, scale 2^60*Q2^-1)
%5 = conj %2 hoist 0 : ct[2](level 2, scale 2^60)
%6 = rotate %4, 3 : ct[2](level 1, scale 2^60*Q2^-1)
%7 = rotate %2, 1 hoist 0 : ct[2](level 2, scale 2^60)
%8 = rotate %2, 2 : ct[2](level 2, scale 2^60)
%9 = rescale %8 : ct[2](level 1, scale 2^60*Q2^-1)
%10 = conj %0 hoist 7 : ct[2](level 2, scale 2^30)
output \"both\", %6
output \"conj\", %5
output \"one\", %7
output \"nine\", %9
output \"again\", %9
output \"alone\", %10
output \"input\", %0
",
            alpha,
        );
    }
}

/// A vector whose slots repeat after `period`, with one imaginary part, negated.
fn constant(period: usize, imaginary: &str) -> String {
    let slots: Vec<_> = (0..SLOTS).map(|i| format!("({}.5, -{imaginary})", i % period)).collect();
    format!("const [{}]", slots.join(", "))
}

/// Two baby steps, three giant ones by Horner's rule, before one rescale; diagonals that repeat after 16, 4 and 1 slots.
fn linear_map() -> String {
    let ct = |level: u32, scale: &str| format!("ct[2](level {level}, scale {scale})");
    let mut text = format!("%0 = input \"x\" : {}\n", ct(3, "2^30"));
    let mut next = 1;
    let mut push = |op: String, ty: &str| {
        text += &format!("%{next} = {op} : {ty}\n");
        next += 1;
        next - 1
    };
    let fresh = ct(3, "2^30");
    let pending = ct(3, "2^60");
    let babies =
        [0, push("rotate %0, 1 hoist 0".into(), &fresh), push("rotate %0, 2 hoist 0".into(), &fresh)];
    let mut sum = None;
    for giant in 0..3 {
        let mut inner = None;
        for (b, &baby) in babies.iter().enumerate() {
            let period = [16, 4, 1][giant];
            let vector = constant(period, &format!("{}.25", b + giant));
            let factor = push(vector, "pt(level 3, scale 2^30)");
            let term = push(format!("mul_plain %{baby}, %{factor}"), &pending);
            inner = Some(match inner {
                Some(inner) => push(format!("add %{inner}, %{term}"), &pending),
                None => term,
            });
        }
        let inner = inner.unwrap();
        sum = Some(match sum {
            Some(sum) => {
                let moved = push(format!("rotate %{sum}, 4"), &pending);
                // The last one the other way round.
                let op = if giant == 2 { "sub" } else { "add" };
                push(format!("{op} %{inner}, %{moved}"), &pending)
            }
            None => inner,
        });
    }
    let last = push(format!("rescale %{}", sum.unwrap()), &ct(2, "2^60*Q3^-1"));
    text + &format!("output \"y\", %{last}\n")
}

#[test]
fn sums_of_rotations_are_divided_once() {
    for alpha in [1, 2, 4] {
        let whole = check_compact(&linear_map(), alpha, u64::MAX);
        let compact = check_compact(&linear_map(), alpha, 0);
        let inverse = |p: &LimbProgram| (0..p.len()).filter(|&i| p.opcode(i) == Opcode::Intt).count();
        // Four limbs and as many special primes as a digit has limbs. Digits of x and of two sums; baby steps divide both parts,
        // the second giant step one, the rescale both and by its own prime too.
        assert_eq!(inverse(&whole), 3 * 4 + 2 * 2 * alpha + alpha + 2 * (alpha + 1));
        // Constants of one limb are there modulo P too: baby steps stay undivided, and each giant step divides one part.
        assert_eq!(inverse(&compact), 3 * 4 + 2 * alpha + 2 * (alpha + 1));
        let sparse: Vec<u32> = compact.inputs().iter().map(|g| g.log_stride).filter(|&s| s > 0).collect();
        assert_eq!(sparse, [1, 1, 1, 3, 3, 3, 5, 5, 5]);
        let dots = |p: &LimbProgram| {
            let pairs = (0..p.len()).filter(|&i| p.opcode(i) == Opcode::Dot).map(|i| p.operands(i).len() / 2);
            pairs.filter(|&terms| terms == 3).count()
        };
        assert!(dots(&compact) >= 3 * 2 * 4, "products and sums of a giant step are one inner product");
    }
}

#[test]
fn klss_divides_a_linear_map_once_with_the_bits_of_hybrid_key_switching() {
    let mut whole = 0;
    for (alpha, block) in [(1, 1), (1, 2), (2, 2), (2, 3), (4, 3)] {
        let (q, p) =
            ([primes(LOG_N, 50, 0, 1), primes(LOG_N, 40, 0, 3)].concat(), primes(LOG_N, 51, 0, alpha));
        let digits = KeyLayout { limbs: 4, special: alpha, alpha };
        let layout = KlssLayout::new(LOG_N, (&q, &p), digits, block, 49).unwrap();
        let (blocks, t) = (layout.blocks(4), layout.t().len());
        // Constants of one limb make the integers about 40 bits longer: a scale of 2^30, slots of 15, 32 coefficients.
        for (above, margins) in [(u64::MAX, [0, 12]), (0, [0, 60])] {
            let by = |klss| {
                check_by(&linear_map(), (alpha, klss), &[1; 4], above, |_, exact, out| size(&exact[&out]))
            };
            let (_, want) = by(None);
            for margin in margins {
                let (program, found) = by(Some(Klss { block, margin }));
                let what =
                    format!("digits of {alpha}, blocks of {block}, margin {margin}, constants above {above}");
                // Digits of x and of two sums, both parts of four rotations, a limb of each part for the rescale.
                let inverse = (0..program.len()).filter(|&i| program.opcode(i) == Opcode::Intt).count();
                let alone = 3 * 4 + 4 * 2 * blocks * t + 2;
                let grown = primes_of_t(&program, blocks);
                // One part of the second giant step, and both at the end; baby steps apart.
                let once = 3 * 4 + 3 * blocks * grown + 2 + 2 * 2 * blocks * t;
                // One part of the first giant step as well, and nothing for baby steps.
                let all = 3 * 4 + 4 * blocks * grown + 2;
                println!("{what}: {inverse} inverse transforms, one by one {alone}");
                match (above, margin) {
                    (_, 0) => assert!(inverse <= alone, "{what}: {inverse}"),
                    (0, _) => {
                        // Where products with constants take more than the divisions, baby steps are divided.
                        assert!(inverse == all || inverse == once, "{what}: {inverse}, {all} or {once}");
                        whole += usize::from(inverse == all);
                    }
                    _ => assert_eq!(inverse, once, "{what}"),
                }
                // The same divisions as by hybrid key switching.
                if margin > 0 && (above > 0 || inverse == all) {
                    assert!(found == want, "{what}");
                }
            }
        }
    }
    assert!(whole > 2, "{whole}");
}

/// Primes of T that a program has.
fn primes_of_t(program: &LimbProgram, blocks: usize) -> usize {
    let keys = program.inputs().iter().filter(|group| group.class == InputClass::Key);
    keys.map(|group| group.moduli.len() / blocks).max().unwrap()
}

/// Transforms to coefficients in the lowered program, for four limbs and as many special primes as a digit has limbs.
fn inverse_transforms(body: &str, alpha: usize) -> usize {
    let program = check_compact(body, alpha, u64::MAX);
    (0..program.len()).filter(|&i| program.opcode(i) == Opcode::Intt).count()
}

#[test]
fn a_sum_of_rotations_that_is_read_by_anything_is_divided_once() {
    let ct = "ct[2](level 3, scale 2^30)";
    let shared = format!(
        "%0 = input \"x\" : {ct}
%1 = input \"z\" : {ct}
%2 = rotate %0, 1 hoist 0 : {ct}
%3 = rotate %0, 2 hoist 0 : {ct}
%4 = add %2, %1 : {ct}
%5 = sub %4, %3 : {ct}
%6 = conj %0 hoist 0 : {ct}
%7 = rotate %1, 3 : {ct}
%8 = neg %7 : {ct}
%9 = mul_scalar %8, 5.0, scale 1 : {ct}
%10 = sub %6, %9 : {ct}
%11 = sub %10, %5 : {ct}
%12 = sub %0, %11 : {ct}
output \"sum\", %12
output \"input\", %0
"
    );
    for alpha in [1, 2, 4] {
        // The digits of two inputs, one division of both parts.
        assert_eq!(inverse_transforms(&shared, alpha), 2 * 4 + 2 * alpha);
    }
}

#[test]
fn a_division_is_put_off_only_where_that_saves_some() {
    let ct = "ct[2](level 3, scale 2^30)";
    let sums = |outputs: &str| {
        format!(
            "%0 = input \"x\" : {ct}
%1 = rotate %0, 1 hoist 0 : {ct}
%2 = rotate %0, 2 hoist 0 : {ct}
%3 = rotate %0, 3 hoist 0 : {ct}
%4 = add %0, %1 : {ct}
%5 = add %1, %2 : {ct}
%6 = add %5, %3 : {ct}
{outputs}"
        )
    };
    let output = |v: u32| format!("output \"y{v}\", %{v}\n");
    for alpha in [1, 2, 4] {
        // A sum of three rotations; of two; of one; of three, one of which is read by another sum, or is an output.
        for (of, divisions) in [(&[6][..], 1), (&[5], 2), (&[4], 1), (&[4, 6], 3), (&[1, 6], 3)] {
            let outputs: String = of.iter().map(|&v| output(v)).collect();
            assert_eq!(inverse_transforms(&sums(&outputs), alpha), 4 + 2 * divisions * alpha, "{of:?}");
        }
    }
}

#[test]
fn the_rotations_of_a_sum_are_computed_prime_by_prime() {
    let ct = "ct[2](level 3, scale 2^30)";
    let mut body = format!("%0 = input \"x\" : {ct}\n");
    for k in 1..=8 {
        body += &format!("%{k} = rotate %0, {k} hoist 0 : {ct}\n");
    }
    body += &format!("%9 = add %1, %2 : {ct}\n");
    for k in 3..=8 {
        body += &format!("%{} = add %{}, %{k} : {ct}\n", k + 7, k + 6);
    }
    body += "output \"sum\", %15\n";
    for alpha in [1, 2, 4] {
        let program = check_compact(&body, alpha, u64::MAX);
        let peak = Statistics::of(&program).peak_live;
        // Raised digits and the sum, a few limbs more for the division: not what eight rotations take, 16 limbs a prime.
        let (primes, digits) = (4 + alpha, 4usize.div_ceil(alpha));
        assert!(peak as usize <= (digits + 2) * primes + 8, "{peak} limbs");
    }
}

#[test]
fn rotations_and_products_of_one_sum_are_all_there() {
    let (fresh, pending) = ("ct[2](level 3, scale 2^30)", "ct[2](level 3, scale 2^60)");
    let constant = format!("{} : pt(level 3, scale 2^30)", constant(2, "1.0"));
    // Three rotations of z that share digits, and products of x and of a rotation of it, which is read twice: an inner product
    // that stays multiplied by P where its constants come as one limb.
    let body = format!(
        "%0 = input \"x\" : {fresh}
%1 = input \"z\" : {pending}
%2 = rotate %1, 1 hoist 0 : {pending}
%3 = rotate %1, 2 hoist 0 : {pending}
%4 = rotate %1, 3 hoist 0 : {pending}
%5 = rotate %0, 5 : {fresh}
%6 = {constant}
%7 = {constant}
%8 = {constant}
%9 = mul_plain %5, %6 : {pending}
%10 = mul_plain %5, %7 : {pending}
%11 = mul_plain %0, %8 : {pending}
%12 = mul_plain %0, %6 : {pending}
%13 = add %9, %11 : {pending}
%14 = add %10, %12 : {pending}
%15 = add %2, %3 : {pending}
%16 = add %15, %4 : {pending}
%17 = add %16, %13 : {pending}
%18 = sub %14, %17 : {pending}
output \"all\", %18
"
    );
    for (alpha, above) in [1, 2, 4].into_iter().flat_map(|alpha| [(alpha, 0), (alpha, u64::MAX)]) {
        check_compact(&body, alpha, above);
    }
}

/// A random program of linear operations: rotations of few values, products with constants, rescales, and sums of what nothing has
/// read.
fn linear_program(choices: &[(u8, u8, u8, i8)]) -> String {
    // Fresh values, those that a product has made as large as their square, and these rescaled.
    let types = ["level 3, scale 2^30", "level 3, scale 2^60", "level 2, scale 2^60*Q3^-1"];
    let ct = |class: usize| format!("ct[2]({})", types[class]);
    let mut text = String::new();
    let mut push = |op: String, ty: String| {
        let v = text.lines().count();
        text += &format!("%{v} = {op} : {ty}\n");
        v
    };
    // All of each class, and those not read yet.
    let mut values = [0, 1].map(|class| vec![push(format!("input \"x{class}\""), ct(class))]).to_vec();
    values.push(vec![push(format!("rescale %{}", values[1][0]), ct(2))]);
    let mut unread = [Vec::new(), Vec::new(), Vec::new()];
    let factors = [1, 4, 16].map(|period| push(constant(period, "1.0"), format!("pt({})", types[0])));
    for &(kind, x, y, k) in choices {
        let class = [0, 1, 1, 2][k as usize % 4];
        let pick = |list: &[usize], at: u8| list[usize::from(at) % list.len().min(3)];
        let (op, class) = match kind % 13 {
            0..=3 => (format!("rotate %{0}, {1} hoist {0}", pick(&values[class], x), y % 15 + 1), class),
            4 => (format!("conj %{0} hoist {0}", pick(&values[class], x)), class),
            5..=7 => {
                let factor = factors[usize::from(y) % factors.len()];
                (format!("mul_plain %{}, %{factor}", pick(&values[0], x)), 1)
            }
            8 => (format!("neg %{}", pick(&values[class], x)), class),
            9 => (format!("mul_scalar %{}, {}.0, scale 1", pick(&values[class], x), y % 3 + 2), class),
            10 => (format!("rescale %{}", unread[1].pop().unwrap_or(pick(&values[1], x))), 2),
            sum => {
                let mut next = |at| unread[class].pop().unwrap_or(pick(&values[class], at));
                let (a, b) = (next(x), next(y));
                (format!("{} %{a}, %{b}", ["sub", "add"][usize::from(sum) % 2]), class)
            }
        };
        let v = push(op, ct(class));
        values[class].push(v);
        unread[class].insert(usize::from(x) % (unread[class].len() + 1), v);
    }
    // The sums of what is left, one of them also divided, and one of what they are sums of.
    let [sum, low] = [1, 2].map(|class| {
        let first = values[class][0];
        unread[class].iter().fold(first, |sum, v| push(format!("add %{sum}, %{v}"), ct(class)))
    });
    let rescaled = push(format!("rescale %{sum}"), ct(2));
    let outputs = [rescaled, sum, low, unread[1].first().copied().unwrap_or(sum)];
    for (i, v) in outputs.into_iter().enumerate().take(choices.len() % 4 + 1) {
        text += &format!("output \"y{i}\", %{v}\n");
    }
    text
}

proptest! {
    #[test]
    fn random_linear_programs_decrypt_by_klss_too(
        choices in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<i8>()), 1..40),
        (alpha, block) in prop::sample::select(&[(1, 1), (1, 3), (2, 2), (4, 2)][..]),
        margin in prop::sample::select(&[0, 8, 60][..]),
        above in prop::sample::select(&[0, u64::MAX][..]),
    ) {
        let by = (alpha, Some(Klss { block, margin }));
        let (program, _) = check_by(&linear_program(&choices), by, &[1; 4], above, largest);
        let limbs = inputs(&program, 1);
        let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
        let (want, cpu) = (execute(&Reference, &program, &limbs), Cpu::new().unwrap());
        prop_assert!(execute(&cpu, &program, &limbs) == want, "on the CPU machine\n{program}");
    }

    #[test]
    fn random_linear_programs_decrypt_to_what_they_say(
        choices in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<i8>()), 1..40),
        alpha in prop::sample::select(&[1, 2, 4][..]),
        above in prop::sample::select(&[0, u64::MAX][..]),
    ) {
        let program = check_against(&linear_program(&choices), alpha, above, largest);
        // The bits of the reference, which are right by now, in any order and on the CPU machine.
        let limbs = inputs(&program, 1);
        let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
        let want = execute(&Reference, &program, &limbs);
        let (cpu, least) = (Cpu::new().unwrap(), schedule(&program, Memory::Least).unwrap());
        prop_assert!(execute(&cpu, &program, &limbs) == want, "on the CPU machine\n{program}");
        prop_assert!(execute(&Reference, &least, &limbs) == want, "scheduled\n{program}");
        prop_assert!(execute(&cpu, &least, &limbs) == want, "scheduled, on the CPU machine\n{program}");
    }
}

/// Products, sums, rotations and scalars where levels have one and two primes.
fn several() -> String {
    "%0 = input \"x\" : ct[2](level 3, scale 2^40)
%1 = input \"z\" : ct[2](level 3, scale 2^40)
%2 = plain \"m\" : pt(level 3, scale 2^40)
%3 = mul %0, %1 : ct[3](level 3, scale 2^80)
%4 = mul_plain %0, %2 : ct[2](level 3, scale 2^80)
%5 = sub %4, %3 : ct[3](level 3, scale 2^80)
%6 = relin %5 : ct[2](level 3, scale 2^80)
%7 = rescale %6 : ct[2](level 2, scale 2^80*Q5^-1*Q4^-1)
%8 = mul_scalar %7, 3.0, scale 2^40 : ct[2](level 2, scale 2^120*Q5^-1*Q4^-1)
%9 = rotate %8, 2 : ct[2](level 2, scale 2^120*Q5^-1*Q4^-1)
%10 = rescale %9 : ct[2](level 1, scale 2^120*Q5^-1*Q4^-1*Q3^-1)
%11 = rotate %4, 3 hoist 0 : ct[2](level 3, scale 2^80)
%12 = conj %4 hoist 0 : ct[2](level 3, scale 2^80)
%13 = rescale %12 : ct[2](level 2, scale 2^80*Q5^-1*Q4^-1)
%14 = drop %0, 1 : ct[2](level 1, scale 2^40)
%15 = mul_scalar %14, 3.5, scale 2^40 : ct[2](level 1, scale 2^80)
%16 = rotate %15, 1 : ct[2](level 1, scale 2^80)
%17 = rescale %16 : ct[2](level 0, scale 2^80*Q2^-1*Q1^-1)
%18 = drop %0, 2 : ct[2](level 2, scale 2^40)
%19 = add_scalar %18, 0.75 : ct[2](level 2, scale 2^40)
output \"product\", %7
output \"single\", %10
output \"turned\", %11
output \"conjugate\", %13
output \"bottom\", %17
output \"dropped\", %19
"
    .into()
}

#[test]
fn a_rescale_divides_by_all_primes_of_a_level() {
    let levels = [1, 2, 1, 2];
    let own = |_: &Program, exact: &HashMap<Value, Integers>, out: Value| size(&exact[&out]);
    for alpha in [1, 2, 3, 6] {
        let (program, hybrid) = check_by(&several(), (alpha, None), &levels, u64::MAX, own);
        let text = program.to_string();
        for section in ["rescale by 2", " rescale galois "] {
            assert!(text.contains(section), "{section}: {text}");
        }
        assert_eq!(ringmill_program::limb::parse(&text).unwrap().to_string(), text);
        for block in [1, 2] {
            let klss = Some(Klss { block, margin: 0 });
            let (_, other) = check_by(&several(), (alpha, klss), &levels, u64::MAX, own);
            assert!(hybrid == other, "alpha {alpha}, blocks of {block}: other bits than by hybrid switching");
        }
    }
}

#[test]
fn linear_maps_are_divided_once_where_levels_have_two_primes() {
    let levels = [1, 2, 2, 2];
    let map = linear_map().replace("*Q3^-1", "*Q5^-1*Q6^-1").replace("2^30", "2^34").replace("2^60", "2^68");
    let own = |_: &Program, exact: &HashMap<Value, Integers>, out: Value| size(&exact[&out]);
    for alpha in [1, 3] {
        for margin in [0, 60] {
            check_by(&map, (alpha, Some(Klss { block: 2, margin })), &levels, 0, own);
        }
        check_by(&map, (alpha, None), &levels, 0, own);
        let (_, hybrid) = check_by(&map, (alpha, None), &levels, u64::MAX, own);
        let (_, klss) = check_by(&map, (alpha, Some(Klss { block: 2, margin: 12 })), &levels, u64::MAX, own);
        assert!(hybrid == klss, "alpha {alpha}: other bits than by hybrid switching");
    }
}
