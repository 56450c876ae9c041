//! Kernels in PTX, run without timing.

use std::ops::ControlFlow;
use warpsim_exec::code::Code;
use warpsim_exec::functional::{FunctionalStats, Listeners, Options, SimFault, run};
use warpsim_exec::grid::Grid;
use warpsim_exec::memory::image::GlobalMemory;
use warpsim_exec::memory::variables::place;
use warpsim_ptx::kernel::Program;

struct Machine {
    program: Program,
    symbols: Vec<u64>,
    memory: GlobalMemory,
    prints: Vec<u8>,
}

impl Machine {
    fn new(body: &str) -> Machine {
        let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{body}\n");
        let module =
            warpsim_ptx::parse(&text).unwrap_or_else(|e| panic!("{}", e[0].render("t", &text)));
        let program =
            warpsim_ptx::lower(&module).unwrap_or_else(|e| panic!("{}", e[0].render("t", &text)));
        if let Some((name, why)) = program.rejected.first() {
            panic!("{name}: {}", why[0].render("t", &text));
        }
        let mut memory = GlobalMemory::new();
        let symbols = place(&program, &mut memory).unwrap();
        Machine {
            program,
            symbols,
            memory,
            prints: Vec::new(),
        }
    }

    fn run(
        &mut self,
        blocks: u32,
        threads: u32,
        params: &[u64],
    ) -> Result<FunctionalStats, SimFault> {
        let options = Options {
            max_instructions: 1_000_000,
            ..Options::default()
        };
        self.run_with(blocks, threads, params, options)
    }

    fn run_with(
        &mut self,
        blocks: u32,
        threads: u32,
        params: &[u64],
        options: Options,
    ) -> Result<FunctionalStats, SimFault> {
        let kernel = &self.program.kernels[0];
        let code = Code::new(kernel, &self.symbols).unwrap_or_else(|e| panic!("{e}"));
        let mut block = vec![0; kernel.param_bytes as usize];
        for (value, p) in params.iter().zip(&kernel.params) {
            let at = p.offset as usize;
            let n = p.size as usize;
            block[at..at + n].copy_from_slice(&value.to_le_bytes()[..n]);
        }
        let grid = Grid {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            params: block,
            total_shared: kernel.shared_bytes,
            sms: 1,
            warps_per_sm: 48,
            ..Grid::default()
        };
        let listeners = Listeners {
            hand_on: &mut |printed| {
                self.prints.append(printed);
                ControlFlow::Continue(())
            },
            races: None,
            steps: None,
        };
        run(&code, kernel, &grid, &mut self.memory, listeners, options)
    }

    fn words(&self, address: u64, n: usize) -> Vec<u32> {
        let bytes = self.memory.slice(address, 4 * n as u64).unwrap();
        bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }
}

/// Thread number in `%r1`, address of its word of the first parameter in `%rd1`.
const PROLOGUE: &str = "
    .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<6>; .reg .f32 %f<6>;
    ld.param.u64 %rd0, [out];
    cvta.to.global.u64 %rd0, %rd0;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r1, %r1, %r2, %r3;
    mul.wide.u32 %rd1, %r1, 4;
    add.s64 %rd1, %rd0, %rd1;
";

fn kernel(body: &str) -> Machine {
    Machine::new(&format!(
        ".visible .entry k(.param .u64 out) {{ {PROLOGUE} {body} }}"
    ))
}

/// Runs a kernel whose threads each write a word.
fn outcome(body: &str, blocks: u32, threads: u32) -> Vec<u32> {
    let mut m = kernel(body);
    let n = (blocks * threads) as usize;
    let out = m.memory.alloc(4 * n as u64, 256, "out").unwrap();
    m.run(blocks, threads, &[out])
        .unwrap_or_else(|e| panic!("{e}"));
    m.words(out, n)
}

#[test]
fn threads_know_who_they_are() {
    let got = outcome(
        "mul.lo.s32 %r4, %r1, 3; st.global.u32 [%rd1], %r4; ret;",
        3,
        50,
    );
    let want: Vec<u32> = (0..150).map(|i| 3 * i).collect();
    assert_eq!(got, want);
}

