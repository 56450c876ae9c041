//! Every form that is compared.

mod access;
mod asynchronous;
mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod integer;
mod matrix;
mod place;
mod sparse;
mod surface;
mod texture;
mod video;
mod warp;

use crate::form::Form;
use crate::kind::Kind;

/// All forms, each once, in a fixed order.
pub fn forms() -> Vec<Form> {
    let mut list = List::default();
    integer::add(&mut list);
    bits::add(&mut list);
    float::add(&mut list);
    compare::add(&mut list);
    convert::add(&mut list);
    access::add(&mut list);
    atomic::add(&mut list);
    warp::add(&mut list);
    texture::add(&mut list);
    video::add(&mut list);
    matrix::add(&mut list);
    sparse::add(&mut list);
    asynchronous::add(&mut list);
    surface::add(&mut list);
    list.forms
}

/// The forms so far.
#[derive(Default)]
struct List {
    forms: Vec<Form>,
}

impl List {
    /// One instruction `name d, s0, s1…`.
    fn one(&mut self, name: &str, result: Kind, sources: &[Kind]) -> &mut Form {
        let operands: Vec<String> = (0..sources.len()).map(|i| format!("%s{i}")).collect();
        let body = format!("{name} %d0, {};", operands.join(", "));
        self.body(name, body, &[result], sources)
    }

    /// A form with instructions of its own.
    fn body(&mut self, name: &str, body: String, results: &[Kind], sources: &[Kind]) -> &mut Form {
        let kinds = results.iter().chain(sources);
        let packed = name.contains("16x2") && !name.contains("f16x2");
        let target = match () {
            () if packed => 90,
            () if name.contains("bf16") => 80,
            () if kinds.clone().any(|k| matches!(k, Kind::F16 | Kind::F16x2)) => 53,
            () => 35,
        };
        self.forms.push(Form {
            name: name.to_string(),
            body,
            results: results.to_vec(),
            sources: sources.to_vec(),
            target,
            approximate: name.contains(".approx") || name.contains(".full"),
            module: String::new(),
            locals: String::new(),
            together: false,
            texture: None,
            surface: None,
            awaited: false,
            brief: false,
            version: None,
        });
        let last = self.forms.len() - 1;
        &mut self.forms[last]
    }
}

impl Form {
    fn on(&mut self, target: u32) {
        self.target = self.target.max(target);
    }
}

/// The kind of a type as PTX spells it.
fn kind(ty: &str) -> Kind {
    match ty {
        "pred" => Kind::Pred,
        "b8" | "u8" | "s8" => Kind::I8,
        "b16" | "u16" | "s16" => Kind::I16,
        "b64" | "u64" | "s64" => Kind::I64,
        "f16" => Kind::F16,
        "bf16" => Kind::Bf16,
        "f32" | "tf32" => Kind::F32,
        "f64" => Kind::F64,
        "u16x2" | "s16x2" => Kind::I16x2,
        "f16x2" => Kind::F16x2,
        "bf16x2" => Kind::Bf16x2,
        _ => Kind::I32,
    }
}

const INTEGERS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];
const WORDS: [&str; 4] = ["u32", "s32", "u64", "s64"];
