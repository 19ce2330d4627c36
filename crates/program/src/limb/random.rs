//! Seeded random limb programs and inputs: every instruction, long and short lifetimes, values used once or often.
//! What machines, schedulers and parsers are tested with.

use std::collections::{HashMap, HashSet};

use ringmill_ring::Modulus;

use super::build::LimbBuilder;
use super::op::OpSpec;
use super::program::LimbProgram;
use super::types::{Domain, InputClass, InputId, LimbType, ModulusId, Operand};
use super::verify::VerifyError;

/// What to generate.
#[derive(Debug, Clone)]
pub struct RandomProgram {
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Distinct moduli that are 1 mod 2N; base conversions appear from three on.
    pub moduli: Vec<Modulus>,
    /// How many instructions beside the stores.
    pub instructions: usize,
    /// The same seed gives the same program.
    pub seed: u64,
}

impl RandomProgram {
    /// The program. Every value that nothing reads is stored, so that no result escapes a comparison of outputs.
    ///
    /// # Errors
    /// Moduli that are equal or not 1 mod 2N.
    pub fn generate(&self) -> Result<LimbProgram, VerifyError> {
        let mut g = Generator::new(self);
        for _ in 0..self.instructions {
            g.instruction();
        }
        g.store_unread();
        g.b.finish()
    }
}

/// Random canonical residues for every input limb of a program, with 0, 1, q − 1 and the middle among them.
pub fn inputs(program: &LimbProgram, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Random(seed);
    let mut limb = |(input, ty): (usize, &LimbType)| {
        let stride = 1 << program.input_group(InputId(input as u32)).log_stride;
        let q = ty.modulus().map_or(1, |m| program.modulus(m).value());
        let edges = [0, 1, q - 1, q / 2, q / 2 + 1];
        let mut word =
            || if random.below(8) == 0 { edges[random.below(5) as usize] } else { random.below(q) };
        (0..program.n()).map(|k| if k % stride == 0 { word() } else { 0 }).collect()
    };
    program.input_types().iter().enumerate().map(&mut limb).collect()
}

/// SplitMix64 (Steele, Lea, Flood 2014): enough to choose instructions by, not for cryptography.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `bound`, 0 for a bound of 0; not quite uniform for large bounds.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.word() % bound }
    }
}

struct Generator {
    b: LimbBuilder,
    random: Random,
    moduli: Vec<(ModulusId, Modulus)>,
    /// Inputs and values of each type, in order of definition.
    pools: HashMap<LimbType, Vec<Operand>>,
    /// All results, in order of definition.
    results: Vec<Operand>,
    /// Inputs whose coefficients are zero but for every 2^k-th.
    sparse: Vec<Operand>,
    /// What some instruction reads.
    read: HashSet<Operand>,
}

impl Generator {
    fn new(spec: &RandomProgram) -> Self {
        let mut b = LimbBuilder::new(format!("random_{}", spec.seed), spec.log_n);
        let moduli: Vec<_> =
            spec.moduli.iter().enumerate().map(|(i, &m)| (b.modulus(format!("q{i}"), m), m)).collect();
        let ids: Vec<ModulusId> = moduli.iter().map(|m| m.0).collect();
        let mut g = Self {
            b,
            random: Random(spec.seed),
            moduli,
            pools: HashMap::new(),
            results: Vec::new(),
            sparse: Vec::new(),
            read: HashSet::new(),
        };
        let groups = [
            ("a", InputClass::Data, Domain::Eval),
            ("b", InputClass::Data, Domain::Eval),
            ("c", InputClass::Data, Domain::Coeff),
            ("k", InputClass::Key, Domain::Eval),
            ("l", InputClass::Key, Domain::Eval),
            ("m", InputClass::Plain, Domain::Eval),
        ];
        for (name, class, domain) in groups {
            for limb in g.b.input(name, class, domain, &ids) {
                let ty = g.b.operand_type(limb);
                g.pools.entry(ty).or_default().push(limb);
            }
        }
        for name in ["s", "t"] {
            let log_stride = 1 + g.random.below(u64::from(spec.log_n.saturating_sub(1))) as u32;
            for limb in g.b.sparse_input(name, InputClass::Plain, Domain::Coeff, &ids, log_stride) {
                let ty = g.b.operand_type(limb);
                g.pools.entry(ty).or_default().push(limb);
                g.sparse.push(limb);
            }
        }
        g
    }

