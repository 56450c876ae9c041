//! The SM's side of the network: requests leave through here, stamped with their cycle, as
//! far as the injection queue has room. Room comes back at quantum ends.
//!
//! What is in the queue is what has not moved up to the network's buffer: one flit per tick does, so
//! that the SM knows by itself, as long as the buffer cannot be full. Only where it can be must the
//! network be asked.

use crate::config::Machine;
use crate::memory::clock::Clock;
use crate::memory::divide::Divisor;
use crate::memory::network::INJECTION_CYCLES;
use crate::memory::network::crossbar::Backlog;
use crate::memory::packet::{IN_PARTS, Request, RequestKind};
use crate::time::{Cycle, Tick};

/// What a reply is for: the top bits of a token. The rest is an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A line for the L1 data cache.
    Data,
    /// A flight that bypasses L1.
    Uncached,
    /// A store of a hardware warp.
    Store,
    /// A store of several.
    JointStore,
    /// A line for the constant cache.
    Constant,
    /// A line for the instruction cache.
    Instruction,
    /// A line for the texture cache.
    Texture,
    /// A dirty line that no warp waits for.
    WriteBack,
}

const KINDS: [TokenKind; 8] = [
    TokenKind::Data,
    TokenKind::Uncached,
    TokenKind::Store,
    TokenKind::JointStore,
    TokenKind::Constant,
    TokenKind::Instruction,
    TokenKind::Texture,
    TokenKind::WriteBack,
];

/// Packs a token. Of a line for its caches the load/store unit needs to hear when the last part has come.
#[inline]
pub fn token(kind: TokenKind, index: u32) -> u32 {
    let parts = match kind {
        TokenKind::Data | TokenKind::Constant | TokenKind::Texture => IN_PARTS,
        _ => 0,
    };
    parts | (kind as u32) << 28 | index
}

/// Takes a token apart.
#[inline]
pub fn untoken(token: u32) -> (TokenKind, u32) {
    (KINDS[(token >> 28 & 7) as usize], token & 0x0fff_ffff)
}

/// The port.
#[derive(Debug)]
pub struct Port {
    /// Requests sent since they were collected last, with their cycles.
    pub sent: Vec<(Cycle, Request)>,
    /// Flits that the injection queue holds, and the network's buffer behind it.
    queue: u32,
    buffer: u32,
    /// Flits that have not left the two, as far as this side knows: at most so many.
    flits: u32,
    /// Flits that have been sent so far.
    sent_flits: u64,
    /// Flits that can be sent in a quantum at most.
    most_per_quantum: u32,
    /// The tick in which the next flit may go from the queue to the buffer.
    enters_in: Tick,
    network: Clock,
    /// The cycle in which the next flit would move up from queue to buffer. What is not in the
    /// buffer then has moved up, one flit per cycle, by the time the SM runs.
    enters_at: Cycle,
    /// The cycle as of which that is known to be so: the quantum's first where the network is
    /// slower than the core.
    known_at: Option<Cycle>,
    /// The least room that a request needs which was refused; `u32::MAX` without one.
    wanted: u32,
    /// When the queue will have moved up enough for it; never if that is not what it waits for.
    retry_at: Cycle,
    /// The cycle in which a request was refused last.
    refused_at: Cycle,
    /// Data asked for, and data sent.
    pub traffic: [u64; 2],
    flit: Divisor,
    header: u32,
}

impl Port {
    /// The port of an SM.
    pub fn new(machine: &Machine) -> Port {
        let (gpu, net) = (&machine.gpu, &machine.interconnect);
        let network = Clock::new(gpu.interconnect_mhz, gpu.core_mhz);
        let moving = network
            .first_tick(Cycle::new(u64::from(gpu.quantum) + 1))
            .get();
        Port {
            sent: Vec::new(),
            queue: net.injection_queue,
            buffer: net.input_buffer,
            flits: 0,
            sent_flits: 0,
            most_per_quantum: net.injection_queue.saturating_add(moving as u32),
            enters_in: Tick::ZERO,
            network,
            enters_at: Cycle::ZERO,
            known_at: (gpu.interconnect_mhz < gpu.core_mhz).then_some(Cycle::ZERO),
            wanted: u32::MAX,
            retry_at: Cycle::NEVER,
            refused_at: Cycle::ZERO,
            traffic: [0; 2],
            flit: Divisor::new(u64::from(net.flit.max(1))),
            header: net.header,
        }
    }

