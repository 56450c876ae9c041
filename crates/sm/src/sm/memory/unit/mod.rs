//! The load/store unit. One instruction at a time, one access per cycle; shared memory takes a
//! cycle for every conflict and then a fixed pipeline; global and local accesses cross a queue
//! to the L1 lookup; results come back through one writeback port.
//!
//! Order within a cycle, as on the reference machine: write back, (operand collectors step),
//! take one response, send one request from each cache, look up L1, work on the current
//! instruction. So a load issued at t enters at t+3 and works from t+4; a shared load is usable
//! at t+31, an L1 hit at t+39.

mod caches;
mod hearers;
mod look_up;
mod lookups;
mod prefetching;
mod send;
mod shared;
mod sleep;
mod stores;
#[cfg(test)]
mod tests;
mod writeback;

use super::coalesce::Access;
use super::joint::JointStores;
use super::l1::Outcome;
use super::ops::{MemOp, MemOps, Path, Slots};
use super::port::{Port, TokenKind, token, untoken};
use crate::config::Machine;
use crate::exec::access::atomic;
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::memory::image::GlobalMemory;
use crate::exec::state::LANES;
use crate::mechanism::CacheName;
use crate::memory::cache::mshr::Fetch;
use crate::memory::cache::tags::Evicted;
use crate::memory::packet::{LARGEST_REQUEST, Reply, Request, RequestKind, Traffic};
use crate::observe::WarpEvent;
use crate::replacement::Replacement;
use crate::schedule::CacheEvent;
use crate::sm::facts::OpFacts;
use crate::sm::launch::SmFault;
use crate::sm::operands::Collectors;
use crate::stats::SmCounters;
use crate::time::Cycle;
use caches::{CONSTANT, Caches, DATA, TEXTURE};
use hearers::Hearers;
use lookups::{LookupQueue, Queued};
use prefetching::Prefetching;
use shared::SharedPipe;
use std::collections::VecDeque;
use warpsim_ptx::isa::Space;
use writeback::WritebackPort;

/// Replies that wait inside the unit.
const RESPONSES: usize = 2;

/// Something the rest of the SM must hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEvent {
    /// The registers that the instruction at `pc` owes to warps are written.
    Loaded {
        /// Hardware warps.
        slots: Slots,
        /// Instruction.
        pc: u32,
    },
    /// A store has left the pipeline.
    Stored {
        /// Hardware warps.
        slots: Slots,
    },
    /// This many stores of each of these will be acknowledged.
    StoresSent {
        /// Hardware warps.
        slots: Slots,
        /// Acknowledgements to come.
        count: u32,
    },
    /// A store of `slot` was acknowledged.
    Acknowledged {
        /// Hardware warp.
        slot: u16,
    },
    /// Something happened in the L1 data cache that the issue policy wants to hear of.
    Cache {
        /// Hardware warp: the one that loads, or that asked for the line.
        slot: u16,
        /// What happened.
        what: CacheEvent,
        /// Address of the line.
        line: u64,
    },
    /// An atomic on shared memory is done; it was performed when it was issued.
    SharedAtomicDone {
        /// Record.
        op: u16,
    },
    /// An access of an atomic is back: old values are in its record until it is released.
    AtomicBack {
        /// Record.
        op: u16,
        /// Lanes served.
        lanes: u32,
    },
}

/// What the unit works with in a cycle.
pub struct Surroundings<'a> {
    /// Operand collectors, for bank conflicts at writeback.
    pub collectors: &'a mut Collectors,
    /// Facts of the kernel's instructions.
    pub facts: &'a [OpFacts],
    /// Way out.
    pub port: &'a mut Port,
    /// Counters.
    pub stats: &'a mut SmCounters,
    /// What happened.
    pub events: &'a mut Vec<MemoryEvent>,
}

