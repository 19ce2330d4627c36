//! Rotations: where their digits come from, and sums of them.

use super::super::turns::{Summand, Term};
use super::*;

impl Walk<'_> {
    /// The digits of what `v` rotates, if other rotations share them: raised for the first of these, forgotten after the last.
    pub(super) fn shared_digits(&mut self, v: Value) -> Result<Option<Hoisted>, LowerError> {
        let op = &self.he.instr(v).op;
        let (Some((id, a)), Some(&method)) = (self.key_of(op), self.method_of.get(&v)) else {
            return Ok(None);
        };
        let name = (hoist_group(op), method);
        let Some(group) = self.hoisted.get_mut(&name) else { return Ok(None) };
        let raised = match group.raised.take() {
            Some(raised) => raised,
            None if group.members < 2 => return Ok(None),
            None => match self.coefficients_over_t(a)? {
                Some(c1) => self.low.hoist_coefficients(&c1, &self.keys[&(id, method)])?,
                None => {
                    let c1 = self.switched(a)?;
                    self.low.hoist(&c1, &self.keys[&(id, method)])?
                }
            },
        };
        if let Some(group) = self.hoisted.get_mut(&name) {
            group.members -= 1;
            group.raised = (group.members > 0).then(|| raised.clone());
        }
        Ok(Some(raised))
    }

    /// The polynomial c_1 of a value that is rotated: what a key switch takes digits of.
    pub(super) fn switched(&mut self, a: Value) -> Result<Poly, LowerError> {
        let c1 = self.part(a, 1);
        if self.extended.is(a) { self.low.reduced(&c1, false) } else { Ok(c1) }
    }

    /// The sum of rotations and other values, multiplied by P.
    pub(super) fn sum_of_turns(&mut self, terms: &[Term]) -> Result<[Poly; 2], LowerError> {
        let mut raised = Vec::with_capacity(terms.len());
        let mut parts = Vec::with_capacity(terms.len());
        for &(v, _) in terms {
            let inside = self.turns.is_inside(v);
            raised.push(if inside { self.shared_digits(v)? } else { None });
            parts.push(match self.key_of(&self.he.instr(v).op) {
                Some((_, a)) if inside => self.two(a),
                _ => self.undivided(v),
            });
        }
        let mut summands = Vec::with_capacity(terms.len());
        for ((&(v, minus), raised), parts) in terms.iter().zip(&raised).zip(&parts) {
            let op = &self.he.instr(v).op;
            let turn = raised.as_ref().zip(galois(self.chain, op)).zip(self.key_of(op));
            let method = self.method_of.get(&v).copied().unwrap_or_default();
            let summand = match turn {
                None => Summand::Value(parts.clone()),
                Some(((raised, galois), (id, _))) => Summand::Turn(
                    raised.switching(&parts[0], End::Extended, galois),
                    &self.keys[&(id, method)],
                ),
            };
            summands.push((summand, minus));
        }
        self.low.sum_of_turns(&summands)
    }
}
