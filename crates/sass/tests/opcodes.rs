//! Opcodes against the PTX that computes the same, on random operands. Sources are in R4 to R7, `%r4` to `%r7`; results
//! go to R12 and R13, `%r12` and `%r13`.

use crate::bench::{Bench, Random, program};

/// Threads, each with operands of its own.
const ROWS: u32 = 2048;

const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {\n\
    .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<8>; .reg .b16 %h<4>;\n\
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n\
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 64, %r0;\n\
    mul.wide.u32 %rd3, %r0, 16; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r0, 8; add.u64 %rd2, %rd2, %rd3;\n\
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1]; mov.u32 %r12, 0; mov.u32 %r13, 0;\n";

/// Compares the two on rows of operands that `operand` makes.
fn compare_on(sass: &[&str], ptx: &str, mut operand: impl FnMut(&mut Random) -> u32) {
    let mut code = vec![
        "S2R R0,SR_TID.X",
        "S2R R1,SR_CTAID.X",
        "IMAD R0,R1,0x40,R0",
        "LDC.64 R8,c[0x0][0x210]",
        "IMAD.WIDE.U32 R8,R0,0x10,R8",
        "LDG.E.128 R4,desc[UR4][R8.64]",
        "CS2R R12,SRZ",
    ];
    code.extend(sass);
    code.extend([
        "LDC.64 R10,c[0x0][0x218]",
        "IMAD.WIDE.U32 R10,R0,0x8,R10",
        "STG.E.64 desc[UR4][R10.64],R12",
        "EXIT",
    ]);
    let program = program(&code).unwrap_or_else(|e| panic!("{e}"));
    let mut random = Random(7);
    let operands: Vec<u32> = (0..4 * ROWS).map(|_| operand(&mut random)).collect();
    let mut bench = Bench::new();
    let from = bench.buffer(&operands);
    let zeros = vec![0; 2 * ROWS as usize];
    let (ours, theirs) = (bench.buffer(&zeros), bench.buffer(&zeros));
    let ran = bench.sass(&program, ROWS / 64, 64, &[from, ours]);
    ran.unwrap_or_else(|e| panic!("{sass:?}: {e}"));
    let text = format!("{PTX}{ptx}\nst.global.v2.u32 [%rd2], {{%r12, %r13}}; ret; }}\n");
    bench.ptx(&text, ROWS / 64, 64, &[from, theirs]);
    let (ours, theirs) = (
        bench.words(ours, zeros.len()),
        bench.words(theirs, zeros.len()),
    );
    for row in 0..ROWS as usize {
        let of = |words: &[u32], n: usize| format!("{:08x?}", &words[n * row..n * (row + 1)]);
        assert_eq!(
            of(&ours, 2),
            of(&theirs, 2),
            "{sass:?} is not {ptx} for {}",
            of(&operands, 4)
        );
    }
}

fn compare(sass: &[&str], ptx: &str) {
    compare_on(sass, ptx, Random::operand);
}

