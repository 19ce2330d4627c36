//! A choice of values to bootstrap, changed one value at a time.

use std::collections::BTreeSet;

use super::graph::Graph;

/// A choice that leaves no value too deep, with the depths it gives where all that use a chosen value take it bootstrapped.
pub(super) struct Choice<'a> {
    pub(super) g: &'a Graph,
    chosen: Vec<bool>,
    list: BTreeSet<usize>,
    depths: Vec<u32>,
    /// Depths computed so far.
    pub(super) work: usize,
}

impl<'a> Choice<'a> {
    /// `None` if some value is too deep.
    pub(super) fn new(g: &'a Graph, chosen: Vec<bool>) -> Option<Self> {
        let list = (0..chosen.len()).filter(|&v| chosen[v]).collect();
        let mut choice = Self { g, depths: vec![0; chosen.len()], chosen, list, work: 0 };
        for &v in &g.order {
            choice.depths[v] = choice.depth(v);
            if choice.depths[v] > choice.most(v) {
                return None;
            }
        }
        Some(choice)
    }

    pub(super) fn chosen(&self) -> &[bool] {
        &self.chosen
    }

    /// The values chosen, in the order of the program.
    pub(super) fn list(&self) -> &BTreeSet<usize> {
        &self.list
    }

    fn depth(&self, v: usize) -> u32 {
        let depth = |&a: &usize| if self.chosen[a] { 0 } else { self.depths[a] };
        self.g.operands[v].iter().map(depth).max().unwrap_or(0) + self.g.cost[v]
    }

    fn most(&self, v: usize) -> u32 {
        self.g.most(&self.chosen, v)
    }

    /// Bootstraps one value more; false if it is too deep for that.
    pub(super) fn add(&mut self, v: usize) -> bool {
        let fits = self.depths[v] <= self.g.budget.between;
        if fits {
            self.chosen[v] = true;
            self.list.insert(v);
            // Nothing gets deeper.
            let _ = self.follow(v);
        }
        fits
    }

    /// Bootstraps one value less.
    ///
    /// # Errors
    /// The first value that would be too deep without; nothing changes then.
    pub(super) fn remove(&mut self, v: usize) -> Result<(), usize> {
        self.chosen[v] = false;
        let found = self.follow(v);
        self.chosen[v] = found.is_err();
        if found.is_ok() {
            self.list.remove(&v);
        }
        found
    }

    /// The first value that would be too deep if this one were not bootstrapped.
    pub(super) fn missing_without(&mut self, v: usize) -> Option<usize> {
        self.remove(v).map(|()| self.add(v)).err()
    }

    /// Computes the depths of what depends on v again, in the order of the program, up to the first value too deep; with such a one
    /// they are as before.
    fn follow(&mut self, v: usize) -> Result<(), usize> {
        let g = self.g;
        let mut waiting: BTreeSet<usize> = g.users[v].iter().copied().collect();
        let mut before = Vec::new();
        while let Some(u) = waiting.pop_first() {
            self.work += 1;
            let depth = self.depth(u);
            if depth == self.depths[u] {
                continue;
            }
            before.push((u, self.depths[u]));
            self.depths[u] = depth;
            if depth > self.most(u) {
                before.into_iter().for_each(|(u, depth)| self.depths[u] = depth);
                return Err(u);
            }
            if !self.chosen[u] {
                waiting.extend(&g.users[u]);
            }
        }
        Ok(())
    }
}