    /// So much is in the way in queue and buffer as cycle `now` begins, says the network.
    #[inline]
    pub fn hear_backlog(&mut self, backlog: Backlog, now: Cycle) {
        self.flits = backlog.flits;
        let first = self.network.first_tick(now + INJECTION_CYCLES);
        self.enters_in = first + u64::from(backlog.moving);
    }

    /// No more than this is in the way in queue and buffer. To be said only while it [knows room](Port::knows_room).
    pub fn hear_at_most(&mut self, flits: u32) {
        self.flits = self.flits.min(flits);
    }

    /// Flits that have been sent so far.
    #[inline]
    pub fn sent_flits(&self) -> u64 {
        self.sent_flits
    }

    /// Whether the buffer has room for all that can be sent in a quantum, whatever the network does.
    #[inline]
    pub fn knows_room(&self) -> bool {
        self.flits + self.most_per_quantum <= self.buffer
    }

    /// For how many cycles from the beginning of a quantum on nothing has to be asked: the buffer
    /// has room for all that can be sent in them, and flits move up as this side counts. At least
    /// the `quantum`.
    #[inline]
    pub fn known_for(&self, quantum: u64) -> u64 {
        match self.network.same_as_core() {
            true => {
                let most = self.flits + self.queue + 1;
                u64::from(self.buffer.saturating_sub(most)).max(quantum)
            }
            false => quantum,
        }
    }

    /// Flits that move up in the ticks from cycle `now` on.
    #[inline]
    fn moving(&self, now: Cycle) -> u64 {
        self.enters_in
            .since(self.network.first_tick(now + INJECTION_CYCLES))
    }

    /// Whether a request was refused.
    #[inline]
    pub fn awaits_room(&self) -> bool {
        self.wanted != u32::MAX
    }

    /// Whether there will be room for a request that was refused in a quantum that begins in cycle
    /// `now`.
    #[inline]
    pub fn has_room_for_refused(&self, now: Cycle) -> bool {
        let behind = self.flits.saturating_sub(self.buffer);
        let queued = u64::from(behind).max(self.moving(now));
        u64::from(self.queue).saturating_sub(queued) >= u64::from(self.wanted)
    }

    /// A quantum begins in cycle `now`. Returns whether there is room for a request that was refused.
    #[inline]
    pub fn refill(&mut self, now: Cycle) -> bool {
        self.enters_at = now + self.moving(now);
        if let Some(known_at) = &mut self.known_at {
            *known_at = now;
        }
        let enough = self.room(now) >= self.wanted;
        let wanted = self.wanted;
        self.retry_at = Cycle::NEVER;
        if enough {
            self.wanted = u32::MAX;
        } else if wanted != u32::MAX {
            self.want(wanted); // there may be room later in the quantum
        }
        enough
    }

    /// Flits for which there is room in cycle `now`.
    #[inline]
    fn room(&self, now: Cycle) -> u32 {
        let behind = self.flits.saturating_sub(self.buffer);
        let moving = self.enters_at.since(self.known_at.unwrap_or(now)) as u32;
        self.queue.saturating_sub(behind.max(moving))
    }

    /// Whether nothing can be sent in this cycle.
    #[inline]
    pub fn is_full(&self, now: Cycle) -> bool {
        self.room(now) == 0
    }

    /// A request waits in cycle `now` for whatever room there will be.
    #[inline]
    pub fn want_room(&mut self, now: Cycle) {
        self.refused_at = now;
        self.want(1);
    }

    #[inline]
    fn want(&mut self, flits: u32) {
        self.wanted = self.wanted.min(flits);
        let behind = self.flits.saturating_sub(self.buffer);
        if self.known_at.is_none() && behind + self.wanted <= self.queue {
            let before = u64::from(self.queue - self.wanted);
            self.retry_at = Cycle::new(self.enters_at.get().saturating_sub(before));
        }
    }

    /// Room without which no refused request can be sent; `u32::MAX` where none was refused.
    #[inline]
    pub fn wanted(&self) -> u32 {
        self.wanted
    }

    /// When a refused request can be sent, if that is known.
    #[inline]
    pub fn retry_at(&self) -> Cycle {
        self.retry_at
    }

