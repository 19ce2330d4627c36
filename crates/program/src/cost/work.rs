//! Work by kind: of a limb program by counting its instructions, of a key switch by formula.

use ringmill_ckks::Library;
use ringmill_ring::Modulus;

use crate::limb::{Domain, InputClass, LimbProgram, Opcode, Operand, Source};
use crate::lower::Method;

/// A kind of work on whole limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Kind {
    /// A transform, either way, modulo a prime of at most [`Modulus::NARROW_BITS`] bits.
    Transform,
    /// A transform modulo a longer prime.
    WideTransform,
    /// A limb that a base conversion yields.
    Conversion,
    /// A product inside a base conversion or its quotient.
    ConversionTerm,
    /// A product of an inner product with a limb of a key, which comes from memory, modulo a prime of at most
    /// [`Modulus::NARROW_BITS`] bits.
    KeyTerm,
    /// The same modulo a longer prime.
    WideKeyTerm,
    /// Any other sum, difference or product of limbs.
    Pointwise,
    /// An automorphism.
    Automorphism,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Transform,
        Self::WideTransform,
        Self::Conversion,
        Self::ConversionTerm,
        Self::KeyTerm,
        Self::WideKeyTerm,
        Self::Pointwise,
        Self::Automorphism,
    ];

    /// The word for it in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transform => "transform",
            Self::WideTransform => "wide_transform",
            Self::Conversion => "conversion",
            Self::ConversionTerm => "conversion_term",
            Self::KeyTerm => "key_term",
            Self::WideKeyTerm => "wide_key_term",
            Self::Pointwise => "pointwise",
            Self::Automorphism => "automorphism",
        }
    }

    /// The transform modulo a prime of `bits` bits.
    const fn transform(bits: u32) -> Self {
        if bits <= Modulus::NARROW_BITS { Self::Transform } else { Self::WideTransform }
    }

    /// The product with a limb of a key modulo such a prime.
    const fn key_term(bits: u32) -> Self {
        if bits <= Modulus::NARROW_BITS { Self::KeyTerm } else { Self::WideKeyTerm }
    }
}

/// How many limbs' worth of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work([u64; Kind::ALL.len()]);

impl Work {
    /// Of one kind.
    pub fn get(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    fn add(&mut self, kind: Kind, count: usize) {
        self.0[kind as usize] += count as u64;
    }

    /// The work of `times` of it that share `part`.
    #[must_use]
    pub fn sharing(&self, part: &Self, times: usize) -> Self {
        let times = times.max(1) as u64;
        let of = |i: usize| (times * self.0[i]).saturating_sub((times - 1) * part.0[i]);
        Self(std::array::from_fn(of))
    }

    /// The work of a limb program.
    pub fn of(program: &LimbProgram) -> Self {
        let mut work = Self::default();
        let bits = |o: Operand| {
            program.operand_type(o).modulus().map_or(0, |modulus| program.modulus(modulus).bits())
        };
        for i in 0..program.len() {
            let operands = program.operands(i);
            match program.opcode(i) {
                Opcode::Load | Opcode::Store => {}
                Opcode::Ntt | Opcode::Intt => work.add(Kind::transform(bits(operands[0])), 1),
                Opcode::Lift => work.add(Kind::Conversion, 1),
                Opcode::Quotient => work.add(Kind::ConversionTerm, operands.len()),
                Opcode::Convert | Opcode::ConvertFast => {
                    work.add(Kind::Conversion, 1);
                    work.add(Kind::ConversionTerm, operands.len());
                }
                Opcode::Dot => {
                    let key = |o: &&Operand| matches!(o.source(), Source::Input(i) if program.input_group(i).class == InputClass::Key);
                    let keys = operands.iter().filter(key).count();
                    work.add(Kind::key_term(bits(operands[0])), keys);
                    work.add(Kind::Pointwise, operands.len() / 2 - keys.min(operands.len() / 2));
                }
                Opcode::Automorphism => work.add(Kind::Automorphism, 1),
                // A scaling of coefficients is part of the transform before it.
                Opcode::MulConst if program.operand_type(operands[0]).domain() == Domain::Coeff => {}
                _ => work.add(Kind::Pointwise, 1),
            }
        }
        work
    }

    /// The work of one key switch of `limbs` limbs without addends and rescale; `bits` are those of the primes of the
    /// chain.
    pub fn of_switch(method: &Method, limbs: usize, bits: u32) -> Self {
        Switched { method, limbs, bits }.work()
    }

    /// The part of [`Self::of_switch`] that hoisted key switches share: the digits, raised.
    pub fn of_raising(method: &Method, limbs: usize, bits: u32) -> Self {
        let mut work = Self::default();
        Switched { method, limbs, bits }.raise(&mut work);
        work
    }

    /// The transforms of the raised digits alone.
    pub(super) fn of_raising_alone(method: &Method, limbs: usize, bits: u32) -> Self {
        let (mut raising, mut work) = (Self::of_raising(method, limbs, bits), Self::default());
        // Those of the polynomial's own limbs are spared where its coefficients are there.
        raising.0[Kind::transform(bits) as usize] -= limbs as u64;
        for kind in [Kind::Transform, Kind::WideTransform] {
            work.0[kind as usize] = raising.get(kind);
        }
        work
    }

    /// The products with the key alone.
    pub(super) fn of_products(method: &Method, limbs: usize, bits: u32) -> Self {
        let (whole, mut work) = (Self::of_switch(method, limbs, bits), Self::default());
        for kind in [Kind::KeyTerm, Kind::WideKeyTerm] {
            work.0[kind as usize] = whole.get(kind);
        }
        work
    }
}

struct Switched<'a> {
    method: &'a Method,
    limbs: usize,
    bits: u32,
}

