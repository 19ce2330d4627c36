//! The polynomials of operands, and sums of them.

use super::*;

impl Walk<'_> {
    /// The primes modulo which a value is computed.
    pub(super) fn moduli(&self, v: Value) -> Vec<ModulusId> {
        match self.extended.is_undivided(v) {
            true => self.low.extended_moduli(self.limbs(v)),
            false => self.low.basis.q()[..self.limbs(v)].to_vec(),
        }
    }

    /// The parts of an operand of v, multiplied by P if v is computed so.
    pub(super) fn operand(&mut self, a: Value, v: Value) -> [Poly; 2] {
        if self.extended.is_undivided(v) { self.undivided(a) } else { self.two(a) }
    }

    /// The parts of a value, multiplied by P.
    pub(super) fn undivided(&mut self, a: Value) -> [Poly; 2] {
        let parts = self.two(a);
        if self.extended.is(a) {
            return parts;
        }
        let low = &mut self.low;
        self.promoted.entry(a).or_insert_with(|| parts.map(|poly| low.times_p(&poly))).clone()
    }

    /// a ± b multiplied by P, and divided again where v is not.
    pub(super) fn sum_extended(
        &mut self,
        v: Value,
        [a, b]: [Value; 2],
        minus: bool,
    ) -> Result<Vec<Poly>, LowerError> {
        let sum = match self.turns.terms(v).map(<[_]>::to_vec) {
            Some(terms) => self.sum_of_turns(&terms)?,
            None => {
                let (a, b) = (self.undivided(a), self.undivided(b));
                [0, 1].map(|i| self.low.sum_extended(&a[i], &b[i], minus))
            }
        };
        self.settled(v, sum)
    }

    /// The polynomials of v, computed multiplied by P: divided where it ends a sum.
    fn settled(&mut self, v: Value, parts: [Poly; 2]) -> Result<Vec<Poly>, LowerError> {
        match self.extended.is_settled(v) {
            true => parts.iter().map(|poly| self.low.reduced(poly, false)).collect(),
            false => Ok(parts.into()),
        }
    }

    pub(super) fn factor(&self, p: Value) -> Factor {
        let limbs = self.part(p, 0);
        if self.compact.contains_key(&p) { Factor::Compact(limbs[0]) } else { Factor::Limbs(limbs) }
    }

    /// Sum `v` of products with plaintexts, and those beside it of the same primes.
    ///
    /// # Errors
    /// As a division by P.
    pub(super) fn sums_of_products(&mut self, v: Value) -> Result<(), LowerError> {
        let moduli = self.moduli(v);
        let same = |w: &Value| {
            self.moduli(*w) == moduli && self.extended.is_undivided(*w) == self.extended.is_undivided(v)
        };
        let beside: Vec<Value> = self.sums.beside(v).into_iter().filter(same).collect();
        let mut all = Vec::with_capacity(beside.len());
        for &w in &beside {
            let terms = self.sums.terms(w).unwrap_or_default().to_vec();
            all.push(terms.into_iter().map(|(x, p)| (self.operand(x, w), self.factor(p))).collect());
        }
        let sums = self.low.sums_of_products(&all, &moduli);
        for (&w, sum) in beside.iter().zip(sums) {
            self.parts[w.index()] = self.settled(w, sum)?;
        }
        Ok(())
    }

    pub(super) fn part(&self, v: Value, part: usize) -> Poly {
        self.parts[v.index()].get(part).cloned().unwrap_or_default()
    }

    pub(super) fn two(&self, v: Value) -> [Poly; 2] {
        [0, 1].map(|part| self.part(v, part))
    }

    pub(super) fn each(
        &mut self,
        a: Value,
        mut f: impl FnMut(&mut Lowering, &[crate::limb::Operand]) -> Result<Poly, LowerError>,
    ) -> Result<Vec<Poly>, LowerError> {
        let parts = self.parts[a.index()].clone();
        parts.iter().map(|poly| f(&mut self.low, poly)).collect()
    }

    /// a ± b; a part that one operand lacks is zero in it.
    pub(super) fn sum(&mut self, a: Value, b: Value, minus: bool) -> Result<Vec<Poly>, LowerError> {
        let (a, b) = (self.parts[a.index()].clone(), self.parts[b.index()].clone());
        (0..a.len().max(b.len()))
            .map(|i| match (a.get(i), b.get(i)) {
                (Some(a), Some(b)) if minus => self.low.sub(a, b),
                (Some(a), Some(b)) => self.low.add(a, b),
                (None, Some(b)) if minus => Ok(self.low.neg(b)),
                (None, Some(x)) | (Some(x), None) => Ok(x.clone()),
                (None, None) => Ok(Vec::new()),
            })
            .collect()
    }

    pub(super) fn add_scalar(&mut self, a: Value, c: f64) -> Result<Vec<Poly>, LowerError> {
        let Type::Ct(ty) = &self.he.instr(a).ty else {
            return Err(LowerError::NotManaged { program: self.he.name().to_owned() });
        };
        let integer = scaled_integer(c, &ty.scale)?;
        let mut parts = self.parts[a.index()].clone();
        if let Some(first) = parts.first_mut() {
            *first = self.low.add_integer(first, |low, m| residue_in(low, &integer, m));
        }
        Ok(parts)
    }
}
