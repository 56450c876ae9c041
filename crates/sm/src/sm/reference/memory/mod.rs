//! Memory: the load/store unit. It works on one instruction at a time, one access per cycle. Shared memory takes a cycle
//! for every conflict at its banks and then a fixed pipeline; global and local accesses wait in a queue for their
//! lookup in the L1 data cache ([`lookup`]); constants and textures have caches of their own. What comes back is
//! written through one port ([`back`]).
//!
//! Within a cycle the unit writes back, then (behind the operand collectors) takes one reply, sends one request of each
//! cache, looks up the L1, and works on its instruction ([`send`]).

mod atomics;
mod back;
mod lookup;
mod numbered;
mod prefetch;
mod send;
mod stores;

use super::operands::Collectors;
use crate::config::Machine;
use crate::mechanism::CacheName;
use crate::memory::packet::{LARGEST_REQUEST, Reply};
use crate::schedule::CacheEvent;
use crate::sm::facts::OpFacts;
use crate::sm::memory::{self as asked, Access, Executed, L1, MemOp, Port};
use crate::stats::SmCounters;
use crate::time::Cycle;
use back::WritebackPort;
use numbered::Numbered;
use prefetch::Prefetching;
use std::collections::{HashMap, VecDeque};

/// Replies that wait inside the unit.
const REPLIES: usize = 2;

/// What the warps have to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A warp has what the instruction at `pc` loads.
    Loaded { slot: u16, pc: u32 },
    /// A store of a warp has left the unit.
    Stored { slot: u16 },
    /// So many stores of a warp will be acknowledged.
    StoresSent { slot: u16, count: u32 },
    /// A store of a warp was acknowledged.
    Acknowledged { slot: u16 },
    /// The issue policy wants to hear of what has happened in the L1 data cache.
    Cache {
        slot: u16,
        what: CacheEvent,
        line: u64,
    },
    /// An atomic on shared memory is done.
    SharedAtomicDone { op: u32 },
    /// Lanes of an atomic are back.
    AtomicBack { op: u32, lanes: u32 },
}

/// An access of an instruction that will come back, for these lanes.
#[derive(Clone, Copy, Debug)]
struct Flight {
    op: u32,
    lanes: u32,
}

/// An access on its way to its lookup in the L1 data cache.
#[derive(Clone, Copy, Debug)]
struct Queued {
    at: Cycle,
    op: u32,
    access: Access,
}

/// A store that several warps have made in one access, and acknowledgements to come.
#[derive(Debug)]
struct Joint {
    slots: Vec<u16>,
    left: u32,
}

/// The caches of the unit, in the order in which they send requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CacheOf {
    Texture,
    Constants,
    Data,
}

/// The load/store unit.
pub(super) struct LoadStore {
    sm: u16,
    /// Works out which accesses an instruction makes.
    asks: asked::LoadStore,
    /// Instructions that have issued and whose accesses are not all back, and those accesses.
    ops: Numbered<MemOp>,
    flights: Numbered<Flight>,
    joint: Numbered<Joint>,
    /// Those of them that have not come here yet.
    on_the_way: Vec<u32>,
    /// The instruction that it works on.
    current: Option<u32>,
    /// Instructions that wait for a line that operands are in: they go before others.
    lines: VecDeque<u32>,
    /// Accesses to shared memory, with the cycles in which they are through.
    shared: VecDeque<(Cycle, u32)>,
    shared_latency: u64,
    /// Accesses that wait for their lookup in the L1 data cache.
    queue: VecDeque<Queued>,
    l1_latency: u64,
    data: L1,
    constants: L1,
    textures: L1,
    replies: VecDeque<Reply>,
    port: WritebackPort,
    prefetching: Option<Prefetching>,
    /// For a policy that wants to hear of it: the warp that asked for each line of the L1 data cache.
    asked_by: Option<HashMap<u64, u16>>,
    /// Stores are acknowledged for each aligned part of so many bytes, by L2 or as they leave.
    acknowledged_bytes: u64,
    acknowledged_by_l2: bool,
    pub events: Vec<Event>,
}

impl LoadStore {
    pub fn new(machine: &Machine, sm: u16) -> LoadStore {
        let asks = asked::LoadStore::new(machine, sm);
        LoadStore {
            sm,
            prefetching: Prefetching::new(machine).filter(|_| asks.caches_data()),
            asks,
            ops: Numbered::default(),
            flights: Numbered::default(),
            joint: Numbered::default(),
            on_the_way: Vec::new(),
            current: None,
            lines: VecDeque::new(),
            shared: VecDeque::new(),
            shared_latency: u64::from(machine.shared.latency.max(1)),
            queue: VecDeque::new(),
            l1_latency: u64::from(machine.l1d.latency),
            data: L1::data(&machine.l1d),
            constants: L1::new(&machine.constant),
            textures: L1::new(&machine.texture),
            replies: VecDeque::new(),
            port: WritebackPort::default(),
            asked_by: None,
            acknowledged_bytes: match machine.interconnect.sectored_replies {
                true => u64::from(machine.l2.sector.max(1)),
                false => u64::from(LARGEST_REQUEST),
            },
            acknowledged_by_l2: machine.interconnect.store_replies,
            events: Vec::new(),
        }
    }