#[test]
fn loops_whose_trip_count_differs_reconverge() {
    // Each thread counts its Collatz steps.
    let got = outcome(
        "add.s32 %r4, %r1, 1; mov.u32 %r5, 0;
         HEAD: setp.eq.s32 %p1, %r4, 1; @%p1 bra DONE;
         and.b32 %r6, %r4, 1; setp.ne.s32 %p2, %r6, 0; add.s32 %r5, %r5, 1;
         @%p2 bra ODD;
         shr.u32 %r4, %r4, 1; bra.uni HEAD;
         ODD: mad.lo.s32 %r4, %r4, 3, 1; bra.uni HEAD;
         DONE: st.global.u32 [%rd1], %r5; ret;",
        2,
        40,
    );
    let collatz = |mut n: u32| {
        let mut steps = 0;
        while n != 1 {
            n = if n.is_multiple_of(2) {
                n / 2
            } else {
                3 * n + 1
            };
            steps += 1;
        }
        steps
    };
    let want: Vec<u32> = (1..=80).map(collatz).collect();
    assert_eq!(got, want);
}

#[test]
fn warps_reconverge_after_a_divergent_branch() {
    // After the join all 32 threads vote together.
    let got = outcome(
        "and.b32 %r4, %r1, 1; setp.eq.s32 %p1, %r4, 0; @%p1 bra EVEN;
         mov.u32 %r5, 7; bra.uni JOIN;
         EVEN: mov.u32 %r5, 9;
         JOIN: activemask.b32 %r6; xor.b32 %r6, %r6, %r5; st.global.u32 [%rd1], %r6; ret;",
        1,
        32,
    );
    for (i, v) in got.iter().enumerate() {
        assert_eq!(*v, u32::MAX ^ if i % 2 == 0 { 9 } else { 7 });
    }
}

#[test]
fn an_early_exit_leaves_the_rest_running() {
    let got = outcome(
        "setp.lt.u32 %p1, %r3, 5; @%p1 exit; mov.u32 %r4, 1; st.global.u32 [%rd1], %r4; ret;",
        1,
        64,
    );
    assert_eq!(got.iter().sum::<u32>(), 59);
    assert_eq!(got[4..6], [0, 1]);
}

#[test]
fn shared_memory_and_barriers_reverse_a_block() {
    let mut m = Machine::new(&format!(
        ".visible .entry k(.param .u64 out) {{ .shared .align 4 .b8 buf[1024]; {PROLOGUE}
         mov.u32 %r4, buf; shl.b32 %r5, %r3, 2; add.s32 %r5, %r4, %r5;
         st.shared.u32 [%r5], %r3; bar.sync 0;
         sub.s32 %r6, %r2, %r3; sub.s32 %r6, %r6, 1; shl.b32 %r6, %r6, 2; add.s32 %r6, %r4, %r6;
         ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd1], %r7; ret; }}"
    ));
    let out = m.memory.alloc(4 * 256, 256, "out").unwrap();
    m.run(1, 256, &[out]).unwrap();
    let want: Vec<u32> = (0..256).rev().collect();
    assert_eq!(m.words(out, 256), want);
}

#[test]
fn barrier_reductions_and_arrival() {
    let got = outcome(
        "and.b32 %r4, %r3, 1; setp.eq.s32 %p1, %r4, 0;
         barrier.cta.red.popc.aligned.u32 %r5, 0, %p1;
         setp.lt.u32 %p2, %r3, 1000; bar.red.and.pred %p3, 1, %p2;
         selp.u32 %r6, 100, 0, %p3; add.s32 %r5, %r5, %r6;
         setp.lt.u32 %p4, %r3, 32; @%p4 bra FIRST;
         bar.arrive 2, 64; bra.uni END;
         FIRST: bar.sync 2, 64;
         END: st.global.u32 [%rd1], %r5; ret;",
        1,
        64,
    );
    assert_eq!(got, vec![132; 64]);
}

#[test]
fn atomics_count_and_return_the_old_value() {
    let mut m = kernel(
        "atom.global.add.u32 %r4, [%rd0], 1; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %rd0, %rd2;
         red.global.max.u32 [%rd0+4], %r1; atom.global.cas.b32 %r5, [%rd2+8], 0, 5;
         atom.global.add.f32 %f1, [%rd0+4104], 0f3F800000; ret;",
    );
    let out = m.memory.alloc(4108, 256, "out").unwrap();
    m.run(8, 128, &[out]).unwrap();
    let got = m.words(out, 1027);
    assert_eq!(got[0], 1024);
    assert_eq!(got[1], 1023);
    assert!(got[2..1026].iter().all(|&v| v == 5));
    assert_eq!(f32::from_bits(got[1026]), 1024.0);
}

