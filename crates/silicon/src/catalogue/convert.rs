//! `cvt`.

use super::{List, kind};

const ALL: [&str; 8] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];
const INTEGRAL: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];

pub(super) fn add(list: &mut List) {
    for to in ALL {
        for from in ALL {
            one(list, "", to, from, 35);
            if can_exceed(to, from) {
                one(list, ".sat", to, from, 35);
            }
        }
    }
    for from in ALL {
        for round in ROUNDINGS {
            for to in ["f16", "f32", "f64"] {
                one(list, &format!(".{round}"), to, from, 35);
            }
            if !from.ends_with('8') {
                one(list, &format!(".{round}"), "bf16", from, 90);
            }
            one(list, &format!(".{round}.sat"), "f32", from, 35);
        }
        one(list, ".rn.sat", "f64", from, 35);
        one(list, ".rn.sat", "f16", from, 35);
    }
    for to in ALL {
        for round in INTEGRAL {
            for from in ["f16", "f32", "f64"] {
                one(list, &format!(".{round}"), to, from, 35);
                one(list, &format!(".{round}.sat"), to, from, 35);
            }
            one(list, &format!(".{round}.ftz"), to, "f32", 35);
            if !to.ends_with('8') {
                one(list, &format!(".{round}"), to, "bf16", 90);
            }
        }
    }
    floats(list);
}

fn floats(list: &mut List) {
    for round in ROUNDINGS {
        for mods in ["", ".ftz", ".sat", ".ftz.sat"] {
            one(list, &format!(".{round}{mods}"), "f32", "f64", 35);
        }
        for mods in ["", ".sat"] {
            one(list, &format!(".{round}{mods}"), "f16", "f64", 35);
            one(list, &format!(".{round}{mods}"), "f16", "f32", 35);
        }
        one(list, &format!(".{round}.ftz"), "f16", "f32", 35);
        one(list, &format!(".{round}"), "bf16", "f64", 90);
        one(list, &format!(".{round}"), "f16", "bf16", 90);
        one(list, &format!(".{round}"), "bf16", "f16", 90);
    }
    for round in ["rn", "rz"] {
        for relu in ["", ".relu"] {
            one(list, &format!(".{round}{relu}"), "bf16", "f32", 80);
            for to in ["f16x2", "bf16x2"] {
                let name = format!("cvt.{round}{relu}.{to}.f32");
                let (k, f) = (kind(to), kind("f32"));
                list.one(&name, k, &[f, f]).on(80);
            }
        }
        one(list, &format!(".{round}.relu"), "f16", "f32", 80);
    }
    for round in INTEGRAL {
        for mods in ["", ".ftz", ".sat", ".ftz.sat"] {
            one(list, &format!(".{round}{mods}"), "f32", "f32", 35);
        }
        for mods in ["", ".sat"] {
            one(list, &format!(".{round}{mods}"), "f64", "f64", 35);
            one(list, &format!(".{round}{mods}"), "f16", "f16", 35);
        }
        one(list, &format!(".{round}"), "bf16", "bf16", 90);
    }
    for mods in ["", ".sat"] {
        for (to, from) in [
            ("f32", "f16"),
            ("f64", "f16"),
            ("f64", "f32"),
            ("f32", "f32"),
            ("f64", "f64"),
            ("f16", "f16"),
        ] {
            one(list, mods, to, from, 35);
        }
    }
    for mods in [".ftz", ".ftz.sat"] {
        for (to, from) in [("f64", "f32"), ("f32", "f32"), ("f32", "f16")] {
            one(list, mods, to, from, 35);
        }
    }
    one(list, "", "f32", "bf16", 90);
    one(list, "", "f64", "bf16", 90);
    one(list, ".rna", "tf32", "f32", 80);
    for mods in [".rn", ".rz", ".rn.relu", ".rz.relu"] {
        one(list, mods, "tf32", "f32", 90);
    }
}

fn one(list: &mut List, mods: &str, to: &str, from: &str, target: u32) {
    list.one(&format!("cvt{mods}.{to}.{from}"), kind(to), &[kind(from)])
        .on(target);
}

/// Whether `.sat` has something to do; where it has not, the ISA forbids it.
fn can_exceed(to: &str, from: &str) -> bool {
    let bits = |ty: &str| ty[1..].parse::<u32>().unwrap_or(0);
    let signed = |ty: &str| ty.starts_with('s');
    match (signed(to), signed(from)) {
        (false, true) => true,
        (true, false) => bits(to) <= bits(from),
        _ => bits(to) < bits(from),
    }
}
