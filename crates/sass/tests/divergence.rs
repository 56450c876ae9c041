//! Threads of a warp that part, meet, wait for one another.

use crate::bench::{Bench, program};

#[test]
fn threads_that_part_meet_where_their_barrier_says() {
    // Odd threads take the long way; all count how many of them there are where they meet.
    let program = program(&[
        "S2R R0,SR_TID.X",
        "LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT",
        "BSSY B0,0x80",
        "@!P0 BRA 0x70",
        "IADD3 R2,R0,0x1,RZ",
        "YIELD",
        "IADD3 R2,R2,0x1,RZ",
        "BSYNC B0",
        "VOTE.ANY R3,PT,PT",
        "LDC.64 R4,c[0x0][0x210]",
        "IMAD.WIDE.U32 R4,R0,0x4,R4",
        "STG.E desc[UR4][R4.64],R3",
        "EXIT",
    ])
    .expect("it can be read");
    let mut bench = Bench::new();
    let out = bench.buffer(&[0; 32]);
    bench
        .sass(&program, 1, 32, &[out])
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bench.words(out, 32), [u32::MAX; 32]);
}

#[test]
fn every_thread_of_a_warp_gets_a_lock_that_another_holds() {
    // As NVIDIA's assembler translates a loop around a compare-and-swap: who has the lock waits for those who spin, at
    // B0, unless spinning threads are left behind.
    let program = program(&[
        "BSSY B0,0x80",
        "LDC.64 R2,c[0x0][0x210]",
        "MOV R4,RZ",
        "IMAD.MOV.U32 R5,RZ,RZ,0x1",
        "YIELD",
        "ATOMG.E.CAS.STRONG.GPU PT,R0,[R2],R4,R5",
        "ISETP.NE.AND P0,PT,R0,RZ,PT",
        "@P0 BRA 0x10",
        "BSYNC B0",
        "LDC.64 R4,c[0x0][0x218]",
        "MEMBAR.SC.GPU",
        "LDG.E.STRONG.SYS R0,desc[UR4][R4.64]",
        "VIADD R7,R0,0x1",
        "STG.E.STRONG.SYS desc[UR4][R4.64],R7",
        "MEMBAR.SC.GPU",
        "ATOMG.E.EXCH.STRONG.GPU PT,RZ,desc[UR4][R2.64],RZ",
        "EXIT",
    ])
    .expect("it can be read");
    let mut bench = Bench::new();
    let (lock, count) = (bench.buffer(&[0]), bench.buffer(&[0]));
    bench
        .sass(&program, 3, 96, &[lock, count])
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bench.words(count, 1), [3 * 96]);
    assert_eq!(bench.words(lock, 1), [0]);
}

#[test]
fn a_thread_waits_for_what_another_of_its_warp_does_later() {
    let program = program(&[
        "S2R R5,SR_TID.X",
        "LDC.64 R2,c[0x0][0x210]",
        "LOP3.LUT P0,RZ,R5,0x1,RZ,0xc0,!PT",
        "SHF.R.U32.HI R5,RZ,0x1,R5",
        "IMAD.WIDE.U32 R2,R5,0x4,R2",
        "@!P0 BRA 0xf0",
        "BSSY B0,0xc0",
        "LDG.E.STRONG.SYS R0,desc[UR4][R2.64]",
        "YIELD",
        "ISETP.NE.AND P0,PT,R0,RZ,PT",
        "@!P0 BRA 0x70",
        "BSYNC B0",
        "IMAD.MOV.U32 R5,RZ,RZ,0x5",
        "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64],R5",
        "EXIT",
        "IMAD.MOV.U32 R5,RZ,RZ,0x7",
        "STG.E.STRONG.SYS desc[UR4][R2.64],R5",
        "EXIT",
    ])
    .expect("it can be read");
    let mut bench = Bench::new();
    let out = bench.buffer(&[0; 32]);
    bench
        .sass(&program, 1, 64, &[out])
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bench.words(out, 32), [12; 32]);
}

#[test]
fn calls_return_to_where_registers_say() {
    // Each half of the warp calls the same function from another place.
    let program = program(&[
        "S2R R0,SR_TID.X",
        "ISETP.GE.AND P0,PT,R0,0x10,PT",
        "BSSY B0,0xa0",
        "@P0 BRA 0x70",
        "MOV R20,0x60",
        "CALL.REL.NOINC 0xf0",
        "BRA 0x90",
        "MOV R20,0x90",
        "CALL.REL.NOINC 0xf0",
        "BSYNC B0",
        "LDC.64 R4,c[0x0][0x210]",
        "IMAD.WIDE.U32 R4,R0,0x4,R4",
        "STG.E desc[UR4][R4.64],R2",
        "EXIT",
        "NOP",
        "IADD3 R2,R0,R20,RZ",
        "MOV R21,0x0",
        "RET.REL.NODEC R20,0x0",
    ])
    .expect("it can be read");
    let mut bench = Bench::new();
    let out = bench.buffer(&[0; 32]);
    bench
        .sass(&program, 1, 32, &[out])
        .unwrap_or_else(|e| panic!("{e}"));
    let expected: Vec<u32> = (0..32)
        .map(|t| t + if t < 16 { 0x60 } else { 0x90 })
        .collect();
    assert_eq!(bench.words(out, 32), expected);
}

#[test]
fn a_barrier_of_the_block_waits_for_all_its_threads() {
    // Threads exchange through shared memory; the last warp ends before the barrier.
    let program = program(&[
        "S2R R0,SR_TID.X",
        "ISETP.GE.AND P0,PT,R0,0x40,PT",
        "@P0 EXIT",
        "SHF.L.U32 R1,R0,0x2,RZ",
        "STS [R1+0x400],R0",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "IADD3 R2,-R0,0x3f,RZ",
        "SHF.L.U32 R2,R2,0x2,RZ",
        "LDS R3,[R2+0x400]",
        "LDC.64 R4,c[0x0][0x210]",
        "IMAD.WIDE.U32 R4,R0,0x4,R4",
        "STG.E desc[UR4][R4.64],R3",
        "EXIT",
    ])
    .expect("it can be read");
    let mut bench = Bench::new();
    let out = bench.buffer(&[0; 64]);
    bench
        .sass(&program, 1, 96, &[out])
        .unwrap_or_else(|e| panic!("{e}"));
    let expected: Vec<u32> = (0..64).map(|t| 63 - t).collect();
    assert_eq!(bench.words(out, 64), expected);
}
