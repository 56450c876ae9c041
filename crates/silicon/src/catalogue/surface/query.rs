//! `suq`: what a surface says of itself.

use super::{GEOMETRIES, new, texel_of};
use crate::catalogue::List;
use crate::kind::Kind;

/// What drivers of today answer; there are more in the manual.
const QUERIES: [&str; 3] = ["width", "height", "depth"];

pub(super) fn add(list: &mut List) {
    for geometry in &GEOMETRIES {
        for query in QUERIES {
            let op = format!("suq.{query}.b32");
            let texel = texel_of(1 << geometry.axes);
            let name = format!("{op}({}, {})", geometry.name, texel.0);
            let body = format!("ld.param.u64 %at, [surface];\n\t{op} %d0, [%at];");
            let form = list.body(&name, body, &[Kind::I32], &[Kind::I32]);
            let mut size = [13, 7, 5];
            size[geometry.axes..].fill(1);
            new(form, geometry.surface(&texel, size, None));
        }
    }
}
