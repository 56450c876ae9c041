//! Tables: an instruction and rows of operands, one row per thread.
//!
//! ```text
//! # a comment
//! add.sat.s32 {d:s32}, {a:s32}, {b:s32};
//! 1 2 -> 3
//! 0x7fffffff 1 -> 0x7fffffff
//!
//! ulp=2 sqrt.approx.f32 {d:f32}, {a:f32};
//! 4 -> 2
//! ```
//!
//! A paragraph is one kernel. `{name:type}` stands for a register, `{name}` for it again;
//! names that begin with `d` are results, all others operands, in the order they first
//! appear. A row has the operands, `->`, and what the results must be. The first lines up to
//! the first row are the instructions (several may stand on a line).

use super::files::guarded;
use super::run::{Device, Launch, compile};
use super::value::{self, Kind, Wanted};
use std::fmt::Write as _;
use std::sync::Arc;

/// A register a paragraph names.
struct Operand {
    name: String,
    ty: String,
    kind: Kind,
}

/// A paragraph.
pub struct Case {
    line: usize,
    ulp: u64,
    /// With registers in place of braces.
    code: String,
    operands: Vec<Operand>,
    rows: Vec<(usize, Vec<u64>, Vec<Wanted>)>,
}

impl Operand {
    fn is_result(&self) -> bool {
        self.name.starts_with('d')
    }
}

/// The paragraphs of a file, each with its line or what is wrong with it.
pub fn parse(text: &str) -> Vec<Result<Case, String>> {
    let mut cases = Vec::new();
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for (number, line) in text.lines().chain([""]).enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            lines.push((number + 1, line));
        } else if !lines.is_empty() {
            cases.push(paragraph(&std::mem::take(&mut lines)));
        }
    }
    cases
}

fn paragraph(lines: &[(usize, &str)]) -> Result<Case, String> {
    let first = lines[0].0;
    let mut case = Case {
        line: first,
        ulp: 0,
        code: String::new(),
        operands: Vec::new(),
        rows: Vec::new(),
    };
    for &(number, line) in lines {
        let at = |e: String| format!("line {number}: {e}");
        match line.split_once("->") {
            Some((operands, results)) => {
                let inputs = case.operands.iter().filter(|o| !o.is_result());
                let inputs = words(operands, inputs, value::bits).map_err(at)?;
                let outputs = case.operands.iter().filter(|o| o.is_result());
                let outputs = words(results, outputs, value::wanted).map_err(at)?;
                case.rows.push((number, inputs, outputs));
            }
            None if case.rows.is_empty() => case.instruction(line).map_err(at)?,
            None => return Err(format!("line {number}: a row without `->`")),
        }
    }
    match case.rows.len() {
        0 => Err(format!("line {first}: no rows")),
        1..=1024 => Ok(case),
        n => Err(format!("line {first}: {n} rows, 1024 are possible")),
    }
}

/// Reads a row's words, one an operand.
fn words<'a, T>(
    text: &str,
    operands: impl Iterator<Item = &'a Operand>,
    read: fn(Kind, &str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let operands: Vec<_> = operands.collect();
    let words: Vec<_> = text.split_whitespace().collect();
    if words.len() != operands.len() {
        let (given, asked) = (words.len(), operands.len());
        return Err(format!("{given} values for {asked} operands"));
    }
    let both = operands.iter().zip(words);
    both.map(|(o, word)| read(o.kind, word)).collect()
}

impl Case {
    fn instruction(&mut self, line: &str) -> Result<(), String> {
        let mut rest = line;
        if let Some(option) = rest.strip_prefix("ulp=") {
            let (n, instructions) = option.split_once(' ').ok_or("no instruction")?;
            self.ulp = n.parse().map_err(|_| "ulp: no number")?;
            rest = instructions;
        }
        // PTX has braces of its own, always with `%` or a space next to them.
        while let Some(open) = rest.find('{') {
            let (before, after) = rest.split_at(open);
            self.code.push_str(before);
            let named = after[1..].starts_with(|c: char| c.is_ascii_alphabetic());
            let Some(close) = after.find('}').filter(|_| named) else {
                self.code.push('{');
                rest = &after[1..];
                continue;
            };
            let (name, ty) = after[1..close]
                .split_once(':')
                .unwrap_or((&after[1..close], ""));
            let known = self.operands.iter().any(|o| o.name == name);
            match (known, ty) {
                (false, "") => return Err(format!("`{name}` has no type")),
                (false, ty) => self.operands.push(Operand {
                    name: name.into(),
                    ty: ty.into(),
                    kind: Kind::parse(ty)?,
                }),
                (true, _) => {}
            }
            let _ = write!(self.code, "%{name}");
            rest = &after[close + 1..];
        }
        self.code.push_str(rest);
        self.code.push('\n');
        Ok(())
    }

