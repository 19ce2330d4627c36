//! Zeroed, aligned words: small ones from the heap, large ones as pages of their own.

use super::{ALIGNMENT, HUGE_PAGE};
use aligned_vec::{AVec, ConstAlign};
use memmap2::{MmapMut, MmapOptions};
use std::ops::{Deref, DerefMut};

/// A fixed number of words, of which the first `len` are in use.
///
/// From [`HUGE_PAGE`] bytes on they are a mapping, aligned to huge pages, that is returned to the system when
/// dropped. A heap does not reuse the hole of an aligned block for another one of the same size, and would
/// grow without end.
pub(crate) struct Words {
    store: Store,
    len: usize,
}

enum Store {
    Heap(AVec<u64, ConstAlign<ALIGNMENT>>),
    /// The words start at the first huge page inside the mapping, `start` bytes from its beginning.
    Pages {
        map: MmapMut,
        start: usize,
        words: usize,
    },
}

impl Words {
    /// `len` zero words.
    pub(crate) fn zeros(len: usize) -> Self {
        let mapped = if len >= HUGE_PAGE / size_of::<u64>() { map(len) } else { None };
        let store = mapped.unwrap_or_else(|| {
            let mut words = AVec::with_capacity(ALIGNMENT, len);
            words.resize(len, 0);
            Store::Heap(words)
        });
        Self { store, len }
    }

    /// No words.
    pub(crate) fn empty() -> Self {
        Self { store: Store::Heap(AVec::new(ALIGNMENT)), len: 0 }
    }

    /// Keeps the first `len` words in use; no effect if there are no more than that.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Takes the words that were cut off in use again, with what they held.
    pub(crate) fn restore(&mut self) {
        self.len = match &self.store {
            Store::Heap(words) => words.len(),
            Store::Pages { words, .. } => *words,
        };
    }
}

/// A mapping that holds `len` words from a huge page's border on; `None` if the system refuses.
fn map(len: usize) -> Option<Store> {
    let bytes = len.checked_mul(size_of::<u64>())?;
    // One huge page more than needed, so that a border lies within the first; pages never touched cost nothing.
    let map = MmapOptions::new().len(bytes.checked_add(HUGE_PAGE)?).map_anon().ok()?;
    let start = map.as_ptr().align_offset(HUGE_PAGE);
    // Advice before the first touch decides the page size; a refusal costs speed only and is ignored.
    #[cfg(target_os = "linux")]
    let _ = map.advise_range(memmap2::Advice::HugePage, start, bytes / HUGE_PAGE * HUGE_PAGE);
    Some(Store::Pages { map, start, words: len })
}

impl Deref for Words {
    type Target = [u64];
    #[inline]
    fn deref(&self) -> &[u64] {
        match &self.store {
            Store::Heap(words) => &words[..self.len],
            Store::Pages { map, start, .. } => {
                bytemuck::cast_slice(&map[*start..*start + self.len * size_of::<u64>()])
            }
        }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match &mut self.store {
            Store::Heap(words) => &mut words[..self.len],
            Store::Pages { map, start, .. } => {
                bytemuck::cast_slice_mut(&mut map[*start..*start + self.len * size_of::<u64>()])
            }
        }
    }
}
