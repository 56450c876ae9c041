//! Video instructions, and what newer targets have: packed single precision, extremes of three.

use super::List;
use crate::kind::Kind;

fn new(list: &mut List, name: &str, body: String, sources: &[Kind], target: u32) {
    let result = sources[0];
    let form = list.body(name, body, &[result], sources);
    form.on(target);
    form.brief = true;
}

/// One form with parts of operands: the name tells them apart.
fn parts(list: &mut List, name: &str, operands: &str, third: bool) {
    let sources = if third { 3 } else { 2 };
    let body = format!("{name} {operands};");
    new(
        list,
        &format!("{name}({operands})"),
        body,
        &[Kind::I32; 3][..sources],
        35,
    );
}

pub(super) fn add(list: &mut List) {
    for op in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"] {
        for types in ["s32.s32.s32", "u32.u32.u32", "s32.u32.s32", "u32.s32.s32"] {
            for sat in ["", ".sat"] {
                let name = format!("{op}.{types}{sat}");
                parts(list, &name, "%d0, %s0, %s1", false);
                parts(list, &name, "%d0, %s0.b1, %s1.h1", false);
                parts(list, &name, "%d0.b2, %s0.h0, %s1.b3, %s2", true);
                parts(list, &name, "%d0.h1, %s0, %s1, %s2", true);
            }
            for second in ["add", "min", "max"] {
                let name = format!("{op}.{types}.sat.{second}");
                parts(list, &name, "%d0, %s0.h1, %s1.b0, %s2", true);
            }
        }
    }
    for op in ["vshl", "vshr"] {
        for types in ["s32.s32.u32", "u32.u32.u32"] {
            for mode in ["clamp", "wrap"] {
                for sat in ["", ".sat"] {
                    let name = format!("{op}.{types}{sat}.{mode}");
                    parts(list, &name, "%d0, %s0, %s1.b0", false);
                    parts(list, &name, "%d0, %s0.h1, %s1", false);
                }
            }
        }
    }
    for types in ["s32.s32.s32", "u32.u32.u32", "s32.s32.u32"] {
        for scale in ["", ".shr7", ".shr15"] {
            for sat in ["", ".sat"] {
                let name = format!("vmad.{types}{sat}{scale}");
                parts(list, &name, "%d0, %s0.h0, %s1.b1, %s2", true);
                parts(list, &name, "%d0, %s0, %s1, %s2", true);
            }
        }
    }
    parts(list, "vmad.s32.s32.s32", "%d0, -%s0, %s1, %s2", true);
    parts(list, "vmad.s32.s32.s32.sat", "%d0, %s0, %s1, -%s2", true);
    parts(list, "vmad.s32.s32.s32.po", "%d0, %s0, %s1, %s2", true);
    for cmp in ["eq", "ne", "lt", "le", "gt", "ge"] {
        for types in ["s32.s32", "u32.u32"] {
            let name = format!("vset.{types}.{cmp}");
            parts(list, &name, "%d0, %s0.b0, %s1.b1", false);
            parts(list, &format!("{name}.add"), "%d0, %s0, %s1, %s2", true);
            for n in [2, 4] {
                let name = format!("vset{n}.{types}.{cmp}");
                parts(list, &name, "%d0, %s0, %s1, %s2", true);
                parts(list, &format!("{name}.add"), "%d0, %s0, %s1, %s2", true);
            }
        }
    }
    for op in ["vadd", "vsub", "vabsdiff", "vavrg", "vmin", "vmax"] {
        for n in [2, 4] {
            for types in ["s32.s32.s32", "u32.u32.u32", "s32.u32.s32"] {
                for end in ["", ".sat", ".add"] {
                    let name = format!("{op}{n}.{types}{end}");
                    parts(list, &name, "%d0, %s0, %s1, %s2", true);
                }
            }
        }
    }
    newer(list);
    placed(list);
}

/// Which bits of what was computed go into a part of the destination, from words and from parts.
fn placed(list: &mut List) {
    let from = list.forms.len();
    for op in ["vadd", "vmin"] {
        for types in ["s32.s32.s32", "u32.u32.u32"] {
            for sat in ["", ".sat"] {
                let name = format!("{op}.{types}{sat}");
                parts(list, &name, "%d0.h1, %s0.h0, %s1.b3, %s2", true);
                for part in ["h0", "b0", "b1", "b2", "b3"] {
                    let operands = format!("%d0.{part}, %s0, %s1, %s2");
                    parts(list, &name, &operands, true);
                }
            }
        }
    }
    for form in &mut list.forms[from..] {
        form.awaited = true;
    }
}

fn newer(list: &mut List) {
    let k = Kind::I64;
    for ftz in ["", ".ftz"] {
        for round in ["rn", "rz", "rm", "rp"] {
            for op in ["add", "sub", "mul"] {
                let name = format!("{op}.{round}{ftz}.f32x2");
                new(list, &name, format!("{name} %d0, %s0, %s1;"), &[k; 2], 100);
            }
            let name = format!("fma.{round}{ftz}.f32x2");
            new(
                list,
                &name,
                format!("{name} %d0, %s0, %s1, %s2;"),
                &[k; 3],
                100,
            );
        }
        for op in ["min", "max"] {
            for nan in ["", ".NaN"] {
                let name = format!("{op}{ftz}{nan}.f32");
                let body = format!("{name} %d0, %s0, %s1, %s2;");
                new(list, &format!("{name}(three)"), body, &[Kind::F32; 3], 100);
            }
        }
    }
}
