//! Suffixes of the matrix instructions, whose order differs from one to the next.

use crate::isa::{Mods, Op, Rounding, Space, Type};
use crate::modtable::type_named;
use crate::tensor::{BitOp, Matrix, Role, Tensor};

/// What the suffixes (without dots) say, or why there is no such instruction here.
pub(crate) fn suffixes(op: Op, list: &[&str]) -> Result<Mods, String> {
    let mut mods = Mods::default();
    let mut tensor = Tensor {
        role: Role::Multiply,
        warp_wide: op == Op::Wmma,
        shape: [8, 8, 0],
        by_column: [false; 2],
        types: [Type::B16; 4],
        bits: None,
        transposed: false,
        sparse: false,
    };
    let mut types = Vec::new();
    let mut layouts = Vec::new();
    let mut shape = None;
    let mut tiles = None;
    let mut action = None;
    let mut matrix = None;
    for text in list {
        match *text {
            "sync" => mods.sync = true,
            "aligned" => mods.aligned = true,
            "popc" => {}
            "load" | "store" | "mma" if op == Op::Wmma => action = Some(*text),
            "a" if op == Op::Wmma => matrix = Some(Matrix::A),
            "b" if op == Op::Wmma => matrix = Some(Matrix::B),
            "c" if op == Op::Wmma => matrix = Some(Matrix::C),
            "d" if op == Op::Wmma => matrix = Some(Matrix::D),
            "row" | "col" if matches!(op, Op::Mma | Op::Wmma) => layouts.push(*text == "col"),
            "sp" | "sp::ordered_metadata" if op == Op::Mma => tensor.sparse = true,
            "satfinite" => mods.sat = true,
            "xor" => tensor.bits = Some(BitOp::Xor),
            "and" => tensor.bits = Some(BitOp::And),
            "trans" => tensor.transposed = true,
            "rn" => mods.rounding = Some(Rounding::Rn),
            "shared" | "shared::cta" => mods.space = Some(Space::Shared),
            "global" if op == Op::Wmma => mods.space = Some(Space::Global),
            "x1" => tiles = Some(1),
            "x2" => tiles = Some(2),
            "x4" => tiles = Some(4),
            other => match (numbers(other), type_named(other)) {
                (Some(found), _) => shape = Some(found),
                (_, Some(ty)) => types.push(ty),
                _ => return Err(format!("`{}` with `.{other}` is not supported", op.text())),
            },
        }
    }
    let needs = |what: &str| Err(format!("`{}` needs {what}", op.text()));
    let Some(shape) = shape else {
        return needs("a shape such as `.m16n8k16`");
    };
    tensor.shape = shape;
    match op {
        Op::Ldmatrix | Op::Stmatrix | Op::Movmatrix => {
            if types != [Type::B16] || shape != [8, 8, 0] {
                return Err(format!(
                    "`{}` is supported for `.m8n8` and `.b16`",
                    op.text()
                ));
            }
            tensor.role = Role::Tiles(match (op, tiles) {
                (Op::Movmatrix, _) => 1,
                (_, Some(n)) => n,
                _ => return needs("a number of matrices: `.x1`, `.x2` or `.x4`"),
            });
            if op != Op::Movmatrix {
                mods.space.get_or_insert(Space::Shared);
            }
        }
        Op::Wmma if matches!(action, Some("load" | "store")) => {
            let (Some(matrix), [ty], [by_column]) = (matrix, &types[..], &layouts[..]) else {
                return needs("a matrix (`.a`, `.b`, `.c`, `.d`), a layout and a type");
            };
            tensor.role = match action {
                Some("load") => Role::Load(matrix),
                _ => Role::Store(matrix),
            };
            tensor.by_column = [*by_column; 2];
            // The elements of the others do not matter; they only have to go with these.
            let (inner, sum) = match (matrix, ty) {
                (Matrix::A | Matrix::B, Type::F16) => (*ty, Type::F32),
                (Matrix::A | Matrix::B, Type::Bf16 | Type::Tf32) => (*ty, Type::F32),
                (Matrix::A | Matrix::B, Type::F64) => (*ty, Type::F64),
                (Matrix::A | Matrix::B, _) => (*ty, Type::S32),
                (_, Type::F64) => (Type::F64, *ty),
                (_, Type::S32) if shape == [8, 8, 32] => (Type::S4, *ty),
                (_, Type::S32) if shape == [8, 8, 128] => (Type::B1, *ty),
                (_, Type::S32) => (Type::S8, *ty),
                (_, Type::F32) if shape == [16, 16, 8] => (Type::Tf32, *ty),
                _ => (Type::F16, *ty),
            };
            tensor.types = [sum, inner, inner, sum];
        }
        _ => {
            if op == Op::Wmma && action.is_none() {
                return needs("`.load`, `.mma` or `.store`");
            }
            let [a, b] = layouts[..] else {
                return needs("two layouts such as `.row.col`");
            };
            tensor.by_column = [a, b];
            tensor.types = match types[..] {
                [d, a, b, c] => [d, a, b, c],
                // The older way of writing half precision.
                [d, c] if op == Op::Wmma => [d, Type::F16, Type::F16, c],
                _ => return needs("the types of D, A, B and C"),
            };
        }
    }
    if let Some(why) = tensor.misfit() {
        return Err(format!("`{}`: {why}", op.text()));
    }
    mods.types[0] = Some(tensor.types[0]);
    // A form without `.sync` is of the first machines that had matrices: the same.
    mods.sync = true;
    mods.tensor = Some(tensor);
    Ok(mods)
}

/// `m16n8k16`, or `m8n8`.
fn numbers(text: &str) -> Option<[u16; 3]> {
    let rest = text.strip_prefix('m')?;
    let (m, rest) = rest.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "0"));
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}
