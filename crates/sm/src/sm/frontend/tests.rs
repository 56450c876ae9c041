//! The front end alone: warps that no scheduler issues from, and an instruction memory that answers
//! when it is told to.

use super::FrontEnd;
use crate::config::Machine;
use crate::memory::packet::{Reply, RequestKind};
use crate::sm::launch::Launched;
use crate::sm::memory::Port;
use crate::sm::residents::Residents;
use crate::sm::testing;
use crate::time::Cycle;

struct Bench {
    front: FrontEnd,
    residents: Residents,
    port: Port,
    launched: Launched,
    now: Cycle,
}

impl Bench {
    fn new(set: &[&str], threads: u32) -> Bench {
        let machine: Machine = testing::machine(set);
        let body = "add.s32 %r1, %r1, 1; ".repeat(40) + "ret;";
        let launched = testing::launched(&machine, &body, threads);
        let port = Port::new(&machine);
        Bench {
            front: FrontEnd::new(&machine, 0),
            residents: testing::residents(&machine, &launched),
            port,
            launched,
            now: Cycle::ZERO,
        }
    }

    /// A cycle passes; instructions in the buffers of warps 0 to `warps` at its end.
    fn step(&mut self, warps: u16) -> Vec<u8> {
        self.residents.warps.start_cycle(self.now);
        self.residents.warps.end_turns();
        let (residents, port) = (&mut self.residents, &mut self.port);
        self.front.step(self.now, residents, port, &self.launched);
        self.now += 1;
        let buffered = |slot| self.residents.warps.warp(slot).buffer().len();
        (0..warps).map(buffered).collect()
    }

    /// The line that was asked for comes.
    fn answer(&mut self) {
        let (_, request) = self.port.sent.pop().expect("a line was asked for");
        self.front.take_reply(Reply {
            kind: RequestKind::Read,
            addr: request.addr,
            bytes: request.bytes,
            last: true,
            token: request.token,
        });
    }

    fn fetches(&self) -> [u64; 2] {
        let counters = &self.residents.books.stats.counters;
        [counters.fetches, counters.l1i_accesses]
    }
}

#[test]
fn a_fetch_is_decoded_one_cycle_later() {
    let mut bench = Bench::new(&[], 32);
    assert_eq!(bench.step(1), [0], "a miss");
    for _ in 0..5 {
        assert_eq!(bench.step(1), [0], "it waits for the line");
    }
    bench.answer();
    assert_eq!(bench.step(1), [0], "fetched, not decoded");
    assert!(bench.front.is_busy());
    assert_eq!(bench.step(1), [2]);
    assert!(!bench.front.is_busy(), "the buffer is full");
    assert_eq!(
        bench.front.next(bench.now, &bench.residents.warps),
        Cycle::NEVER
    );
}

#[test]
fn a_port_fetches_for_one_warp_per_cycle() {
    let mut bench = Bench::new(&[], 96);
    bench.step(3);
    bench.answer();
    assert_eq!(bench.step(3), [0, 0, 0]);
    assert_eq!(bench.step(3), [2, 0, 0]);
    assert_eq!(bench.step(3), [2, 2, 0]);
    assert_eq!(bench.step(3), [2, 2, 2]);
}

#[test]
fn a_line_that_is_refetched_ends_a_wait_and_no_more() {
    let mut bench = Bench::new(&["fetch.refill=refetch"], 32);
    bench.step(1);
    bench.answer();
    assert_eq!(
        bench.step(1),
        [0],
        "the wait is over, too late for this fetch"
    );
    assert!(bench.front.next(bench.now, &bench.residents.warps) <= bench.now);
    assert_eq!(bench.fetches(), [0, 1]);
    assert_eq!(bench.step(1), [0], "fetched, not decoded");
    assert_eq!(bench.fetches(), [1, 2], "it has read the cache again");
    assert_eq!(bench.step(1), [2]);
}

