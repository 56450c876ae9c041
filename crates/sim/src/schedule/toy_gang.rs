//! A toy gang policy, to prove that the seam holds: with 16-wide warps the two halves of a home
//! warp issue together while both are ready at the same PC, and by themselves otherwise.

use super::lrr::Lrr;
use super::{IssuePlan, IssuePolicy, IssueView, Place, Together};

pub struct ToyGang {
    singles: Lrr,
    schedulers: u8,
}

impl ToyGang {
    pub fn new(schedulers: u32) -> ToyGang {
        ToyGang {
            singles: Lrr::new(2 * schedulers as usize),
            schedulers: schedulers as u8,
        }
    }

    /// The other half of a home warp.
    fn partner(&self, place: Place) -> Place {
        Place {
            domain: (place.domain + self.schedulers) % (2 * self.schedulers),
            index: place.index,
        }
    }
}

impl IssuePolicy for ToyGang {
    fn launched(&mut self, _: Place, _: u64, _: u16) {}
    fn finished(&mut self, _: Place) {}

    fn select(&mut self, domain: usize, ready: &[u64]) -> u8 {
        self.singles.select(domain, ready)
    }

    fn plan(&mut self) -> Option<&mut dyn IssuePlan> {
        Some(self)
    }

    fn issued(&mut self, place: Place) {
        self.singles.issued(place);
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.singles.before(domain, a, b)
    }
}

impl IssuePlan for ToyGang {
    fn next(&mut self, view: &IssueView) -> Option<Together> {
        let domains = view.ready.len();
        let first = view.now.get() as usize % domains;
        let mut order = (0..domains).map(|i| (first + i) % domains);
        let domain = order.find(|&d| view.ready[d] != 0)?;
        let leader = Place {
            domain: domain as u8,
            index: self.singles.select(domain, view.ready),
        };
        let mut members = Together::default();
        members.push(leader);
        let partner = self.partner(leader);
        if view.is_ready(partner) && view.group(partner).pc == view.group(leader).pc {
            members.push(partner);
        }
        Some(members)
    }

    fn fetched_with(&self, place: Place) -> Together {
        let mut both = Together::default();
        both.push(place);
        both.push(self.partner(place));
        both
    }
}

#[cfg(test)]
mod tests {
    use super::ToyGang;
    use crate::bench::generate::Generator;
    use crate::bench::{Bench, check_laws, kernel, machine};
    use crate::gpu::Options;
    use crate::observe::WarpEvent;

    const SET: [&str; 3] = ["gpu.sms=1", "sm.warp_width=16", "fetch.ports=4"];

    fn bench(preset: &str, set: &[&str], ptx: &str, gang: bool, skip: bool) -> Bench {
        let options = Options {
            skip,
            max_cycles: Some(1_000_000),
            ..Options::default()
        };
        let machine = machine(preset, set);
        let schedulers = machine.sm.schedulers;
        let mut bench = Bench::with(machine, ptx, options);
        if gang {
            for sm in bench.gpu.sms_mut() {
                sm.replace_mechanisms(None, Some(Box::new(ToyGang::new(schedulers))));
            }
        }
        bench
    }

    /// Cycles in which both halves of home warp 0 issued, and in which one did.
    fn together(bench: &Bench, schedulers: u16) -> (usize, usize) {
        let issued: Vec<(u64, u16)> = bench
            .events()
            .iter()
            .filter(|e| matches!(e.3, WarpEvent::Issued { .. }))
            .filter(|e| e.2 == 0 || e.2 == schedulers)
            .map(|e| (e.0, e.2))
            .collect();
        let cycles: Vec<usize> = issued
            .chunk_by(|a, b| a.0 == b.0)
            .map(|c| c.len())
            .collect();
        let count = |n| cycles.iter().filter(|&&c| c == n).count();
        (count(2), count(1))
    }

