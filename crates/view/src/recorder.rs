//! The observer: what happens on one SM goes into the tracks of its warps.

use crate::code::Code;
use crate::events::{note, note_detail};
use crate::format::{self, Launch, Run};
use crate::gates::Gates;
use crate::issue_rate::IssueRate;
use crate::states::states;
use crate::track::{Lists, Recorded};
use crate::window::Window;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use warpsim_machine::place::Layout;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::config::Machine;
use warpsim_sim::observe::{Detail, Gate, Observer, Wants, WarpEvent};
use warpsim_sim::time::Cycle;
use warpsim_sim::{GatedPipe, gated_pipes};

/// Records a run.
#[derive(Clone)]
pub struct Recorder(Rc<RefCell<Recording>>);

struct Recording {
    sm: u16,
    window: Window,
    layout: Layout,
    /// Bytes that the page may still grow by; where they end the recording ends.
    left: usize,
    /// The cycle in which they did.
    full: Option<u64>,
    code: Code,
    launches: Vec<Launch>,
    rate: IssueRate,
    tracks: Vec<Recorded>,
    /// Pipes whose lanes have gates, and what became of these.
    pipes: Vec<GatedPipe>,
    gates: Vec<Gates>,
    /// Which track a slot's warp has.
    slots: HashMap<u16, usize>,
    /// The cycle behind the last that is known of.
    end: u64,
}

impl Recorder {
    /// Of this SM of a machine, in these cycles, and no more than fits in so many bytes.
    pub fn new(machine: &Machine, sm: u16, window: Window, bytes: usize) -> Recorder {
        let pipes = gated_pipes(machine);
        Recorder(Rc::new(RefCell::new(Recording {
            sm,
            window,
            layout: Layout::of(machine),
            left: bytes,
            full: None,
            code: Code::default(),
            launches: Vec::new(),
            rate: IssueRate::default(),
            tracks: Vec::new(),
            gates: pipes.iter().map(|_| Gates::default()).collect(),
            pipes,
            slots: HashMap::new(),
            end: 0,
        })))
    }

    /// What listens for it.
    pub fn listener(&self) -> Box<dyn Observer> {
        Box::new(self.clone())
    }

    /// What was recorded, of a run that has ended: `title` says what ran, `options` how.
    pub fn finish(&self, title: &str, options: &str) -> Run {
        let recording = self.0.borrow();
        let window = recording.window;
        let whole = recording.end;
        let to = window.to.min(recording.full.unwrap_or(whole)).min(whole);
        let from = window.from.min(to);
        let mut tracks: Vec<format::Track> = recording
            .tracks
            .iter()
            .filter_map(|t| t.track(to))
            .collect();
        tracks.sort_by_key(|t| (t.launch, t.from, t.block, t.warp, t.slot));
        Run {
            title: title.to_string(),
            options: options.to_string(),
            sm: recording.sm,
            cycles: [from, to],
            whole,
            notes: recording.notes(to, tracks.is_empty()),
            states: states(),
            schedulers: recording.layout.domains() as u16,
            launches: recording.launches.clone(),
            kernels: recording.code.kernels.clone(),
            files: recording.code.files.clone(),
            map: recording.rate.map(),
            tracks,
            lanes: recording.lanes([from, to]),
        }
    }
}

impl Recording {
    fn lanes(&self, cycles: [u64; 2]) -> Vec<format::Lanes> {
        let pipes = self.pipes.iter().zip(&self.gates);
        pipes
            .map(|(pipe, gates)| gates.lanes(pipe, cycles))
            .collect()
    }

    fn notes(&self, to: u64, nothing: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if self.full.is_some() {
            notes.push(format!(
                "The page is full: cycles from {to} on are not here. With --view-cycles the command records others."
            ));
        }
        if nothing && self.window.from >= self.end {
            notes.push(format!(
                "The run ended in cycle {}, before the window.",
                self.end
            ));
        } else if nothing {
            notes.push(format!("SM {} had no warp in these cycles.", self.sm));
        }
        notes
    }

    fn new_track(&mut self, slot: u16, cycle: u64, block: i64, warp: i64) {
        let track = format::Track {
            slot,
            scheduler: u16::from(self.layout.place_of(slot).domain),
            launch: self.launches.len().saturating_sub(1),
            block,
            warp,
            from: cycle.max(self.window.from),
            ..format::Track::default()
        };
        self.slots.insert(slot, self.tracks.len());
        self.tracks.push(Recorded {
            track,
            lists: Lists::default(),
            here: true,
            barrier: 0,
            folds: Vec::new(),
        });
    }

