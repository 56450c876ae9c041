//! What a program or a launch may not do is said, and not done.

use crate::common;

use common::{Bench, kernel, machine};
use warpsim_sim::config::OpClass;
use warpsim_sim::gpu::Options;

fn failure(bench: &mut Bench, grid: [u32; 3], block: [u32; 3]) -> String {
    let result = bench.try_launch(grid, block, 0);
    result.expect_err("refused").to_string()
}

/// The same on the timed machine and without timing.
fn both(ptx: &str, check: impl Fn(Bench)) {
    for functional in [false, true] {
        let options = Options {
            functional,
            ..Options::default()
        };
        check(Bench::unobserved(
            machine("gtx480", &["gpu.sms=1"]),
            ptx,
            options,
        ));
    }
}

#[test]
fn an_index_beyond_the_targets_of_a_branch_is_a_fault() {
    let body = "add.u32 %r2, %r1, 1;\nt: .branchtargets A, B, C;\nbrx.idx %r2, t;\nA:\nB:\nC:\n";
    both(&kernel(0, body), |mut bench| {
        let error = failure(&mut bench, [1, 1, 1], [3, 1, 1]);
        let text = "brx.idx with index 3: there are 3 targets, from 0";
        assert!(error.contains(text), "{error}");
    });
}

#[test]
fn constant_memory_cannot_be_written_through_generic_addresses() {
    for store in [
        "st.u32 [%rd4], %r1;",
        "atom.add.u32 %r2, [%rd4], 1;",
        "setp.eq.u32 %p1, %r1, 7; @%p1 st.v2.u32 [%rd4], {%r1, %r1};",
    ] {
        let body = format!("mov.u64 %rd3, table;\ncvta.const.u64 %rd4, %rd3;\n{store}\n");
        let ptx = kernel(0, &body).replace(
            ".visible .entry",
            ".const .align 8 .u32 table[8] = {3, 1, 4};\n.visible .entry",
        );
        both(&ptx, |mut bench| {
            let error = failure(&mut bench, [1, 1, 1], [32, 1, 1]);
            let text = "`table` is in constant memory, which programs only read";
            assert!(error.contains(text), "{store}: {error}");
        });
    }
}

#[test]
fn grids_and_blocks_keep_to_the_limits_of_each_dimension() {
    both(&kernel(0, ""), |mut bench| {
        for (grid, block, text) in [
            ([1, 65_536, 1], [32, 1, 1], "65536 blocks in a dimension"),
            ([1, 1, 70_000], [32, 1, 1], "70000 blocks in a dimension"),
            ([1 << 31, 1, 1], [32, 1, 1], "2147483648 blocks"),
            ([1, 1, 1], [1, 1, 65], "65 threads in a dimension"),
        ] {
            let error = failure(&mut bench, grid, block);
            assert!(error.contains(text), "{error}");
        }
        assert!(bench.try_launch([1, 2, 2], [1, 1, 64], 0).is_ok());
    });
}

#[test]
fn local_memory_has_a_limit() {
    for (bytes, fits) in [
        (512 << 10, true),
        ((512 << 10) + 8, false),
        (1 << 29, false),
    ] {
        let body = format!(".local .align 8 .b8 frame[{bytes}];\nmov.u32 %r2, frame;");
        both(&kernel(0, &body), |mut bench| {
            let result = bench.try_launch([1, 1, 1], [32, 1, 1], 0);
            match result {
                Ok(()) => assert!(fits, "{bytes}"),
                Err(e) => assert!(
                    !fits && e.to_string().contains("524288 are the most"),
                    "{e}"
                ),
            }
        });
    }
}

#[test]
fn no_warp_sleeps_longer_than_a_millisecond() {
    let body = "nanosleep.u32 4000000000;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd1, %rd3;\n\
                st.global.u32 [%rd3], 1;";
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=1"]), &kernel(0, body));
    bench.launch(1, 32);
    let cycles = bench.report().totals.cycles;
    let millisecond = u64::from(bench.gpu.machine().gpu.core_mhz) * 1000;
    assert!(
        (millisecond..millisecond + 10_000).contains(&cycles),
        "{cycles}"
    );
}

