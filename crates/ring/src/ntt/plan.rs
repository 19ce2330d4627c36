//! The public facade: which arithmetic serves a prime on an instruction set, and the four transforms.

use std::{marker::PhantomData, ops::Range, sync::Arc};

use crate::{
    Backend, Isa, Modulus, RingError,
    ahead::Ahead,
    form::Form,
    lanes::{Kernel, Lanes, Madd52Lanes, Scalar, U64Lanes},
    ntt::{
        arith::Arith,
        binary64::Binary64,
        choice,
        engine::Engine,
        fold52::{Fold52, Shape},
        parts::Ends,
        shoup64::{Plain, Products52, Shoup64},
        tables::Tables,
        wide64::Wide64,
        window52::{self, NARROW, TIGHT, WIDE, Window, Window52},
    },
};

/// Tables and chosen kernels of the negacyclic transform of one degree N = 2^log_n, 1 ≤ log_n ≤ 17, modulo one prime.
///
/// Cloning shares the tables. Every slice holds N words. *Bit-reversed order* is that of
/// [`crate::reference::forward`].
#[derive(Debug, Clone)]
pub struct Plan {
    log_n: u32,
    pub(super) q: Modulus,
    backend: Backend,
    arithmetic: Arithmetic,
    pub(super) tables: Arc<Tables>,
}

/// What the butterflies are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Arithmetic {
    /// [`Shoup64`] on one lane, for degrees that do not fill the vectors, and where vectors have no products of 64-bit words.
    Narrow,
    /// [`Shoup64`].
    Shoup64,
    /// [`Binary64`].
    Binary64,
    /// [`Wide64`].
    Wide64 { above: bool },
    /// [`Fold52`].
    Fold52 { above: bool },
    /// [`Window52`].
    Window52(Window),
}

impl Arithmetic {
    /// What serves q on `isa`, best first where it does not depend on the CPU.
    pub(super) fn candidates(log_n: u32, q: Modulus, isa: Isa) -> Vec<Self> {
        let log_width = isa.width().trailing_zeros();
        if isa.width() == 1 || log_n <= 2 * log_width {
            return vec![Self::Narrow];
        }
        let mut list = Vec::new();
        if let (Isa::Ifma | Isa::Emulated8, Some(shape)) = (isa, Shape::of(q)) {
            if shape.b <= window52::MAX_B {
                list.push(Self::Window52(Window::of(shape)));
            } else {
                list.push(Self::Fold52 { above: shape.above });
            }
        }
        if Binary64::<Scalar>::serves(q) {
            list.push(Self::Binary64);
        }
        if Wide64::<Scalar, false>::serves(q) {
            list.push(Self::Wide64 { above: false });
        }
        if Wide64::<Scalar, true>::serves(q) {
            list.push(Self::Wide64 { above: true });
        }
        list.push(if isa.has_products64() { Self::Shoup64 } else { Self::Narrow });
        list
    }
}

impl Plan {
    /// Least log2 N.
    pub const MIN_LOG_N: u32 = 1;
    /// Greatest log2 N.
    pub const MAX_LOG_N: u32 = 17;

    /// Takes about N modular multiplications for the powers and as many encodings.
    ///
    /// # Errors
    /// [`RingError::Degree`], [`RingError::NoRoot`] if q ≢ 1 mod 2N, [`RingError::IsaUnavailable`].
    pub fn new(log_n: u32, q: Modulus, isa: Isa) -> Result<Self, RingError> {
        if !(Self::MIN_LOG_N..=Self::MAX_LOG_N).contains(&log_n) {
            return Err(RingError::Degree { log_n, min: Self::MIN_LOG_N, max: Self::MAX_LOG_N });
        }
        Self::with_arithmetic(log_n, q, isa, choice::best(log_n, q, isa))
    }

    pub(super) fn with_arithmetic(
        log_n: u32,
        q: Modulus,
        isa: Isa,
        arithmetic: Arithmetic,
    ) -> Result<Self, RingError> {
        Self::within(log_n, log_n, q, isa, arithmetic)
    }

