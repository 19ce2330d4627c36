//! What was used last, up to a number of it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// At most `most` values by key: a new one takes the place of that which has not been asked for the longest.
pub(crate) struct Recent<K, V> {
    kept: RwLock<HashMap<K, Kept<V>>>,
    clock: AtomicU64,
    most: usize,
}

struct Kept<V> {
    value: Arc<V>,
    /// The clock when it was asked for last.
    used: AtomicU64,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: RwLock::default(), clock: AtomicU64::new(0), most }
    }

    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        let kept = self.read();
        let found = kept.get(key)?;
        found.used.store(self.now(), Ordering::Relaxed);
        Some(found.value.clone())
    }

    /// Keeps a value, unless there is one: gives that which is kept.
    pub(crate) fn insert(&self, key: &K, value: Arc<V>) -> Arc<V> {
        let mut kept = self.write();
        if kept.len() >= self.most && !kept.contains_key(key) {
            let oldest = kept.iter().min_by_key(|(_, kept)| kept.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                kept.remove(&oldest);
            }
        }
        let new = || Kept { value, used: AtomicU64::new(self.now()) };
        kept.entry(key.clone()).or_insert_with(new).value.clone()
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<K, Kept<V>>> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<K, Kept<V>>> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
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
