//! The load/store unit. One instruction at a time, one access per cycle; shared memory takes a
//! cycle for every conflict and then a fixed pipeline; global and local accesses cross a queue
//! to the L1 lookup; results come back through one writeback port.
//!
//! Order within a cycle, as on the reference machine: write back, (operand collectors step),
//! take one response, send one request from each cache, look up L1, work on the current
//! instruction. So a load issued at t enters at t+3 and works from t+4; a shared load is usable
//! at t+31, an L1 hit at t+39.

mod lookups;
mod send;
mod sleep;
mod stores;
#[cfg(test)]
mod tests;
mod writeback;

use super::coalesce::Access;
use super::joint::JointStores;
use super::l1::{L1, Outcome};
use super::ops::{MemOp, MemOps, Path, Slots};
use super::port::{Port, TokenKind, token, untoken};
use crate::config::Machine;
use crate::exec::access::atomic;
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::memory::image::GlobalMemory;
use crate::exec::state::LANES;
use crate::memory::cache::tags::Evicted;
use crate::memory::packet::{LARGEST_REQUEST, Reply, Request, RequestKind, Traffic};
use crate::observe::WarpEvent;
use crate::schedule::CacheEvent;
use crate::sm::facts::OpFacts;
use crate::sm::launch::SmFault;
use crate::sm::operands::Collectors;
use crate::stats::SmCounters;
use crate::time::Cycle;
use lookups::{LookupQueue, Queued};
use std::collections::{HashMap, VecDeque};
use warpsim_ptx::isa::Space;

/// Replies that wait inside the unit.
const RESPONSES: usize = 2;

/// The caches, as bits of a mask.
const TEXTURE: u8 = 1;
const CONSTANT: u8 = 2;
const DATA: u8 = 4;

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

#[derive(Clone, Copy, Debug)]
enum Writeback {
    Shared { op: u16 },
    Flight(u32),
}

