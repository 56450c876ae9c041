//! Texture fetches: dimensions, texels, filtering, addressing, coordinates.

use warpsim_sim::gpu::api::{TexelKind, Texture};

use super::List;
use crate::form::TextureForm;
use crate::kind::Kind;
use crate::random::Random;

/// What texels are: a name, kind, bits, channels, and whether they are read as fractions.
type Texel = (&'static str, TexelKind, u8, u8, bool);

const TEXELS: [Texel; 10] = [
    ("f32x1", TexelKind::Float, 32, 1, false),
    ("f32x4", TexelKind::Float, 32, 4, false),
    ("unorm8x4", TexelKind::Unsigned, 8, 4, true),
    ("snorm16x2", TexelKind::Signed, 16, 2, true),
    ("u8x4", TexelKind::Unsigned, 8, 4, false),
    ("s32x1", TexelKind::Signed, 32, 1, false),
    ("f16x4", TexelKind::Float, 16, 4, false),
    ("f32x2", TexelKind::Float, 32, 2, false),
    ("unorm16x2", TexelKind::Unsigned, 16, 2, true),
    ("snorm8x4", TexelKind::Signed, 8, 4, true),
];

const SIZES: [[u32; 3]; 3] = [[13, 1, 1], [7, 5, 1], [5, 3, 4]];
/// Shows every bit of a coordinate.
const WIDE: [u32; 3] = [2048, 1, 1];

/// How a texture is sampled: wrap, coordinates from 0 to 1, filtering, whole coordinates.
#[derive(Clone, Copy)]
struct Way {
    wrap: bool,
    normalized: bool,
    linear: bool,
    whole: bool,
    memory: bool,
    wide: bool,
}

fn contents(texel: &Texel, count: u32) -> Vec<u8> {
    let (name, kind, ..) = texel;
    let mut random = Random::new(&format!("texels {name}"));
    let words = (count * u32::from(texel.2) * u32::from(texel.3)).div_ceil(32);
    (0..words)
        .flat_map(|_| match kind {
            // From 1/128 to 512, all bits of the mantissa in use: sums must be rounded.
            TexelKind::Float if *name == "f32x2" => {
                let bits = random.next() as u32;
                (bits & 0x807f_ffff | (120 + (bits >> 23 & 15)) << 23).to_le_bytes()
            }
            // Below 2.
            TexelKind::Float if texel.2 == 16 => (random.next() as u32 & 0xbbff_bbff).to_le_bytes(),
            // Weighed sums of these are exact.
            TexelKind::Float => (random.below(1 << 16) as f32 / 64.0 - 512.0).to_le_bytes(),
            _ => (random.next() as u32).to_le_bytes(),
        })
        .collect()
}

fn one(list: &mut List, dimensions: usize, texel: &Texel, way: Way) {
    let (texels, kind, bits, channels, fractions) = *texel;
    let size = if way.wide {
        WIDE
    } else {
        SIZES[dimensions - 1]
    };
    let floats = kind == TexelKind::Float || fractions;
    let result = match kind {
        _ if floats => "f32",
        TexelKind::Signed => "s32",
        _ => "u32",
    };
    let coordinate = if way.whole { "s32" } else { "f32" };
    let source = match (way.whole, way.normalized) {
        (true, _) => Kind::Texel,
        (_, true) => Kind::Fraction,
        _ => Kind::Coordinate,
    };
    let op = format!("tex.{dimensions}d.v4.{result}.{coordinate}");
    let name = format!(
        "{op}({texels}, {}{}{}{}{})",
        if way.linear { "linear" } else { "nearest" },
        if way.wrap { ", wrap" } else { ", clamp" },
        if way.normalized { ", normalized" } else { "" },
        if way.memory { ", plain memory" } else { "" },
        if way.wide { ", wide" } else { "" },
    );
    // Vectors of three coordinates are written as four.
    let at = ["{%s0}", "{%s0, %s1}", "{%s0, %s1, %s2, %s2}"][dimensions - 1];
    let body = format!("ld.param.u64 %at, [texture];\n\t{op} {{%d0, %d1, %d2, %d3}}, [%at, {at}];");
    let component = if floats { Kind::F32 } else { Kind::I32 };
    let form = list.body(&name, body, &[component; 4], &vec![source; dimensions]);
    // How the sums of two slices are added where bits are lost is not quite known.
    form.approximate = way.linear && dimensions == 3 && texels == "f32x2";
    form.texture = Some(TextureForm {
        texture: Texture {
            address: 0,
            size,
            dimensions: dimensions as u8,
            channels,
            bits,
            kind,
            linear_memory: way.memory,
            filter_linear: way.linear,
            wrap: way.wrap,
            normalized: way.normalized,
            read_normalized: fractions,
        },
        contents: contents(texel, size.iter().product()),
    });
}

/// The same texture by the other instructions that read it.
fn otherwise(list: &mut List) {
    let plain: Vec<_> = list
        .forms
        .iter()
        .filter(|f| f.name.starts_with("tex.2d.v4.f32.f32(f32x"))
        .cloned()
        .collect();
    for form in plain {
        let other = |op: &str, behind: &str| {
            let mut other = form.clone();
            other.name = form.name.replacen("tex.", op, 1);
            other.body = form
                .body
                .replacen("tex.", op, 1)
                .replace("];", &format!("]{behind};"));
            // The handle is loaded by an instruction of its own, which has brackets, too.
            other.body = other
                .body
                .replacen(&format!("[texture]{behind};"), "[texture];", 1);
            other.brief = true;
            other
        };
        let mut all = vec![
            other("tex.level.", ", 0f40000000"),
            other("tex.grad.", ", {%s0, %s1}, {%s1, %s0}"),
        ];
        if form.name.contains("linear") {
            all.push(other("tld4.r.", ""));
            all.push(other("tld4.g.", ""));
        }
        list.forms.extend(all);
    }
}

/// What textures say of themselves; the driver refuses to load a kernel that asks for anything else.
fn queries(list: &mut List) {
    let asked = [
        "tex.1d.v4.f32.f32(f32x1",
        "tex.2d.v4.u32.f32(u8x4",
        "tex.3d.v4.f32.f32(snorm16x2",
    ];
    let of = |name: &str, wanted: &&str| name.starts_with(*wanted) && !name.contains("linear");
    let textures: Vec<_> = (list.forms.iter())
        .filter(|f| asked.iter().any(|wanted| of(&f.name, wanted)) && !f.name.contains("wide"))
        .cloned()
        .collect();
    for form in textures {
        for query in ["width", "height", "depth"] {
            let op = format!("txq.{query}.b32");
            let name = form.name.split_once('.').map_or("", |(_, name)| name);
            let body = format!("ld.param.u64 %at, [texture];\n\t{op} %d0, [%at];");
            let query = list.body(&format!("{op}({name})"), body, &[Kind::I32], &[Kind::Pred]);
            query.texture = form.texture.clone();
            query.brief = true;
        }
    }
}

pub(super) fn add(list: &mut List) {
    every_tex(list);
    otherwise(list);
    queries(list);
}

fn every_tex(list: &mut List) {
    let plain = Way {
        wrap: false,
        normalized: false,
        linear: false,
        whole: false,
        memory: false,
        wide: false,
    };
    for dimensions in 1..=3 {
        for texel in &TEXELS {
            let floats = texel.1 == TexelKind::Float || texel.4;
            for linear in [false, true] {
                if linear && !floats {
                    continue;
                }
                for (wrap, normalized) in [(false, false), (false, true), (true, true)] {
                    let way = Way {
                        wrap,
                        normalized,
                        linear,
                        ..plain
                    };
                    one(list, dimensions, texel, way);
                }
            }
            let whole = Way {
                whole: true,
                ..plain
            };
            one(list, dimensions, texel, whole);
        }
    }
    for (linear, wrap) in [(false, false), (false, true), (true, false), (true, true)] {
        let wide = Way {
            linear,
            wrap,
            normalized: true,
            wide: true,
            ..plain
        };
        one(list, 1, &TEXELS[0], wide);
    }
    for texel in TEXELS.iter().filter(|t| !t.4) {
        let memory = Way {
            whole: true,
            memory: true,
            ..plain
        };
        one(list, 1, texel, memory);
    }
}
