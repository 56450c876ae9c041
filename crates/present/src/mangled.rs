//! Names that compilers of C++ give functions, as people write them.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt;

/// Longer names than this are left as they are: a name of a few hundred letters can stand for one of
/// gigabytes.
const LONGEST: usize = 4096;

/// Arguments of a template that are longer than this are not shown where a name is.
const ARGUMENTS: usize = 60;

/// A function, as its mangled name describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name with namespaces, as in `math::scale`.
    pub name: String,
    /// The arguments of a template with their brackets, as in `<float, 4>`; empty where there are none.
    pub arguments: String,
    /// The types of its parameters, as in `float const*`.
    pub parameters: Vec<String>,
}

impl Function {
    /// Reads a mangled name; `None` for names that are none.
    pub fn of(mangled: &str) -> Option<Function> {
        if !mangled.starts_with("_Z") {
            return None;
        }
        let symbol = Symbol::new(mangled).ok()?;
        let mut text = Limited(String::new());
        let options = DemangleOptions::new().no_return_type();
        symbol.structured_demangle(&mut text, &options).ok()?;
        Some(Function::parsed(&without_tags(&text.0)))
    }

    /// A function as C++ writes it, without its result: `math::scale<float>(float const*, int)`.
    fn parsed(text: &str) -> Function {
        let end = text.rfind(')').map_or(0, |at| at + 1);
        let (front, parameters) = match opening(&text[..end], '(', ')') {
            // A name may end in brackets of its own, as `(anonymous namespace)::operator()` does.
            Some(at) if at > 0 => (&text[..at], split(&text[at + 1..end - 1])),
            _ => (text, Vec::new()),
        };
        let (name, arguments) = match opening(front, '<', '>') {
            Some(at) if !front[..at].ends_with("operator") => front.split_at(at),
            _ => (front, ""),
        };
        let parameters = match parameters.as_slice() {
            [one] if one == "void" => Vec::new(),
            _ => parameters,
        };
        Function {
            name: name.to_string(),
            arguments: arguments.to_string(),
            parameters,
        }
    }

    /// The name with a template's arguments, shortened where they are long.
    pub fn shown(&self) -> String {
        match self.arguments.len() {
            0..=ARGUMENTS => format!("{}{}", self.name, self.arguments),
            _ => format!("{}<...>", self.name),
        }
    }

    /// All of it, as in `math::scale<float>(float const*, int)`.
    pub fn signature(&self) -> String {
        let parameters = self.parameters.join(", ");
        format!("{}{}({parameters})", self.name, self.arguments)
    }

    /// Whether a user who wrote this may have meant the function: its name with or without
    /// namespaces, arguments and parameters.
    pub fn is_called(&self, written: &str) -> bool {
        let letters = |text: &str| -> String { text.split_whitespace().collect() };
        let written = letters(written);
        let last = self.name.rsplit("::").next().unwrap_or(&self.name);
        [self.name.as_str(), last].into_iter().any(|name| {
            let all = Function {
                name: name.to_string(),
                ..self.clone()
            };
            let whole = format!("{name}{}", self.arguments);
            [name.to_string(), whole, all.signature()]
                .iter()
                .any(|known| letters(known) == written)
        })
    }
}

/// A function's name as people write it; what no compiler mangled is as it was.
pub fn shown(name: &str) -> String {
    Function::of(name).map_or_else(|| name.to_string(), |f| f.shown())
}

/// Text up to a length, beyond which writing fails.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Without the marks that compilers tell versions of a function apart with, as in `blur[abi:v1]`.
fn without_tags(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("[abi:") {
        out += before;
        rest = after.split_once(']').map_or("", |(_, after)| after);
    }
    out + rest
}

/// Where the bracket opens that the last letter closes.
fn opening(text: &str, open: char, close: char) -> Option<usize> {
    if !text.ends_with(close) {
        return None;
    }
    let mut depth = 0;
    for (at, letter) in text.char_indices().rev() {
        if letter == close {
            depth += 1;
        } else if letter == open {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The parts of a list, at the commas that no bracket holds.
fn split(list: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim().to_string());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list[start..].trim();
    if !last.is_empty() {
        parts.push(last.to_string());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(name: &str) -> String {
        Function::of(name).expect("mangled").signature()
    }

    #[test]
    fn names_are_as_people_write_them() {
        assert_eq!(shown("_Z5saxpyfPKfPfj"), "saxpy");
        assert_eq!(
            signature("_Z5saxpyfPKfPfj"),
            "saxpy(float, float const*, float*, unsigned int)"
        );
        let scale = "_ZN2my5scaleIfEEvPKT_PS1_S1_i";
        assert_eq!(shown(scale), "my::scale<float>");
        assert_eq!(
            signature(scale),
            "my::scale<float>(float const*, float*, float, int)"
        );
        assert_eq!(signature("_ZN4mine4kernEv"), "mine::kern()");
        assert_eq!(shown("plain"), "plain");
        assert_eq!(Function::of("plain"), None);
        assert_eq!(
            shown("_ZN12_GLOBAL__N_13sumEPi"),
            "(anonymous namespace)::sum"
        );
    }

    #[test]
    fn marks_of_versions_are_left_out() {
        // As Numba names its kernels, shortened.
        let numba = "_ZN8__main__4blurB2v1B8cw51cXTLE5ArrayIfLi2E1C7mutable7alignedE";
        assert_eq!(shown(numba), "__main__::blur");
        assert_eq!(
            Function::of(numba).expect("mangled").parameters,
            ["Array<float, 2, C, mutable, aligned>"]
        );
    }

    #[test]
    fn functions_are_called_by_any_part_that_names_them() {
        let scale = Function::of("_ZN2my5scaleIfEEvPKT_PS1_S1_i").expect("mangled");
        for written in [
            "scale",
            "my::scale",
            "scale<float>",
            "my::scale<float>",
            "my::scale< float >(const float*, float*, float, int)"
                .replace("const float*", "float const*")
                .as_str(),
            "scale<float>(float const *, float *, float, int)",
        ] {
            assert!(scale.is_called(written), "{written}");
        }
        for written in ["scal", "y::scale", "scale<int>", "float"] {
            assert!(!scale.is_called(written), "{written}");
        }
    }

    #[test]
    fn anything_is_read_without_a_panic() {
        for text in [
            "",
            "_Z",
            "_Z99x",
            "_ZN",
            "_Z1kS9_",
            "_Z1kPPPP",
            "_Z1k\u{e9}",
            "_Z3k\u{e9}i",
            "_ZlsR1A",
            "_ZNK3$_0clEv",
            "_Z1fI1AILi1EEEvv",
        ] {
            let _ = Function::of(text).map(|f| (f.shown(), f.signature()));
        }
        // Every argument is a pair of the one before: twice as long each time.
        let mut bomb = "_Z1fI1PIiiE".to_string();
        let code = |n: usize| match n {
            0 => "S_".to_string(),
            n => format!(
                "S{}_",
                ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
                    .concat()
                    .chars()
                    .nth(n - 1)
                    .unwrap_or('9')
            ),
        };
        for n in 1..10 {
            bomb += &format!("1PI{}{}E", code(n - 1), code(n - 1));
        }
        let _ = Function::of(&(bomb + "Evv"));
        assert_eq!(
            shown(&format!("_Z1kI{}EvT_", "1a".repeat(80))).len(),
            "k<...>".len()
        );
    }
}
