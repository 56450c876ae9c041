//! Integer arithmetic.

use super::{INTEGERS, List, WORDS, kind};
use crate::kind::Kind;

pub(super) fn add(list: &mut List) {
    for ty in INTEGERS {
        let k = kind(ty);
        for op in ["add", "sub", "min", "max", "mul.lo", "mul.hi", "div", "rem"] {
            list.one(&format!("{op}.{ty}"), k, &[k, k]);
        }
        for op in ["mad.lo", "mad.hi", "sad"] {
            list.one(&format!("{op}.{ty}"), k, &[k, k, k]);
        }
        if ty.starts_with('s') {
            list.one(&format!("abs.{ty}"), k, &[k]);
            list.one(&format!("neg.{ty}"), k, &[k]);
        }
        let wide = match k {
            Kind::I16 => Kind::I32,
            Kind::I32 => Kind::I64,
            _ => continue,
        };
        list.one(&format!("mul.wide.{ty}"), wide, &[k, k]);
        list.one(&format!("mad.wide.{ty}"), wide, &[k, k, wide]);
    }
    let w = Kind::I32;
    for op in ["add.sat", "sub.sat"] {
        list.one(&format!("{op}.s32"), w, &[w, w]);
    }
    list.one("mad.hi.sat.s32", w, &[w, w, w]);
    for ty in ["u32", "s32"] {
        for half in ["lo", "hi"] {
            list.one(&format!("mul24.{half}.{ty}"), w, &[w, w]);
            list.one(&format!("mad24.{half}.{ty}"), w, &[w, w, w]);
            for second in ["u32", "s32"] {
                list.one(&format!("dp2a.{half}.{ty}.{second}"), w, &[w, w, w])
                    .on(61);
            }
        }
        for second in ["u32", "s32"] {
            list.one(&format!("dp4a.{ty}.{second}"), w, &[w, w, w])
                .on(61);
        }
    }
    list.one("mad24.hi.sat.s32", w, &[w, w, w]);
    for ty in ["u16x2", "s16x2"] {
        let k = Kind::I16x2;
        list.one(&format!("add.{ty}"), k, &[k, k]);
        for op in ["min", "max"] {
            list.one(&format!("{op}.{ty}"), k, &[k, k]);
        }
    }
    for op in ["min", "max"] {
        list.one(&format!("{op}.relu.s16x2"), Kind::I16x2, &[Kind::I16x2; 2]);
        list.one(&format!("{op}.relu.s32"), w, &[w, w]).on(90);
    }
    carries(list);
}

/// Sequences through the carry flag; each ends in one that shows it.
fn carries(list: &mut List) {
    for ty in WORDS {
        let k = kind(ty);
        for (first, then) in [("add", "addc"), ("sub", "subc")] {
            let body = format!(
                "{first}.cc.{ty} %d0, %s0, %s1;\n\t{then}.cc.{ty} %d1, %s2, %s0;\n\t{then}.{ty} %d2, %s1, %s2;"
            );
            list.body(
                &format!("{first}.cc+{then}.cc+{then}.{ty}"),
                body,
                &[k, k, k],
                &[k, k, k],
            );
        }
        for half in ["lo", "hi"] {
            let body = format!(
                "mad.{half}.cc.{ty} %d0, %s0, %s1, %s2;\n\tmadc.{half}.cc.{ty} %d1, %s1, %s2, %s0;\n\tmadc.{half}.{ty} %d2, %s0, %s2, %s1;"
            );
            list.body(
                &format!("mad.{half}.cc+madc.{half}.cc+madc.{half}.{ty}"),
                body,
                &[k, k, k],
                &[k, k, k],
            );
        }
    }
}
