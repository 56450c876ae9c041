//! Straight-line code on a thread's own registers: `%r0..7` 32 bits, `%d0..3` 64, `%h0..1` 16,
//! `%f0..3` single, `%g0..1` double precision, `%p0..3` predicates.

use super::generate::Source;

/// Opcode, its result and its sources by the registers' letters; `i` is an immediate, `s` a
/// shift amount.
const OPERATIONS: &[(&str, &str)] = &[
    ("add.s32", "rrr"),
    ("sub.s32", "rri"),
    ("add.sat.s32", "rrr"),
    ("mul.lo.u32", "rrr"),
    ("mul.hi.u32", "rrr"),
    ("mul.hi.s32", "rrr"),
    ("mad.lo.s32", "rrrr"),
    ("mad.hi.u32", "rrrr"),
    ("mul24.lo.s32", "rrr"),
    ("sad.s32", "rrrr"),
    ("min.s32", "rrr"),
    ("max.u32", "rri"),
    ("div.u32", "rri"),
    ("div.s32", "rrr"),
    ("rem.u32", "rrr"),
    ("rem.s32", "rri"),
    ("abs.s32", "rr"),
    ("neg.s32", "rr"),
    ("and.b32", "rrr"),
    ("or.b32", "rri"),
    ("xor.b32", "rrr"),
    ("not.b32", "rr"),
    ("cnot.b32", "rr"),
    ("shl.b32", "rrs"),
    ("shr.u32", "rrs"),
    ("shr.s32", "rrr"),
    ("shf.l.wrap.b32", "rrrr"),
    ("shf.r.clamp.b32", "rrrs"),
    ("popc.b32", "rr"),
    ("clz.b32", "rr"),
    ("brev.b32", "rr"),
    ("bfind.s32", "rr"),
    ("bfe.u32", "rrss"),
    ("bfe.s32", "rrrs"),
    ("bfi.b32", "rrrss"),
    ("prmt.b32", "rrri"),
    ("lop3.b32", "rrrrL"),
    ("dp4a.s32.u32", "rrrr"),
    ("mov.b32", "rr"),
    ("mov.u32", "ri"),
    ("add.u64", "ddd"),
    ("sub.s64", "ddd"),
    ("mul.lo.u64", "ddd"),
    ("mul.hi.s64", "ddd"),
    ("mad.lo.u64", "dddd"),
    ("mul.wide.u32", "drr"),
    ("mad.wide.s32", "drrd"),
    ("min.s64", "ddd"),
    ("max.u64", "ddd"),
    ("div.u64", "ddd"),
    ("rem.s64", "ddd"),
    ("xor.b64", "ddd"),
    ("and.b64", "ddd"),
    ("shl.b64", "ddr"),
    ("shr.s64", "dds"),
    ("popc.b64", "rd"),
    ("clz.b64", "rd"),
    ("brev.b64", "dd"),
    ("bfe.u64", "ddss"),
    ("add.s16", "hhh"),
    ("mul.lo.u16", "hhh"),
    ("min.s16", "hhh"),
    ("shr.s16", "hhs"),
    ("and.b16", "hhh"),
    ("mul.wide.s16", "rhh"),
    ("mad.wide.u16", "rhhr"),
    ("add.rn.f32", "fff"),
    ("add.rz.f32", "fff"),
    ("sub.rm.f32", "fff"),
    ("mul.rn.f32", "fff"),
    ("mul.rp.f32", "fff"),
    ("mul.rn.ftz.f32", "fff"),
    ("add.rn.sat.f32", "fff"),
    ("fma.rn.f32", "ffff"),
    ("fma.rz.ftz.f32", "ffff"),
    ("div.rn.f32", "fff"),
    ("sqrt.rn.f32", "ff"),
    ("rcp.rn.f32", "ff"),
    ("min.f32", "fff"),
    ("max.f32", "fff"),
    ("abs.f32", "ff"),
    ("neg.f32", "ff"),
    ("add.rn.f64", "ggg"),
    ("mul.rz.f64", "ggg"),
    ("fma.rn.f64", "gggg"),
    ("div.rn.f64", "ggg"),
    ("sqrt.rn.f64", "gg"),
    ("max.f64", "ggg"),
    ("cvt.rn.f32.s32", "fr"),
    ("cvt.rz.f32.u32", "fr"),
    ("cvt.rn.f32.s64", "fd"),
    ("cvt.rni.s32.f32", "rf"),
    ("cvt.rzi.u32.f32", "rf"),
    ("cvt.rzi.s64.f32", "df"),
    ("cvt.rn.f64.s32", "gr"),
    ("cvt.rn.f64.u64", "gd"),
    ("cvt.rmi.s64.f64", "dg"),
    ("cvt.rpi.u32.f64", "rg"),
    ("cvt.f64.f32", "gf"),
    ("cvt.rn.f32.f64", "fg"),
    ("cvt.rmi.f32.f32", "ff"),
    ("cvt.u16.u32", "hr"),
    ("cvt.s32.s16", "rh"),
    ("cvt.u64.u32", "dr"),
    ("cvt.s64.s32", "dr"),
    ("cvt.u32.u64", "rd"),
    ("cvt.sat.s16.s32", "hr"),
    ("cvt.s32.s8", "rr"),
    ("setp.lt.s32", "prr"),
    ("setp.ge.u32", "pri"),
    ("setp.eq.s64", "pdd"),
    ("setp.hi.u16", "phh"),
    ("setp.lt.f32", "pff"),
    ("setp.neu.f32", "pff"),
    ("setp.ge.f64", "pgg"),
    ("setp.num.f32", "pff"),
    ("setp.lt.and.s32", "prrp"),
    ("setp.ne.xor.u32", "prrp"),
    ("and.pred", "ppp"),
    ("xor.pred", "ppp"),
    ("not.pred", "pp"),
    ("set.lt.u32.s32", "rrr"),
    ("set.gt.f32.f32", "fff"),
    ("selp.b32", "rrrp"),
    ("selp.b64", "dddp"),
    ("selp.f32", "fffp"),
    ("slct.s32.s32", "rrrr"),
];