#[test]
fn sums() {
    compare(
        &["IADD3 R12,R4,R5,R6"],
        "add.u32 %r12,%r4,%r5; add.u32 %r12,%r12,%r6;",
    );
    compare(
        &["IADD3 R12,-R4,R5,-R6"],
        "sub.u32 %r12,%r5,%r4; sub.u32 %r12,%r12,%r6;",
    );
    compare(&["VIADD R12,R4,-0x7"], "add.u32 %r12,%r4,-7;");
    let pair = |sass: &[&str], op: &str| {
        let ptx = format!(
            "mov.b64 %rd4,{{%r4,%r5}}; mov.b64 %rd5,{{%r6,%r7}}; {op} mov.b64 {{%r12,%r13}},%rd6;"
        );
        compare(sass, &ptx);
    };
    pair(
        &["IADD3 R12,P0,R4,R6,RZ", "IADD3.X R13,R5,R7,RZ,P0,!PT"],
        "add.u64 %rd6,%rd4,%rd5;",
    );
    pair(
        &["IADD3 R12,P0,R4,-R6,RZ", "IADD3.X R13,R5,~R7,RZ,P0,!PT"],
        "sub.u64 %rd6,%rd4,%rd5;",
    );
    pair(
        &["IADD3 R12,P1,RZ,-R4,RZ", "IMAD.X R13,RZ,RZ,~R5,P1"],
        "neg.s64 %rd6,%rd4;",
    );
    // Two carries of one sum.
    pair(
        &["IADD3 R12,P0,P1,R4,R6,R4", "IADD3.X R13,R5,R7,R5,P0,P1"],
        "add.u64 %rd6,%rd4,%rd5; add.u64 %rd6,%rd6,%rd4;",
    );
    pair(
        &["LEA R12,P0,R4,R6,0x3", "LEA.HI.X R13,R4,R7,R5,0x3,P0"],
        "shl.b64 %rd6,%rd4,3; add.u64 %rd6,%rd6,%rd5;",
    );
    compare(
        &["LEA R12,R4,R5,0x4"],
        "shl.b32 %r12,%r4,4; add.u32 %r12,%r12,%r5;",
    );
    compare(
        &["LEA.HI R12,R4,R5,RZ,0x5"],
        "shr.u32 %r12,%r4,27; add.u32 %r12,%r12,%r5;",
    );
    compare(
        &["LEA.HI.SX32 R12,R4,R5,0x1f"],
        "shr.s32 %r12,%r4,1; add.u32 %r12,%r12,%r5;",
    );
    compare(&["IABS R12,R4"], "abs.s32 %r12,%r4;");
    compare(&["VABSDIFF.U32 R12,R4,R5,R6"], "sad.u32 %r12,%r4,%r5,%r6;");
    compare(&["VABSDIFF R12,R4,R5,R6"], "sad.s32 %r12,%r4,%r5,%r6;");
}

#[test]
fn products() {
    compare(&["IMAD R12,R4,R5,R6"], "mad.lo.u32 %r12,%r4,%r5,%r6;");
    compare(&["IMAD R12,R4,-0x5,R6"], "mad.lo.s32 %r12,%r4,-5,%r6;");
    compare(&["IMAD.SHL.U32 R12,R4,0x8,RZ"], "shl.b32 %r12,%r4,3;");
    compare(&["IMAD.IADD R12,R4,0x1,-R5"], "sub.u32 %r12,%r4,%r5;");
    let wide = |sass, op: &str| {
        let ptx = format!("mov.b64 %rd4,{{%r6,%r7}}; {op} mov.b64 {{%r12,%r13}},%rd5;");
        compare(&[sass], &ptx);
    };
    wide(
        "IMAD.WIDE.U32 R12,R4,R5,R6",
        "mad.wide.u32 %rd5,%r4,%r5,%rd4;",
    );
    wide("IMAD.WIDE R12,R4,R5,R6", "mad.wide.s32 %rd5,%r4,%r5,%rd4;");
    wide(
        "IMAD.WIDE R12,R4,-0x18,R6",
        "mad.wide.s32 %rd5,%r4,-24,%rd4;",
    );
    compare(&["IMAD.HI.U32 R12,R4,R5,RZ"], "mul.hi.u32 %r12,%r4,%r5;");
    compare(&["IMAD.HI R12,R4,R5,RZ"], "mul.hi.s32 %r12,%r4,%r5;");
}

#[test]
fn bits() {
    for lut in [
        0xc0u32, 0xfc, 0x3c, 0x96, 0xf8, 0xca, 0xe8, 0x33, 0x01, 0x7f,
    ] {
        let sass = format!("LOP3.LUT R12,R4,R5,R6,{lut:#x},!PT");
        compare(&[&sass], &format!("lop3.b32 %r12,%r4,%r5,%r6,{lut:#x};"));
    }
    compare(
        &["LOP3.LUT P1,RZ,R4,0x41,RZ,0xc0,!PT", "SEL R12,R5,R6,P1"],
        "and.b32 %r12,%r4,65; setp.ne.u32 %p1,%r12,0; selp.b32 %r12,%r5,%r6,%p1;",
    );
    compare(
        &[
            "ISETP.LT.AND P0,PT,R4,R5,PT",
            "ISETP.LT.AND P1,PT,R5,R6,PT",
            "PLOP3.LUT P2,P3,P0,!P1,PT,0x80,0x2a",
            "SEL R12,R4,R5,P2",
            "SEL R13,R4,R5,P3",
        ],
        "setp.lt.s32 %p0,%r4,%r5; setp.ge.s32 %p1,%r5,%r6; and.pred %p2,%p0,%p1; not.pred %p3,%p2; \
         selp.b32 %r12,%r4,%r5,%p2; not.pred %p3,%p0; not.pred %p4,%p1; or.pred %p3,%p3,%p4; selp.b32 %r13,%r4,%r5,%p3;",
    );
    compare(
        &["POPC R12,R4", "BREV R13,R4"],
        "popc.b32 %r12,%r4; brev.b32 %r13,%r4;",
    );
    compare(
        &["FLO.U32 R12,R4", "FLO R13,R4"],
        "bfind.u32 %r12,%r4; bfind.s32 %r13,%r4;",
    );
    compare(&["FLO.U32.SH R12,R4"], "bfind.shiftamt.u32 %r12,%r4;");
    compare(&["PRMT R12,R4,R5,R6"], "prmt.b32 %r12,%r4,%r6,%r5;");
    compare(&["SGXT.U32 R12,R4,0x7"], "bfe.u32 %r12,%r4,0,7;");
    compare(&["SGXT R12,R4,0x7"], "bfe.s32 %r12,%r4,0,7;");
}