    /// Sends a request if there is room for all of it.
    pub fn try_send(&mut self, now: Cycle, request: &Request) -> bool {
        let data = match request.kind.carries_data() {
            true => u32::from(request.bytes),
            false => 0,
        };
        let flits = self.flit.divide_up(u64::from(self.header + data)) as u32;
        if flits > self.room(now) {
            self.refused_at = now;
            self.want(flits);
            return false;
        }
        self.flits += flits;
        self.sent_flits += u64::from(flits.max(1)); // as the network counts
        self.enters_at = self.enters_at.max(now) + u64::from(flits);
        let ready = self.network.first_tick(now + INJECTION_CYCLES);
        self.enters_in = self.enters_in.max(ready) + u64::from(flits.max(1));
        // One that was refused in this cycle, for lack of room or behind another, still waits.
        if self.retry_at <= now && self.refused_at < now {
            (self.wanted, self.retry_at) = (u32::MAX, Cycle::NEVER);
        }
        // What is prefetched into L2 does not come here.
        if request.kind != RequestKind::Prefetch {
            let writes = (request.kind != RequestKind::Read) as usize;
            self.traffic[writes] += request.bytes as u64;
        }
        self.sent.push((now, *request));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;
    use crate::memory::network::crossbar::{Crossbar, Shape};
    use crate::memory::packet::Traffic;
    use proptest::prelude::*;

    fn request(kind: RequestKind, bytes: u16) -> Request {
        Request {
            sm: 0,
            kind,
            traffic: Traffic::Global,
            addr: 0,
            bytes,
            byte_mask: !0,
            token: 0,
        }
    }

    /// A port with room for nine flits and 64 behind them, and what 128 bytes make: five flits as
    /// a write, one as a read.
    fn port() -> (Port, Request, Request) {
        let flit = ["interconnect.flit=32".to_owned()];
        let port = Port::new(&Machine::resolve("gtx480", &flit).unwrap());
        let [write, read] = [RequestKind::Write, RequestKind::Read].map(|kind| request(kind, 128));
        (port, write, read)
    }

    /// A quantum begins with so many flits in the way, none of which moves up.
    fn refill(port: &mut Port, flits: u32, now: Cycle) -> bool {
        port.hear_backlog(Backlog { flits, moving: 0 }, now);
        port.refill(now)
    }

    #[test]
    fn what_was_refused_is_tried_again_when_there_is_room_for_it() {
        let (mut port, write, read) = port();
        let start = Cycle::new(100);
        // The buffer is full: four of nine flits are taken.
        refill(&mut port, 68, start);
        assert!(port.try_send(start, &read));
        assert_eq!(port.wanted(), u32::MAX);
        assert!(!port.try_send(start, &write));
        assert_eq!((port.wanted(), port.retry_at()), (5, Cycle::NEVER));
        assert!(!refill(&mut port, 69, start + 4), "four are not enough");
        assert!(refill(&mut port, 68, start + 8));
        assert_eq!(port.wanted(), u32::MAX, "it is to be tried now");
        assert!(port.try_send(start + 8, &write));
        assert!(port.is_full(start + 8));
    }

    /// A store is refused when it is tried again, and in the same cycle a read finds room, which is smaller: the store
    /// still waits.
    #[test]
    fn what_is_sent_forgets_nothing_that_was_refused_in_its_cycle() {
        let (mut port, write, read) = port();
        let start = Cycle::new(100);
        refill(&mut port, 0, start);
        assert!(port.try_send(start, &write));
        (0..4).for_each(|_| assert!(port.try_send(start, &read)));
        assert!(port.is_full(start));
        port.want_room(start);
        let again = start + 1;
        assert_eq!(port.retry_at(), again);
        assert!(!port.try_send(again, &write));
        assert!(port.try_send(again, &read));
        assert!(port.awaits_room() && port.retry_at() != Cycle::NEVER);
    }

    proptest! {
        /// What a port knows by itself of the flits that move up is what the network would tell it,
        /// however their clocks stand to each other; and while it says that it knows, the room that it
        /// sees is what it would see if it were told.
        #[test]
        fn a_port_knows_what_the_network_would_tell(
            mhz in prop::sample::select(vec![350u32, 500, 700, 924, 1400]),
            sizes in prop::collection::vec(prop::option::of(0u16..=128), 1..200),
        ) {
            let set = [
                "interconnect.flit=32".to_owned(),
                "gpu.quantum=3".to_owned(),
                format!("gpu.interconnect_mhz={mhz}"),
            ];
            let machine = Machine::resolve("gtx480", &set).unwrap();
            let clock = Clock::new(mhz, 700);
            let shape = Shape::from_sms(&machine.interconnect);
            let mut network: Crossbar<()> = Crossbar::new(1, 1, shape);
            let (mut port, mut told) = (Port::new(&machine), Port::new(&machine));
            let mut known = 0;
            for (cycle, bytes) in (0..).zip(sizes) {
                let now = Cycle::new(cycle);
                if cycle % u64::from(machine.gpu.quantum) == 0 {
                    let tick = clock.first_tick(now + INJECTION_CYCLES);
                    let backlog = network.backlog(0, tick);
                    prop_assert_eq!(port.moving(now), u64::from(backlog.moving));
                    if !port.knows_room() {
                        port.hear_backlog(backlog, now);
                    } else {
                        known += 1;
                    }
                    told.hear_backlog(backlog, now);
                    port.refill(now);
                    told.refill(now);
                }
                let Some(bytes) = bytes else { continue };
                let request = request(RequestKind::Write, bytes);
                let sent = told.try_send(now, &request);
                prop_assert_eq!(port.try_send(now, &request), sent, "in {}", cycle);
                if sent {
                    let flits = told.flit.divide_up(u64::from(told.header) + u64::from(bytes));
                    network.push(0, clock.first_tick(now + INJECTION_CYCLES), 0, flits as u32, ());
                }
            }
            prop_assert!(known > 0);
        }
    }

    proptest! {
        /// The same if it is told late: three quanta ago so much was in the way, and all that it has sent since may still be.
        #[test]
        fn a_port_that_hears_late_knows_as_much(
            sizes in prop::collection::vec(prop::option::weighted(0.6, 0u16..=128), 100..600),
        ) {
            let set = ["interconnect.flit=32", "gpu.quantum=4", "interconnect.input_buffer=40"];
            let machine = Machine::resolve("gtx480", &set.map(str::to_owned)).unwrap();
            let shape = Shape::from_sms(&machine.interconnect);
            let clock = Clock::new(700, 700);
            let mut network: Crossbar<()> = Crossbar::new(1, 1, shape);
            let (mut port, mut told) = (Port::new(&machine), Port::new(&machine));
            // Of each quantum: what was in the way as it began, and what has been sent in it.
            let mut quanta: Vec<(u32, u32)> = Vec::new();
            let mut late = 0;
            for (cycle, bytes) in (0..).zip(sizes) {
                let now = Cycle::new(cycle);
                let tick = clock.first_tick(now + INJECTION_CYCLES);
                if network.next() <= tick {
                    network.step(tick, &mut Sometimes(cycle));
                }
                if cycle % 4 == 0 {
                    let backlog = network.backlog(0, tick);
                    quanta.push((backlog.flits, 0));
                    told.hear_backlog(backlog, now);
                    match quanta[..].last_chunk::<4>() {
                        Some([before, a, b, _]) if port.knows_room() => {
                            late += 1;
                            port.hear_at_most(before.0 + before.1 + a.1 + b.1);
                        }
                        _ => port.hear_backlog(backlog, now),
                    }
                    port.refill(now);
                    told.refill(now);
                }
                let Some(bytes) = bytes else { continue };
                let request = request(RequestKind::Write, bytes);
                let sent = told.try_send(now, &request);
                prop_assert_eq!(port.try_send(now, &request), sent, "in {}", cycle);
                if sent {
                    let flits = told.flit.divide_up(u64::from(told.header) + u64::from(bytes));
                    network.push(0, tick, 0, flits as u32, ());
                    quanta.last_mut().unwrap().1 += flits as u32;
                }
            }
            prop_assert!(late > 0);
        }
    }

    /// Takes packets in some cycles.
    struct Sometimes(u64);

    impl crate::memory::network::crossbar::Sink<()> for Sometimes {
        fn has_room(&self, _: usize) -> bool {
            self.0 % 50 < 20
        }

        fn waiting(&self, _: usize) -> u32 {
            0
        }

        fn deliver(&mut self, _: usize, _: Tick, _: u32, (): ()) {}
    }

    #[test]
    fn the_least_of_what_was_refused_counts() {
        let (mut port, write, _) = port();
        refill(&mut port, 100, Cycle::ZERO);
        port.try_send(Cycle::ZERO, &write);
        port.try_send(Cycle::ZERO, &request(RequestKind::Write, 32));
        assert_eq!(port.wanted(), 2);
    }

    #[test]
    fn a_flit_moves_up_in_every_cycle() {
        let (mut port, write, _) = port();
        let start = Cycle::new(100);
        refill(&mut port, 0, start);
        assert!(port.try_send(start, &write));
        assert!(!port.try_send(start, &write), "nine flits, not ten");
        assert_eq!(port.retry_at(), start + 1);
        assert!(port.try_send(start + 1, &write));
        assert_eq!((port.wanted(), port.retry_at()), (u32::MAX, Cycle::NEVER));
        assert!(!port.try_send(start + 2, &write));
        assert_eq!(port.retry_at(), start + 6, "five flits every five cycles");
    }
}