/// A register of a class.
pub(super) fn register(source: &mut Source, class: char) -> String {
    let count = match class {
        'r' => 8,
        'd' | 'f' | 'p' => 4,
        _ => 2,
    };
    format!("%{class}{}", source.below(count))
}

fn operand(source: &mut Source, class: char) -> String {
    match class {
        'i' => match source.below(3) {
            0 => source.below(64).to_string(),
            1 => source.below(100_000).to_string(),
            _ => format!("0x{:x}", source.bits() & 0xffff_ffff),
        },
        // Where a shift amount fits, so does a register.
        's' => match source.below(3) {
            0 => register(source, 'r'),
            _ => source.below(36).to_string(),
        },
        'L' => format!("0x{:x}", source.below(256)),
        _ => register(source, class),
    }
}

/// `@%p1 ` or the like, sometimes.
fn guard(source: &mut Source) -> String {
    if source.below(4) > 0 {
        return String::new();
    }
    let negated = ["", "!"][source.below(2) as usize];
    format!("@{negated}{} ", register(source, 'p'))
}

/// One instruction, perhaps guarded.
pub(super) fn operation(source: &mut Source) -> String {
    let (name, classes) = OPERATIONS[source.below(OPERATIONS.len() as u64) as usize];
    let guard = guard(source);
    let operands: Vec<String> = classes.chars().map(|c| operand(source, c)).collect();
    format!("{guard}{name} {};", operands.join(", "))
}

/// Instructions through the carry flag.
pub(super) fn carries(source: &mut Source) -> String {
    let r = |s: &mut Source| register(s, 'r');
    let (a, b, c, d) = (r(source), r(source), r(source), r(source));
    let (lo, hi) = (r(source), r(source));
    match source.below(3) {
        0 => format!("add.cc.u32 %t0, {a}, {b};\n\taddc.u32 {hi}, {c}, {d};\n\tmov.b32 {lo}, %t0;"),
        1 => format!("sub.cc.u32 %t0, {a}, {b};\n\tsubc.u32 {hi}, {c}, {d};\n\tmov.b32 {lo}, %t0;"),
        _ => format!(
            "mad.lo.cc.u32 %t0, {a}, {b}, {c};\n\tmadc.hi.u32 {hi}, {a}, {b}, {d};\n\tmov.b32 {lo}, %t0;"
        ),
    }
}

/// A call of one of the two functions that every module declares.
pub(super) fn call(source: &mut Source) -> String {
    let (a, b, d) = (
        register(source, 'r'),
        register(source, 'r'),
        register(source, 'r'),
    );
    let name = ["pick", "mix"][source.below(2) as usize];
    format!(
        "{{\n\t.param .b32 x$N, y$N, z$N;\n\tst.param.b32 [x$N], {a};\n\tst.param.b32 [y$N], {b};\n\t\
         call (z$N), {name}, (x$N, y$N);\n\tld.param.b32 {d}, [z$N];\n\t}}"
    )
}

/// The functions: one whose threads return at different places, one with a loop.
pub(super) fn functions(source: &mut Source) -> String {
    let (bound, factor) = (1 + source.below(40), 1 + 2 * source.below(1000));
    format!(
        ".func (.param .b32 result) pick(.param .b32 x, .param .b32 y)\n{{\n\t.reg .b32 %a, %b, %c;\n\t.reg .pred %k<3>;\n\
         \tld.param.b32 %a, [x];\n\tld.param.b32 %b, [y];\n\tst.param.b32 [result], %b;\n\tand.b32 %c, %a, 63;\n\
         \tsetp.lt.u32 %k0, %c, {bound};\n\t@%k0 ret;\n\tand.b32 %c, %a, 1;\n\tsetp.ne.u32 %k1, %c, 0;\n\
         \t@%k1 bra ODD;\n\tmul.lo.u32 %a, %a, {factor};\n\tst.param.b32 [result], %a;\n\tret;\nODD:\n\
         \txor.b32 %b, %a, %b;\n\tst.param.b32 [result], %b;\n\tret;\n}}\n\
         .func (.param .b32 result) mix(.param .b32 x, .param .b32 y)\n{{\n\t.reg .b32 %a, %b, %n;\n\t.reg .pred %k;\n\
         \tld.param.b32 %a, [x];\n\tld.param.b32 %b, [y];\n\tand.b32 %n, %b, 3;\nAGAIN:\n\tmad.lo.u32 %a, %a, {factor}, %b;\n\
         \tshf.l.wrap.b32 %b, %b, %a, 7;\n\tsub.u32 %n, %n, 1;\n\tsetp.ge.s32 %k, %n, 0;\n\t@%k bra AGAIN;\n\
         \tst.param.b32 [result], %a;\n\tret;\n}}\n"
    )
}
