//! A channel whose far side is run for many clocks at a time does what one that is run clock by clock does.

use super::super::far::FarSide;
use super::*;
use crate::cache::mshr::Fetch;
use crate::testing::gtx480;
use proptest::prelude::*;

/// What the slices hear, and when; and when they found no room.
type Heard = Vec<(Cycle, usize, Option<u32>)>;

/// Slices that send these requests (cycles between them, slice, bank, row, write) as soon as there is room, over a channel whose far side
/// is run for `window` cycles at a time.
fn run(
    requests: &[(u64, u16, u16, u64, bool)],
    latency: u32,
    window: u64,
) -> (Heard, DramCounters) {
    let mut machine = gtx480();
    machine.dram.latency = latency;
    machine.dram.queue = 4;
    let clock = Clock::new(924, 700);
    let mut channel = Channel::new(&machine.dram, clock, 2, 3);
    let mut far = FarSide::new(&machine.dram, clock, 2);
    let (mut heard, mut counted) = (Vec::new(), DramCounters::default());
    let (mut known, mut sent, mut due) = (Cycle::ZERO, 0, Cycle::ZERO);
    let (mut cycle, mut has_room) = (Cycle::ZERO, [true; 2]);
    while sent < requests.len() || !channel.is_empty() {
        assert!(cycle < Cycle::new(100_000), "{}", channel.describe());
        if known <= cycle {
            channel.tell(|sent| far.take(sent));
            known = cycle + window;
            far.run(clock.first_tick(known));
            channel.hear(
                far.told(),
                clock.first_tick(known),
                &mut |slice, fetched| {
                    while let Some((at, fetch)) = fetched.pop_front() {
                        heard.push((at, slice, Some(fetch.0)));
                    }
                },
            );
        }
        let end = clock.first_tick(cycle + 1);
        channel.run(cycle, end, &mut counted, &mut |slice, _| {
            has_room[slice] = true;
            heard.push((cycle, slice, None));
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
    counted.add(&far.told().counted);
    heard.sort(); // what is told beforehand is told with its time
    (heard, counted)
}

/// The slices of a channel send as much as they can, and nothing completes.
#[test]
fn what_is_under_way_beyond_the_slices_has_a_place_where_it_can_wait() {
    let mut machine = gtx480();
    machine.dram.queue = 4;
    let clock = Clock::new(924, 700);
    for slices in [1, 2] {
        let mut channel = Channel::new(&machine.dram, clock, slices, 3);
        let mut far = FarSide::new(&machine.dram, clock, slices);
        let known = clock.first_tick(Cycle::new(1000));
        channel.hear(far.told(), known, &mut |_, _| {});
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
        let mut under_way = 0;
        channel.tell(|sent| under_way = sent.len());
        // The places of the scheduler's queue and of that behind it, and a credit that one slice holds beside.
        assert_eq!(under_way, 4 + 116 + 1, "{}", channel.describe());
    }
}

proptest! {
    #[test]
    fn how_long_the_far_side_runs_by_itself_makes_no_difference(
        requests in prop::collection::vec((0u64..12, 0u16..2, 0u16..4, 0u64..3, any::<bool>()), 1..120),
        latency in 1u32..60,
        window in 2u64..60,
    ) {
        let one_by_one = run(&requests, latency, 1);
        prop_assert_eq!(one_by_one, run(&requests, latency, window.min(latency.into())));
    }
}
