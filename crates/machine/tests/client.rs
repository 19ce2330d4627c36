//! Encryption, decryption and public keys as programs, held to `ckks` bit for bit: same seeds, same words. And who may run them.

use std::sync::Arc;

use ringmill_ckks::noise::Noise;
use ringmill_ckks::randomness::Seeds;
use ringmill_ckks::{
    Ciphertext, KeyGenerator, Level, Meta, Params, ParamsLiteral, Plaintext, Randomness, Scale, Secret,
    SecretKey,
};
use ringmill_machine::compact::CompactLiteral;
use ringmill_machine::registry::MACHINES;
use ringmill_machine::{
    Bindings, ClientReference, Compact, Cpu, Machine, MachineError, MachineSpec, Reference, SampleSeeds,
    Samples,
};
use ringmill_program::limb::{Domain, InputClass, LimbProgram, parse};
use ringmill_program::lower::encrypt::{ClientProgram, Mode};
use ringmill_program::schedule::{Memory, schedule};
use ringmill_ring::sample::SecretSeed;
use ringmill_ring::{Domain as PolyDomain, Isa, Poly, reference};

/// Limbs by name.
type Named<'a> = Vec<(&'a str, Vec<Vec<u64>>)>;

fn randomness(seed: u8) -> Randomness {
    Randomness::from_seed(SecretSeed::from_bytes([seed; 32]))
}

fn limbs(poly: &Poly) -> Vec<Vec<u64>> {
    poly.limbs().map(<[u64]>::to_vec).collect()
}

fn secret_limbs(secret: &SecretKey, count: usize, domain: Domain) -> Vec<Vec<u64>> {
    let domain = if domain == Domain::Coeff { PolyDomain::Coefficient } else { PolyDomain::Evaluation };
    secret.residues(count, domain).unwrap().iter().map(|limb| limb.to_vec()).collect()
}

/// The same polynomial in coefficients if these are asked for, by the scalar transform.
fn in_domain(poly: &Poly, params: &Params, domain: Domain) -> Vec<Vec<u64>> {
    let mut all = limbs(poly);
    if domain == Domain::Coeff {
        for (limb, q) in all.iter_mut().zip(params.q_moduli()) {
            reference::inverse(limb, *q, q.psi(params.log_n()).unwrap());
        }
    }
    all
}

/// A plaintext of random residues: encryption does not look at them.
fn plaintext(params: &Params, level: Level, seed: u64) -> Plaintext {
    let mut random = ringmill_program::limb::random::Random(seed);
    let mut poly = Poly::zeros(params.n(), params.limbs(level), PolyDomain::Evaluation);
    for (limb, q) in poly.limbs_mut().zip(params.q_moduli()) {
        limb.fill_with(|| random.below(q.value()));
    }
    let scale = Scale::pow2(20);
    let meta = Meta { level, scale, slots: params.slots(), noise: Noise::exact(1.0, 1) };
    Plaintext::from_parts(params, poly, meta).unwrap()
}

fn machines() -> Vec<Box<dyn Machine>> {
    let mut all: Vec<Box<dyn Machine>> = vec![Box::new(ClientReference)];
    all.extend(Isa::available().map(|isa| Box::new(Cpu::with_isa(isa).for_client()) as Box<dyn Machine>));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    all.push(Box::new(Cpu::new().unwrap().on_pool(Arc::new(pool)).for_client()));
    all
}

/// The outputs of a run with these inputs, and with samples from the seeds.
fn run(
    machine: &dyn Machine,
    program: &LimbProgram,
    inputs: &Named<'_>,
    seeds: Option<&Seeds>,
) -> Vec<Vec<u64>> {
    machine.accepts(program).unwrap();
    let executable = machine.prepare(program).unwrap();
    let mut bindings = Bindings::new(program);
    for (name, limbs) in inputs {
        bindings.bind(name, limbs).unwrap();
    }
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    match seeds {
        Some(Seeds { secret, public }) => {
            executable.run_sampled(&bindings, SampleSeeds { secret, public }, &mut outputs).unwrap();
        }
        None => executable.run(&bindings.inputs().unwrap(), &mut outputs).unwrap(),
    }
    out
}

/// A chain with its keys, all drawn by `ckks` from one seed.
struct Client {
    params: Params,
    secret: SecretKey,
    seed: u8,
}

