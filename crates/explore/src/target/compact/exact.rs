//! Exact cycles: the program planned for the core, and the cycle model, which equals the RTL.

use ringmill_machine::compact::model::simulate;
use ringmill_machine::compact::{Compact, CompactConfig, Counters, Policy};
use ringmill_program::limb::LimbProgram;

use crate::ExploreError;

/// Cycles of a program on a core, with what the units did.
///
/// # Errors
/// What the core was not built for.
pub fn cycles(
    program: &LimbProgram,
    config: &CompactConfig,
    policy: Policy,
    effort: usize,
) -> Result<Counters, ExploreError> {
    let plan = Compact::emulated(*config).with_policy(policy).with_effort(effort).plan(program)?;
    Ok(simulate(config, program.log_n(), &plan.instructions)?.counters)
}
