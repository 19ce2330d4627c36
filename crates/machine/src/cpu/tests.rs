//! The same bits as the reference machine, on every instruction set and number of threads.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_program::limb::{Domain, InputClass, LimbBuilder, LimbProgram};
use ringmill_ring::dense::{GROUP, Packing};
use ringmill_ring::lanes::multiplications;
use ringmill_ring::{Isa, LimbRing, LimbSource, Modulus};

use super::Cpu;
use super::plan::{Action, Slot, Src};
use super::profile::{Kind, Profile};
use crate::{Executable, Machine, MachineError, Reference, Watch};

/// Primes ≡ 1 mod 2N, one of each bit length given, the nearest below the power of two.
fn moduli(log_n: u32, bits: &[u32]) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let mut found: Vec<Modulus> = Vec::new();
    for &bits in bits {
        let candidates = (1..).map(|i| (1u64 << bits) + 1 - i * step);
        let prime = candidates.filter_map(|q| Modulus::new(q).ok()).find(|m| !found.contains(m));
        found.extend(prime);
    }
    found
}

fn execute(executable: &dyn Executable, limbs: &[Vec<u64>]) -> Vec<Vec<u64>> {
    execute_from(executable, &limbs.iter().map(|limb| LimbSource::Words(limb)).collect::<Vec<_>>())
}

fn execute_from(executable: &dyn Executable, inputs: &[LimbSource<'_>]) -> Vec<Vec<u64>> {
    let program = executable.program();
    // Stale words in the outputs must not matter.
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run_from(inputs, &mut outputs).unwrap();
    out
}

/// A limb in dense blocks of `block` words, with other values between them.
fn dense_blocks(limb: &[u64], block: usize) -> Vec<u64> {
    let mut packed = Vec::new();
    for words in limb.chunks_exact(block) {
        let first = packed.len();
        packed.resize(first + Packing::Dense.len(block), 0);
        Packing::Dense.pack(words, &mut packed[first..]);
        packed.extend([9; 8]);
    }
    packed.truncate(packed.len() - 8);
    packed
}

fn pool(threads: usize) -> Arc<ThreadPool> {
    Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

/// With inputs as words, and with all or some of those that can be so dense.
fn compare(program: &LimbProgram, machines: &[Cpu], seed: u64) {
    let limbs = inputs(program, seed);
    let block = program.n().min(2048);
    let can = |limb: &[u64]| block >= GROUP && limb.iter().all(|&word| word < 1 << 52);
    let packed: Vec<Option<Vec<u64>>> =
        limbs.iter().map(|limb| can(limb).then(|| dense_blocks(limb, block))).collect();
    let packing = Packing::Dense;
    let sources = |every: usize| -> Vec<LimbSource<'_>> {
        let source = |i: usize| match &packed[i] {
            Some(words) if i.is_multiple_of(every) => {
                LimbSource::Blocks { words, block, stride: packing.len(block) + 8, packing }
            }
            _ => LimbSource::Words(&limbs[i]),
        };
        (0..limbs.len()).map(source).collect()
    };
    let want = execute(&*Reference.prepare(program).unwrap(), &limbs);
    for cpu in machines {
        let executable = cpu.prepare(program).unwrap();
        // Twice: the second run meets the memory of the first.
        for round in 0..2 {
            let got = execute(&*executable, &limbs);
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                assert!(got == want, "output {i} of {} on {cpu:?}, round {round}\n{program}", program.name());
            }
        }
        if packed.iter().any(Option::is_some) {
            for every in [1, 3] {
                let got = execute_from(&*executable, &sources(every));
                assert!(got == want, "{} on {cpu:?}, one input in {every} dense\n{program}", program.name());
            }
        }
    }
}

/// Every instruction set alone, the fastest one also with two and three threads.
fn machines() -> Vec<Cpu> {
    let mut machines: Vec<Cpu> = Isa::available().map(Cpu::with_isa).collect();
    machines.extend([2, 3].map(|threads| Cpu::new().unwrap().on_pool(pool(threads))));
    machines
}

