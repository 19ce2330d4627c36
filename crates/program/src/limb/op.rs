//! The table of instructions. The verifier checks by it, the machines implement it, and
//! `docs/limb-program.md` is printed from it.

use super::types::Domain;

/// What a limb instruction does. The rows of [`OpSpec::TABLE`] say what each one means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Copy of an input limb.
    Load,
    /// Copy into an output limb.
    Store,
    /// Coefficients to the evaluation domain.
    Ntt,
    /// Evaluation domain to coefficients.
    Intt,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Negation.
    Neg,
    /// Word by word product.
    Mul,
    /// Product added to an accumulator.
    Mac,
    /// Product with a constant.
    MulConst,
    /// Sum with a constant.
    AddConst,
    /// Difference times a constant.
    SubMulConst,
    /// Centred residue modulo another prime.
    Lift,
    /// Rounded quotient of a base conversion.
    Quotient,
    /// Base conversion, centred by a quotient.
    Convert,
    /// Base conversion without quotient.
    ConvertFast,
    /// Sum of products.
    Dot,
    /// Galois automorphism.
    Automorphism,
}

/// The operands of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One input limb.
    Input,
    /// This many limbs, all of the result's modulus.
    Same(u8),
    /// One limb of another modulus than the result's.
    Other,
    /// One limb of each source modulus, 2 to [`OpSpec::MAX_SOURCES`], all different.
    Sources,
    /// As `Sources`, none of them the result's modulus, then a limb of quotients of the same sources.
    SourcesAndQuotient,
    /// As `Sources`, or a single limb, none of them of the result's modulus.
    SourcesOnly,
    /// Two lists of equal length, at least 1, all of the result's modulus.
    Pairs,
}

/// The constant an instruction carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Immediate {
    /// None.
    None,
    /// A canonical residue of the result's modulus.
    Residue,
    /// A Galois element: odd, in 1..2N.
    Galois,
}

/// One row of the table: everything that is fixed about an instruction.
#[derive(Debug, Clone, Copy)]
pub struct OpSpec {
    /// The opcode.
    pub op: Opcode,
    /// Its name in text.
    pub name: &'static str,
    /// How it is written.
    pub syntax: &'static str,
    /// Its operands.
    pub shape: Shape,
    /// Domain that operands must have; none: any residue domain, the same for all and for the result.
    pub from: Option<Domain>,
    /// Domain of the result; none: that of the operands.
    pub to: Option<Domain>,
    /// Its constant.
    pub immediate: Immediate,
    /// Whether the result may take the buffer of operand 0 (and of that operand only).
    pub in_place: bool,
    /// The meaning on integers; x\[k\] is word k, q the modulus of the result, all results canonical.
    pub meaning: &'static str,
}

use Domain::{Coeff, Eval, Quotient};

const fn pointwise(
    op: Opcode,
    name: &'static str,
    syntax: &'static str,
    count: u8,
    meaning: &'static str,
) -> OpSpec {
    OpSpec {
        op,
        name,
        syntax,
        shape: Shape::Same(count),
        from: None,
        to: None,
        immediate: Immediate::None,
        in_place: true,
        meaning,
    }
}

impl Shape {
    /// How few limbs a base conversion of this shape may have.
    pub(super) const fn least_sources(self) -> usize {
        if matches!(self, Self::SourcesOnly) { 1 } else { 2 }
    }
}

impl OpSpec {
    /// Greatest number of sources of a base conversion: with 64, the sum that gives the quotient stays below 2^35.
    pub const MAX_SOURCES: usize = 64;

