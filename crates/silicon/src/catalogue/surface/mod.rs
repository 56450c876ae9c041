//! Surfaces: what is loaded from them, what is left in them, and what they say of themselves.
//!
//! A kernel's surface reads need not see its surface writes, so what a form stores is read when its
//! kernel is done. Every vector has a part of the surface to itself ([`place`]).

mod formatted;
mod load;
mod place;
mod query;
mod reduce;
mod store;

use warpsim_sim::gpu::api::{TexelKind, Texture};

use super::List;
use crate::form::{Cells, Form, SurfaceForm};
use crate::kind::Kind;
use crate::random::Random;

/// What texels are: a name, kind, bits, channels, and whether they are fractions.
pub(super) type Texel = (&'static str, TexelKind, u8, u8, bool);

/// Texels of so many bytes, for accesses that do not look at the format.
fn texel_of(bytes: usize) -> Texel {
    match bytes {
        1 => ("u8x1", TexelKind::Unsigned, 8, 1, false),
        2 => ("u16x1", TexelKind::Unsigned, 16, 1, false),
        4 => ("f32x1", TexelKind::Float, 32, 1, false),
        8 => ("u32x2", TexelKind::Unsigned, 32, 2, false),
        _ => ("f32x4", TexelKind::Float, 32, 4, false),
    }
}

fn texel_bytes(texel: &Texel) -> usize {
    usize::from(texel.2) * usize::from(texel.3) / 8
}

/// How places in a surface are counted.
#[derive(Clone, Copy)]
struct Geometry {
    name: &'static str,
    /// Coordinates, the layer included.
    axes: usize,
    /// The last of them is a layer. An instruction names it first.
    layered: bool,
}

const GEOMETRIES: [Geometry; 5] = [
    geometry("1d", 1, false),
    geometry("2d", 2, false),
    geometry("3d", 3, false),
    geometry("a1d", 2, true),
    geometry("a2d", 3, true),
];
const PICTURE: Geometry = GEOMETRIES[1];

const fn geometry(name: &'static str, axes: usize, layered: bool) -> Geometry {
    Geometry {
        name,
        axes,
        layered,
    }
}

impl Geometry {
    /// Coordinates as an instruction has them; four where there would be three.
    fn at(&self, [x, y, z]: [&str; 3]) -> String {
        match (self.axes, self.layered) {
            (1, _) => format!("{{{x}}}"),
            (2, false) => format!("{{{x}, {y}}}"),
            (2, true) => format!("{{{y}, {x}}}"),
            (_, false) => format!("{{{x}, {y}, {z}, {z}}}"),
            (_, true) => format!("{{{z}, {x}, {y}, {y}}}"),
        }
    }

    /// A surface of such texels with something in it.
    fn surface(&self, texel: &Texel, size: [usize; 3], cells: Option<Cells>) -> SurfaceForm {
        let (name, kind, bits, channels, fractions) = *texel;
        let bytes = size.iter().product::<usize>() * texel_bytes(texel);
        let mut random = Random::new(&format!("surface {name}"));
        let words = std::iter::repeat_with(|| (random.next() as u32).to_le_bytes());
        SurfaceForm {
            texture: Texture {
                address: 0,
                size: size.map(|n| n as u32),
                dimensions: self.axes as u8,
                channels,
                bits,
                kind,
                linear_memory: false,
                filter_linear: false,
                wrap: false,
                normalized: false,
                read_normalized: fractions,
            },
            layered: self.layered,
            contents: words.flatten().take(bytes).collect(),
            cells,
        }
    }
}

/// What happens outside.
const MODES: [&str; 3] = ["trap", "clamp", "zero"];

/// Elements and how many of them are accessed at once: 16 bytes at most.
const VECTORS: [(&str, usize); 11] = [
    ("b8", 1),
    ("b16", 1),
    ("b32", 1),
    ("b64", 1),
    ("b8", 2),
    ("b16", 2),
    ("b32", 2),
    ("b64", 2),
    ("b8", 4),
    ("b16", 4),
    ("b32", 4),
];
/// One of each size of element, where not all need be tried.
const SOME: [(&str, usize); 4] = [("b8", 1), ("b16", 2), ("b32", 4), ("b64", 1)];

/// The kind of a register that an element comes in: none has eight bits.
fn kind(ty: &str) -> Kind {
    match ty {
        "b8" | "b16" => Kind::I16,
        "b64" => Kind::I64,
        _ => Kind::I32,
    }
}

fn element_bytes(ty: &str) -> usize {
    match ty {
        "b8" => 1,
        "b16" => 2,
        "b64" | "u64" | "s64" => 8,
        _ => 4,
    }
}

/// `.v2`, `.v4` or nothing.
fn width(count: usize) -> String {
    match count {
        1 => String::new(),
        _ => format!(".v{count}"),
    }
}

fn braces(names: &[String]) -> String {
    format!("{{{}}}", names.join(", "))
}

fn new(form: &mut Form, surface: SurfaceForm) {
    form.surface = Some(surface);
    form.brief = true;
    form.locals = "\t.reg .b32 %x, %y, %z;\n\t.reg .pred %p;\n".into();
}

pub(super) fn add(list: &mut List) {
    load::add(list);
    store::add(list);
    formatted::add(list);
    reduce::add(list);
    query::add(list);
}
