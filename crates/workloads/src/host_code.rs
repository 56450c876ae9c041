//! What the host code of a CUDA file says about its launches, where it is plain enough to be read without a
//! compiler: `k<<<grid, block>>>(...)` with numbers, constants and `dim3`s, and `cudaMalloc`.

use crate::host::element::Scalar;
use crate::launchfile::evaluate;
use std::collections::HashMap;

/// A launch as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Arguments, each as it is written.
    pub arguments: Vec<String>,
}

/// Host code, as far as it is understood.
pub struct HostCode {
    text: String,
    /// Names with the expressions that they stand for; `None` for those that stand for several.
    constants: HashMap<String, Option<String>>,
    extents: HashMap<String, Option<String>>,
}

/// Names stand for names at most so deep.
const DEEPEST: u32 = 16;

/// Words before a name that is declared, other than types of the file's own.
const TYPES: [&str; 20] = [
    "const",
    "constexpr",
    "static",
    "unsigned",
    "signed",
    "int",
    "long",
    "short",
    "char",
    "size_t",
    "auto",
    "uint32_t",
    "int32_t",
    "uint64_t",
    "int64_t",
    "uint",
    "float",
    "double",
    "std::size_t",
    "__constant__",
];

impl HostCode {
    /// Reads the text of a file.
    pub fn read(text: &str) -> HostCode {
        let text = without_comments(text);
        let mut code = HostCode {
            constants: HashMap::new(),
            extents: HashMap::new(),
            text,
        };
        let text = code.text.clone();
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("#define ") {
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                if !rest[end..].starts_with('(') {
                    define(&mut code.constants, &rest[..end], rest[end..].trim());
                }
            }
        }
        let plain: Vec<&str> = text
            .lines()
            .filter(|l| !l.trim_start().starts_with('#'))
            .collect();
        let plain = plain.join("\n");
        for statement in plain.split([';', '{', '}']) {
            code.declaration(statement.trim());
        }
        for (at, _) in plain.match_indices("dim3") {
            code.extent(&plain[at + 4..]);
        }
        code
    }

    /// Whether it has a `main`.
    pub fn has_main(&self) -> bool {
        self.text.match_indices("main").any(|(at, _)| {
            let before = self.text[..at].chars().next_back();
            let behind = self.text[at + 4..].trim_start();
            behind.starts_with('(') && before.is_some_and(char::is_whitespace)
        })
    }

    /// `const int n = 1024, m = 2 * n`
    fn declaration(&mut self, statement: &str) {
        let first = statement.split(|c: char| c.is_whitespace()).next();
        if !first.is_some_and(|word| TYPES.contains(&word)) {
            // An assignment to a name makes it no constant.
            if let Some((name, _)) = statement.split_once('=')
                && name.trim().chars().all(word)
            {
                self.constants.insert(name.trim().to_string(), None);
            }
            return;
        }
        for part in split(statement) {
            let Some((left, right)) = part.split_once('=') else {
                continue;
            };
            let left = left.trim_end();
            let start = left.rfind(|c| !word(c)).map_or(0, |i| i + 1);
            if !left[start..].is_empty() {
                define(&mut self.constants, &left[start..], right.trim());
            }
        }
    }

    /// What follows `dim3`: ` grid(2, 3), block(16)` or ` grid = dim3(2, 3)`.
    fn extent(&mut self, rest: &str) {
        if !rest.starts_with(char::is_whitespace) {
            return;
        }
        let end = rest.find(';').unwrap_or(rest.len());
        for part in split(&rest[..end]) {
            let part = part.trim();
            let name = &part[..part.find(|c| !word(c)).unwrap_or(part.len())];
            let value = part[name.len()..].trim_start();
            let value = value.strip_prefix('=').unwrap_or(value).trim();
            let value = value.strip_prefix("dim3").unwrap_or(value);
            if let Some(list) = bracketed(value, '(', ')').or_else(|| bracketed(value, '{', '}')) {
                define(&mut self.extents, name, list);
            }
        }
    }

    /// The first launch of a kernel that can be read.
    pub fn launch(&self, kernel: &str) -> Option<Written> {
        let found = self.text.match_indices("<<<");
        found.into_iter().find_map(|(at, _)| {
            let mut before = self.text[..at].trim_end();
            if before.ends_with('>') {
                // Arguments of a template.
                before = &before[..before.rfind('<')?];
            }
            let start = before.rfind(|c| !word(c)).map_or(0, |i| i + 1);
            if &before[start..] != kernel {
                return None;
            }
            let (shape, rest) = self.text[at + 3..].split_once(">>>")?;
            let shape = split(shape);
            let arguments = bracketed(rest.trim_start(), '(', ')')?;
            let shared = match shape.get(2) {
                Some(bytes) => u32::try_from(self.whole(bytes)?).ok()?,
                None => 0,
            };
            Some(Written {
                grid: self.shape(shape.first()?)?,
                block: self.shape(shape.get(1)?)?,
                shared,
                arguments: match arguments.trim() {
                    "" => Vec::new(),
                    list => split(list)
                        .into_iter()
                        .map(|a| a.trim().to_string())
                        .collect(),
                },
            })
        })
    }

    /// Bytes that the file asks for under a pointer's name.
    pub fn allocated(&self, pointer: &str) -> Option<u64> {
        let calls = self
            .text
            .match_indices("cudaMalloc")
            .chain(self.text.match_indices("cudaMallocManaged"));
        let mut sizes = calls.filter_map(|(at, call)| {
            let list = bracketed(self.text[at + call.len()..].trim_start(), '(', ')')?;
            let parts = split(list);
            let start = parts.first()?.rfind('&')? + 1;
            let named = parts[0][start..].trim() == pointer;
            named.then(|| self.whole(parts.get(1)?)).flatten()
        });
        let size = sizes.next()?;
        u64::try_from(size).ok().filter(|size| *size > 0)
    }

    /// The value of an expression, where it is a whole number.
    pub fn whole(&self, text: &str) -> Option<i128> {
        match self.value(text, DEEPEST)? {
            Scalar::Integer(value) => Some(value),
            Scalar::Float(_) => None,
        }
    }

    /// The value of an expression.
    pub fn number(&self, text: &str) -> Option<Scalar> {
        self.value(text, DEEPEST)
    }

    fn value(&self, text: &str, depth: u32) -> Option<Scalar> {
        let depth = depth.checked_sub(1)?;
        if let Some((left, right)) = text.split_once("<<") {
            let (left, right) = (self.value(left, depth)?, self.value(right, depth)?);
            return match (left, right) {
                (Scalar::Integer(a), Scalar::Integer(b @ 0..=62)) => {
                    Some(Scalar::Integer(a.checked_shl(b as u32)?))
                }
                _ => None,
            };
        }
        let plain = plain(text)?;
        let lookup = |name: &str| match self.constants.get(name) {
            Some(Some(expression)) => self.value(expression, depth),
            _ => None,
        };
        evaluate(&plain, &lookup).ok()
    }

    /// Blocks or threads.
    fn shape(&self, text: &str) -> Option<[u32; 3]> {
        let text = text.trim();
        let list = match self.extents.get(text) {
            Some(list) => list.as_deref()?,
            None => match text.strip_prefix("dim3") {
                Some(rest) => bracketed(rest.trim_start(), '(', ')')?,
                None => text,
            },
        };
        let mut shape = [1; 3];
        for (size, part) in shape.iter_mut().zip(split(list)) {
            *size = u32::try_from(self.whole(part)?).ok().filter(|n| *n > 0)?;
        }
        Some(shape)
    }
}

