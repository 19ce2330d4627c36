//! Simulations: several orders of issue, the best of them kept.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::description::{Description, Mode};
use crate::error::Refused;
use crate::graph::Graph;
use crate::order::{Order, Urgency, Uses, order};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::replay::{Options, Schedule, replay};
use crate::timetable::Timetable;

/// How a simulation is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What schedules make use of.
    pub options: Options,
    /// The orders of issue that are tried; that of the program if the list is empty.
    pub orders: Vec<Order>,
    /// Whether to report what each unit did when.
    pub spans: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let critical = Order::List { urgency: Urgency::CriticalPath, window: 256 };
        let orders = vec![Order::Program, Order::window(64), Order::window(512), critical];
        Self { options: Options::default(), orders, spans: false }
    }
}

/// What a program takes on a machine.
///
/// # Errors
/// Why the machine cannot run it.
pub fn simulate(machine: &Description, graph: &Graph, settings: &Settings) -> Result<Outcome, Refused> {
    let plan = Plan::new(machine, graph)?;
    let (by, order, schedule) = best(&plan, settings);
    Ok(Outcome::of(&plan, &schedule, (by, &order), &settings.options, settings.spans))
}

/// The schedule that [`simulate`] finds, as a machine that keeps it needs it.
///
/// # Errors
/// Why the machine cannot run it.
pub fn timetable(machine: &Description, graph: &Graph, settings: &Settings) -> Result<Timetable, Refused> {
    let plan = Plan::new(machine, graph)?;
    let (_, order, schedule) = best(&plan, settings);
    Ok(Timetable::of(&plan, &order, &schedule))
}

/// The best schedule of the orders that are tried.
fn best(plan: &Plan<'_>, settings: &Settings) -> (Order, Vec<u32>, Schedule) {
    let uses = Uses::of(plan);
    // One instruction at a time: all orders are that of the program.
    let orders = match plan.machine.mode {
        Mode::Parallel if !settings.orders.is_empty() => &*settings.orders,
        _ => &[Order::Program],
    };
    // An order that has taken longer than the best one so far is given up, so that the best one does not depend on which of them
    // was tried first.
    let least = AtomicU64::new(u64::MAX);
    let tried = |(place, &by): (usize, &Order)| -> Option<(u64, usize, Vec<u32>, Schedule)> {
        let order = uses.gather(plan, order(plan, &uses, by));
        let schedule = replay(plan, &order, &settings.options, least.load(Ordering::Relaxed))?;
        least.fetch_min(schedule.cycles, Ordering::Relaxed);
        Some((schedule.cycles, place, order, schedule))
    };
    let best =
        orders.par_iter().enumerate().filter_map(tried).min_by_key(|(cycles, place, ..)| (*cycles, *place));
    let Some((_, place, order, schedule)) = best else {
        unreachable!("no order takes longer than all of them")
    };
    (orders[place], order, schedule)
}

/// What a program takes on each of some machines, simulated side by side.
pub fn sweep(machines: &[Description], graph: &Graph, settings: &Settings) -> Vec<Result<Outcome, Refused>> {
    machines.par_iter().map(|machine| simulate(machine, graph, settings)).collect()
}

/// Whether a machine can run a program, found out without a schedule.
///
/// # Errors
/// Why it cannot.
pub fn accepts(machine: &Description, graph: &Graph) -> Result<(), Refused> {
    Plan::new(machine, graph).map(|_| ())
}