    fn modulus(&mut self) -> (ModulusId, Modulus) {
        self.moduli[self.random.below(self.moduli.len() as u64) as usize]
    }

    /// A limb of the type: one of the last few in three cases of four.
    fn pick(&mut self, ty: LimbType) -> Operand {
        let pool = &self.pools[&ty];
        let back = if self.random.below(4) > 0 { pool.len().min(6) } else { pool.len() };
        let operand = pool[pool.len() - 1 - self.random.below(back as u64) as usize];
        self.read.insert(operand);
        operand
    }

    fn define(&mut self, result: Operand) {
        self.pools.entry(self.b.operand_type(result)).or_default().push(result);
        self.results.push(result);
    }

    fn instruction(&mut self) {
        let (id, q) = self.modulus();
        if self.random.below(24) == 0 {
            self.b.region(format!("part {}", self.random.below(100)));
        }
        let (eval, coeff) = (LimbType::eval(id), LimbType::coeff(id));
        let any = if self.random.below(2) == 0 { eval } else { coeff };
        let constant = self.random.below(q.value());
        let result = match self.random.below(24) {
            0 | 1 => self.unary(coeff, LimbBuilder::ntt),
            2 | 3 => self.unary(eval, LimbBuilder::intt),
            4 => self.binary(any, LimbBuilder::add),
            5 => self.binary(any, LimbBuilder::sub),
            6 => self.unary(any, LimbBuilder::neg),
            7 => self.binary(eval, LimbBuilder::mul),
            8 => {
                let [x, y, z] = [eval; 3].map(|ty| self.pick(ty));
                self.b.mac(x, y, z)
            }
            9 => self.unary(any, |b, x| b.mul_const(x, constant)),
            10 => self.unary(eval, |b, x| b.add_const(x, constant)),
            11 | 12 => self.binary(any, |b, x, y| b.sub_mul_const(x, y, constant)),
            13..16 => self.dot(eval),
            16 => {
                let galois = 2 * self.random.below(1 << self.b.log_n()) + 1;
                self.unary(eval, |b, x| b.automorphism(x, galois))
            }
            17 => self.load(),
            18 | 19 if self.moduli.len() > 1 => self.lift(id),
            20 | 21 if self.moduli.len() > 2 => self.convert(id),
            22 | 23 => self.transforms_in_a_row(any, constant),
            _ => self.unary(any, LimbBuilder::neg),
        };
        self.define(result);
    }

    /// … c·T(k·T(x)): constants between transforms, of a sparse input or any value; nothing else reads what lies between.
    fn transforms_in_a_row(&mut self, ty: LimbType, constant: u64) -> Operand {
        let sparse =
            self.sparse.iter().copied().filter(|&s| self.b.operand_type(s).modulus() == ty.modulus());
        let sparse: Vec<Operand> = sparse.collect();
        let mut x = match self.random.below(4) {
            from @ 0..2 => sparse[from as usize],
            _ => self.pick(ty),
        };
        self.read.insert(x);
        for _ in 0..=self.random.below(4) {
            let coeff = self.b.operand_type(x).domain() == Domain::Coeff;
            x = if coeff { self.b.ntt(x) } else { self.b.intt(x) };
            if self.random.below(4) > 0 {
                x = self.b.mul_const(x, constant);
            }
        }
        x
    }

    fn unary(&mut self, ty: LimbType, f: impl FnOnce(&mut LimbBuilder, Operand) -> Operand) -> Operand {
        let x = self.pick(ty);
        f(&mut self.b, x)
    }

    fn binary(
        &mut self,
        ty: LimbType,
        f: impl FnOnce(&mut LimbBuilder, Operand, Operand) -> Operand,
    ) -> Operand {
        let (x, y) = (self.pick(ty), self.pick(ty));
        f(&mut self.b, x, y)
    }

    fn dot(&mut self, ty: LimbType) -> Operand {
        let terms = 1 + self.random.below(9);
        let a: Vec<_> = (0..terms).map(|_| self.pick(ty)).collect();
        let b: Vec<_> = (0..terms).map(|_| self.pick(ty)).collect();
        self.b.dot(&a, &b)
    }

