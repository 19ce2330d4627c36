//! The search: exact enumeration, pruned by dominance and by a bound, anytime and with a proof.
//!
//! A point is a set of parameters times a core. Its error and security depend on the parameters alone, its area on the core
//! alone, its cycles on the *shape* of the parameters and the *timing* of the core. So:
//!
//! 1. parameters and cores are enumerated and evaluated apart ([`crate::space`]);
//! 2. of parameters alike in shape and in the cores that serve them, those lose that others beat in error and security; of
//!    cores alike in timing, all lose but the smallest that fits ([`candidates`]);
//! 3. what remains is ordered by the closed form, which is a lower bound of every schedule, and simulated.
//!    The search ends when every candidate was simulated, or is beaten at its bound by a simulated one
//!    (`engine`, `steps`).
//!
//! The result says whether that end was reached: for the best by the objective, and for the whole front. The
//! reasons: `docs/decisions/0012-exact-search.md`.

pub mod candidates;
mod engine;
pub mod front;
pub mod infeasible;
mod outcome;
pub mod run;
mod steps;

pub use engine::Known;
pub use run::{Found, Gap, Outcome, Progress, Request, explore};