fn define(names: &mut HashMap<String, Option<String>>, name: &str, value: &str) {
    let value = Some(value.to_string());
    let known = names
        .entry(name.to_string())
        .or_insert_with(|| value.clone());
    // Which of several is meant only a compiler knows.
    if *known != value {
        *known = None;
    }
}

fn word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text without comments.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        out.push(' ');
        let end = match rest[at..].starts_with("//") {
            true => rest[at..].find('\n').map(|n| at + n),
            false => rest[at..].find("*/").map(|n| at + n + 2),
        };
        rest = end.map_or("", |end| &rest[end..]);
    }
    out + rest
}

/// What the text's first bracket encloses, where it begins with one.
fn bracketed(text: &str, open: char, close: char) -> Option<&str> {
    let inside = text.strip_prefix(open)?;
    let mut depth = 1;
    for (at, c) in inside.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return Some(&inside[..at]);
        }
    }
    None
}

/// Parts between commas that no bracket encloses.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Sizes of types, and casts that change nothing of a size.
const SIZES: [(&str, u32); 10] = [
    ("float", 4),
    ("int", 4),
    ("unsigned", 4),
    ("unsigned int", 4),
    ("uint32_t", 4),
    ("double", 8),
    ("char", 1),
    ("unsigned char", 1),
    ("short", 2),
    ("float4", 16),
];