    fn load(&mut self) -> Operand {
        let limb = self.random.below(self.b.input_limbs() as u64) as u32;
        self.b.load(super::InputId(limb).into())
    }

    fn lift(&mut self, to: ModulusId) -> Operand {
        let from = loop {
            let (from, _) = self.modulus();
            if from != to {
                break from;
            }
        };
        self.unary(LimbType::coeff(from), |b, x| b.lift(x, to))
    }

    /// Conversions of one set of sources to one or two moduli, with or without quotient.
    fn convert(&mut self, to: ModulusId) -> Operand {
        let mut others: Vec<ModulusId> = self.moduli.iter().map(|m| m.0).filter(|&m| m != to).collect();
        let most = others.len().min(OpSpec::MAX_SOURCES) as u64;
        let count = 2 + self.random.below(most - 1) as usize;
        for i in 0..count {
            let j = i + self.random.below((others.len() - i) as u64) as usize;
            others.swap(i, j);
        }
        let sources: Vec<_> = others[..count].iter().map(|&m| self.pick(LimbType::coeff(m))).collect();
        match self.random.below(8) {
            0 => return self.b.convert_fast(&sources, to),
            1 => return self.b.convert_fast(&sources[..1], to),
            _ => {}
        }
        let quotient = self.b.quotient(&sources);
        if let Some(&second) = others.get(count) {
            let result = self.b.convert(&sources, quotient, second);
            self.define(result);
        }
        self.b.convert(&sources, quotient, to)
    }

    fn store_unread(&mut self) {
        self.b.region("stores");
        for (name, domain) in [("y", Domain::Eval), ("z", Domain::Coeff)] {
            let unread = self.results.iter().filter(|o| !self.read.contains(*o));
            let typed = unread.map(|&o| (o, self.b.operand_type(o)));
            let (operands, moduli): (Vec<_>, Vec<_>) = typed
                .filter(|(_, ty)| ty.domain() == domain)
                .filter_map(|(o, ty)| Some((o, ty.modulus()?)))
                .unzip();
            let outputs = self.b.output(name, domain, &moduli);
            for (output, operand) in outputs.into_iter().zip(operands) {
                self.b.store(output, operand);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limb::{Opcode, parse};

    fn spec(seed: u64, count: usize) -> RandomProgram {
        let primes = (0..).map(|i| (1u64 << 40) + 1 - 64 * i).filter_map(|q| Modulus::new(q).ok());
        RandomProgram { log_n: 5, moduli: primes.take(count).collect(), instructions: 200, seed }
    }

    #[test]
    fn programs_are_valid_reproducible_and_use_every_instruction() {
        let mut seen = [0; OpSpec::TABLE.len()];
        for seed in 0..40 {
            let program = spec(seed, 1 + seed as usize % 7).generate().unwrap();
            assert_eq!(program, spec(seed, 1 + seed as usize % 7).generate().unwrap());
            assert_eq!(parse(&program.to_string()).unwrap(), program);
            for i in 0..program.len() {
                seen[program.opcode(i) as usize] += 1;
            }
        }
        let sparse = |text: &str| text.contains("plain s : coeff (2^");
        assert!((0..8).all(|seed| sparse(&spec(seed, 2).generate().unwrap().to_string())));
        for row in &OpSpec::TABLE {
            assert!(seen[row.op as usize] > 20, "{}: {}", row.name, seen[row.op as usize]);
        }
        assert!(seen[Opcode::Store as usize] < 40 * 200, "most values are read");
    }

    #[test]
    fn random_inputs_are_canonical_and_reach_the_edges() {
        let program = spec(1, 3).generate().unwrap();
        let limbs = inputs(&program, 2);
        assert_eq!(limbs.len(), program.input_types().len());
        for (limb, ty) in limbs.iter().zip(program.input_types()) {
            let q = program.modulus(ty.modulus().unwrap()).value();
            assert!(limb.len() == 32 && limb.iter().all(|&x| x < q));
        }
        assert!(limbs.iter().flatten().any(|&x| x == 0));
    }
}
