//! What everything before a task, and everything after it, takes together.

/// Kinds of work that are summed: see [`super::Load`].
pub(super) const KINDS: usize = 5;
/// Tasks that are looked at together: a column of the relation fits a cache line eight times over.
const WORDS: usize = 64;
const COLUMNS: usize = 64 * WORDS;

type Set = [u64; WORDS];

/// For each task the sum of the weights of all that reach it over `from`, itself left out; `from` lists tasks with smaller
/// numbers only.
pub(super) fn sums(from: &[Vec<u32>], weights: &[[u32; KINDS]]) -> Vec<[u64; KINDS]> {
    let mut sums = vec![[0; KINDS]; from.len()];
    for start in (0..from.len()).step_by(COLUMNS) {
        let planes = planes(&weights[start..weights.len().min(start + COLUMNS)]);
        let mut reach: Vec<Set> = vec![[0; WORDS]; from.len() - start];
        for task in start..from.len() {
            let mut set = [0; WORDS];
            for &before in from[task].iter().filter(|&&b| b as usize >= start) {
                let at = before as usize - start;
                set.iter_mut().zip(&reach[at]).for_each(|(s, r)| *s |= r);
                if at < COLUMNS {
                    set[at / 64] |= 1 << (at % 64);
                }
            }
            for (kind, bit, plane) in &planes {
                let common: u32 = set.iter().zip(plane).map(|(s, p)| (s & p).count_ones()).sum();
                sums[task][*kind] += u64::from(common) << bit;
            }
            reach[task - start] = set;
        }
    }
    sums
}

/// The weights bit by bit: for each kind and bit the tasks whose weight has it.
fn planes(weights: &[[u32; KINDS]]) -> Vec<(usize, u32, Set)> {
    let mut planes = Vec::new();
    for kind in 0..KINDS {
        let all = weights.iter().fold(0, |all, w| all | w[kind]);
        for bit in (0..u32::BITS).filter(|bit| all >> bit & 1 == 1) {
            let mut set = [0; WORDS];
            for (at, _) in weights.iter().enumerate().filter(|(_, w)| w[kind] >> bit & 1 == 1) {
                set[at / 64] |= 1 << (at % 64);
            }
            planes.push((kind, bit, set));
        }
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sums_are_those_of_a_walk() {
        let mut state = 11u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        // More tasks than are looked at together.
        let count = COLUMNS + 300;
        let from: Vec<Vec<u32>> = (0..count as u64)
            .map(|task| (0..below(3).min(task)).map(|_| below(task.max(1)) as u32).collect())
            .collect();
        let weights: Vec<[u32; KINDS]> =
            (0..count).map(|_| std::array::from_fn(|_| below(9) as u32)).collect();
        let found = sums(&from, &weights);
        for task in (0..count).rev().step_by(97) {
            let (mut seen, mut open) = (BTreeSet::new(), from[task].clone());
            while let Some(at) = open.pop() {
                if seen.insert(at) {
                    open.extend(&from[at as usize]);
                }
            }
            let expected =
                |kind: usize| seen.iter().map(|&at| u64::from(weights[at as usize][kind])).sum::<u64>();
            assert_eq!(found[task], std::array::from_fn(expected), "{task}");
        }
    }
}