#[test]
fn shifts() {
    compare(&["SHF.L.U32 R12,R4,R5,RZ"], "shl.b32 %r12,%r4,%r5;");
    compare(&["SHF.R.U32.HI R12,RZ,R5,R4"], "shr.u32 %r12,%r4,%r5;");
    compare(&["SHF.R.S32.HI R12,RZ,R5,R4"], "shr.s32 %r12,%r4,%r5;");
    compare(
        &["SHF.L.W.U32.HI R12,R4,R5,R6"],
        "shf.l.wrap.b32 %r12,%r4,%r6,%r5;",
    );
    compare(
        &["SHF.L.U32.HI R12,R4,R5,R6"],
        "shf.l.clamp.b32 %r12,%r4,%r6,%r5;",
    );
    compare(
        &["SHF.R.W.U32 R12,R4,R5,R6"],
        "shf.r.wrap.b32 %r12,%r4,%r6,%r5;",
    );
    compare(
        &["SHF.R.U32 R12,R4,R5,R6"],
        "shf.r.clamp.b32 %r12,%r4,%r6,%r5;",
    );
    let pair = |sass: &[&str], op: &str| {
        let ptx = format!("mov.b64 %rd4,{{%r4,%r5}}; {op} mov.b64 {{%r12,%r13}},%rd5;");
        compare(sass, &ptx);
    };
    pair(
        &["SHF.R.U64 R12,R4,R6,R5", "SHF.R.U32.HI R13,RZ,R6,R5"],
        "shr.u64 %rd5,%rd4,%r6;",
    );
    pair(
        &["SHF.L.U64.HI R13,R4,R6,R5", "SHF.L.U32 R12,R4,R6,RZ"],
        "shl.b64 %rd5,%rd4,%r6;",
    );
}

#[test]
fn comparisons() {
    for order in ["lt", "le", "gt", "ge", "eq", "ne"] {
        let name = order.to_uppercase();
        for (suffix, ty) in [("", "s32"), (".U32", "u32")] {
            let sass = format!("ISETP.{name}{suffix}.AND P0,PT,R4,R5,PT");
            let ptx = format!("setp.{order}.{ty} %p0,%r4,%r5; selp.b32 %r12,%r6,%r7,%p0;");
            compare(&[&sass, "SEL R12,R6,R7,P0"], &ptx);
        }
        let low = format!("ISETP.{name}.U32.AND P0,PT,R4,R6,PT");
        let high = format!("ISETP.{name}.AND.EX P0,PT,R5,R7,PT,P0");
        let ptx = format!(
            "mov.b64 %rd4,{{%r4,%r5}}; mov.b64 %rd5,{{%r6,%r7}}; setp.{order}.s64 %p0,%rd4,%rd5; \
             selp.b32 %r12,%r6,%r7,%p0;"
        );
        compare(&[&low, &high, "SEL R12,R6,R7,P0"], &ptx);
    }
    for (join, op) in [("AND", "and"), ("OR", "or"), ("XOR", "xor")] {
        let sass = format!("ISETP.LT.{join} P2,P3,R4,R5,!P1");
        let ptx = format!(
            "setp.gt.s32 %p1,%r6,0; not.pred %p1,%p1; setp.lt.s32 %p2,%r4,%r5; not.pred %p3,%p2; \
             {op}.pred %p2,%p2,%p1; {op}.pred %p3,%p3,%p1; selp.b32 %r12,%r4,%r5,%p2; selp.b32 %r13,%r4,%r5,%p3;"
        );
        let code = [
            "ISETP.GT.AND P1,PT,R6,RZ,PT",
            &sass,
            "SEL R12,R4,R5,P2",
            "SEL R13,R4,R5,P3",
        ];
        compare(&code, &ptx);
    }
    let orders = [
        "lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu", "num", "nan",
    ];
    for order in orders {
        for ftz in ["", ".FTZ"] {
            let sass = format!("FSETP.{}{ftz}.AND P0,PT,|R4|,-R5,PT", order.to_uppercase());
            let ptx = format!(
                "abs.f32 %r10,%r4; neg.f32 %r11,%r5; setp.{order}{}.f32 %p0,%r10,%r11; selp.b32 %r12,%r6,%r7,%p0;",
                ftz.to_lowercase()
            );
            compare(&[&sass, "SEL R12,R6,R7,P0"], &ptx);
        }
    }
}