#[test]
fn random_programs_give_the_bits_of_the_reference() {
    let machines = machines();
    for seed in 0..60 {
        let log_n = 3 + (seed % 5) as u32;
        let bits: &[u32] =
            [&[50, 50, 49, 50][..], &[55, 54, 55, 53], &[60, 30, 45, 59, 21], &[52, 40]][seed as usize % 4];
        let (moduli, instructions) = (moduli(log_n, bits), 20 + 7 * seed as usize);
        let program = RandomProgram { log_n, moduli, instructions, seed }.generate().unwrap();
        compare(&program, &machines, seed);
    }
}

/// Transforms of limbs with one coefficient in 2^`log_stride` that matters, lifted or not, used in every phase of a task.
fn sparse(log_n: u32, log_stride: u32) -> LimbProgram {
    let mut b = LimbBuilder::new("sparse", log_n);
    // Lifts down, to a little more, and far up.
    let moduli = moduli(log_n, &[50, 49, 30, 60]);
    let ids: Vec<_> = moduli.iter().enumerate().map(|(i, &m)| b.modulus(format!("q{i}"), m)).collect();
    let few = b.sparse_input("s", InputClass::Plain, Domain::Coeff, &ids, log_stride);
    let x = b.input("x", InputClass::Data, Domain::Eval, &ids);
    let (mut evals, mut coefficients) = (Vec::new(), Vec::new());
    for (i, &to) in ids.iter().enumerate() {
        let mut all: Vec<_> = (0..ids.len())
            .map(|j| {
                let own = if i == j { few[j] } else { b.lift(few[j], to) };
                b.ntt(own)
            })
            .collect();
        let reversed: Vec<_> = all.iter().rev().copied().collect();
        evals.push(b.dot(&all, &reversed));
        let product = b.mul(x[i], all[0]);
        coefficients.push(b.intt(product));
        evals.push(b.automorphism(all[1], 5));
        evals.append(&mut all);
        coefficients.push(if i == 0 { b.lift(few[1], to) } else { b.lift(few[0], to) });
    }
    for (name, domain, values) in [("y", Domain::Eval, evals), ("z", Domain::Coeff, coefficients)] {
        let moduli: Vec<_> = values.iter().filter_map(|&v| b.operand_type(v).modulus()).collect();
        let outputs = b.output(name, domain, &moduli);
        outputs.into_iter().zip(values).for_each(|(output, value)| b.store(output, value));
    }
    b.finish().unwrap()
}

#[test]
fn short_transforms_give_the_bits_of_whole_ones() {
    let machines = machines();
    for (log_n, strides) in [(4, 1..4), (8, 1..8), (12, 1..3), (12, 8..12)] {
        for log_stride in strides {
            let program = sparse(log_n, log_stride);
            assert_eq!(ringmill_program::limb::parse(&program.to_string()).unwrap(), program);
            compare(&program, &machines, u64::from(log_stride));
        }
    }
}