impl Client {
    fn new(literal: &ParamsLiteral, seed: u8) -> Self {
        let params = Params::new(literal).unwrap();
        let secret = KeyGenerator::with_randomness(&params, randomness(seed)).secret_key().unwrap();
        Self { params, secret, seed }
    }

    fn keys(&self) -> KeyGenerator {
        KeyGenerator::with_randomness(&self.params, randomness(self.seed))
    }

    fn ciphertext(&self, level: Level, parts: usize) -> Ciphertext {
        let polys =
            (0..parts as u64).map(|part| plaintext(&self.params, level, 70 + part).into_parts().0).collect();
        let meta = plaintext(&self.params, level, 0).meta().clone();
        Ciphertext::from_parts(&self.params, polys, meta, self.secret.identity()).unwrap()
    }

    /// Inputs of a mode, and what `ckks` makes of them.
    fn expected(&self, client: &ClientProgram<'_>, level: Level) -> (Named<'static>, Vec<Vec<u64>>) {
        let Self { params, secret, .. } = self;
        let (n, extra) = (params.limbs(level), params.q_moduli().len());
        let plain = plaintext(params, level, 5);
        let message = in_domain(plain.poly(), params, client.message);
        let s = secret_limbs(secret, n, client.secret);
        let mut draws = randomness(self.seed + 1);
        match client.mode {
            Mode::Public => {
                let key = self.keys().public_key(secret).unwrap().undivided();
                let cipher = key.encrypt(&plain, &mut draws).unwrap();
                let part = |poly| limbs(poly)[..n].to_vec();
                let inputs = vec![("m", message), ("b", part(key.b())), ("a", part(key.a()))];
                (inputs, cipher.polys().iter().flat_map(limbs).collect())
            }
            Mode::PublicDivided => {
                let key = self.keys().public_key(secret).unwrap();
                let cipher = key.encrypt(&plain, &mut draws).unwrap();
                let part = |poly| {
                    let all = limbs(poly);
                    [&all[..n], &all[extra..]].concat()
                };
                let inputs = vec![("m", message), ("b", part(key.b())), ("a", part(key.a()))];
                (inputs, cipher.polys().iter().flat_map(limbs).collect())
            }
            Mode::Symmetric => {
                let cipher = secret.encrypt_seeded(&plain, &mut draws).unwrap();
                (vec![("m", message), ("s", s)], limbs(cipher.expand().polys().first().unwrap()))
            }
            Mode::PublicKey => {
                let mut keys = KeyGenerator::with_randomness(params, draws);
                match client.extra {
                    None => (vec![("s", s)], limbs(keys.public_key(secret).unwrap().undivided().b())),
                    Some(_) => {
                        let s = secret_limbs(secret, n + 1, client.secret);
                        (vec![("s", s)], limbs(keys.public_key(secret).unwrap().b()))
                    }
                }
            }
            Mode::Decrypt { parts } => {
                let cipher = self.ciphertext(level, parts);
                let names = ["c0", "c1", "c2"];
                let parts = names.into_iter().zip(cipher.polys()).map(|(name, poly)| (name, limbs(poly)));
                let inputs = parts.chain([("s", s)]).collect();
                let plain = secret.decrypt(&cipher).unwrap();
                (inputs, in_domain(plain.poly(), params, client.message))
            }
        }
    }

    /// Every mode at these levels on all machines, as written and scheduled.
    fn check(&self, levels: impl Iterator<Item = u32>, machines: &[Box<dyn Machine>]) {
        let (q, p) = (self.params.q_moduli(), self.params.p_moduli()[0]);
        for level in levels {
            let level = Level::new(level);
            for (mode, extra) in [
                (Mode::Public, None),
                (Mode::PublicDivided, Some(p)),
                (Mode::Symmetric, None),
                (Mode::PublicKey, None),
                (Mode::PublicKey, Some(p)),
                (Mode::Decrypt { parts: 2 }, None),
                (Mode::Decrypt { parts: 3 }, None),
            ] {
                // Limb i of an expansion is that of prime i, so a public key has all ciphertext primes.
                if mode == Mode::PublicKey && level != self.params.max_level() {
                    continue;
                }
                for [message, secret] in [[Domain::Eval; 2], [Domain::Coeff; 2]] {
                    let q = &q[..self.params.limbs(level)];
                    let client =
                        ClientProgram { mode, log_n: self.params.log_n(), q, extra, message, secret };
                    let program = client.lower().unwrap();
                    let (inputs, want) = self.expected(&client, level);
                    let seeds = mode.purpose().map(|purpose| randomness(self.seed + 1).seeds(purpose));
                    for machine in machines {
                        let got = run(&**machine, &program, &inputs, seeds.as_ref());
                        assert!(got == want, "{mode} at level {level} on {}, {message}", machine.name());
                    }
                    let scheduled = schedule(&parse(&program.to_string()).unwrap(), Memory::Least).unwrap();
                    let got = run(&ClientReference, &scheduled, &inputs, seeds.as_ref());
                    assert!(got == want, "{mode} at level {level}, scheduled");
                }
            }
        }
    }
}

