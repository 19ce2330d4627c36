//! Instructions prime by prime: what follows from a raised polynomial, in the order of primes rather than of operations.
//!
//! # Pass: go prime by prime
//!
//! - Purpose: results of one operation that the next ones read prime by prime do not live all at once.
//! - Requires: a verified limb program, an order of its instructions, and a window of that order.
//! - Guarantees: an order of the same instructions in which operands stand before their readers. Outside of the window nothing moves.
//!   Bits do not depend on it. It may take more memory: a caller compares.
//! - Example, of all instructions:
//!
//! ```text
//! limb example : 2^4 {
//!   modulus q0 = 1073741441
//!   modulus q1 = 1073740609
//!   input data a : eval q0 q1
//!   input data b : eval q0 q1
//!   output y : eval q0 q1
//!   %0 = mul a.0, b.0 : q0 eval
//!   %1 = mul a.1, b.1 : q1 eval
//!   %2 = add %0, a.0 : q0 eval
//!   %3 = add %1, a.1 : q1 eval
//!   store %2 -> y.0
//!   store %3 -> y.1
//! }
//! ```
//!
//! A linear map rotates one polynomial by several distances and adds products of the rotations, several sums of them. Operation
//! by operation all rotations are there at once, each 2(ℓ + 1 + K) limbs. Prime by prime only the sums are, and digits are raised where
//! they are read. The same holds for sums of powers in a polynomial. So the order of output primes in key switches ("output-centric"
//! in CiFlow, arXiv 2311.01598) goes over several operations here.

use std::collections::HashMap;
use std::ops::Range;

use crate::limb::{InputClass, LimbProgram, ModulusId, Opcode, Operand, Source, ValueId};

/// How many base conversions lie between a window's first values and the last ones that are computed prime by prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// None: sums and products.
    Pointwise,
    /// One: what is raised in the window, and what follows from it.
    Raised,
}

/// Where an instruction of the window goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Conversions follow from it: it stands first, in the old order.
    First,
    /// It goes with its prime.
    ByPrime,
    /// It stands last, in the old order.
    Last,
}

/// What is known of an instruction of the window.
#[derive(Clone, Copy)]
struct Known {
    /// Base conversions on the longest way to it from values before the window.
    depth: u32,
    /// Whether it follows from plaintexts alone: it may be computed where it is read.
    plain: bool,
    part: Part,
}

/// The instructions of a window of an order prime by prime; none if that is the order in which they are.
pub fn by_primes(
    program: &LimbProgram,
    order: &[u32],
    window: Range<usize>,
    reach: Reach,
) -> Option<Vec<u32>> {
    let window = order.get(window)?;
    let most = u32::from(reach == Reach::Raised);
    let mut makers: HashMap<ValueId, usize> = HashMap::with_capacity(window.len());
    let mut known: Vec<Known> = Vec::with_capacity(window.len());
    for (at, &i) in window.iter().enumerate() {
        let i = i as usize;
        let of = |operand: &Operand| operand.value().and_then(|v| makers.get(&v)).map(|&maker| known[maker]);
        let operands = program.operands(i);
        let plain = operands.iter().all(|operand| is_plain(program, *operand, of(operand)));
        let depth = operands.iter().filter_map(of).map(|k| k.depth).max().unwrap_or(0);
        let depth = depth + u32::from(converts(program.opcode(i)) && !plain);
        known.push(Known { depth, plain, part: Part::Last });
        if let Some(v) = program.defined(i) {
            makers.insert(v, at);
        }
    }
    // From the end: which conversions that take part follow from it, and whether anything that takes part reads it.
    let (mut needed, mut read) = (vec![false; window.len()], vec![false; window.len()]);
    for (at, &i) in window.iter().enumerate().rev() {
        let (i, own) = (i as usize, known[at]);
        if own.depth > most || own.plain && !read[at] {
            continue;
        }
        let before = needed[at] && (own.plain || own.depth < most);
        known[at].part = match modulus_of(program, i) {
            _ if before => Part::First,
            // A quotient is of all primes at once.
            None => Part::Last,
            Some(_) => Part::ByPrime,
        };
        for maker in program.operands(i).iter().filter_map(|o| makers.get(&o.value()?)) {
            read[*maker] = true;
            needed[*maker] |= needed[at] || converts(program.opcode(i));
        }
    }
    let mut primes: HashMap<ModulusId, usize> = HashMap::new();
    let mut keys: Vec<(Part, usize, usize)> = Vec::with_capacity(window.len());
    for (at, &i) in window.iter().enumerate() {
        let part = known[at].part;
        let count = primes.len();
        let prime = modulus_of(program, i as usize).filter(|_| part == Part::ByPrime);
        keys.push((part, prime.map_or(0, |m| *primes.entry(m).or_insert(count)), at));
    }
    keys.sort_unstable();
    let moved = keys.iter().enumerate().any(|(place, key)| place != key.2);
    moved.then(|| keys.into_iter().map(|(_, _, at)| window[at]).collect())
}

/// Whether an operand follows from plaintexts alone; `maker` is what is known of the instruction of the window that makes it.
fn is_plain(program: &LimbProgram, operand: Operand, maker: Option<Known>) -> bool {
    match operand.source() {
        Source::Value(_) => maker.is_some_and(|known| known.plain),
        Source::Input(input) => program.input_group(input).class == InputClass::Plain,
    }
}

/// Whether the result is of another modulus than the operands.
const fn converts(op: Opcode) -> bool {
    matches!(op, Opcode::Lift | Opcode::Convert | Opcode::ConvertFast)
}

/// The modulus that an instruction works in; none of a quotient.
fn modulus_of(program: &LimbProgram, i: usize) -> Option<ModulusId> {
    match program.defined(i) {
        Some(v) => program.value_type(v).modulus(),
        None => program.operands(i).first().and_then(|&o| program.operand_type(o).modulus()),
    }
}
