//! What a channel's requests are bounded by, and that it says when it has something to do.

use super::*;
use crate::cache::mshr::Fetch;
use crate::testing::gtx480;
use proptest::prelude::*;

/// What the slices hear, and when; and when they found no room.
type Heard = Vec<(Cycle, usize, Option<u32>)>;

/// Slices send these requests (cycles between them, slice, bank, row, write) as soon as there is room. The channel is run in every cycle, or where it says that it
/// has something to do.
fn run(
    requests: &[(u64, u16, u16, u64, bool)],
    latency: u32,
    every: bool,
) -> (Heard, DramCounters) {
    let mut machine = gtx480();
    machine.dram.latency = latency;
    machine.dram.queue = 4;
    let clock = Clock::new(924, 700);
    let mut channel = Channel::new(&machine.dram, clock, 2, 3);
    let (mut heard, mut counted) = (Vec::new(), DramCounters::default());
    let (mut sent, mut due) = (0, Cycle::ZERO);
    let (mut cycle, mut has_room) = (Cycle::ZERO, [true; 2]);
    while sent < requests.len() || !channel.is_empty() {
        assert!(cycle < Cycle::new(100_000), "{}", channel.describe());
        let end = clock.first_tick(cycle + 1);
        if every {
            channel.next = channel.next.min(clock.first_tick(cycle));
        }
        channel.run(cycle, end, &mut counted, &mut |slice, news| match news {
            News::Room => {
                has_room[slice] = true;
                heard.push((cycle, slice, None));
            }
            News::Fetched(at, fetch) => heard.push((at, slice, Some(fetch.0))),
        });
        while let Some(&(gap, slice, bank, row, write)) = requests.get(sent)
            && due + gap <= cycle
            && has_room[usize::from(slice)]
        {
            let request = DramRequest {
                slice,
                bank,
                row,
                write,
                bytes: 32,
                fetch: Fetch(sent as u32),
            };
            has_room[usize::from(slice)] = channel.push(end, request);
            (sent, due) = (sent + 1, cycle);
        }
        cycle += 1;
    }
    (heard, counted)
}

/// The slices of a channel send as much as they can, and nothing completes, as nothing reaches the DRAM.
#[test]
fn what_is_under_way_beyond_the_slices_has_a_place_where_it_can_wait() {
    let mut machine = gtx480();
    machine.dram.queue = 4;
    machine.dram.latency = 10_000;
    let clock = Clock::new(924, 700);
    for slices in [1, 2] {
        let mut channel = Channel::new(&machine.dram, clock, slices, 3);
        let mut has_room = vec![true; slices];
        for cycle in (0..900).map(Cycle::new) {
            let end = clock.first_tick(cycle + 1);
            let counted = &mut DramCounters::default();
            channel.run(cycle, end, counted, &mut |slice, _| has_room[slice] = true);
            for slice in (0..slices)
                .filter(|slice| has_room[*slice])
                .collect::<Vec<_>>()
            {
                let request = DramRequest {
                    slice: slice as u16,
                    bank: 0,
                    row: 0,
                    write: false,
                    bytes: 32,
                    fetch: Fetch(0),
                };
                has_room[slice] = channel.push(end, request);
            }
        }
        let Model::Gddr(behind) = &channel.model else {
            panic!("another model");
        };
        // The places of the scheduler's queue and of that behind it, and a credit that one slice holds beside.
        assert_eq!(behind.delay.len(), 4 + 116 + 1, "{}", channel.describe());
    }
}

proptest! {
    #[test]
    fn a_channel_says_when_it_has_something_to_do(
        requests in prop::collection::vec((0u64..12, 0u16..2, 0u16..4, 0u64..3, any::<bool>()), 1..120),
        latency in 0u32..60,
    ) {
        prop_assert_eq!(run(&requests, latency, false), run(&requests, latency, true));
    }
}
