//! Which programs lie where in a board's memory: as many as it holds, the ones used longest ago make way.

use std::collections::HashMap;

use crate::compact::CompactError;

/// Bytes whose multiple is where a program's memory begins: bursts do not cross pages.
const PAGE: u64 = 4096;

/// The memory of one program.
#[derive(Debug)]
pub(super) struct Place {
    program: u64,
    /// Where it begins, counted from the beginning of the board's memory.
    pub(super) base: u64,
    end: u64,
    used: u64,
    /// What lies at an address: the hash of the limb that was put there.
    pub(super) holds: HashMap<u64, blake3::Hash>,
    /// Whether its instructions are there.
    pub(super) loaded: bool,
}

/// All of a board's memory.
#[derive(Debug)]
pub(super) struct Places {
    size: u64,
    clock: u64,
    /// In ascending order, none over another.
    all: Vec<Place>,
}

impl Places {
    /// Memory of `size` bytes with nothing in it.
    pub(super) const fn new(size: u64) -> Self {
        Self { size, clock: 0, all: Vec::new() }
    }

    /// The place of a program that needs `bytes`: the one that it has, or a new one.
    pub(super) fn of(&mut self, program: u64, bytes: u64) -> Result<&mut Place, CompactError> {
        self.clock += 1;
        let at = match self.all.iter().position(|place| place.program == program) {
            Some(at) => at,
            None => self.make(program, bytes.next_multiple_of(PAGE))?,
        };
        let place = &mut self.all[at];
        place.used = self.clock;
        Ok(place)
    }

    fn make(&mut self, program: u64, bytes: u64) -> Result<usize, CompactError> {
        if bytes > self.size {
            return Err(CompactError::Memory { needed: bytes, available: self.size });
        }
        loop {
            if let Some((at, base)) = self.gap(bytes) {
                let holds = HashMap::new();
                let place = Place { program, base, end: base + bytes, used: 0, holds, loaded: false };
                self.all.insert(at, place);
                return Ok(at);
            }
            let oldest = (0..self.all.len()).min_by_key(|&i| self.all[i].used);
            // Without any place all of the memory is one gap.
            oldest.map(|i| self.all.remove(i));
        }
    }

    /// Between which places there are that many bytes, and where they begin.
    fn gap(&self, bytes: u64) -> Option<(usize, u64)> {
        let starts = std::iter::once(0).chain(self.all.iter().map(|place| place.end));
        let ends = self.all.iter().map(|place| place.base).chain([self.size]);
        starts.zip(ends).enumerate().find(|(_, (start, end))| end - start >= bytes).map(|(i, (s, _))| (i, s))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Places lie in the memory and never over one another, keep what they hold until they make way, and the one used longest
        /// ago goes first.
        #[test]
        fn programs_have_places_of_their_own(
            size in 1u64..40,
            asked in prop::collection::vec((0u64..8, 1u64..20_000), 1..60),
        ) {
            let size = size * PAGE;
            let mut places = Places::new(size);
            let mut sizes = BTreeMap::new();
            for (program, bytes) in asked {
                let bytes = *sizes.entry(program).or_insert(bytes);
                let before: Vec<u64> = places.all.iter().map(|p| p.program).collect();
                match places.of(program, bytes) {
                    Ok(place) => {
                        prop_assert_eq!(place.loaded, before.contains(&program));
                        place.loaded = true;
                        prop_assert!(place.base.is_multiple_of(PAGE) && place.end - place.base >= bytes);
                    }
                    Err(e) => {
                        let needed = bytes.div_ceil(PAGE) * PAGE;
                        prop_assert_eq!(e, CompactError::Memory { needed, available: size });
                        prop_assert!(needed > size);
                    }
                }
                prop_assert!(places.all.is_sorted_by(|a, b| a.end <= b.base));
                prop_assert!(places.all.iter().all(|p| p.base < p.end && p.end <= size));
                let gone = before.len().saturating_sub(places.all.len());
                prop_assert!(gone <= before.len());
            }
        }
    }

    #[test]
    fn the_place_used_longest_ago_makes_way() {
        let mut places = Places::new(3 * PAGE);
        for program in [1, 2, 3, 1] {
            places.of(program, PAGE).unwrap().loaded = true;
        }
        assert!(!places.of(4, 1).unwrap().loaded);
        let programs: Vec<u64> = places.all.iter().map(|p| p.program).collect();
        assert_eq!(programs, [1, 4, 3]);
        assert!(places.of(1, PAGE).unwrap().loaded);
    }
}