/// Differences with transforms, in all the places where a transform may or may not end with one.
fn differences(log_n: u32) -> LimbProgram {
    let mut b = LimbBuilder::new("differences", log_n);
    // Lifts to half a prime and less.
    let moduli = moduli(log_n, &[50, 49, 48, 55]);
    let ids: Vec<_> = moduli.iter().enumerate().map(|(i, &m)| b.modulus(format!("q{i}"), m)).collect();
    let c = b.input("c", InputClass::Data, Domain::Coeff, &ids);
    let [x, y] = ["x", "y"].map(|name| b.input(name, InputClass::Data, Domain::Eval, &ids));
    let (mut evals, mut coefficients) = (Vec::new(), Vec::new());
    for (i, &to) in ids.iter().enumerate() {
        let transform = |b: &mut LimbBuilder, j: usize| {
            let own = if i == j % 4 { c[i] } else { b.lift(c[j % 4], to) };
            b.ntt(own)
        };
        // Alone, with a sum, of a product, permuted, transformed back.
        let t = transform(&mut b, 0);
        evals.push(b.sub_mul_const(x[i], t, 12_345));
        let (t, product) = (transform(&mut b, 1), b.mul(x[i], y[i]));
        let difference = b.sub_mul_const(product, t, 7);
        evals.push(b.add(y[i], difference));
        let t = transform(&mut b, 2);
        let difference = b.sub_mul_const(y[i], t, 1);
        let sum = b.add(difference, x[i]);
        evals.push(b.automorphism(sum, 5));
        let t = transform(&mut b, 3);
        let difference = b.sub_mul_const(x[i], t, (1 << 47) + 5);
        coefficients.push(b.intt(difference));
        // The transform is the first operand, both, read twice, or leaves the program.
        let [t, u, v, w, z] = [0, 1, 2, 3, 4].map(|j| transform(&mut b, j));
        evals.push(b.sub_mul_const(t, x[i], 3));
        evals.push(b.sub_mul_const(u, u, 3));
        evals.push(b.sub_mul_const(v, w, 3));
        evals.push(b.sub_mul_const(w, z, 3));
        evals.push(z);
    }
    for (name, domain, values) in [("e", Domain::Eval, evals), ("f", Domain::Coeff, coefficients)] {
        let moduli: Vec<_> = values.iter().filter_map(|&v| b.operand_type(v).modulus()).collect();
        let outputs = b.output(name, domain, &moduli);
        outputs.into_iter().zip(values).for_each(|(output, value)| b.store(output, value));
    }
    b.finish().unwrap()
}

#[test]
fn transforms_that_end_with_a_difference_give_the_bits_of_the_reference() {
    let machines = machines();
    for log_n in [3, 4, 8, 12, 13] {
        compare(&differences(log_n), &machines, u64::from(log_n));
    }
}

/// Inner products of transforms that nothing else reads, and of all others.
fn factors(log_n: u32) -> LimbProgram {
    let mut b = LimbBuilder::new("factors", log_n);
    let moduli = moduli(log_n, &[50, 49, 48, 36, 52, 55]);
    let ids: Vec<_> = moduli.iter().enumerate().map(|(i, &m)| b.modulus(format!("q{i}"), m)).collect();
    let c = b.input("c", InputClass::Data, Domain::Coeff, &ids);
    let [x, y] = ["x", "y"].map(|name| b.input(name, InputClass::Data, Domain::Eval, &ids));
    let mut evals = Vec::new();
    for (i, &to) in ids.iter().enumerate() {
        let t: Vec<_> = (0..ids.len())
            .map(|j| {
                let own = if i == j { c[i] } else { b.lift(c[j], to) };
                b.ntt(own)
            })
            .collect();
        let key = [x[i], y[i]].repeat(3);
        // Two with the same factors, among them residues; one more with some of them.
        let left = [t[0], x[i], t[1], t[2], y[i], t[3]];
        evals.push(b.dot(&left, &key));
        evals.push(b.dot(&left, &[&key[1..], &[x[i]]].concat()));
        evals.push(b.dot(&[t[3], t[0]], &key[..2]));
        // One on the right too, one that is read otherwise, and a product of its own.
        evals.push(b.dot(&[t[4], y[i], t[5]], &[x[i], t[4], y[i]]));
        evals.push(b.add(t[5], x[i]));
    }
    let moduli: Vec<_> = evals.iter().filter_map(|&v| b.operand_type(v).modulus()).collect();
    let outputs = b.output("e", Domain::Eval, &moduli);
    outputs.into_iter().zip(evals).for_each(|(output, value)| b.store(output, value));
    b.finish().unwrap()
}

