//! `sust.p`: values become components of every format that surfaces have.

use warpsim_sim::gpu::api::TexelKind;

use super::place::{Layout, outside, places};
use super::{GEOMETRIES, Geometry, MODES, PICTURE, Texel, braces, new, texel_bytes, width};
use crate::catalogue::List;
use crate::kind::Kind;
use crate::operands::operands;

const FORMATS: [Texel; 36] = {
    use TexelKind::{Float, Signed, Unsigned};
    [
        ("u8x1", Unsigned, 8, 1, false),
        ("u8x2", Unsigned, 8, 2, false),
        ("u8x4", Unsigned, 8, 4, false),
        ("s8x1", Signed, 8, 1, false),
        ("s8x2", Signed, 8, 2, false),
        ("s8x4", Signed, 8, 4, false),
        ("u16x1", Unsigned, 16, 1, false),
        ("u16x2", Unsigned, 16, 2, false),
        ("u16x4", Unsigned, 16, 4, false),
        ("s16x1", Signed, 16, 1, false),
        ("s16x2", Signed, 16, 2, false),
        ("s16x4", Signed, 16, 4, false),
        ("u32x1", Unsigned, 32, 1, false),
        ("u32x2", Unsigned, 32, 2, false),
        ("u32x4", Unsigned, 32, 4, false),
        ("s32x1", Signed, 32, 1, false),
        ("s32x2", Signed, 32, 2, false),
        ("s32x4", Signed, 32, 4, false),
        ("f16x1", Float, 16, 1, false),
        ("f16x2", Float, 16, 2, false),
        ("f16x4", Float, 16, 4, false),
        ("f32x1", Float, 32, 1, false),
        ("f32x2", Float, 32, 2, false),
        ("f32x4", Float, 32, 4, false),
        ("unorm8x1", Unsigned, 8, 1, true),
        ("unorm8x2", Unsigned, 8, 2, true),
        ("unorm8x4", Unsigned, 8, 4, true),
        ("snorm8x1", Signed, 8, 1, true),
        ("snorm8x2", Signed, 8, 2, true),
        ("snorm8x4", Signed, 8, 4, true),
        ("unorm16x1", Unsigned, 16, 1, true),
        ("unorm16x2", Unsigned, 16, 2, true),
        ("unorm16x4", Unsigned, 16, 4, true),
        ("snorm16x1", Signed, 16, 1, true),
        ("snorm16x2", Signed, 16, 2, true),
        ("snorm16x4", Signed, 16, 4, true),
    ]
};

fn one(
    list: &mut List,
    geometry: &Geometry,
    texel: &Texel,
    count: usize,
    mode: &str,
    layout: Layout,
) {
    let op = format!("sust.p.{}{}.b32.{mode}", geometry.name, width(count));
    let name = format!("{op}({}{})", texel.0, layout.name());
    let floats = texel.1 == TexelKind::Float || texel.4;
    let value = if floats { Kind::F32 } else { Kind::I32 };
    let mut sources = vec![value; count];
    if layout.has_coordinate() {
        sources.push(Kind::Texel);
    }
    let vectors = operands(&sources).vectors.len();
    let coordinate = format!("%s{count}");
    let bytes = texel_bytes(texel);
    let places = places(
        geometry,
        layout,
        vectors,
        bytes,
        &coordinate,
        mode == "trap",
    );
    let values: Vec<String> = (0..count).map(|i| format!("%s{i}")).collect();
    let body = format!(
        "ld.param.u64 %at, [surface];\n\t{}\n\t{op} [%at, {}], {};",
        places.setup,
        geometry.at(["%x", "%y", "%z"]),
        braces(&values)
    );
    let form = list.body(&name, body, &[], &sources);
    new(
        form,
        geometry.surface(texel, places.size, Some(places.cells)),
    );
}

pub(super) fn add(list: &mut List) {
    for texel in &FORMATS {
        for count in [1, 2, 4] {
            one(list, &PICTURE, texel, count, "trap", Layout::Texel);
        }
    }
    let named = |name: &str| FORMATS.iter().find(|f| f.0 == name);
    let some = ["u8x1", "s16x2", "f32x4"].into_iter().filter_map(named);
    for geometry in &GEOMETRIES {
        for (texel, count) in some.clone().zip([1, 2, 1]) {
            if geometry.name != PICTURE.name {
                one(list, geometry, texel, count, "trap", Layout::Texel);
            }
            for layout in outside(geometry) {
                for mode in &MODES[1..] {
                    one(list, geometry, texel, count, mode, layout);
                }
            }
        }
    }
}
