//! `sured`: every operation and type.

use warpsim_sim::gpu::api::TexelKind;

use super::place::{Layout, outside, places};
use super::{GEOMETRIES, Geometry, MODES, PICTURE, Texel, element_bytes, new, texel_bytes};
use crate::catalogue::List;
use crate::form::{Cells, Form};
use crate::kind::Kind;
use crate::operands::operands;

const OPERATIONS: [(&str, &str); 13] = [
    ("add", "u32"),
    ("add", "s32"),
    ("add", "u64"),
    ("min", "u32"),
    ("min", "s32"),
    ("min", "u64"),
    ("min", "s64"),
    ("max", "u32"),
    ("max", "s32"),
    ("max", "u64"),
    ("max", "s64"),
    ("and", "b32"),
    ("or", "b32"),
];

const U32: Texel = ("u32x1", TexelKind::Unsigned, 32, 1, false);
const S32: Texel = ("s32x1", TexelKind::Signed, 32, 1, false);
const PAIR: Texel = ("u32x2", TexelKind::Unsigned, 32, 2, false);
const SIGNED_PAIR: Texel = ("s32x2", TexelKind::Signed, 32, 2, false);
const F32: Texel = ("f32x1", TexelKind::Float, 32, 1, false);
const BYTES: Texel = ("u8x4", TexelKind::Unsigned, 8, 4, false);

/// What is reduced: `b` or `p`, an operation, its type.
type What = (&'static str, &'static str, &'static str);

fn kind(ty: &str) -> Kind {
    if element_bytes(ty) == 8 {
        Kind::I64
    } else {
        Kind::I32
    }
}

fn operation((format, op, ty): What, geometry: &Geometry, mode: &str) -> String {
    format!("sured.{format}.{op}.{}.{ty}.{mode}", geometry.name)
}

/// Vectors on texels of their own. The first operand is in the texel before where its place is
/// certain.
fn apart(
    list: &mut List,
    geometry: &Geometry,
    what: What,
    texel: &Texel,
    mode: &str,
    layout: Layout,
) {
    let op = operation(what, geometry, mode);
    let name = format!("{op}({}{})", texel.0, layout.name());
    let k = kind(what.2);
    let sources = match layout.has_coordinate() {
        true => [k, Kind::Texel],
        false => [k, k],
    };
    let (value, coordinate) = match layout.has_coordinate() {
        true => ("%s0", "%s1"),
        false => ("%s1", "%s0"),
    };
    let operands = operands(&sources);
    let bytes = texel_bytes(texel);
    let vectors = operands.vectors.len();
    let places = places(geometry, layout, vectors, bytes, coordinate, mode == "trap");
    let scale = match what.0 {
        "p" => String::new(),
        _ => format!("mul.lo.u32 %x, %x, {bytes};\n\t"),
    };
    let body = format!(
        "ld.param.u64 %at, [surface];\n\t{}\n\t{scale}{op} [%at, {}], {value};",
        places.setup,
        geometry.at(["%x", "%y", "%z"]),
    );
    let form = list.body(&name, body, &[], &sources);
    let mut surface = geometry.surface(texel, places.size, Some(places.cells));
    if !layout.has_coordinate() {
        for (place, v) in (surface.contents.chunks_exact_mut(bytes)).zip(&operands.vectors) {
            place.copy_from_slice(&v[0].to_le_bytes()[..bytes]);
        }
    }
    new(form, surface);
    wide(form, what);
}

/// Extremes of 64 bits are of a later version of PTX.
fn wide(form: &mut Form, (_, op, ty): What) {
    if element_bytes(ty) == 8 && op != "add" {
        form.on(70);
    }
}

/// All vectors on one texel.
fn together(list: &mut List, what: What, texel: &Texel) {
    let op = operation(what, &PICTURE, "trap");
    let name = format!("{op}({}, contended)", texel.0);
    let body = format!(
        "ld.param.u64 %at, [surface];\n\tmov.b32 %x, 0;\n\tmov.b32 %y, 0;\n\t{op} [%at, {{%x, %y}}], %s0;"
    );
    let form = list.body(&name, body, &[], &[kind(what.2)]);
    let cells = Cells {
        step: 0,
        pieces: 1,
        stride: 0,
        bytes: texel_bytes(texel),
    };
    new(form, PICTURE.surface(texel, [2, 2, 1], Some(cells)));
    wide(form, what);
}

pub(super) fn add(list: &mut List) {
    let solid = || GEOMETRIES.iter().filter(|g| !g.layered);
    for (op, ty) in OPERATIONS {
        let what = ("b", op, ty);
        let texel = match (element_bytes(ty), ty.starts_with('s')) {
            (8, true) => SIGNED_PAIR,
            (8, false) => PAIR,
            (_, true) => S32,
            (_, false) => U32,
        };
        for geometry in solid() {
            apart(list, geometry, what, &texel, "trap", Layout::Texel);
        }
        together(list, what, &texel);
    }
    for op in ["add", "min", "max", "and", "or"] {
        for texel in [U32, S32] {
            let what = ("p", op, "b32");
            for geometry in solid() {
                apart(list, geometry, what, &texel, "trap", Layout::Texel);
            }
            together(list, what, &texel);
        }
        // Of 64 bits there are extremes alone.
        let pairs = [PAIR, SIGNED_PAIR];
        for texel in pairs.iter().filter(|_| matches!(op, "min" | "max")) {
            let what = ("p", op, "b64");
            apart(list, &PICTURE, what, texel, "trap", Layout::Texel);
        }
    }
    for geometry in solid() {
        for layout in outside(geometry) {
            for mode in &MODES[1..] {
                apart(list, geometry, ("b", "add", "u32"), &U32, mode, layout);
                apart(
                    list,
                    geometry,
                    ("b", "max", "s64"),
                    &SIGNED_PAIR,
                    mode,
                    layout,
                );
                apart(list, geometry, ("p", "min", "b32"), &S32, mode, layout);
            }
        }
    }
    // The format does not matter to bits.
    for texel in [F32, BYTES] {
        for (op, ty) in [("add", "u32"), ("min", "s32")] {
            let what = ("b", op, ty);
            apart(list, &PICTURE, what, &texel, "trap", Layout::Texel);
        }
    }
    for texel in [F32, BYTES] {
        apart(
            list,
            &PICTURE,
            ("p", "min", "b32"),
            &texel,
            "trap",
            Layout::Texel,
        );
    }
}
