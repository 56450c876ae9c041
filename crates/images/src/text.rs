//! PTX as text, and what its first lines say.

use crate::capability::Capability;
use crate::error::Error;

/// Where a text was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was the whole image.
    Plain,
    /// In a fat binary.
    Entry,
    /// In machine code that was compiled with line information: without its `.loc` and `.file` lines.
    LineInformation,
}

/// A PTX text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// What it was compiled for.
    pub capability: Capability,
    /// Its version of PTX.
    pub version: (u16, u16),
    /// Where it was found.
    pub origin: Origin,
    /// All of it.
    pub text: String,
}

/// How much of a text is looked through for its first lines.
const HEAD: usize = 64 << 10;

/// An image that is nothing but PTX.
pub(crate) fn plain(bytes: &[u8]) -> Result<Ptx, Error> {
    let bytes = without_end(bytes);
    let unknown = |what: &str| Error::Unknown { what: what.into() };
    if bytes.is_empty() {
        return Err(unknown("it is empty"));
    }
    if bytes.starts_with(b"BC\xc0\xde") {
        return Err(unknown("it is LLVM bitcode"));
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        let shown: Vec<_> = bytes.iter().take(8).map(|b| format!("{b:02x}")).collect();
        let start = shown.join(" ");
        return Err(unknown(&format!(
            "it begins with {start}, and byte {at:#x} is 0"
        )));
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let head = head(&text);
    let Some(version) = head.version else {
        return Err(unknown("it is text without a line `.version`"));
    };
    let Some(capability) = head.target else {
        return Err(unknown("it is text without a line `.target sm_...`"));
    };
    Ok(Ptx {
        capability,
        version,
        origin: Origin::Plain,
        text,
    })
}

/// A text that something else holds; the header's word counts where the text says nothing.
pub(crate) fn stored(
    bytes: &[u8],
    before: usize,
    origin: Origin,
    version: (u16, u16),
    capability: Capability,
) -> Result<Ptx, Error> {
    let bytes = without_end(bytes);
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        return Err(Error::broken(
            before,
            format!("its PTX has a zero at byte {at:#x} of the text"),
        ));
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let head = head(&text);
    Ok(Ptx {
        capability: head.target.unwrap_or(capability),
        version: head.version.unwrap_or(version),
        origin,
        text,
    })
}

/// Zeros behind a text end or align it.
fn without_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// What the first lines say.
#[derive(Default)]
struct Head {
    version: Option<(u16, u16)>,
    target: Option<Capability>,
}

fn head(text: &str) -> Head {
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut found = Head::default();
    let mut comment = false;
    for line in text[..end].lines() {
        let line = outside_comments(line, &mut comment);
        // Statements may share a line.
        let mut words = line
            .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
            .filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            match word {
                ".version" if found.version.is_none() => {
                    found.version = words.next().and_then(version);
                }
                ".target" if found.target.is_none() => {
                    found.target = words.next().and_then(Capability::parse);
                }
                _ => {}
            }
        }
        if found.version.is_some() && found.target.is_some() {
            break;
        }
    }
    found
}

/// What of a line is no comment; `inside` says whether it begins in one, and then whether the next does.
fn outside_comments(line: &str, inside: &mut bool) -> String {
    let mut rest = line;
    let mut kept = String::new();
    loop {
        if *inside {
            let Some((_, after)) = rest.split_once("*/") else {
                return kept;
            };
            *inside = false;
            rest = after;
        }
        match (rest.find("//"), rest.find("/*")) {
            (Some(line), block) if block.is_none_or(|block| line < block) => {
                kept.push_str(&rest[..line]);
                return kept;
            }
            (_, Some(block)) => {
                kept.push_str(&rest[..block]);
                *inside = true;
                rest = &rest[block + 2..];
            }
            _ => {
                kept.push_str(rest);
                return kept;
            }
        }
    }
}

fn version(word: &str) -> Option<(u16, u16)> {
    let (major, minor) = word.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