/// The unit.
#[derive(Debug)]
pub struct LoadStore {
    sm: u16,
    /// Instructions under way.
    pub(super) ops: MemOps,
    current: Option<u16>,
    /// Cycles that the instructions on their way here from issue will take.
    pub(super) ahead: u32,
    shared_pipe: VecDeque<(Cycle, u16)>,
    shared_latency: u64,
    shared_banks: u32,
    l1_queue: LookupQueue,
    l1_latency: u64,
    /// Stores are acknowledged for each aligned part of two to the power of this many bytes.
    acknowledged_shift: u32,
    data: L1,
    data_enabled: bool,
    constant: L1,
    texture: L1,
    responses: VecDeque<Reply>,
    /// Caches with waiters whose line has come, and caches with requests that wait for the
    /// network: asked in every cycle, so kept here instead of asking the caches. Whoever fills a
    /// cache or makes it ask sets its bit.
    ready: u8,
    asking: u8,
    uncached_back: Option<u32>,
    writeback: Option<Writeback>,
    next_client: usize,
    /// Nothing happens inside before this cycle: the next in which there is something to do.
    next: Cycle,
    /// The lookup at the head of the L1 queue was refused when last tried.
    refused: bool,
    /// The port had no room for the current instruction's access.
    refused_at_port: bool,
    /// A read-only cache refused the current instruction's access when last tried.
    refused_read_only: bool,
    /// Stores of several warps that are not acknowledged.
    joint: JointStores,
    /// Where the issue policy wants to hear of the L1 data cache: who asked for its lines.
    asked_by: Option<HashMap<u64, u16>>,
    /// Lookups in the L1 data cache that an observer is to be told of: warp, instruction, hit.
    lookups: Option<Vec<(u16, u32, bool)>>,
    /// Stalls that go on while the unit sleeps, to be counted when it wakes.
    asleep: Asleep,
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
            ahead: 0,
            shared_pipe: VecDeque::with_capacity(machine.shared.latency as usize + 1),
            shared_banks: machine.shared.banks,
            shared_latency: machine.shared.latency.max(1) as u64,
            l1_queue: LookupQueue::new(),
            l1_latency: machine.l1d.latency as u64,
            acknowledged_shift: acknowledged_bytes(machine).ilog2(),
            data: L1::data(&machine.l1d),
            data_enabled: machine.l1d.cache.sets > 0,
            constant: L1::new(&machine.constant),
            texture: L1::new(&machine.texture),
            responses: VecDeque::with_capacity(RESPONSES),
            ready: 0,
            asking: 0,
            uncached_back: None,
            writeback: None,
            next_client: 0,
            next: Cycle::ZERO,
            refused: false,
            refused_at_port: false,
            refused_read_only: false,
            joint: JointStores::default(),
            asked_by: None,
            lookups: None,
            asleep: Asleep::default(),
        }
    }

    /// The record of an instruction that is under way.
    pub fn record(&self, op: u16) -> &MemOp {
        self.ops.get(op)
    }

    /// The SM that it belongs to.
    pub(super) fn sm(&self) -> u16 {
        self.sm
    }

    /// Banks of shared memory.
    pub(super) fn shared_banks(&self) -> u32 {
        self.shared_banks
    }

    /// Whether no instruction is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Whether loads go through the L1 data cache at all.
    pub fn caches_data(&self) -> bool {
        self.data_enabled
    }

    /// Line size of the cache that a path looks up.
    pub fn line_bytes(&self, path: Path) -> u64 {
        match path {
            Path::Constant => self.constant.line_bytes(),
            Path::Texture => self.texture.line_bytes(),
            _ => self.data.line_bytes(),
        }
    }

    /// Whether another instruction may enter.
    #[inline]
    pub fn accepts(&self) -> bool {
        self.current.is_none()
    }

    /// Takes an instruction, given by its record.
    pub fn enter(&mut self, op: u16, now: Cycle) {
        self.ahead -= self.ops.get(op).work();
        self.current = Some(op);
        self.next = now;
    }

    /// Cycles that the instructions that have issued will still keep the unit busy, if nothing is in
    /// their way.
    pub fn backlog(&self) -> u32 {
        self.ahead + self.current.map_or(0, |op| self.ops.get(op).work())
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

    /// Whether somebody wants to hear what happens in the L1 data cache.
    pub fn tell_of_cache(&mut self, tell: bool) {
        self.asked_by = tell.then(HashMap::new);
    }

    /// An observer listens, or none does.
    pub fn watch(&mut self, on: bool) {
        self.lookups = on.then(Vec::new);
    }

    /// What an observer is told of lookups since it was last told.
    pub fn take_lookups(&mut self) -> impl Iterator<Item = (u16, WarpEvent)> + '_ {
        let lookups = self.lookups.iter_mut().flat_map(|list| list.drain(..));
        lookups.map(|(slot, pc, hit)| (slot, WarpEvent::LookedUp { pc, hit }))
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

    /// Forgets L1 data lines.
    pub fn invalidate_data(&mut self) {
        self.asked_by = self.asked_by.take().map(|_| HashMap::new());
        self.data.invalidate();
    }

    /// Second half of a cycle, after the operand collectors have stepped.
    #[inline]
    pub fn cycle(&mut self, now: Cycle, with: &mut Surroundings) {
        self.count_slept(now, with);
        self.take_response(with);
        let refused = if self.asking == 0 {
            0
        } else {
            self.send_requests(now, with.port)
        };
        if self.l1_queue.next() <= now {
            self.look_up(now, with);
        }
        if let Some(op) = self.current {
            self.work(now, op, with);
        }
        self.sleep(now + 1, refused, with.port.retry_at());
    }

    /// The cache of a bit.
    #[inline]
    fn cache(&mut self, bit: u8) -> &mut L1 {
        match bit {
            TEXTURE => &mut self.texture,
            CONSTANT => &mut self.constant,
            _ => &mut self.data,
        }
    }

    /// Sends one request from each cache that has one; returns the caches whose request found no
    /// room at the port.
    #[inline(never)]
    fn send_requests(&mut self, now: Cycle, port: &mut Port) -> u8 {
        let (mut left, mut refused) = (self.asking, 0);
        while left != 0 && !port.is_full(now) {
            let bit = left & left.wrapping_neg();
            left &= !bit;
            let cache = self.cache(bit);
            match cache.first_request() {
                Some(request) if !port.try_send(now, request) => refused |= bit,
                _ => {
                    cache.send();
                    if !cache.has_request() {
                        self.asking &= !bit;
                    }
                }
            }
        }
        if port.is_full(now) && self.asking != 0 {
            port.want_room();
            return self.asking;
        }
        refused
    }

    /// A line has come.
    fn fill(&mut self, cache: u8, addr: u64) {
        let filled = self.cache(cache);
        filled.fill(addr);
        if filled.has_ready() {
            self.ready |= cache;
        }
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
                self.fill(DATA, reply.addr);
                self.tell_fill(reply.addr, with);
            }
            TokenKind::Constant if reply.last => self.fill(CONSTANT, reply.addr),
            TokenKind::Texture if reply.last => self.fill(TEXTURE, reply.addr),
            TokenKind::Store | TokenKind::JointStore => self.acknowledge(reply.token, with),
            TokenKind::Uncached if reply.last => {
                if self.uncached_back.is_some() {
                    return;
                }
                self.uncached_back = Some(index);
            }
            _ => {}
        }
        self.responses.pop_front();
    }

    /// What is under way and what it waits for, for a deadlock report.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "{} L1 data, {} constant, {} texture fetches outstanding",
            self.data.outstanding(),
            self.constant.outstanding(),
            self.texture.outstanding()
        );
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
fn acknowledgements(access: &Access, shift: u32) -> u32 {
    let last = access.addr + u64::from(access.bytes.max(1)) - 1;
    ((last >> shift) - (access.addr >> shift) + 1) as u32
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
        acknowledgements(access, self.acknowledged_shift)
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
