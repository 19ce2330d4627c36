//! Sums of slots by rotations.

/// A rotation within a sum; what it gives is added to the running sum, which begins as the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumStep {
    /// Whether the running sum is rotated, which doubles it; otherwise the operand.
    pub doubles: bool,
    /// The distance in slots to the left, 0 ≤ k < slots.
    pub k: u32,
}

/// The rotations that add up `count` slots `stride` apart, cyclically among `slots`: ⌊log2 count⌋ doublings of the running sum, and
/// one rotation of the operand for each further set bit of `count`.
///
/// ```
/// use ringmill_program::he::{SumStep, sum_steps};
/// let step = |doubles, k| SumStep { doubles, k };
/// assert_eq!(sum_steps(6, 1, 8), [step(true, 1), step(false, 2), step(true, 3)]);
/// ```
pub fn sum_steps(count: usize, stride: i64, slots: usize) -> Vec<SumStep> {
    let slots = slots as i64;
    let shift = |n: usize| (n as i64 % slots * (stride % slots)).rem_euclid(slots) as u32;
    let (mut steps, mut n) = (Vec::new(), 1);
    for bit in (0..count.max(1).ilog2()).rev() {
        steps.push(SumStep { doubles: true, k: shift(n) });
        n *= 2;
        if count >> bit & 1 == 1 {
            steps.push(SumStep { doubles: false, k: shift(n) });
            n += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_a_sum_add_up_its_slots() {
        let slots = 16;
        let operand: Vec<u64> = (0..slots as u32).map(|i| 1 << (3 * i)).collect();
        let turned =
            |x: &[u64], k: u32| -> Vec<u64> { (0..slots).map(|i| x[(i + k as usize) % slots]).collect() };
        for (count, stride) in (1..=slots).flat_map(|n| [1, 3, -1, 4, -37, i64::MAX].map(|s| (n, s))) {
            let mut sum = operand.clone();
            for SumStep { doubles, k } in sum_steps(count, stride, slots) {
                let part = turned(if doubles { &sum } else { &operand }, k);
                sum.iter_mut().zip(part).for_each(|(a, b)| *a = a.wrapping_add(b));
            }
            let at = |i: usize, j: usize| {
                let at = i as i128 + j as i128 * i128::from(stride);
                operand[at.rem_euclid(slots as i128) as usize]
            };
            let want: Vec<u64> =
                (0..slots).map(|i| (0..count).fold(0u64, |sum, j| sum.wrapping_add(at(i, j)))).collect();
            assert_eq!(sum, want, "{count} slots {stride} apart");
        }
    }
}
