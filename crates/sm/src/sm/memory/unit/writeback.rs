//! The writeback port: which client has it, and what that completes.

use super::*;

/// Parts that compete for the writeback port, a bit each in the order of their turns: shared memory, textures, constants,
/// what comes past the caches, L1.
const SHARED: u8 = 1;
const UNCACHED: u8 = 8;
/// The bits of the caches are those that [`Caches`] has for them, shifted by so much.
const READ_ONLY_SHIFT: u32 = 1;
const L1_SHIFT: u32 = 2;
const CLIENTS: u32 = 5;

/// The port, and the client that has it.
#[derive(Debug, Default)]
pub(super) struct WritebackPort {
    /// What is written next.
    held_by: Option<Writeback>,
    /// A result that has come past the caches.
    pub uncached: Option<u32>,
    /// Whose turn is next: the number of its bit.
    next_client: u32,
}

#[derive(Clone, Copy, Debug)]
enum Writeback {
    Shared { op: u16 },
    Flight(u32),
}

impl WritebackPort {
    /// Whether a client has it, or the next cycle gives it to a result that has come past the caches.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.held_by.is_some() || self.uncached.is_some()
    }
}

impl LoadStore {
    /// First half of a cycle, before the operand collectors step.
    #[inline]
    pub fn write_back(&mut self, now: Cycle, with: &mut Surroundings) {
        if let Some(writeback) = self.writeback.held_by {
            let op = match writeback {
                Writeback::Shared { op } => op,
                Writeback::Flight(f) => self.ops.flight(f).op,
            };
            let record = self.ops.get(op);
            let banks = &with.facts[record.pc as usize].write_banks;
            let slot = record.owners.first().map_or(0, |o| o.slot);
            if !with.collectors.try_write(slot, banks) {
                return;
            }
            self.writeback.held_by = None;
            match writeback {
                Writeback::Shared { op } => self.complete_shared(op, with),
                Writeback::Flight(f) => {
                    let flight = self.ops.land(f);
                    self.returned(flight.op, flight.lanes, with);
                }
            }
        }
        self.choose_writeback(now, with);
    }

    /// The client that writes back next. Mostly there is one client, the L1.
    #[inline]
    fn choose_writeback(&mut self, now: Cycle, with: &mut Surroundings) {
        let (port, ready) = (&mut self.writeback, self.caches.ready);
        if self.shared.next() <= now || ready & !DATA != 0 || port.uncached.is_some() {
            return self.choose_among_clients(now, with);
        }
        if ready != 0 {
            port.held_by = self.caches.next_ready(DATA).map(Writeback::Flight);
            port.next_client = 0; // behind the last, which had the turn
        }
    }

    #[inline(always)]
    fn choose_among_clients(&mut self, now: Cycle, with: &mut Surroundings) {
        let ready = self.caches.ready;
        let of = |client: u8, wants: bool| client * u8::from(wants);
        let wanting = of(SHARED, self.shared.next() <= now)
            | of(UNCACHED, self.writeback.uncached.is_some())
            | ((ready & (TEXTURE | CONSTANT)) << READ_ONLY_SHIFT)
            | ((ready & DATA) << L1_SHIFT);
        let later = wanting & (!0 << self.writeback.next_client);
        let client = if later != 0 { later } else { wanting }.trailing_zeros();
        let chosen = match 1u8.wrapping_shl(client) {
            SHARED => self.shared.pop(now).map(|op| {
                self.shared_atomic_back(op, with);
                Writeback::Shared { op }
            }),
            UNCACHED => self.writeback.uncached.take().map(|f| {
                self.atomic_back(f, with);
                Writeback::Flight(f)
            }),
            bit if bit == DATA << L1_SHIFT => self.caches.next_ready(DATA).map(Writeback::Flight),
            bit => {
                let waiter = self.caches.next_ready(bit >> READ_ONLY_SHIFT);
                waiter.map(Writeback::Flight)
            }
        };
        self.writeback.held_by = chosen;
        // The turn passes only when a client had it.
        self.writeback.next_client = (client + 1) % CLIENTS;
    }

    fn atomic_back(&mut self, flight: u32, with: &mut Surroundings) {
        let flight = self.ops.flight(flight);
        let record = self.ops.get(flight.op);
        if record.is_atomic {
            with.events.push(MemoryEvent::AtomicBack {
                op: flight.op,
                lanes: flight.lanes,
            });
        }
    }

    /// The warp that an atomic on shared memory held may go on.
    #[inline]
    fn shared_atomic_back(&mut self, op: u16, with: &mut Surroundings) {
        if self.ops.get(op).shared_atomic {
            with.events.push(MemoryEvent::SharedAtomicDone { op });
        }
    }

    #[inline(always)]
    fn complete_shared(&mut self, op: u16, with: &mut Surroundings) {
        let record = self.ops.get(op);
        for owner in record.owners.iter() {
            with.events.push(MemoryEvent::Loaded {
                slots: record.slots(owner),
                pc: owner.pc,
            });
        }
        self.ops.release(op);
    }

    /// An access of a load is back, and lets go of its record.
    #[inline]
    pub(super) fn returned(&mut self, op: u16, lanes: u32, with: &mut Surroundings) {
        self.served(op, lanes, with);
        self.ops.release(op);
    }

    /// An access of a load has its data: owners with none left have their registers.
    #[inline]
    pub(super) fn served(&mut self, op: u16, lanes: u32, with: &mut Surroundings) {
        let record = self.ops.get_mut(op);
        let count = u16::from(record.warps);
        for owner in record.owners.iter_mut() {
            if owner.lanes & lanes != 0 {
                owner.pending -= 1;
                if owner.pending == 0 {
                    let (first, pc) = (owner.slot, owner.pc);
                    let slots = Slots { first, count };
                    with.events.push(MemoryEvent::Loaded { slots, pc });
                }
            }
        }
    }
}