#[test]
fn a_block_may_wait_for_a_later_one() {
    // Block 0 spins until block 1 has stored.
    let mut m = kernel(
        "mov.u32 %r4, %ctaid.x; setp.ne.s32 %p1, %r4, 0; @%p1 bra OTHER;
         SPIN: ld.volatile.global.u32 %r5, [%rd0+64]; setp.eq.s32 %p2, %r5, 0; @%p2 bra SPIN;
         st.global.u32 [%rd0], %r5; ret;
         OTHER: mov.u32 %r6, 42; st.global.u32 [%rd0+64], %r6; ret;",
    );
    let out = m.memory.alloc(128, 256, "out").unwrap();
    m.run(2, 32, &[out]).unwrap();
    assert_eq!(m.words(out, 1), [42]);
    // With one block at a time it never ends, and says so.
    let mut m2 = kernel(
        "SPIN: ld.volatile.global.u32 %r5, [%rd0]; setp.eq.s32 %p2, %r5, 0; @%p2 bra SPIN; ret;",
    );
    let out = m2.memory.alloc(128, 256, "out").unwrap();
    let options = Options {
        max_instructions: 1000,
        ..Options::default()
    };
    let fault = m2.run_with(1, 32, &[out], options).unwrap_err();
    assert!(matches!(
        fault,
        SimFault::Limit {
            instructions: 1000,
            ..
        }
    ));
}

#[test]
fn no_block_is_left_out_however_many_end_at_once() {
    // Blocks so short that all resident ones end in the same round.
    for blocks in [1, 15, 16, 17, 31, 32, 33, 49] {
        let got = outcome("st.global.u32 [%rd1], %r1; ret;", blocks, 16);
        let expected: Vec<u32> = (0..blocks * 16).collect();
        assert_eq!(got, expected, "{blocks} blocks");
    }
}

#[test]
fn all_blocks_may_wait_for_each_other_when_all_may_be_resident() {
    // Every block counts itself and waits until all have.
    let body = "atom.global.add.u32 %r4, [%rd0], 1; mov.u32 %r6, %nctaid.x;
        $wait: ld.volatile.global.u32 %r5, [%rd0];
        setp.lt.u32 %p1, %r5, %r6;
        @%p1 bra $wait;
        ret;";
    let run = |resident_blocks| {
        let mut machine = kernel(body);
        let out = machine.memory.alloc(4, 4, "out").unwrap();
        let options = Options {
            max_instructions: 10_000_000,
            resident_blocks,
            ..Options::default()
        };
        let ended = machine.run_with(50, 1, &[out], options);
        (ended.is_ok(), machine.words(out, 1))
    };
    assert_eq!(run(50), (true, vec![50]));
    assert_eq!(run(49), (false, vec![49]));
}

#[test]
fn warp_operations() {
    let got = outcome(
        "shfl.sync.down.b32 %r4|%p1, %r3, 1, 31, -1; selp.u32 %r5, 1000, 0, %p1;
         shfl.sync.bfly.b32 %r6, %r3, 3, 31, -1;
         setp.lt.u32 %p2, %r3, 4; vote.sync.ballot.b32 %r7, %p2, -1;
         redux.sync.add.u32 %r8, %r3, -1; and.b32 %r9, %r3, 3; match.any.sync.b32 %r10, %r9, -1;
         popc.b32 %r10, %r10; add.s32 %r4, %r4, %r5; mad.lo.s32 %r4, %r6, 10000, %r4;
         add.s32 %r4, %r4, %r7; add.s32 %r4, %r4, %r8; add.s32 %r4, %r4, %r10;
         st.global.u32 [%rd1], %r4; ret;",
        1,
        32,
    );
    for (i, v) in got.iter().enumerate() {
        let i = i as u32;
        let down = if i < 31 { i + 1 + 1000 } else { i };
        assert_eq!(*v, down + (i ^ 3) * 10000 + 15 + 496 + 8, "lane {i}");
    }
}

#[test]
fn a_sync_operation_with_missing_threads_is_a_fault() {
    let mut m = kernel(
        "setp.lt.u32 %p1, %r3, 16; @%p1 bra SOME; bra.uni END;
         SOME: shfl.sync.idx.b32 %r4, %r3, 0, 31, -1; END: ret;",
    );
    let fault = m.run(1, 32, &[0]).unwrap_err().to_string();
    assert!(
        fault.contains("shfl names threads 0xffffffff, but 0xffff0000"),
        "{fault}"
    );
    // Exited threads do not count.
    let mut m =
        kernel("setp.ge.u32 %p1, %r3, 16; @%p1 exit; shfl.sync.idx.b32 %r4, %r3, 0, 31, -1; ret;");
    m.run(1, 32, &[0]).unwrap();
}

