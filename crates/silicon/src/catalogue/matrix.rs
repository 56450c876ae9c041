//! Matrix instructions. The registers of a fragment are a source, and what neighbours have of it.

use super::List;
use crate::kind::Kind;

/// Elements of A and B, sums, shapes, and what is done to words so that sums are finite.
type Product = (&'static str, &'static str, &'static [&'static str], Finite);

/// What bits are kept and what bits are set so that a word holds finite numbers of many sizes.
pub(super) type Finite = Option<(u32, u32)>;

pub(super) const HALF: Finite = Some((0xbfff_bfff, 0));
pub(super) const BRAIN: Finite = Some((0x87ff_87ff, 0x3800_3800));
pub(super) const SINGLE: Finite = Some((0x87ff_ffff, 0x3800_0000));
const TINY: Finite = Some((0xbfbf_bfbf, 0));

const PRODUCTS: [Product; 12] = [
    ("f16.f16", "f32", &["m16n8k8", "m16n8k16"], HALF),
    ("f16.f16", "f16", &["m16n8k8", "m16n8k16"], HALF),
    ("bf16.bf16", "f32", &["m16n8k8", "m16n8k16"], BRAIN),
    ("tf32.tf32", "f32", &["m16n8k4", "m16n8k8"], SINGLE),
    ("e4m3.e4m3", "f32", &["m16n8k32"], TINY),
    ("e5m2.e4m3", "f32", &["m16n8k32"], TINY),
    ("e4m3.e5m2", "f16", &["m16n8k32"], TINY),
    ("s8.s8", "s32", &["m8n8k16", "m16n8k16", "m16n8k32"], None),
    ("u8.s8", "s32", &["m8n8k16", "m16n8k16", "m16n8k32"], None),
    ("s4.u4", "s32", &["m8n8k32", "m16n8k32", "m16n8k64"], None),
    ("u4.u4", "s32", &["m8n8k32", "m16n8k32", "m16n8k64"], None),
    (
        "b1.b1",
        "s32",
        &["m8n8k128", "m16n8k128", "m16n8k256"],
        None,
    ),
];

pub(super) fn numbers(shape: &str) -> [u32; 3] {
    let rest = shape.trim_start_matches('m');
    let (m, rest) = rest.split_once('n').unwrap_or(("0", "0k0"));
    let (n, k) = rest.split_once('k').unwrap_or(("0", "0"));
    [m, n, k].map(|t| t.parse().unwrap_or(0))
}

