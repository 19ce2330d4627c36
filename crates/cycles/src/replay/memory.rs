//! A memory on chip: which slots are free from when on, and which limb goes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ledger::Ledger;
use super::{Event, START};
use crate::graph::Value;

/// A slot that is free from a time on, and what made it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) at: u64,
    pub(super) number: u32,
    pub(super) by: Event,
}

/// A memory while a schedule is made.
#[derive(Debug)]
pub(super) struct Memory {
    /// Slots that were never used.
    fresh: u64,
    used: u32,
    free: BinaryHeap<Reverse<Slot>>,
    /// Limbs by when they go: the greatest first, of equal ones the least value. Entries that no longer hold stay in it.
    far: BinaryHeap<(u32, Reverse<Value>)>,
    keep: Vec<(u32, Reverse<Value>)>,
    pub(super) banks: Vec<Ledger>,
    pub(super) bytes: u64,
    resident: u64,
    pub(super) most: u64,
}

impl Memory {
    pub(super) fn new(slots: u64, banks: Vec<Ledger>) -> Self {
        Self {
            fresh: slots,
            used: 0,
            free: BinaryHeap::new(),
            far: BinaryHeap::new(),
            keep: Vec::new(),
            banks,
            bytes: 0,
            resident: 0,
            most: 0,
        }
    }

    /// The slot that is free first; none if all are taken.
    pub(super) fn take(&mut self) -> Option<Slot> {
        let slot = if self.fresh > 0 {
            self.fresh -= 1;
            self.used += 1;
            Slot { at: 0, number: self.used - 1, by: START }
        } else {
            self.free.pop()?.0
        };
        self.hold();
        Some(slot)
    }

    fn hold(&mut self) {
        self.resident += 1;
        self.most = self.most.max(self.resident);
    }

    /// Gives a slot back.
    pub(super) fn give(&mut self, slot: Slot) {
        self.resident -= 1;
        self.free.push(Reverse(slot));
    }

    /// Notes when a limb goes: the greatest first.
    pub(super) fn touch(&mut self, value: Value, when: u32) {
        self.far.push((when, Reverse(value)));
    }

    /// The limb that goes first, of those that hold and are not pinned.
    pub(super) fn victim(
        &mut self,
        holds: impl Fn(Value, u32) -> bool,
        pinned: impl Fn(Value) -> bool,
    ) -> Option<Value> {
        let found = loop {
            let Some(entry) = self.far.pop() else { break None };
            let (when, Reverse(value)) = entry;
            if !holds(value, when) {
                continue;
            }
            if pinned(value) {
                self.keep.push(entry);
                continue;
            }
            break Some(value);
        };
        self.far.extend(self.keep.drain(..));
        found
    }

    /// Reserves bandwidth for a limb in a slot; says when the last byte has moved.
    pub(super) fn access(&mut self, slot: u32, start: u64, bytes: u64, rows: u64) -> u64 {
        self.bytes += bytes;
        let count = self.banks.len();
        match count {
            0 => start + rows,
            _ => self.banks[slot as usize % count].reserve(start, bytes, rows),
        }
    }
}