#[test]
fn local_memory_is_private_and_generic_addresses_find_their_space() {
    let mut m = Machine::new(&format!(
        ".visible .entry k(.param .u64 out) {{ .local .align 8 .b8 depot[32]; .shared .align 4 .b8 s[4]; {PROLOGUE}
         mov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2; st.u32 [%rd3+4], %r3;
         mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; mov.u32 %r8, 5; st.u32 [%rd4], %r8;
         isspacep.shared %p1, %rd4; isspacep.local %p2, %rd3; isspacep.global %p3, %rd0;
         and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3;
         ld.local.u32 %r4, [%rd2+4]; ld.shared.u32 %r5, [s]; add.s32 %r4, %r4, %r5;
         selp.u32 %r4, %r4, 0, %p1; st.u32 [%rd1], %r4; ret; }}"
    ));
    let out = m.memory.alloc(4 * 64, 256, "out").unwrap();
    m.run(1, 64, &[out]).unwrap();
    let want: Vec<u32> = (5..69).collect();
    assert_eq!(m.words(out, 64), want);
}

#[test]
fn vectors_and_narrow_values() {
    let mut m = kernel(
        ".reg .b16 %h<4>; .reg .f64 %d<2>;
         ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%rd0]; cvt.u32.u16 %r4, %h3;
         ld.global.s8 %r5, [%rd0+3]; ld.global.v2.u32 {%r6, %r7}, [%rd0+8];
         ld.global.s16 %rd5, [%rd0+2];
         st.global.v4.u32 [%rd0+16], {%r4, %r5, %r6, %r7}; st.global.u64 [%rd0+32], %rd5;
         mov.b64 %rd6, {%r6, %r7}; st.global.u64 [%rd0+40], %rd6;
         mov.b32 {%h0, %h1}, %r6; st.global.v2.u16 [%rd0+48], {%h1, %h0}; ret;",
    );
    let out = m.memory.alloc(64, 256, "out").unwrap();
    m.memory
        .write(
            out,
            &[
                1, 2, 3, 0xf4, 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
            ],
        )
        .unwrap();
    m.run(1, 1, &[out]).unwrap();
    assert_eq!(
        m.words(out + 16, 9),
        [
            0xf4,
            0xffff_fff4,
            0x4433_2211,
            0x8877_6655,
            0xffff_f403,
            0xffff_ffff,
            0x4433_2211,
            0x8877_6655,
            0x2211_4433
        ]
    );
}

#[test]
fn bad_accesses_say_who_and_where() {
    let mut m = kernel("st.global.u32 [%rd1], %r1; ret;");
    let out = m.memory.alloc(4 * 40, 256, "results").unwrap();
    let text = m.run(1, 64, &[out]).unwrap_err().to_string();
    assert!(
        text.contains("invalid global write of 4 bytes")
            && text.contains("0 bytes past the end of \"results\" (160 bytes at")
            && text.contains("kernel k, block (0,0,0), thread (40,0,0), pc")
            && text.contains("PTX line"),
        "{text}"
    );
    let text = m.run(1, 32, &[0]).unwrap_err().to_string();
    assert!(text.contains("null pointer"), "{text}");
    let text = m.run(1, 1, &[out + 2]).unwrap_err().to_string();
    assert!(text.contains("not a multiple of the size"), "{text}");
    m.memory.free(out).unwrap();
    let text = m.run(1, 1, &[out]).unwrap_err().to_string();
    assert!(text.contains("\"results\" has been freed"), "{text}");
    let mut m = kernel("st.shared.u32 [%r3], %r3; ret;");
    let text = m.run(1, 1, &[0]).unwrap_err().to_string();
    assert!(
        text.contains("shared write") && text.contains("the space has 0 bytes"),
        "{text}"
    );
    let text = kernel("trap;").run(1, 1, &[0]).unwrap_err().to_string();
    assert!(text.starts_with("trap"), "{text}");
}

