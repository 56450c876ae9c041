//! The comments that say how to run a kernel and what must come out.
//!
//! ```text
//! // launch: [kernel=NAME] [grid=2x1x1] [block=32] [shared=BYTES]
//! // buffer NAME: TYPE values…       (again for the same name: appended; see `value`)
//! // free NAME:                      (the buffer is given back before the launch)
//! // texture NAME: buffer=B size=4x4 kind=float bits=32 channels=1
//! //               [filter] [wrap] [normalized] [read_normalized] [linear_memory]
//! // arg: NAME | NAME+BYTES | TYPE values… | texture NAME
//! // expect NAME [ulp=N]: TYPE values…   (a buffer or a module variable)
//! // print: text                     (a line the kernel prints; all of them in order)
//! // fault: text                     (the run must fail and its message contain this)
//! // error: text                     (the file must be refused and a message contain this)
//! // run: functional timed           (default both)
//! // limit: N                        (cycles, or warp instructions)
//! ```
//!
//! Comments whose first word is none of these (nor nearly one) are just comments. A texture named like a
//! `.texref` is bound to it; others are objects whose handle `arg: texture NAME` passes.

use super::value;
use warpsim_exec::grid::TexelKind;

/// A directive's place and text.
type Lines<T> = Vec<(usize, T)>;

/// All that a file says.
#[derive(Debug, Default)]
pub struct Plan {
    pub kernel: Option<String>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub buffers: Vec<(String, Vec<u8>)>,
    pub freed: Vec<String>,
    pub textures: Vec<(String, TexturePlan)>,
    pub arguments: Lines<String>,
    pub expected: Lines<Expected>,
    pub prints: Vec<String>,
    pub faults: Vec<String>,
    pub errors: Vec<String>,
    pub functional: bool,
    pub timed: bool,
    pub limit: u64,
}

/// What memory must hold.
#[derive(Debug)]
pub struct Expected {
    pub name: String,
    pub ulp: u64,
    pub kind: value::Kind,
    pub words: Vec<value::Wanted>,
}

/// A texture whose buffer has no address yet.
#[derive(Debug)]
pub struct TexturePlan {
    pub buffer: String,
    pub size: [u32; 3],
    pub dimensions: u8,
    pub channels: u8,
    pub bits: u8,
    pub kind: TexelKind,
    pub flags: Vec<String>,
}

/// The directive that a word is a misspelling of.
fn nearest(word: &str) -> Option<&'static str> {
    let known = [
        "launch", "buffer", "free", "texture", "arg", "expect", "print", "fault", "error", "run",
        "limit",
    ];
    known
        .into_iter()
        .find(|k| strsim::damerau_levenshtein(k, word) <= k.len() / 4)
}

/// `4x2` and the like; missing dimensions are 1.
fn dimensions(text: &str) -> Result<([u32; 3], u8), String> {
    let mut size = [1; 3];
    let mut count = 0;
    for part in text.split('x') {
        let place = size
            .get_mut(count)
            .ok_or_else(|| format!("`{text}` has too many dimensions"))?;
        *place = part
            .parse()
            .map_err(|_| format!("`{text}` is not a size such as 4x2"))?;
        count += 1;
    }
    Ok((size, count as u8))
}

fn texture(text: &str) -> Result<TexturePlan, String> {
    let mut plan = TexturePlan {
        buffer: String::new(),
        size: [1; 3],
        dimensions: 1,
        channels: 1,
        bits: 32,
        kind: TexelKind::Float,
        flags: Vec::new(),
    };
    for word in text.split_whitespace() {
        let number = |t: &str| t.parse::<u8>().map_err(|_| format!("`{word}`: no number"));
        match word.split_once('=') {
            Some(("buffer", name)) => plan.buffer = name.into(),
            Some(("size", size)) => (plan.size, plan.dimensions) = dimensions(size)?,
            Some(("channels", n)) => plan.channels = number(n)?,
            Some(("bits", n)) => plan.bits = number(n)?,
            Some(("kind", "float")) => plan.kind = TexelKind::Float,
            Some(("kind", "unsigned")) => plan.kind = TexelKind::Unsigned,
            Some(("kind", "signed")) => plan.kind = TexelKind::Signed,
            None if [
                "filter",
                "wrap",
                "normalized",
                "read_normalized",
                "linear_memory",
            ]
            .contains(&word) =>
            {
                plan.flags.push(word.into());
            }
            _ => return Err(format!("`{word}` says nothing about a texture")),
        }
    }
    Ok(plan)
}