#[test]
fn choices() {
    compare(
        &["VIMNMX R12,R4,R5,PT", "VIMNMX.U32 R13,R4,R5,!PT"],
        "min.s32 %r12,%r4,%r5; max.u32 %r13,%r4,%r5;",
    );
    compare(
        &["VIMNMX3 R12,R4,R5,R6,PT"],
        "min.s32 %r12,%r4,%r5; min.s32 %r12,%r12,%r6;",
    );
    compare(
        &[
            "VIADDMNMX R12,R4,R5,R6,!PT",
            "VIADDMNMX.U32 R13,R4,-R5,R6,PT",
        ],
        "add.s32 %r12,%r4,%r5; max.s32 %r12,%r12,%r6; sub.u32 %r13,%r4,%r5; min.u32 %r13,%r13,%r6;",
    );
    compare(
        &["FMNMX R12,R4,R5,PT", "FMNMX R13,-R4,R5,!PT"],
        "min.f32 %r12,%r4,%r5; neg.f32 %r10,%r4; max.f32 %r13,%r10,%r5;",
    );
    compare(
        &["FMNMX.NAN R12,R4,R5,PT", "FMNMX.FTZ R13,R4,R5,!PT"],
        "min.NaN.f32 %r12,%r4,%r5; max.ftz.f32 %r13,%r4,%r5;",
    );
    compare(
        &[
            "P2R R12,PR,RZ,0x7f",
            "ISETP.LT.AND P3,PT,R4,R5,PT",
            "P2R R13,PR,R6,0x8",
        ],
        "setp.lt.s32 %p0,%r4,%r5; and.b32 %r13,%r6,-9; or.b32 %r10,%r13,8; selp.b32 %r13,%r10,%r13,%p0;",
    );
    compare(
        &["R2P PR,R4,0x5", "SEL R12,R5,R6,P0", "SEL R13,R5,R6,P2"],
        "and.b32 %r10,%r4,1; setp.ne.u32 %p0,%r10,0; and.b32 %r10,%r4,4; setp.ne.u32 %p1,%r10,0; \
         selp.b32 %r12,%r5,%r6,%p0; selp.b32 %r13,%r5,%r6,%p1;",
    );
}

#[test]
fn floats() {
    let modes = [
        ("", ""),
        (".FTZ", ".ftz"),
        (".SAT", ".sat"),
        (".FTZ.SAT", ".ftz.sat"),
        (".RM", ".rm"),
        (".RP", ".rp"),
        (".RZ", ".rz"),
        (".FTZ.RZ", ".rz.ftz"),
    ];
    for (s, p) in modes {
        let ops = [
            (
                format!("FADD{s} R12,R4,R5"),
                format!("add{p}.f32 %r12,%r4,%r5;"),
            ),
            (
                format!("FMUL{s} R12,R4,R5"),
                format!("mul{p}.f32 %r12,%r4,%r5;"),
            ),
            (
                format!("FFMA{s} R12,R4,R5,R6"),
                format!(
                    "fma.{}.f32 %r12,%r4,%r5,%r6;",
                    match p {
                        "" => "rn".to_string(),
                        p if p.starts_with(".r") => p[1..].to_string(),
                        p => format!("rn{p}"),
                    }
                ),
            ),
        ];
        for (sass, ptx) in ops {
            compare(&[&sass], &ptx);
        }
    }
    compare(
        &["FADD R12,|R4|,-R5", "FMUL R13,R4,1.5 # 0x3fc00000"],
        "abs.f32 %r10,%r4; sub.f32 %r12,%r10,%r5; mul.f32 %r13,%r4,0f3fc00000;",
    );
    compare(
        &["FSETP.GT.AND P0,PT,R4,R5,PT", "FSEL R12,-R4,R5,P0"],
        "setp.gt.f32 %p0,%r4,%r5; neg.f32 %r10,%r4; selp.f32 %r12,%r10,%r5,%p0;",
    );
    compare(
        &["HFMA2.MMA R12,R4,R5,R6", "HADD2 R13,R4,R5"],
        "fma.rn.f16x2 %r12,%r4,%r5,%r6; add.rn.f16x2 %r13,%r4,%r5;",
    );
    compare(
        &["HFMA2.MMA R12,-RZ,RZ,1.875,0 # 0x3f800000"],
        "mov.b32 %r12,0x3f800000;",
    );
}

