//! What a program takes on a core, by the cycle model.

use ringmill_program::limb::LimbProgram;

use super::model::{self, simulate, simulate_again};
use super::{Compact, CompactError, Instruction, Plan};
use crate::timing::{Span, Timing};

/// The units of a core, in the order of the counters.
const UNITS: [&str; 3] = ["transform 0", "transform 1", "arithmetic"];

/// Plans a program and counts the cycles of a run that finds the roots that a run before has left, as all runs but the first.
pub(super) fn estimate(machine: &Compact, program: &LimbProgram) -> Result<Timing, CompactError> {
    let (config, log_n) = (machine.config(), program.log_n());
    let plan = machine.plan(program)?;
    let first = simulate(config, log_n, &plan.instructions)?.counters.cycles;
    let model::Timing { counters: c, spans: found } = simulate_again(config, log_n, &plan.instructions)?;
    let [zero, one] = c.transform_busy;
    Ok(Timing {
        cycles: Some(c.cycles),
        seconds: machine.clock_mhz().map(|mhz| c.cycles as f64 / (mhz * 1e6)),
        counters: vec![
            ("first_cycles".into(), first),
            ("slot".into(), config.slot(log_n)),
            ("arithmetic_ticket".into(), c.arithmetic_ticket),
            ("arithmetic_read".into(), c.arithmetic_read),
            ("arithmetic_write".into(), c.arithmetic_write),
            ("read_beats".into(), c.read_beats),
            ("write_beats".into(), c.write_beats),
            ("instructions".into(), c.instructions),
        ],
        busy: UNITS.map(Into::into).into_iter().zip([zero, one, c.arithmetic_busy]).collect(),
        parts: Vec::new(),
        energy: Vec::new(),
        spans: spans(&plan, &found),
        by: format!("the cycle model of a compact core, {}", machine.costs_at_clock().machine()),
    })
}

/// When each instruction of a plan held its units.
pub fn spans(plan: &Plan, spans: &[model::Span]) -> Vec<Span> {
    let each = plan.instructions.iter().zip(spans);
    let of = |(i, s): (&Instruction, &model::Span)| {
        let (what, start, end) = (i.to_string(), s.start, s.end);
        units(i).into_iter().map(move |unit| Span { unit: unit.into(), what: what.clone(), start, end })
    };
    each.flat_map(of).collect()
}

/// The units that an instruction holds: both transform units if it is ganged.
fn units(i: &Instruction) -> Vec<&'static str> {
    match i.a {
        _ if i.op.is_arithmetic() => vec![UNITS[2]],
        Some(bank) if i.op.is_transform() => {
            bank.parts().filter_map(|bank| bank.lane()).map(|lane| UNITS[lane]).collect()
        }
        _ => vec!["control"],
    }
}