/// An expression of C++ as launch files write it; `None` where it has more than arithmetic.
fn plain(text: &str) -> Option<String> {
    let mut text = text.replace("std::", "");
    for (name, bytes) in SIZES {
        text = text.replace(&format!("sizeof({name})"), &bytes.to_string());
        text = text.replace(&format!("({name})"), "");
    }
    let mut out = String::new();
    let mut number = false;
    for c in text.chars() {
        let starts = !out.ends_with(word) && !out.ends_with('.');
        number = (number && (word(c) || c == '.')) || (starts && c.is_ascii_digit());
        // 1024u, 16UL, 0.5f
        let hexadecimal = out
            .rsplit(|c| !word(c))
            .next()
            .is_some_and(|w| w.starts_with("0x"));
        let suffix = matches!(c, 'u' | 'U' | 'l' | 'L') || c == 'f' && !hexadecimal;
        if !(number && suffix) {
            out.push(c);
        }
    }
    (!out.contains(['"', '?', '<', '>', '&', '|'])).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "
#define TILE 16
#define SQUARE(x) ((x) * (x))
const unsigned N = 1 << 10; /* rows: <<<1, 2>>> */
static constexpr int M = N / 2u;
template <typename T> __global__ void scale(T *a, T by, int n) {}
__global__ void tile(float *a, int w, int h) { __shared__ float s[TILE]; int n = 3; }
int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 7;
    float *d_a; // tile<<<9, 9>>>(d_a, 1, 1);
    cudaMalloc((void **)&d_a, N * M * sizeof(float));
    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, M / TILE);
    tile<<<grid, block, TILE * sizeof(float)>>>(d_a, (int)N, M);
    scale<float><<<dim3(M), 128>>>(d_a, 0.5f, count);
    scale<double><<<count, 128>>>(d_a, 1.0, N);
}
";

    #[test]
    fn launches_are_read_with_their_constants() {
        let code = HostCode::read(CODE);
        let tile = code.launch("tile").expect("read");
        assert_eq!((tile.grid, tile.block), ([64, 32, 1], [16, 16, 1]));
        assert_eq!(tile.shared, 64);
        assert_eq!(tile.arguments, ["d_a", "(int)N", "M"]);
        assert_eq!(code.whole("(int)N"), Some(1024));
        assert_eq!(code.number("0.5f"), Some(Scalar::Float(0.5)));
        let scale = code.launch("scale").expect("read");
        assert_eq!((scale.grid, scale.block), ([512, 1, 1], [128, 1, 1]));
        assert_eq!(code.allocated("d_a"), Some(1024 * 512 * 4));
        assert!(code.has_main());
    }

    #[test]
    fn what_only_a_run_knows_is_not_guessed() {
        let code = HostCode::read(CODE);
        assert_eq!(code.whole("count"), None);
        assert_eq!(code.whole("SQUARE(3)"), None);
        assert_eq!(code.launch("other"), None);
        assert_eq!(code.allocated("d_b"), None);
        let changed = HostCode::read("int n = 4; n = 5; int m = 1; int m = 2; k<<<n, m>>>();");
        assert_eq!((changed.whole("n"), changed.whole("m")), (None, None));
        assert!(!HostCode::read("__global__ void domain(int x) {}").has_main());
        // Any text will do.
        for text in [
            "<<<",
            "k<<<1",
            "k<<<1,2>>>",
            "dim3 (",
            "dim3 a(",
            "/*",
            "k<<<(,),2>>>()",
            "#define",
        ] {
            assert_eq!(HostCode::read(text).launch("k"), None, "{text}");
        }
    }
}
