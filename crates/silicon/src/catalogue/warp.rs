//! Operations of a warp's threads, reductions over a block, special registers.

use super::{List, kind};
use crate::kind::Kind;

const MEMBERS: &str = "\t.reg .b32 %members;\n";

/// Marks the last form as one whose threads work together.
fn together(list: &mut List, locals: &str) {
    if let Some(form) = list.forms.last_mut() {
        form.together = true;
        form.locals = locals.into();
    }
}

fn shuffles(list: &mut List) {
    let (w, n, c) = (Kind::I32, Kind::Amount, Kind::Segment);
    for mode in ["up", "down", "bfly", "idx"] {
        let name = format!("shfl.sync.{mode}.b32");
        let body = format!("{name} %d0|%d1, %s0, %s1, %s2, 0xffffffff;");
        list.body(&name, body, &[w, Kind::Pred], &[w, n, c]);
        together(list, "");
        for (c, what) in [(0x1f, "whole warp"), (0x181f, "eights"), (0x1c03, "fours")] {
            let body = format!("{name} %d0|%d1, %s0, %s1, {c}, 0xffffffff;");
            list.body(&format!("{name}({what})"), body, &[w, Kind::Pred], &[w, n]);
            together(list, "");
        }
        let body = format!("{name} %d0, %s0, 3, 0x1f, 0xffffffff;");
        list.body(&format!("{name}(by 3)"), body, &[w], &[w]);
        together(list, "");
        let name = format!("shfl.{mode}.b32");
        let body = format!("{name} %d0|%d1, %s0, %s1, %s2;");
        list.body(&name, body, &[w, Kind::Pred], &[w, n, c]);
        together(list, "");
    }
}

/// Among all threads of a warp, and among those for which the last source holds.
fn among(
    list: &mut List,
    name: &str,
    results: &[Kind],
    value: &[Kind],
    operands: &str,
    target: u32,
) {
    let body = format!("{name} {operands}, 0xffffffff;");
    list.body(name, body, results, value).on(target);
    together(list, "");
    let mut sources = value.to_vec();
    sources.push(Kind::Pred);
    let last = sources.len() - 1;
    let zero: Vec<String> = (results.iter().enumerate())
        .map(|(i, k)| match k {
            Kind::Pred => format!("setp.ne.u32 %d{i}, %n, %n;\n\t"),
            _ => format!("mov.b32 %d{i}, 0;\n\t"),
        })
        .collect();
    let body = format!(
        "{}vote.sync.ballot.b32 %members, %s{last}, 0xffffffff;\n\t@!%s{last} bra others;\n\t{name} {operands}, %members;\nothers:",
        zero.concat()
    );
    list.body(&format!("{name}(some)"), body, results, &sources)
        .on(target);
    together(list, MEMBERS);
}

fn votes(list: &mut List) {
    let p = Kind::Pred;
    for (mode, result) in [
        ("all", "pred"),
        ("any", "pred"),
        ("uni", "pred"),
        ("ballot", "b32"),
    ] {
        let k = kind(result);
        let name = format!("vote.sync.{mode}.{result}");
        among(list, &name, &[k], &[p], "%d0, %s0", 35);
        let body = format!("{name} %d0, !%s0, 0xffffffff;");
        list.body(&format!("{name}(not)"), body, &[k], &[p]);
        together(list, "");
        // Warps whose threads agree are rare among random ones.
        let body = format!(
            "and.b32 %word, %block, 1;\n\tsetp.ne.or.u32 %s0, %word, 0, %s0;\n\t{name} %d0, %s0, 0xffffffff;"
        );
        list.body(&format!("{name}(agreed)"), body, &[k], &[p]);
        together(list, "");
        let body = format!("vote.{mode}.{result} %d0, %s0;");
        list.body(&format!("vote.{mode}.{result}"), body, &[k], &[p]);
        together(list, "");
    }
}

fn matches(list: &mut List) {
    let few = |list: &mut List, name: &str, results: &[Kind], k: Kind, d: &str, mask: &str| {
        let bits = k.bytes() * 8;
        let first = format!("and.b{bits} %s0, %s0, {mask};\n\t");
        let from = list.forms.len();
        among(list, name, results, &[k], &format!("{d}, %s0"), 70);
        for form in &mut list.forms[from..] {
            form.name = format!("{} of {mask}", form.name);
            form.body = format!("{first}{}", form.body);
        }
    };
    for (ty, masks) in [("b32", ["3", "0"]), ("b64", ["0x100000001", "0"])] {
        for mask in masks {
            let k = kind(ty);
            few(
                list,
                &format!("match.any.sync.{ty}"),
                &[Kind::I32],
                k,
                "%d0",
                mask,
            );
            let results = [Kind::I32, Kind::Pred];
            few(
                list,
                &format!("match.all.sync.{ty}"),
                &results,
                k,
                "%d0|%d1",
                mask,
            );
        }
    }
}

pub(super) fn add(list: &mut List) {
    shuffles(list);
    votes(list);
    matches(list);
    for op in [
        "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
        "xor.b32",
    ] {
        let name = format!("redux.sync.{op}");
        among(list, &name, &[Kind::I32], &[Kind::I32], "%d0, %s0", 80);
    }
    list.body(
        "activemask.b32",
        "activemask.b32 %d0;".into(),
        &[Kind::I32],
        &[],
    );
    together(list, "");
    for op in ["bar", "barrier"] {
        for (reduction, result) in [("popc", "u32"), ("and", "pred"), ("or", "pred")] {
            let name = format!("{op}.red.{reduction}.{result}");
            for (suffix, operand) in [("", "%s0"), ("(not)", "!%s0")] {
                let body = format!("{name} %d0, 1, {operand};");
                list.body(
                    &format!("{name}{suffix}"),
                    body,
                    &[kind(result)],
                    &[Kind::Pred],
                );
                together(list, "");
            }
            let body = format!("{name} %d0, 2, 256, %s0;");
            list.body(
                &format!("{name}(256)"),
                body,
                &[kind(result)],
                &[Kind::Pred],
            );
            together(list, "");
        }
    }
    for register in [
        "tid.x",
        "tid.y",
        "ntid.x",
        "ntid.z",
        "ctaid.x",
        "ctaid.y",
        "nctaid.y",
        "laneid",
        "lanemask_eq",
        "lanemask_le",
        "lanemask_lt",
        "lanemask_ge",
        "lanemask_gt",
    ] {
        let body = format!("mov.u32 %d0, %{register};");
        list.body(&format!("mov.u32(%{register})"), body, &[Kind::I32], &[]);
    }
    list.body(
        "mov.u32(WARP_SZ)",
        "mov.u32 %d0, WARP_SZ;".into(),
        &[Kind::I32],
        &[],
    );
}
