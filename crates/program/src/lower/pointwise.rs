//! Operations that treat every word alike: sums, products, the tensor product.

use super::{LowerError, Lowering, Poly};
use crate::limb::{LimbBuilder, ModulusId, Operand, SectionKind};

impl Lowering {
    fn zip(
        &mut self,
        a: &[Operand],
        b: &[Operand],
        f: fn(&mut LimbBuilder, Operand, Operand) -> Operand,
    ) -> Result<Poly, LowerError> {
        if a.len() != b.len() {
            return Err(LowerError::Levels { left: a.len(), right: b.len() });
        }
        Ok(a.iter().zip(b).map(|(&a, &b)| f(&mut self.builder, a, b)).collect())
    }

    /// a + b.
    ///
    /// # Errors
    /// Different numbers of limbs.
    pub fn add(&mut self, a: &[Operand], b: &[Operand]) -> Result<Poly, LowerError> {
        self.zip(a, b, LimbBuilder::add)
    }

    /// a − b.
    ///
    /// # Errors
    /// Different numbers of limbs.
    pub fn sub(&mut self, a: &[Operand], b: &[Operand]) -> Result<Poly, LowerError> {
        self.zip(a, b, LimbBuilder::sub)
    }

    /// a·b.
    ///
    /// # Errors
    /// Different numbers of limbs.
    pub fn mul(&mut self, a: &[Operand], b: &[Operand]) -> Result<Poly, LowerError> {
        self.zip(a, b, LimbBuilder::mul)
    }

    /// −a.
    pub fn neg(&mut self, a: &[Operand]) -> Poly {
        a.iter().map(|&a| self.builder.neg(a)).collect()
    }

    /// c·a for limbs of `moduli`, `residue` giving the integer c modulo each.
    pub fn mul_integer(
        &mut self,
        a: &[Operand],
        moduli: &[ModulusId],
        residue: impl Fn(&Self, ModulusId) -> u64,
    ) -> Poly {
        let limbs = a.iter().zip(moduli);
        limbs
            .map(|(&a, &m)| {
                let c = residue(self, m);
                self.builder.mul_const(a, c)
            })
            .collect()
    }

    /// a + c, `residue` giving the integer c modulo each prime: in the evaluation domain c is the same in every word.
    pub fn add_integer(&mut self, a: &[Operand], residue: impl Fn(&Self, ModulusId) -> u64) -> Poly {
        (0..a.len())
            .map(|i| {
                let c = residue(self, self.basis.q()[i]);
                self.builder.add_const(a[i], c)
            })
            .collect()
    }

    /// (a_0 + a_1·s)(b_0 + b_1·s) = d_0 + d_1·s + d_2·s²: limb by limb, so that each limb of the operands is read once.
    ///
    /// # Errors
    /// Different numbers of limbs.
    pub fn tensor(&mut self, a: [&[Operand]; 2], b: [&[Operand]; 2]) -> Result<[Poly; 3], LowerError> {
        let limbs = a[0].len();
        if let Some(other) = [a[1], b[0], b[1]].iter().find(|p| p.len() != limbs) {
            return Err(LowerError::Levels { left: limbs, right: other.len() });
        }
        self.region("tensor");
        self.builder.begin_section(SectionKind::Tensor { limbs: limbs as u32 });
        let mut d = [Vec::new(), Vec::new(), Vec::new()];
        for i in 0..limbs {
            d[0].push(self.builder.mul(a[0][i], b[0][i]));
            d[1].push(self.builder.dot(&[a[0][i], a[1][i]], &[b[1][i], b[0][i]]));
            d[2].push(self.builder.mul(a[1][i], b[1][i]));
        }
        self.builder.end_section();
        Ok(d)
    }

    /// (a_0 + a_1·s)²: d_1 = 2·a_0·a_1 costs one product instead of two.
    ///
    /// # Errors
    /// Different numbers of limbs.
    pub fn tensor_square(&mut self, a: [&[Operand]; 2]) -> Result<[Poly; 3], LowerError> {
        if a[0].len() != a[1].len() {
            return Err(LowerError::Levels { left: a[0].len(), right: a[1].len() });
        }
        self.region("tensor");
        self.builder.begin_section(SectionKind::Tensor { limbs: a[0].len() as u32 });
        let mut d = [Vec::new(), Vec::new(), Vec::new()];
        for (&x, &y) in a[0].iter().zip(a[1]) {
            d[0].push(self.builder.mul(x, x));
            let cross = self.builder.mul(x, y);
            d[1].push(self.builder.add(cross, cross));
            d[2].push(self.builder.mul(y, y));
        }
        self.builder.end_section();
        Ok(d)
    }
}
