//! What was used last, up to a number of it.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

/// A cache of a limited number of values by key, shared between threads: a new value replaces the least
/// recently used one.
pub(crate) struct Recent<K: Eq + Hash, V>(Mutex<LruCache<K, Arc<V>>>);

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// For `most` values, and one at the least.
    pub(crate) fn new(most: usize) -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN))))
    }

    pub(crate) fn len(&self) -> usize {
        self.kept().len()
    }

    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.kept().get(key).cloned()
    }

    /// Keeps a value unless the key has one. Returns the kept value.
    pub(crate) fn insert(&self, key: &K, value: Arc<V>) -> Arc<V> {
        self.kept().get_or_insert_ref(key, || value).clone()
    }

    fn kept(&self) -> MutexGuard<'_, LruCache<K, Arc<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_oldest_goes() {
        let recent = Recent::new(3);
        let keep = |key: u32| *recent.insert(&key, Arc::new(10 * key));
        assert_eq!([1, 2, 3].map(keep), [10, 20, 30]);
        assert_eq!(*recent.insert(&1, Arc::new(0)), 10, "the first stays");
        for key in 4..100 {
            assert_eq!(recent.get(&1).as_deref(), Some(&10));
            keep(key);
            assert_eq!(recent.len(), 3);
        }
        let left: Vec<u32> = (0..100).filter(|key| recent.get(key).is_some()).collect();
        assert_eq!(left, [1, 98, 99]);
    }
}
