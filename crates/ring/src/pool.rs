//! Reuse of buffers: after the first round of an operation nothing is allocated any more.

use crate::buffer::{HUGE_PAGE, Words};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shared stock of free buffers, sorted by length. Cloning shares the stock.
///
/// Free buffers beyond the limit go back to the system. A buffer keeps its contents until its next user overwrites them:
/// one that holds secrets is to be [wiped](crate::Buffer::wiped).
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    limit: usize,
    stock: Mutex<Stock>,
}

#[derive(Default)]
struct Stock {
    free: BTreeMap<usize, Vec<Words>>,
    bytes: usize,
}

impl Stock {
    /// The shortest buffer within the lengths.
    fn take(&mut self, lengths: impl RangeBounds<usize>) -> Option<Words> {
        let words = self.free.range_mut(lengths).find_map(|(_, free)| free.pop())?;
        self.bytes -= size_of_val(&*words);
        Some(words)
    }
}

impl Pool {
    /// A pool that keeps at most `limit` bytes of free buffers.
    pub fn new(limit: usize) -> Self {
        Self { shared: Arc::new(Shared { limit, stock: Mutex::default() }) }
    }

    /// Bytes of free buffers held at present.
    pub fn free_bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Returns all free buffers to the system.
    pub fn clear(&self) {
        let stock = std::mem::take(&mut *self.lock());
        drop(stock);
    }

    /// `len` words of a free buffer, contents unspecified: of one of that length, or of a large one up to half as long again.
    /// Values lose limbs as they are computed with; without that slack each number of limbs would have a stock of its own.
    pub(crate) fn take(&self, len: usize) -> Option<Words> {
        let slack = if len * size_of::<u64>() < HUGE_PAGE { 0 } else { len / 2 };
        self.take_within(len, len..=len + slack)
    }

    /// `len` words of the shortest free buffer that has them, contents unspecified.
    pub(crate) fn take_at_least(&self, len: usize) -> Option<Words> {
        self.take_within(len, len..)
    }

    fn take_within(&self, len: usize, lengths: impl RangeBounds<usize>) -> Option<Words> {
        let mut words = self.lock().take(lengths)?;
        words.truncate(len);
        Some(words)
    }

    /// Puts a buffer back under the length it was made for.
    pub(crate) fn put(&self, mut words: Words) {
        // A buffer that was cut short regains its words.
        words.restore();
        let (len, bytes) = (words.len(), size_of_val(&*words));
        let mut stock = self.lock();
        if bytes > 0 && stock.bytes + bytes <= self.shared.limit {
            stock.bytes += bytes;
            stock.free.entry(len).or_default().push(words);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stock> {
        // Stock is consistent between any two statements that can panic (only allocation can, in `push`, and the
        // count then errs upwards), so a poisoned lock is still good.
        self.shared.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Pool {
    /// Keeps up to 512 huge pages, 1 GiB.
    fn default() -> Self {
        Self::new(512 * HUGE_PAGE)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("free_bytes", &self.free_bytes())
            .field("limit", &self.shared.limit)
            .finish()
    }
}
