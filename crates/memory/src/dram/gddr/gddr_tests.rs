use super::*;
use crate::cache::mshr::Fetch;
use crate::dram::Done;
use crate::testing::gtx480;

/// A channel and what is on its way.
struct Bench {
    dram: Gddr,
    flying: Flying,
}

impl Bench {
    fn new(config: &Dram) -> Bench {
        Bench {
            dram: Gddr::new(config),
            flying: Flying::default(),
        }
    }

    fn push(&mut self, tick: Tick, request: DramRequest) {
        self.dram.push(tick, request);
    }

    fn step(&mut self, tick: Tick, stats: &mut DramCounters) {
        self.dram.step(tick, &mut self.flying, stats);
    }

    /// The requests that have completed by a tick.
    fn completed(&mut self, tick: Tick) -> Vec<Done> {
        let mut all = Vec::new();
        self.flying.complete(tick, |done| all.push(done));
        all
    }

    fn next(&self) -> Tick {
        self.dram.next_command().min(self.flying.next())
    }

    fn is_empty(&self) -> bool {
        self.next() == Tick::NEVER
    }
}

fn channel() -> Bench {
    Bench::new(&gtx480().dram)
}

fn request(bank: u16, row: u64, write: bool, number: u64) -> DramRequest {
    DramRequest {
        slice: 0,
        bank,
        row,
        write,
        bytes: 32,
        fetch: Fetch(number as u32),
    }
}

/// Clocks in which each request's column command went out, by completion time.
fn run(dram: &mut Bench) -> (Vec<(u64, u64)>, DramCounters) {
    let mut stats = DramCounters::default();
    let mut columns = Vec::new();
    while !dram.is_empty() {
        let tick = dram.next();
        assert!(tick < Tick::new(100_000), "stuck");
        for done in dram.completed(tick) {
            let latency = if done.write { 4 } else { 12 } + BURST;
            columns.push((u64::from(done.fetch.0), tick.get() - latency));
        }
        dram.step(tick, &mut stats);
    }
    columns.sort_by_key(|&(_, tick)| tick);
    (columns, stats)
}

/// The clock of each column command for requests that are all queued in clock 0.
fn columns(requests: &[DramRequest]) -> Vec<u64> {
    let mut dram = channel();
    for (i, request) in requests.iter().enumerate() {
        let fetch = Fetch(i as u32);
        dram.push(Tick::ZERO, DramRequest { fetch, ..*request });
    }
    let (mut columns, _) = run(&mut dram);
    columns.sort_by_key(|&(number, _)| number);
    columns.into_iter().map(|(_, tick)| tick).collect()
}

const RCD: u64 = 12;
const BURST: u64 = 2;
/// Queued in clock 0, a request is seen in clock 1.
const FIRST: u64 = 1;

#[test]
fn closed_row_waits_for_the_activate() {
    assert_eq!(columns(&[request(0, 5, false, 0)]), [FIRST + RCD]);
}

#[test]
fn open_row_is_served_at_once_and_in_order() {
    let mut dram = channel();
    dram.push(Tick::ZERO, request(0, 5, false, 0));
    run(&mut dram);
    dram.push(Tick::new(500), request(0, 5, false, 1));
    dram.push(Tick::new(500), request(0, 5, false, 2));
    let (columns, stats) = run(&mut dram);
    assert_eq!(columns, [(1, 501), (2, 504)]);
    assert_eq!(
        (stats.activates, stats.row_hits, stats.row_misses),
        (0, 2, 0)
    );
}

#[test]
fn another_row_waits_for_precharge_and_activate() {
    let mut dram = channel();
    dram.push(Tick::ZERO, request(0, 5, false, 0));
    run(&mut dram);
    dram.push(Tick::new(500), request(0, 6, false, 1));
    let (columns, stats) = run(&mut dram);
    assert_eq!(columns, [(1, 501 + 12 + RCD)]);
    assert_eq!((stats.precharges, stats.activates), (1, 1));
}

