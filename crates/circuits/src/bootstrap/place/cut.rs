//! Values to bootstrap by cuts through the whole program.
//!
//! Values lie in layers: one that uses another lies at least as many layers below it as it costs levels. For 0 = a_0 < a_1 < …
//! let cut i hit all paths from layers up to a_i to layers beyond a_{i−1} + `between`, the last a being `last` layers above the
//! end. A path between two chosen values that costs more than `between` would lead past a cut. The last of
//! its values in a layer up to a_i, or a later one, would be in cut i, so it is the first; the same holds for
//! the cuts that follow. Smallest cuts for all a_i and a_{i−1} are put together by dynamic programming.

use super::flow::Network;
use super::graph::Graph;

/// The best cuts found that end in one layer.
struct Best {
    count: usize,
    /// The layer of the cut before.
    before: usize,
    cut: Vec<usize>,
}

struct Layers<'a> {
    g: &'a Graph,
    layer: &'a [u32],
    /// The lowest layer of a value's users.
    reach: Vec<u32>,
    /// Values by layer.
    values: Vec<Vec<usize>>,
    /// Values that are used beyond each layer, and are not fresh; `None` if one of them may not be bootstrapped.
    crossing: Vec<Option<usize>>,
    /// Numbers in a network.
    number: Vec<usize>,
}

/// The union of cuts in layers, smallest one by one; `None` if none is found of values that may be bootstrapped. Once `work` is
/// used up, cuts are between two layers.
pub(super) fn cuts(g: &Graph, layer: &[u32], work: &mut usize) -> Option<Vec<bool>> {
    let deepest = g.order.iter().map(|&v| layer[v]).max().unwrap_or(0);
    let asked = g.order.iter().filter(|&&v| g.asked[v]).map(|&v| layer[v]).max().unwrap_or(0);
    let (between, last) = (g.budget.between as usize, g.budget.last);
    let needed = deepest.saturating_sub(last).max(asked.saturating_sub(g.budget.between)) as usize;
    let mut layers = Layers::new(g, layer, deepest as usize);
    let mut best = vec![Some(Best { count: 0, before: 0, cut: Vec::new() })];
    let mut above = Vec::new();
    for a in 1..=needed {
        above.extend(layers.values[a - 1].iter().copied());
        above.retain(|&v| !g.is_fresh(v) && layers.reach[v] as usize > a);
        let mut found: Option<Best> = None;
        for (before, one) in best.iter().enumerate().skip(a.saturating_sub(between)) {
            let Some(Best { count, .. }) = *one else { continue };
            let fewer_than = found.as_ref().map_or(usize::MAX, |f| f.count.saturating_sub(count));
            if let Some(cut) = layers.smallest(&above, (a, before + between), fewer_than, work) {
                found = Some(Best { count: count + cut.len(), before, cut });
            }
        }
        best.push(found);
    }
    let mut chosen = vec![false; layer.len()];
    let mut at = needed;
    while at > 0 {
        let Best { before, cut, .. } = best[at].as_ref()?;
        cut.iter().for_each(|&v| chosen[v] = true);
        at = *before;
    }
    Some(chosen)
}

impl<'a> Layers<'a> {
    fn new(g: &'a Graph, layer: &'a [u32], deepest: usize) -> Self {
        let mut values = vec![Vec::new(); deepest + 1];
        let mut reach = layer.to_vec();
        // Differences from layer to layer, of all values and of those that may not be bootstrapped.
        let mut steps = vec![(0i64, 0i64); deepest + 2];
        for &v in &g.order {
            values[layer[v] as usize].push(v);
            reach[v] = g.users[v].iter().map(|&u| layer[u]).fold(layer[v], u32::max);
            if !g.is_fresh(v) {
                for (at, by) in [(layer[v], 1), (reach[v], -1)] {
                    let (all, firm) = &mut steps[at as usize];
                    *all += by;
                    *firm += if g.may[v] { 0 } else { by };
                }
            }
        }
        let (mut all, mut firm) = (0, 0);
        let mut count = |step: &(i64, i64)| {
            (all, firm) = (all + step.0, firm + step.1);
            (firm == 0).then_some(all as usize)
        };
        let crossing = steps.iter().map(&mut count).collect();
        Self { g, layer, reach, values, crossing, number: vec![usize::MAX; layer.len()] }
    }

    /// The smallest cut between layers up to `a` and those beyond `b`, of fewer than `limit` values. `above`
    /// are the values up to layer a − 1 that are used beyond a.
    fn smallest(
        &mut self,
        above: &[usize],
        (a, b): (usize, usize),
        fewer_than: usize,
        work: &mut usize,
    ) -> Option<Vec<usize>> {
        let widths = (a..=b).filter_map(|k| Some((self.crossing[k]?, k)));
        let straight = widths.min_by_key(|&(width, k)| (width, b - k));
        let limit = straight.map_or(usize::MAX, |(width, _)| width).min(fewer_than);
        if *work > 0
            && limit > 1
            && let Some(cut) = self.bent(above, (a, b), limit, work)
        {
            return Some(cut);
        }
        let (width, k) = straight?;
        (width < fewer_than).then(|| self.straight(above, (a, k)))
    }

    /// The values up to layer k that are used beyond it.
    fn straight(&self, above: &[usize], (a, k): (usize, usize)) -> Vec<usize> {
        let within = (a..=k).flat_map(|layer| &self.values[layer]);
        let crosses = |v: &usize| !self.g.is_fresh(*v) && self.reach[*v] as usize > k;
        above.iter().chain(within).copied().filter(crosses).collect()
    }

    /// The smallest cut, of fewer than `limit` values.
    fn bent(
        &mut self,
        above: &[usize],
        (a, b): (usize, usize),
        limit: usize,
        work: &mut usize,
    ) -> Option<Vec<usize>> {
        let g = self.g;
        let within = (a..=b).flat_map(|layer| &self.values[layer]).copied();
        let leads_on = |v: &usize| !g.is_fresh(*v) && self.reach[*v] as usize > a;
        let values: Vec<usize> = above.iter().copied().chain(within).filter(leads_on).collect();
        values.iter().enumerate().for_each(|(x, &v)| self.number[v] = x);
        let mut network = Network::new(values.len(), |x| g.may[values[x]]);
        for (x, &v) in values.iter().enumerate() {
            if self.layer[v] as usize <= a {
                network.begin(x);
            }
            if self.reach[v] as usize > b {
                network.end(x);
            }
            let next = |u: &usize| self.layer[*u] as usize > a && self.number[*u] != usize::MAX;
            g.users[v].iter().copied().filter(next).for_each(|u| network.join(x, self.number[u]));
        }
        values.iter().for_each(|&v| self.number[v] = usize::MAX);
        // A cut of values that may be bootstrapped has as many at most.
        let cut = network.cut(limit.min(values.len() + 1) as u32, work)?;
        Some(cut.into_iter().map(|x| values[x]).collect())
    }
}
