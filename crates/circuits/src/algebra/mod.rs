//! The algebra of a traced program: an equal program with fewer levels, key switches or products.
//!
//! | rewrite | equation |
//! |---|---|
//! | affine forms | c·(a·x + b·y + d) + e·x = (ca + e)·x + cb·y + cd: one level |
//! | scalars | (a·x)·(b·y) = ab·(x·y); rot(c·x) = c·rot(x); Σ_j rot(c·x, j) = c·Σ_j rot(x, j) |
//! | common factors | a·x + a·y = a·(x + y) |
//! | balanced products | a·(b·(c·d)) = (a·b)·(c·d), powers shared |
//! | linear maps | W·(V·x) = (W·V)·x, planned anew: [`linear`](crate::linear) |
//! | polynomials | Horner's form, sums of powers and products of sums: [`polynomial`](crate::polynomial) |
//! | rotations of sums | rot(a·x + b·y) = rot(a)·rot(x) + rot(b)·rot(y), where that takes no more key switches |
//!
//! Every value of the program is brought to a normal form ([`form`]), and written again from it ([`write`]). There are
//! several ways to do so. Each is judged by its [`Cost`], and so is the program as it stands, which wins unless another
//! takes no more levels *and* no more key switches *and* less of something.
//!
//! What a normal form is read from stays as it is: inputs, plaintexts given at run time and their products, conjugates,
//! bootstrappings, and values of which something is promised.

mod cost;
mod form;
mod polynomial;
mod write;

use ringmill_program::he::{HeError, Program};
use ringmill_program::manage;

pub use cost::Cost;
use form::Forms;

/// Larger programs stay as they are: they are written by circuits, which plan what they do.
const LARGEST: usize = 20_000;

/// Which rewrites are tried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rules {
    /// Rotations of sums become sums of rotations.
    turned_sums: bool,
    /// Products are balanced.
    products: bool,
    /// Polynomials are found.
    polynomials: bool,
}

/// The ways to write a program, in the order in which they win among equals.
const WAYS: [Rules; 6] = [
    Rules { turned_sums: false, products: true, polynomials: true },
    Rules { turned_sums: true, products: true, polynomials: true },
    Rules { turned_sums: false, products: true, polynomials: false },
    Rules { turned_sums: true, products: true, polynomials: false },
    Rules { turned_sums: false, products: false, polynomials: false },
    Rules { turned_sums: true, products: false, polynomials: false },
];

/// A program and what it costs as it was and as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// The program.
    pub program: Program,
    /// What it cost.
    pub before: Cost,
    /// What it costs; the same if it stands as it did.
    pub after: Cost,
    /// The greatest size of any value, where inputs are as large as they may be.
    pub largest: f64,
}

/// Bits by which values may grow for each level that is saved: a level takes 20 to 60, and each bit here one of the base prime.
const GROWTH: i32 = 16;

/// The cheapest equal program that is found. Inputs are at most `magnitude`, and `real` or not.
///
/// # Errors
/// None for a verified traced program; a managed one is refused.
pub fn fold(traced: &Program, magnitude: f64, real: bool) -> Result<Folded, HeError> {
    let largest = |p: &Program| {
        let of = |(v, size): (usize, f64)| if p.instrs()[v].ty.is_ct() { size } else { 0.0 };
        manage::ranges(p, magnitude, real).into_iter().enumerate().map(of).fold(0.0, f64::max)
    };
    let simple = manage::simplify(traced)?;
    let before = Cost::of_simple(&simple);
    let mut best = Folded { program: traced.clone(), before, after: before, largest: largest(&simple) };
    let was = best.largest;
    if traced.instrs().len() > LARGEST {
        return Ok(best);
    }
    for rules in WAYS {
        let Some(program) =
            Forms::of(traced, rules).and_then(|forms| write::write(traced, &forms, rules, magnitude))
        else {
            continue;
        };
        let simple = manage::simplify(&program)?;
        let after = Cost::of_simple(&simple);
        if !after.no_dearer_than(&before) || after >= best.after {
            continue;
        }
        let largest = largest(&simple);
        let levels = before.depth.saturating_sub(after.depth).min(20) as i32;
        if largest <= was.max(1.0) * 2f64.powi(1 + GROWTH * levels) {
            best = Folded { program, before, after, largest };
        }
    }
    Ok(best)
}
