//! Atomics and reductions on memory of one's own: what comes back and what is left.

use super::place::{ATOMIC_PLACES, PLACES, Place};
use super::{List, kind};
use crate::kind::Kind;

/// Operation with its type, and the lowest target.
const OPERATIONS: &[(&str, &str, u32)] = &[
    ("and", "b32", 35),
    ("or", "b32", 35),
    ("xor", "b32", 35),
    ("exch", "b32", 35),
    ("cas", "b32", 35),
    ("add", "u32", 35),
    ("add", "s32", 35),
    ("inc", "u32", 35),
    ("dec", "u32", 35),
    ("min", "u32", 35),
    ("max", "u32", 35),
    ("min", "s32", 35),
    ("max", "s32", 35),
    ("and", "b64", 35),
    ("or", "b64", 35),
    ("xor", "b64", 35),
    ("exch", "b64", 35),
    ("cas", "b64", 35),
    ("add", "u64", 35),
    ("min", "u64", 35),
    ("max", "u64", 35),
    ("min", "s64", 35),
    ("max", "s64", 35),
    ("add", "f32", 35),
    ("add", "f64", 60),
    ("add.noftz", "f16x2", 60),
    ("add.noftz", "f16", 70),
    ("add.noftz", "bf16", 90),
    ("add.noftz", "bf16x2", 90),
    ("cas", "b16", 70),
];

fn one(list: &mut List, place: &Place, order: &str, op: &str, ty: &str, target: u32) {
    let k = kind(ty);
    let (space, bits) = (place.space, k.bytes() * 8);
    let cas = op == "cas";
    let sources = vec![k; if cas { 3 } else { 2 }];
    let third = if cas { ", %s2" } else { "" };
    let around = |instruction: &str| {
        format!(
            "st{space}.b{bits} [%cell], %s0;\n\t{instruction}\n\tld{space}.b{bits} %d1, [%cell];"
        )
    };
    let name = format!("atom{order}{space}.{op}.{ty}");
    let body = around(&format!("{name} %d0, [%cell], %s1{third};"));
    list.body(&format!("{name}{}", place.name), body, &[k, k], &sources)
        .at(place)
        .on(target);
    if cas || op == "exch" {
        return;
    }
    let name = format!("red{order}{space}.{op}.{ty}");
    let body = around(&format!("{name} [%cell], %s1;")).replace("%d1", "%d0");
    list.body(&format!("{name}{}", place.name), body, &[k], &sources)
        .at(place)
        .on(target);
}

/// Every thread of a block changes one word; what is left is seen by all. Sums of floats are
/// of small whole numbers, exact in any order.
fn contended(list: &mut List, space: &str, op: &str) {
    let (module, local) = match space {
        "global" => (".global .align 8 .b8 cell[65536];\n", ""),
        _ => ("", "\t.shared .align 8 .b8 cell[8];\n"),
    };
    let bits = if op.ends_with("64") { 64 } else { 32 };
    let k = if bits == 64 { Kind::I64 } else { Kind::I32 };
    let place = match space {
        "global" => "mad.wide.u32 %cell, %block, 8, %cell;\n\t",
        _ => "",
    };
    let (value, start) = match op {
        "add.f32" => ("and.b32 %x, %s0, 255;\n\tcvt.rn.f32.u32 %x, %x;", 0),
        "add.f64" => ("and.b64 %x, %s0, 65535;\n\tcvt.rn.f64.u64 %x, %x;", 0),
        _ if bits == 64 => ("mov.b64 %x, %s0;", 5),
        _ => ("mov.b32 %x, %s0;", 5),
    };
    let form = list.body(
        &format!("red.{space}.{op}(contended)"),
        format!(
            "mov.u64 %cell, cell;\n\t{place}{value}\n\tmov.b{bits} %d0, {start};\n\tst.{space}.b{bits} [%cell], %d0;\n\
             \tbar.sync 0;\n\tred.{space}.{op} [%cell], %x;\n\tbar.sync 0;\n\tld.{space}.b{bits} %d0, [%cell];"
        ),
        &[k],
        &[k],
    );
    form.module = module.into();
    form.locals = format!("\t.reg .b64 %cell;\n\t.reg .b{bits} %x;\n{local}");
    form.together = true;
    form.on(if op == "add.f64" { 60 } else { 35 });
}

pub(super) fn add(list: &mut List) {
    for place in &PLACES[..ATOMIC_PLACES] {
        for (op, ty, target) in OPERATIONS {
            one(list, place, "", op, ty, *target);
        }
        for order in ["relaxed", "acquire", "release", "acq_rel"] {
            for scope in ["cta", "gpu", "sys"] {
                let order = format!(".{order}.{scope}");
                // `red` has no acquiring orders.
                if order.contains("acq") {
                    let before = list.forms.len();
                    one(list, place, &order, "add", "u32", 70);
                    list.forms.truncate(before + 1);
                } else {
                    one(list, place, &order, "add", "u32", 70);
                }
            }
        }
    }
    for space in ["global", "shared"] {
        for op in [
            "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "add.u64", "max.s64",
            "xor.b64", "add.f32", "add.f64",
        ] {
            contended(list, space, op);
        }
    }
}
