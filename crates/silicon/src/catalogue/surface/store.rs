//! `sust.b`: every element, vector and geometry, inside and outside.

use super::place::{Layout, outside, places};
use super::{
    GEOMETRIES, Geometry, MODES, PICTURE, SOME, VECTORS, braces, element_bytes, kind, new,
    texel_of, width,
};
use crate::catalogue::List;
use crate::kind::Kind;
use crate::operands::operands;

fn one(
    list: &mut List,
    geometry: &Geometry,
    (ty, count): (&str, usize),
    cache: &str,
    mode: &str,
    layout: Layout,
) {
    let bytes = element_bytes(ty) * count;
    let texel = texel_of(bytes);
    let op = format!(
        "sust.b.{}{cache}{}.{ty}.{mode}",
        geometry.name,
        width(count)
    );
    let name = format!("{op}({}{})", texel.0, layout.name());
    // Two values of a vector are its operands; others are made of them.
    let given = count.min(2);
    let mut sources = vec![kind(ty); given];
    if layout.has_coordinate() {
        sources.push(Kind::Texel);
    }
    let vectors = operands(&sources).vectors.len();
    let coordinate = format!("%s{given}");
    let places = places(
        geometry,
        layout,
        vectors,
        bytes,
        &coordinate,
        mode == "trap",
    );
    let bits = kind(ty).bytes() * 8;
    let values: Vec<String> = (0..count)
        .map(|i| match i < 2 {
            true => format!("%s{i}"),
            false => format!("%w{i}"),
        })
        .collect();
    let made = match count {
        4 => format!("not.b{bits} %w2, %s0;\n\tnot.b{bits} %w3, %s1;\n\t"),
        _ => String::new(),
    };
    let body = format!(
        "ld.param.u64 %at, [surface];\n\t{}\n\t{made}mul.lo.u32 %x, %x, {bytes};\n\t{op} [%at, {}], {};",
        places.setup,
        geometry.at(["%x", "%y", "%z"]),
        braces(&values)
    );
    let form = list.body(&name, body, &[], &sources);
    new(
        form,
        geometry.surface(&texel, places.size, Some(places.cells)),
    );
    form.locals += &format!("\t.reg .b{bits} %w2, %w3;\n");
}

pub(super) fn add(list: &mut List) {
    for geometry in &GEOMETRIES {
        let all = geometry.name == PICTURE.name;
        let accesses = if all { &VECTORS[..] } else { &SOME };
        for access in accesses {
            one(list, geometry, *access, "", "trap", Layout::Texel);
        }
        for layout in outside(geometry) {
            for mode in &MODES[1..] {
                let along_lines = layout == Layout::Along(0);
                for access in if along_lines { accesses } else { &SOME[1..3] } {
                    one(list, geometry, *access, "", mode, layout);
                }
            }
        }
    }
    for cache in [".wb", ".cg", ".cs", ".wt"] {
        one(list, &PICTURE, ("b32", 2), cache, "trap", Layout::Texel);
    }
}
