//! The memory partitions: L2 slices, DRAM channels and the network back to the SMs.
//!
//! Within a core cycle replies go into the network first, then DRAM runs, then the slices.

use super::wires::{Admitted, RoomChange};
use crate::address_map::AddressMap;
use crate::clock::Clock;
use crate::dram::News;
use crate::dram::channel::Channel;
use crate::inflight::InflightTable;
use crate::l2::{REPLY_CYCLES, Slice, Surroundings};
use crate::network::crossbar::{Crossbar, Shape, Sink};
use crate::packet::{PacketSize, Reply};
use crate::stats::MemoryStats;
use crate::time::{Cycle, Tick};
use crate::wake::WakeList;
use warpsim_machine::Machine;

/// The clocks beside the core's.
#[derive(Clone, Copy)]
pub(super) struct Clocks {
    pub network: Clock,
    pub l2: Clock,
    pub dram: Clock,
}

/// All partitions.
pub(super) struct Partitions {
    pub clocks: Clocks,
    slices_per_channel: usize,
    pub packets: PacketSize,
    pub replies: Crossbar<Reply>,
    pub inflight: InflightTable,
    pub slices: Vec<Slice>,
    pub channels: Vec<Channel>,
    /// The core cycle in which each part has something to do next.
    replies_next: Cycle,
    /// Slices see the queues to the network as they are before its step, as on the reference.
    replies_last: bool,
    channels_next: WakeList<Tick>,
    dram_next: Cycle,
    slices_next: WakeList,
    /// What the partitions have counted; what the network to them and the SMs' inboxes count is not here.
    pub stats: MemoryStats,
}

impl Partitions {
    /// Empty partitions.
    pub fn new(machine: &Machine, map: AddressMap, clocks: Clocks) -> Partitions {
        let (net, l2) = (&machine.interconnect, &machine.l2);
        let (sms, slices) = (machine.gpu.sms as usize, map.slices());
        let slices_per_channel = l2.slices_per_channel.max(1) as usize;
        let largest_data = match net.sectored_replies {
            true => l2.sector.clamp(32, crate::packet::LARGEST_REQUEST),
            false => crate::packet::LARGEST_REQUEST,
        };
        let packets = PacketSize::new(net.header, net.flit, largest_data);
        // A slice's reply queue and the network's injection queue behind it, as one.
        let replies = Shape {
            injection_queue: l2.queue * packets.largest_reply + net.injection_queue,
            ..Shape::to_sms(net)
        };
        let channels = machine.dram.channels.max(1) as usize;
        let channel = |_| Channel::new(&machine.dram, clocks.dram, slices_per_channel, l2.queue);
        Partitions {
            clocks,
            slices_per_channel,
            packets,
            replies: Crossbar::new(slices, sms, replies),
            inflight: InflightTable::new(l2.sector, net),
            slices: (0..slices as u32)
                .map(|number| Slice::new(machine, map, number))
                .collect(),
            channels: (0..channels).map(channel).collect(),
            replies_next: Cycle::NEVER,
            replies_last: net.credits,
            channels_next: WakeList::new(channels),
            dram_next: Cycle::NEVER,
            slices_next: WakeList::new(slices),
            stats: MemoryStats::default(),
        }
    }

    /// The earliest core cycle in which anything can happen here.
    #[inline]
    pub fn next(&self) -> Cycle {
        let dram = self.dram_next;
        self.replies_next.min(dram).min(self.slices_next.next())
    }

    /// No request is on its way in the partitions and nothing left to be written to DRAM.
    pub fn is_idle(&self) -> bool {
        self.inflight.is_empty()
            && self.replies.is_empty()
            && self.slices.iter().all(Slice::is_empty)
            && self.channels.iter().all(Channel::is_empty)
    }

    /// Takes in a request that an entrance has admitted.
    #[inline]
    pub(super) fn take_in(&mut self, admitted: &Admitted) {
        let (slice, index) = (
            admitted.slice as usize,
            self.inflight.insert(&admitted.request),
        );
        self.slices[slice].take_in(admitted.ready, index, admitted.request.entry());
        self.slices_next.lower(slice, admitted.ready);
    }

