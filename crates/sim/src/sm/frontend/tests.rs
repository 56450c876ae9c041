//! The front end alone: warps that nobody issues from, and an instruction memory that answers
//! when it is told to.

use super::FrontEnd;
use crate::config::Machine;
use crate::memory::packet::{Reply, RequestKind};
use crate::sm::launch::Launched;
use crate::sm::memory::{Port, TokenKind, token};
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
            token: token(TokenKind::Instruction, 0),
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
