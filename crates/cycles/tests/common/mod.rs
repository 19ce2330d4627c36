//! Programs and machines of the tests: key switches and bootstrappings made from HE operations, and Taiyi's lanes as the reference
//! model of the stored figures has them.

mod lanes;

use std::collections::HashMap;

pub(crate) use lanes::Lanes;
use ringmill_cycles::graph::Value;
use ringmill_cycles::{Class, Graph, Kind};

/// A limb of each prime, in the evaluation domain.
pub(crate) type Poly = Vec<Value>;

/// How keys are switched.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    /// Hybrid, by the number of limbs a digit.
    Hybrid(usize),
    /// KLSS, by the number of limbs a digit of the ciphertext and of the key.
    Klss(usize, usize),
}

/// How a linear map is computed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Style {
    /// Baby steps from one raised polynomial, giant steps.
    BabyGiant,
    /// One raise, one division, a key for each diagonal.
    Double,
    /// One key, again and again.
    OneKey,
}

/// The name of a key, and the place of a limb in it.
type KeyLimb = (String, bool, usize, usize, usize);

/// HE operations at the level of limbs, 36 bits each.
pub(crate) struct He {
    pub(crate) graph: Graph,
    l: usize,
    k: usize,
    keys: HashMap<KeyLimb, Value>,
}

const BITS: u8 = 36;
const QUOTIENT: u8 = 14;

impl He {
    /// L + 1 primes and K special ones.
    pub(crate) fn new(log_n: u32, l: usize, k: usize) -> Self {
        Self { graph: Graph::new("made", log_n).unwrap(), l, k, keys: HashMap::new() }
    }

    pub(crate) fn poly(&mut self, limbs: usize, class: Class) -> Poly {
        (0..limbs).map(|_| self.graph.input(class, BITS)).collect()
    }

    pub(crate) fn ciphertext(&mut self, limbs: usize) -> [Poly; 2] {
        [self.poly(limbs, Class::Data), self.poly(limbs, Class::Data)]
    }

    fn op(&mut self, kind: Kind, operands: &[Value], bits: u8, terms: usize) -> Value {
        self.graph.push(kind, operands, bits, terms as u32).unwrap()
    }

    fn one(&mut self, kind: Kind, operands: &[Value]) -> Value {
        self.op(kind, operands, BITS, 1)
    }

    fn each(&mut self, kind: Kind, a: &Poly) -> Poly {
        a.iter().map(|&x| self.one(kind, &[x])).collect()
    }

    fn both(&mut self, kind: Kind, a: &Poly, b: &Poly) -> Poly {
        a.iter().zip(b).map(|(&x, &y)| self.one(kind, &[x, y])).collect()
    }

    fn convert(&mut self, from: &[Value], count: usize, exact: bool) -> Poly {
        let mut y: Poly = from.iter().map(|&x| self.one(Kind::Scale, &[x])).collect();
        if let [one] = y[..] {
            return (0..count).map(|_| self.one(Kind::Lift, &[one])).collect();
        }
        let terms = y.len();
        if exact {
            let quotient = self.op(Kind::Quotient, &y, QUOTIENT, terms);
            y.push(quotient);
        }
        (0..count).map(|_| self.op(Kind::Convert, &y, BITS, terms)).collect()
    }

    fn key(&mut self, name: &str, uniform: bool, at: (usize, usize, usize)) -> Value {
        let class = if uniform { Class::SeededKey } else { Class::Key };
        let limb = (name.to_owned(), uniform, at.0, at.1, at.2);
        *self.keys.entry(limb).or_insert_with(|| self.graph.input(class, BITS))
    }

    fn raise_hybrid(&mut self, c: &Poly, a: usize) -> Vec<Poly> {
        let (l, all) = (c.len(), c.len() + self.k);
        let coefficients = self.each(Kind::Intt, c);
        let mut digits = Vec::new();
        for first in (0..l).step_by(a) {
            let digit = first..(first + a).min(l);
            let up = self.convert(&coefficients[digit.clone()], all - digit.len(), true);
            let mut up = up.into_iter();
            let limbs = (0..all).map(|i| match digit.contains(&i) {
                true => c[i],
                false => self.one(Kind::Ntt, &[up.next().unwrap()]),
            });
            digits.push(limbs.collect());
        }
        digits
    }

    fn mod_down(&mut self, p: &Poly, l: usize) -> Poly {
        let high: Poly = p[l..].iter().map(|&x| self.one(Kind::Intt, &[x])).collect();
        let low = self.convert(&high, l, true);
        let limb = |(i, &x): (usize, &Value)| {
            let y = self.one(Kind::Ntt, &[x]);
            self.one(Kind::SubMulConst, &[p[i], y])
        };
        low.iter().enumerate().map(limb).collect()
    }

    fn hybrid(&mut self, name: &str, raised: &[Poly], l: usize, down: bool) -> [Poly; 2] {
        let (first, all) = (self.l + 1, l + self.k);
        let sums = [false, true].map(|uniform| {
            let limb = |i: usize| {
                let row = if i < l { i } else { first + i - l };
                let mut operands: Poly = raised.iter().map(|digit| digit[i]).collect();
                (0..raised.len()).for_each(|j| operands.push(self.key(name, uniform, (j, row, 0))));
                self.op(Kind::DotKey, &operands, BITS, raised.len())
            };
            (0..all).map(limb).collect::<Poly>()
        });
        if down { sums.map(|sum| self.mod_down(&sum, l)) } else { sums }
    }