pub(super) fn bits(ty: &str) -> u32 {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// Registers of a fragment, made from a source: its own, those of other lanes, and half of them
/// turned about.
pub(super) fn fragment(name: &str, source: &str, count: u32) -> String {
    (0..count)
        .map(|i| match i {
            0 => format!("mov.b32 %{name}0, {source};\n\t"),
            _ => format!(
                "shfl.sync.bfly.b32 %{name}{i}, {source}, {}, 0x1f, 0xffffffff;\n\t",
                (i * 7) % 32
            ),
        })
        .collect()
}

pub(super) fn list_of(name: &str, count: u32) -> String {
    let all: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
    format!("{{{}}}", all.join(", "))
}

fn one(list: &mut List, name: &str, suffix: &str, product: &Product, shape: &str, finite: Finite) {
    let (elements, sum, ..) = *product;
    let (a, b) = elements.split_once('.').unwrap_or((elements, elements));
    let [m, n, k] = numbers(shape);
    let counts = [
        m * k * bits(a) / 1024,
        k * n * bits(b) / 1024,
        m * n * bits(sum) / 1024,
    ];
    let mut body = String::new();
    for source in 0..3 {
        let keep = if source == 2 && sum == "f32" {
            finite.and(SINGLE)
        } else if source == 2 && sum == "f16" {
            finite.and(HALF)
        } else if source == 2 {
            None
        } else {
            finite
        };
        if let Some((kept, set)) = keep {
            body += &format!("and.b32 %s{source}, %s{source}, {kept};\n\t");
            body += &format!("or.b32 %s{source}, %s{source}, {set};\n\t");
        }
    }
    for (i, (letter, count)) in ["a", "b", "c"].iter().zip(counts).enumerate() {
        body += &fragment(letter, &format!("%s{i}"), count);
    }
    let [a, b, c] = ["a", "b", "c"].map(String::from);
    body += &format!(
        "{name} {}, {}, {}, {};",
        list_of("d", counts[2]),
        list_of(&a, counts[0]),
        list_of(&b, counts[1]),
        list_of(&c, counts[2])
    );
    let full = format!("{name}{suffix}");
    let results = vec![Kind::I32; counts[2] as usize];
    let form = list.body(&full, body, &results, &[Kind::I32; 3]);
    form.on(if elements.contains('e') { 89 } else { 80 });
    form.together = true;
    form.brief = true;
    if elements.contains('e') && sum == "f16" {
        form.version = Some("8.7");
        form.awaited = true;
    }
    form.locals = "\t.reg .b32 %a<8>, %b<8>, %c<8>;\n".into();
}

/// Double precision: one register of 64 bits for each element.
fn double(list: &mut List) {
    for (shape, a, b, c) in [
        ("m8n8k4", 1, 1, 2),
        ("m16n8k4", 2, 1, 4),
        ("m16n8k8", 4, 2, 4),
        ("m16n8k16", 8, 4, 4),
    ] {
        let name = format!("mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64");
        let mut body = String::new();
        for (i, (letter, count)) in [("a", a), ("b", b), ("c", c)].iter().enumerate() {
            body += &format!("and.b64 %s{i}, %s{i}, 0x81ffffffffffffff;\n\t");
            body += &format!("or.b64 %s{i}, %s{i}, 0x3e00000000000000;\n\t");
            body += &format!("mov.b64 {{%low, %high}}, %s{i};\n\tmov.b64 %{letter}0, %s{i};\n\t");
            for register in 1..*count {
                for half in ["low", "high"] {
                    body += &format!(
                        "shfl.sync.bfly.b32 %{half}x, %{half}, {}, 0x1f, 0xffffffff;\n\t",
                        register * 7 % 32
                    );
                }
                body += &format!("mov.b64 %{letter}{register}, {{%lowx, %highx}};\n\t");
            }
        }
        body += &format!(
            "{name} {}, {}, {}, {};",
            list_of("d", c),
            list_of("a", a),
            list_of("b", b),
            list_of("c", c)
        );
        let results = vec![Kind::I64; c as usize];
        let form = list.body(&name, body, &results, &[Kind::I64; 3]);
        form.on(if shape == "m8n8k4" { 80 } else { 90 });
        form.together = true;
        form.brief = true;
        form.locals =
            "\t.reg .b64 %a<8>, %b<8>, %c<8>;\n\t.reg .b32 %low, %high, %lowx, %highx;\n".into();
    }
}

/// Matrices of 8 by 8 elements to and from shared memory, where each warp has 512 bytes.
fn tiles(list: &mut List) {
    let head = "mov.u32 %place, %tid.x;\n\tshl.b32 %place, %place, 4;\n\tmov.u32 %word, tile;\n\t\
                add.u32 %place, %place, %word;\n\tst.shared.v4.b32 [%place], {%s0, %s1, %s1, %s0};\n\t\
                bar.sync 0;\n\t";
    for (count, trans) in [(1, ""), (2, ".trans"), (4, ""), (4, ".trans")] {
        let name = format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16");
        let body = format!("{head}{name} {}, [%place];", list_of("d", count));
        let results = vec![Kind::I32; count as usize];
        let form = list.body(&name, body, &results, &[Kind::I32; 2]);
        shared(form, 80);
    }
    for (count, trans) in [(1, ""), (2, ".trans"), (4, ".trans")] {
        let name = format!("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16");
        let values = ["%s0", "%s1", "%word", "%place"][..2].join(", ");
        let values = match count {
            1 => "%s0".to_string(),
            2 => values,
            _ => "%s0, %s1, %s1, %s0".to_string(),
        };
        let body = format!(
            "{head}{name} [%place], {{{values}}};\n\tbar.sync 0;\n\tld.shared.v4.b32 {}, [%place];",
            list_of("d", 4)
        );
        let form = list.body(&name, body, &[Kind::I32; 4], &[Kind::I32; 2]);
        shared(form, 90);
    }
    let name = "movmatrix.sync.aligned.m8n8.trans.b16";
    let form = list.one(name, Kind::I32, &[Kind::I32]);
    form.on(75);
    form.together = true;
    form.brief = true;
}

fn shared(form: &mut crate::form::Form, target: u32) {
    form.on(target);
    form.together = true;
    form.brief = true;
    form.module = ".shared .align 128 .b8 tile[24576];\n".into();
    form.locals = "\t.reg .b32 %place, %i, %warp;\n".into();
}

/// Through shared memory: each warp has 3 KiB, which its threads fill with what they have.
fn warp_wide(list: &mut List) {
    let products: [(&str, &str, &str, &str, Finite, u32); 9] = [
        ("m16n16k16", "f16", "f32", "f32", HALF, 70),
        ("m16n16k16", "f16", "f16", "f16", HALF, 70),
        ("m32n8k16", "f16", "f32", "f32", HALF, 70),
        ("m8n32k16", "f16", "f16", "f32", HALF, 70),
        ("m16n16k16", "bf16", "f32", "f32", BRAIN, 80),
        ("m16n16k8", "tf32", "f32", "f32", SINGLE, 80),
        ("m16n16k16", "s8", "s32", "s32", None, 72),
        ("m32n8k16", "u8", "s32", "s32", None, 72),
        ("m8n8k32", "s4", "s32", "s32", None, 75),
    ];
    for (shape, a, c, d, finite, target) in products {
        for layouts in ["row.col", "col.row"] {
            if bits(a) < 8 && layouts != "row.col" {
                continue;
            }
            let (la, lb) = layouts.split_once('.').unwrap_or(("row", "col"));
            let [m, n, k] = numbers(shape);
            let count = |ty: &str, size: u32, fragment: bool| match (ty, fragment) {
                ("f16", true) => 8,
                _ => size * bits(ty) / 1024,
            };
            let counts = [
                count(a, m * k, true),
                count(a, k * n, true),
                count(c, m * n, false),
                count(d, m * n, false),
            ];
            let types = match a {
                "f16" => format!("{d}.{c}"),
                _ => format!("{d}.{a}.{a}.{c}"),
            };
            let mut body = String::from(
                "mov.u32 %warp, %tid.x;\n\tshr.u32 %warp, %warp, 5;\n\tmov.u32 %word, tile;\n\t\
                 mad.lo.u32 %warp, %warp, 3072, %word;\n\tmov.u32 %i, %laneid;\n\t\
                 shl.b32 %place, %i, 5;\n\tadd.u32 %place, %place, %warp;\n\t",
            );
            for source in 0..3 {
                let keep = match (source, c) {
                    (2, "f32") => SINGLE,
                    (2, "f16") => HALF,
                    (2, _) => None,
                    _ => finite,
                };
                for at in 0..8 {
                    let from = format!("%s{source}");
                    body += &format!(
                        "shfl.sync.bfly.b32 %i, {from}, {}, 0x1f, 0xffffffff;\n\t",
                        at * 5
                    );
                    if let Some((kept, set)) = keep {
                        body += &format!("and.b32 %i, %i, {kept};\n\tor.b32 %i, %i, {set};\n\t");
                    }
                    body += &format!("st.shared.b32 [%place+{}], %i;\n\t", source * 1024 + at * 4);
                }
            }
            let sync = "bar.warp.sync 0xffffffff;\n\t";
            let name = format!("wmma.mma.sync.aligned.{layouts}.{shape}.{types}");
            body += sync;
            for (what, letter, layout, ty, at, count) in [
                ("a", "a", la, a, 0, counts[0]),
                ("b", "b", lb, a, 1024, counts[1]),
                ("c", "c", "row", c, 2048, counts[2]),
            ] {
                body += &format!(
                    "wmma.load.{what}.sync.aligned.{layout}.{shape}.shared.{ty} {}, [%warp+{at}];\n\t",
                    list_of(letter, count)
                );
            }
            body += &format!(
                "{name} {}, {}, {}, {};\n\t{sync}",
                list_of("e", counts[3]),
                list_of("a", counts[0]),
                list_of("b", counts[1]),
                list_of("c", counts[2])
            );
            body += &format!(
                "wmma.store.d.sync.aligned.row.{shape}.shared.{d} [%warp+2048], {};\n\t{sync}",
                list_of("e", counts[3])
            );
            // The tile of D by words: lane after lane.
            let words = (m * n * bits(d) / 1024).max(1);
            body += &format!(
                "mov.u32 %i, %laneid;\n\tmad.lo.u32 %place, %i, {}, %warp;\n\t",
                words * 4
            );
            for word in 0..words {
                body += &format!("ld.shared.b32 %d{word}, [%place+{}];\n\t", 2048 + word * 4);
            }
            let results = vec![Kind::I32; words as usize];
            let form = list.body(&name, body, &results, &[Kind::I32; 3]);
            shared(form, target);
            form.locals += "\t.reg .b32 %a<8>, %b<8>, %c<8>, %e<8>;\n";
        }
    }
}

pub(super) fn add(list: &mut List) {
    for product in &PRODUCTS {
        let (elements, sum, shapes, finite) = *product;
        for shape in shapes {
            let ops: &[&str] = if elements == "b1.b1" {
                &[".xor.popc", ".and.popc"]
            } else {
                &[""]
            };
            for op in ops {
                let name = format!("mma.sync.aligned.{shape}.row.col.{sum}.{elements}.{sum}{op}");
                one(list, &name, "", product, shape, finite);
                if finite.is_some() {
                    one(list, &name, "(any)", product, shape, None);
                }
            }
            if elements.starts_with(['s', 'u']) {
                let name =
                    format!("mma.sync.aligned.{shape}.row.col.satfinite.{sum}.{elements}.{sum}");
                one(list, &name, "", product, shape, None);
            }
        }
    }
    double(list);
    tiles(list);
    warp_wide(list);
}
