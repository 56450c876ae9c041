//! Statements of programs of later seeds: functions that call themselves, calls through registers,
//! copies that are not waited for, textures by a handle, products of matrices, video instructions.

use super::generate::Source;
use super::straight::register;
use super::tree::Needs;

/// Seeds from here on have them: the programs of those before are recorded, and stay what they are.
pub const FIRST: u64 = 10_000_000_000;

/// Texels of the texture across and down: words of the input.
pub(super) const TEXTURE: [u32; 2] = [64, 16];

/// One that calls itself, and two of the same kind whose addresses are taken.
pub(super) fn functions(source: &mut Source) -> String {
    let (factor, turn) = (1 + 2 * source.below(1000), 1 + source.below(31));
    format!(
        ".func (.param .b32 result) deep(.param .b32 x, .param .b32 n)\n{{\n\t.reg .b32 %a, %b, %n;\n\t.reg .pred %k;\n\
         \tld.param.b32 %a, [x];\n\tld.param.b32 %n, [n];\n\tsetp.eq.u32 %k, %n, 0;\n\t@%k bra LEAF;\n\
         \tsub.u32 %n, %n, 1;\n\tmad.lo.u32 %b, %a, {factor}, %n;\n\t{{\n\t.param .b32 p, q, r;\n\tst.param.b32 [p], %b;\n\
         \tst.param.b32 [q], %n;\n\tcall (r), deep, (p, q);\n\tld.param.b32 %b, [r];\n\t}}\n\txor.b32 %a, %a, %b;\n\
         \tst.param.b32 [result], %a;\n\tret;\nLEAF:\n\tshr.u32 %a, %a, 1;\n\tst.param.b32 [result], %a;\n\tret;\n}}\n\
         .func (.param .b32 result) left(.param .b32 x, .param .b32 y)\n{{\n\t.reg .b32 %a, %b;\n\tld.param.b32 %a, [x];\n\
         \tld.param.b32 %b, [y];\n\tshf.l.wrap.b32 %a, %a, %b, {turn};\n\tst.param.b32 [result], %a;\n\tret;\n}}\n\
         .func (.param .b32 result) right(.param .b32 x, .param .b32 y)\n{{\n\t.reg .b32 %a, %b;\n\tld.param.b32 %a, [x];\n\
         \tld.param.b32 %b, [y];\n\tmad.lo.u32 %a, %a, %b, {factor};\n\tst.param.b32 [result], %a;\n\tret;\n}}\n"
    )
}

/// What a kernel says of the functions that it calls through registers.
pub(super) const PROTOTYPE: &str =
    "\tTWO: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n";

const VIDEO: &[(&str, usize)] = &[
    ("vadd4.s32.s32.s32.sat", 3),
    ("vabsdiff4.u32.u32.u32.add", 3),
    ("vavrg2.s32.s32.s32", 3),
    ("vset2.s32.s32.lt", 3),
    ("vmad.s32.s32.s32.sat", 3),
    ("vmin.u32.u32.u32", 2),
];

/// A statement and what it needs; `block` says whether every thread of the block comes here.
pub(super) fn statement(source: &mut Source, block: bool) -> (String, Needs) {
    let text = match source.below(if block { 7 } else { 6 }) {
        0 => recursion(source),
        1 => through_register(source),
        2 | 3 => copy(source),
        4 => texture(source),
        5 => video(source),
        _ => return (product(source), Needs::FullWarps),
    };
    (text, Needs::Nothing)
}

fn words<const N: usize>(source: &mut Source) -> [String; N] {
    std::array::from_fn(|_| register(source, 'r'))
}

/// A call with two words and one that comes back.
fn call(d: &str, what: &str, [a, b]: [&str; 2], behind: &str) -> String {
    format!(
        "{{\n\t.param .b32 x$N, y$N, z$N;\n\tst.param.b32 [x$N], {a};\n\tst.param.b32 [y$N], {b};\n\t\
         call (z$N), {what}, (x$N, y$N){behind};\n\tld.param.b32 {d}, [z$N];\n\t}}"
    )
}

/// To a depth that data say.
fn recursion(source: &mut Source) -> String {
    let [d, a, n] = words(source);
    let call = call(&d, "deep", [&a, "%t0"], "");
    format!("and.b32 %t0, {n}, 7;\n\t{call}")
}

fn through_register(source: &mut Source) -> String {
    let [d, a, b, which] = words(source);
    let call = call(&d, "%u0", [&a, &b], ", TWO");
    format!(
        "and.b32 %t0, {which}, 1;\n\tsetp.ne.u32 %tp0, %t0, 0;\n\tmov.u64 %u0, left;\n\tmov.u64 %u1, right;\n\t\
         selp.b64 %u0, %u0, %u1, %tp0;\n\t{call}"
    )
}

/// Words of the input to shared memory of one's own.
fn copy(source: &mut Source) -> String {
    let [d, index] = words(source);
    let bytes = [4, 8, 16][source.below(3) as usize];
    let way = if bytes == 16 && source.below(2) == 0 {
        "cg"
    } else {
        "ca"
    };
    let wait = [
        "cp.async.wait_all;",
        "cp.async.commit_group;\n\tcp.async.wait_group 0;",
    ][source.below(2) as usize];
    let at = 4 * source.below(bytes / 4);
    format!(
        "and.b32 %t0, {index}, {};\n\tmad.wide.u32 %u0, %t0, {bytes}, %in;\n\t\
         cp.async.{way}.shared.global [%sown], [%u0], {bytes};\n\t{wait}\n\tld.shared.b32 {d}, [%sown+{at}];",
        16384 / bytes - 1
    )
}

fn texture(source: &mut Source) -> String {
    let [d, x, y] = words(source);
    let [across, down] = TEXTURE;
    format!(
        "ld.param.u64 %u0, [texture];\n\tand.b32 %t0, {x}, {};\n\tand.b32 %t1, {y}, {};\n\t\
         tex.2d.v4.u32.s32 {{%t2, %t3, %t4, %t5}}, [%u0, {{%t0, %t1}}];\n\tmov.b32 {d}, %t2;",
        across - 1,
        down - 1
    )
}

fn video(source: &mut Source) -> String {
    let (name, sources) = VIDEO[source.below(VIDEO.len() as u64) as usize];
    let [d, a, b, c] = words(source);
    let third = if sources == 3 {
        format!(", {c}")
    } else {
        String::new()
    };
    format!("{name} {d}, {a}, {b}{third};")
}

/// Of whole numbers: exact in any order.
fn product(source: &mut Source) -> String {
    let [d, a, b, c, e] = words(source);
    format!(
        "bar.warp.sync 0xffffffff;\n\tmma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {{%t0, %t1}}, {{{a}}}, {{{b}}}, {{{c}, {e}}};\n\t\
         xor.b32 {d}, %t0, %t1;"
    )
}