#[test]
fn a_row_stays_open_ras_and_a_bank_cycles_in_rc() {
    // Activate at 1; precharge not before 1 + RAS = 29, activate not before 29 + RP = 41.
    let got = columns(&[request(0, 5, false, 0), request(0, 6, false, 0)]);
    assert_eq!(got, [FIRST + 12, FIRST + 28 + 12 + RCD]);
}

#[test]
fn activates_are_rrd_apart() {
    let got = columns(&[request(0, 5, false, 0), request(1, 5, false, 0)]);
    assert_eq!(got, [FIRST + RCD, FIRST + 6 + RCD]);
}

/// Column commands to rows that are already open.
fn open_columns(requests: &[DramRequest]) -> Vec<u64> {
    open_columns_of(&gtx480().dram, requests)
}

fn open_columns_of(config: &Dram, requests: &[DramRequest]) -> Vec<u64> {
    let mut dram = Bench::new(config);
    for bank in 0..16 {
        dram.push(Tick::ZERO, request(bank, 5, false, 0));
    }
    run(&mut dram);
    for (i, request) in requests.iter().enumerate() {
        let fetch = Fetch(i as u32);
        dram.push(Tick::new(999), DramRequest { fetch, ..*request });
    }
    let (mut columns, _) = run(&mut dram);
    columns.sort_by_key(|&(number, _)| number);
    columns.into_iter().map(|(_, tick)| tick - 1000).collect()
}

#[test]
fn columns_are_ccd_apart_and_ccdl_within_a_bank_group() {
    let read = |bank| request(bank, 5, false, 0);
    assert_eq!(open_columns(&[read(0), read(1)]), [0, 2]);
    assert_eq!(open_columns(&[read(0), read(4)]), [0, 3]);
}

#[test]
fn high_bits_put_neighbours_into_one_bank_group() {
    let mut dram = gtx480().dram;
    dram.group_bits = GroupBits::High;
    let read = |bank| request(bank, 5, false, 0);
    let apart = |a, b| open_columns_of(&dram, &[read(a), read(b)]);
    assert_eq!(apart(0, 1), [0, 3]);
    assert_eq!(apart(0, 3), [0, 3]);
    assert_eq!(apart(0, 4), [0, 2]);
    assert_eq!(apart(3, 4), [0, 2]);
}

#[test]
fn write_to_read_takes_11_clocks() {
    let got = open_columns(&[request(0, 5, true, 0), request(1, 5, false, 0)]);
    assert_eq!(got, [0, 11]);
}

#[test]
fn read_to_write_takes_12_clocks() {
    let got = open_columns(&[request(0, 5, false, 0), request(1, 5, true, 0)]);
    assert_eq!(got, [0, 12]);
}

#[test]
fn write_to_precharge_takes_18_clocks() {
    let got = open_columns(&[request(0, 5, true, 0), request(0, 6, false, 0)]);
    assert_eq!(got, [0, 18 + 12 + RCD]);
}

#[test]
fn read_to_precharge_takes_the_burst() {
    let got = open_columns(&[request(0, 5, false, 0), request(0, 6, false, 0)]);
    assert_eq!(got, [0, 2 + 12 + RCD]);
}

#[test]
fn a_write_may_follow_the_activate_sooner_than_a_read() {
    assert_eq!(
        columns(&[request(0, 5, true, 0)]),
        [FIRST + RCD - 5],
        "the data comes WL clocks later"
    );
}

#[test]
fn an_open_row_is_drained_before_older_requests_to_others() {
    let mut dram = channel();
    dram.push(Tick::ZERO, request(0, 5, false, 0));
    dram.push(Tick::ZERO, request(0, 6, false, 1));
    for number in 2..6 {
        dram.push(Tick::ZERO, request(0, 5, false, number));
    }
    let (columns, stats) = run(&mut dram);
    let order: Vec<u64> = columns.into_iter().map(|(number, _)| number).collect();
    assert_eq!(order, [0, 2, 3, 4, 5, 1]);
    assert_eq!((stats.row_hits, stats.row_misses), (4, 2));
}

