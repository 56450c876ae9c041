//! Instructions gathered by source line, hottest first.

use super::collect::{Collected, Counts, KernelCounts};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use warpsim_present::mangled::shown;
use warpsim_present::reading;
use warpsim_ptx::inspect::disassemble;
use warpsim_sim::stats::WarpState;

/// A kernel's lines and instructions.
pub struct Ranked {
    /// Its name as people write it.
    pub name: String,
    /// How often it was launched.
    pub launches: u64,
    /// Everything together.
    pub total: Counts,
    /// Source lines, hottest first.
    pub lines: Vec<Line>,
}

/// A line of the source, or of the PTX where that names none.
pub struct Line {
    /// `file:line`.
    pub place: String,
    /// Its number in that file.
    pub number: Option<u32>,
    /// Its text, where the file can be read.
    pub text: String,
    /// Its instructions together.
    pub counts: Counts,
    /// Its instructions, in the order of the code.
    pub instructions: Vec<Instruction>,
}

/// An instruction that was issued or waited for.
pub struct Instruction {
    /// Its number in the kernel.
    pub pc: u32,
    /// Its line of the PTX.
    pub ptx_line: u32,
    /// Its text.
    pub text: String,
    /// What it did.
    pub counts: Counts,
}

impl Counts {
    /// Warp-cycles: issuing and waiting.
    pub fn cycles(&self) -> u64 {
        self.states.iter().sum()
    }

    /// Warp-cycles in a state.
    pub fn state(&self, state: WarpState) -> u64 {
        self.states[state as usize]
    }

    /// The states in which a warp waits, with its cycles, most first.
    pub fn stalls(&self) -> Vec<(&'static str, u64)> {
        let mut stalls: Vec<(&str, u64)> = WarpState::ALL
            .iter()
            .filter(|s| **s != WarpState::Issued)
            .map(|s| (s.name(), self.state(*s)))
            .filter(|(_, cycles)| *cycles > 0)
            .collect();
        stalls.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        stalls
    }

    /// A share or mean, where there is something to divide by.
    pub fn per(a: u64, b: u64) -> Option<f64> {
        (b > 0).then(|| a as f64 / b as f64)
    }

    fn add(&mut self, other: &Counts) {
        self.issued += other.issued;
        self.lanes += other.lanes;
        self.requests += other.requests;
        self.transactions += other.transactions;
        self.bank_cycles += other.bank_cycles;
        self.shared += other.shared;
        self.lookups += other.lookups;
        self.hits += other.hits;
        for (to, from) in self.states.iter_mut().zip(&other.states) {
            *to += from;
        }
    }

    fn json(&self) -> Value {
        let states = WarpState::ALL.iter();
        let states = states.map(|s| (s.name().to_string(), json!(self.state(*s))));
        json!({
            "issued": self.issued,
            "lanes": self.lanes,
            "warp_cycles": states.collect::<serde_json::Map<_, _>>(),
            "memory_requests": self.requests,
            "transactions": self.transactions,
            "shared_requests": self.shared,
            "bank_cycles": self.bank_cycles,
            "l1d_lookups": self.lookups,
            "l1d_hits": self.hits,
        })
    }
}

/// Every kernel, in the order of first launches.
pub fn rank(collected: &Collected) -> Vec<Ranked> {
    let mut texts = BTreeMap::new();
    let kernels = collected.kernels.iter();
    kernels.map(|k| rank_kernel(k, &mut texts)).collect()
}

fn rank_kernel(from: &KernelCounts, texts: &mut BTreeMap<String, Vec<String>>) -> Ranked {
    let mut total = Counts::default();
    let mut lines: BTreeMap<String, Line> = BTreeMap::new();
    for (pc, counts) in from.counts.iter().enumerate() {
        if *counts == Counts::default() {
            continue;
        }
        total.add(counts);
        let instruction = &from.kernel.code[pc];
        let origin = from.kernel.origin(pc as u32);
        let number = origin.source().map(|_| origin.line);
        let (place, text) = match (origin.file, origin.source()) {
            (Some(file), Some(place)) => {
                let text = texts
                    .entry(file.to_string())
                    .or_insert_with(|| read_lines(file));
                let text = text.get(origin.line as usize - 1);
                (place, text.map_or("", |t| t.trim()).to_string())
            }
            // What the compiler made for no line in particular.
            (Some(file), None) => (format!("{file} (no line)"), String::new()),
            (None, _) => (origin.to_string(), String::new()),
        };
        let line = lines.entry(place.clone()).or_insert_with(|| Line {
            place,
            number,
            text,
            counts: Counts::default(),
            instructions: Vec::new(),
        });
        line.counts.add(counts);
        line.instructions.push(Instruction {
            pc: pc as u32,
            ptx_line: instruction.line,
            text: disassemble(&from.kernel, pc as u32),
            counts: counts.clone(),
        });
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    let first = |line: &Line| line.instructions.first().map_or(0, |i| i.pc);
    lines.sort_by_key(|line| (std::cmp::Reverse(line.counts.cycles()), first(line)));
    let name = &from.kernel.name;
    Ranked {
        name: shown(name),
        launches: from.launches,
        total,
        lines,
    }
}

/// The lines of a source file; none where it cannot be read.
fn read_lines(file: &str) -> Vec<String> {
    let text = reading::read(Path::new(file), reading::TEXT).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().map(String::from).collect()
}

/// Kernels with their hottest lines and instructions, as data.
pub fn json(kernels: &[Ranked], what: &str) -> Value {
    let instruction = |i: &Instruction| {
        let mut value = i.counts.json();
        value["pc"] = json!(i.pc);
        value["ptx_line"] = json!(i.ptx_line);
        value["text"] = json!(i.text);
        value
    };
    let line = |l: &Line| {
        let mut value = l.counts.json();
        value["place"] = json!(l.place);
        value["text"] = json!(l.text);
        value["instructions"] = l.instructions.iter().map(instruction).collect();
        value
    };
    let kernel = |k: &Ranked| {
        json!({
            "kernel": k.name,
            "launches": k.launches,
            "total": k.total.json(),
            "lines": k.lines.iter().map(line).collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": 1,
        "what": what,
        "kernels": kernels.iter().map(kernel).collect::<Vec<_>>(),
    })
}