#[test]
fn whose_line_has_come_waits_for_its_turn_where_lines_are_refetched() {
    let filled = |refill: &str| {
        let mut bench = Bench::new(&[refill], 96);
        bench.step(3);
        bench.answer();
        let all: Vec<Vec<u8>> = (0..4).map(|_| bench.step(3)).collect();
        (0..3)
            .map(|w| all.iter().position(|c| c[w] != 0))
            .collect::<Vec<_>>()
    };
    assert_eq!(filled("fetch.refill=install"), [Some(1), Some(2), Some(3)]);
    // The two that have not asked yet come first: it is their turn.
    assert_eq!(filled("fetch.refill=refetch"), [Some(3), Some(1), Some(2)]);
}

#[test]
fn one_wait_ends_per_cycle_where_lines_are_refetched() {
    let set = [
        "fetch.refill=refetch",
        "fetch.ports=4",
        "l1i.sets=1",
        "l1i.mshrs=2",
    ];
    let mut bench = Bench::new(&set, 96);
    bench.step(3);
    let missing = |bench: &Bench| {
        bench.residents.warps.sets(0).missing().count_ones()
            + bench.residents.warps.sets(1).missing().count_ones()
    };
    assert_eq!(missing(&bench), 3, "they wait for one line");
    bench.answer();
    for left in [2, 1, 0] {
        bench.step(3);
        assert_eq!(missing(&bench), left);
    }
}

#[test]
fn a_line_that_was_replaced_before_its_warp_had_a_turn_is_missed_again() {
    let set = [
        "fetch.refill=refetch",
        "l1i.sets=1",
        "l1i.ways=2",
        "l1i.mshrs=1",
        "l1i.line=32",
    ];
    let mut bench = Bench::new(&set, 256);
    // Eight warps at eight lines; the cache holds two of them.
    for warp in 1..8 {
        let pc = 4 * u32::from(warp);
        bench.residents.groups.set_pc(warp, pc);
        bench.residents.warps.restart_fetch(warp, pc);
    }
    let (mut asked, mut due) = (0, None);
    for cycle in 0..600 {
        if !bench.port.sent.is_empty() && due.is_none() {
            asked += 1;
            // The first three come at once, and two of them have taken each other's place before their warps' turns.
            due = Some(cycle + if asked <= 3 { 0 } else { 20 });
        }
        if due == Some(cycle) {
            bench.answer();
            due = None;
        }
        if !bench.step(8).contains(&0) {
            break;
        }
    }
    assert!(!bench.step(8).contains(&0), "each gets its line in the end");
    assert!(asked > 8, "one of the eight asked twice");
}

#[test]
fn units_of_slices_share_the_ports_of_the_cache() {
    let set = ["sm.warp_width=8", "sm.schedulers=1", "fetch.per=slice"];
    let with = |ports: &str| {
        let mut bench = Bench::new(&[set[0], set[1], set[2], ports], 32);
        bench.step(4);
        bench.answer();
        let mut cycles = 0;
        while bench.step(4).contains(&0) {
            cycles += 1;
        }
        (cycles, bench.fetches())
    };
    // The first unit missed, and merged what the others asked for.
    let (alone, one) = with("fetch.cache_ports=1");
    let (together, all) = with("fetch.cache_ports=4");
    assert!(alone > together, "{alone} {together}");
    assert_eq!((one[0], all[0]), (4, 4), "each of the four fetches once");
}

#[test]
fn what_is_in_the_own_cache_needs_no_port() {
    let set = ["fetch.l0_bytes=64", "fetch.cache_ports=1", "fetch.ports=2"];
    let mut bench = Bench::new(&set, 96);
    bench.step(3);
    bench.answer();
    assert_eq!(bench.step(3), [0, 0, 0]);
    assert_eq!(bench.step(3), [2, 2, 0], "the line and what is near");
    assert_eq!(bench.step(3), [2, 2, 2]);
    let [fetches, lookups] = bench.fetches();
    assert_eq!((fetches, lookups), (3, 1));
}