fn literal(log_n: u32, q: &[u32], p: &[u32]) -> ParamsLiteral {
    ParamsLiteral::from_bits(log_n, q, p, q.len()).insecure()
}

#[test]
fn programs_of_a_client_give_the_bits_of_ckks_in_every_mode() {
    let machines = machines();
    let gaussian = ParamsLiteral { secret: Secret::Gaussian, ..literal(10, &[36, 30, 30, 30], &[36, 31]) };
    let sparse =
        ParamsLiteral { secret: Secret::TernaryWeight { weight: 64 }, ..literal(11, &[60, 50], &[60]) };
    for (literal, seed) in [gaussian, sparse, literal(12, &[55, 40, 40], &[55])].iter().zip([3, 5, 7]) {
        let client = Client::new(literal, seed);
        client.check(0..client.params.q_moduli().len() as u32, &machines);
    }
}

#[test]
#[ignore = "long: make test-full"]
fn programs_of_a_client_at_full_length() {
    let machines = machines();
    // The second is the set of the encryption engine's paper.
    for (literal, seed) in [
        literal(13, &[60, 49, 49], &[60]),
        literal(14, &[60, 48, 48, 48], &[60]),
        literal(15, &[58; 6], &[59, 59]),
    ]
    .iter()
    .zip([9, 11, 13])
    {
        let client = Client::new(literal, seed);
        let top = client.params.q_moduli().len() as u32 - 1;
        client.check([1, top].into_iter(), &machines);
    }
}

/// What a program encrypts, another one decrypts, with the error of the mode: no `ckks` between them.
#[test]
fn a_program_decrypts_what_a_program_encrypted() {
    let client = Client::new(&literal(10, &[50, 40], &[50]), 21);
    let (params, level) = (&client.params, client.params.max_level());
    let (q, log_n) = (params.q_moduli(), params.log_n());
    let program = |mode, extra| {
        let of = ClientProgram { mode, log_n, q, extra, message: Domain::Coeff, secret: Domain::Coeff };
        of.lower().unwrap()
    };
    let machine = Cpu::new().unwrap().for_client();
    let extra = Some(params.p_moduli()[0]);
    let s = secret_limbs(&client.secret, q.len() + 1, Domain::Coeff);
    // b from a program; a is what its seed expands to.
    let key_seeds = randomness(30).seeds(Mode::PublicKey.purpose().unwrap());
    let b = run(&machine, &program(Mode::PublicKey, extra), &vec![("s", s.clone())], Some(&key_seeds));
    let key_program = program(Mode::PublicKey, extra);
    let samples =
        Samples::draw(&key_program, SampleSeeds { secret: &key_seeds.secret, public: &key_seeds.public });
    let samples = samples.unwrap();
    let mut bindings = Bindings::new(&key_program);
    samples.bind(&mut bindings).unwrap();
    bindings.bind("s", &s).unwrap();
    // In program order: s, a, e, of three limbs each.
    let a: Vec<Vec<u64>> = bindings.inputs().unwrap()[3..6].iter().map(|limb| limb.to_vec()).collect();
    let message: Vec<Vec<u64>> =
        q.iter().map(|_| (0..params.n() as u64).map(|k| 1000 * k).collect()).collect();
    let decrypt = program(Mode::Decrypt { parts: 2 }, None);
    // Six standard deviations of the rounding error, √(N/18), and of σ·√(4N/3).
    for (mode, extra, most, least) in [(Mode::PublicDivided, extra, 46, 15), (Mode::Public, None, 715, 240)] {
        let limbs = q.len() + usize::from(extra.is_some());
        let inputs = vec![("m", message.clone()), ("b", b[..limbs].to_vec()), ("a", a[..limbs].to_vec())];
        let seeds = randomness(31).seeds(mode.purpose().unwrap());
        let mut c0 = run(&machine, &program(mode, extra), &inputs, Some(&seeds));
        let c1 = c0.split_off(params.limbs(level));
        let found =
            run(&machine, &decrypt, &vec![("c0", c0), ("c1", c1), ("s", s[..q.len()].to_vec())], None);
        let error = |k: usize| q[0].centred(q[0].sub(found[0][k], message[0][k])).abs();
        let worst = (0..params.n()).map(error).max().unwrap();
        assert!((least..most).contains(&worst), "{mode}: {worst}");
        assert!(
            (0..params.n()).all(|k| q[1].centred(q[1].sub(found[1][k], message[1][k])).abs() == error(k))
        );
    }
}