    #[test]
    fn a_gangs_access_is_one_access() {
        let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
            ld.global.u32 %r2, [%rd4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;
            mov.u32 %r3, 1; red.global.add.u32 [%rd5+1024], %r3;
            mul.lo.u32 %r4, %r1, 8; st.shared.u32 [%r4], %r1;";
        let ptx = kernel(1024, body);
        let run = |set: &[&str], gang| {
            let mut bench = bench("gtx480", set, &ptx, gang, true);
            bench.launch(1, 128);
            let totals = bench.report().totals.clone();
            (totals.sm.counters, totals.memory, bench.output())
        };
        let (wide, wide_memory, expected) = run(&["gpu.sms=1"], false);
        let (gang, gang_memory, memory) = run(&SET, true);
        let (single, _, _) = run(&SET, false);
        let count = |c: &crate::stats::SmCounters| {
            [
                c.global_loads,
                c.global_load_transactions,
                c.global_store_transactions,
                c.atomic_transactions,
                c.shared_bank_cycles,
            ]
        };
        assert_eq!(count(&gang), count(&wide));
        assert_eq!(gang_memory.l2_writes, wide_memory.l2_writes);
        assert_eq!(gang_memory.l2_atomics, wide_memory.l2_atomics);
        assert!(single.global_load_transactions > wide.global_load_transactions);
        assert_eq!(gang.warp_instructions, 2 * wide.warp_instructions);
        assert_eq!(memory, expected);
    }

    #[test]
    fn a_gangs_atomic_gives_every_thread_its_own_value() {
        let body = "mov.u32 %r3, 1; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd5, %rd1, %rd3;
            atom.global.add.u32 %r5, [%rd1+4096], %r3; st.global.u32 [%rd5], %r5;";
        let mut bench = bench("gtx480", &SET, &kernel(0, body), true, true);
        bench.launch(1, 128);
        let memory = bench.output();
        let mut olds = memory[..128].to_vec();
        olds.sort_unstable();
        assert_eq!(olds, (0..128).collect::<Vec<_>>());
        assert_eq!(memory[1024], 128);
    }

    #[test]
    fn a_gang_splits_where_its_halves_part() {
        let straight = "add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; xor.b32 %r4, %r3, %r2;";
        let halves = "setp.lt.u32 %p1, %r1, 16; @%p1 bra ELSE;
            add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; bra END;
            ELSE: mul.lo.u32 %r2, %r1, 3; min.u32 %r3, %r2, 100; add.u32 %r3, %r3, 1;
            END: mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;";
        let mut one = bench("gtx480", &SET, &kernel(0, straight), true, true);
        one.launch(1, 32).launch(1, 32);
        let (both, alone) = together(&one, 2);
        assert!(both >= 5 && alone <= 2, "{both} together, {alone} alone");
        let mut two = bench("gtx480", &SET, &kernel(0, halves), true, true);
        two.launch(1, 32).launch(1, 32);
        let (both, alone) = together(&two, 2);
        assert!(both >= 3 && alone >= 6, "{both} together, {alone} alone");
        let expected: Vec<u32> = (0..32)
            .map(|i| if i < 16 { 3 * i + 1 } else { i + 2 })
            .collect();
        assert_eq!(two.output()[..32], expected);
    }

    #[test]
    fn gangs_compute_the_same_skipped_or_stepped() {
        for seed in 0..20u64 {
            let threads = [64, 96, 70, 33, 5][seed as usize % 5];
            let ptx = kernel(4 * threads, &Generator::body(seed, threads));
            for preset in ["gtx480", "vws"] {
                let mut wide = bench(preset, &["gpu.sms=1"], &ptx, false, true);
                wide.launch(3, threads);
                let mut gang = bench(preset, &SET, &ptx, true, true);
                gang.launch(3, threads);
                assert!(
                    gang.output() == wide.output(),
                    "seed {seed} on {preset}\n{ptx}"
                );
                check_laws(gang.report(), &machine(preset, &SET));
                let mut stepped = bench(preset, &SET, &ptx, true, false);
                stepped.launch(3, threads);
                assert_eq!(gang.report(), stepped.report(), "seed {seed} on {preset}");
            }
        }
    }
}
