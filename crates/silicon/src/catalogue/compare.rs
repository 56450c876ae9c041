//! `setp` and `set`.

use super::{INTEGERS, List, kind};
use crate::kind::Kind;

const ORDERED: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const UNORDERED: [&str; 8] = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
const BOOLS: [&str; 3] = ["and", "or", "xor"];

pub(super) fn add(list: &mut List) {
    for ty in INTEGERS {
        let unsigned: &[&str] = if ty.starts_with('u') {
            &["lo", "ls", "hi", "hs"]
        } else {
            &[]
        };
        let all: Vec<&str> = ORDERED.iter().chain(unsigned).copied().collect();
        both(list, &all, "", ty);
    }
    for ty in ["b16", "b32", "b64"] {
        both(list, &ORDERED[..2], "", ty);
    }
    let all: Vec<&str> = ORDERED.iter().chain(&UNORDERED).copied().collect();
    for ty in ["f32", "f64", "f16", "bf16", "f16x2", "bf16x2"] {
        both(list, &all, "", ty);
        if matches!(ty, "f32" | "f16" | "f16x2") {
            both(list, &all, ".ftz", ty);
        }
    }
}

fn both(list: &mut List, comparisons: &[&str], ftz: &str, ty: &str) {
    let (k, p) = (kind(ty), Kind::Pred);
    let target = if ty.starts_with("bf16") { 90 } else { 35 };
    for (i, cmp) in comparisons.iter().enumerate() {
        // The 16-bit floats have no second result.
        let (d, results): (&str, &[Kind]) = match ty {
            "f16" | "bf16" => ("%d0", &[p]),
            _ => ("%d0|%d1", &[p, p]),
        };
        list.body(
            &format!("setp.{cmp}{ftz}.{ty}"),
            format!("setp.{cmp}{ftz}.{ty} {d}, %s0, %s1;"),
            results,
            &[k, k],
        )
        .on(target);
        let op = BOOLS[i % 3];
        list.body(
            &format!("setp.{cmp}.{op}{ftz}.{ty}"),
            format!("setp.{cmp}.{op}{ftz}.{ty} {d}, %s0, %s1, %s2;"),
            results,
            &[k, k, p],
        )
        .on(target);
        let results: &[&str] = match ty {
            "f16" => &["u16", "u32", "f16"],
            "bf16" => &["u16", "u32", "bf16"],
            "f16x2" => &["f16x2"],
            "bf16x2" => &["bf16x2"],
            _ => &["u32", "s32", "f32"],
        };
        let result = results[i % results.len()];
        list.one(
            &format!("set.{cmp}{ftz}.{result}.{ty}"),
            kind(result),
            &[k, k],
        )
        .on(target);
        list.one(
            &format!("set.{cmp}.{op}{ftz}.{result}.{ty}"),
            kind(result),
            &[k, k, p],
        )
        .on(target);
    }
}