    /// The plan of degree 2^log_n with the root of unity that follows from that of degree 2^whole.
    fn within(
        log_n: u32,
        whole: u32,
        q: Modulus,
        isa: Isa,
        arithmetic: Arithmetic,
    ) -> Result<Self, RingError> {
        let backend = Backend::new(isa)?;
        let key = ([log_n, whole], q.value(), isa, arithmetic);
        let build = || {
            let psi = q.pow(q.psi(whole)?, 1 << (whole - log_n));
            backend.run(Build { log_n, q, psi, arithmetic })
        };
        let tables = super::shared::tables(key, build)?;
        Ok(Self { log_n, q, backend, arithmetic, tables })
    }

    /// The transform of polynomials in X^(N/n), n = 2^`log_n`, of which it takes every N/n-th coefficient: word j of the result
    /// stands N/n times, from word j·N/n on, in the transform of the polynomial itself.
    ///
    /// # Errors
    /// [`RingError::Degree`] if n is below 2 or above N.
    pub fn subring(&self, log_n: u32) -> Result<Self, RingError> {
        if !(Self::MIN_LOG_N..=self.log_n).contains(&log_n) {
            return Err(RingError::Degree { log_n, min: Self::MIN_LOG_N, max: self.log_n });
        }
        Self::within(log_n, self.log_n, self.q, self.isa(), choice::best(log_n, self.q, self.isa()))
    }

    /// N.
    pub fn n(&self) -> usize {
        1 << self.log_n
    }
    /// The prime.
    pub fn modulus(&self) -> Modulus {
        self.q
    }
    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.backend.isa()
    }
    /// The kind of arithmetic, for reports: `"window52"`, `"fold52"`, `"binary64"`, `"wide64"`, `"shoup64"` or `"scalar"`.
    pub fn arithmetic(&self) -> &'static str {
        match self.arithmetic {
            Arithmetic::Narrow => "scalar",
            Arithmetic::Shoup64 => "shoup64",
            Arithmetic::Binary64 => "binary64",
            Arithmetic::Wide64 { .. } => "wide64",
            Arithmetic::Fold52 { .. } => "fold52",
            Arithmetic::Window52(_) => "window52",
        }
    }

    /// The form of left factors of inner products that its transforms may end in.
    pub(crate) fn factors(&self) -> Form {
        match self.arithmetic {
            Arithmetic::Narrow | Arithmetic::Shoup64 | Arithmetic::Wide64 { .. } => Form::Canonical,
            Arithmetic::Binary64 => Binary64::<Scalar>::FACTORS,
            Arithmetic::Fold52 { .. } | Arithmetic::Window52(_) => Form::Low52,
        }
    }

    /// Coefficients → evaluations in place: canonical in natural order → canonical in bit-reversed order.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn forward(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.run(Direction::Forward, a)
    }
    /// Evaluations → coefficients in place: undoes [`Self::forward`], 1/N included. Words below 2q are accepted.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn inverse(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.run(Direction::Inverse, a)
    }

    pub(super) fn check(&self, a: &[u64]) -> Result<(), RingError> {
        if a.len() == self.n() {
            Ok(())
        } else {
            Err(RingError::Length { what: "limb", expected: self.n(), got: a.len() })
        }
    }
    fn run(&self, direction: Direction, a: &mut [u64]) -> Result<(), RingError> {
        self.check(a)?;
        let runs = 0..self.tables.runs.len();
        self.apply(direction, Part { plan: self, a, runs, ends: Ends::default() });
        Ok(())
    }
    pub(super) fn run_part(
        &self,
        direction: Direction,
        a: &mut [u64],
        runs: Range<usize>,
        ends: Ends<'_>,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.apply(direction, Part { plan: self, a, runs, ends });
        Ok(())
    }
    /// Each arithmetic and direction is entered through a kernel of its own: the compiler takes far longer over one
    /// function that holds them all.
    fn apply(&self, direction: Direction, part: Part<'_>) {
        match direction {
            Direction::Forward => self.apply_to::<true>(part),
            Direction::Inverse => self.apply_to::<false>(part),
        }
    }
    fn apply_to<const FORWARD: bool>(&self, part: Part<'_>) {
        match self.arithmetic {
            Arithmetic::Narrow => part.with::<Shoup64<Plain<Scalar>>, FORWARD>(Scalar),
            Arithmetic::Shoup64 => self.backend.run(Apply::<OnShoup64, FORWARD>(part, PhantomData)),
            Arithmetic::Binary64 => self.backend.run(Apply::<OnBinary64, FORWARD>(part, PhantomData)),
            Arithmetic::Wide64 { above: false } => {
                self.backend.run(Apply::<OnWide64<false>, FORWARD>(part, PhantomData))
            }
            Arithmetic::Wide64 { above: true } => {
                self.backend.run(Apply::<OnWide64<true>, FORWARD>(part, PhantomData))
            }
            Arithmetic::Fold52 { above: false } => {
                self.backend.run(Apply::<OnFold52<false>, FORWARD>(part, PhantomData))
            }
            Arithmetic::Fold52 { above: true } => {
                self.backend.run(Apply::<OnFold52<true>, FORWARD>(part, PhantomData))
            }
            Arithmetic::Window52(Window::Wide) => {
                self.backend.run(Apply::<OnWindow52<WIDE>, FORWARD>(part, PhantomData))
            }
            Arithmetic::Window52(Window::Narrow) => {
                self.backend.run(Apply::<OnWindow52<NARROW>, FORWARD>(part, PhantomData))
            }
            Arithmetic::Window52(Window::Tight) => {
                self.backend.run(Apply::<OnWindow52<TIGHT>, FORWARD>(part, PhantomData))
            }
        }
    }
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Inverse,
}