/// The unit.
#[derive(Debug)]
pub struct LoadStore {
    sm: u16,
    /// Instructions under way.
    pub(super) ops: MemOps,
    current: Option<u16>,
    /// Instructions that wait to enter for a line that operands are in, in order.
    lines: VecDeque<u16>,
    /// The cycle in which it will have sent its accesses, if that is known.
    sent_at: Cycle,
    /// Cycles that the instructions on their way here from issue will take, on machines that gather accesses: others
    /// do not ask.
    pub(super) ahead: Option<u32>,
    shared: SharedPipe,
    l1_queue: LookupQueue,
    l1_latency: u64,
    /// Stores are acknowledged for each aligned part of two to the power of this many bytes.
    acknowledged_shift: u32,
    /// By L2; else here, as they leave.
    acknowledged_by_l2: bool,
    caches: Caches,
    responses: VecDeque<Reply>,
    writeback: WritebackPort,
    /// Nothing happens inside before this cycle: the next in which there is something to do.
    next: Cycle,
    refused: Refused,
    /// Stores of several warps that are not acknowledged.
    joint: JointStores,
    hearers: Hearers,
    /// Stalls that go on while the unit sleeps, to be counted when it wakes.
    asleep: Asleep,
    /// The prefetcher of the data cache, if there is one, and what it waits to look up.
    prefetching: Option<Box<Prefetching>>,
    /// Lines may have been prefetched: each lookup in the data cache has to take note.
    prefetches: bool,
    /// Bytes of the lines of L2.
    l2_line: u64,
}

/// What found no room when last tried.
#[derive(Clone, Copy, Debug, Default)]
struct Refused {
    /// The lookup at the head of the L1 queue.
    lookup: bool,
    /// The current instruction's access, at the port.
    at_port: bool,
    /// The current instruction's access, in a read-only cache.
    read_only: bool,
}

impl Refused {
    /// Whether there is anything.
    #[inline]
    fn any(self) -> bool {
        self.lookup | self.at_port | self.read_only
    }
}

/// What stands still while the unit sleeps.
#[derive(Clone, Copy, Debug, Default)]
struct Asleep {
    /// First cycle slept.
    from: Cycle,
    /// The head of the L1 queue was refused.
    lookup: bool,
    /// The current instruction cannot send its accesses.
    current: bool,
}

impl LoadStore {
    /// The unit of SM `sm`.
    pub fn new(machine: &Machine, sm: u16) -> LoadStore {
        LoadStore {
            sm,
            ops: MemOps::default(),
            current: None,
            lines: VecDeque::new(),
            sent_at: Cycle::ZERO,
            ahead: machine.sm.gather_memory.then_some(0),
            shared: SharedPipe::new(machine),
            l1_queue: LookupQueue::new(!machine.sm.gather_memory),
            l1_latency: machine.l1d.latency as u64,
            acknowledged_shift: acknowledged_bytes(machine).ilog2(),
            acknowledged_by_l2: machine.interconnect.store_replies,
            caches: Caches::new(machine),
            responses: VecDeque::with_capacity(RESPONSES),
            writeback: WritebackPort::default(),
            next: Cycle::ZERO,
            refused: Refused::default(),
            joint: JointStores::default(),
            hearers: Hearers::default(),
            asleep: Asleep::default(),
            prefetching: None,
            prefetches: false,
            l2_line: u64::from(machine.l2.line.min(LARGEST_REQUEST)),
        }
        .with_prefetcher(machine)
    }

    /// The record of an instruction that is under way.
    pub fn record(&self, op: u16) -> &MemOp {
        self.ops.get(op)
    }

    /// Hands the record of an instruction over that has just been [opened](LoadStore::open): it is not under way here.
    pub fn hand_over(&mut self, op: u16) -> MemOp {
        let record = self.ops.hand_over(op);
        if let Some(ahead) = &mut self.ahead {
            *ahead -= record.work();
        }
        record
    }

    /// Puts a replacement policy in place of the configured one in one of its caches, before anything is looked up.
    pub fn replace_policy(
        &mut self,
        cache: CacheName,
        make: &dyn Fn(usize, usize) -> Box<dyn Replacement>,
    ) {
        let caches = &mut self.caches;
        match cache {
            CacheName::Constant => caches.constant.replace_policy(make),
            CacheName::Texture => caches.texture.replace_policy(make),
            _ => caches.data.replace_policy(make),
        }
    }

    /// The SM that it belongs to.
    pub(super) fn sm(&self) -> u16 {
        self.sm
    }

    /// Banks of shared memory.
    pub(super) fn shared_banks(&self) -> u32 {
        self.shared.banks
    }

