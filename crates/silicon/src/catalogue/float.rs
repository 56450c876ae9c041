//! Floating-point arithmetic, exact and approximate.

use super::{List, kind};
use crate::kind::Kind;

const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

pub(super) fn add(list: &mut List) {
    single(list);
    double(list);
    half(list);
    extremes(list);
    approximations(list);
    let p = Kind::Pred;
    for ty in ["f32", "f64"] {
        let k = kind(ty);
        list.one(&format!("copysign.{ty}"), k, &[k, k]);
        for test in [
            "finite",
            "infinite",
            "number",
            "notanumber",
            "normal",
            "subnormal",
        ] {
            list.one(&format!("testp.{test}.{ty}"), p, &[k]);
        }
    }
}

fn single(list: &mut List) {
    let k = Kind::F32;
    for round in ROUNDINGS {
        for ftz in ["", ".ftz"] {
            for sat in ["", ".sat"] {
                for op in ["add", "sub", "mul"] {
                    list.one(&format!("{op}.{round}{ftz}{sat}.f32"), k, &[k, k]);
                }
                for op in ["fma", "mad"] {
                    list.one(&format!("{op}.{round}{ftz}{sat}.f32"), k, &[k, k, k]);
                }
            }
            list.one(&format!("div.{round}{ftz}.f32"), k, &[k, k]);
            list.one(&format!("rcp.{round}{ftz}.f32"), k, &[k]);
            list.one(&format!("sqrt.{round}{ftz}.f32"), k, &[k]);
        }
    }
    for ftz in ["", ".ftz"] {
        list.one(&format!("abs{ftz}.f32"), k, &[k]);
        list.one(&format!("neg{ftz}.f32"), k, &[k]);
    }
}

fn double(list: &mut List) {
    let k = Kind::F64;
    for round in ROUNDINGS {
        for op in ["add", "sub", "mul", "div"] {
            list.one(&format!("{op}.{round}.f64"), k, &[k, k]);
        }
        for op in ["fma", "mad"] {
            list.one(&format!("{op}.{round}.f64"), k, &[k, k, k]);
        }
        list.one(&format!("rcp.{round}.f64"), k, &[k]);
        list.one(&format!("sqrt.{round}.f64"), k, &[k]);
    }
    for op in ["abs", "neg"] {
        list.one(&format!("{op}.f64"), k, &[k]);
    }
}

fn half(list: &mut List) {
    for ty in ["f16", "f16x2"] {
        let k = kind(ty);
        for ftz in ["", ".ftz"] {
            for op in ["abs", "neg"] {
                list.one(&format!("{op}{ftz}.{ty}"), k, &[k]);
            }
            for sat in ["", ".sat"] {
                for op in ["add", "sub", "mul"] {
                    list.one(&format!("{op}.rn{ftz}{sat}.{ty}"), k, &[k, k]);
                }
                list.one(&format!("fma.rn{ftz}{sat}.{ty}"), k, &[k, k, k]);
            }
            list.one(&format!("fma.rn{ftz}.relu.{ty}"), k, &[k, k, k])
                .on(80);
        }
    }
    for ty in ["bf16", "bf16x2"] {
        let k = kind(ty);
        for op in ["abs", "neg"] {
            list.one(&format!("{op}.{ty}"), k, &[k]);
        }
        for op in ["add", "sub", "mul"] {
            list.one(&format!("{op}.rn.{ty}"), k, &[k, k]).on(90);
        }
        list.one(&format!("fma.rn.{ty}"), k, &[k, k, k]);
        list.one(&format!("fma.rn.relu.{ty}"), k, &[k, k, k]);
    }
}

fn extremes(list: &mut List) {
    for op in ["min", "max"] {
        for ty in ["f32", "f64", "f16", "f16x2", "bf16", "bf16x2"] {
            let k = kind(ty);
            let flushes: &[&str] = match ty {
                "f64" | "bf16" | "bf16x2" => &[""],
                _ => &["", ".ftz"],
            };
            for ftz in flushes {
                list.one(&format!("{op}{ftz}.{ty}"), k, &[k, k]).on(
                    if k.bytes() == 2 || ty.ends_with("x2") {
                        80
                    } else {
                        35
                    },
                );
                if ty == "f64" {
                    continue;
                }
                list.one(&format!("{op}{ftz}.NaN.{ty}"), k, &[k, k]).on(80);
                list.one(&format!("{op}{ftz}.xorsign.abs.{ty}"), k, &[k, k])
                    .on(86);
                list.one(&format!("{op}{ftz}.NaN.xorsign.abs.{ty}"), k, &[k, k])
                    .on(86);
            }
        }
    }
}

fn approximations(list: &mut List) {
    let k = Kind::F32;
    for ftz in ["", ".ftz"] {
        for op in ["ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt"] {
            list.one(&format!("{op}.approx{ftz}.f32"), k, &[k]);
        }
        list.one(&format!("div.approx{ftz}.f32"), k, &[k, k]);
        list.one(&format!("div.full{ftz}.f32"), k, &[k, k]);
    }
    list.one("tanh.approx.f32", k, &[k]).on(75);
    list.one("rcp.approx.ftz.f64", Kind::F64, &[Kind::F64]);
    list.one("rsqrt.approx.f64", Kind::F64, &[Kind::F64]);
    list.one("rsqrt.approx.ftz.f64", Kind::F64, &[Kind::F64]);
    for (ty, target) in [("f16", 75), ("f16x2", 75), ("bf16", 90), ("bf16x2", 90)] {
        let k = kind(ty);
        list.one(&format!("tanh.approx.{ty}"), k, &[k]).on(target);
        let ftz = if ty.starts_with('b') { ".ftz" } else { "" };
        list.one(&format!("ex2.approx{ftz}.{ty}"), k, &[k])
            .on(target);
    }
}