#[test]
fn a_unit_without_a_port_fetches_for_a_warp_that_is_near_and_keeps_the_turn() {
    let set = ["fetch.l0_bytes=64", "fetch.cache_ports=1", "fetch.ports=4"];
    let mut bench = Bench::new(&set, 128);
    // The second and the third warp stand in other lines than the first and the last.
    for (slot, pc) in [(1, 16), (2, 32)] {
        bench.residents.groups.set_pc(slot, pc);
        bench.residents.warps.restart_fetch(slot, pc);
    }
    bench.step(4);
    bench.answer();
    // The line of the first has come; the second takes the port, and the third finds none, but the last needs none.
    bench.step(4);
    assert_eq!(bench.step(4), [2, 0, 0, 2]);
    let asked: Vec<u64> = bench.port.sent.iter().map(|(_, r)| r.addr).collect();
    assert_eq!(asked, [0x1000 + 16 * 8, 0x1000 + 32 * 8]);
    assert_eq!(bench.fetches(), [2, 3]);
}

/// Three home warps of four warps each, in gangs but for these slots, which are elsewhere.
fn gangs(set: &[&str], alone: &[u16]) -> Bench {
    let narrow = ["sm.warp_width=8", "sm.schedulers=1", "fetch.per=slice"];
    let set = [&narrow[..], &["scheduler=gangs"], set].concat();
    let mut bench = Bench::new(&set, 96);
    for (i, slot) in alone.iter().enumerate() {
        bench.residents.groups.set_pc(*slot, 2 + i as u32);
    }
    bench.residents.tick_plan(bench.now, &bench.launched);
    // The line that all of them need. The warp that asked for it takes it when it comes, past the ports.
    bench.step(12);
    bench.answer();
    bench
}

/// In which cycle the buffer of each warp was filled.
fn filled(mut bench: Bench) -> Vec<u32> {
    let mut filled = vec![0; 12];
    for cycle in 0..16 {
        for (slot, buffered) in bench.step(12).iter().enumerate() {
            if *buffered != 0 && filled[slot] == 0 {
                filled[slot] = cycle;
            }
        }
    }
    filled
}

#[test]
fn a_gang_is_fetched_for_once_and_before_single_warps() {
    // The second home warp's turn comes first; its last warp is on its own.
    let cycles = |ports: &str, gangs_per_cycle: &str| {
        let ports = format!("fetch.cache_ports={ports}");
        let most = format!("scheduler.gangs_per_cycle={gangs_per_cycle}");
        filled(gangs(&[&ports, &most], &[7]))
    };
    assert_eq!(cycles("1", "0"), [2, 2, 2, 2, 1, 1, 1, 3, 1, 1, 1, 1]);
    // One gang per cycle leaves the port to the single warp.
    assert_eq!(cycles("1", "1"), [3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn slices_get_the_ports_that_gangs_leave_in_turn() {
    // No warp is in a gang: three warps on each of four slices, one port.
    let all: Vec<u16> = (0..12).collect();
    let cycles = filled(gangs(&["fetch.cache_ports=1"], &all));
    let mut in_order = cycles.clone();
    in_order.sort_unstable();
    assert_eq!(in_order, [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    for round in [2..=5, 6..=9] {
        let those = (0..12).filter(|slot| round.contains(&cycles[*slot]));
        let mut slices: Vec<usize> = those.map(|slot| slot % 4).collect();
        slices.sort_unstable();
        assert_eq!(slices, [0, 1, 2, 3], "cycles {round:?} of {cycles:?}");
    }
}

#[test]
fn the_wait_of_a_whole_gang_ends_with_its_line_where_lines_are_refetched() {
    let cycles = filled(gangs(&["fetch.refill=refetch"], &[]));
    let gangs: Vec<u32> = cycles.chunks(4).map(|gang| gang[0]).collect();
    assert!(
        cycles
            .chunks(4)
            .all(|gang| gang.iter().all(|c| *c == gang[0]))
    );
    let mut in_order = gangs.clone();
    in_order.sort_unstable();
    in_order.dedup();
    assert!(gangs.iter().all(|c| *c > 0), "{gangs:?}");
}

#[test]
fn gangs_do_not_use_the_caches_of_slices() {
    let bench = gangs(&["fetch.cache_ports=1", "fetch.l0_bytes=64"], &[]);
    let before = bench.fetches()[1];
    let mut bench = bench;
    while bench.step(12).contains(&0) {}
    let [fetches, lookups] = bench.fetches();
    assert_eq!(fetches, 3, "one for each gang");
    assert!(lookups > before, "the others did not find it nearby");
}
