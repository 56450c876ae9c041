//! What a run is listened to for: a profile by instruction, and a timeline of one SM.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use warpsim_present::mangled::shown;
use warpsim_ptx::inspect::disassemble;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::WarpState;
use warpsim_sim::time::Cycle;

/// Segments of a timeline; a notebook with more opens slowly. What comes later is counted.
const MOST_SEGMENTS: usize = 60_000;

const STATES: usize = WarpState::ALL.len();

/// What to keep.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    /// Issues and waiting times by instruction.
    pub profile: bool,
    /// What the warps of this SM did.
    pub timeline: Option<u16>,
    /// A page in which the warps of this SM can be stepped through.
    pub view: Option<u16>,
}

/// Listens; clones share what they hear, since the simulator owns its observer.
#[derive(Clone)]
pub struct Listener(Rc<RefCell<Heard>>);

struct Heard {
    wanted: Wanted,
    /// Kernels by name, each with its instructions.
    kernels: Vec<Profile>,
    current: usize,
    warps: HashMap<(u16, u16), Warp>,
    segments: Vec<Segment>,
    left_out: u64,
}

struct Profile {
    kernel: String,
    instructions: Vec<Instruction>,
}

struct Instruction {
    text: String,
    /// Line in the PTX.
    line: u32,
    /// File and line in the source.
    source: Option<(String, u32)>,
    issues: u64,
    lanes: u64,
    /// Cycles that warps spent in each state before they issued it.
    waited: [u64; STATES],
}

struct Warp {
    block: u64,
    warp: u16,
    state: WarpState,
    since: Cycle,
    /// Cycles in each state since it last issued.
    pending: [u64; STATES],
}

struct Segment {
    slot: u16,
    block: u64,
    warp: u16,
    start: u64,
    length: u64,
    state: WarpState,
}

impl Listener {
    /// Keeps what is wanted.
    pub fn new(wanted: Wanted) -> Listener {
        Listener(Rc::new(RefCell::new(Heard {
            wanted,
            kernels: Vec::new(),
            current: 0,
            warps: HashMap::new(),
            segments: Vec::new(),
            left_out: 0,
        })))
    }

    /// The profile, if one was wanted.
    pub fn profile(&self) -> Value {
        let heard = self.0.borrow();
        if !heard.wanted.profile {
            return Value::Null;
        }
        let mut rows = Vec::new();
        for profile in &heard.kernels {
            for (pc, i) in profile.instructions.iter().enumerate() {
                let mut row = json!({
                    "kernel": shown(&profile.kernel),
                    "pc": pc,
                    "line": i.line,
                    "source": i.source.as_ref().map(|(file, line)| format!("{file}:{line}")),
                    "instruction": i.text,
                    "issues": i.issues,
                    "lanes": i.lanes,
                });
                for state in WarpState::ALL {
                    if *state != WarpState::Issued {
                        let name = format!("waited.{}", state.name());
                        row[name] = json!(i.waited[*state as usize]);
                    }
                }
                rows.push(row);
            }
        }
        Value::Array(rows)
    }

    /// The timeline, if one was wanted.
    pub fn timeline(&self) -> Value {
        let heard = self.0.borrow();
        let Some(sm) = heard.wanted.timeline else {
            return Value::Null;
        };
        let segments: Vec<Value> = heard
            .segments
            .iter()
            .map(|s| json!([s.slot, s.block, s.warp, s.start, s.length, s.state as usize]))
            .collect();
        json!({
            "sm": sm,
            "states": WarpState::ALL.iter().map(|s| s.name()).collect::<Vec<_>>(),
            "columns": ["slot", "block", "warp", "start", "cycles", "state"],
            "segments": segments,
            "left_out": heard.left_out,
        })
    }
}

impl Observer for Listener {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.0.borrow_mut().warp(cycle, sm, slot, event);
    }

    fn launched(&mut self, _cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        self.0.borrow_mut().launched(kernel);
    }
}

impl Heard {
    fn launched(&mut self, kernel: &Kernel) {
        let known = self.kernels.iter().position(|p| p.kernel == kernel.name);
        self.current = known.unwrap_or(self.kernels.len());
        if known.is_some() {
            return;
        }
        let source = |pc| {
            let origin = kernel.origin(pc);
            Some((origin.file?.to_string(), origin.line))
        };
        let instructions = kernel
            .code
            .iter()
            .enumerate()
            .map(|(pc, instr)| Instruction {
                text: disassemble(kernel, pc as u32),
                line: instr.line,
                source: source(pc as u32),
                issues: 0,
                lanes: 0,
                waited: [0; STATES],
            });
        self.kernels.push(Profile {
            kernel: kernel.name.clone(),
            instructions: instructions.collect(),
        });
    }

    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        match event {
            WarpEvent::Launched { block, warp } => {
                let warp = Warp {
                    block,
                    warp,
                    state: WarpState::Fetch,
                    since: cycle,
                    pending: [0; STATES],
                };
                self.warps.insert((sm, slot), warp);
            }
            WarpEvent::State(state) => {
                self.close(sm, slot, cycle);
                if let Some(warp) = self.warps.get_mut(&(sm, slot)) {
                    warp.state = state;
                }
            }
            WarpEvent::Issued { pc, lanes } => {
                self.close(sm, slot, cycle);
                let Some(warp) = self.warps.get_mut(&(sm, slot)) else {
                    return;
                };
                let profile = self.kernels.get_mut(self.current);
                if let Some(i) = profile.and_then(|p| p.instructions.get_mut(pc as usize)) {
                    i.issues += 1;
                    i.lanes += u64::from(lanes.count_ones());
                    for (sum, n) in i.waited.iter_mut().zip(&warp.pending) {
                        *sum += n;
                    }
                }
                warp.pending = [0; STATES];
            }
            WarpEvent::Left => {
                self.close(sm, slot, cycle + 1);
                self.warps.remove(&(sm, slot));
            }
            _ => {}
        }
    }

    /// Ends what a warp was doing before `cycle`.
    fn close(&mut self, sm: u16, slot: u16, cycle: Cycle) {
        let Some(warp) = self.warps.get_mut(&(sm, slot)) else {
            return;
        };
        if cycle <= warp.since {
            return;
        }
        let length = cycle - warp.since;
        warp.pending[warp.state as usize] += length;
        if self.wanted.timeline == Some(sm) {
            if self.segments.len() < MOST_SEGMENTS {
                self.segments.push(Segment {
                    slot,
                    block: warp.block,
                    warp: warp.warp,
                    start: warp.since.get(),
                    length,
                    state: warp.state,
                });
            } else {
                self.left_out += 1;
            }
        }
        warp.since = cycle;
    }
}