/// What to do of a transform, with data whose length has been checked.
struct Part<'a> {
    plan: &'a Plan,
    a: &'a mut [u64],
    /// Those of the tables.
    runs: Range<usize>,
    ends: Ends<'a>,
}
impl Part<'_> {
    #[inline(always)]
    fn with<A: Arith, const FORWARD: bool>(self, lanes: A::L) {
        let (tables, a) = (&*self.plan.tables, self.a.as_mut_ptr());
        let Ends { source, first, lift, scale, difference, factors, ahead, own } = self.ends;
        let source = source.map_or(a.cast_const(), |source| source.as_ptr().wrapping_sub(first));
        // Held in memory: made anew beside the butterflies its vectors would take registers, 4 % of an inverse transform.
        // (Of the pairs of registers of one vector it would then not be known that they are equal.)
        let arith = A::new(lanes, self.plan.q);
        let arith = if A::L::PAIRS { arith } else { std::hint::black_box(arith) };
        let scale = scale.unwrap_or(tables.scale);
        let engine = Engine { arith, tables, source, lift, scale, difference, factors };
        let runs = &tables.runs[self.runs];
        let own = (a.cast_const().wrapping_add(own.0), own.1);
        let ahead = Ahead::new(own, ahead, Engine::<A>::steps(runs));
        // SAFETY: `Plan` checked that the limb holds N words, that the source holds those that `runs` read and the operands
        // of a difference those that they write; the tables were built for this arithmetic.
        unsafe { if FORWARD { engine.forward(a, runs, ahead) } else { engine.inverse(a, runs, ahead) } }
    }
}