    /// Limbs of the auxiliary ring that hold an exact product.
    fn auxiliary(&self, l: usize, a: usize, b: usize) -> usize {
        let (w, digits) = (f64::from(BITS), l.div_ceil(a) as f64);
        let bits =
            w * (a + b) as f64 + f64::from(self.graph.log_n()) + digits.log2() + (a as f64).log2() + 1.0;
        (bits / w).ceil() as usize
    }

    fn raise_klss(&mut self, c: &Poly, a: usize, limbs: usize) -> Vec<Poly> {
        let coefficients = self.each(Kind::Intt, c);
        let raise = |digit: &[Value]| {
            let digit = self.convert(digit, limbs, false);
            self.each(Kind::Ntt, &digit)
        };
        coefficients.chunks(a).map(raise).collect()
    }

    fn klss(&mut self, name: &str, raised: &[Poly], l: usize, b: usize, down: bool) -> [Poly; 2] {
        let (k, t) = (self.k, raised[0].len());
        [false, true].map(|uniform| {
            let mut limbs = Poly::new();
            for m in 0..(l + k).div_ceil(b) {
                let digit: Poly = (0..t)
                    .map(|i| {
                        let mut operands: Poly = raised.iter().map(|digit| digit[i]).collect();
                        (0..raised.len()).for_each(|j| operands.push(self.key(name, uniform, (j, m, i))));
                        let sum = self.op(Kind::DotKey, &operands, BITS, raised.len());
                        self.one(Kind::Intt, &[sum])
                    })
                    .collect();
                limbs.extend(self.convert(&digit, b.min(l + k - m * b), true));
            }
            let (special, low) = limbs.split_at(k);
            if !down {
                let all = [low, special].concat();
                return self.each(Kind::Ntt, &all);
            }
            let from = self.convert(special, l, true);
            let limb = |(&x, &y): (&Value, &Value)| {
                let z = self.one(Kind::SubMulConst, &[x, y]);
                self.one(Kind::Ntt, &[z])
            };
            low.iter().zip(&from).map(limb).collect()
        })
    }

    fn raise(&mut self, c: &Poly, method: Method) -> Vec<Poly> {
        match method {
            Method::Hybrid(a) => self.raise_hybrid(c, a),
            Method::Klss(a, b) => self.raise_klss(c, a, self.auxiliary(c.len(), a, b)),
        }
    }

    fn switch_raised(
        &mut self,
        name: &str,
        raised: &[Poly],
        l: usize,
        method: Method,
        down: bool,
    ) -> [Poly; 2] {
        match method {
            Method::Hybrid(_) => self.hybrid(name, raised, l, down),
            Method::Klss(_, b) => self.klss(name, raised, l, b, down),
        }
    }

    pub(crate) fn switch(&mut self, c: &Poly, name: &str, method: Method) -> [Poly; 2] {
        let raised = self.raise(c, method);
        self.switch_raised(name, &raised, c.len(), method, true)
    }

    pub(crate) fn rotate(&mut self, x: &[Poly; 2], name: &str, method: Method) -> [Poly; 2] {
        let k = self.switch(&x[1], name, method);
        let (a, b) = (self.each(Kind::Automorphism, &k[0]), self.each(Kind::Automorphism, &x[0]));
        [self.both(Kind::Add, &a, &b), self.each(Kind::Automorphism, &k[1])]
    }

    fn rescale(&mut self, p: &Poly) -> Poly {
        let (last, rest) = p.split_last().unwrap();
        let y = self.one(Kind::Intt, &[*last]);
        let limb = |&x: &Value| {
            let lifted = self.one(Kind::Lift, &[y]);
            let z = self.one(Kind::Ntt, &[lifted]);
            self.one(Kind::SubMulConst, &[x, z])
        };
        rest.iter().map(limb).collect()
    }

    pub(crate) fn multiply(&mut self, x: &[Poly; 2], y: &[Poly; 2], method: Method) -> [Poly; 2] {
        let (d0, d2) = (self.both(Kind::Mul, &x[0], &y[0]), self.both(Kind::Mul, &x[1], &y[1]));
        let d1: Poly = (0..d0.len())
            .map(|i| self.op(Kind::Dot, &[x[0][i], y[1][i], x[1][i], y[0][i]], BITS, 2))
            .collect();
        let k = self.switch(&d2, "relin", method);
        let sums = [self.both(Kind::Add, &k[0], &d0), self.both(Kind::Add, &k[1], &d1)];
        sums.map(|p| self.rescale(&p))
    }

    /// `sum` + v·p.
    fn add_product(&mut self, sum: Option<&Poly>, v: &Poly, p: &Poly) -> Poly {
        let limb = |i: usize| match sum {
            None => self.one(Kind::Mul, &[v[i], p[i]]),
            Some(sum) => self.one(Kind::Mac, &[sum[i], v[i], p[i]]),
        };
        (0..v.len().min(p.len())).map(limb).collect()
    }

