//! What is wrong is told: before the run where it can be, with its place.

use crate::bench::{Bench, program};
use warpsim_sass::run::Code;

#[test]
fn unknown_code_is_refused_by_file_line_and_name() {
    let program = program(&[
        "MOV R1,R2",
        "FROB R1,R2",
        "IADD3.FROB R1,R2,R3,R4",
        "FROB R3,R4",
        "ULDC UR4,c[0x0][0x30]",
        "EXIT",
    ])
    .expect("it can be read");
    let refused = Code::new(&program, &program.kernels[0]).err();
    let expected = "kernel k cannot be executed as machine code\n  \
         test.sass:7: /*0010*/ FROB R1,R2: the opcode FROB is not known\n  \
         test.sass:8: /*0020*/ IADD3.FROB R1,R2,R3,R4: the modifier .FROB of IADD3 is not known\n  \
         test.sass:10: /*0040*/ ULDC UR4,c[0x0][0x30]: what the driver puts at c[0x0][0x30] is not known";
    assert_eq!(refused.as_deref(), Some(expected));
}

fn fails(code: &[&str]) -> String {
    let program = program(code).expect("it can be read");
    let mut bench = Bench::new();
    bench.limit = 10_000;
    let out = bench.buffer(&[0; 4]);
    let failed = bench
        .sass(&program, 1, 32, &[out])
        .expect_err("it is wrong");
    failed.to_string()
}

#[test]
fn bad_accesses_say_which_thread_did_what() {
    let said = fails(&[
        "S2R R0,SR_TID.X",
        "LDC.64 R4,c[0x0][0x210]",
        "IMAD.WIDE.U32 R4,R0,0x4,R4",
        "LDG.E R6,desc[UR4][R4.64]",
        "EXIT",
    ]);
    assert!(said.contains("invalid global read of 4 bytes"), "{said}");
    assert!(
        said.contains("0 bytes past the end of \"buffer\""),
        "{said}"
    );
    assert!(
        said.contains("thread (4,0,0), pc 3, machine code /*0030*/ LDG.E"),
        "{said}"
    );
    let said = fails(&["LDS R0,[0x2000]", "EXIT"]);
    assert!(
        said.contains("invalid shared read of 4 bytes at 0x1c00"),
        "{said}"
    );
    assert!(said.contains("the space has 4096 bytes"), "{said}");
}

#[test]
fn threads_that_wait_for_ever_are_told() {
    let said = fails(&[
        "S2R R0,SR_TID.X",
        "ISETP.GE.AND P0,PT,R0,0x10,PT",
        "BSSY B0,0x60",
        "@P0 BRA 0x50",
        "BSYNC B0",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "EXIT",
    ]);
    assert!(said.contains("deadlock in kernel k"), "{said}");
    assert!(
        said.contains("threads 0x0000ffff wait at convergence barrier B0"),
        "{said}"
    );
    assert!(
        said.contains("threads 0xffff0000 wait at barrier 0 of the block"),
        "{said}"
    );
    let said = fails(&["BRA 0x0"]);
    assert!(
        said.contains("has not ended after 10000 warp instructions"),
        "{said}"
    );
    let said = fails(&["BPT.TRAP 0x1", "EXIT"]);
    assert!(said.starts_with("trap"), "{said}");
    let said = fails(&["NOP"]);
    assert!(said.contains("the code has no end"), "{said}");
}