#[test]
fn deadlocks_are_found_and_explained() {
    // The second warp waits at another barrier.
    let mut m = kernel(
        "setp.lt.u32 %p1, %r3, 32; @%p1 bra A; bar.sync 1; bra.uni END; A: bar.sync 0; END: ret;",
    );
    let text = m.run(1, 64, &[0]).unwrap_err().to_string();
    assert!(text.contains("deadlock in kernel k"), "{text}");
    assert!(
        text.contains("warp 0: pc") && text.contains("barrier 0"),
        "{text}"
    );
    assert!(
        text.contains("warp 1: pc") && text.contains("barrier 1"),
        "{text}"
    );
    let SimFault::Deadlock { warps, .. } = m.run(1, 64, &[0]).unwrap_err() else {
        panic!("no deadlock")
    };
    for stuck in warps {
        let op = m.program.kernels[0].code[stuck.pc as usize].op;
        assert_eq!(op, warpsim_ptx::isa::Op::Bar);
    }
    // A warp that has left is not waited for.
    let mut m = kernel("setp.lt.u32 %p1, %r3, 32; @%p1 exit; bar.sync 0; ret;");
    m.run(1, 64, &[0]).unwrap();
}

#[test]
fn printing_and_assertions() {
    let mut m = Machine::new(&format!(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
         .global .align 1 .b8 fmt[40] = {{37,100,32,37,48,53,46,50,102,124,37,45,52,115,124,37,35,120,32,37,108,108,117,32,37,103,37,37,10,0}};
         .global .align 1 .b8 str[4] = {{104,105,0,0}};
         .visible .entry k(.param .u64 out) {{ .local .align 8 .b8 depot[48]; {PROLOGUE}
         mov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2;
         .reg .f64 %d<3>; mov.f64 %d1, 0d3FF8000000000000; mov.f64 %d2, 0d3F1A36E2EB1C432D;
         neg.s32 %r4, %r3; st.local.u32 [%rd2], %r4; st.local.f64 [%rd2+8], %d1;
         mov.u64 %rd4, str; cvta.global.u64 %rd4, %rd4; st.local.u64 [%rd2+16], %rd4;
         mov.u32 %r5, 255; st.local.u32 [%rd2+24], %r5; mov.u64 %rd5, 12345678901; st.local.u64 [%rd2+32], %rd5;
         st.local.f64 [%rd2+40], %d2;
         mov.u64 %rd6, fmt; cvta.global.u64 %rd6, %rd6;
         {{ .param .b64 p0; st.param.b64 [p0], %rd6; .param .b64 p1; st.param.b64 [p1], %rd3;
            .param .b32 rv; call.uni (rv), vprintf, (p0, p1); ld.param.b32 %r6, [rv]; }}
         st.global.u32 [%rd1], %r6; ret; }}"
    ));
    let out = m.memory.alloc(8, 256, "out").unwrap();
    m.run(1, 2, &[out]).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&m.prints),
        "0 01.50|hi  |0xff 12345678901 0.0001%\n-1 01.50|hi  |0xff 12345678901 0.0001%\n"
    );
    assert_eq!(m.words(out, 2), [6, 6]);

    let mut m = Machine::new(
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
         .global .align 1 .b8 msg[6] = {120,32,62,32,48,0}; .global .align 1 .b8 file[5] = {97,46,99,117,0};
         .visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .pred %p<2>;
         mov.u32 %r1, %tid.x; setp.ne.s32 %p1, %r1, 3; @%p1 ret;
         mov.u64 %rd1, msg; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2; mov.u32 %r2, 17;
         { .param .b64 p0; st.param.b64 [p0], %rd1; .param .b64 p1; st.param.b64 [p1], %rd2; .param .b32 p2; st.param.b32 [p2], %r2;
           .param .b64 p3; st.param.b64 [p3], %rd1; .param .b64 p4; st.param.b64 [p4], 1;
           call.uni __assertfail, (p0, p1, p2, p3, p4); } ret; }",
    );
    let text = m.run(1, 32, &[0]).unwrap_err().to_string();
    assert!(
        text.contains("a.cu:17:") && text.contains("assertion `x > 0` failed"),
        "{text}"
    );
    assert!(text.contains("thread (3,0,0)"), "{text}");
}

#[test]
fn every_kernel_of_the_corpus_decodes() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../ptx/tests/corpus");
    let mut kernels = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let module = warpsim_ptx::parse(&text).unwrap();
        // Some files show what cannot be lowered.
        let Ok(program) = warpsim_ptx::lower(&module) else {
            continue;
        };
        let symbols = vec![0x7_0000_0000; program.symbols.len()];
        for kernel in &program.kernels {
            Code::new(kernel, &symbols).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            kernels += 1;
        }
    }
    assert!(kernels > 10, "only {kernels} kernels found");
}