#[test]
fn conversions() {
    let roundings = [
        ("", "rni"),
        (".TRUNC", "rzi"),
        (".FLOOR", "rmi"),
        (".CEIL", "rpi"),
    ];
    for (s, p) in roundings {
        let sass = [
            format!("F2I{s}.NTZ R12,R4"),
            format!("F2I.FTZ.U32{s}.NTZ R13,R4"),
        ];
        let ptx = format!("cvt.{p}.s32.f32 %r12,%r4; cvt.{p}.ftz.u32.f32 %r13,%r4;");
        compare(&[&sass[0], &sass[1]], &ptx);
        compare(
            &[&format!("FRND{s} R12,R4")],
            &format!("cvt.{p}.f32.f32 %r12,%r4;"),
        );
    }
    for (s, p) in [("", "rn"), (".RZ", "rz"), (".RM", "rm"), (".RP", "rp")] {
        let sass = [format!("I2F{s} R12,R4"), format!("I2F.U32{s} R13,R4")];
        let ptx = format!("cvt.{p}.f32.s32 %r12,%r4; cvt.{p}.f32.u32 %r13,%r4;");
        compare(&[&sass[0], &sass[1]], &ptx);
    }
    compare(
        &["I2FP.F32.S32 R12,R4", "I2F.U8 R13,R4.B1"],
        "cvt.rn.f32.s32 %r12,%r4; bfe.u32 %r10,%r4,8,8; cvt.rn.f32.u32 %r13,%r10;",
    );
}

#[test]
fn special_functions() {
    let functions = [
        ("RCP", "rcp.approx.ftz"),
        ("RSQ", "rsqrt.approx.ftz"),
        ("SQRT", "sqrt.approx.ftz"),
        ("EX2", "ex2.approx.ftz"),
        ("LG2", "lg2.approx.ftz"),
    ];
    for (s, p) in functions {
        compare(
            &[&format!("MUFU.{s} R12,R4")],
            &format!("{p}.f32 %r12,%r4;"),
        );
    }
    for (s, p) in [("SIN", "sin"), ("COS", "cos")] {
        // The assembler makes turns of radians first.
        let turns = "FMUL.RZ R8,R4,0.15915493667125701904 # 0x3e22f983";
        let sass = format!("MUFU.{s} R12,R8");
        compare(&[turns, &sass], &format!("{p}.approx.f32 %r12,%r4;"));
    }
}

/// The quotient as the assembler makes it, where its check says that the quick way does.
#[test]
fn quotients_are_right_where_the_check_takes_the_quick_way() {
    let quick = [
        "FCHK P0,R4,R5",
        "MUFU.RCP R8,R5",
        "FFMA R9,-R5,R8,1 # 0x3f800000",
        "FFMA R8,R8,R9,R8",
        "FFMA R9,R4,R8,RZ",
        "FFMA R10,-R5,R9,R4",
        "FFMA R9,R8,R10,R9",
        "FFMA R10,-R5,R9,R4",
        "FFMA R12,R8,R10,R9",
        "@P0 MOV R12,RZ",
        "@P0 MOV R13,0x1",
    ];
    // The check is the quick way's own: where it says no, PTX's result is not looked at.
    let ptx = "div.rn.f32 %r12,%r4,%r5; \
        bfe.u32 %r10,%r4,23,8; bfe.u32 %r11,%r5,23,8; sub.s32 %r9,%r10,%r11; \
        setp.lt.s32 %p0,%r10,25; setp.gt.s32 %p1,%r10,253; or.pred %p0,%p0,%p1; \
        setp.lt.s32 %p1,%r11,2; or.pred %p0,%p0,%p1; setp.gt.s32 %p1,%r11,252; or.pred %p0,%p0,%p1; \
        setp.lt.s32 %p1,%r9,-124; or.pred %p0,%p0,%p1; setp.gt.s32 %p1,%r9,125; or.pred %p0,%p0,%p1; \
        selp.b32 %r12,0,%r12,%p0; selp.b32 %r13,1,0,%p0;";
    compare(&quick, ptx);
    compare_on(&quick, ptx, |random| {
        random.next() & 0x83ff_ffff | 0x3c00_0000
    });
}