    /// One of its caches.
    pub fn cache_named(&mut self, name: CacheName) -> &mut L1 {
        match name {
            CacheName::Constant => &mut self.constants,
            CacheName::Texture => &mut self.textures,
            _ => &mut self.data,
        }
    }

    /// A launch begins. `tells`: the policy wants to hear of what happens in the L1 data cache.
    pub fn begin(&mut self, tells: bool) {
        self.asked_by = tells.then(HashMap::new);
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.launch_begins();
        }
    }

    /// A memory instruction has executed; the number by which it is known here.
    pub fn open(&mut self, executed: &Executed, counters: &mut SmCounters) -> u32 {
        let op = self.asks.open(executed, counters);
        let op = self.ops.insert(self.asks.hand_over(op));
        self.on_the_way.push(op);
        op
    }

    /// An instruction that is under way.
    pub fn op(&self, op: u32) -> &MemOp {
        self.ops.get(op)
    }

    /// Whether another instruction may enter.
    pub fn accepts(&self) -> bool {
        self.current.is_none()
    }

    /// Takes an instruction.
    pub fn enter(&mut self, op: u32) {
        self.on_the_way.retain(|other| *other != op);
        self.current = Some(op);
    }

    /// Cycles that the instructions that have issued will keep it busy, if nothing is in their way.
    pub fn backlog(&self) -> u32 {
        let all = self.on_the_way.iter().chain(&self.current);
        all.map(|op| self.ops.get(*op).work()).sum()
    }

    /// Whether the line of a constant is in its cache; it has been used then.
    pub fn has_constant(&mut self, addr: u64) -> bool {
        self.constants.hit(addr)
    }

    /// An instruction has issued that waits for a line which operands are in.
    pub fn await_line(&mut self, op: u32) {
        self.lines.push_back(op);
    }

    /// The next of those enters, if it may; says whether there is one that may.
    pub fn enter_for_line(&mut self) -> bool {
        let line = match self.accepts() {
            true => self.lines.pop_front(),
            false => None,
        };
        line.into_iter().for_each(|op| self.enter(op));
        line.is_some()
    }

    /// Whether a reply of memory can be taken.
    pub fn accepts_reply(&self) -> bool {
        self.replies.len() < REPLIES
    }

    /// Takes a reply of memory.
    pub fn take_reply(&mut self, reply: Reply) {
        self.replies.push_back(reply);
    }

    /// Whether nothing is under way that could still ask for something.
    pub fn is_empty(&self) -> bool {
        let caches = [&self.data, &self.constants, &self.textures];
        self.ops.is_empty()
            && !self.prefetches_wait()
            && !caches.iter().any(|cache| cache.has_request())
    }

    /// The L1 data cache forgets its lines.
    pub fn invalidate(&mut self, counters: &mut SmCounters) {
        if let Some(asked_by) = &mut self.asked_by {
            asked_by.clear();
        }
        self.data.invalidate();
        self.forget_prefetches(counters);
    }

    /// The second half of a cycle, behind the operand collectors.
    pub fn cycle(&mut self, now: Cycle, port: &mut Port, counters: &mut SmCounters) {
        self.take_reply_in();
        self.send_requests(now, port);
        let prefetches = self.prefetches_wait() && self.has_lookup_port(now);
        if self.queue.front().is_some_and(|first| first.at <= now) {
            self.look_up(counters);
        }
        if let Some(op) = self.current {
            self.work(now, op, port, counters);
        }
        if prefetches {
            self.look_up_prefetch(counters);
        }
    }

    /// What is under way of an instruction's accesses has come back, or the pipeline lets go of it.
    fn release(&mut self, op: u32) {
        let record = self.ops.get_mut(op);
        record.holds -= 1;
        if record.holds == 0 {
            self.ops.remove(op);
        }
    }

    /// Each cache sends a request, as far as the network has room.
    fn send_requests(&mut self, now: Cycle, port: &mut Port) {
        for which in [CacheOf::Texture, CacheOf::Constants, CacheOf::Data] {
            let cache = self.cache(which);
            let Some(&request) = cache.first_request() else {
                continue;
            };
            if !port.is_full(now) && port.try_send(now, &request) {
                cache.send();
                self.has_left(&request);
            }
        }
    }

    fn cache(&mut self, which: CacheOf) -> &mut L1 {
        match which {
            CacheOf::Texture => &mut self.textures,
            CacheOf::Constants => &mut self.constants,
            CacheOf::Data => &mut self.data,
        }
    }
}

/// Facts of the instruction of a record.
fn facts_of<'a>(record: &MemOp, code: &'a [OpFacts]) -> &'a OpFacts {
    &code[record.pc as usize]
}

/// Whether the banks of the register file take what a record has loaded; they do from then on.
fn banks_take(record: &MemOp, collectors: &mut Collectors, code: &[OpFacts]) -> bool {
    let slot = record.owners.first().map_or(0, |owner| owner.slot);
    collectors.try_write(slot, &facts_of(record, code).write_banks)
}