    /// Whether nothing is under way that could still ask for something.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // What is prefetched belongs to no instruction.
        self.ops.is_empty() && !self.prefetches_wait() && self.caches.asking == 0
    }

    /// Whether loads go through the L1 data cache at all.
    pub fn caches_data(&self) -> bool {
        self.caches.data_enabled
    }

    /// Bytes of the lines of L2, or of the largest request if that is less.
    pub fn l2_line(&self) -> u64 {
        self.l2_line
    }

    /// Line size of the cache that a path looks up.
    pub fn line_bytes(&self, path: Path) -> u64 {
        self.caches.on(path).line_bytes()
    }

    /// Whether another instruction may enter.
    #[inline]
    pub fn accepts(&self) -> bool {
        self.current.is_none()
    }

    /// Whether a line of constants or parameters is in its cache; it has been used then.
    pub(super) fn has_constant_line(&mut self, address: u64) -> bool {
        self.caches.constant.hit(address)
    }

    /// An instruction, given by its record, has issued in cycle `now` that waits for a line which operands are in.
    pub fn await_line(&mut self, op: u16, now: Cycle) {
        self.lines.push_back(op);
        self.wake_up(now + 1);
    }

    /// Takes the next of those that wait for such a line, if another instruction may enter; says whether there is one.
    #[inline]
    pub fn enter_for_line(&mut self, now: Cycle) -> bool {
        if self.lines.is_empty() || !self.accepts() {
            return false;
        }
        if let Some(op) = self.lines.pop_front() {
            self.enter(op, now);
        }
        true
    }

    /// Takes an instruction, given by its record.
    pub fn enter(&mut self, op: u16, now: Cycle) {
        if let Some(ahead) = &mut self.ahead {
            *ahead -= self.ops.get(op).work();
        }
        self.current = Some(op);
        self.next = now;
    }

    /// Cycles that the instructions that have issued will still keep the unit busy, if nothing is in
    /// their way. For machines that gather accesses.
    pub fn backlog(&self) -> u32 {
        self.ahead.unwrap_or(0) + self.current.map_or(0, |op| self.ops.get(op).work())
    }

    /// Whether a reply can be taken.
    pub fn accepts_reply(&self) -> bool {
        self.responses.len() < RESPONSES
    }

    /// Whether no reply waits inside.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.responses.is_empty()
    }

    /// Takes a reply.
    pub fn take_reply(&mut self, reply: Reply, now: Cycle) {
        self.responses.push_back(reply);
        self.next = now;
    }

    /// What an observer is told of a record that was just opened.
    pub fn asked(&self, op: u16) -> WarpEvent {
        let record = self.ops.get(op);
        WarpEvent::Accessed {
            pc: record.pc,
            transactions: record.accesses.len() as u32,
            bank_cycles: record.busy,
        }
    }

    /// Whether forgetting L1 data lines would change what has been looked up, or what is counted of lines that were prefetched.
    #[inline]
    pub fn has_looked_ahead(&self) -> bool {
        self.l1_queue.is_ahead() || self.prefetches
    }

    /// Forgets L1 data lines, before the lookups of cycle `now`.
    pub fn invalidate_data(&mut self, now: Cycle, stats: &mut SmCounters) {
        self.take_lookups_back(now, stats);
        self.hearers.forget_lines();
        self.caches.data.invalidate();
        self.forget_prefetches(stats);
    }

    /// Second half of a cycle, after the operand collectors have stepped.
    #[inline]
    pub fn cycle(&mut self, now: Cycle, with: &mut Surroundings) {
        self.count_slept(now, with);
        self.take_response(with);
        let refused = match self.caches.asking {
            0 => 0,
            _ => self.send_requests(now, with),
        };
        let prefetch = self.prefetches_wait() && self.has_lookup_port(now);
        if self.l1_queue.next() <= now {
            match self.lookup_refused() && self.sent_at < now {
                true => with.stats.l1d_stalls += 1,
                false => self.look_up(now, with),
            }
        }
        if let Some(op) = self.current {
            self.work(now, op, with);
        }
        if prefetch {
            self.look_up_prefetch(with);
        }
        self.sleep(now + 1, refused, with.port.retry_at());
    }

    #[inline]
    fn take_response(&mut self, with: &mut Surroundings) {
        if let Some(&reply) = self.responses.front() {
            self.take_reply_in(reply, with);
        }
    }

    #[inline(never)]
    fn take_reply_in(&mut self, reply: Reply, with: &mut Surroundings) {
        let (kind, index) = untoken(reply.token);
        match kind {
            TokenKind::Data if reply.last => {
                self.caches.fill(DATA, reply.addr, index);
                self.tell_fill(reply.addr, with);
            }
            TokenKind::Constant if reply.last => self.caches.fill(CONSTANT, reply.addr, index),
            TokenKind::Texture if reply.last => self.caches.fill(TEXTURE, reply.addr, index),
            TokenKind::Store | TokenKind::JointStore => self.acknowledge(reply.token, with),
            TokenKind::Uncached if reply.last => {
                let uncached = &mut self.writeback.uncached;
                if uncached.is_some() {
                    return;
                }
                *uncached = Some(index);
            }
            _ => {}
        }
        self.responses.pop_front();
    }

    /// What is under way and what it waits for, for a deadlock report.
    pub fn describe(&self) -> String {
        let mut text = self.caches.describe();
        if self.current.is_some() {
            text += ", an instruction with accesses to send";
        }
        if self.lookup_refused() {
            text += ", a lookup that L1 refuses";
        }
        text
    }
}