#[test]
fn threads_of_a_warp_see_each_other() {
    let ways = [
        ("IDX", "idx"),
        ("UP", "up"),
        ("DOWN", "down"),
        ("BFLY", "bfly"),
    ];
    for (s, p) in ways {
        for clamp in [0x1fu32, 0x0, 0x181f, 0x1c03] {
            let sass = format!("SHFL.{s} P0,R12,R4,R5,{clamp:#x}");
            let ptx =
                format!("shfl.sync.{p}.b32 %r12|%p0,%r4,%r5,{clamp:#x},-1; selp.b32 %r13,1,0,%p0;");
            compare(&[&sass, "SEL R13,RZ,0x1,!P0"], &ptx);
        }
    }
    compare(
        &[
            "ISETP.LT.AND P0,PT,R4,R5,PT",
            "VOTE.ANY R12,P1,P0",
            "VOTEU.ANY UR4,UPT,P0",
            "MOV R13,UR4",
        ],
        "setp.lt.s32 %p0,%r4,%r5; vote.sync.ballot.b32 %r12,%p0,-1; mov.b32 %r13,%r12;",
    );
    compare(
        &[
            "ISETP.LT.U32.AND P0,PT,R4,0x7fffffff,PT",
            "VOTE.ALL P1,P0",
            "VOTEU.ANY UP0,P0",
            "SEL R12,RZ,0x1,!P1",
            "USEL UR4,URZ,0x1,!UP0",
            "MOV R13,UR4",
        ],
        "setp.lt.u32 %p0,%r4,0x7fffffff; vote.sync.all.pred %p1,%p0,-1; vote.sync.any.pred %p2,%p0,-1; \
         selp.b32 %r12,1,0,%p1; selp.b32 %r13,1,0,%p2;",
    );
}

#[test]
fn the_warp_computes_for_its_threads() {
    // Of the first thread that is there: all of a warp see the same.
    compare(
        &[
            "R2UR UR4,R4",
            "R2UR UR5,R5",
            "UIADD3 UR6,UP0,UR4,UR5,URZ",
            "UIADD3.X UR7,URZ,URZ,URZ,UP0,!UPT",
            "ULEA UR8,UR4,UR6,0x2",
            "ULOP3.LUT UR8,UR8,UR5,URZ,0x3c,!UPT",
            "USHF.R.S32.HI UR9,URZ,0x3,UR8",
            "UIMAD UR9,UR9,UR4,-UR5",
            "UISETP.LT.U32.AND UP1,UPT,UR9,UR4,UPT",
            "USEL UR9,UR9,UR4,UP1",
            "MOV R12,UR9",
            "MOV R13,UR7",
        ],
        "shfl.sync.idx.b32 %r4,%r4,0,31,-1; shfl.sync.idx.b32 %r5,%r5,0,31,-1; \
         add.cc.u32 %r6,%r4,%r5; addc.u32 %r13,0,0; shl.b32 %r8,%r4,2; add.u32 %r8,%r8,%r6; xor.b32 %r8,%r8,%r5; \
         shr.s32 %r9,%r8,3; mul.lo.u32 %r9,%r9,%r4; sub.u32 %r9,%r9,%r5; min.u32 %r12,%r9,%r4;",
    );
}