#[test]
fn registers_that_nothing_writes_are_named_once() {
    let body = "add.u32 %r9, %r8, 1;\nadd.u32 %r9, %r8, 2;";
    both(&kernel(0, body), |mut bench| {
        bench.launch(1, 32).launch(1, 32);
        let warnings = bench.gpu.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("`%r8` is read here, and nothing ever writes it"));
    });
}

#[test]
fn products_of_matrices_without_a_unit_for_them_are_named_once() {
    let zero = "mov.b32 %r2, 0;\nmov.f32 %f1, 0f00000000;\n";
    let product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r2,%r2}, {%r2}, \
                   {%f1,%f1,%f1,%f1};\n";
    let ptx = kernel(0, &format!("{zero}{product}{product}"));
    for (taken, functional, warned) in [(false, false, 1), (false, true, 0), (true, false, 0)] {
        let options = Options {
            functional,
            ..Options::default()
        };
        let mut machine = machine("gtx480", &[]);
        if taken {
            let unit = machine.unit.get_mut("sfu").expect("a GTX 480 has one");
            unit.takes.push(OpClass::Tensor);
        }
        let mut bench = Bench::unobserved(machine, &ptx, options);
        bench.launch(1, 32).launch(1, 32);
        let warnings = bench.gpu.warnings();
        assert_eq!(warnings.len(), warned, "{warnings:?}");
        let named = "gtx480 has no unit for products of matrices";
        assert!(warnings.iter().all(|w| w.contains(named)), "{warnings:?}");
    }
}

/// A barrier of the whole grid, by a counter that every block adds to.
const GRID_BARRIER: &str = "\
    setp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n\
    atom.global.add.u32 %r2, [%rd1], 1;\n\
    WAIT:\nmov.u32 %r3, %nctaid.x;\n\
    LOOP:\nld.volatile.global.u32 %r4, [%rd1];\nsetp.lt.u32 %p2, %r4, %r3;\n@%p2 bra LOOP;";

#[test]
fn a_grid_barrier_with_more_blocks_than_fit_is_named() {
    let set = ["gpu.sms=2", "sm.max_blocks=3"];
    let options = || Options {
        max_cycles: Some(20_000),
        ..Options::default()
    };
    let ptx = kernel(0, GRID_BARRIER);
    let mut bench = Bench::unobserved(machine("gtx480", &set), &ptx, options());
    bench
        .try_launch([6, 1, 1], [64, 1, 1], 0)
        .expect("they fit");
    let mut bench = Bench::unobserved(machine("gtx480", &set), &ptx, options());
    let error = failure(&mut bench, [16, 1, 1], [64, 1, 1]);
    let text = "10 blocks have not started and cannot until one ends: 6 fit on the GPU at once";
    assert!(error.contains(text), "{error}");
}

#[test]
fn many_warps_at_one_place_are_one_line() {
    let body = "LOOP:\nadd.u32 %r2, %r2, 1;\nbra LOOP;";
    let options = Options {
        max_cycles: Some(5000),
        ..Options::default()
    };
    let mut bench = Bench::unobserved(machine("gtx480", &["gpu.sms=4"]), &kernel(0, body), options);
    let error = failure(&mut bench, [8, 1, 1], [512, 1, 1]);
    assert!(error.lines().count() < 30, "{error}");
    assert!(error.contains(" other warps: pc"), "{error}");
    assert!(error.contains(" other warps: hottest loop"), "{error}");
}

#[test]
fn any_number_of_launches_has_a_bounded_number_of_reports() {
    use warpsim_sim::gpu::MOST_REPORTS;
    let options = Options {
        functional: true,
        ..Options::default()
    };
    let mut bench = Bench::unobserved(machine("gtx480", &["gpu.sms=1"]), &kernel(0, ""), options);
    let launches = MOST_REPORTS as u64 + 500;
    for _ in 0..launches {
        bench.launch(1, 1);
    }
    let reports = bench.gpu.reports();
    assert_eq!(reports.len(), MOST_REPORTS + 1);
    assert_eq!(reports.iter().map(|r| r.launches).sum::<u64>(), launches);
    let instructions = |i: usize| reports[i].totals.sm.counters.warp_instructions;
    assert_eq!(instructions(MOST_REPORTS), 500 * instructions(0));
}
