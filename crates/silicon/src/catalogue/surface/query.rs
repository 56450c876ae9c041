//! `suq`: what a surface says of itself.

use super::formatted::FORMATS;
use super::{GEOMETRIES, Geometry, PICTURE, Texel, new, texel_of};
use crate::catalogue::List;
use crate::kind::Kind;

const QUERIES: [&str; 7] = [
    "width",
    "height",
    "depth",
    "array_size",
    "channel_data_type",
    "channel_order",
    "memory_layout",
];

fn one(list: &mut List, geometry: &Geometry, texel: &Texel, query: &str) {
    let op = format!("suq.{query}.b32");
    let name = format!("{op}({}, {})", geometry.name, texel.0);
    let body = format!("ld.param.u64 %at, [surface];\n\t{op} %d0, [%at];");
    let form = list.body(&name, body, &[Kind::I32], &[Kind::Pred]);
    let mut size = [13, 7, 5];
    size[geometry.axes..].fill(1);
    new(form, geometry.surface(texel, size, None));
}

pub(super) fn add(list: &mut List) {
    for geometry in &GEOMETRIES {
        for query in QUERIES {
            let texel = texel_of(1 << geometry.axes);
            one(list, geometry, &texel, query);
        }
    }
    for texel in FORMATS.iter().filter(|f| f.0 != texel_of(4).0) {
        for query in ["channel_data_type", "channel_order"] {
            one(list, &PICTURE, texel, query);
        }
    }
}