#[test]
fn a_large_write_takes_a_burst_for_each_64_bytes() {
    let mut dram = channel();
    let line = DramRequest {
        bytes: 128,
        ..request(0, 5, true, 0)
    };
    dram.push(Tick::ZERO, line);
    let (columns, stats) = run(&mut dram);
    assert_eq!(columns, [(0, FIRST + 7 + 3)], "the last burst");
    assert_eq!(
        (stats.busy_clocks, stats.writes, stats.write_bytes),
        (4, 1, 128)
    );
}

#[test]
fn the_queue_holds_what_is_configured() {
    let mut dram = channel();
    for number in 0..64 {
        assert!(!dram.dram.is_full());
        dram.push(Tick::ZERO, request(0, number, false, number));
    }
    assert!(dram.dram.is_full());
    dram.step(Tick::new(FIRST), &mut DramCounters::default());
    assert!(!dram.dram.is_full(), "the bank has taken one");
}

#[test]
fn streaming_over_banks_uses_the_bus_nearly_always() {
    let mut dram = channel();
    let mut stats = DramCounters::default();
    let (mut sent, mut tick) = (0u64, Tick::ZERO);
    while sent < 20_000 || !dram.is_empty() {
        dram.completed(tick);
        dram.step(tick, &mut stats);
        if sent < 20_000 && !dram.dram.is_full() {
            // 128 sectors of a row in each of two banks at a time.
            let bank = (sent / 256 * 2 + sent / 8 % 2) % 16;
            let row = sent / 2048;
            dram.push(tick, request(bank as u16, row, false, sent));
            sent += 1;
        }
        tick += 1;
    }
    let clocks_per_sector = tick.get() as f64 / 20_000.0;
    assert!(
        (2.0..2.3).contains(&clocks_per_sector),
        "{clocks_per_sector}"
    );
    assert_eq!(stats.reads, 20_000);
}

/// A machine's DRAM with settings.
fn channel_with(settings: &[&str]) -> Bench {
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let machine = crate::testing::gtx480_with(&settings);
    Bench::new(&machine.dram)
}

/// The clock in which a read of a closed row is back.
fn read_is_back(settings: &[&str]) -> u64 {
    let mut dram = channel_with(settings);
    dram.push(Tick::ZERO, request(0, 5, false, 0));
    let mut stats = DramCounters::default();
    loop {
        let tick = dram.next();
        assert!(tick < Tick::new(1000), "stuck");
        if !dram.completed(tick).is_empty() {
            return tick.get();
        }
        dram.step(tick, &mut stats);
    }
}

#[test]
fn a_sector_is_back_when_its_burst_has_ended_or_a_clock_after_it_begins() {
    const CL: u64 = 12;
    let command = FIRST + RCD;
    assert_eq!(read_is_back(&[]), command + CL + BURST);
    assert_eq!(read_is_back(&["dram.returns_early=true"]), command + CL + 1);
}

/// Bank 1 has its row open and the next request to it comes when bank 0, before it in the round,
/// needs an activate.
#[test]
fn an_activate_keeps_a_column_command_back_only_where_there_is_one_command_per_clock() {
    let command_clocks = |settings: &[&str]| {
        let mut dram = channel_with(settings);
        dram.push(Tick::ZERO, request(1, 5, false, 0));
        run(&mut dram);
        // Both banks have taken their requests; neither may send before clock 600.
        for (bank, row) in [(0, 7), (1, 5)] {
            dram.push(Tick::new(500), request(bank, row, false, u64::from(bank)));
        }
        let mut stats = DramCounters::default();
        let Bench { dram, flying } = &mut dram;
        dram.turn = 0;
        (dram.earliest.column, dram.earliest.activate) = (Tick::new(600), Tick::new(600));
        for tick in 501..=600 {
            dram.command(Tick::new(tick), flying, &mut stats);
        }
        (stats.activates, stats.reads)
    };
    assert_eq!(command_clocks(&[]), (0, 1), "columns first");
    assert_eq!(command_clocks(&["dram.row_beside_column=true"]), (1, 1));
}