/// An arithmetic whose lanes are still to be chosen.
trait Family {
    /// On any lanes.
    fn run<const FORWARD: bool, L: Lanes>(part: Part<'_>, lanes: L);
    /// On lanes with 52-bit multiply-add.
    fn run52<const FORWARD: bool, L: Lanes + Madd52Lanes>(part: Part<'_>, lanes: L);
}
struct OnShoup64;
impl Family for OnShoup64 {
    #[inline(always)]
    fn run<const FORWARD: bool, L: Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Shoup64<Plain<L>>, FORWARD>(lanes);
    }
    #[inline(always)]
    fn run52<const FORWARD: bool, L: Lanes + Madd52Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Shoup64<Products52<L>>, FORWARD>(lanes);
    }
}
struct OnBinary64;
impl Family for OnBinary64 {
    #[inline(always)]
    fn run<const FORWARD: bool, L: Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Binary64<L>, FORWARD>(lanes);
    }
    #[inline(always)]
    fn run52<const FORWARD: bool, L: Lanes + Madd52Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Binary64<L>, FORWARD>(lanes);
    }
}
struct OnWide64<const ABOVE: bool>;
impl<const ABOVE: bool> Family for OnWide64<ABOVE> {
    #[inline(always)]
    fn run<const FORWARD: bool, L: Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Wide64<L, ABOVE>, FORWARD>(lanes);
    }
    #[inline(always)]
    fn run52<const FORWARD: bool, L: Lanes + Madd52Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Wide64<L, ABOVE>, FORWARD>(lanes);
    }
}
struct OnFold52<const ABOVE: bool>;
impl<const ABOVE: bool> Family for OnFold52<ABOVE> {
    #[inline(always)]
    fn run<const FORWARD: bool, L: Lanes>(_: Part<'_>, _: L) {
        unreachable!("`Arithmetic::candidates` offers it on lanes with 52-bit multiply-add only");
    }
    #[inline(always)]
    fn run52<const FORWARD: bool, L: Lanes + Madd52Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Fold52<L, ABOVE>, FORWARD>(lanes);
    }
}
struct OnWindow52<const WINDOW: u8>;
impl<const WINDOW: u8> Family for OnWindow52<WINDOW> {
    #[inline(always)]
    fn run<const FORWARD: bool, L: Lanes>(_: Part<'_>, _: L) {
        unreachable!("`Arithmetic::candidates` offers it on lanes with 52-bit multiply-add only");
    }
    #[inline(always)]
    fn run52<const FORWARD: bool, L: Lanes + Madd52Lanes>(part: Part<'_>, lanes: L) {
        part.with::<Window52<L, WINDOW>, FORWARD>(lanes);
    }
}

/// A [`Part`] in an arithmetic and direction.
struct Apply<'a, F, const FORWARD: bool>(Part<'a>, PhantomData<F>);
impl<F: Family, const FORWARD: bool> Kernel for Apply<'_, F, FORWARD> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        // One lane never gets here (`Plan::apply_to`); said so that no code is made for it.
        if L::WIDTH > 1 {
            F::run::<FORWARD, L>(self.0, lanes);
        }
    }
    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, lanes: L) {
        F::run52::<FORWARD, L>(self.0, lanes);
    }
}

/// The tables for an arithmetic.
struct Build {
    log_n: u32,
    q: Modulus,
    psi: u64,
    arithmetic: Arithmetic,
}
impl Kernel for Build {
    type Output = Result<Tables, RingError>;
    fn run<L: Lanes>(self, _: L) -> Self::Output {
        match self.arithmetic {
            Arithmetic::Narrow => Tables::new::<Shoup64<Plain<Scalar>>>(self.log_n, self.q, self.psi),
            Arithmetic::Binary64 => Tables::new::<Binary64<L>>(self.log_n, self.q, self.psi),
            Arithmetic::Wide64 { .. } => Tables::new::<Wide64<L, false>>(self.log_n, self.q, self.psi),
            Arithmetic::Shoup64 | Arithmetic::Fold52 { .. } | Arithmetic::Window52(_) => {
                Tables::new::<Shoup64<Plain<L>>>(self.log_n, self.q, self.psi)
            }
        }
    }
    fn run52<L: Lanes + Madd52Lanes>(self, lanes: L) -> Self::Output {
        match self.arithmetic {
            Arithmetic::Fold52 { above: false } => {
                Tables::new::<Fold52<L, false>>(self.log_n, self.q, self.psi)
            }
            Arithmetic::Fold52 { above: true } => {
                Tables::new::<Fold52<L, true>>(self.log_n, self.q, self.psi)
            }
            Arithmetic::Window52(Window::Wide) => {
                Tables::new::<Window52<L, WIDE>>(self.log_n, self.q, self.psi)
            }
            Arithmetic::Window52(Window::Narrow) => {
                Tables::new::<Window52<L, NARROW>>(self.log_n, self.q, self.psi)
            }
            Arithmetic::Window52(Window::Tight) => {
                Tables::new::<Window52<L, TIGHT>>(self.log_n, self.q, self.psi)
            }
            Arithmetic::Shoup64 => Tables::new::<Shoup64<Products52<L>>>(self.log_n, self.q, self.psi),
            _ => self.run(lanes),
        }
    }
}
