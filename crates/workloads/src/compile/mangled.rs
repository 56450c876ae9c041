//! What a compiler's name of a C++ function says of its parameters.

use crate::host::element::Element;
use warpsim_present::mangled::Function;

/// A type of C, as far as launch files care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CType {
    /// A number.
    Number(Element),
    /// A pointer to something.
    Pointer(Box<CType>),
    /// A structure or another named type.
    Named(String),
    /// Something else, such as `void`.
    Other,
}

/// The types of a kernel's parameters; `None` where its name says nothing of them.
pub fn parameters(kernel: &str) -> Option<Vec<CType>> {
    let function = Function::of(kernel)?;
    Some(function.parameters.iter().map(|p| ctype(p)).collect())
}

/// A type as C++ writes it.
fn ctype(text: &str) -> CType {
    let mut text = text.trim();
    // What says nothing of the bits.
    while let Some(rest) = [" const", " volatile", " restrict", " __restrict"]
        .iter()
        .find_map(|word| text.strip_suffix(word))
    {
        text = rest.trim_end();
    }
    if let Some(to) = text.strip_suffix(['*', '&']) {
        return CType::Pointer(Box::new(ctype(to)));
    }
    CType::Number(match text {
        "bool" | "unsigned char" => Element::U8,
        "char" | "signed char" => Element::I8,
        "short" => Element::I16,
        "unsigned short" => Element::U16,
        "int" => Element::I32,
        "unsigned int" => Element::U32,
        "long" | "long long" => Element::I64,
        "unsigned long" | "unsigned long long" => Element::U64,
        "__half" => Element::F16,
        "__nv_bfloat16" => Element::BF16,
        "float" => Element::F32,
        "double" => Element::F64,
        "void" => return CType::Other,
        named if named.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
            return CType::Named(named.to_string());
        }
        _ => return CType::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(to: Element) -> CType {
        CType::Pointer(Box::new(CType::Number(to)))
    }

    #[test]
    fn parameters_are_read() {
        let f32s = pointer(Element::F32);
        let saxpy = [
            CType::Number(Element::F32),
            f32s.clone(),
            f32s.clone(),
            CType::Number(Element::U32),
        ];
        assert_eq!(parameters("_Z5saxpyfPKfPfj").expect("mangled"), saxpy);
        // `S0_` is the pointer, `S_` what it points to with its qualifier.
        let twice = parameters("_Z3addPKfS0_Pfi").expect("mangled");
        assert_eq!((twice.len(), &twice[1]), (4, &f32s));
        assert_eq!(parameters("_ZN4mine4kernEv"), Some(Vec::new()));
        // A template's, by its arguments.
        let scale = parameters("_ZN2my5scaleIdEEvPKT_PS1_S1_i").expect("mangled");
        assert_eq!(scale[1], pointer(Element::F64));
        assert_eq!(scale[2], CType::Number(Element::F64));
        let named = parameters("_Z1kP5ParttPx").expect("mangled");
        let part = CType::Named("Partt".into());
        assert_eq!(named[0], CType::Pointer(Box::new(part)));
        assert_eq!(parameters("saxpy"), None);
    }
}
