//! Which limbs belong to which level: one prime a level, or several where words are narrower than the scale.
//!
//! A level of t primes is rescaled by their product at once, so a scale near that product needs no prime as wide as itself.
//! The literature calls it double scale (Kim, Kim, Choi, Ahn: "SHARP", ISCA 2023) and composite scaling (Agrawal, Ahn, Bergamaschi,
//! Cammarota, Cheon, de Souza, Gong, Kang, Kim, Kim, Lee, Lee, Lee, Micciancio, Ryu: WAHC 2023).

use std::fmt;
use std::ops::Range;

use super::{Level, ParamsError};

/// Most primes of one level.
pub const MAX_LEVEL_PRIMES: usize = 4;

/// The limbs of each level.
///
/// ```
/// use ringmill_ckks::{Level, Levels};
/// let levels = Levels::new(&[1, 2, 2], 5)?;
/// assert_eq!(levels.top(), Level::new(2));
/// assert_eq!(levels.limbs(Level::new(1)), 3);
/// assert_eq!(levels.primes(Level::new(2)), 3..5);
/// # Ok::<(), ringmill_ckks::ParamsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Levels {
    /// Limbs up to and with each level.
    ends: Vec<usize>,
}

impl Levels {
    /// One prime a level; `limbs` is 1 or more.
    pub fn single(limbs: usize) -> Self {
        Self { ends: (1..=limbs.max(1)).collect() }
    }

    /// `primes` are the numbers of primes from level 0 on; none stands for one each. They add up to `limbs`.
    ///
    /// # Errors
    /// [`ParamsError::Levels`]: a level of no prime, of more than [`MAX_LEVEL_PRIMES`], or another sum.
    pub fn new(primes: &[usize], limbs: usize) -> Result<Self, ParamsError> {
        if primes.is_empty() {
            return Ok(Self::single(limbs));
        }
        let ends: Vec<usize> = primes
            .iter()
            .scan(0usize, |end, &count| {
                *end = end.saturating_add(count);
                Some(*end)
            })
            .collect();
        let fits = primes.iter().all(|count| (1..=MAX_LEVEL_PRIMES).contains(count));
        if fits && ends.last() == Some(&limbs) {
            return Ok(Self { ends });
        }
        Err(ParamsError::Levels { primes: format!("{primes:?}"), limbs, most: MAX_LEVEL_PRIMES })
    }

    /// The top level.
    pub fn top(&self) -> Level {
        Level::new(self.ends.len() as u32 - 1)
    }

    /// Limbs of a polynomial at a level; all above the top.
    pub fn limbs(&self, level: Level) -> usize {
        let all = self.ends.last().copied().unwrap_or(1);
        self.ends.get(level.index()).copied().unwrap_or(all)
    }

    /// The primes that a rescale at this level divides by; at level 0 those that are never divided away, none above the top.
    pub fn primes(&self, level: Level) -> Range<usize> {
        let end = self.limbs(level);
        match level.down() {
            None => 0..end,
            Some(below) => self.limbs(below)..end,
        }
    }

    /// The level whose polynomials have this many limbs.
    pub fn of_limbs(&self, limbs: usize) -> Option<Level> {
        self.ends.binary_search(&limbs).ok().map(|level| Level::new(level as u32))
    }

    /// Numbers of primes from level 0 on.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.ends.iter().enumerate().map(|(i, end)| if i == 0 { *end } else { end - self.ends[i - 1] })
    }

    /// Whether every level has one prime.
    pub fn is_single(&self) -> bool {
        self.ends.last() == Some(&self.ends.len())
    }
}

/// The numbers of primes from level 0 on, such as `[2, 1, 1]`.
impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.counts()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list with the level of every limb written out.
        #[test]
        fn limbs_and_levels_are_those_of_a_list(primes in prop::collection::vec(1usize..=MAX_LEVEL_PRIMES, 1..12)) {
            let of_limb: Vec<u32> =
                primes.iter().enumerate().flat_map(|(level, &count)| vec![level as u32; count]).collect();
            let levels = Levels::new(&primes, of_limb.len()).unwrap();
            prop_assert_eq!(levels.counts().collect::<Vec<_>>(), primes.clone());
            prop_assert_eq!(levels.top().get(), *of_limb.last().unwrap());
            prop_assert_eq!(levels.is_single(), primes.iter().all(|&count| count == 1));
            for level in 0..primes.len() as u32 {
                let at = Level::new(level);
                prop_assert_eq!(levels.limbs(at), of_limb.iter().filter(|&&of| of <= level).count());
                let own: Vec<usize> = (0..of_limb.len()).filter(|&i| of_limb[i] == level).collect();
                prop_assert_eq!(levels.primes(at).collect::<Vec<_>>(), own);
                prop_assert_eq!(levels.of_limbs(levels.limbs(at)), Some(at));
            }
            prop_assert_eq!(levels.limbs(Level::new(99)), of_limb.len());
            prop_assert!(levels.primes(Level::new(99)).is_empty());
        }
    }

    #[test]
    fn levels_that_do_not_fit_the_chain_are_refused() {
        for (primes, limbs) in
            [(&[0usize, 1][..], 1), (&[5], 5), (&[1, 2], 4), (&[2, 2], 3), (&[usize::MAX, 2], 1)]
        {
            let refused = Levels::new(primes, limbs).unwrap_err();
            assert!(matches!(refused, ParamsError::Levels { .. }), "{primes:?}: {refused}");
        }
        assert_eq!(Levels::new(&[], 3).unwrap(), Levels::single(3));
    }
}