#[test]
fn inner_products_of_transforms_give_the_bits_of_the_reference() {
    let (machines, program) = (machines(), factors(6));
    let rings = program.moduli().iter().map(|m| LimbRing::new(6, m.modulus).unwrap()).collect();
    let plan = super::build::plan(&program, rings, 1).unwrap();
    let steps = || plan.tasks.iter().flat_map(|task| &task.blocks);
    let count = |wanted: fn(&Action) -> bool| steps().filter(|step| wanted(&step.action)).count();
    // Of each prime four transforms of six; the pair and the third product read them before anything else.
    assert_eq!(count(|a| matches!(a, Action::ForwardBlocks { factors: true })), 4 * 6);
    assert_eq!(count(|a| matches!(a, Action::ForwardBlocks { factors: false })), 2 * 6);
    assert_eq!(count(|a| matches!(a, Action::DotPair { made: 4, .. })), 6);
    assert_eq!(count(|a| matches!(a, Action::Dot { made: 2 })), 6);
    for log_n in [3, 4, 6, 8, 12, 13] {
        compare(&factors(log_n), &machines, u64::from(log_n));
    }
}

#[test]
fn the_steady_state_allocates_nothing() {
    let (log_n, moduli) = (10, moduli(10, &[50, 50, 50, 55, 60]));
    let program = RandomProgram { log_n, moduli, instructions: 300, seed: 7 }.generate().unwrap();
    let limbs = inputs(&program, 1);
    let inputs: Vec<LimbSource<'_>> = limbs.iter().map(|limb| LimbSource::Words(limb)).collect();
    let mut out = vec![vec![0; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    for machine in [Cpu::new().unwrap(), Cpu::new().unwrap().on_pool(pool(2))] {
        let executable = machine.prepare(&program).unwrap();
        // In the calling thread: what others allocate is not seen.
        let mut run = || allocation_counter::measure(|| executable.run_from(&inputs, &mut outputs).unwrap());
        assert!(run().count_total > 0, "the first run makes its memory, or nothing is counted");
        // The list through which rayon hands over work grows now and then.
        assert_eq!((0..3).map(|_| run().count_total).min(), Some(0), "{machine:?}");
    }
}

#[test]
fn a_run_that_is_told_to_stop_ends_and_the_next_one_is_whole() {
    let (log_n, moduli) = (5, moduli(5, &[40, 45, 50]));
    let program = RandomProgram { log_n, moduli, instructions: 100, seed: 3 }.generate().unwrap();
    let limbs = inputs(&program, 3);
    let mut all: Vec<Box<dyn Executable>> =
        machines().iter().map(|cpu| cpu.prepare(&program).unwrap()).collect();
    all.push(Reference.prepare(&program).unwrap());
    let want = execute(all.last().unwrap().as_ref(), &limbs);
    for executable in &all {
        let until = |watch: &Watch| {
            let inputs: Vec<_> = limbs.iter().map(|limb| LimbSource::Words(limb)).collect();
            let mut out = vec![vec![0; program.n()]; program.output_types().len()];
            let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
            executable.run_watched(&inputs, &mut outputs, watch)
        };
        let watch = Watch::default();
        assert_eq!(watch.progress(), (0, 0));
        for _ in 0..2 {
            until(&watch).unwrap();
            let (done, all) = watch.progress();
            assert!(done == all && all > 1, "{done} of {all} steps");
        }
        std::thread::scope(|s| {
            let runs = s.spawn(|| while until(&watch).is_ok() {});
            watch.stop();
            runs.join().unwrap();
        });
        assert_eq!(until(&watch), Err(MachineError::Stopped));
        assert!(watch.progress().0 < watch.progress().1);
        assert!(execute(executable.as_ref(), &limbs) == want);
    }
}

#[test]
fn threads_share_one_executable() {
    let moduli = moduli(8, &[50, 50, 55, 55]);
    let program = RandomProgram { log_n: 8, moduli, instructions: 120, seed: 3 }.generate().unwrap();
    let executable = Cpu::new().unwrap().on_pool(pool(2)).prepare(&program).unwrap();
    let limbs: Vec<_> = (0..4).map(|seed| inputs(&program, seed)).collect();
    let reference = Reference.prepare(&program).unwrap();
    std::thread::scope(|scope| {
        for limbs in &limbs {
            let (executable, reference) = (&executable, &reference);
            scope.spawn(move || {
                let want = execute(&**reference, limbs);
                for _ in 0..5 {
                    assert!(execute(&**executable, limbs) == want);
                }
            });
        }
    });
}

/// A key switch as programs contain it: digits of several limbs, conversions, inner products, both divisions.
#[derive(Debug, Clone, Copy)]
struct KeySwitch {
    bits: u32,
    limbs: usize,
    special: usize,
    alpha: usize,
    rescale: bool,
}

const KEY_SWITCHES: [KeySwitch; 4] = [
    KeySwitch { bits: 50, limbs: 4, special: 1, alpha: 1, rescale: false },
    KeySwitch { bits: 50, limbs: 5, special: 2, alpha: 2, rescale: true },
    KeySwitch { bits: 55, limbs: 5, special: 3, alpha: 3, rescale: false },
    KeySwitch { bits: 60, limbs: 3, special: 1, alpha: 1, rescale: true },
];

impl KeySwitch {
    fn program(self, rotates: bool) -> LimbProgram {
        use ringmill_program::lower::{Operation, OperationWriter, Rotation};

        let Self { bits, limbs, special, alpha, rescale } = self;
        let primes = moduli(9, &vec![bits; limbs + special]);
        let mut writer = OperationWriter::new("switch", 9, primes.split_at(limbs), alpha).unwrap();
        match (rotates, rescale) {
            (true, _) => {
                let [a, b] = ["a", "b"].map(|name| writer.input(name));
                let key = writer.key("key").unwrap();
                let rotation = Rotation { galois: 25, key: &key, rescale };
                let turned = writer.low.rotate([&a, &b], rotation).unwrap();
                writer.output("y", &turned);
            }
            (false, true) => writer.append(Operation::RelineariseRescale).unwrap(),
            (false, false) => writer.append(Operation::Relinearise).unwrap(),
        }
        writer.finish().unwrap()
    }
}

#[test]
fn key_switches_give_the_bits_of_the_reference() {
    let machines = machines();
    for (switch, rotates) in KEY_SWITCHES.into_iter().flat_map(|switch| [(switch, true), (switch, false)]) {
        compare(&switch.program(rotates), &machines, 5);
    }
}

/// Raised limbs take no way to scratch, whichever thread made them: no transform reads another task's limb but to lift it.
#[test]
fn conversions_are_transformed_where_they_stand() {
    for (switch, threads) in KEY_SWITCHES.into_iter().flat_map(|switch| [(switch, 1), (switch, 3)]) {
        let program = switch.program(false);
        let rings = program.moduli().iter().map(|m| LimbRing::new(9, m.modulus).unwrap()).collect();
        let plan = super::build::plan(&program, rings, threads).unwrap();
        let heads = plan.tasks.iter().flat_map(|task| task.head.iter().map(move |step| (task, step)));
        let mut in_place = 0;
        for (task, step) in heads.filter(|(_, step)| matches!(step.action, Action::ForwardHead(None))) {
            assert!(!matches!(step.srcs[0], Src::Read(_)), "{switch:?}");
            let shared = matches!(task.slots[step.dst as usize], Slot::Shared(_));
            in_place += usize::from(shared && step.srcs[0] == Src::Slot(step.dst));
        }
        // A merged rescale divides by two primes at least.
        assert_eq!(in_place > 0, switch.alpha > 1 || switch.rescale, "{switch:?}");
    }
}

/// Products and sums of inputs wait for what reads them; a chain of them must not become one task of any length.
#[test]
fn long_sums_of_inputs_keep_tasks_short() {
    use ringmill_program::limb::{Domain, InputClass, LimbBuilder};

    let mut b = LimbBuilder::new("sum", 6);
    let q = b.modulus("q", moduli(6, &[50])[0]);
    let inputs = b.input("x", InputClass::Data, Domain::Eval, &vec![q; 400]);
    let products: Vec<_> = inputs.chunks(2).map(|pair| b.mul(pair[0], pair[1])).collect();
    let sum = products.iter().copied().reduce(|sum, product| b.add(sum, product)).unwrap();
    let output = b.output("y", Domain::Eval, &[q])[0];
    b.store(output, sum);
    compare(&b.finish().unwrap(), &machines(), 11);
}

/// A profile of one run of `program`, whose result must not depend on being watched.
fn profiled(program: &LimbProgram, isa: Isa) -> Profile {
    let profile = Arc::new(Profile::default());
    let limbs = inputs(program, 3);
    let watched = Cpu::with_isa(isa).profiled(profile.clone()).prepare(program).unwrap();
    assert!(execute(&*watched, &limbs) == execute(&*Reference.prepare(program).unwrap(), &limbs));
    drop(watched);
    assert_eq!(profile.runs(), 1);
    Arc::into_inner(profile).unwrap()
}

/// The square of a polynomial's evaluations, from its coefficients.
fn square(log_n: u32, q: Modulus) -> LimbProgram {
    let mut b = LimbBuilder::new("square", log_n);
    let ids = [b.modulus("q", q)];
    let x = b.input("x", InputClass::Data, Domain::Coeff, &ids)[0];
    let y = b.ntt(x);
    let z = b.mul(y, y);
    let out = b.output("z", Domain::Eval, &ids)[0];
    b.store(out, z);
    b.finish().unwrap()
}

#[test]
fn a_profile_counts_what_kernels_multiply_and_move() {
    let log_n = 10;
    let n = 1u64 << log_n;
    for (isa, bits) in
        Isa::available().filter(|isa| *isa != Isa::Scalar).flat_map(|isa| [(isa, 50), (isa, 58)])
    {
        let found = profiled(&square(log_n, moduli(log_n, &[bits])[0]), isa).by_kind();
        let of = |kind| found.iter().find(|(k, _)| *k == kind).map(|(_, spent)| *spent).unwrap();
        let (transform, product) = (of(Kind::Ntt), of(Kind::Pointwise));
        assert_eq!(found.len(), 2, "{found:?}");
        // A product by a constant takes three multiplications or more, and there are N/2·log N of them.
        let butterflies = n / 2 * u64::from(log_n);
        let each = transform.multiplications / butterflies;
        assert!((3..=20).contains(&each), "{isa}, {bits} bits: {each} a butterfly");
        assert!((3..=20).contains(&(product.multiplications / n)), "{isa}, {bits} bits: {product:?}");
        // The coefficients come from outside and the squares go there; what is between stays in the scratch.
        assert_eq!((transform.bytes, product.bytes), (8 * n, 8 * n), "{isa}");
        assert!(transform.steps >= 2);
    }
}

#[test]
fn random_programs_give_the_same_bits_when_they_are_watched() {
    for seed in 0..8 {
        let (log_n, moduli) = (9, moduli(9, &[50, 50, 45, 60]));
        let program = RandomProgram { log_n, moduli, instructions: 150, seed }.generate().unwrap();
        let profile = profiled(&program, Isa::detect().unwrap());
        assert!(profile.by_kind().len() >= 5, "{profile:?}");
    }
}

#[test]
fn multiplications_are_counted_in_the_first_run_and_known_in_those_after_it() {
    let isa = Isa::detect().unwrap();
    let program = square(9, moduli(9, &[50])[0]);
    let profile = Arc::new(Profile::default());
    let limbs = inputs(&program, 3);
    let watched = Cpu::with_isa(isa).profiled(profile.clone()).prepare(&program).unwrap();
    let run = || {
        execute(&*watched, &limbs);
        let found = profile.by_kind().into_iter().map(|(kind, spent)| (kind, spent.multiplications));
        let found: Vec<_> = found.collect();
        profile.reset();
        (found, multiplications())
    };
    let (first, counted) = run();
    assert_eq!(run(), (first, counted), "a second run counts nothing on the plain-code twin");
    assert_eq!(profile.runs(), 0);
}