    /// Simulates a core cycle. Replies come out at `sms`; `perform_atomic(sm, token)` is called for
    /// every atomic that a slice serves, in that order.
    #[inline]
    pub fn cycle(
        &mut self,
        cycle: Cycle,
        sms: &mut impl Sink<Reply>,
        perform_atomic: &mut dyn FnMut(u16, u32),
    ) {
        if !self.replies_last {
            self.run_replies(cycle, sms);
        }
        if self.dram_next.min(self.slices_next.next()) <= cycle {
            let dram_end = self.clocks.dram.first_tick(cycle + 1);
            if self.dram_next <= cycle {
                self.run_channels(cycle, dram_end);
            }
            if self.slices_next.next() <= cycle {
                self.run_slices(cycle, dram_end, perform_atomic);
            }
            self.dram_next = self.clocks.dram.cycle_of(self.channels_next.next());
        }
        if self.replies_last {
            self.run_replies(cycle, sms);
        }
        self.replies_next = self.clocks.network.cycle_of(self.replies.next());
    }

    #[inline(always)]
    fn run_replies(&mut self, cycle: Cycle, sms: &mut impl Sink<Reply>) {
        if self.replies_next <= cycle {
            for tick in self.clocks.network.ticks_of(cycle) {
                if self.replies.next() <= tick {
                    self.replies.step(tick, sms);
                }
            }
        }
    }

    #[inline(never)]
    fn run_channels(&mut self, cycle: Cycle, end: Tick) {
        let last = Tick::new(end.get() - 1);
        let (channels, slices) = (&mut self.channels, &mut self.slices);
        let (stats, slices_next) = (&mut self.stats.dram, &mut self.slices_next);
        self.channels_next.run(last, |number| {
            let first = number * self.slices_per_channel;
            let channel = &mut channels[number];
            channel.run(cycle, end, stats, &mut |slice, news| {
                hand_on(first + slice, news, cycle, slices, slices_next);
            });
            channel.next()
        });
    }

    #[inline(never)]
    fn run_slices(
        &mut self,
        cycle: Cycle,
        dram_tick: Tick,
        perform_atomic: &mut dyn FnMut(u16, u32),
    ) {
        let Clocks { network, l2, dram } = self.clocks;
        let (first, end) = (l2.first_tick(cycle), l2.first_tick(cycle + 1));
        let next_tick_cycle = l2.cycle_of(end);
        let mut around = Surroundings {
            inflight: &mut self.inflight,
            replies: &mut self.replies,
            reply_tick: network.first_tick(cycle + REPLY_CYCLES),
            room_tick: network.first_tick(cycle + u64::from(!self.replies_last)),
            lockstep: network.same_as_core() && l2.same_as_core(),
            channels: &mut self.channels,
            channels_next: &mut self.channels_next,
            dram_tick,
            dram,
            stats: &mut self.stats,
            perform_atomic,
            packets: &self.packets,
        };
        let slices = &mut self.slices;
        self.slices_next.run(cycle, |number| {
            let slice = &mut slices[number];
            let (mut next, mut tick) = (cycle, first);
            while tick < end {
                next = slice.step(cycle, tick, &mut around);
                tick += 1;
            }
            next.max(next_tick_cycle)
        });
    }

    /// What has been counted here.
    pub fn count(&self, stats: &mut MemoryStats) {
        stats.clone_from(&self.stats);
        stats.replies.full_stalls = self.replies.blocked();
    }

    /// Takes out when slices had room for requests, as far as they have come.
    pub fn take_room_changes(&mut self, changes: &mut Vec<RoomChange>) {
        for (number, slice) in self.slices.iter_mut().enumerate() {
            slice.room().take(|from, has_room| {
                changes.push(RoomChange {
                    slice: number as u32,
                    from,
                    has_room,
                });
            });
        }
    }
}

/// A slice is told something by its channel in core cycle `cycle`.
#[inline(always)]
fn hand_on(number: usize, news: News, cycle: Cycle, slices: &mut [Slice], next: &mut WakeList) {
    let slice = &mut slices[number];
    let at = match news {
        News::Fetched(at, fetch) => {
            slice.fill(at, fetch);
            at
        }
        News::Room => {
            slice.may_send_to_dram();
            cycle
        }
    };
    next.lower(number, at);
}
