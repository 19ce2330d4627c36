//! The fewest vertices that all paths of a network go through, by Dinic's algorithm.
//!
//! Own code, not a library's: placement bounds its time by the number of edges examined. petgraph's `dinics`
//! (0.8.3) neither counts them nor remembers dead ends from one path to the next, so a phase takes paths
//! times edges instead of their sum.

/// More paths than any network here has.
const WITHOUT_END: u32 = u32::MAX / 2;

const SOURCE: usize = 0;
const SINK: usize = 1;

/// Vertices that let one path through each, or any number; vertex x is the edge from 2x + 2 to 2x + 3.
pub(super) struct Network {
    edges: Vec<Vec<usize>>,
    /// Edge 2i is followed by itself in the other direction.
    to: Vec<usize>,
    left: Vec<u32>,
}

impl Network {
    /// Makes a network of the given vertices. Vertices that `may` not be cut have no limit on the paths
    /// through them.
    pub(super) fn new(vertices: usize, may: impl Fn(usize) -> bool) -> Self {
        let mut network =
            Self { edges: vec![Vec::new(); 2 * vertices + 2], to: Vec::new(), left: Vec::new() };
        for x in 0..vertices {
            network.edge(2 * x + 2, 2 * x + 3, if may(x) { 1 } else { WITHOUT_END });
        }
        network
    }

    pub(super) fn begin(&mut self, x: usize) {
        self.edge(SOURCE, 2 * x + 2, WITHOUT_END);
    }

    pub(super) fn end(&mut self, x: usize) {
        self.edge(2 * x + 3, SINK, WITHOUT_END);
    }

    pub(super) fn join(&mut self, x: usize, y: usize) {
        self.edge(2 * x + 3, 2 * y + 2, WITHOUT_END);
    }

    fn edge(&mut self, from: usize, to: usize, capacity: u32) {
        for (from, to, capacity) in [(from, to, capacity), (to, from, 0)] {
            self.edges[from].push(self.to.len());
            self.to.push(to);
            self.left.push(capacity);
        }
    }

    /// The vertices of the first of the smallest cuts, if they are fewer than `limit`. Takes what it does from `work`.
    pub(super) fn cut(mut self, limit: u32, work: &mut usize) -> Option<Vec<usize>> {
        let mut found = 0;
        loop {
            let mut far = self.distances();
            *work = work.saturating_sub(self.to.len());
            if far[SINK] == u32::MAX {
                let cut = |x: &usize| far[2 * x + 2] < u32::MAX && far[2 * x + 3] == u32::MAX;
                return Some((0..self.edges.len() / 2 - 1).filter(cut).collect());
            }
            found += self.phase(&mut far, limit - found);
            if found >= limit {
                return None;
            }
        }
    }

    /// Edges from the source, `u32::MAX` where none lead.
    fn distances(&self) -> Vec<u32> {
        let mut far = vec![u32::MAX; self.edges.len()];
        far[SOURCE] = 0;
        let mut reached = vec![SOURCE];
        let mut next = 0;
        while let Some(&from) = reached.get(next) {
            next += 1;
            for &e in &self.edges[from] {
                if self.left[e] > 0 && far[self.to[e]] == u32::MAX {
                    far[self.to[e]] = far[from] + 1;
                    reached.push(self.to[e]);
                }
            }
        }
        far
    }

    /// Fills shortest paths until each has a full edge, or `limit` is reached.
    fn phase(&mut self, far: &mut [u32], limit: u32) -> u32 {
        let mut next = vec![0; self.edges.len()];
        let (mut path, mut at, mut found): (Vec<usize>, usize, u32) = (Vec::new(), SOURCE, 0);
        loop {
            if at == SINK {
                let most = path.iter().map(|&e| self.left[e]).min().unwrap_or(0);
                for e in path.drain(..) {
                    self.left[e] -= most;
                    self.left[e ^ 1] += most;
                }
                (at, found) = (SOURCE, found.saturating_add(most));
                if found >= limit {
                    return limit;
                }
                continue;
            }
            match self.edges[at].get(next[at]) {
                Some(&e) if self.left[e] > 0 && far[at].checked_add(1) == Some(far[self.to[e]]) => {
                    path.push(e);
                    at = self.to[e];
                }
                Some(_) => next[at] += 1,
                None => {
                    let Some(e) = path.pop() else { return found };
                    far[at] = u32::MAX;
                    at = self.to[e ^ 1];
                }
            }
        }
    }
}