impl Switched<'_> {
    /// Transforms of the digits' limbs, their conversions, and transforms of what these yield.
    fn raise(&self, work: &mut Work) {
        let layout = self.method.layout();
        work.add(Kind::transform(self.bits), self.limbs);
        for digit in layout.digits(self.limbs) {
            let (targets, bits) = match self.method {
                Method::Hybrid(_) | Method::Of(..) => (self.limbs + layout.special - digit.len(), self.bits),
                Method::Klss(klss) => (klss.t_for(self.limbs).len(), klss.t()[0].bits()),
            };
            work.convert(digit.len(), targets, self.method.library().is_none());
            work.add(Kind::transform(bits), targets);
        }
    }

    fn work(&self) -> Work {
        let (layout, limbs, mut work) = (self.method.layout(), self.limbs, Work::default());
        self.raise(&mut work);
        let (beta, special) = (layout.digits(limbs).len(), layout.special);
        let own = Kind::transform(self.bits);
        match self.method {
            Method::Hybrid(_) | Method::Of(..) => {
                work.add(Kind::key_term(self.bits), 2 * beta * (limbs + special));
                work.add(own, 2 * special);
            }
            Method::Klss(klss) => {
                let (blocks, t) = (klss.blocks(limbs), klss.t_for(limbs).len());
                let bits = klss.t()[0].bits();
                work.add(Kind::key_term(bits), 2 * beta * blocks * t);
                work.add(Kind::transform(bits), 2 * blocks * t);
                for m in 0..blocks {
                    let rows = klss.rows(m, limbs).count();
                    work.convert(t, rows, true);
                    work.convert(t, rows, true);
                }
            }
        }
        work.add(own, 2 * limbs);
        let centred = self.method.library() != Some(Library::OpenFhe);
        work.convert(special, limbs, centred);
        work.convert(special, limbs, centred);
        work.add(Kind::Pointwise, 2 * limbs);
        work
    }
}

impl Work {
    /// A conversion from `from` primes to `to` others, with its quotient if it is centred.
    fn convert(&mut self, from: usize, to: usize, centred: bool) {
        self.add(Kind::Conversion, to);
        match centred {
            true if from == 1 => {}
            true => self.add(Kind::ConversionTerm, from + to * (from + 1)),
            false => self.add(Kind::ConversionTerm, to * from),
        }
    }
}

#[cfg(test)]
mod tests {
    use ringmill_ckks::{KeyLayout, KlssLayout};
    use ringmill_ring::primes::of_bits;

    use super::*;
    use crate::lower::{Operation, OperationWriter};

    #[test]
    fn the_formula_counts_what_the_lowering_writes() {
        let (log_n, bits) = (6, 40);
        let all = of_bits(bits, log_n, 9, &[]).unwrap();
        let (p, q) = all.split_at(3);
        let layout = |special, alpha| KeyLayout { limbs: 6, special, alpha };
        let klss = |(special, alpha), block, t| {
            let layout = layout(special, alpha);
            Method::Klss(KlssLayout::new(log_n, (q, &p[..special]), layout, block, t).unwrap())
        };
        for method in [
            Method::Hybrid(layout(3, 3)),
            Method::Hybrid(layout(3, 2)),
            Method::Hybrid(layout(1, 1)),
            klss((3, 3), 4, 60),
            klss((3, 2), 1, 50),
            klss((1, 1), 7, 51),
            Method::Of(Library::Seal, layout(1, 1)),
            Method::Of(Library::OpenFhe, layout(1, 1)),
            Method::Of(Library::OpenFhe, layout(3, 2)),
        ] {
            let KeyLayout { special, alpha, .. } = method.layout();
            for limbs in 1..=6 {
                let writer = OperationWriter::new("switch", log_n, (q, &p[..special]), alpha).unwrap();
                let mut writer = writer.by(method.clone()).at(limbs).unwrap();
                writer.append(Operation::KeySwitch).unwrap();
                let program = writer.finish().unwrap();
                assert_eq!(Work::of(&program), Work::of_switch(&method, limbs, bits), "{method:?}, {limbs}");
            }
        }
    }
}