impl Plan {
    /// Reads the directives of a file.
    pub fn parse(text: &str) -> Result<Plan, String> {
        let mut plan = Plan {
            grid: [1; 3],
            block: [32, 1, 1],
            functional: true,
            timed: true,
            limit: 1_000_000,
            ..Plan::default()
        };
        for (number, line) in text.lines().enumerate() {
            if let Some(comment) = line.trim().strip_prefix("//")
                && let Some((head, rest)) = comment.trim().split_once(':')
            {
                plan.directive(number + 1, head, rest.trim())
                    .map_err(|e| format!("line {}: {e}", number + 1))?;
            }
        }
        let any = !(plan.expected.is_empty()
            && plan.prints.is_empty()
            && plan.faults.is_empty()
            && plan.errors.is_empty());
        if !any {
            return Err("expects nothing: add `// expect NAME: …`, print, fault or error".into());
        }
        Ok(plan)
    }

    fn directive(&mut self, line: usize, head: &str, rest: &str) -> Result<(), String> {
        let (what, name) = head.split_once(' ').unwrap_or((head, ""));
        let name = name.trim();
        match what {
            "launch" => self.launch(rest)?,
            "buffer" => {
                let bytes = value::bytes(rest)?;
                match self.buffers.iter_mut().find(|(n, _)| n == name) {
                    Some((_, all)) => all.extend(bytes),
                    None => self.buffers.push((name.into(), bytes)),
                }
            }
            "free" => self.freed.push(name.into()),
            "texture" => self.textures.push((name.into(), texture(rest)?)),
            "arg" => self.arguments.push((line, rest.into())),
            "expect" => self.expect(line, name, rest)?,
            "print" => self.prints.push(rest.into()),
            "fault" => self.faults.push(rest.into()),
            "error" => self.errors.push(rest.into()),
            "run" => {
                self.functional = rest.contains("functional");
                self.timed = rest.contains("timed");
            }
            "limit" => self.limit = rest.parse().map_err(|_| "limit: no number")?,
            // Prose may have colons, but not where a directive was meant.
            _ => {
                if let Some(near) = nearest(what) {
                    return Err(format!("there is no `{what}`; did you mean `{near}`?"));
                }
            }
        }
        Ok(())
    }

    fn launch(&mut self, rest: &str) -> Result<(), String> {
        for word in rest.split_whitespace() {
            match word.split_once('=') {
                Some(("kernel", name)) => self.kernel = Some(name.into()),
                Some(("grid", size)) => self.grid = dimensions(size)?.0,
                Some(("block", size)) => self.block = dimensions(size)?.0,
                Some(("shared", n)) => {
                    self.shared = n.parse().map_err(|_| format!("`{word}`: no number"))?;
                }
                _ => return Err(format!("`{word}` says nothing about a launch")),
            }
        }
        Ok(())
    }

    fn expect(&mut self, line: usize, name: &str, rest: &str) -> Result<(), String> {
        let (name, ulp) = match name.split_once(" ulp=") {
            Some((name, n)) => (name, n.parse().map_err(|_| "ulp: no number")?),
            None => (name, 0),
        };
        let (ty, words) = rest.split_once(' ').unwrap_or((rest, ""));
        let kind = value::Kind::parse(ty)?;
        let words: Vec<_> = value::expand(words)?
            .iter()
            .map(|word| value::wanted(kind, word))
            .collect::<Result<_, _>>()?;
        match self.expected.iter_mut().find(|(_, e)| e.name == name) {
            Some((_, e)) if e.kind == kind => e.words.extend(words),
            Some(_) => return Err(format!("`{name}` was expected to have another type")),
            None => {
                let name = name.to_string();
                self.expected.push((
                    line,
                    Expected {
                        name,
                        ulp,
                        kind,
                        words,
                    },
                ));
            }
        }
        Ok(())
    }
}