    /// The table, in the order of [`Opcode`].
    pub const TABLE: [Self; 18] = [
        Self {
            shape: Shape::Input,
            in_place: false,
            ..pointwise(Opcode::Load, "load", "r = load x", 1, "r[k] = x[k], x an input limb")
        },
        Self {
            in_place: false,
            ..pointwise(Opcode::Store, "store", "store a -> y", 1, "y[k] = a[k], y an output limb")
        },
        Self {
            from: Some(Coeff),
            to: Some(Eval),
            ..pointwise(
                Opcode::Ntt,
                "ntt",
                "r = ntt a",
                1,
                "r[k] = Σ_j a[j]·ψ^(j·(2·brv(k)+1)) mod q, brv reversing log2 N bits, ψ the least primitive 2N-th root of unity mod q",
            )
        },
        Self {
            from: Some(Eval),
            to: Some(Coeff),
            ..pointwise(Opcode::Intt, "intt", "r = intt a", 1, "the r with ntt r = a; 1/N included")
        },
        pointwise(Opcode::Add, "add", "r = add a, b", 2, "r[k] = a[k] + b[k] mod q"),
        pointwise(Opcode::Sub, "sub", "r = sub a, b", 2, "r[k] = a[k] − b[k] mod q"),
        pointwise(Opcode::Neg, "neg", "r = neg a", 1, "r[k] = −a[k] mod q"),
        Self {
            from: Some(Eval),
            ..pointwise(Opcode::Mul, "mul", "r = mul a, b", 2, "r[k] = a[k]·b[k] mod q")
        },
        Self {
            from: Some(Eval),
            ..pointwise(Opcode::Mac, "mac", "r = mac a, b, c", 3, "r[k] = a[k] + b[k]·c[k] mod q")
        },
        Self {
            immediate: Immediate::Residue,
            ..pointwise(Opcode::MulConst, "mul_const", "r = mul_const a, c", 1, "r[k] = a[k]·c mod q")
        },
        Self {
            immediate: Immediate::Residue,
            from: Some(Eval),
            ..pointwise(
                Opcode::AddConst,
                "add_const",
                "r = add_const a, c",
                1,
                "r[k] = a[k] + c mod q (in the evaluation domain this adds the constant polynomial c)",
            )
        },
        Self {
            immediate: Immediate::Residue,
            ..pointwise(
                Opcode::SubMulConst,
                "sub_mul_const",
                "r = sub_mul_const a, b, c",
                2,
                "r[k] = (a[k] − b[k])·c mod q",
            )
        },
        Self {
            shape: Shape::Other,
            from: Some(Coeff),
            in_place: false,
            ..pointwise(
                Opcode::Lift,
                "lift",
                "r = lift a",
                1,
                "r[k] = z mod q, z = a[k] if 2·a[k] < s, else a[k] − s, s the modulus of a",
            )
        },
        Self {
            shape: Shape::Sources,
            from: Some(Coeff),
            to: Some(Quotient),
            in_place: false,
            ..pointwise(
                Opcode::Quotient,
                "quotient",
                "v = quotient [y_0, …]",
                1,
                "v[k] = ⌊(2^27 + Σ_i ⌊y_i[k]/2^h_i⌋·R_i) / 2^28⌋, y_i modulo s_i, h_i = max(0, bits(s_i) − 14), R_i = ⌊2^(28+h_i)/s_i⌋",
            )
        },
        Self {
            shape: Shape::SourcesAndQuotient,
            from: Some(Coeff),
            in_place: false,
            ..pointwise(
                Opcode::Convert,
                "convert",
                "r = convert [y_0, …], v",
                1,
                "r[k] = Σ_i y_i[k]·(S/s_i) − v[k]·S mod q, y_i modulo s_i, S = Π s_i",
            )
        },
        Self {
            shape: Shape::SourcesOnly,
            from: Some(Coeff),
            in_place: false,
            ..pointwise(
                Opcode::ConvertFast,
                "convert_fast",
                "r = convert_fast [y_0, …]",
                1,
                "r[k] = Σ_i y_i[k]·(S/s_i) mod q, y_i modulo s_i, S = Π s_i; of one limb y_0[k] mod q, y_0[k] in [0, s_0)",
            )
        },
        Self {
            shape: Shape::Pairs,
            from: Some(Eval),
            in_place: false,
            ..pointwise(Opcode::Dot, "dot", "r = dot [a_0, …], [b_0, …]", 1, "r[k] = Σ_i a_i[k]·b_i[k] mod q")
        },
        Self {
            from: Some(Eval),
            immediate: Immediate::Galois,
            in_place: false,
            ..pointwise(
                Opcode::Automorphism,
                "automorphism",
                "r = automorphism a, g",
                1,
                "r = ntt of p(X^g) mod X^N + 1 where a = ntt of p: r[k] = a[j] with 2·brv(j)+1 = g·(2·brv(k)+1) mod 2N",
            )
        },
    ];

    /// The row whose name is `name`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        const TABLE: &[OpSpec] = &OpSpec::TABLE;
        TABLE.iter().find(|row| row.name == name)
    }
}

impl Opcode {
    /// The instruction's row.
    #[inline]
    pub fn spec(self) -> &'static OpSpec {
        const TABLE: &[OpSpec] = &OpSpec::TABLE;
        &TABLE[self as usize]
    }

    /// Its name in text.
    #[inline]
    pub fn name(self) -> &'static str {
        self.spec().name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_opcodes_with_distinct_names() {
        for (i, row) in OpSpec::TABLE.iter().enumerate() {
            assert_eq!(row.op as usize, i, "{}", row.name);
            assert_eq!(OpSpec::by_name(row.name).unwrap().op, row.op, "{}", row.name);
        }
    }
}