    fn warp(&mut self, cycle: u64, slot: u16, event: WarpEvent) {
        // Looking up is told when the cycles that run together have ended.
        if !matches!(event, WarpEvent::LookedUp { .. }) {
            self.end = self.end.max(cycle + 1);
        }
        if let WarpEvent::Issued { .. } = event {
            self.rate.issued(cycle);
        }
        if self.is_behind(cycle) {
            return;
        }
        match event {
            WarpEvent::Launched { block, warp } => {
                self.new_track(slot, cycle, block as i64, i64::from(warp));
            }
            WarpEvent::Formed if !self.slots.contains_key(&slot) => {
                self.new_track(slot, cycle, -1, -1);
            }
            _ => {}
        }
        let Some(&index) = self.slots.get(&slot) else {
            return;
        };
        if event == WarpEvent::Left {
            self.left(slot, index, cycle + 1);
            return;
        }
        let grown = note(&mut self.tracks[index], self.window.from, cycle, event);
        self.grow(cycle, grown);
    }

    /// Whether a cycle is behind what is recorded.
    fn is_behind(&self, cycle: u64) -> bool {
        cycle >= self.window.to || self.full.is_some_and(|full| cycle >= full)
    }

    /// The page takes so many bytes more, for something in `cycle`. What comes before the window replaces what was there, and
    /// counts for nothing.
    fn grow(&mut self, cycle: u64, bytes: usize) {
        if cycle < self.window.from {
            return;
        }
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.full = self.full.or(Some(cycle)),
        }
    }

    fn detail(&mut self, cycle: u64, slot: u16, detail: Detail) {
        if self.is_behind(cycle) {
            return;
        }
        if let Detail::Folded { issued, cycles } = detail {
            return self.folded(slot, issued.get(), cycles);
        }
        if let Some(&index) = self.slots.get(&slot) {
            let grown = note_detail(&mut self.tracks[index], self.window.from, cycle, detail);
            self.grow(cycle, grown);
        }
    }

    /// The warp that was in a slot in cycle `issued` had an instruction folded then. That is told later, when it may be gone.
    fn folded(&mut self, slot: u16, issued: u64, cycles: u16) {
        if issued < self.window.from {
            return;
        }
        let mut latest_first = self.tracks.iter_mut().rev();
        let its = latest_first.find(|t| t.track.slot == slot && t.track.from <= issued);
        if let Some(recorded) = its {
            recorded.folds.push((issued, i64::from(cycles)));
            self.grow(self.end, 6);
        }
    }

    /// Gates are told late: a page that is full is so from where warps are.
    fn gate(&mut self, cycle: u64, pipe: u16, number: u16, gate: Gate) {
        if !self.is_behind(cycle) {
            let grown = self.gates[usize::from(pipe)].note(self.window, cycle, number, gate);
            self.grow(cycle.max(self.end), grown);
        }
    }

    /// The warp is not here any more in cycle `to`.
    fn left(&mut self, slot: u16, index: usize, to: u64) {
        self.slots.remove(&slot);
        let recorded = &mut self.tracks[index];
        recorded.here = false;
        recorded.track.to = to;
        // What was there before the window alone takes no room.
        if to <= self.window.from {
            recorded.lists = Lists::default();
        }
    }
}

impl Observer for Recorder {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        let mut recording = self.0.borrow_mut();
        if sm == recording.sm {
            recording.warp(cycle.get(), slot, event);
        }
    }

    fn wants(&self, sm: u16) -> Wants {
        match sm == self.0.borrow().sm {
            true => Wants::Details,
            false => Wants::Nothing,
        }
    }

    fn detail(&mut self, cycle: Cycle, sm: u16, slot: u16, detail: Detail) {
        let mut recording = self.0.borrow_mut();
        if sm == recording.sm {
            recording.detail(cycle.get(), slot, detail);
        }
    }

    fn lanes(&mut self, cycle: Cycle, sm: u16, pipe: u16, number: u16, gate: Gate) {
        let mut recording = self.0.borrow_mut();
        if sm == recording.sm {
            recording.gate(cycle.get(), pipe, number, gate);
        }
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        let mut recording = self.0.borrow_mut();
        let kernel = recording.code.position(kernel);
        let from = cycle.get();
        recording.launches.push(Launch {
            kernel,
            from,
            to: from,
        });
    }

    fn ended(&mut self, cycle: Cycle) {
        let mut recording = self.0.borrow_mut();
        let to = cycle.get();
        recording.end = recording.end.max(to);
        if let Some(launch) = recording.launches.last_mut() {
            launch.to = to;
        }
        // Slots in which warps are formed are empty between launches.
        let mut open: Vec<(u16, usize)> = recording.slots.iter().map(|(s, t)| (*s, *t)).collect();
        open.sort_unstable();
        for (slot, index) in open {
            recording.left(slot, index, to);
        }
    }
}
