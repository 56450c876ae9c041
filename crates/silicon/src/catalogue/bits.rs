//! Logic, shifts, bit fields, moves and selections.

use super::{INTEGERS, List, WORDS, kind};
use crate::kind::Kind;

pub(super) fn add(list: &mut List) {
    for ty in ["b16", "b32", "b64", "pred"] {
        let k = kind(ty);
        for op in ["and", "or", "xor"] {
            list.one(&format!("{op}.{ty}"), k, &[k, k]);
        }
        list.one(&format!("not.{ty}"), k, &[k]);
        if k != Kind::Pred {
            list.one(&format!("cnot.{ty}"), k, &[k]);
            list.one(&format!("shl.{ty}"), k, &[k, Kind::Amount]);
            list.one(&format!("shr.{ty}"), k, &[k, Kind::Amount]);
        }
    }
    for ty in INTEGERS {
        list.one(&format!("shr.{ty}"), kind(ty), &[kind(ty), Kind::Amount]);
    }
    let (w, n) = (Kind::I32, Kind::Amount);
    for mode in ["l.clamp", "l.wrap", "r.clamp", "r.wrap"] {
        list.one(&format!("shf.{mode}.b32"), w, &[w, w, n]);
    }
    for ty in WORDS {
        let k = kind(ty);
        list.one(&format!("bfe.{ty}"), k, &[k, n, n]);
        list.one(&format!("bfind.{ty}"), w, &[k]);
        list.one(&format!("bfind.shiftamt.{ty}"), w, &[k]);
    }
    for ty in ["b32", "b64"] {
        let k = kind(ty);
        list.one(&format!("bfi.{ty}"), k, &[k, k, n, n]);
        list.one(&format!("brev.{ty}"), k, &[k]);
        list.one(&format!("clz.{ty}"), w, &[k]);
        list.one(&format!("popc.{ty}"), w, &[k]);
    }
    for mode in ["clamp", "wrap"] {
        list.one(&format!("bmsk.{mode}.b32"), w, &[n, n]).on(70);
        for ty in ["u32", "s32"] {
            list.one(&format!("szext.{mode}.{ty}"), w, &[w, n]).on(70);
        }
    }
    list.one("fns.b32", w, &[w, n, n]);
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        list.one(&format!("prmt.b32{mode}"), w, &[w, w, Kind::Selector]);
    }
    for table in [0x00u8, 0x17, 0x80, 0x96, 0xca, 0xe8, 0xfe, 0xff] {
        list.body(
            &format!("lop3.b32({table:#04x})"),
            format!("lop3.b32 %d0, %s0, %s1, %s2, {table:#x};"),
            &[w],
            &[w, w, w],
        )
        .on(50);
    }
    for op in ["and", "or"] {
        list.body(
            &format!("lop3.{op}.b32"),
            format!("lop3.{op}.b32 %d0|%d1, %s0, %s1, %s2, 0x96, %s3;"),
            &[w, Kind::Pred],
            &[w, w, w, Kind::Pred],
        )
        .on(70);
    }
    for ty in [
        "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64",
    ] {
        let k = kind(ty);
        list.one(&format!("mov.{ty}"), k, &[k]);
        list.one(&format!("selp.{ty}"), k, &[k, k, Kind::Pred]);
        for test in ["s32", "f32"] {
            list.one(&format!("slct.{ty}.{test}"), k, &[k, k, kind(test)]);
        }
        list.one(&format!("slct.ftz.{ty}.f32"), k, &[k, k, Kind::F32]);
    }
    list.one("mov.pred", Kind::Pred, &[Kind::Pred]);
    let (h, l) = (Kind::I16, Kind::I64);
    for (ty, whole, part, parts) in [("b32", w, h, 2), ("b64", l, w, 2), ("b64", l, h, 4)] {
        let vector = |role: &str| {
            let names: Vec<String> = (0..parts).map(|i| format!("%{role}{i}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let all = vec![part; parts];
        list.body(
            &format!("mov.{ty}(pack {parts})"),
            format!("mov.{ty} %d0, {};", vector("s")),
            &[whole],
            &all,
        );
        list.body(
            &format!("mov.{ty}(unpack {parts})"),
            format!("mov.{ty} {}, %s0;", vector("d")),
            &all,
            &[whole],
        );
    }
}
