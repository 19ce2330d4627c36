//! A choice made smaller, value by value.

use super::choice::Choice;

/// How often every value is tried without a gain before the search ends.
const ROUNDS: usize = 4;

/// Chosen values before and after another one that this one may replace.
const NEAR: usize = 64;

/// Depths computed for one choice: enough for programs of some hundred values.
const WORK: usize = 1 << 21;

/// Leaves out what can be, and puts one value in place of others as long as there are such. One in place of one opens ways to one in
/// place of two, so that is done too.
pub(super) fn improve(choice: &mut Choice<'_>) {
    let all = choice.list().iter().copied().collect();
    leave_out(choice, all);
    let order = &choice.g.order;
    let mut since = 0;
    for &v in order.iter().cycle() {
        let count = choice.list().len();
        if since == ROUNDS * order.len() || count < 2 || choice.work > WORK {
            break;
        }
        since += 1;
        if choice.chosen()[v] || !choice.g.may[v] {
            continue;
        }
        let before = choice.list().range(..v).rev().take(NEAR);
        let mut near: Vec<usize> = before.chain(choice.list().range(v..).take(NEAR)).copied().collect();
        near.sort_unstable();
        // The order says which one goes where any may.
        if since / order.len() % 2 == 1 {
            near.reverse();
        }
        if choice.add(v) {
            // The new one itself goes if nothing else can.
            near.push(v);
            leave_out(choice, near);
        }
        if choice.list().len() < count {
            since = 0;
        }
    }
}

/// Leaves out what can be of a list, in its order.
fn leave_out(choice: &mut Choice<'_>, list: Vec<usize>) {
    for v in list {
        // One that has to stay is no error.
        let _ = choice.remove(v);
    }
}