    /// The kernel: each thread loads its operands, executes, stores its results.
    pub fn ptx(&self) -> String {
        let (mut loads, mut stores, mut regs) = (String::new(), String::new(), String::new());
        let mut params = vec![".param .u64 count".to_string()];
        for o in &self.operands {
            let (name, bytes) = (&o.name, o.kind.bytes);
            params.push(format!(".param .u64 at_{name}"));
            let ty = match o.ty.as_str() {
                "f16" | "bf16" => "b16",
                other => other,
            };
            let _ = writeln!(regs, "    .reg .{ty} %{name};");
            let address = format!(
                "    ld.param.u64 %at, [at_{name}];\n    mad.wide.u32 %at, %i, {bytes}, %at;\n"
            );
            let unit = format!("b{}", bytes * 8);
            let (load, store) = match ty {
                "pred" => (
                    format!("ld.global.u8 %byte, [%at];\n    setp.ne.u16 %{name}, %byte, 0;"),
                    format!("selp.u16 %byte, 1, 0, %{name};\n    st.global.u8 [%at], %byte;"),
                ),
                _ => (
                    format!("ld.global.{unit} %{name}, [%at];"),
                    format!("st.global.{unit} [%at], %{name};"),
                ),
            };
            let (into, action) = match o.is_result() {
                true => (&mut stores, store),
                false => (&mut loads, load),
            };
            let _ = writeln!(into, "{address}    {action}");
        }
        format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n\
             .visible .entry k({})\n{{\n    .reg .b32 %i;\n    .reg .b64 %at;\n    .reg .b16 %byte;\n\
             {regs}    mov.u32 %i, %tid.x;\n{loads}{}{stores}    ret;\n}}\n",
            params.join(", "),
            self.code
        )
    }

    fn run(&self, device: &mut impl Device) -> Result<(), String> {
        device.load(Arc::new(compile(&self.ptx())?))?;
        let mut params = (self.rows.len() as u64).to_le_bytes().to_vec();
        let (mut inputs, mut outputs) = (0, Vec::new());
        for o in &self.operands {
            let mut data = Vec::new();
            for (_, operands, _) in &self.rows {
                // Results begin as something a kernel that does nothing would leave there.
                let bits = if o.is_result() {
                    0xa5a5_a5a5_a5a5_a5a5
                } else {
                    operands[inputs]
                };
                data.extend_from_slice(&bits.to_le_bytes()[..o.kind.bytes]);
            }
            let address = device
                .alloc(data.len() as u64, &o.name)
                .ok_or("no memory")?;
            device.write(address, &data)?;
            params.extend_from_slice(&address.to_le_bytes());
            if o.is_result() {
                outputs.push((o, address));
            } else {
                inputs += 1;
            }
        }
        let launch = Launch {
            kernel: 0,
            grid: [1; 3],
            block: [self.rows.len() as u32, 1, 1],
            dynamic_shared: 0,
            params,
        };
        device.launch(&launch)?;
        for (k, (o, address)) in outputs.iter().enumerate() {
            let size = o.kind.bytes;
            for (row, (line, _, wanted)) in self.rows.iter().enumerate() {
                let bytes = device.read(address + (row * size) as u64, size as u64)?;
                let got = value::load(&bytes);
                if !wanted[k].accepts(o.kind, got, self.ulp) {
                    let (got, wanted) = (o.kind.show(got), wanted[k].show(o.kind));
                    return Err(format!("line {line}: {} is {got}, not {wanted}", o.name));
                }
            }
        }
        Ok(())
    }
}

/// Runs every paragraph on devices that `make` makes; says what each failing one is about.
pub fn run_file<D: Device>(
    name: &str,
    text: &str,
    make: &dyn Fn() -> Result<D, String>,
) -> Vec<String> {
    let mut failures = Vec::new();
    let cases = parse(text);
    if cases.is_empty() {
        failures.push(format!("{name}: nothing in it"));
    }
    let mut made = None;
    for case in &cases {
        let case = match case {
            Ok(case) => case,
            Err(e) => {
                failures.push(format!("{name}: {e}"));
                continue;
            }
        };
        // After a failed launch a fresh device, so that failures do not follow one another.
        let run = match &mut made {
            Some(device) => Ok(device),
            None => make().map(|device| made.insert(device)),
        };
        if let Err(e) = run.and_then(|device| guarded(|| case.run(device))) {
            let code = case.code.trim();
            failures.push(format!("{name}:{}: {code}\n    {e}", case.line));
            made = None;
        }
    }
    failures
}
