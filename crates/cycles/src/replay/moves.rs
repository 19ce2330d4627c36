//! How limbs come, go and are made, and where there is space for them.

use std::cmp::Reverse;

use super::memory::Slot;
use super::run::Run;
use super::state::{ANYWHERE, NONE, first_free};
use super::{Event, Flow, Transfer, Wait};
use crate::graph::{Class, Value};
use crate::plan::{FREE, Op};

impl Run<'_> {
    /// Moves a limb through its channel. `op` is the instruction that it is for.
    fn transfer(
        &mut self,
        flow: Flow,
        (value, slot): (Value, u32),
        op: u32,
        earliest: u64,
        by: Event,
    ) -> (Event, Transfer) {
        let home = self.home(value);
        let event = (self.plan.ops.len() + self.transfers.len()) as Event;
        let ticks = self.plan.transfer_ticks(home);
        let moved = self.channels[home.channel as usize].transfer(event, ticks, earliest, by);
        let incoming = !matches!(flow, Flow::Spill | Flow::Result);
        let there = if incoming { moved.there } else { moved.end };
        let (start, end, cause) = (moved.start, moved.end, moved.cause);
        let transfer = Transfer { flow, by: home.channel.into(), value, slot, op, start, end, there, cause };
        self.note(transfer, home.bytes);
        (event, transfer)
    }

    fn note(&mut self, transfer: Transfer, bytes: u64) {
        let event = (self.plan.ops.len() + self.transfers.len()) as Event;
        self.transfers.push(transfer);
        let flow = &mut self.flows[transfer.flow as usize];
        (flow.0, flow.1) = (flow.0 + bytes, flow.1 + 1);
        self.ended(transfer.there, event);
    }

    /// Writes results that can be written before the channel moves what comes next, not before `earliest`.
    fn leave(&mut self, channel: u8, earliest: u64) {
        for m in 0..self.leaving.len() {
            while let Some(&Reverse((at, value))) = self.leaving[m].peek() {
                let next = self.channels[channel as usize].free().max(earliest);
                if at > next || self.home(value).channel != channel {
                    break;
                }
                self.leaving[m].pop();
                let slot = self.write_result(value);
                self.memories[m].give(slot);
            }
        }
    }

    pub(super) fn leave_all(&mut self) {
        for m in 0..self.leaving.len() {
            while let Some(Reverse((_, value))) = self.leaving[m].pop() {
                let slot = self.write_result(value);
                self.memories[m].give(slot);
            }
        }
    }

    fn write_result(&mut self, value: Value) -> Slot {
        let limb = self.limbs[value as usize];
        let (op, by) = (limb.maker, limb.last_by);
        let (event, moved) = self.transfer(Flow::Result, (value, limb.slot), op, limb.last, by);
        self.limb(value).slot = NONE;
        Slot { at: moved.end, number: limb.slot, by: event }
    }

    /// Space for a limb, while those that `op` reads stay.
    pub(super) fn room(&mut self, value: Value, op: &Op, i: u32) -> Slot {
        let m = self.home(value).memory as usize;
        if let Some(slot) = self.memories[m].take() {
            return slot;
        }
        let slot = match self.leaving[m].pop() {
            Some(Reverse((_, value))) => self.write_result(value),
            None => self.evict(m, op, i),
        };
        self.memories[m].give(slot);
        // What has just been given back is there.
        self.memories[m].take().unwrap_or(slot)
    }

    /// Makes the limb go that is read last.
    fn evict(&mut self, m: usize, op: &Op, i: u32) -> Slot {
        let (limbs, reads) = (&self.limbs, self.plan.reads(op));
        let holds = |v: Value, stamp| limbs[v as usize].slot != NONE && limbs[v as usize].stamp == stamp;
        let victim = self.memories[m].victim(holds, |v| reads.contains(&v));
        let Some(victim) = victim else {
            unreachable!("the plan has seen that the limbs of an instruction fit")
        };
        let limb = self.limbs[victim as usize];
        self.limb(victim).slot = NONE;
        let (at, by, home) = (limb.last, limb.last_by, self.home(victim));
        let written = home.class == Class::Value && !(limb.clean && self.options.clean);
        if !written {
            return Slot { at, number: limb.slot, by };
        }
        self.limb(victim).clean = true;
        self.leave(home.channel, at);
        let (event, moved) = self.transfer(Flow::Spill, (victim, limb.slot), i, at, by);
        self.memories[m].bytes += self.limb_bytes;
        Slot { at: moved.end, number: limb.slot, by: event }
    }

    /// Sees to it that an operand is on chip, or on its way.
    pub(super) fn fetch(&mut self, value: Value, op: &Op, i: u32) {
        let slot = self.room(value, op, i);
        let home = self.home(value);
        let expand = self.plan.expand.filter(|_| home.made);
        let (event, there, unit) = match expand {
            Some(work) => {
                let event = self.expand(value, &work, i, slot);
                (event, self.transfers[event as usize - self.plan.ops.len()].there, work.unit)
            }
            None => {
                let (mut at, mut by) = (slot.at, slot.by);
                let (room, reader) = self.channels[home.channel as usize].room();
                if room > at {
                    (at, by) = (room, reader);
                }
                if !self.options.fetch_ahead && op.unit != FREE {
                    let first = self.units[op.unit as usize].iter().min_by_key(|u| u.free);
                    if let Some(first) = first.filter(|u| u.free > at) {
                        (at, by) = (first.free, first.last);
                    }
                }
                self.leave(home.channel, at);
                let (event, moved) = self.transfer(Flow::of(home.class), (value, slot.number), i, at, by);
                self.asked.push(value);
                (event, moved.there, FREE)
            }
        };
        self.memories[home.memory as usize].bytes += self.limb_bytes;
        let limb = self.limb(value);
        (limb.ready, limb.head, limb.last) = (there, there, there);
        (limb.last_by, limb.maker, limb.unit, limb.cluster) = (event, event, unit, ANYWHERE);
        limb.slot = slot.number;
    }

    /// Makes a uniform limb of a key from its seed.
    fn expand(&mut self, value: Value, work: &Op, i: u32, slot: Slot) -> Event {
        let event = (self.plan.ops.len() + self.transfers.len()) as Event;
        let unit = work.unit as usize;
        let at = first_free(&self.units[unit]);
        let (instance, used) = (&mut self.units[unit][at], &mut self.work[unit]);
        let (start, cause) = if slot.at > instance.free {
            used.waiting[Wait::Space as usize] += slot.at - instance.free;
            (slot.at, slot.by)
        } else {
            (instance.free, instance.last)
        };
        let end = start + u64::from(work.rows);
        (instance.free, instance.last) = (end, event);
        used.instructions += 1;
        used.busy += u64::from(work.rows);
        used.used += self.plan.graph.n();
        let there = start + u64::from(work.tail);
        let bytes = self.home(value).bytes;
        self.note(
            Transfer {
                flow: Flow::Expanded,
                by: work.unit,
                value,
                slot: slot.number,
                op: i,
                start,
                end,
                there,
                cause,
            },
            bytes,
        );
        event
    }
}
