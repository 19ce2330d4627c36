//! Work on a unit between the earliest that it can begin and the least that follows it.

/// A piece of work: earliest start, length, what follows its end at least.
pub(super) type Job = (u64, u64, u64);

/// The most starts that are examined; of more, an evenly spaced part.
const STARTS: usize = 24;

/// A lower bound on the end of all jobs on `units` equal units. For every set of jobs with start ≥ r and tail
/// ≥ t, the bound is r, plus the length of the jobs divided by the number of units, plus t. For one unit this
/// is the best preemptive schedule (Jackson, Carlier) at the starts that are examined.
pub(super) fn least(mut jobs: Vec<Job>, units: u64) -> u64 {
    jobs.sort_unstable_by_key(|&(_, _, after)| std::cmp::Reverse(after));
    let mut starts: Vec<u64> = jobs.iter().map(|j| j.0).collect();
    starts.sort_unstable();
    starts.dedup();
    let step = starts.len().div_ceil(STARTS).max(1);
    let end = |&start: &u64| {
        let mut length = 0;
        let from = jobs.iter().filter(|j| j.0 >= start);
        let each = from.map(|&(_, long, after)| {
            length += long;
            start + length.div_ceil(units) + after
        });
        each.max().unwrap_or(0)
    };
    starts.iter().step_by(step).map(end).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_what_must_lie_in_it() {
        assert_eq!(least(vec![], 2), 0);
        assert_eq!(least(vec![(5, 10, 3)], 1), 18);
        // Two units share the length, whatever the order.
        assert_eq!(least(vec![(0, 10, 0), (0, 10, 0), (0, 10, 0)], 2), 15);
        // The second job waits for its start, and both are followed by something.
        assert_eq!(least(vec![(0, 4, 1), (100, 4, 7)], 1), 111);
        // The long tail of the first does not follow the second.
        assert_eq!(least(vec![(0, 4, 50), (0, 4, 0)], 1), 54);
    }
}
