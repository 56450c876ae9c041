//! `suld`: every element, vector and geometry, inside and outside.

use super::{
    GEOMETRIES, Geometry, MODES, PICTURE, SOME, VECTORS, braces, element_bytes, kind, new,
    texel_bytes, texel_of, width,
};
use crate::catalogue::List;
use crate::kind::Kind;

const SIZES: [[usize; 3]; 3] = [[14, 1, 1], [8, 5, 1], [6, 3, 4]];

/// How an access is written.
#[derive(Clone, Copy)]
struct Way {
    cache: &'static str,
    mode: &'static str,
    /// Coordinates are any numbers of 32 bits.
    far: bool,
    /// Bytes of the surface's texels, if they are not those of the access.
    texel: Option<usize>,
}

fn one(list: &mut List, geometry: &Geometry, (ty, count): (&str, usize), way: Way) {
    let bytes = element_bytes(ty) * count;
    let texel = texel_of(way.texel.unwrap_or(bytes));
    let size = SIZES[geometry.axes - 1];
    let op = format!(
        "suld.b.{}{}{}.{ty}.{}",
        geometry.name,
        way.cache,
        width(count),
        way.mode
    );
    let far = if way.far { ", far" } else { "" };
    let name = format!("{op}({}{far})", texel.0);
    let mut body = String::from("ld.param.u64 %at, [surface];\n\t");
    // In accesses along a line, also where a texel has more bytes or fewer.
    let along = size[0] * texel_bytes(&texel) / bytes;
    if way.mode == "trap" {
        for (i, n) in [along, size[1], size[2]]
            .iter()
            .enumerate()
            .take(geometry.axes)
        {
            body += &format!("rem.u32 %s{i}, %s{i}, {n};\n\t");
        }
    }
    body += &match way.far {
        true => format!("and.b32 %x, %s0, {};\n\t", -(bytes as i64)),
        false => format!("mul.lo.u32 %x, %s0, {bytes};\n\t"),
    };
    let to: Vec<String> = (0..count).map(|i| format!("%d{i}")).collect();
    let at = geometry.at(["%x", "%s1", "%s2"]);
    body += &format!("{op} {}, [%at, {at}];", braces(&to));
    let source = if way.far { Kind::I32 } else { Kind::Texel };
    let results = vec![kind(ty); count];
    let form = list.body(&name, body, &results, &vec![source; geometry.axes]);
    new(form, geometry.surface(&texel, size, None));
}

pub(super) fn add(list: &mut List) {
    let way = Way {
        cache: "",
        mode: "trap",
        far: false,
        texel: None,
    };
    for geometry in &GEOMETRIES {
        let all = geometry.name == PICTURE.name;
        for mode in MODES {
            for access in if all { &VECTORS[..] } else { &SOME } {
                one(list, geometry, *access, Way { mode, ..way });
            }
        }
        for mode in ["clamp", "zero"] {
            let far = Way {
                mode,
                far: true,
                ..way
            };
            one(list, geometry, ("b32", 1), far);
        }
    }
    for cache in [".ca", ".cg", ".cs", ".cv"] {
        one(list, &PICTURE, ("b32", 2), Way { cache, ..way });
    }
    for mode in MODES {
        // A part of a texel, and several at once.
        for (access, texel) in [
            (("b8", 1), 16),
            (("b32", 1), 16),
            (("b16", 2), 8),
            (("b32", 1), 1),
            (("b32", 2), 2),
        ] {
            let other = Way {
                mode,
                texel: Some(texel),
                ..way
            };
            one(list, &PICTURE, access, other);
        }
    }
}
