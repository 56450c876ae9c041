//! An instruction form and the kernel that runs it.

use crate::kind::Kind;
use crate::simulate::word;
use std::fmt::Write;
use warpsim_sim::gpu::api::Texture;

/// One form, with its operands.
#[derive(Clone, Debug)]
pub struct Form {
    /// Opcode and modifiers, `add.rn.f32`; unique.
    pub name: String,
    /// The instructions: results `%d0 %d1`, sources `%s0 %s1 %s2 %s3`.
    pub body: String,
    /// Results.
    pub results: Vec<Kind>,
    /// Sources.
    pub sources: Vec<Kind>,
    /// Lowest target, 35 for `sm_35`.
    pub target: u32,
    /// The result is an approximation.
    pub approximate: bool,
    /// Module variables it needs.
    pub module: String,
    /// Registers and variables of the kernel it needs.
    pub locals: String,
    /// Threads work together: all of a block take part, those beyond the last vector with a
    /// copy of it.
    pub together: bool,
    /// The texture it reads.
    pub texture: Option<TextureForm>,
    /// The surface it reads or writes.
    pub surface: Option<SurfaceForm>,
    /// Newer than the record: no GPU need have been asked yet.
    pub awaited: bool,
    /// The record has hashes of the edge vectors' results alone: there are many forms of a kind, or
    /// many results of a form.
    pub brief: bool,
    /// The version of PTX that it needs, if it is not that of its target.
    pub version: Option<&'static str>,
}

/// A texture, its address still open, and its texels.
#[derive(Clone, Debug)]
pub struct TextureForm {
    /// How it is sampled.
    pub texture: Texture,
    /// Its texels.
    pub contents: Vec<u8>,
}

/// A surface, its address still open, and what is in it before.
#[derive(Clone, Debug)]
pub struct SurfaceForm {
    /// Size and texels.
    pub texture: Texture,
    /// Its last dimension is layers.
    pub layered: bool,
    /// What is in it before.
    pub contents: Vec<u8>,
    /// What each vector may change in it, if anything: a result like others.
    pub cells: Option<Cells>,
}

/// The part of a surface that belongs to each vector: no other vector touches it.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// Bytes from where one vector's part begins to where the next one's does.
    pub step: usize,
    /// A part is in so many pieces.
    pub pieces: usize,
    /// Bytes from piece to piece.
    pub stride: usize,
    /// Bytes of a piece.
    pub bytes: usize,
}

impl Cells {
    /// What vectors left in a surface, in columns of up to eight bytes.
    pub fn columns(&self, count: usize, contents: &[u8]) -> Vec<Vec<u64>> {
        let mut columns = Vec::new();
        for piece in 0..self.pieces {
            for at in (0..self.bytes).step_by(8) {
                let bytes = (self.bytes - at).min(8);
                let first = piece * self.stride + at;
                let of = |n: usize| word(&contents[first + n * self.step..][..bytes]);
                columns.push((0..count).map(of).collect());
            }
        }
        columns
    }
}

fn register(kind: Kind) -> String {
    match kind {
        Kind::Pred => ".pred".into(),
        _ => format!(".b{}", kind.bytes() * 8),
    }
}

impl Form {
    /// A module with one kernel `k(sources…, results…, count)`, one vector a thread; the handle
    /// of a texture or surface stands before the count.
    pub fn ptx(&self) -> String {
        let mut params = Vec::new();
        let (mut regs, mut loads, mut stores) = (String::new(), String::new(), String::new());
        let columns = (self.sources.iter().enumerate().map(|(i, k)| ('s', i, *k)))
            .chain(self.results.iter().enumerate().map(|(i, k)| ('d', i, *k)));
        for (role, i, kind) in columns {
            params.push(format!(".param .u64 p{role}{i}, "));
            let bytes = kind.bytes();
            let text = if role == 's' { &mut loads } else { &mut stores };
            // Writing to a `String` cannot fail.
            let _ = writeln!(regs, "\t.reg {} %{role}{i};", register(kind));
            let _ = writeln!(text, "\tld.param.u64 %at, [p{role}{i}];");
            let _ = writeln!(text, "\tmad.wide.u32 %at, %n, {bytes}, %at;");
            let _ = match (role, kind) {
                ('s', Kind::Pred) => writeln!(
                    text,
                    "\tld.global.b32 %word, [%at];\n\tsetp.ne.u32 %s{i}, %word, 0;"
                ),
                ('s', _) => writeln!(text, "\tld.global.b{} %s{i}, [%at];", bytes * 8),
                (_, Kind::Pred) => writeln!(
                    text,
                    "\tselp.u32 %word, 1, 0, %d{i};\n\tst.global.b32 [%at], %word;"
                ),
                _ => writeln!(text, "\tst.global.b{} [%at], %d{i};", bytes * 8),
            };
        }
        if self.texture.is_some() {
            params.push(".param .u64 texture, ".into());
        }
        if self.surface.is_some() {
            params.push(".param .u64 surface, ".into());
        }
        let number = if self.together {
            "\tsub.u32 %count, %count, 1;\n\tsetp.gt.u32 %beyond, %n, %count;\n\tmin.u32 %n, %n, %count;\n"
        } else {
            "\tsetp.ge.u32 %beyond, %n, %count;\n\t@%beyond bra done;\n"
        };
        let leave = if self.together {
            "\t@%beyond bra done;\n"
        } else {
            ""
        };
        format!(
            ".version {}\n.target sm_{}\n.address_size 64\n{}.visible .entry k({}.param .u32 count)\n{{\n\
             \t.reg .b32 %n, %count, %size, %block, %word;\n\t.reg .b64 %at;\n\t.reg .pred %beyond;\n{regs}{}\
             \tmov.u32 %n, %tid.x;\n\tmov.u32 %block, %ctaid.x;\n\tmov.u32 %size, %ntid.x;\n\
             \tmad.lo.u32 %n, %block, %size, %n;\n\tld.param.u32 %count, [count];\n\
             {number}{loads}\t{}\n{leave}{stores}done:\n\tret;\n}}\n",
            self.version.unwrap_or(match self.target {
                100.. => "8.8",
                89 => "8.4",
                70.. => "8.2",
                _ => "6.5",
            }),
            self.target,
            self.module,
            params.concat(),
            self.locals,
            self.body
        )
    }
}
