//! Where vectors store: each in a part of the surface of its own.

use super::Geometry;
use crate::form::Cells;

/// Texels along the axis on which vectors say where they store.
const LENGTH: usize = 5;

/// How vectors are laid out in a surface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// The `n`th vector has the `n`th texel.
    Texel,
    /// A vector has the texels along this axis, and a coordinate for them that may lie outside.
    Along(usize),
    /// As `Texel`, but the first vector and the last store outside. (Along the one axis of a line,
    /// more would meet in its ends.)
    Ends,
}

/// A layout of so many vectors.
pub(super) struct Places {
    pub(super) size: [usize; 3],
    pub(super) cells: Cells,
    /// Sets `%x`, `%y` and `%z`, in texels.
    pub(super) setup: String,
}

/// Lays vectors out. `coordinate` has the register with the coordinate along an axis, which is
/// wrapped into the surface where nothing may lie outside.
pub(super) fn places(
    geometry: &Geometry,
    layout: Layout,
    count: usize,
    texel: usize,
    coordinate: &str,
    inside: bool,
) -> Places {
    let wrap = match inside {
        true => format!("rem.u32 {coordinate}, {coordinate}, {LENGTH};\n\t"),
        false => String::new(),
    };
    let whole = "mov.b32 %x, %n;\n\tmov.b32 %y, 0;\n\tmov.b32 %z, 0;";
    let (size, setup) = match (layout, geometry.axes) {
        (Layout::Texel, 1) => ([count, 1, 1], whole.to_string()),
        (Layout::Ends, _) => (
            [count, 1, 1],
            format!(
                "{whole}\n\tsetp.eq.u32 %p, %n, 0;\n\tselp.b32 %x, -5, %x, %p;\n\t\
                 sub.u32 %y, %count, 1;\n\tsetp.eq.u32 %p, %n, %y;\n\tadd.u32 %y, %count, 7;\n\t\
                 selp.b32 %x, %y, %x, %p;"
            ),
        ),
        (Layout::Texel, 2) => (
            [32, count.div_ceil(32), 1],
            "and.b32 %x, %n, 31;\n\tshr.u32 %y, %n, 5;\n\tmov.b32 %z, 0;".to_string(),
        ),
        (Layout::Texel, _) => (
            [8, 8, count.div_ceil(64)],
            "and.b32 %x, %n, 7;\n\tshr.u32 %y, %n, 3;\n\tand.b32 %y, %y, 7;\n\tshr.u32 %z, %n, 6;"
                .to_string(),
        ),
        (Layout::Along(0), 2) => (
            [LENGTH, count, 1],
            format!("{wrap}mov.b32 %x, {coordinate};\n\tmov.b32 %y, %n;\n\tmov.b32 %z, 0;"),
        ),
        (Layout::Along(0), _) => (
            [LENGTH, 16, count.div_ceil(16)],
            format!("{wrap}mov.b32 %x, {coordinate};\n\tand.b32 %y, %n, 15;\n\tshr.u32 %z, %n, 4;"),
        ),
        (Layout::Along(1), axes) => (
            [count, LENGTH, axes - 1],
            format!("{wrap}mov.b32 %x, %n;\n\tmov.b32 %y, {coordinate};\n\tmov.b32 %z, 0;"),
        ),
        (Layout::Along(_), _) => (
            [32, count.div_ceil(32), LENGTH],
            format!("{wrap}and.b32 %x, %n, 31;\n\tshr.u32 %y, %n, 5;\n\tmov.b32 %z, {coordinate};"),
        ),
    };
    let cells = match layout {
        Layout::Texel | Layout::Ends => Cells {
            step: texel,
            pieces: 1,
            stride: 0,
            bytes: texel,
        },
        Layout::Along(0) => Cells {
            step: LENGTH * texel,
            pieces: 1,
            stride: 0,
            bytes: LENGTH * texel,
        },
        Layout::Along(axis) => Cells {
            step: texel,
            pieces: LENGTH,
            stride: size[..axis].iter().product::<usize>() * texel,
            bytes: texel,
        },
    };
    Places { size, cells, setup }
}

/// How each geometry is tried with what lies outside.
pub(super) fn outside(geometry: &Geometry) -> Vec<Layout> {
    match geometry.axes {
        1 => vec![Layout::Ends],
        axes => (0..axes).map(Layout::Along).collect(),
    }
}

impl Layout {
    /// What a form's name says of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Layout::Texel => "",
            Layout::Ends => ", ends",
            Layout::Along(0) => ", x",
            Layout::Along(1) => ", y",
            Layout::Along(_) => ", z",
        }
    }

    /// Whether vectors have a coordinate.
    pub(super) fn has_coordinate(self) -> bool {
        matches!(self, Layout::Along(_))
    }
}
