//! Dominance.

/// What is compared, each the less the better: milliseconds, area, error, and bits of security with a minus.
pub type Costs = [f64; 4];

/// Whether `a` is nowhere worse than `b`.
pub fn covers(a: &Costs, b: &Costs) -> bool {
    a.iter().zip(b).all(|(x, y)| x <= y)
}

/// The same without a look at the first.
pub fn covers_but_time(a: &Costs, b: &Costs) -> bool {
    covers(&[b[0], a[1], a[2], a[3]], b)
}

/// The places of those that no other covers; of equal ones the first.
pub fn front(costs: &[Costs]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    // A point that covers another precedes it in this order, or is next to it if they are equal.
    order.sort_by(|&a, &b| {
        let by = costs[a].iter().zip(&costs[b]).map(|(x, y)| x.total_cmp(y));
        by.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.cmp(&b))
    });
    let mut kept: Vec<usize> = Vec::new();
    for i in order {
        if !kept.iter().any(|&k| covers(&costs[k], &costs[i])) {
            kept.push(i);
        }
    }
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_pairwise_comparison_says() {
        // A small linear congruential generator: many ties, few values.
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % 5
        };
        let costs: Vec<Costs> = (0..400).map(|_| std::array::from_fn(|_| next() as f64)).collect();
        let kept = front(&costs);
        for (i, c) in costs.iter().enumerate() {
            let strictly = |j: usize| covers(&costs[j], c) && costs[j] != *c;
            let beaten = (0..costs.len()).any(strictly);
            let first = !(0..i).any(|j| costs[j] == *c);
            assert_eq!(kept.contains(&i), !beaten && first, "{i}");
        }
    }
}