#[test]
fn memory_of_all_kinds() {
    let parts = [("U8", "u8"), ("S8", "s8"), ("U16", "u16"), ("S16", "s16")];
    for (s, p) in parts {
        let sass = format!("LDG.E.{s} R12,desc[UR4][R8.64+0x6]");
        compare(&[&sass], &format!("ld.global.{p} %r12,[%rd1+6];"));
        let local = [
            "STL.128 [RZ],R4",
            &format!("LDL.{s} R12,[0x2]").replace("[0x2]", "[RZ+0x2]"),
            "LDL R13,[RZ+0xc]",
        ];
        compare(
            &local,
            &format!("ld.global.{p} %r12,[%rd1+2]; mov.b32 %r13,%r7;"),
        );
    }
    // Through shared memory: what the neighbour has stored.
    compare(
        &[
            "S2R R2,SR_TID.X",
            "SHF.L.U32 R3,R2,0x4,RZ",
            "STS.128 [R3+0x400],R4",
            "BAR.SYNC.DEFER_BLOCKING 0x0",
            "LOP3.LUT R3,R3,0x10,RZ,0x3c,!PT",
            "UMOV UR6,0x400",
            "LDS.64 R12,[R3+UR6+0x8]",
        ],
        "shfl.sync.bfly.b32 %r12,%r6,1,31,-1; shfl.sync.bfly.b32 %r13,%r7,1,31,-1;",
    );
    // Addresses that say themselves which memory they mean.
    compare(
        &[
            "S2R R2,SR_TID.X",
            "SHF.L.U32 R2,R2,0x3,RZ",
            "IADD3 R2,R2,0x400,RZ",
            "S2R R3,SR_SWINHI",
            "ST.E.64 desc[UR4][R2.64],R6",
            "LDS R12,[R2+0x4]",
            "LD.E R13,desc[UR4][R8.64+0x4]",
        ],
        "mov.b32 %r12,%r7; mov.b32 %r13,%r5;",
    );
}

#[test]
fn atomics() {
    let ops = [
        ("ADD", "add.u32"),
        ("MIN", "min.u32"),
        ("MAX.S32", "max.s32"),
        ("AND", "and.b32"),
        ("OR", "or.b32"),
        ("XOR", "xor.b32"),
        ("EXCH", "exch.b32"),
        ("INC", "inc.u32"),
        ("DEC", "dec.u32"),
    ];
    // Each thread on its own word, then what the word holds.
    for (s, p) in ops {
        let global = format!("ATOMG.E.{s}.STRONG.GPU PT,R12,desc[UR4][R8.64],R5");
        let back = "ST.E desc[UR4][R8.64],R4";
        compare(
            &[&global, "LDG.E R13,desc[UR4][R8.64]", back],
            &format!(
                "atom.global.{p} %r12,[%rd1],%r5; ld.global.u32 %r13,[%rd1]; st.global.u32 [%rd1],%r4;"
            ),
        );
        let shared = format!("ATOMS.{s} R12,[R3+0x400],R5");
        compare(
            &[
                "S2R R2,SR_TID.X",
                "SHF.L.U32 R3,R2,0x2,RZ",
                "STS [R3+0x400],R4",
                &shared,
                "LDS R13,[R3+0x400]",
            ],
            &format!(
                "atom.global.{p} %r12,[%rd1],%r5; ld.global.u32 %r13,[%rd1]; st.global.u32 [%rd1],%r4;"
            ),
        );
    }
    compare(
        &[
            "LOP3.LUT R6,R6,0x1,RZ,0xc0,!PT",
            "IADD3 R6,R4,R6,RZ",
            "ATOMG.E.CAS.STRONG.GPU PT,R12,[R8],R6,R7",
            "LDG.E R13,desc[UR4][R8.64]",
            "STG.E desc[UR4][R8.64],R4",
        ],
        "and.b32 %r6,%r6,1; add.u32 %r6,%r4,%r6; atom.global.cas.b32 %r12,[%rd1],%r6,%r7; \
         ld.global.u32 %r13,[%rd1]; st.global.u32 [%rd1],%r4;",
    );
    compare(
        &[
            "S2R R2,SR_TID.X",
            "SHF.L.U32 R3,R2,0x2,RZ",
            "STS [R3+0x400],R4",
            "ATOMS.POPC.INC.32 RZ,[R3+0x400]",
            "LDS R12,[R3+0x400]",
            "ATOMS.CAST.SPIN R13,[R3+0x400],R12,R5",
            "LDS R12,[R3+0x400]",
        ],
        "mov.b32 %r12,%r5; mov.b32 %r13,1;",
    );
}
