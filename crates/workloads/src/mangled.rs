//! What a compiler's name of a C++ function says: the function and the types of its parameters.

use crate::element::Element;

/// A function as its name describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mangled {
    /// Its name, with namespaces.
    pub name: String,
    /// Its parameters, where all of them are understood.
    pub parameters: Option<Vec<CType>>,
}

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

/// Reads a mangled name; `None` for names that are not.
pub fn demangle(text: &str) -> Option<Mangled> {
    let mut reader = Reader {
        rest: text.strip_prefix("_Z")?,
        seen: Vec::new(),
    };
    let name = reader.name()?;
    // Of a template the result's type comes first, and parameters may be its arguments: not read.
    let parameters = match reader.rest {
        "" | "v" => Some(Vec::new()),
        rest if rest.starts_with('I') => None,
        _ => reader.types(),
    };
    Some(Mangled { name, parameters })
}

/// A kernel's name as people write it; what no compiler mangled is as it was.
pub fn shown(name: &str) -> String {
    demangle(name).map_or_else(|| name.to_string(), |m| m.name)
}

struct Reader<'a> {
    rest: &'a str,
    /// Types that `S_`, `S0_` and so on stand for.
    seen: Vec<CType>,
}

impl Reader<'_> {
    fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A length and that many letters.
    fn word(&mut self) -> Option<String> {
        let digits = self.rest.find(|c: char| !c.is_ascii_digit())?;
        let length: usize = self.rest[..digits].parse().ok()?;
        let word = self.rest.get(digits..digits.checked_add(length)?)?;
        self.rest = &self.rest[digits + length..];
        Some(match word.starts_with("_GLOBAL__N") {
            true => "(anonymous)".to_string(),
            false => word.to_string(),
        })
    }

    fn name(&mut self) -> Option<String> {
        if !self.eat("N") {
            self.eat("L");
            let word = self.word()?;
            self.tags()?;
            return Some(word);
        }
        let mut parts = Vec::new();
        while !self.eat("E") {
            self.eat("L");
            parts.push(self.word()?);
            self.tags()?;
            // Arguments of a template are not read: `demangle` sees that there are some.
            if self.rest.starts_with('I') {
                break;
            }
            if !self.rest.starts_with('E') {
                self.seen.push(CType::Other);
            }
        }
        Some(parts.join("::"))
    }

    /// What a compiler marks versions of a function with: `B` and a word, any number of them.
    fn tags(&mut self) -> Option<()> {
        while self.eat("B") {
            self.word()?;
        }
        Some(())
    }

    fn types(&mut self) -> Option<Vec<CType>> {
        let mut types = Vec::new();
        while !self.rest.is_empty() {
            types.push(self.one(0)?);
        }
        Some(types)
    }

    fn one(&mut self, depth: u32) -> Option<CType> {
        if depth > 32 {
            return None;
        }
        if self.eat("P") || self.eat("R") {
            let to = self.one(depth + 1)?;
            let pointer = CType::Pointer(Box::new(to));
            self.seen.push(pointer.clone());
            return Some(pointer);
        }
        let qualifiers = self.rest.len() - self.rest.trim_start_matches(['r', 'V', 'K']).len();
        if qualifiers > 0 {
            self.rest = &self.rest[qualifiers..];
            let inner = self.one(depth + 1)?;
            self.seen.push(inner.clone());
            return Some(inner);
        }
        if self.eat("S") {
            let (index, rest) = self.rest.split_once('_')?;
            self.rest = rest;
            let index = match index {
                "" => 0,
                digits => usize::from_str_radix(digits, 36).ok()? + 1,
            };
            return self.seen.get(index).cloned();
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let named = CType::Named(self.word()?);
            self.seen.push(named.clone());
            return Some(named);
        }
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(CType::Number(match letter {
            'b' | 'h' => Element::U8,
            'a' | 'c' => Element::I8,
            's' => Element::I16,
            't' => Element::U16,
            'i' => Element::I32,
            'j' => Element::U32,
            'l' | 'x' => Element::I64,
            'm' | 'y' => Element::U64,
            'f' => Element::F32,
            'd' => Element::F64,
            'v' => return Some(CType::Other),
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(to: Element) -> CType {
        CType::Pointer(Box::new(CType::Number(to)))
    }

    #[test]
    fn marks_of_versions_and_templates_are_left_out() {
        // As Numba names its kernels, shortened.
        let numba = "_ZN8__main__4blurB2v1B8cw51cXTLE5ArrayIfLi2E1C7mutable7alignedE";
        assert_eq!(shown(numba), "__main__::blur");
        assert_eq!(demangle(numba).expect("mangled").parameters, None);
        assert_eq!(shown("_ZN4math3addIfEEvPT_"), "math::add");
        assert_eq!(shown("_Z3addIfEvPT_"), "add");
        assert_eq!(shown("plain"), "plain");
    }

    #[test]
    fn names_and_parameters_are_read() {
        let saxpy = demangle("_Z5saxpyfPKfPfj").expect("mangled");
        assert_eq!(saxpy.name, "saxpy");
        let f32s = pointer(Element::F32);
        let expected = vec![
            CType::Number(Element::F32),
            f32s.clone(),
            f32s.clone(),
            CType::Number(Element::U32),
        ];
        assert_eq!(saxpy.parameters, Some(expected));
        // `S0_` is the pointer, `S_` what it points to with its qualifier.
        let twice = demangle("_Z3addPKfS0_Pfi").expect("mangled");
        let parameters = twice.parameters.expect("understood");
        assert_eq!(parameters[1], f32s);
        assert_eq!(parameters.len(), 4);
        assert_eq!(
            demangle("_ZN4mine4kernEv").map(|m| m.name).as_deref(),
            Some("mine::kern")
        );
        assert_eq!(demangle("_Z1kIfEvPT_").and_then(|m| m.parameters), None);
        let named = demangle("_Z1kP5ParttPx")
            .expect("mangled")
            .parameters
            .expect("understood");
        assert_eq!(
            named[0],
            CType::Pointer(Box::new(CType::Named("Partt".into())))
        );
    }

    #[test]
    fn anything_is_read_without_a_panic() {
        for text in [
            "",
            "_Z",
            "_Z99x",
            "saxpy",
            "_ZN",
            "_Z1kS9_",
            "_Z1kPPPP",
            "_Z1k\u{e9}",
            "_Z3k\u{e9}i",
        ] {
            let _ = demangle(text);
        }
        assert_eq!(demangle("saxpy"), None);
    }
}