/// What one acknowledgement of a store is for: a sector of L2, or all that a request can ask for.
fn acknowledged_bytes(machine: &Machine) -> u32 {
    if machine.interconnect.sectored_replies {
        machine.l2.sector.max(1)
    } else {
        LARGEST_REQUEST
    }
}

/// Acknowledgements that come for a store, one for each aligned part of two to the power of `shift`
/// bytes.
#[inline]
fn acknowledgements(addr: u64, bytes: u16, shift: u32) -> u32 {
    let last = addr + u64::from(bytes.max(1)) - 1;
    ((last >> shift) - (addr >> shift) + 1) as u32
}

fn count_stores(record: &MemOp, access: &Access, count: u32, with: &mut Surroundings) {
    let single = record.owners.len() == 1;
    for owner in record.owners.iter() {
        if single || owner.lanes & access.lanes != 0 {
            let slots = record.slots(owner);
            with.events.push(MemoryEvent::StoresSent { slots, count });
        }
    }
}

fn read_request(sm: u16, traffic: Traffic, addr: u64, bytes: u16, token: u32) -> Request {
    Request {
        sm,
        kind: RequestKind::Read,
        traffic,
        addr,
        bytes,
        byte_mask: 0,
        token,
    }
}

fn write_back_request(sm: u16, evicted: Evicted, bytes: u16) -> Request {
    Request {
        sm,
        kind: RequestKind::Write,
        traffic: Traffic::Local,
        addr: evicted.addr,
        bytes,
        byte_mask: !0,
        token: token(TokenKind::WriteBack, 0),
    }
}

impl LoadStore {
    /// Acknowledgements that come for a store.
    #[inline]
    fn acknowledgements(&self, access: &Access) -> u32 {
        acknowledgements(access.addr, access.bytes, self.acknowledged_shift)
    }

    /// Performs an atomic access, given by its token, that has reached the L2.
    pub fn perform_atomic(&mut self, token: u32, image: &mut GlobalMemory) -> Result<(), SmFault> {
        let flight = self.ops.flight(untoken(token).1);
        let record = self.ops.get_mut(flight.op);
        let pc = record.pc;
        let Some(data) = record.atomic.as_deref_mut() else {
            return Ok(());
        };
        for lane in (0..LANES).filter(|l| flight.lanes >> l & 1 != 0) {
            let operands = [data.operands[0][lane], data.operands[1][lane]];
            let old = atomic::apply(image, data.address[lane], &data.what, operands);
            data.old[lane] = old.map_err(|cause| {
                let kind = FaultKind::Memory {
                    space: Space::Global,
                    address: data.address[lane],
                    bytes: data.what.ty.bytes(),
                    store: true,
                    cause,
                };
                SmFault::new(Fault::new(kind, lane, data.lanes.home(lane)), pc)
            })?;
        }
        Ok(())
    }
}