    fn map(&mut self, x: &[Poly; 2], diagonals: usize, method: Method, tag: &str, style: Style) -> [Poly; 2] {
        let l = x[0].len();
        let baby = (diagonals as f64).sqrt().ceil() as usize;
        let steps = diagonals.div_ceil(baby);
        if style == Style::OneKey {
            let mut all = vec![x.clone()];
            for i in 1..baby {
                all.push(self.rotate(&all[i - 1].clone(), &format!("{tag} baby"), method));
            }
            let mut sum: Option<[Poly; 2]> = None;
            for g in 0..steps {
                sum = sum.map(|sum| self.rotate(&sum, &format!("{tag} giant"), method));
                sum = self.products(sum, &all, baby.min(diagonals - g * baby), l);
            }
            return sum.unwrap().map(|p| self.rescale(&p));
        }
        let raised = self.raise(&x[1], method);
        let rotated = |he: &mut Self, i: usize| -> [Poly; 2] {
            let k = he.switch_raised(&format!("{tag} {i}"), &raised, l, method, false);
            k.map(|p| he.each(Kind::Automorphism, &p))
        };
        if style == Style::Double {
            let (mut sum, mut low): ([Option<Poly>; 2], [Poly; 2]) = ([None, None], Default::default());
            for i in 0..diagonals {
                let p = self.poly(l + self.k, Class::Plain);
                if i == 0 {
                    low = [0, 1].map(|c| self.add_product(None, &x[c], &p));
                    continue;
                }
                let r = rotated(self, i);
                sum = [0, 1].map(|c| Some(self.add_product(sum[c].as_ref(), &r[c], &p)));
                let moved = self.each(Kind::Automorphism, &x[0]);
                low[0] = self.add_product(Some(&low[0].clone()), &moved, &p);
            }
            let down = sum.map(|p| self.mod_down(&p.unwrap(), l));
            return [0, 1].map(|c| {
                let p = self.both(Kind::Add, &down[c], &low[c]);
                self.rescale(&p)
            });
        }
        let mut all = vec![x.clone()];
        for i in 1..baby {
            let q = rotated(self, i);
            let down = q.map(|p| self.mod_down(&p, l));
            let moved = self.each(Kind::Automorphism, &x[0]);
            all.push([self.both(Kind::Add, &moved, &down[0]), down[1].clone()]);
        }
        let mut total: Option<[Poly; 2]> = None;
        for g in 0..steps {
            let mut sum = self.products(None, &all, baby.min(diagonals - g * baby), l).unwrap();
            if g > 0 {
                sum = self.rotate(&sum, &format!("{tag} giant {g}"), method);
            }
            total = Some(match total {
                None => sum,
                Some(total) => [0, 1].map(|c| self.both(Kind::Add, &total[c], &sum[c])),
            });
        }
        total.unwrap().map(|p| self.rescale(&p))
    }

    fn products(
        &mut self,
        mut sum: Option<[Poly; 2]>,
        all: &[[Poly; 2]],
        count: usize,
        l: usize,
    ) -> Option<[Poly; 2]> {
        for x in &all[..count] {
            let p = self.poly(l, Class::Plain);
            sum = Some([0, 1].map(|c| self.add_product(sum.as_ref().map(|s| &s[c]), &x[c], &p)));
        }
        sum
    }

    /// Maps of these radices, three products of each half, the maps again.
    pub(crate) fn bootstrap(
        log_n: u32,
        l: usize,
        k: usize,
        radices: &[usize],
        method: Method,
        style: Style,
    ) -> (Self, [Poly; 2]) {
        let mut he = Self::new(log_n, l, k);
        let mut x = he.ciphertext(l + 1);
        for (i, r) in radices.iter().enumerate() {
            he.graph.region(format!("to slots {i}"));
            x = he.map(&x, 2 * (1 << r) - 1, method, &format!("c2s {i}"), style);
        }
        he.graph.region("sine");
        let turned = he.rotate(&x, "conjugation", method);
        let halves = [Kind::Add, Kind::Sub].map(|kind| [0, 1].map(|c| he.both(kind, &x[c], &turned[c])));
        let done = halves.map(|mut h| {
            for _ in 0..3 {
                let (a, b) = (he.multiply(&h, &h, method), he.multiply(&h, &h, method));
                h = [0, 1].map(|c| he.both(Kind::Add, &a[c], &b[c]));
            }
            h
        });
        let mut x = [0, 1].map(|c| he.both(Kind::Add, &done[0][c], &done[1][c]));
        for (i, r) in radices.iter().enumerate() {
            he.graph.region(format!("to coefficients {i}"));
            x = he.map(&x, 2 * (1 << r) - 1, method, &format!("s2c {i}"), style);
        }
        (he, x)
    }

    /// The graph, with these results.
    pub(crate) fn finish(mut self, results: &[Poly; 2]) -> Graph {
        results.iter().flatten().for_each(|&v| self.graph.result(v).unwrap());
        self.graph
    }
}