/// Every machine of the registry and every mode: a program of a client runs on machines of a client alone.
#[test]
fn machines_of_a_server_refuse_secrets_and_samples_by_name() {
    let params = Params::new(&literal(10, &[40, 30], &[40])).unwrap();
    let (q, p) = (params.q_moduli(), params.p_moduli()[0]);
    for mode in Mode::ALL {
        let extra = (mode == Mode::PublicDivided).then_some(p);
        let client = ClientProgram { mode, log_n: 10, q, extra, message: Domain::Eval, secret: Domain::Eval };
        let program = client.lower().unwrap();
        let group = program.client_input().unwrap();
        for entry in MACHINES {
            let machine = MachineSpec::new(entry).open().unwrap();
            let refused = Err(MachineError::ClientOnly {
                machine: machine.name().to_owned(),
                program: mode.name().to_owned(),
                input: group.name.clone(),
                class: group.class.name(),
            });
            assert!(!machine.is_client(), "{}", entry.name);
            assert_eq!(machine.accepts(&program), refused, "{}", entry.name);
            assert_eq!(machine.prepare(&program).map(|_| ()), refused, "{}", entry.name);
            if !matches!(machine.estimate(&program), Ok(None)) {
                assert_eq!(machine.estimate(&program).map(|_| ()), refused, "{}", entry.name);
            }
        }
        for text in ["cpu:role=client,threads=2", "reference:role=client"] {
            let machine = text.parse::<MachineSpec>().unwrap().open().unwrap();
            assert!(machine.is_client());
            machine.accepts(&program).unwrap();
            machine.prepare(&program).unwrap();
        }
        let compact = Compact::emulated(CompactLiteral::roomy().build().unwrap());
        assert!(compact.load(&program).unwrap_err().to_string().contains(&format!("`{}`", group.name)));
        assert_eq!(Reference.accepts(&program).map_err(|e| e.to_string()), Err(message(&program)));
    }
    let unknown = "cpu:role=secret".parse::<MachineSpec>().unwrap_err().to_string();
    assert_eq!(unknown, "machine cpu cannot read role=\"secret\"; give server or client");
}

fn message(program: &LimbProgram) -> String {
    let group = program.client_input().unwrap();
    let (class, input, name) = (group.class, &group.name, program.name());
    format!(
        "machine reference takes no {class} inputs, and `{input}` of program {name} is one: these stay with the client; use a \
         machine of the client, as cpu:role=client"
    )
}

/// Samples are inputs like others for a run that binds them; what is not bound is named.
#[test]
fn a_run_without_its_samples_names_the_input() {
    let params = Params::new(&literal(10, &[40, 30], &[40])).unwrap();
    let client = ClientProgram {
        mode: Mode::Public,
        log_n: 10,
        q: params.q_moduli(),
        extra: None,
        message: Domain::Eval,
        secret: Domain::Eval,
    };
    let program = client.lower().unwrap();
    let zeros = vec![vec![0u64; 1024]; 2];
    let mut bindings = Bindings::new(&program);
    for group in program.inputs().iter().filter(|g| !matches!(g.class, InputClass::Sampled(_))) {
        bindings.bind(&group.name, &zeros).unwrap();
    }
    let missing = bindings.inputs().unwrap_err();
    assert_eq!(missing, MachineError::Unbound { what: "input", name: "v".into() });
    let Seeds { secret, public } = randomness(1).seeds(Mode::Public.purpose().unwrap());
    let samples = Samples::draw(&program, SampleSeeds { secret: &secret, public: &public }).unwrap();
    samples.bind(&mut bindings).unwrap();
    assert!(bindings.inputs().is_ok());
    assert_eq!(format!("{samples:?}"), "Samples { inputs: [\"v\", \"e0\", \"e1\"], .. }");
}
